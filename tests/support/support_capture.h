/* support_capture.h - makes captures for tests: packets walk legal paths through a small fabric, and every port is
 * tapped.
 *
 * The model follows DESIGN sections 3 and 4 and docs/wire-format.md: closed forms for single crossbars, a clock that
 * ticks, links with credit. It calls neither the firmware nor the tools under test.
 *
 * A capture is a list of records that a test may change before it is written. A break is a change that violates one
 * rule, for a verifier to find. */
#ifndef HXMESH_TESTS_SUPPORT_CAPTURE_H
#define HXMESH_TESTS_SUPPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sim_record {
    uint64_t time_ns;
    uint32_t interface;
    unsigned direction; /* 1 in, 2 out */
    unsigned vc;
    uint32_t bytes, captured;
    uint8_t *frame; /* captured bytes */
};

struct sim_settings {
    unsigned a, b, x, y, planes;
    unsigned messages; /* per accelerator, to random destinations */
    unsigned bytes;    /* per message */
    unsigned credits;  /* blocks per link and VC */
    bool wire;         /* credit frames on wires; false: slots of memory */
    bool crc;          /* frames carry checksums */
    bool live;         /* the capture says that its times are of the wall clock */
    unsigned snaplen;
    uint64_t seed;
    unsigned lose;      /* frames lost on a cable, per 1000 (wire only); sent again at the end */
    unsigned give_back; /* packets without a path at a network, because of failed cables, per 1000 */
    bool greedy;        /* the first sender that meets a full buffer sends one packet too many */
};
extern const struct sim_settings sim_default; /* 4x4 Hx2Mesh, one plane, small messages, memory, checksums */

struct sim_capture {
    struct sim_settings set;
    struct sim_record *records;
    size_t count, room;
    uint32_t interfaces;
    uint64_t overrun_frame; /* greedy: number of the extra frame, from 1 */
    uint64_t lost;
    uint64_t given_back, turned_back; /* packets, by networks; by accelerators, to their endpoints, short of the
                                       * destination */
    const char *comment;              /* NULL: the comment of the fabric */
    const char *annotation;           /* comment of record `annotation_at`; NULL: none */
    size_t annotation_at;
};

/* Whether a port of an accelerator is a minimal next hop to (to_gx, to_gy) without the north-last rule; whether it
 * leaves the board; and the numbers of ports. */
enum { SIM_E, SIM_W, SIM_N, SIM_S, SIM_LOCAL, SIM_PORTS };
bool sim_is_minimal(const struct sim_settings *set, unsigned gx, unsigned gy, unsigned to_gx, unsigned to_gy,
                    unsigned port);
bool sim_leaves_board(const struct sim_settings *set, unsigned gx, unsigned gy, unsigned port);

void sim_run(struct sim_capture *c, const struct sim_settings *set);
void sim_free(struct sim_capture *c);
/* Name of an interface; valid until the next call. */
const char *sim_interface_name(const struct sim_settings *set, uint32_t interface);
/* Writes pcapng with the interfaces that `keep` chooses (NULL: all). Returns false if writing to `out` fails. */
bool sim_write(const struct sim_capture *c, FILE *out, bool (*keep)(const char *name));

/* Breaks a rule in one place: "header", "crc", "job", "distance", "north-last", "north-last-turn", "vc", "hops",
 * "credit", "credit-sent" (by a credit frame), "order", "order-early", "order-before" (the receiver's record stands
 * before the sender's), "delivery", "delivery-lost". Returns the number of the frame that a verifier must name, or 0
 * if no record is fit for it. */
uint64_t sim_break(struct sim_capture *c, const char *rule);

#endif
