/* figures.c - what a fabric is made of, costs and can carry (tools/info/figures.h). */
#include "tools/info/figures.h"
#include "host/json.h"

#include "host/bounds.h"
#include "tools/draw/text_table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static unsigned radix_of(const struct hx_fabric *g)
{
    unsigned most = 0;
    for (uint32_t node = g->hosts; node < g->nodes; node++)
        most = hx_fabric_ports(g, node) > most ? hx_fabric_ports(g, node) : most;
    return most;
}

void figures_load(struct figures *f, const char *argument, const struct hx_overrides *overrides)
{
    hx_spec_load(argument, overrides, &f->spec);
    f->g = hx_spec_fabric(&f->spec);
    f->bill = hx_fabric_bill(f->g);
    f->bisection = hx_fabric_bisection(f->g);
    f->distances = hx_fabric_distances(f->g);
    f->alltoall_bound = hx_fabric_alltoall_bound(f->g);
    f->radix = f->g->mesh.nodes ? f->spec.radix : radix_of(f->g);
    double links = (double)f->g->hosts * f->g->host_links * f->g->bought_planes;
    f->usd_per_host = (double)f->bill.usd / f->g->hosts;
    f->usd_per_global_link = f->alltoall_bound > 0 ? (double)f->bill.usd / (links * f->alltoall_bound) : 0;
}

void figures_free(struct figures *f)
{
    hx_spec_free(&f->spec);
}

/* ---- JSON ---- */

static json_t *network_json(const struct hx_network *n)
{
    return json_pack("{s:i, s:i, s:i}", "ports", n->ports, "leaves", n->leaves, "spines", n->spines);
}

static void add_mesh(json_t *json, const struct figures *f)
{
    const struct hx_spec *s = &f->spec;
    const struct hx_geometry *m = &f->g->mesh;
    json_t *mesh = json_pack("{s:i, s:{s:i, s:i, s:i, s:i}, s:i, s:o, s:o, s:I}", "accelerators", (int)f->g->hosts,
                             "boards", "x", (int)s->x, "y", (int)s->y, "a", (int)s->a, "b", (int)s->b, "taper",
                             (int)s->taper, "row_network", network_json(&m->row), "column_network",
                             network_json(&m->column), "straight_cut", (json_int_t)hx_straight_cut_of(m).links);
    json_object_update(json, mesh);
    json_decref(mesh);
}

json_t *figures_json(const struct figures *f)
{
    const struct hx_spec *s = &f->spec;
    const struct hx_fabric *g = f->g;
    json_t *json = json_pack("{s:o, s:o, s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "spec", hx_json_text(s->fabric), "name",
                             hx_json_text(s->name), "topology", g->topology->word, "hosts", (int)g->hosts, "host_links",
                             (int)g->host_links, "planes", (int)s->planes, "radix", (int)f->radix, "vcs", (int)g->vcs,
                             "nodes_per_plane", (int)g->nodes);
    json_t *rest =
        json_pack("{s:i, s:I, s:{s:I, s:I}, s:I, s:i, s:i, s:f, s:I, s:b, s:f, s:f, s:f, s:o}", "cost_planes",
                  (int)g->bought_planes, "switches", (json_int_t)f->bill.switches, "cables", "dac",
                  (json_int_t)f->bill.cables[HX_DAC], "aoc", (json_int_t)f->bill.cables[HX_AOC], "cost_usd",
                  (json_int_t)f->bill.usd, "diameter", (int)f->distances.diameter, "router_diameter",
                  (int)f->distances.router_diameter, "average_distance", f->distances.average, "bisection",
                  (json_int_t)f->bisection.links, "bisection_exact", (int)f->bisection.exact, "bisection_share",
                  f->bisection.share, "alltoall_bound", f->alltoall_bound, "cost_per_host", f->usd_per_host,
                  "cost_per_global_link", f->alltoall_bound > 0 ? json_real(f->usd_per_global_link) : json_null());
    json_object_update(json, rest);
    json_decref(rest);
    if (g->mesh.nodes)
        add_mesh(json, f);
    return json;
}

/* ---- for people ---- */

static void print_network(const char *which, const struct hx_network *n)
{
    if (n->spines == 0)
        printf("%-16s%u ports a line on one switch\n", which, n->ports);
    else
        printf("%-16s%u ports a line on %u leaves and %u spines\n", which, n->ports, n->leaves, n->spines);
}

static void print_mesh(const struct figures *f)
{
    const struct hx_spec *s = &f->spec;
    printf("%-16s%u (%u x %u), on %u x %u boards of %u x %u\n", "accelerators", f->g->hosts, f->g->columns, f->g->rows,
           s->x, s->y, s->a, s->b);
    printf("%-16s%u emulated, of %u nodes each\n", "planes", s->planes, f->g->nodes);
    print_network("row networks", &f->g->mesh.row);
    print_network("column networks", &f->g->mesh.column);
}

static void print_other(const struct figures *f)
{
    printf("%-16s%u, %u link%s each in a plane\n", "hosts", f->g->hosts, f->g->host_links,
           f->g->host_links == 1 ? "" : "s");
    printf("%-16s%u emulated, of %u nodes each\n", "planes", f->spec.planes, f->g->nodes);
    if (f->g->nodes > f->g->hosts)
        printf("%-16s%u a plane, of up to %u ports\n", "routers", f->g->nodes - f->g->hosts, f->radix);
    printf("%-16s%u\n", "VCs", f->g->vcs);
}

void figures_print(const struct figures *f)
{
    printf("%s\n", f->spec.name);
    if (f->g->mesh.nodes)
        print_mesh(f);
    else
        print_other(f);
    unsigned planes = f->g->bought_planes;
    const char *s = planes == 1 ? "" : "s";
    printf("%-16s%" PRIu64 ", for %u plane%s\n", "switches", f->bill.switches, planes, s);
    printf("%-16s%" PRIu64 " DAC, %" PRIu64 " AoC, for %u plane%s\n", "cables", f->bill.cables[HX_DAC],
           f->bill.cables[HX_AOC], planes, s);
    printf("%-16s%.2f M$, for %u plane%s\n", "cost", (double)f->bill.usd / 1e6, planes, s);
    printf("%-16s%u cables\n", "diameter", f->distances.diameter);
    printf("%-16s%.2f cables\n", "distance", f->distances.average);
    if (f->bisection.links)
        printf("%-16s%s%" PRIu64 " links each way a plane, %.2f %% of what half the %s inject\n", "bisection",
               f->bisection.exact ? "" : "at most ", f->bisection.links, 100 * f->bisection.share,
               f->g->mesh.nodes ? "accelerators" : "hosts");
    if (f->g->mesh.nodes && f->bisection.links)
        printf("%-16s%" PRIu64 " links between columns or rows in the middle\n", "straight cut",
               hx_straight_cut_of(&f->g->mesh).links);
    printf("%-16s%.2f %% of injection at most\n", "all-to-all", 100 * f->alltoall_bound);
    printf("%-16s%.0f $ a host, %.0f $ a link's rate of all-to-all\n", "price", f->usd_per_host,
           f->usd_per_global_link);
}

/* ---- several ---- */

enum { CELL = 32, NUMBERS = 12 };

__attribute__((format(printf, 2, 3))) static void write_cell(char cell[CELL], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(cell, CELL, format, arguments);
    va_end(arguments);
}

static void compare_row(struct text_table *t, const struct figures *f)
{
    char cell[NUMBERS][CELL];
    const char *cells[NUMBERS + 1] = {f->spec.name};
    for (unsigned i = 0; i < NUMBERS; i++)
        cells[i + 1] = cell[i];
    write_cell(cell[0], "%" PRIu32, f->g->hosts);
    write_cell(cell[1], "%" PRIu64, f->bill.switches);
    write_cell(cell[2], "%u", f->radix);
    write_cell(cell[3], "%" PRIu64, f->bill.cables[HX_DAC]);
    write_cell(cell[4], "%" PRIu64, f->bill.cables[HX_AOC]);
    write_cell(cell[5], "%.2f", (double)f->bill.usd / 1e6);
    write_cell(cell[6], "%u", f->distances.diameter);
    write_cell(cell[7], "%.2f", f->distances.average);
    write_cell(cell[8], "%s%" PRIu64, f->bisection.exact ? "" : "<=", f->bisection.links);
    write_cell(cell[9], "%.2f", 100 * f->alltoall_bound);
    write_cell(cell[10], "%.0f", f->usd_per_host);
    write_cell(cell[11], "%.0f", f->usd_per_global_link);
    text_table_cells(t, NUMBERS + 1, cells);
}

void figures_compare(const struct figures *all, unsigned count)
{
    struct text_table *t = text_table_new(1);
    text_table_row(t, "fabric", "hosts", "switches", "radix", "DAC", "AoC", "M$", "diameter", "distance", "bisection",
                   "all-to-all %", "$ a host", "$ a global link");
    for (unsigned i = 0; i < count; i++)
        compare_row(t, &all[i]);
    text_table_print(t, stdout);
    text_table_free(t);
}
