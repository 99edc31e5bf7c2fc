/* around_links.h - routes around dead links of a HammingMesh, of a plane's nodes in this process, under both clocks.
 *
 * around_plane: what its nodes know. around_node: the routes of one. A node's routes begin anew when the set that it
 * knows changes, or its own ports (include/hxmesh/around.h). */
#ifndef AROUND_LINKS_H
#define AROUND_LINKS_H

#include "hxmesh/around.h"
#include "spec/spec.h"

/* Boards that packets of each job may not enter. */
struct job_boards {
    const struct hx_spec *spec;
    struct boards_of_job *first; /* list */
};

/* Returns those of a job, valid until job_boards_free(). */
struct hx_blocked_boards job_boards_of(struct job_boards *b, uint16_t job);
void job_boards_free(struct job_boards *b);

/* What the nodes of a process share. */
struct around_shared {
    const struct hx_fabric *g;
    struct job_boards *boards;
    struct hx_around_search search;
    void *memory; /* of the search */
};

void around_shared_open(struct around_shared *s, const struct hx_fabric *g, struct job_boards *boards);
void around_shared_close(struct around_shared *s);

struct around_node {
    struct hx_around around;
    struct around_shared *shared;
    void *copy;          /* hx_around_bytes() */
    struct taken *taken; /* results; list */
};

/* Begins routes of a node around dead links. r: built for the ports `up`, into `tables`. *n: zero before its first
 * use. */
void around_node_begin(struct around_node *n, struct around_shared *s, const struct hx_dead_links *dead, uint32_t node,
                       uint64_t up, struct hx_route *r, void *tables);
void around_node_end(struct around_node *n);

#endif
