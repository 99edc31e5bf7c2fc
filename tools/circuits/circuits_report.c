/* circuits_report.c - what `hxmesh topology` prints (circuits_report.h). */
#include "tools/circuits/circuits_report.h"
#include "base/compare.h"
#include "base/text.h"
#include "base/value.h"
#include "tools/circuits/layers.h"
#include "tools/draw/text_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- loads ---- */

struct circuits_loads circuits_loads_of(const struct network_of_servers *n, const double *load)
{
    struct circuits_loads l = {.links = 0};
    double *sorted = hx_allocate(servers_links(n), sizeof *sorted);
    double most = -1;
    for (uint32_t link = 0; link < servers_links(n); link++) {
        uint32_t from, to;
        if (!servers_ends(n, link, &from, &to))
            continue;
        sorted[l.links++] = load[link];
        l.mean += load[link];
        if (load[link] > most) {
            most = load[link];
            l.from = from;
            l.to = to;
        }
    }
    qsort(sorted, l.links, sizeof *sorted, hx_compare_double);
    for (unsigned i = 0; i <= CIRCUITS_TENTHS && l.links; i++) {
        const uint32_t below = (uint32_t)((uint64_t)l.links * i / CIRCUITS_TENTHS);
        l.tenth[i] = sorted[below ? below - 1 : 0];
    }
    l.mean /= l.links ? l.links : 1;
    free(sorted);
    return l;
}

uint32_t circuits_in_rings(const struct circuits_report *r)
{
    const struct circuits_demand *d = &r->fabric[0].demand;
    uint32_t count = 0;
    for (unsigned i = 0; i < r->circuits->rings; i++) {
        const struct circuits_ring *ring = &r->circuits->ring[i];
        const uint32_t members = ring->reduce < d->reduces ? d->reduce[ring->reduce].members : r->circuits->servers;
        count += members == 2 ? 1 : members;
    }
    return count;
}

/* ---- text ---- */

static const char *bytes_text(char text[HX_VALUE_TEXT], double bytes)
{
    return hx_value_print_bytes(text, (uint64_t)llround(bytes));
}

static void print_graph(const struct circuits_report *r)
{
    const struct circuits *c = r->circuits;
    printf("%-16s%" PRIu32 " circuit%s, %" PRIu32 " of them in rings\n", "graph", c->count, hx_plural(c->count),
           circuits_in_rings(r));
    for (unsigned i = 0; i < c->rings; i++)
        printf("%s%" PRIu32 "%s", i ? ", " : "rings           of stride ", c->ring[i].stride,
               i + 1 == c->rings ? "\n" : "");
}

static void print_paths(const struct circuits_paths *p)
{
    double pairs = 0;
    for (unsigned i = 1; i <= p->diameter; i++)
        pairs += (double)p->of_length[i];
    printf("%-16sdiameter %u, mean %.3g circuits\n%-16s%% of pairs by length:", "paths", p->diameter, p->mean, "");
    for (unsigned i = 1; i <= p->diameter; i++)
        printf("%s %.1f", i > 1 ? "," : "", 100 * (double)p->of_length[i] / pairs);
    printf("\n");
}

static void print_loads(const struct circuits_report *r)
{
    const struct circuits_loads *all = &r->all, *sums = &r->sums;
    char text[3][HX_VALUE_TEXT];
    printf("%-16smean %s, fullest %s (s%" PRIu32 " to s%" PRIu32 ")\n", "links, each way",
           bytes_text(text[0], all->mean), bytes_text(text[1], all->tenth[CIRCUITS_TENTHS]), all->from, all->to);
    printf("%-16sof sums alone %s to %s, median %s\n", "", bytes_text(text[0], sums->tenth[0]),
           bytes_text(text[1], sums->tenth[CIRCUITS_TENTHS]), bytes_text(text[2], sums->tenth[CIRCUITS_TENTHS / 2]));
}

static void print_bytes(const struct circuits_fabric *f)
{
    char text[2][HX_VALUE_TEXT];
    printf("%-16ssums %s, exchanges %s an iteration; bandwidth tax %.3f\n", "bytes",
           bytes_text(text[0], circuits_reduced(&f->demand)), bytes_text(text[1], circuits_exchanged(&f->demand)),
           f->time.tax);
}

static void print_layers(const struct circuits_strategy *s)
{
    struct circuits_layers l;
    bool first = true;
    circuits_layers_begin(&l, s);
    while (circuits_layers_next(s, &l)) {
        printf("%-16s%s %s", first ? "layers" : "", l.name, circuits_choice_names[l.choice]);
        if (l.choice == CIRCUITS_PLACED)
            printf(" on %" PRIu32 " server%s", l.servers, hx_plural(l.servers));
        printf("\n");
        first = false;
    }
    circuits_layers_end(&l);
}

static void print_time(const char *label, double seconds, double of, const char *what)
{
    char text[HX_VALUE_TEXT];
    printf("%-16s%s, %.1f %%%s\n", label, hx_value_print_seconds(text, seconds), of > 0 ? 100 * seconds / of : 0, what);
}

static void print_times(const struct circuits_report *r)
{
    const struct circuits_time *t = &r->fabric[0].time;
    char text[2][HX_VALUE_TEXT];
    printf("%-16s%s", "iteration", hx_value_print_seconds(text[0], t->iteration));
    if (r->run.there)
        printf(", by packets %s (%+.1f %%)", hx_value_print_seconds(text[1], r->run.iteration),
               100 * (r->run.iteration / t->iteration - 1));
    printf("\n");
    print_time("computing", t->computing, t->iteration, " of the iteration");
    print_time("exchanges", t->exchanges, t->iteration, "");
    print_time("exposed sums", t->exposed, t->iteration, "");
    printf("%-16s%s, %s beside computing\n", "sums", hx_value_print_seconds(text[0], t->sums),
           hx_value_print_seconds(text[1], t->sums - t->exposed));
    if (r->run.there)
        printf("%-16scomputing %s, exchanges %s, sums %s (%.3g s of real time)\n", "packets",
               hx_value_print_seconds(text[0], r->run.computing), hx_value_print_seconds(text[1], r->run.exchanges),
               hx_value_print_seconds((char[HX_VALUE_TEXT]){""}, r->run.sums), r->run.real_seconds);
}

static const char *number(char text[HX_VALUE_TEXT], int digits, double value)
{
    (void)snprintf(text, HX_VALUE_TEXT, "%.*f", digits, value);
    return text;
}

/* Times in ms. */
static void print_fabrics(const struct circuits_report *r)
{
    const struct circuits_fabric *first = &r->fabric[0];
    struct text_table *t = text_table_new(1);
    text_table_row(t, "times, ms", "all", "ratio", "compute", "exchange", "sums", "tax", "k$", "ratio");
    for (unsigned i = 0; i < r->fabrics; i++) {
        const struct circuits_fabric *f = &r->fabric[i];
        const struct circuits_time *of = &f->time;
        char cell[8][HX_VALUE_TEXT];
        text_table_row(t, f->name, number(cell[0], 3, 1e3 * of->iteration),
                       number(cell[1], 3, of->iteration / first->time.iteration),
                       number(cell[2], 3, 1e3 * of->computing),
                       f->changes ? "" : number(cell[3], 3, 1e3 * of->exchanges),
                       f->changes ? "" : number(cell[4], 3, 1e3 * of->exposed), number(cell[5], 3, of->tax),
                       f->usd > 0 ? number(cell[6], 1, f->usd / 1e3) : "",
                       f->usd > 0 && first->usd > 0 ? number(cell[7], 3, f->usd / first->usd) : "");
    }
    printf("\n");
    text_table_print(t, stdout);
    text_table_free(t);
    for (unsigned i = 1; i < r->fabrics; i++)
        if (fabs(r->fabric[i].usd - first->usd) < 1e-9 * first->usd)
            printf("  %s: %.4g Gb/s a server cost as much as the circuits\n", r->fabric[i].name, r->fabric[i].gbps);
}

static void print_search(const struct circuits_report *r)
{
    if (r->searched)
        printf("%-16s%u round%s, %" PRIu64 " steps, seed %" PRIu64 "\n", "search", r->rounds, hx_plural(r->rounds),
               r->searched_steps, r->search->seed);
}

static void print_files(const struct circuits_report *r)
{
    if (!r->graph)
        return;
    printf("%-16shxmesh check \"graph %s\"\n", "run it", r->graph);
    printf("%-16shxmesh run \"graph %s\" --clock virtual --traffic %s\n", "", r->graph, r->schedule);
}

void circuits_print(const struct circuits_report *r)
{
    const struct circuits_links *l = &r->search->links;
    char text[HX_VALUE_TEXT];
    printf("%s: %" PRIu32 " servers, %u x %u Gb/s, links of %s\n", r->path, r->circuits->servers, r->search->degree,
           l->gbps, hx_value_print_duration(text, l->latency_ns));
    print_graph(r);
    print_paths(&r->paths);
    print_bytes(&r->fabric[0]);
    print_loads(r);
    print_layers(&r->fabric[0].strategy);
    print_times(r);
    if (r->fabric[0].usd > 0)
        printf("%-16s%.1f k$\n", "cost", r->fabric[0].usd / 1e3);
    print_search(r);
    if (r->fabrics > 1)
        print_fabrics(r);
    print_files(r);
}
