/* around_links.c - routes around dead links, of nodes in this process (around_links.h). */
#include "spec/around_links.h"
#include "base/error.h"

#include <stdlib.h>

/* ---- boards off limits ---- */

struct boards_of_job {
    struct boards_of_job *next;
    uint16_t job;
    bool any;
    uint8_t bits[]; /* of all boards */
};

static struct boards_of_job *find_boards(const struct hx_spec *spec, uint16_t job)
{
    struct boards_of_job *of = hx_allocate(1, sizeof *of + hx_spec_boards(spec) / 8 + 1);
    of->job = job;
    of->any = hx_spec_blocked_boards(spec, job, of->bits);
    return of;
}

/* The job that was asked for comes first, since most hosts have the job of the previous one. */
struct hx_blocked_boards job_boards_of(struct job_boards *b, uint16_t job)
{
    struct boards_of_job **at = &b->first;
    while (*at && (*at)->job != job)
        at = &(*at)->next;
    struct boards_of_job *of = *at ? *at : find_boards(b->spec, job);
    *at = *at ? of->next : NULL;
    of->next = b->first;
    b->first = of;
    return (struct hx_blocked_boards){of->any ? of->bits : NULL};
}

void job_boards_free(struct job_boards *b)
{
    while (b->first) {
        struct boards_of_job *next = b->first->next;
        free(b->first);
        b->first = next;
    }
}

/* ---- shared by nodes ---- */

void around_shared_open(struct around_shared *s, const struct hx_fabric *g, struct job_boards *boards)
{
    *s = (struct around_shared){.g = g, .boards = boards};
    s->memory = hx_allocate(1, hx_around_search_bytes(&g->mesh));
    hx_around_search_init(&s->search, &g->mesh, s->memory);
}

void around_shared_close(struct around_shared *s)
{
    free(s->memory);
    s->memory = NULL;
}

/* ---- nodes ---- */

/* The result of a search follows. */
struct taken {
    struct taken *next;
};

static void *take_memory(void *of, size_t bytes)
{
    struct around_node *n = of;
    struct taken *t = hx_allocate(1, sizeof *t + bytes);
    t->next = n->taken;
    n->taken = t;
    return t + 1;
}

static void forget(struct around_node *n)
{
    while (n->taken) {
        struct taken *next = n->taken->next;
        free(n->taken);
        n->taken = next;
    }
}

static struct hx_blocked_boards blocked(void *of, uint32_t to)
{
    const struct around_node *n = of;
    const struct hx_spec *spec = n->shared->boards->spec;
    return job_boards_of(n->shared->boards, hx_spec_board_job(spec, hx_spec_board_of(spec, to)));
}

void around_node_begin(struct around_node *n, struct around_shared *s, const struct hx_dead_links *dead, uint32_t node,
                       uint64_t up, struct hx_route *r, void *tables)
{
    forget(n);
    n->shared = s;
    n->copy = n->copy ? n->copy : hx_allocate(1, hx_around_bytes(&s->g->mesh, node));
    n->around = (struct hx_around){.g = &s->g->mesh,
                                   .dead = dead,
                                   .search = &s->search,
                                   .take = take_memory,
                                   .blocked = blocked,
                                   .of = n,
                                   .up = up,
                                   .node = node};
    hx_around_begin(&n->around, r, tables, n->copy);
}

void around_node_end(struct around_node *n)
{
    forget(n);
    free(n->copy);
    n->copy = NULL;
}
