/* around_parts.h - what the files of routes around dead links (include/hxmesh/around.h) share: kinds of states, and
 * sets of ports by kind. */
#ifndef HX_AROUND_PARTS_H
#define HX_AROUND_PARTS_H

#include "hxmesh/around.h"

#include <limits.h>

/* Kinds of packets at a node. 0 .. 5: VC * 2, and 1 more for a packet that moved north on this board, or came down from
 * a spine. Then those on the escape VC. */
enum { ESCAPE_UP = 2 * HX_MESH_VCS, ESCAPE_DOWN, KINDS };

/* Words of the sets of a destination. Accelerator: one, with a byte for each kind. Tree switch: two for each VC, from
 * VC 1 on; those of the escape VC take the places of VC 1. */
enum { TREE_WORDS = 2 * (HX_MESH_VCS - 1) };

static inline unsigned words_of(const struct hx_geometry *g, uint32_t node)
{
    return node < g->accelerators ? 1 : TREE_WORDS;
}

static inline unsigned word_of(unsigned kind)
{
    return kind >= ESCAPE_UP ? kind - ESCAPE_UP : kind - 2;
}

static inline void put_ports(uint64_t *sets, unsigned words, unsigned kind, uint64_t ports)
{
    if (words == 1)
        *sets |= ports << 8 * kind;
    else
        sets[word_of(kind)] = ports;
}

static inline uint64_t ports_of(const uint64_t *sets, unsigned words, unsigned kind)
{
    return words == 1 ? *sets >> 8 * kind & UINT8_MAX : sets[word_of(kind)];
}

/* Whether dead links may concern packets that the node sends to an accelerator: healthy paths lie on the boards of the
 * source's and the destination's rows and columns, and in their networks. To its own board a packet may have crossed too
 * often for a wrap. */
bool hx_around_concerns(const struct hx_around *a, uint32_t to);

/* Search the results of a node, by rule 1 and on the escape VC. */
void hx_around_search_ways(struct hx_around *a, struct hx_around_found *found);
void hx_around_search_escape(struct hx_around *a, struct hx_around_found *found);

#endif
