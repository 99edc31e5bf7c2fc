/* plane.c - builds and keeps the routes of a plane (tools/paths/plane.h). */
#include "tools/paths/plane.h"

#include <stdio.h>
#include <stdlib.h>

void hx_plane_init(struct hx_plane *p, const struct hx_spec *spec)
{
    *p = (struct hx_plane){.g = hx_spec_fabric(spec), .spec = spec};
    p->blocked = hx_allocate((hx_spec_boards(spec) + 7U) / 8U, 1);
    p->routes = hx_allocate(p->g->nodes, sizeof *p->routes);
    p->memory = hx_allocate(p->g->nodes, sizeof *p->memory);
    hx_plane_set_job(p, HX_NO_JOB);
}

static void forget(struct hx_plane *p)
{
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        free(p->memory[node]);
        p->memory[node] = NULL;
    }
}

void hx_plane_free(struct hx_plane *p)
{
    forget(p);
    free(p->blocked);
    free(p->routes);
    free(p->memory);
    *p = (struct hx_plane){0};
}

void hx_plane_set_job(struct hx_plane *p, uint16_t tag)
{
    forget(p);
    p->any_blocked = hx_spec_blocked_boards(p->spec, tag, p->blocked);
    if (p->broken)
        hx_broken_begin(p->broken, (struct hx_blocked_boards){p->any_blocked ? p->blocked : NULL});
}

const struct hx_route *hx_plane_route(struct hx_plane *p, uint32_t node)
{
    if (!p->memory[node]) {
        unsigned ports = hx_fabric_ports(p->g, node);
        uint64_t up = ports < 64 ? ((uint64_t)1 << ports) - 1 : UINT64_MAX;
        up &= p->broken ? ~p->broken->down[node] : UINT64_MAX;
        struct hx_blocked_boards blocked = {p->any_blocked ? p->blocked : NULL};
        p->memory[node] = hx_allocate(1, hx_fabric_route_bytes(p->g, node));
        hx_fabric_route(&p->routes[node], p->g, node, blocked, up, p->memory[node]);
        if (p->broken)
            hx_broken_route(p->broken, node, &p->routes[node], p->memory[node]);
    }
    return &p->routes[node];
}

bool hx_plane_has(const struct hx_plane *p, unsigned gx, unsigned gy)
{
    unsigned board = hx_spec_board_at(p->spec, gx, gy);
    return !(p->blocked[board / 8] >> board % 8 & 1);
}

uint16_t hx_plane_job_at(const struct hx_plane *p, unsigned gx, unsigned gy)
{
    return hx_spec_board_job(p->spec, hx_spec_board_at(p->spec, gx, gy));
}

/* Writes "board 2,1, which has failed", or names its job. */
static void describe_board(char *text, size_t bytes, const struct hx_spec *spec, unsigned board)
{
    unsigned job = hx_spec_board_job(spec, board);
    if (hx_spec_board_failed(spec, board))
        (void)snprintf(text, bytes, "board %u,%u, which has failed", board % spec->x, board / spec->x);
    else if (job == HX_NO_JOB)
        (void)snprintf(text, bytes, "board %u,%u, which is of no job", board % spec->x, board / spec->x);
    else
        (void)snprintf(text, bytes, "board %u,%u, which is of job %u", board % spec->x, board / spec->x, job);
}

/* A path crosses two networks. In between it is on the board in one end's column and the other end's row. */
static void describe_crossings(char text[HX_WHY_BYTES], const struct hx_spec *spec, unsigned from, unsigned to)
{
    char first[64];
    char second[64];
    describe_board(first, sizeof first, spec, from / spec->x * spec->x + to % spec->x);
    describe_board(second, sizeof second, spec, to / spec->x * spec->x + from % spec->x);
    (void)snprintf(text, HX_WHY_BYTES, "every path lands on %s, or on %s", first, second);
}

const char *hx_plane_why(char text[HX_WHY_BYTES], const struct hx_plane *p, struct hx_coordinate from,
                         struct hx_coordinate to)
{
    const struct hx_coordinate ends[] = {from, to};
    for (unsigned i = 0; i < 2; i++) {
        if (!hx_spec_board_failed(p->spec, hx_spec_board_at(p->spec, ends[i].addr_hi, ends[i].addr_lo)))
            continue;
        (void)snprintf(text, HX_WHY_BYTES, p->spec->a ? "a%u,%u is on a failed board" : "a%u,%u has failed",
                       ends[i].addr_hi, ends[i].addr_lo);
        return text;
    }
    unsigned jobs[] = {hx_plane_job_at(p, from.addr_hi, from.addr_lo), hx_plane_job_at(p, to.addr_hi, to.addr_lo)};
    if (jobs[0] != jobs[1])
        (void)snprintf(text, HX_WHY_BYTES, "a%u,%u is of job %u and a%u,%u of job %u (0: boards that no job names)",
                       from.addr_hi, from.addr_lo, jobs[0], to.addr_hi, to.addr_lo, jobs[1]);
    else if (!p->spec->a)
        (void)snprintf(text, HX_WHY_BYTES, "what is left of the fabric does not join a%u,%u and a%u,%u", from.addr_hi,
                       from.addr_lo, to.addr_hi, to.addr_lo);
    else
        describe_crossings(text, p->spec, hx_spec_board_at(p->spec, from.addr_hi, from.addr_lo),
                           hx_spec_board_at(p->spec, to.addr_hi, to.addr_lo));
    return text;
}
