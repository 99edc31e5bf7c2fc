/* healthy_report.c - what faults cost (healthy_report.h). */
#include "fabric-emu/report/healthy_report.h"
#include "base/value.h"
#include "fabric-emu/report/fields.h"
#include "topology/name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- links that are left ---- */

static bool is_dead_in_the_end(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane, uint32_t node,
                               unsigned port)
{
    size_t count;
    struct hx_link_change *change = hx_faults_of_link(faults, f, plane, node, port, &count);
    const bool dead = count && (change[count - 1].state.down || change[count - 1].state.closed);
    free(change);
    return dead;
}

static struct links_left links_left_at(const struct hx_faults *faults, const struct hx_fabric *f, uint32_t host)
{
    struct links_left left = {.host = host};
    const uint32_t node = f->split_hosts ? host + f->hosts : host;
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
        const uint32_t far = hx_fabric_far(f, node, port).node;
        if (far == HX_NOWHERE || far == host)
            continue;
        for (unsigned plane = 0; plane < f->planes; plane++) {
            left.links++;
            left.dead += is_dead_in_the_end(faults, f, plane, node, port);
        }
    }
    return left;
}

struct links_left links_left_of(const struct hx_faults *faults, const struct hx_fabric *f)
{
    struct links_left least = {.links = 1};
    for (uint32_t host = 0; host < f->hosts; host++) {
        const struct links_left left = links_left_at(faults, f, host);
        if ((uint64_t)left.dead * least.links > (uint64_t)least.dead * left.links)
            least = left;
    }
    return least;
}

/* ---- the report ---- */

/* NAN: by 0. */
static double ratio_of(double with, double without)
{
    return without > 0 ? with / without : (double)NAN;
}

static json_t *pair_json(double with, double without)
{
    json_t *o = json_object();
    REPORT_PAIR(REPORT_SET, "", "")
    return o;
}

/* Writes its name, without a plane. Returns name. */
static const char *name_host(char name[HX_NAME_BYTES], const struct hx_fabric *f, uint32_t host)
{
    name[strcspn(hx_node_name(name, f, 0, host), "/")] = '\0';
    return name;
}

static json_t *links_left_json(const struct hx_fabric *f, const struct links_left *left)
{
    json_t *o = json_object();
    char host[HX_NAME_BYTES];
    const char *name = name_host(host, f, left->host);
    REPORT_LINKS_LEFT(REPORT_SET)
    return o;
}

json_t *healthy_report_json(const struct healthy *h, const struct healthy_figures *with, const struct hx_fabric *f)
{
    json_t *o = json_object();
    REPORT_HEALTHY(REPORT_SET, REPORT_SET_IF)
    return o;
}

static void print_links_left(const struct hx_fabric *f, const struct links_left *left)
{
    char name[HX_NAME_BYTES];
    printf("                 %s keeps %u of %u links", name_host(name, f, left->host), left->links - left->dead,
           left->links);
    if (left->links > left->dead)
        printf(": what fills all of them takes at least %.4g times as long",
               (double)left->links / (left->links - left->dead));
    printf("\n");
}

void healthy_report_print(const struct healthy *h, const struct healthy_figures *with, const struct hx_fabric *f)
{
    char text[3][HX_VALUE_TEXT];
    const double more = with->seconds - h->without.seconds;
    printf("  faults cost    %s%s: %s with them, %s without", more < 0 ? "-" : "",
           hx_value_print_seconds(text[0], fabs(more)), hx_value_print_seconds(text[1], with->seconds),
           hx_value_print_seconds(text[2], h->without.seconds));
    if (h->without.seconds > 0)
        printf(", %.4g times", with->seconds / h->without.seconds);
    printf("\n                 %.4g Gb/s a host with them, %.4g without", with->gbps, h->without.gbps);
    if (h->without.gbps > 0)
        printf(", %.4g times", with->gbps / h->without.gbps);
    printf("\n");
    if (h->left.dead)
        print_links_left(f, &h->left);
}
