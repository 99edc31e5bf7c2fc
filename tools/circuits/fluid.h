/* fluid.h - flows in time: at every moment their rates are max-min fair.
 *
 *     struct fluid *f = fluid_new(links, grain);
 *     fluid_set_rate(f, link, 12.5e9);
 *     flow = fluid_add(f, share, shares, bytes);
 *     while (fluid_open(f))
 *         now += fluid_advance(f, INFINITY);
 *
 * A flow takes several paths at once: fixed shares of its bytes pass over links. A flow that has a share on a link of
 * rate 0 waits. The fill is progressive: all rates rise alike until a link is full; its flows then keep theirs. */
#ifndef HXMESH_TOOLS_CIRCUITS_FLUID_H
#define HXMESH_TOOLS_CIRCUITS_FLUID_H

#include <stdbool.h>
#include <stdint.h>

struct fluid;

struct fluid_share {
    uint32_t link;
    double share; /* bytes on the link for each byte of the flow */
};

/* grain: flows that end within so many seconds count as one event; what they leave free is used only after it. Links
 * have the rate 0. */
struct fluid *fluid_new(uint32_t links, double grain);
/* NULL is allowed. */
void fluid_free(struct fluid *f);

/* rate: bytes a second. */
void fluid_set_rate(struct fluid *f, uint32_t link, double rate);

/* Adds a flow of more than 0 bytes; copies the shares, one or more. Returns its number, the least that is free. */
uint32_t fluid_add(struct fluid *f, const struct fluid_share *share, uint32_t shares, double bytes);
/* Gives a flow other paths; no shares: it waits. */
void fluid_turn(struct fluid *f, uint32_t flow, const struct fluid_share *share, uint32_t shares);
/* Frees the number of a flow, whatever is left of it. */
void fluid_remove(struct fluid *f, uint32_t flow);

double fluid_left(const struct fluid *f, uint32_t flow); /* bytes */
double fluid_speed(struct fluid *f, uint32_t flow);      /* bytes a second, at this moment */
uint32_t fluid_open(const struct fluid *f);              /* flows that have bytes left */

/* Lets time pass until the first flow ends, but at most `most` seconds. Returns the seconds that passed: INFINITY if
 * all flows wait and `most` is INFINITY. */
double fluid_advance(struct fluid *f, double most);

#endif
