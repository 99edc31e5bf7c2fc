/* around_parts.h - what the files of routes around dead links (include/hxmesh/around.h) share: kinds of states, and
 * sets of ports by kind. */
#ifndef HX_AROUND_PARTS_H
#define HX_AROUND_PARTS_H

#include "hxmesh/around.h"

/* Kinds of packets at a node. 0 .. 5: VC * 2, and 1 more for a packet that moved north on this board, or came down from
 * a spine. Then those on the escape VC. */
enum { ESCAPE_UP = 2 * HX_MESH_VCS, ESCAPE_DOWN, KINDS };

/* Sets of ports on the escape VC, of a destination. Accelerator: one word, with a byte for each kind. Tree switch: two
 * words. */
static inline unsigned escape_words(const struct hx_geometry *g, uint32_t node)
{
    return node < g->accelerators ? 1 : 2;
}

static inline void put_escape(uint64_t *sets, unsigned words, unsigned kind, uint64_t ports)
{
    if (words == 1)
        *sets |= ports << 8 * (kind - ESCAPE_UP);
    else
        sets[kind - ESCAPE_UP] = ports;
}

static inline uint64_t escape_of(const uint64_t *sets, unsigned words, unsigned kind)
{
    return words == 1 ? *sets >> 8 * (kind - ESCAPE_UP) & UINT8_MAX : sets[kind - ESCAPE_UP];
}

/* Returns the ports that begin shortest paths to an accelerator by rule 1, of packets of a kind. */
uint64_t hx_around_search_way(struct hx_around *a, const uint8_t *blocked, unsigned kind, uint32_t to);

/* Searches the results of a node on the escape VC. */
void hx_around_search_escape(struct hx_around *a, struct hx_around_found *found);

#endif
