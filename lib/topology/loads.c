/* loads.c - the bound of all-to-all by link loads (topology/loads.h). */
#include "topology/loads.h"

#include "topology/attachment_routers.h"
#include "topology/bisection.h"
#include "topology/path_states.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tables of a large fabric exceed any cache, and each has an entry per destination. So one pass over the tables
 * reads a block of adjacent destinations. */
enum { BLOCK = 64 };

enum { LEAST_ITERATIONS = 4, MOST_ITERATIONS = 2000, MOST_STEPS = 30000000 };

#define CLOSE       0.0005 /* relative gap of the two sides at the end */
#define NEARLY_FULL 0.01   /* relative gap of places that are as full as others */

enum { FULLEST_EVERY = 8 /* iterations */ };

/* Loaded places: ports, and after them nodes. */
struct search {
    const struct hx_fabric *f;
    struct hx_attachment_routers attachment_routers;
    struct hx_tables tables;
    struct hx_path_states states;
    uint32_t places;
    double *room;   /* [places]: rate, in HX_LINK_GBPS; 0: unlimited */
    double *load;   /* [places]: of this iteration's split */
    double *loads;  /* [places]: of all iterations, later ones with more weight */
    double *full;   /* [places]: sum of utilization */
    double *price;  /* [places]: this iteration's length */
    double *prices; /* [places]: of all iterations, weighted as loads */
    double *paid;   /* [places]: sum of prices, relative to the mean cost of a pair's paths */
    double *toll;   /* [places]: cost that splits use */
    double *length; /* [places]: lengths for the shortest paths */
    double pairs;   /* packets: one from each host to each other */
    bool by_distance;
    uint32_t iteration;
    uint64_t steps;

    /* Of one destination, with its paths in onward. */
    uint32_t first;   /* first attachment router in `onward` */
    uint64_t *onward; /* [BLOCK][nodes]: next hops to each */
    uint64_t *set;    /* [states]: next hops to this destination */
    uint32_t *order;  /* states, each after its next states */
    uint32_t count;
    uint8_t *seen;
    uint32_t *stack;
    uint64_t *left;
    double *through; /* [states]: traffic to forward */
    double *far;     /* [states]: length of the shortest path */
    double *cheap;   /* [states]: toll of the cheapest path */
    double *paths;   /* [states]: sum over paths of exp(cheap - toll) */
};

/* ---- paths to one attachment router ---- */

static void read_block(struct search *s, uint32_t first)
{
    const struct hx_attachment_routers *attachment_routers = &s->attachment_routers;
    s->first = first;
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        if (hx_is_host(s->f, node) && hx_fabric_attachment_router(s->f, node) != node)
            continue; /* a host with one link is on no path */
        for (uint32_t i = 0; i < BLOCK && first + i < attachment_routers->count; i++)
            s->onward[(size_t)i * s->f->nodes + node] = hx_tables_onward(
                &s->tables, node, attachment_routers->node[first + i], attachment_routers->host[first + i]);
    }
}

/* Depth-first search: a state comes after all its next states. */
static void sort_from(struct search *s, uint32_t start)
{
    const struct hx_path_states *t = &s->states;
    uint32_t depth = 0;
    s->stack[depth++] = start;
    s->left[start] = s->set[start];
    s->seen[start] = 1;
    while (depth) {
        uint32_t state = s->stack[depth - 1];
        if (!s->left[state]) {
            s->order[s->count++] = state;
            depth--;
            continue;
        }
        uint32_t next = t->behind[s->f->node[t->node[state]].first_port + (unsigned)__builtin_ctzll(s->left[state])];
        s->left[state] &= s->left[state] - 1;
        if (next == HX_NOWHERE || s->seen[next])
            continue;
        s->seen[next] = 1;
        s->left[next] = s->set[next];
        s->stack[depth++] = next;
    }
}

/* The same order by distance, for minimal paths between routers with one state each: nearest to the attachment router
 * first. */
static void sort_by_distance(struct search *s, uint32_t attachment_router)
{
    uint32_t hosts = s->f->hosts;
    uint32_t routers = s->f->nodes - hosts;
    const uint8_t *distance = s->f->distance + (size_t)(attachment_router - hosts) * routers;
    uint32_t first[UINT8_MAX + 2] = {0};
    for (uint32_t router = 0; router < routers; router++)
        first[distance[router] + 1]++;
    for (unsigned links = 1; links <= UINT8_MAX; links++)
        first[links] += first[links - 1];
    s->count = first[UINT8_MAX]; /* unreachable ones come behind */
    for (uint32_t router = 0; router < routers; router++)
        s->order[first[distance[router]]++] = s->states.first[hosts + router];
}

static void find_paths(struct search *s, uint32_t number)
{
    const struct hx_path_states *t = &s->states;
    const uint64_t *onward = s->onward + (size_t)(number - s->first) * s->f->nodes;
    for (uint32_t state = 0; state < t->count; state++)
        s->set[state] = onward[t->node[state]] & t->turn_mask[state];
    s->count = 0;
    if (s->by_distance) {
        sort_by_distance(s, s->attachment_routers.node[number]);
        return;
    }
    memset(s->seen, 0, t->count);
    for (uint32_t from = 0; from < s->attachment_routers.count; from++)
        if (!s->seen[t->start[s->attachment_routers.node[from]]])
            sort_from(s, t->start[s->attachment_routers.node[from]]);
}

/* ---- one iteration ---- */

/* Returns the cost of the next hop by a port: of the link, and of the next node if it forwards. */
static double cost(const struct search *s, const double *each, uint32_t port, uint32_t next)
{
    return each[port] + (s->set[next] && s->f->forwarding ? each[s->f->ports + s->states.node[next]] : 0);
}

static void look_ahead(struct search *s, uint32_t state)
{
    uint32_t first_port = s->f->node[s->states.node[state]].first_port;
    double far = INFINITY;
    double cheap = INFINITY;
    double paths = 0;
    for (uint64_t set = s->set[state]; set; set &= set - 1) {
        uint32_t port = first_port + (unsigned)__builtin_ctzll(set);
        uint32_t next = s->states.behind[port];
        far = fmin(far, s->far[next] + cost(s, s->length, port, next));
        double toll = s->cheap[next] + cost(s, s->toll, port, next);
        if (toll < cheap) {
            paths = s->paths[next] + (paths > 0 ? paths * exp(toll - cheap) : 0);
            cheap = toll;
        } else {
            paths += s->paths[next] * exp(cheap - toll);
        }
        s->steps++;
    }
    s->far[state] = s->set[state] ? far : 0;
    s->cheap[state] = s->set[state] ? cheap : 0;
    s->paths[state] = s->set[state] ? paths : 1;
}

/* Splits evenly over ports in the first iteration, then by the weight of their paths. */
static void send_on(struct search *s, uint32_t state)
{
    uint32_t node = s->states.node[state];
    uint32_t first_port = s->f->node[node].first_port;
    int ports = __builtin_popcountll(s->set[state]);
    for (uint64_t set = s->set[state]; set; set &= set - 1) {
        uint32_t port = first_port + (unsigned)__builtin_ctzll(set);
        uint32_t next = s->states.behind[port];
        double part = s->through[state] / ports;
        if (s->iteration && ports > 1)
            part = s->through[state] / s->paths[state] * s->paths[next] *
                   exp(s->cheap[state] - s->cheap[next] - cost(s, s->toll, port, next));
        s->load[port] += part;
        s->through[next] += part;
        s->load[s->f->ports + s->states.node[next]] += s->set[next] ? part : 0;
    }
}

/* Sends one unit from all hosts to each host of an attachment router. Returns the length of all their shortest
 * paths. */
static double send_to(struct search *s, uint32_t number)
{
    const struct hx_attachment_routers *attachment_routers = &s->attachment_routers;
    double length = 0;
    find_paths(s, number);
    memset(s->through, 0, s->states.count * sizeof *s->through);
    for (uint32_t i = 0; s->iteration && i < s->count; i++)
        look_ahead(s, s->order[i]);
    for (uint32_t from = 0; from < attachment_routers->count; from++) {
        if (from == number)
            continue;
        uint32_t state = s->states.start[attachment_routers->node[from]];
        s->through[state] = (double)attachment_routers->weight[from] * attachment_routers->weight[number];
        s->pairs += s->iteration ? 0 : s->through[state];
        length += s->through[state] * s->far[state];
    }
    while (s->count) {
        uint32_t state = s->order[--s->count];
        if (s->set[state] && s->through[state] > 0)
            send_on(s, state);
    }
    return length;
}

static double send_all(struct search *s)
{
    double length = 0;
    memset(s->load, 0, s->places * sizeof *s->load);
    for (uint32_t number = 0; number < s->attachment_routers.count; number++) {
        if (number % BLOCK == 0)
            read_block(s, number);
        length += send_to(s, number);
    }
    return length;
}

/* ---- both sides ---- */

static double fullest(const struct search *s, const double *load)
{
    double most = 0;
    for (uint32_t place = 0; place < s->places; place++)
        most = s->room[place] > 0 ? fmax(most, load[place] / s->room[place]) : most;
    return most;
}

/* Returns a lower bound of the load of any split; 0: the lengths give none. */
static double least_by_lengths(const struct search *s, double length)
{
    double all = 0;
    for (uint32_t place = 0; place < s->places; place++)
        all += s->room[place] * s->length[place];
    return all > 0 ? length / all : 0;
}

/* The lengths of the next iteration: the places that are at least so full as this share of the fullest. */
static void measure_fullest(struct search *s, const double *load, double share)
{
    double most = fullest(s, load);
    for (uint32_t place = 0; place < s->places; place++)
        s->length[place] = s->room[place] > 0 && load[place] >= share * most * s->room[place];
}

/* Places that the first split leaves empty stay empty. Where links are alike, its fullest places suffice. */
static void measure_first(struct search *s)
{
    for (uint32_t place = 0; place < s->places; place++)
        s->room[place] = s->load[place] > 0 ? s->room[place] : 0;
    measure_fullest(s, s->load, 1 - 1e-9);
}

/* The lengths of one more iteration: the links between the halves of the bisection, which limits many fabrics. */
static void measure_bisection(struct search *s)
{
    const struct hx_fabric *f = s->f;
    uint8_t *half = hx_allocate(f->nodes, sizeof *half);
    (void)hx_bisection_search(f, NULL, half);
    memset(s->length, 0, s->places * sizeof *s->length);
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            uint32_t far = hx_fabric_far(f, node, port).node;
            s->length[f->node[node].first_port + port] = far != HX_NOWHERE && half[far] != half[node];
        }
    }
    free(half);
}

/* Updates prices by utilization, and tolls by prices. Each expects the other to repeat its last step, so the last step
 * counts twice. */
static void answer(struct search *s, double best)
{
    double most = -INFINITY;
    double all = 0;
    for (uint32_t place = 0; place < s->places; place++) {
        if (s->room[place] <= 0)
            continue;
        double full = s->load[place] / s->room[place] / best;
        s->full[place] += full;
        s->price[place] = s->full[place] + full;
        most = fmax(most, s->price[place]);
    }
    for (uint32_t place = 0; place < s->places; place++) {
        s->price[place] = s->room[place] > 0 ? exp(s->price[place] - most) : 0;
        all += s->price[place];
    }
    for (uint32_t place = 0; place < s->places; place++) {
        if (s->room[place] <= 0)
            continue;
        s->price[place] /= all * s->room[place];
        s->prices[place] += (s->iteration + 1) * s->price[place];
        double toll = s->price[place] * s->pairs / best;
        s->paid[place] += toll;
        s->toll[place] = s->paid[place] + toll;
    }
}

/* Returns the better load of this iteration's split and of the mean of all. */
static double best_split(struct search *s)
{
    double weights = (s->iteration + 1.0) * (s->iteration + 2.0) / 2;
    for (uint32_t place = 0; place < s->places; place++)
        s->loads[place] += (s->iteration + 1) * s->load[place];
    return fmin(fullest(s, s->load), fullest(s, s->loads) / weights);
}

/* Returns a lower bound of the fullest place's load; `own`: that of single hosts and attachment
 * routers. */
static double least_load(struct search *s, double own)
{
    double bound = own;
    send_all(s);
    double best = best_split(s);
    measure_first(s);
    for (s->iteration = 1; best > bound * (1 + CLOSE) && s->iteration < MOST_ITERATIONS; s->iteration++) {
        if (s->iteration > LEAST_ITERATIONS && s->steps > MOST_STEPS)
            break;
        answer(s, best);
        bound = fmax(bound, least_by_lengths(s, send_all(s)));
        best = fmin(best, best_split(s));
        if (s->iteration == 1)
            measure_bisection(s);
        else if (s->iteration % FULLEST_EVERY == 0)
            measure_fullest(s, s->loads, 1 - NEARLY_FULL);
        else
            memcpy(s->length, s->iteration % 2 ? s->prices : s->price, s->places * sizeof *s->length);
    }
    return bound;
}

static double rate_of(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return hx_class_gbps(hx_fabric_link(f, node, port), HX_LINK_GBPS) / HX_LINK_GBPS;
}

/* Returns the least load of the links by which an attachment router reaches the others, if all fill alike. */
static double load_around(const struct search *s, uint32_t number)
{
    const struct hx_attachment_routers *all = &s->attachment_routers;
    uint32_t node = all->node[number];
    double rate = 0;
    for (unsigned port = 0; port < hx_fabric_ports(s->f, node); port++) {
        uint32_t far = hx_fabric_far(s->f, node, port).node;
        bool own = far != HX_NOWHERE && hx_is_host(s->f, far) && hx_fabric_attachment_router(s->f, far) == node;
        rate += far != HX_NOWHERE && !own ? rate_of(s->f, node, port) : 0;
    }
    return rate > 0 ? (double)all->weight[number] * (all->living - all->weight[number]) / rate : 0;
}

/* Returns a lower bound by the links around single attachment routers, and by the fullest host link; a host with one
 * link sends and receives all by it. */
static double load_of_own_links(const struct search *s)
{
    const struct hx_fabric *f = s->f;
    double most = 0;
    for (uint32_t number = 0; number < s->attachment_routers.count; number++)
        most = fmax(most, load_around(s, number));
    for (uint32_t host = 0; host < f->hosts; host++) {
        for (unsigned port = 0; port < HX_LOCAL && hx_fabric_attachment_router(f, host) != host; port++)
            if (hx_fabric_far(f, host, port).node != HX_NOWHERE)
                most = fmax(most, (s->attachment_routers.living - 1.0) / rate_of(f, host, port));
    }
    return most;
}

static void begin(struct search *s, const struct hx_fabric *f)
{
    *s = (struct search){.f = f, .places = f->ports + f->nodes};
    hx_attachment_routers_take(&s->attachment_routers, f);
    hx_tables_make(&s->tables, f);
    hx_path_states_take(&s->states, &s->tables);
    s->by_distance = f->distance && !f->topology->next_hops && !f->updown && s->states.count == f->nodes;
    double **each_place[] = {&s->room,   &s->load, &s->loads, &s->full,  &s->price,
                             &s->prices, &s->paid, &s->toll,  &s->length};
    for (unsigned i = 0; i < sizeof each_place / sizeof *each_place; i++)
        *each_place[i] = hx_allocate(s->places, sizeof(double));
    double **each_state[] = {&s->through, &s->far, &s->cheap, &s->paths};
    for (unsigned i = 0; i < sizeof each_state / sizeof *each_state; i++)
        *each_state[i] = hx_allocate(s->states.count, sizeof(double));
    s->onward = hx_allocate((size_t)BLOCK * f->nodes, sizeof *s->onward);
    s->set = hx_allocate(s->states.count, sizeof *s->set);
    s->left = hx_allocate(s->states.count, sizeof *s->left);
    s->order = hx_allocate(s->states.count, sizeof *s->order);
    s->stack = hx_allocate(s->states.count, sizeof *s->stack);
    s->seen = hx_allocate(s->states.count, 1);
    for (uint32_t port = 0; port < f->ports; port++)
        s->room[port] = hx_class_gbps(&f->link_class[f->port[port].link_class], HX_LINK_GBPS) / HX_LINK_GBPS;
    for (uint32_t node = f->hosts; f->forwarding && node < f->nodes; node++)
        s->room[f->ports + node] = (double)f->forwarding[node - f->hosts].gbps / HX_LINK_GBPS;
}

static void end(struct search *s)
{
    void *pieces[] = {s->room, s->load,   s->loads,   s->full,  s->price, s->prices, s->paid,
                      s->toll, s->length, s->through, s->far,   s->cheap, s->paths,  s->onward,
                      s->set,  s->left,   s->order,   s->stack, s->seen};
    for (unsigned i = 0; i < sizeof pieces / sizeof *pieces; i++)
        free(pieces[i]);
    hx_path_states_free(&s->states);
    hx_tables_free(&s->tables);
    hx_attachment_routers_free(&s->attachment_routers);
}

double hx_alltoall_by_loads(const struct hx_fabric *f)
{
    struct search s;
    begin(&s, f);
    double others = s.attachment_routers.living - 1.0;
    double load = least_load(&s, load_of_own_links(&s));
    end(&s);
    return load > 0 ? others / hx_fabric_injection(f, HX_LINK_GBPS) / load : 1;
}
