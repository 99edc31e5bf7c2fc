/* memory_estimate.c - estimates a fabric's memory and reads what the machine has (memory_estimate.h). */
#include "memory_estimate.h"
#include "base/error.h"
#include "fabric-emu/memory.h"
#include "hxmesh/collective.h"
#include "node.h"
#include "topology/updown.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

enum {
    PAGE = 4096,
    FIRST_PAGES = 6,             /* of an endpoint that its first messages touch */
    PROCESS_BYTES = 4 << 20,     /* of a worker, beside what is counted here */
    PEER_BYTES = 12 + 2 * 2 * 4, /* of a peer beside its entry: hash, indices, acknowledgements */
    PACKETS_A_SECOND = 10000000  /* upper bound of a worker's deliveries */
};

/* ---- required ---- */

static uint64_t bytes_of_nodes(const struct fab_fabric *f)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < f->g->nodes; id++) {
        unsigned ports = hx_fabric_ports(f->g, id);
        sum += sizeof(struct node) + ports * (sizeof(struct shm_tx) + sizeof(struct shm_rx)) +
               hx_switch_bytes(ports, f->g->vcs) + hx_fabric_route_bytes(f->g, id) +
               (f->g->mesh.nodes ? hx_around_bytes(&f->g->mesh, id) : 0);
    }
    return sum * f->g->planes + f->g->hosts * (sizeof(struct accelerator) + (uint64_t)FIRST_PAGES * PAGE);
}

/* Of a peer with several or long messages. */
static size_t rest_bytes_of(const struct fab_fabric *f)
{
    return hx_endpoint_rest_bytes(hx_peer_window(f->g->planes));
}

/* Traffic of one job. */
struct job_peers {
    double pairs;         /* of hosts that may exchange messages, by sender and receiver */
    double messages;      /* that may be sent */
    uint64_t packets;     /* of the longest message */
    uint64_t duration_ns; /* ns; 0: `messages` is the limit */
};

enum {
    FEW_PEERS = 2,        /* of a host if the traffic is unknown */
    COLLECTIVE_PEERS = 64 /* of a host in a collective that does not send to all others */
};

static bool sends_to_all(const struct hx_settings *s)
{
    return s->algorithm == HX_ALGORITHM_TREE + HX_BY_DIRECT || s->algorithm == HX_ALGORITHM_TREE + HX_BY_PAIRWISE ||
           s->pattern == HX_COLLECTIVES + HX_COLLECTIVE_ALL_TO_ALL;
}

static void add_host(struct job_peers *m, const struct fab_fabric *f, const struct traffic *t, uint32_t rank)
{
    uint32_t others = f->jobs.size[f->jobs.of[rank]] - 1;
    uint32_t few = t ? COLLECTIVE_PEERS : FEW_PEERS;
    if (t && t->members[rank] == 0)
        return;
    if (t && sends_to_all(traffic_settings(t, rank)))
        few = others;
    few = few < others ? few : others;
    bool any = t && !traffic_is_common(t, rank);
    uint64_t bytes = t ? traffic_settings(t, rank)->message : 0;
    for (uint64_t i = 0; t && t->flows && i < flows_of(t->flows, rank); i++)
        bytes = traffic_bytes(t, rank, i) > bytes ? traffic_bytes(t, rank, i) : bytes;
    uint64_t packets = bytes / HX_MAX_PAYLOAD + 1;
    m->packets = packets > m->packets ? packets : m->packets;
    m->pairs += any ? traffic_peers(t, rank) : few;
    if (any && t->flows)
        m->messages += (double)flows_of(t->flows, rank);
    else
        m->messages +=
            (double)(any ? traffic_destinations(t, rank) : few) * (t ? (double)traffic_settings(t, rank)->count : 1);
    m->duration_ns = t ? traffic_settings(t, rank)->duration_ns : 0;
}

static double bytes_of_job(const struct job_peers *m, const struct fab_fabric *f)
{
    double messages = m->messages;
    if (m->duration_ns) /* given time, each host meets all */
        messages = (double)m->duration_ns / 1e9 * PACKETS_A_SECOND * f->workers / (double)m->packets;
    double peers = 2 * messages < m->pairs ? 2 * messages : m->pairs;
    bool rest = m->packets > HX_MAPLESS || messages > m->pairs;
    return peers * (double)(sizeof(struct hx_peer) + PEER_BYTES + (rest ? rest_bytes_of(f) : 0));
}

/* Sums over jobs: hosts of different jobs never meet. */
static double bytes_of_peers(const struct fab_fabric *f, const struct traffic *t)
{
    double sum = 0;
    struct job_peers *of = hx_allocate(f->jobs.count + 1U, sizeof *of);
    for (uint32_t rank = 0; rank < f->g->hosts; rank++)
        if (f->jobs.of[rank] != JOBS_NONE)
            add_host(&of[f->jobs.of[rank]], f, t, rank);
    for (uint32_t job = 0; job < f->jobs.count; job++)
        sum += bytes_of_job(&of[job], f);
    free(of);
    return sum;
}

/* Each worker keeps what is down in each plane. In a HammingMesh it has memory for a search, elsewhere rerouted tables
 * of each plane, and one more while it searches. */
static uint64_t bytes_of_routes(const struct fab_fabric *f)
{
    const struct hx_fabric *g = f->g;
    if (g->mesh.nodes)
        return f->workers * (g->planes * (uint64_t)hx_dead_links_bytes(&g->mesh) + hx_around_search_bytes(&g->mesh));
    uint64_t down = (uint64_t)g->planes * g->nodes * sizeof(uint64_t);
    return hx_updown_may_change(g) ? f->workers * (down + (g->planes + UINT64_C(1)) * hx_updown_bytes(g)) : 0;
}

struct memory_estimate memory_estimate_of(const struct fab_fabric *f, const struct traffic *traffic, uint64_t shared)
{
    uint64_t fixed = bytes_of_nodes(f) + (uint64_t)f->workers * PROCESS_BYTES + bytes_of_routes(f);
    uint64_t all_peers = (uint64_t)f->g->hosts * f->g->hosts * (sizeof(struct hx_peer) + PEER_BYTES + rest_bytes_of(f));
    return (struct memory_estimate){.shared = shared,
                                    .workers = fixed + (uint64_t)bytes_of_peers(f, traffic),
                                    .space = shared + (fixed + all_peers) / f->workers};
}

/* ---- available ---- */

static uint64_t room_in_shm(void)
{
    struct statvfs v;
    return statvfs("/dev/shm", &v) != 0 || v.f_blocks == 0 ? UINT64_MAX : (uint64_t)v.f_bavail * v.f_frsize;
}

static uint64_t address_space(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

void memory_estimate_check(const struct fab_fabric *f, const struct memory_estimate *n)
{
    static const char less[] = "a smaller fabric, fewer --planes or --credits, or --clock virtual";
    const double gib = 1 << 30;
    /* Required values are rounded up, available ones down, so that the text shows a difference. */
    if (n->shared > room_in_shm())
        hx_die(HX_EXIT_ENVIRONMENT, "/dev/shm", "no room for %.1f MiB of shared memory, but for %.1f MiB (%s)",
               (double)((n->shared * 10 + (1 << 20) - 1) >> 20) / 10, (double)(room_in_shm() * 10 >> 20) / 10, less);
    memory_check(f->spec.name, n->shared + n->workers, less);
    if (n->space > address_space())
        hx_die(HX_EXIT_ENVIRONMENT, f->spec.name,
               "needs %.1f GiB of addresses in a process, which may have %.1f GiB (raise `ulimit -v`, or %s)",
               (double)n->space / gib, (double)address_space() / gib, less);
}
