/* need.c - how much memory a fabric takes, and how much there is (need.h). */
#include "need.h"
#include "fabric-emu/memory.h"
#include "host/error.h"
#include "host/topology/ways.h"
#include "hxmesh/collective.h"
#include "node.h"

#include <sys/resource.h>
#include <sys/statvfs.h>

enum {
    PAGE = 4096,
    FIRST_PAGES = 6,             /* of an endpoint, touched by its first messages */
    PROCESS_BYTES = 4 << 20,     /* of a worker, beside what is counted here */
    PEER_BYTES = 12 + 2 * 2 * 4, /* of a peer, beside its entry: places in the hash and of the rest, acknowledgements */
    REST_BYTES = sizeof(struct hx_peer_slots) + sizeof(struct hx_peer_rest),
    PACKETS_A_SECOND = 10000000 /* more than a worker delivers */
};

/* ---- what is needed ---- */

static uint64_t bytes_of_nodes(const struct fab_fabric *f)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < f->g->nodes; id++) {
        unsigned ports = hx_fabric_ports(f->g, id);
        sum += sizeof(struct node) + ports * (sizeof(struct shm_tx) + sizeof(struct shm_rx)) +
               hx_switch_bytes(ports, f->g->vcs) + hx_fabric_route_bytes(f->g, id);
    }
    return sum * f->g->planes + f->g->hosts * (sizeof(struct accelerator) + (uint64_t)FIRST_PAGES * PAGE);
}

/* Others that one of so many accelerators has to do with, on average. */
static uint64_t peers_of_one(uint32_t members, const struct hx_settings *s)
{
    uint64_t others = members ? members - 1 : 0;
    uint64_t peers = others;
    if (!s || s->pattern == HX_PERMUTATION || s->pattern == HX_BISECTION ||
        (s->pattern >= HX_INCAST && s->pattern <= HX_BIT_REVERSE))
        peers = 2;
    else if (s->pattern == HX_NEIGHBOUR)
        peers = 4;
    else if (s->pattern >= HX_COLLECTIVES)
        peers = HX_COLLECTIVE_PEERS;
    return peers < others ? peers : others;
}

static double bytes_of_job(const struct fab_fabric *f, uint32_t members, const struct hx_settings *s)
{
    double pairs = (double)members * (double)peers_of_one(members, s);
    double messages = pairs;
    uint64_t packets = 1;
    if (s) {
        packets = s->message / HX_MAX_PAYLOAD + 1;
        messages *= (double)s->count;
        if (s->duration_ns) /* everyone has an entry for everyone once there was time for that */
            messages = (double)s->duration_ns / 1e9 * PACKETS_A_SECOND * f->workers / (double)packets;
    }
    double met = 2 * messages < pairs ? 2 * messages : pairs;
    bool rest = packets > HX_MAPLESS || messages > pairs;
    return met * (double)(sizeof(struct hx_peer) + PEER_BYTES + (rest ? REST_BYTES : 0));
}

/* Jobs keep to themselves, each with its own traffic. */
static double bytes_of_peers(const struct fab_fabric *f, const struct hx_settings *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < f->jobs.count; i++) {
        const struct hx_job *job = hx_spec_job(&f->spec, f->jobs.tag[i]);
        if (s && !job && f->spec.named_jobs)
            continue; /* idle */
        struct hx_settings own = hx_job_settings(s ? s : &hx_default_settings, job);
        sum += bytes_of_job(f, f->jobs.size[i], s ? &own : NULL);
    }
    return sum;
}

/* Each worker has its own round what is down, of each plane, and of one those of before while it searches. */
static uint64_t bytes_of_ways(const struct fab_fabric *f)
{
    const struct hx_fabric *g = f->g;
    uint64_t down = (uint64_t)g->planes * g->nodes * sizeof(uint64_t);
    return hx_ways_may_change(g) ? f->workers * (down + (g->planes + UINT64_C(1)) * hx_ways_bytes(g)) : 0;
}

struct need need_of(const struct fab_fabric *f, const struct fab_options *options, uint64_t shared)
{
    uint64_t fixed = bytes_of_nodes(f) + (uint64_t)f->workers * PROCESS_BYTES + bytes_of_ways(f);
    uint64_t all_peers = (uint64_t)f->g->hosts * f->g->hosts * (sizeof(struct hx_peer) + PEER_BYTES + REST_BYTES);
    return (struct need){.shared = shared,
                         .workers = fixed + (uint64_t)bytes_of_peers(f, options->settings),
                         .space = shared + (fixed + all_peers) / f->workers};
}

/* ---- what there is ---- */

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

void need_check(const struct fab_fabric *f, const struct need *n)
{
    static const char less[] = "a smaller fabric, fewer --planes or --credits, or --clock virtual";
    const double gib = 1 << 30;
    /* What is needed is rounded up, what there is down, so that they differ. */
    if (n->shared > room_in_shm())
        hx_die(HX_EXIT_ENVIRONMENT, "/dev/shm", "no room for %.1f MiB of shared memory, but for %.1f MiB (%s)",
               (double)((n->shared * 10 + (1 << 20) - 1) >> 20) / 10, (double)(room_in_shm() * 10 >> 20) / 10, less);
    memory_check(f->spec.name, n->shared + n->workers, less);
    if (n->space > address_space())
        hx_die(HX_EXIT_ENVIRONMENT, f->spec.name,
               "needs %.1f GiB of addresses in a process, which may have %.1f GiB (raise `ulimit -v`, or %s)",
               (double)n->space / gib, (double)address_space() / gib, less);
}
