/* outbox.h - packets and credits on their way: from the entity that is being visited, to others of its worker and to other
 * workers, and from other workers.
 *
 * What they touch there is seldom in the cache. So they are handed over some parcels late, and asked for in between. They
 * are for later windows, and all are handed over before the window ends: nobody can tell the difference. */
#ifndef VIRTUAL_OUTBOX_H
#define VIRTUAL_OUTBOX_H

#include "hxmesh/switch.h"

struct virtual_rx;
struct virtual_tx;
struct virtual_worker;

enum { VIRTUAL_PARCELS = 16 };

enum virtual_parcel_kind {
    VIRTUAL_PACKET,     /* for rx */
    VIRTUAL_DISORDERED, /* for rx, which may have got others that come later (fault.h) */
    VIRTUAL_CREDIT,     /* for tx */
    VIRTUAL_AWAY        /* a packet that tx sends to another worker, with its frame */
};

struct virtual_parcel {
    union {
        struct virtual_rx *rx;
        struct virtual_tx *tx;
    };
    uint64_t time;    /* packet: ready; credit: there. ps */
    uint64_t birth;   /* packet: virtual_birth() */
    struct hx_desc d; /* credit: its VC and blocks alone (virtual_blocks) */
    enum virtual_parcel_kind kind;
};

/* Parcels handed .. posted-1 are on their way, at n % VIRTUAL_PARCELS. */
struct virtual_outbox {
    uint32_t posted, handed;
    struct virtual_parcel parcel[VIRTUAL_PARCELS];
};

/* The place of the next parcel: whoever has filled it posts it. */
static inline struct virtual_parcel *virtual_outbox_next(struct virtual_outbox *box)
{
    return &box->parcel[box->posted % VIRTUAL_PARCELS];
}

void virtual_post(struct virtual_worker *w);
/* Hands over all that is on its way. */
void virtual_post_end(struct virtual_worker *w);

#endif
