/* kit.h - tools of the checks: packets to send, switches operated by hand, and reports of broken clauses of the
 * contract (include/hxmesh/hal.h). */
#ifndef CONFORMANCE_KIT_H
#define CONFORMANCE_KIT_H

#include "conformance_port.h"
#include "running.h"

struct kit;

/* A function of the contract and its clause, verbatim from hal.h. */
struct kit_check {
    const char *function, *clause;
    void (*run)(struct kit *);
};

/* Terminated by an entry of NULL. */
extern const struct kit_check kit_switch_checks[], kit_endpoint_checks[], kit_detour_checks[], kit_traffic_checks[];
enum { KIT_GROUPS = 4 };
extern const struct kit_check *const kit_groups[KIT_GROUPS]; /* all checks, in order of execution */

/* Selects a clause; then tries it, in a new world. kit_shared->broken has the result. */
void kit_begin(const struct kit_check *check);
void kit_try(void);

struct kit {
    struct conformance_world w;
    const struct kit_check *check;
    uint64_t free_at_first; /* buffers */
    uint64_t room_at_first; /* credit of switch 0 towards switch 1, lanes */
};

/* Reports the clause as broken, with this message, unless `good`; once in a world. Returns `good`. */
__attribute__((format(printf, 3, 4))) bool kit_expect(struct kit *k, bool good, const char *format, ...);

/* ---- packets ---- */

/* Fields of the checks' packets; `number` tells packets apart. */
enum { KIT_JOB = 7, KIT_FULL = HX_MAX_PAYLOAD };

/* Injects a packet from endpoint 0 to endpoint 1, with `length` bytes derived from `number`; does not commit. Returns
 * false without room or buffer. */
bool kit_inject(struct kit *k, unsigned length, uint32_t number);
/* The same, committed and arrived at switch 0. */
bool kit_send(struct kit *k, unsigned length, uint32_t number);
/* The same, forwarded by switch 0 on this VC, and arrived at switch 1. */
bool kit_bring(struct kit *k, unsigned vc, unsigned length, uint32_t number);
/* Returns true if a packet's frame has the header and payload of kit_inject(). */
bool kit_is_whole(const uint8_t *frame, unsigned length, uint32_t number);

/* ---- a switch operated by hand ---- */

/* Returns the number of packets of an (input, VC) that have arrived and are not released. */
unsigned kit_waiting(struct kit *k, unsigned sw, unsigned input, unsigned vc);
/* Returns the n-th of them. */
const struct hx_desc *kit_arrival(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned n);
/* Ends a step in which the first `left` of them left. */
void kit_end_step(struct hal_switch *s, unsigned input, unsigned vc, unsigned left);
/* Forwards as many of them as have credit, at most `most`, to `output` on VC `out_vc` in one step. Returns their
 * number. */
unsigned kit_forward(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned output, unsigned out_vc,
                     unsigned most);
/* Drops the n-th, in a step that the caller ends. */
void kit_drop(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned n);
/* Drops all of them in one step. */
void kit_drop_all(struct kit *k, unsigned sw, unsigned input, unsigned vc);
void kit_advance(struct kit *k);

/* Removes all packets, then checks that all buffers are free and all credit is back. If not, the clause is broken, and
 * later checks skip this. So checks of hal_release and hal_drop come first. */
void kit_settle(struct kit *k);
/* The same, without buffers. */
void kit_settle_room(struct kit *k);

#endif
