/* plane.h - the firmware's route functions of one whole plane, as one job sees it.
 *
 * Routes are built when first asked for and kept. Not thread safe. */
#ifndef HXMESH_TOOLS_PLANE_H
#define HXMESH_TOOLS_PLANE_H

#include "hxmesh/route.h"
#include "spec/spec.h"

struct hx_plane {
    const struct hx_fabric *g;
    const struct hx_spec *spec;
    uint8_t *blocked; /* bit per board: not for this job */
    bool any_blocked;
    /* its tables are those of before and of after a change: what climbs beyond the last VC is dropped, as switches do,
     * where it is otherwise followed to be found out */
    bool mixed;
    struct hx_route *routes; /* per node; one whose memory is NULL is not built */
    void **memory;
};

/* Until hx_plane_free; the spec must live as long. The job is that of tag HX_NO_JOB until hx_plane_set_job. */
void hx_plane_init(struct hx_plane *p, const struct hx_spec *spec);
void hx_plane_free(struct hx_plane *p);
void hx_plane_set_job(struct hx_plane *p, uint16_t tag);

const struct hx_route *hx_plane_route(struct hx_plane *p, uint32_t node);

/* Whether the accelerator works for this job: its board is neither failed nor another job's. */
bool hx_plane_has(const struct hx_plane *p, unsigned gx, unsigned gy);

/* Why no way leads from one accelerator to another, as a part of a sentence: "4,2 is on a failed board". The plane is
 * of the job of `from`. Returns text. */
enum { HX_WHY_BYTES = 160 };
const char *hx_plane_why(char text[HX_WHY_BYTES], const struct hx_plane *p, struct hx_coordinate from,
                         struct hx_coordinate to);

/* The job an accelerator's board belongs to. */
uint16_t hx_plane_job_at(const struct hx_plane *p, unsigned gx, unsigned gy);

#endif
