/* walk.h - all minimal paths of one packet, cable by cable, as the firmware's route functions allow them. */
#ifndef HXMESH_TOOLS_WALK_H
#define HXMESH_TOOLS_WALK_H

#include "tools/paths/plane.h"

/* A packet at a node: its input, and its candidate outputs. */
struct hx_step {
    uint32_t node;
    uint16_t input;  /* HX_LOCAL at the source */
    uint16_t cables; /* so far */
    uint8_t vc;
    uint64_t ports;
    uint64_t path_count; /* number of paths to here; saturates at UINT64_MAX */
};

struct hx_walk {
    struct hx_coordinate from, to;
    struct hx_step *steps; /* in order of cables */
    size_t count, capacity;
    unsigned distance;
    unsigned vcs;   /* greatest VC + 1 */
    uint64_t paths; /* number of paths to the destination; parallel cables count separately */
};

/* Both ends are in the fabric and of the plane's job. hx_walk_free afterwards. */
void hx_walk_all(struct hx_walk *w, struct hx_plane *p, struct hx_coordinate from, struct hx_coordinate to);
void hx_walk_free(struct hx_walk *w);

/* Draws the boards that a packet may touch (at most four) and the hops on them; nothing if the picture is too wide. */
void hx_walk_draw(const struct hx_walk *w, const struct hx_geometry *g);

#endif
