/* hamming_mesh.c - HammingMesh: boards of a x b accelerators, joined by row and column networks (SC22 section III).
 *
 * The firmware has the geometry and routes of this fabric (firmware/geometry.c, firmware/route.c); this file describes
 * it as a graph. A group is a board. */
#include "topology/hamming_mesh.h"

#include "topology/all.h"
#include "topology/name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes a number of at most 9 digits, so that it cannot overflow. Returns false if there is none. */
static bool take_number(const char **text, unsigned *number)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length > 9)
        return false;
    *number = (unsigned)strtoul(*text, NULL, 10);
    *text += length;
    return true;
}

static bool take_word(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool take_sides(const char *text, struct hx_mesh_sides *s)
{
    s->failures[0] = '\0';
    if (!take_number(&text, &s->x) || !take_word(&text, "x") || !take_number(&text, &s->y) || !take_word(&text, "h"))
        return false;
    if (take_word(&text, "x")) {
        if (!take_number(&text, &s->a))
            return false;
        s->b = s->a;
    } else if (!take_number(&text, &s->a) || !take_word(&text, "x") || !take_number(&text, &s->b)) {
        return false;
    }
    if (!take_word(&text, "mesh"))
        return false;
    if (!take_word(&text, "fail="))
        return *text == '\0';
    (void)snprintf(s->failures, sizeof s->failures, "%s", text);
    return s->failures[0];
}

bool hx_mesh_parse(const char *text, struct hx_mesh_sides *sides)
{
    char squeezed[HX_SPEC_BYTES];
    size_t used = 0;
    for (; *text; text++) {
        if (isspace((unsigned char)*text))
            continue;
        if (used == sizeof squeezed - 1)
            return false;
        squeezed[used++] = (char)tolower((unsigned char)*text);
    }
    squeezed[used] = '\0';
    return take_sides(squeezed, sides);
}

static bool take_board(const struct hx_mesh_sides *s, const char *name, unsigned *board)
{
    unsigned x = 0;
    unsigned y = 0;
    bool good = hx_name_take(&name, "board", &x) && hx_name_take(&name, ",", &y) && !*name && x < s->x && y < s->y;
    *board = y * s->x + x;
    return good;
}

bool hx_mesh_failures(const struct hx_mesh_sides *sides, bool *failed, struct hx_problem *problem)
{
    char names[HX_SPEC_BYTES];
    char *rest = NULL;
    unsigned left = sides->x * sides->y;
    (void)snprintf(names, sizeof names, "%s", sides->failures);
    for (const char *name = strtok_r(names, "+", &rest); name; name = strtok_r(NULL, "+", &rest)) {
        unsigned board;
        if (!take_board(sides, name, &board))
            return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                           "fail: '%.60s' is none of its boards, which fail as a whole (board0,0 .. board%u,%u)", name,
                           sides->x - 1, sides->y - 1);
        left -= !failed[board];
        failed[board] = true;
    }
    return left || hx_fail(problem, HX_EXIT_CONFIG, NULL, "fail: every board has failed: nothing is left to run");
}

static bool claims(const char *squeezed)
{
    struct hx_mesh_sides sides;
    return hx_mesh_parse(squeezed, &sides);
}

static void number_ports(struct hx_fabric *f)
{
    for (uint32_t node = 0; node < f->nodes; node++) {
        f->node[node].first_port = f->ports;
        f->node[node].ports = (uint16_t)hx_node_ports(&f->mesh, node);
        f->ports += f->node[node].ports;
    }
}

/* Board edges reach row switches by copper, column switches by optical cable; links between switches are optical. */
static unsigned class_of(const struct hx_fabric *f, uint32_t node, uint32_t far, unsigned trace, unsigned dac,
                         unsigned aoc)
{
    if (hx_is_host(f, node) && hx_is_host(f, far))
        return trace;
    enum hx_node_kind kind = hx_place_of(&f->mesh, hx_is_host(f, node) ? far : node).kind;
    bool edge = hx_is_host(f, node) || hx_is_host(f, far);
    return edge && kind == HX_ROW_SWITCH ? dac : aoc;
}

static void connect(struct hx_fabric *f)
{
    unsigned trace = hx_fabric_class_of_kind(f, "trace", HX_TRACE);
    unsigned dac = hx_fabric_class_of_kind(f, "row", HX_DAC);
    unsigned aoc = hx_fabric_class_of_kind(f, "column", HX_AOC);
    f->port = hx_allocate(f->ports, sizeof *f->port);
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; port < f->node[node].ports; port++) {
            struct hx_fabric_port *p = &f->port[f->node[node].first_port + port];
            p->far = hx_far_end(&f->mesh, node, port);
            if (p->far.node == HX_NOWHERE)
                continue;
            p->link_class = (uint8_t)class_of(f, node, p->far.node, trace, dac, aoc);
            p->dimension = hx_is_host(f, node) ? port == HX_N || port == HX_S
                                               : hx_place_of(&f->mesh, node).kind == HX_COLUMN_SWITCH;
            p->marked = hx_is_host(f, node) && !hx_is_host(f, p->far.node);
        }
    }
}

/* Returns the switches to buy for the networks of one dimension and plane: `groups` board rows (columns) of `lines`
 * lines each. One switch serves all lines of a board row if they fit (SC22 appendix C). */
static uint32_t bought(const struct hx_geometry *g, const struct hx_network *n, unsigned groups, unsigned lines)
{
    bool shared = lines * n->ports <= g->radix;
    return shared ? groups : (uint32_t)groups * lines * n->switches;
}

void hx_fabric_of_mesh(struct hx_fabric *f, const struct hx_geometry *g)
{
    *f = (struct hx_fabric){.topology = &hx_topology_hamming_mesh, .planes = g->planes};
    hx_fabric_start(f, g->accelerators, g->nodes - g->accelerators, g->columns, g->rows);
    f->mesh = *g;
    f->bought_planes = 4;
    f->switches = bought(g, &g->row, g->y, g->b) + bought(g, &g->column, g->x, g->a);
    f->host_links = 4;
    f->vcs = HX_MESH_VCS;
    f->rule = HX_VC_BY_LINK;
    f->columns = g->columns;
    f->rows = g->rows;
    f->groups = (uint32_t)g->x * g->y;
    f->group_word = "board";
    for (uint32_t host = 0; host < g->accelerators; host++) {
        struct hx_place at = hx_place_of(g, host);
        hx_fabric_address(f, host, at.gx, at.gy);
        f->node[host].group = at.gy / g->b * (uint32_t)g->x + at.gx / g->a;
    }
    number_ports(f);
    connect(f);
    struct hx_problem none;
    (void)hx_fabric_finish(f, &none);
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    struct hx_mesh_sides s;
    struct hx_geometry g;
    unsigned radix;
    unsigned taper;
    if (!hx_mesh_parse(tokens->text, &s) || s.failures[0]) /* spec/spec.c handles the failures of boards */
        return hx_spec_tokens_fail(tokens, problem, "write for example '4x4 Hx2Mesh' or '3x2 H2x4Mesh'");
    radix = HX_DEFAULT_RADIX;
    taper = 1;
    if (hx_geometry_init(&g, s.a, s.b, s.x, s.y, f->planes, radix, taper) != 0)
        return hx_spec_tokens_fail(tokens, problem, "a HammingMesh of this size is not possible");
    hx_fabric_of_mesh(f, &g);
    return true;
}

static unsigned distance(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    const struct hx_fabric_node *a = &f->node[from];
    const struct hx_fabric_node *b = &f->node[to];
    return hx_distance(&f->mesh, a->addr_hi, a->addr_lo, b->addr_hi, b->addr_lo);
}

static const char *const resembles[] = {"xhxmesh", NULL};

const struct hx_topology hx_topology_hamming_mesh = {
    HX_TOPOLOGY("HxMesh", "XxY HxAMesh or XxY HAxBMesh: X x Y boards of A x B accelerators; --radix, --taper",
                "4x4 Hx2Mesh", "boards that forward themselves, joined by row and column networks (SC22)", build),
    .near_on_grid = true,
    .claims = claims,
    .resembles = resembles,
    .distance = distance,
};
