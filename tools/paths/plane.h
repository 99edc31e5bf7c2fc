/* plane.h - the firmware's routes of one whole plane, for one job.
 *
 * Each node's route is built when first needed, and kept. Not thread safe. */
#ifndef HXMESH_TOOLS_PLANE_H
#define HXMESH_TOOLS_PLANE_H

#include "hxmesh/route.h"
#include "spec/spec.h"
#include "tools/paths/broken.h"

struct hx_plane {
    const struct hx_fabric *g;
    const struct hx_spec *spec;
    uint8_t *blocked; /* a bit per board: the job may not use it */
    bool any_blocked;
    /* The tables join those before and after a change. Packets beyond the last VC are dropped, as by switches;
     * otherwise they are followed, to find the error. */
    bool mixed;
    struct hx_broken *broken; /* dead links; NULL: none. Set it before the job */
    struct hx_route *routes;  /* per node; not built if its memory is NULL */
    void **memory;
};

/* The spec must outlive the plane. The job is HX_NO_JOB until hx_plane_set_job. */
void hx_plane_init(struct hx_plane *p, const struct hx_spec *spec);
void hx_plane_free(struct hx_plane *p);
void hx_plane_set_job(struct hx_plane *p, uint16_t tag);

const struct hx_route *hx_plane_route(struct hx_plane *p, uint32_t node);

/* Whether the job can use the accelerator: its board has not failed and is not another job's. */
bool hx_plane_has(const struct hx_plane *p, unsigned gx, unsigned gy);

/* Writes why no path leads from one accelerator to another, as a part of a sentence: "4,2 is on a failed board". Needs
 * the plane of the job of `from`. Returns text. */
enum { HX_WHY_BYTES = 160 };
const char *hx_plane_why(char text[HX_WHY_BYTES], const struct hx_plane *p, struct hx_coordinate from,
                         struct hx_coordinate to);

uint16_t hx_plane_job_at(const struct hx_plane *p, unsigned gx, unsigned gy);

#endif
