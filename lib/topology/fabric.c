/* fabric.c - lays out a fabric's graph and checks it (topology/fabric.h). */
#include "topology/fabric.h"

#include "topology/topology.h" /* circle: a fabric calls its topology */

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const hx_link_kinds[HX_LINK_KINDS + 1] = {
    [HX_TRACE] = "trace", [HX_DAC] = "dac", [HX_AOC] = "aoc", [HX_LINK_KINDS] = NULL};

struct hx_pending_links {
    struct hx_new_link *link;
    size_t links, room;
};

/* Returns the shorter side of the most nearly square grid: the default grid of hosts. */
static uint32_t nearest_side(uint32_t hosts)
{
    uint32_t side = 1;
    for (uint32_t i = 2; i <= hosts / i; i++)
        side = hosts % i == 0 ? i : side;
    return side;
}

void hx_fabric_start(struct hx_fabric *f, uint32_t hosts, uint32_t routers, uint32_t d0s, uint32_t d1s)
{
    f->hosts = hosts;
    f->nodes = hosts + routers;
    f->digits[0] = d0s;
    f->digits[1] = d1s;
    f->node = hx_allocate(f->nodes, sizeof *f->node);
    for (uint32_t node = 0; node < f->nodes; node++)
        f->node[node].addr_hi = f->node[node].addr_lo = HX_NO_ADDRESS;
    f->host_at = hx_allocate((size_t)d0s * d1s, sizeof *f->host_at);
    memset(f->host_at, UINT8_MAX, (size_t)d0s * d1s * sizeof *f->host_at);
    f->pending_links = hx_allocate(1, sizeof *f->pending_links);
    f->rows = nearest_side(hosts);
    f->columns = hosts / f->rows;
    f->vcs = 1;
    f->host_links = 1;
    f->bought_planes = 1;
    f->switches = routers;
    f->group_word = "switch";
}

void hx_fabric_address(struct hx_fabric *f, uint32_t node, unsigned addr_hi, unsigned addr_lo)
{
    f->node[node].addr_hi = (uint16_t)addr_hi;
    if (!hx_is_host(f, node))
        return;
    f->node[node].addr_lo = (uint16_t)addr_lo;
    f->host_at[(size_t)addr_hi * f->digits[1] + addr_lo] = node;
}

unsigned hx_fabric_class(struct hx_fabric *f, const struct hx_link_class *link_class)
{
    if (f->link_classes < HX_MAX_LINK_CLASSES)
        f->link_class[f->link_classes] = *link_class;
    return f->link_classes++;
}

unsigned hx_fabric_class_of_kind(struct hx_fabric *f, const char *name, enum hx_link_kind kind)
{
    return hx_fabric_class(f, &(struct hx_link_class){.name = name, .kind = kind, .latency_ns = HX_LATENCY_OF_KIND});
}

void hx_fabric_add_link(struct hx_fabric *f, const struct hx_new_link *link)
{
    struct hx_pending_links *l = f->pending_links;
    if (l->links == l->room) {
        l->room = l->room ? 2 * l->room : 1024;
        struct hx_new_link *more = hx_allocate(l->room, sizeof *more);
        if (l->links)
            memcpy(more, l->link, l->links * sizeof *more);
        free(l->link);
        l->link = more;
    }
    l->link[l->links++] = *link;
}

void hx_fabric_attach_hosts(struct hx_fabric *f, uint32_t router, unsigned each, unsigned link_class)
{
    uint32_t node = f->hosts + router;
    hx_fabric_address(f, node, router, 0);
    f->node[node].group = router;
    for (unsigned place = 0; place < each && router * each + place < f->hosts; place++) {
        uint32_t host = router * each + place;
        hx_fabric_address(f, host, router, place);
        f->node[host].group = router;
        hx_fabric_add_link(f, &(struct hx_new_link){.a = host, .b = node, .link_class = (uint8_t)link_class});
    }
}

void hx_fabric_name(struct hx_fabric *f, const char *word, uint32_t first, uint32_t count, uint32_t inner)
{
    if (f->names < HX_MAX_NAME_RANGES)
        f->name[f->names] = (struct hx_name_range){word, first, count, inner};
    f->names++;
}

/* ---- ports ---- */

static bool number_ports(struct hx_fabric *f, uint32_t *degree, struct hx_problem *problem)
{
    for (size_t i = 0; i < f->pending_links->links; i++) {
        degree[f->pending_links->link[i].a]++;
        degree[f->pending_links->link[i].b]++;
    }
    for (uint32_t node = 0; node < f->nodes; node++) {
        if (!hx_is_host(f, node) && degree[node] > HX_MAX_RADIX)
            return hx_fail(problem, HX_EXIT_CONFIG, NULL, "a switch would have %u ports, more than %u", degree[node],
                           HX_MAX_RADIX);
        f->node[node].first_port = f->ports;
        f->node[node].ports = (uint16_t)(hx_is_host(f, node) ? HX_ACCELERATOR_PORTS : degree[node]);
        f->ports += f->node[node].ports;
    }
    return true;
}

static unsigned next_port(const struct hx_fabric *f, uint32_t *used, uint32_t node, unsigned said)
{
    return hx_is_host(f, node) ? said : used[node]++;
}

/* `said`: the port that the link names at this end. */
static void set_port(struct hx_fabric *f, const struct hx_new_link *l, struct hx_end at, unsigned said,
                     struct hx_end far)
{
    f->port[f->node[at.node].first_port + at.port] = (struct hx_fabric_port){.far = far,
                                                                             .link_class = l->link_class,
                                                                             .dimension = l->dimension,
                                                                             .stage = l->stage,
                                                                             .marked = l->marked,
                                                                             .host_port = said & 7U};
}

static void connect(struct hx_fabric *f, uint32_t *used)
{
    f->port = hx_allocate(f->ports, sizeof *f->port);
    for (uint32_t port = 0; port < f->ports; port++)
        f->port[port].far.node = HX_NOWHERE;
    for (size_t i = 0; i < f->pending_links->links; i++) {
        const struct hx_new_link *l = &f->pending_links->link[i];
        struct hx_end a = {l->a, (uint16_t)next_port(f, used, l->a, l->a_port)};
        struct hx_end b = {l->b, (uint16_t)next_port(f, used, l->b, l->b_port)};
        set_port(f, l, a, l->a_port, b);
        set_port(f, l, b, l->b_port, a);
    }
}

/* ---- distances ---- */

/* Breadth-first search from one node. Returns the number of nodes reached. */
static uint32_t reach(const struct hx_fabric *f, uint32_t from, uint8_t *links, uint32_t *queue)
{
    memset(links, UINT8_MAX, f->nodes);
    uint32_t count = 1;
    queue[0] = from;
    links[from] = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t node = queue[at];
        for (unsigned port = 0; port < f->node[node].ports; port++) {
            uint32_t far = hx_fabric_far(f, node, port).node;
            if (far == HX_NOWHERE || links[far] != UINT8_MAX)
                continue;
            links[far] = (uint8_t)(links[node] < UINT8_MAX - 1 ? links[node] + 1 : UINT8_MAX - 1);
            queue[count++] = far;
        }
    }
    return count;
}

static bool is_joined(const struct hx_fabric *f, struct hx_problem *problem)
{
    uint8_t *links = hx_allocate(f->nodes, 1);
    uint32_t *queue = hx_allocate(f->nodes, sizeof *queue);
    uint32_t reached = reach(f, 0, links, queue);
    uint32_t missing = 0;
    while (reached < f->nodes && links[missing] != UINT8_MAX)
        missing++;
    free(links);
    free(queue);
    return reached == f->nodes ||
           hx_fail(problem, HX_EXIT_CONFIG, NULL, "the fabric is not connected: %s %u has no path to host 0",
                   hx_is_host(f, missing) ? "host" : "switch", hx_is_host(f, missing) ? missing : missing - f->hosts);
}

/* Breadth-first search from all routers at once: for each router, the set it reaches within a distance, and the
 * next. */
struct spreading {
    const struct hx_fabric *f;
    uint32_t routers, words; /* 64-bit words of a set */
    uint64_t *within, *next;
};

/* Adds the sets of its neighbours to a router's. Skips hosts: no path between routers leads through them. */
static void spread_once(const struct spreading *s, uint32_t router)
{
    const struct hx_fabric_node *node = &s->f->node[s->f->hosts + router];
    uint64_t *next = s->next + (size_t)router * s->words;
    memcpy(next, s->within + (size_t)router * s->words, s->words * sizeof *next);
    for (unsigned port = 0; port < node->ports; port++) {
        uint32_t far = s->f->port[node->first_port + port].far.node - s->f->hosts;
        if (far >= s->routers)
            continue; /* a host's number wraps to beyond all routers */
        const uint64_t *set = s->within + (size_t)far * s->words;
        for (uint32_t word = 0; word < s->words; word++)
            next[word] |= set[word];
    }
}

/* Notes the distance of routers that are new. Returns whether there are any. */
static bool note_new(const struct spreading *s, uint32_t router, uint8_t links)
{
    const uint64_t *next = s->next + (size_t)router * s->words;
    const uint64_t *within = s->within + (size_t)router * s->words;
    uint8_t *distance = s->f->distance + (size_t)router * s->routers;
    bool any = false;
    for (uint32_t word = 0; word < s->words; word++) {
        for (uint64_t left = next[word] & ~within[word]; left; left &= left - 1)
            distance[word * 64 + (uint32_t)__builtin_ctzll(left)] = links;
        any = any || next[word] != within[word];
    }
    return any;
}

/* One more link for all routers in each step. */
void hx_fabric_measure(struct hx_fabric *f)
{
    struct spreading s = {.f = f, .routers = f->nodes - f->hosts};
    s.words = (s.routers + 63) / 64;
    f->distance = hx_allocate((size_t)s.routers * s.routers, 1);
    memset(f->distance, UINT8_MAX, (size_t)s.routers * s.routers);
    s.within = hx_allocate((size_t)s.routers * s.words, sizeof *s.within);
    s.next = hx_allocate((size_t)s.routers * s.words, sizeof *s.next);
    for (uint32_t router = 0; router < s.routers; router++) {
        s.within[(size_t)router * s.words + router / 64] = UINT64_C(1) << router % 64;
        f->distance[(size_t)router * s.routers + router] = 0;
    }
    bool any = true;
    for (uint8_t links = 1; any && links < UINT8_MAX; links++) {
        any = false;
        for (uint32_t router = 0; router < s.routers; router++) {
            spread_once(&s, router);
            any = note_new(&s, router, links) || any;
        }
        uint64_t *within = s.within;
        s.within = s.next;
        s.next = within;
    }
    free(s.within);
    free(s.next);
}

static void free_pending_links(struct hx_fabric *f)
{
    if (f->pending_links)
        free(f->pending_links->link);
    free(f->pending_links);
    f->pending_links = NULL;
}

bool hx_fabric_finish(struct hx_fabric *f, struct hx_problem *problem)
{
    if (f->hosts > HX_MAX_HOSTS)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "%u hosts are more than %u", f->hosts, HX_MAX_HOSTS);
    if (f->digits[0] > HX_MAX_DIGIT || f->digits[1] > HX_MAX_DIGIT)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "addresses need digits up to %u, more than %d",
                       (f->digits[0] > f->digits[1] ? f->digits[0] : f->digits[1]) - 1, HX_MAX_DIGIT - 1);
    if (f->link_classes > HX_MAX_LINK_CLASSES)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "%u kinds of link are more than %d", f->link_classes,
                       HX_MAX_LINK_CLASSES);
    if (f->names > HX_MAX_NAME_RANGES)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "%u words for switches are more than %d", f->names,
                       HX_MAX_NAME_RANGES);
    uint32_t *count = hx_allocate(f->nodes, sizeof *count);
    bool good = f->port || number_ports(f, count, problem);
    if (good && !f->port) {
        memset(count, 0, f->nodes * sizeof *count);
        connect(f, count);
    }
    free(count);
    good = good && is_joined(f, problem);
    free_pending_links(f);
    bool measured = f->nodes > f->hosts && !f->topology->next_hops && !f->by_updown && !f->mesh.nodes;
    if (good && measured && f->nodes - f->hosts > HX_MAX_MEASURED)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "%u switches are more than %d", f->nodes - f->hosts,
                       HX_MAX_MEASURED);
    if (good && measured)
        hx_fabric_measure(f);
    return good;
}

/* ---- coordinates of hosts ---- */

struct hx_coordinate hx_coordinate_of(const struct hx_fabric *f, uint32_t host)
{
    if (!f->named_columns)
        return hx_address_of(f, host);
    uint32_t router = host / f->named_places;
    return (struct hx_coordinate){router % f->named_columns,
                                  router / f->named_columns * f->named_places + host % f->named_places};
}

uint32_t hx_host_at(const struct hx_fabric *f, unsigned first, unsigned second)
{
    if (!f->named_columns)
        return hx_fabric_host(f, first, second);
    const struct hx_coordinate ranges = hx_coordinate_ranges(f);
    if (first >= ranges.addr_hi || second >= ranges.addr_lo)
        return HX_NOWHERE;
    uint32_t router = second / f->named_places * f->named_columns + first;
    return router * f->named_places + second % f->named_places;
}

struct hx_coordinate hx_coordinate_at(const struct hx_fabric *f, unsigned addr_hi, unsigned addr_lo)
{
    uint32_t host = hx_fabric_host(f, addr_hi, addr_lo);
    return host == HX_NOWHERE ? (struct hx_coordinate){addr_hi, addr_lo} : hx_coordinate_of(f, host);
}

struct hx_coordinate hx_coordinate_ranges(const struct hx_fabric *f)
{
    if (!f->named_columns)
        return (struct hx_coordinate){f->digits[0], f->digits[1]};
    return (struct hx_coordinate){f->named_columns, f->hosts / f->named_columns};
}

/* ---- what hosts inject ---- */

unsigned hx_host_links(const struct hx_fabric *f, uint32_t host)
{
    unsigned links = 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, host); port++) {
        const struct hx_link_class *class = hx_fabric_link(f, host, port);
        if (hx_fabric_far(f, host, port).node != HX_NOWHERE)
            links += class->times ? (unsigned)class->times : 1;
    }
    return links;
}

double hx_host_injection(const struct hx_fabric *f, uint32_t host, double gbps)
{
    if (f->injected)
        return f->injected[host].links + f->injected[host].gbps / gbps;
    const struct hx_link_class *own = hx_fabric_link(f, host, HX_E);
    bool has_rate = hx_fabric_far(f, host, HX_E).node >= f->hosts && !f->mesh.nodes && (own->gbps || own->times);
    return has_rate ? hx_class_gbps(own, gbps) / gbps : f->host_links;
}

double hx_fabric_injection(const struct hx_fabric *f, double gbps)
{
    double links = 0;
    double rates = 0;
    if (!f->injected)
        return hx_host_injection(f, 0, gbps);
    for (uint32_t host = 0; host < f->hosts; host++) {
        links += f->injected[host].links;
        rates += f->injected[host].gbps;
    }
    return links / f->hosts + rates / f->hosts / gbps;
}

double hx_fabric_most_injection(const struct hx_fabric *f, double gbps)
{
    double most = hx_host_injection(f, 0, gbps);
    for (uint32_t host = 1; f->injected && host < f->hosts; host++)
        most = fmax(most, hx_host_injection(f, host, gbps));
    return most;
}

bool hx_injects_alike(const struct hx_fabric *f)
{
    uint32_t host = 1;
    while (f->injected && host < f->hosts && f->injected[host].links == f->injected[0].links &&
           f->injected[host].gbps == f->injected[0].gbps)
        host++;
    return !f->injected || host == f->hosts;
}

void hx_fabric_free(struct hx_fabric *f)
{
    free_pending_links(f);
    HX_FREE(f->graph_name, f->node, f->port, f->host_at, f->distance, f->updown, f->failed, f->forwarding, f->injected,
            f->own, f->graph_text, f->failed_link);
    *f = (struct hx_fabric){.topology = NULL};
}
