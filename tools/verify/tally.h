/* tally.h - counts of what a verification let pass: by kind, port and fault. */
#ifndef HXMESH_TOOLS_VERIFY_TALLY_H
#define HXMESH_TOOLS_VERIFY_TALLY_H

#include "base/table.h"

#include <stdint.h>

enum {
    HX_TALLY_NO_FAULT = UINT32_MAX,      /* no fault explains it */
    HX_TALLY_GAPS = UINT32_MAX - 1,      /* the capture lacks frames there */
    HX_TALLY_SOME_FAULT = UINT32_MAX - 2 /* too many faults to find the one */
};

/* Kinds of what was let pass that are no rules. */
extern const char hx_tally_lost[];     /* and not delivered since */
extern const char hx_tally_repaired[]; /* lost, and delivered when sent again */
extern const char hx_tally_covered[];  /* an acknowledgement and the like lost, and a later one delivered */
extern const char hx_tally_copied[];   /* a link repeated a packet */
extern const char hx_tally_bypassed[]; /* on a path around links that are down */
extern const char hx_tally_turned[];   /* delivered short of the destination, as unreachable */

struct hx_tally {
    const char *what; /* a rule's name, or one of the above */
    uint32_t port;    /* index in the capture */
    uint32_t fault;   /* index in the list of faults, or HX_TALLY_... */
    uint64_t count;
    uint64_t frame; /* the first */
};

/* `of` is a table of struct hx_tally. */
void hx_tally_begin(struct hx_table *of);
void hx_tally_add(struct hx_table *of, const char *what, uint32_t port, uint32_t fault, uint64_t frame);
/* A fault was inserted at that index: later ones move up. */
void hx_tally_shift(struct hx_table *of, uint32_t fault);
/* The tallies, most first. Free the array. */
struct hx_tally *hx_tally_sorted(const struct hx_table *of);

#endif
