/* hxmesh-route - shows the firmware's routes: for one pair every candidate cable by cable, or all pairs. */
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "tools/paths/walk.h"
#include "topology/bounds.h"
#include "topology/name.h"

#include <inttypes.h>
#include <string.h>

struct request {
    struct hx_spec spec;
    struct hx_plane plane;
    struct hx_coordinate from, to;
    bool all;
};

enum { GIVEN_FROM = 1, GIVEN_TO = 2 };

/* What one accelerator's switch may do with a packet. */
struct answer {
    unsigned ports, after_north; /* bits of E W N S */
    unsigned distance;
    bool reachable;
};

/* Sets the plane to the job of `at`. */
static void enter_job(struct hx_plane *p, struct hx_coordinate at)
{
    hx_plane_set_job(p, hx_plane_job_at(p, at.addr_hi, at.addr_lo));
}

/* Needs the plane of the job of `at`. */
static struct answer ask(struct hx_plane *p, struct hx_coordinate at, struct hx_coordinate to)
{
    uint32_t from = hx_host_at(p->g, at.addr_hi, at.addr_lo);
    uint32_t end = hx_host_at(p->g, to.addr_hi, to.addr_lo);
    struct answer a = {.distance = hx_fabric_distance(p->g, from, end)};
    if (!hx_plane_has(p, at.addr_hi, at.addr_lo) || !hx_plane_has(p, to.addr_hi, to.addr_lo))
        return a;
    const struct hx_route *route = hx_plane_route(p, from);
    const struct hx_coordinate address = hx_address_of(p->g, end);
    uint64_t set = hx_route_ports(route, HX_LOCAL, address.addr_hi, address.addr_lo);
    a.reachable = set != 0;
    a.ports = (unsigned)set & ~(1U << HX_LOCAL);
    a.after_north = a.ports & (1U << HX_N | route->incrementing);
    return a;
}

/* ---- JSON: written pair by pair, as all pairs of a fabric are many ---- */

static void write_ports(FILE *out, const char *key, unsigned ports)
{
    bool first = true;
    fprintf(out, ", \"%s\": [", key);
    for (unsigned port = HX_E; port < HX_LOCAL; port++) {
        if (!(ports >> port & 1))
            continue;
        fprintf(out, "%s\"%s\"", first ? "" : ", ", hx_port_letters[port]);
        first = false;
    }
    fputc(']', out);
}

/* why: reason that `to` is unreachable; NULL: not wanted. */
static void write_answer(FILE *out, struct hx_coordinate at, struct hx_coordinate to, const struct answer *a,
                         const char *why)
{
    fprintf(out, "{\"at\": [%u, %u], \"to\": [%u, %u]", at.addr_hi, at.addr_lo, to.addr_hi, to.addr_lo);
    write_ports(out, "ports", a->ports);
    write_ports(out, "ports_after_north", a->after_north);
    if (a->reachable)
        fprintf(out, ", \"distance\": %u}", a->distance);
    else
        fprintf(out, ", \"distance\": null%s%s%s}", why ? ", \"why\": \"" : "", why ? why : "", why ? "\"" : "");
}

/* ---- tables ---- */

static const char *letters(char text[8], unsigned ports)
{
    char *end = text;
    for (unsigned port = HX_E; port < HX_LOCAL; port++)
        if (ports >> port & 1)
            *end++ = hx_port_letters[port][0];
    if (end == text)
        *end++ = '-';
    *end = '\0';
    return text;
}

static void print_line(FILE *out, struct hx_coordinate at, struct hx_coordinate to, const struct answer *a)
{
    char from_name[24];
    char to_name[24];
    char ports[8];
    char after_north[8];
    snprintf(from_name, sizeof from_name, "%u,%u", at.addr_hi, at.addr_lo);
    snprintf(to_name, sizeof to_name, "%u,%u", to.addr_hi, to.addr_lo);
    fprintf(out, "%-10s %-10s %-6s %-12s ", from_name, to_name, letters(ports, a->ports),
            letters(after_north, a->after_north));
    if (a->reachable)
        fprintf(out, "%u\n", a->distance);
    else
        fputs("unreachable\n", out);
}

static void answer_all(struct request *r, const struct hx_common *common)
{
    const struct hx_fabric *g = r->plane.g;
    FILE *out = hx_output_open(common->json ? common->json : "-");
    struct hx_progress progress = hx_progress_start("route", common->quiet);
    fputs(common->json ? "[" : "at         to         ports  after north  cables\n", out);
    const char *separator = "\n";
    for (uint32_t from = 0; from < g->hosts; from++) {
        struct hx_coordinate at = hx_coordinate_of(g, from);
        if (from == 0 || r->spec.job)
            enter_job(&r->plane, at);
        for (uint32_t dest = 0; dest < g->hosts; dest++) {
            struct hx_coordinate to = hx_coordinate_of(g, dest);
            if (dest == from)
                continue;
            struct answer a = ask(&r->plane, at, to);
            if (common->json) {
                fputs(separator, out);
                write_answer(out, at, to, &a, NULL);
                separator = ",\n";
            } else {
                print_line(out, at, to, &a);
            }
        }
        hx_progress_show(&progress, (double)from / g->hosts, "");
    }
    fputs(common->json ? "\n]\n" : "", out);
    hx_progress_end(&progress);
    hx_output_close(out, common->json ? common->json : "-");
}

/* ---- one pair ---- */

/* Prints the ports of a step by name; a run of a tree switch's ports as its first and last. */
static void print_ports(const struct hx_fabric *g, const struct hx_step *s)
{
    char name[HX_NAME_BYTES];
    if (s->node < g->hosts) {
        for (unsigned port = HX_E; port <= HX_LOCAL; port++) {
            bool leaves = g->mesh.nodes && port < HX_LOCAL && hx_fabric_port(g, s->node, port)->marked;
            if (s->ports >> port & 1)
                printf(" %s%s", hx_port_name(name, g, 0, s->node, port),
                       port == HX_LOCAL ? " (delivered)"
                       : leaves         ? " (leaves the board)"
                                        : "");
        }
        return;
    }
    for (unsigned port = 0; port < HX_MAX_RADIX; port++) {
        if (!(s->ports >> port & 1) || (port > 0 && (s->ports >> (port - 1) & 1)))
            continue;
        unsigned last = port;
        while (last + 1 < HX_MAX_RADIX && (s->ports >> (last + 1) & 1))
            last++;
        printf(" %s", hx_port_name(name, g, 0, s->node, port));
        if (last > port)
            printf(" to %s", hx_port_name(name, g, 0, s->node, last));
    }
}

/* Whether an earlier step with the same cable count prints the same line. */
static bool shown_before(const struct hx_walk *w, size_t at)
{
    const struct hx_step *s = &w->steps[at];
    for (size_t i = at; i > 0 && w->steps[i - 1].cables == s->cables; i--) {
        const struct hx_step *other = &w->steps[i - 1];
        if (other->node == s->node && other->vc == s->vc && other->ports == s->ports)
            return true;
    }
    return false;
}

static void print_walk(const struct hx_walk *w, const struct hx_fabric *g)
{
    printf("a%u,%u to a%u,%u: %u cable%s, ", w->from.addr_hi, w->from.addr_lo, w->to.addr_hi, w->to.addr_lo,
           w->distance, hx_plural(w->distance));
    if (w->paths == UINT64_MAX)
        printf("more minimal paths than can be counted");
    else
        printf("%" PRIu64 " minimal path%s", w->paths, hx_plural(w->paths));
    printf(", VC 0 to %u\n\n", w->vcs - 1);
    if (g->mesh.nodes)
        hx_walk_draw(w, &g->mesh);
    printf("\ncables  at                 VC  may go on by\n");
    for (size_t i = 0; i < w->count; i++) {
        const struct hx_step *s = &w->steps[i];
        if (shown_before(w, i))
            continue;
        char name[HX_NAME_BYTES];
        printf("%6u  %-18s %2u ", s->cables, hx_node_name(name, g, 0, s->node), s->vc);
        print_ports(g, s);
        putchar('\n');
    }
}

/* Returns whether there is a path. */
static bool answer_pair(struct request *r, const struct hx_common *common)
{
    char why[HX_WHY_BYTES];
    hx_spec_check_coordinate(&r->spec, "--from", r->from);
    hx_spec_check_coordinate(&r->spec, "--to", r->to);
    enter_job(&r->plane, r->from);
    struct answer a = ask(&r->plane, r->from, r->to);
    const char *path = common->json ? common->json : "-";
    FILE *out = hx_output_open(path);
    if (!a.reachable)
        (void)hx_plane_why(why, &r->plane, r->from, r->to);
    if (common->json) {
        write_answer(out, r->from, r->to, &a, a.reachable ? NULL : why);
        fputc('\n', out);
    } else if (!a.reachable) {
        printf("a%u,%u to a%u,%u: unreachable: %s\n", r->from.addr_hi, r->from.addr_lo, r->to.addr_hi, r->to.addr_lo,
               why);
    } else {
        struct hx_walk walk;
        hx_walk_all(&walk, &r->plane, r->from, r->to);
        print_walk(&walk, r->plane.g);
        hx_walk_free(&walk);
    }
    hx_output_close(out, path);
    return a.reachable;
}

int main(int argc, char **argv)
{
    static struct hx_overrides overrides;
    static struct request r;
    static uint64_t given;
    static const struct hx_option options[] = {
        {HX_COORDINATE("from", &r.from, "where the packet is; 0,0 is the north-west corner"), .given = &given,
         .given_bit = GIVEN_FROM, .otherwise = ""},
        {HX_COORDINATE("to", &r.to, "where it is sent"), .given = &given, .given_bit = GIVEN_TO, .otherwise = ""},
        {HX_FLAG("all", &r.all, "all ordered pairs, instead of one")},
        HX_OVERRIDE_OPTIONS(&overrides),
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh route", "hxmesh-check hxmesh-info"),
        .examples = {{"hxmesh route \"4x4 Hx2Mesh\" --from 0,0 --to 5,6", "every minimal path of a packet"},
                     {"hxmesh route \"4x4 Hx2Mesh\" --all --json -", "all pairs"}},
        .failed = "a pair that was asked for is unreachable",
        HX_OPERANDS("SPEC|FILE --from HI,LO --to HI,LO | --all", 1, 1),
        .summary = "Shows where a packet may go: the ports on minimal paths that the firmware chooses from.",
        .details = "distance is in cables, board traces included. ports_after_north is what is left to a packet that "
                   "arrived moving north on its board. An unreachable pair (failed boards, other jobs) has no "
                   "ports, and null for distance; asked for by itself it is said why, and the exit code is 1.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    if (r.all ? given != 0 : given != (GIVEN_FROM | GIVEN_TO))
        hx_die(HX_EXIT_USAGE, command.program, "give either --from and --to, or --all");
    hx_spec_load(argv[first], &overrides, &r.spec);
    hx_plane_init(&r.plane, &r.spec);
    bool reachable = true;
    if (r.all)
        answer_all(&r, &common);
    else
        reachable = answer_pair(&r, &common);
    hx_plane_free(&r.plane);
    hx_spec_free(&r.spec);
    return reachable ? HX_EXIT_DONE : HX_EXIT_FAILED;
}
