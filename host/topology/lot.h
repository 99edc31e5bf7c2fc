/* lot.h - drawing lots in a search over a graph: seeded, so that it finds the same each time (splitmix64). */
#ifndef HXMESH_HOST_TOPOLOGY_LOT_H
#define HXMESH_HOST_TOPOLOGY_LOT_H

#include <stdint.h>

/* 0 .. below-1; any state begins a row. */
static inline uint32_t hx_lot(uint64_t *state, uint32_t below)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % below);
}

#endif
