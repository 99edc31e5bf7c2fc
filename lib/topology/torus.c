/* torus.c - tori and meshes of one to four dimensions (Dally, "Performance Analysis of k-ary n-cube Interconnection
 * Networks", 1990; SC22 appendix C).
 *
 * In one and two dimensions hosts forward, as a HammingMesh's accelerators, on any minimal path, north last. The links
 * that close rings move packets to the next VC. So each VC sees a mesh, and a packet needs at most one VC and one per
 * dimension. In three and four dimensions a host stands beside a router on a trace as fast as all the router's links. A
 * torus of three dimensions takes any minimal path, down first (grid.h), on four VCs. One of four dimensions finishes
 * the first two before the others, where the VC starts from 0 again: three VCs. Meshes of three and four dimensions go
 * dimension by dimension, on one VC.
 *
 * Links within a board are traces and free: the 32x32 torus of 2x2 boards has 1,024 cables per plane. SC22 calls them
 * copper, but its 2.5 and 39.5 M$ are the price of optical cables; so they are optical here. A side of two has two
 * parallel links. A group is a board. */
#include "topology/grid.h"
#include "topology/topology.h"

enum {
    MOST_DIMENSIONS = 4,
    MOST_ADAPTIVE = 3 /* each closed ring takes a VC, of four */
};

static bool take_boards(struct hx_grid *g, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    unsigned board[MOST_DIMENSIONS] = {1, 1, 1, 1};
    const char *text = hx_spec_tokens_text(tokens, "board");
    unsigned sides = text ? hx_spec_tokens_list(text, board, MOST_DIMENSIONS) : g->dimensions;
    if (sides != g->dimensions)
        return hx_spec_tokens_fail(tokens, problem, "board=%s: a board has as many sides as the whole, %u", text,
                                   g->dimensions);
    for (unsigned i = 0; i < g->dimensions; i++) {
        struct hx_grid_dimension *d = &g->dimension[i];
        d->board = board[i];
        if (d->board == 0 || d->side % d->board == 0)
            continue;
        unsigned nearest = d->board < d->side ? d->board : d->side;
        while (d->side % nearest)
            nearest--;
        return hx_spec_tokens_fail(tokens, problem, "boards of %u do not fill a side of %u; %u do", d->board, d->side,
                                   nearest);
    }
    for (unsigned i = 0; i < g->dimensions; i++)
        if (board[i] == 0)
            return hx_spec_tokens_fail(tokens, problem, "board=%s: the sides of a board are at least 1", text);
    return true;
}

static bool take_sides(struct hx_grid *g, const struct hx_spec_tokens *tokens, enum hx_grid_kind kind,
                       struct hx_problem *problem)
{
    if (tokens->sizes == 0 || tokens->sizes > MOST_DIMENSIONS)
        return hx_spec_tokens_fail(tokens, problem, "one to four sizes are needed, for example '%s 8x8x4'",
                                   tokens->word);
    g->dimensions = tokens->sizes;
    for (unsigned i = 0; i < g->dimensions; i++) {
        g->dimension[i] = (struct hx_grid_dimension){.kind = kind, .side = tokens->size[i]};
        if (tokens->size[i] < 2 || tokens->size[i] > HX_MAX_DIGIT)
            return hx_spec_tokens_fail(tokens, problem, "a side of %u: 2 to %d are possible", tokens->size[i],
                                       HX_MAX_DIGIT);
    }
    if (hx_grid_count(g) == 0)
        return hx_spec_tokens_fail(tokens, problem, "more than %u hosts", HX_MAX_HOSTS);
    return true;
}

/* Returns the product of the sides first .. end-1. */
static uint32_t product(const struct hx_grid *g, unsigned first, unsigned end)
{
    uint32_t all = 1;
    for (unsigned i = first; i < end; i++)
        all *= g->dimension[i].side;
    return all;
}

/* Sets the stages. Returns the dimensions of a stage, which packets take in any order. Lines have one per stage, since
 * down first would draw their traffic to a corner. */
static unsigned set_stages(struct hx_grid *g, enum hx_grid_kind kind)
{
    unsigned together = g->dimensions;
    if (g->dimensions > 2 && kind == HX_GRID_LINE)
        together = 1;
    else if (g->dimensions > MOST_ADAPTIVE)
        together = 2;
    for (unsigned i = 0; i < g->dimensions; i++)
        g->dimension[i].stage = i / together;
    return together;
}

/* Returns the links of the router that has most. */
static unsigned most_links(const struct hx_grid *g)
{
    unsigned links = 0;
    for (unsigned i = 0; i < g->dimensions; i++)
        links += g->dimension[i].side == 2 && g->dimension[i].kind == HX_GRID_LINE ? 1 : 2;
    return links;
}

/* A host at the border of a mesh has fewer links than others, and injects less. */
static void set_injected(struct hx_fabric *f)
{
    const struct hx_grid *g = f->own;
    f->injected = hx_allocate(f->hosts, sizeof *f->injected);
    for (uint32_t host = 0; host < f->hosts; host++) {
        struct hx_injected *own = &f->injected[host];
        uint32_t router = g->on_hosts ? host : f->hosts + host;
        for (unsigned port = 0; port < hx_fabric_ports(f, router); port++) {
            uint32_t far = hx_fabric_far(f, router, port).node;
            own->links += far != HX_NOWHERE && hx_is_host(f, far) == g->on_hosts;
        }
        f->host_links = own->links < f->host_links ? own->links : f->host_links;
    }
}

static bool build_of(struct hx_fabric *f, struct hx_spec_tokens *tokens, enum hx_grid_kind kind,
                     struct hx_problem *problem)
{
    static const char *const keys[] = {"board", NULL};
    struct hx_grid grid = {.places = 1};
    if (!take_sides(&grid, tokens, kind, problem) || !take_boards(&grid, tokens, problem) ||
        !hx_spec_tokens_end(tokens, keys, MOST_DIMENSIONS, problem))
        return false;
    bool on_hosts = grid.dimensions <= 2 && !f->by_updown;
    grid.split = grid.dimensions <= 2 ? 1 : hx_grid_best_split(&grid);
    uint32_t columns = product(&grid, 0, grid.split);
    uint32_t rows = product(&grid, grid.split, grid.dimensions);
    grid.on_hosts = on_hosts;
    f->split_hosts = grid.dimensions <= 2 && !on_hosts;
    unsigned together = set_stages(&grid, kind);
    struct hx_grid *g = hx_grid_start(f, &grid);
    f->host_links = most_links(g);
    g->trace = (uint8_t)hx_fabric_class_of_kind(f, "board", HX_TRACE);
    unsigned cable = hx_fabric_class_of_kind(f, "cable", HX_AOC);
    for (unsigned i = 0; i < g->dimensions; i++) {
        g->dimension[i].cable = (uint8_t)cable;
        g->dimension[i].gbps = 1;
    }
    if (!on_hosts)
        g->beside = (uint8_t)hx_fabric_class(
            f, &(struct hx_link_class){
                   .name = "host", .kind = HX_TRACE, .times = f->host_links, .latency_ns = HX_LATENCY_OF_KIND});
    f->rule = together == g->dimensions ? HX_VC_BY_LINK : HX_VC_BY_STAGE;
    f->vcs = 1 + (kind == HX_GRID_RING ? together : 0);
    f->columns = columns;
    f->rows = rows;
    f->switches = 0; /* they are in the hosts */
    f->bought_planes = 4;
    hx_grid_add_links(f);
    bool good = hx_fabric_finish(f, problem);
    if (good && kind == HX_GRID_LINE)
        set_injected(f);
    return good;
}

static bool build_torus(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    return build_of(f, tokens, HX_GRID_RING, problem);
}

static bool build_mesh(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    return build_of(f, tokens, HX_GRID_LINE, problem);
}

const struct hx_topology hx_topology_torus = {
    HX_TOPOLOGY("torus", "AxBxCxD (one to four sides) board=AxB", "torus 32x32 board=2x2",
                "hosts joined to their neighbours, each side closed to a ring", build_torus),
    .turn_mask = hx_grid_turn_mask,
    .near_on_grid = true,
    HX_GRID_FUNCTIONS,
};

const struct hx_topology hx_topology_mesh = {
    HX_TOPOLOGY("mesh", "AxBxCxD (one to four sides) board=AxB", "mesh 16x16", "hosts joined to their neighbours",
                build_mesh),
    .turn_mask = hx_grid_turn_mask,
    .near_on_grid = true,
    HX_GRID_FUNCTIONS,
};
