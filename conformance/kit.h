/* kit.h - what the checks of the conformance kit are made of: packets to send, switches played by hand, and how a
 * clause of the contract (include/hxmesh/hal.h) is said to be broken. */
#ifndef CONFORMANCE_KIT_H
#define CONFORMANCE_KIT_H

#include "conformance_port.h"
#include "running.h"

struct kit;

/* A function of the contract and what hal.h says of it, word by word. */
struct kit_check {
    const char *function, *clause;
    void (*run)(struct kit *);
};

/* End with NULL. */
extern const struct kit_check kit_switch_checks[], kit_endpoint_checks[], kit_detour_checks[], kit_traffic_checks[];
enum { KIT_GROUPS = 4 };
extern const struct kit_check *const kit_groups[KIT_GROUPS]; /* all of them, in the order in which they are tried */

/* The clause that is tried now; then it is tried, in a world of its own. kit_shared->broken says what came of it. */
void kit_begin(const struct kit_check *check);
void kit_try(void);

struct kit {
    struct conformance_world w;
    const struct kit_check *check;
    uint64_t free_at_first; /* buffers */
    uint64_t room_at_first; /* of switch 0 towards switch 1, lanes */
};

/* The clause is broken, as the words say, unless `good`. Only the first time in a world is it printed. Returns
 * `good`. */
__attribute__((format(printf, 3, 4))) bool kit_expect(struct kit *k, bool good, const char *format, ...);

/* ---- packets ---- */

/* The descriptor's other fields that packets of these checks carry; `number` tells them apart. */
enum { KIT_JOB = 7, KIT_FULL = HX_MAX_PAYLOAD };

/* Has endpoint 0 inject a packet for endpoint 1 with `length` bytes made from `number`; not committed. False: no room
 * or no buffer. */
bool kit_inject(struct kit *k, unsigned length, uint32_t number);
/* The same, committed and arrived at switch 0. */
bool kit_send(struct kit *k, unsigned length, uint32_t number);
/* The same, sent on by switch 0 on this VC, and arrived at switch 1. */
bool kit_bring(struct kit *k, unsigned vc, unsigned length, uint32_t number);
/* Whether the frame of a packet has the header and the payload that kit_inject() gave it. */
bool kit_is_whole(const uint8_t *frame, unsigned length, uint32_t number);

/* ---- a switch, played by hand ---- */

/* Packets of an (input, VC) that have arrived and are not released. */
unsigned kit_waiting(struct kit *k, unsigned sw, unsigned input, unsigned vc);
/* The n-th of them. */
const struct hx_desc *kit_arrival(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned n);
/* Sends so many of them on by `output` on VC `out_vc` as there are and have room, `most` at most, in one step. */
unsigned kit_forward(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned output, unsigned out_vc,
                     unsigned most);
/* Drops the n-th, in a step that the caller ends. */
void kit_drop(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned n);
/* Drops all of them in one step. */
void kit_drop_all(struct kit *k, unsigned sw, unsigned input, unsigned vc);
void kit_advance(struct kit *k);

/* Takes away every packet there is. Then all buffers must be free, and there must be as much room as at first: if not,
 * the clause is broken, and checks after this one do not look at it again. So those of hal_release and hal_drop come
 * first. */
void kit_settle(struct kit *k);
/* Likewise, without a look at buffers. */
void kit_settle_room(struct kit *k);

#endif
