/* circuits_parts.h - a plan of circuits as read from its file (circuits.h). */
#ifndef HXMESH_SPEC_CIRCUITS_PARTS_H
#define HXMESH_SPEC_CIRCUITS_PARTS_H

#include "base/error.h"
#include "base/lines.h"
#include "topology/fabric.h"
#include "topology/name.h"

struct hx_circuits_place {
    const char *name;
    uint32_t node;
};

/* A link, known by the port of its first end. */
struct hx_circuits_link {
    bool named; /* by any line so far */
    bool on;
    size_t line;        /* last line that has it, from 1 */
    uint64_t closed_ns; /* its last closing; if not `on` */
};

/* Time in which a circuit is not there. */
struct hx_circuits_closing {
    uint32_t link;
    uint64_t from_ns, to_ns; /* to_ns UINT64_MAX: no end */
};

struct hx_circuits_line {
    uint64_t at_ns;
    unsigned number; /* in the file */
};

struct hx_circuits_plan {
    const struct hx_fabric *f;
    struct hx_lines l;
    struct hx_circuits_place *place; /* sorted by name */
    const char **names;              /* the same, ends with NULL */
    size_t places;
    char (*text)[HX_NAME_BYTES]; /* [nodes] names of places */
    uint64_t dark_ns;
    uint64_t interfaces; /* 0: not limited */
    bool said_dark;
    struct hx_circuits_line *line;
    size_t lines, line_room;
    struct hx_circuits_link *link; /* [ports] */
    uint32_t *owner;               /* [ports]: node */
    uint32_t *named;               /* links */
    size_t names_of_links, named_room;
    unsigned *used; /* [nodes]: circuits of the current line */
    struct hx_circuits_closing *closing;
    size_t closings, closing_room;
};

/* Reads the plan's file into *p, of which only `f` is set. Returns false on an error. Free *p either way. */
bool hx_circuits_plan_read(struct hx_circuits_plan *p, const char *path, struct hx_problem *problem);
void hx_circuits_plan_free(struct hx_circuits_plan *p);

/* Name of a host in the graph's file: its own, or that of its router if it forwards. Without a file, of its place. */
const char *hx_circuits_host_name(char name[HX_NAME_BYTES], const struct hx_fabric *f, uint32_t host);

#endif
