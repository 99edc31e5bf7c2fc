/* traffic.c - patterns of messages (traffic.h). */
#include "workload/traffic.h"
#include "base/divisor.h"
#include "workload/partners.h" /* circle: a part of traffic that fills its partners */
#include "workload/random.h"

#include <math.h>
#include <stdlib.h>

enum purpose { FOR_ORDER = 2, FOR_UNIFORM, FOR_HOT, FOR_TARGET, FOR_ARRIVALS };

static unsigned board_of(const struct traffic *t, uint32_t rank)
{
    return hx_spec_board_of(t->spec, rank);
}

static bool is_alive(const struct traffic *t, uint32_t rank)
{
    return !hx_spec_board_failed(t->spec, board_of(t, rank));
}

static uint16_t job_of(const struct traffic *t, uint32_t rank)
{
    return hx_spec_board_job(t->spec, board_of(t, rank));
}

static bool takes_part(const struct traffic *t, uint32_t rank)
{
    return is_alive(t, rank) && !hx_spec_board_idle(t->spec, board_of(t, rank)) &&
           !(t->own && t->spec->named[t->own_of[rank]].silent);
}

static unsigned pattern_of(const struct traffic *t, uint32_t rank)
{
    return traffic_settings(t, rank)->pattern;
}

/* ---- jobs ---- */

struct gathered {
    uint32_t members, placed;
    uint32_t first;  /* index of its first member in `member` */
    uint32_t lowest; /* lowest rank of its members */
    bool seen;
};

/* Jobs are in the order of their lowest ranks. */
static void count_members(struct traffic *t, struct gathered *by_tag)
{
    uint32_t all = 0;
    for (uint32_t rank = 0; rank < t->g->hosts; rank++)
        by_tag[job_of(t, rank)].members += takes_part(t, rank);
    for (uint32_t rank = 0; rank < t->g->hosts; rank++) {
        struct gathered *job = &by_tag[job_of(t, rank)];
        if (!takes_part(t, rank))
            continue;
        if (!job->seen) {
            job->seen = true;
            job->first = all;
            job->lowest = rank;
            all += job->members;
        }
        t->first[rank] = job->first;
        t->lowest[rank] = job->lowest;
        t->members[rank] = job->members;
    }
}

/* Gathers the living accelerators of each job, column by column. */
static void gather_jobs(struct traffic *t)
{
    const struct hx_fabric *g = t->g;
    struct gathered *by_tag = hx_allocate(UINT16_MAX + 1, sizeof *by_tag);
    count_members(t, by_tag);
    for (unsigned gx = 0; gx < g->columns; gx++) {
        for (unsigned gy = 0; gy < g->rows; gy++) {
            uint32_t rank = hx_fabric_at(g, gx, gy);
            if (!takes_part(t, rank))
                continue;
            t->place[rank] = by_tag[job_of(t, rank)].placed++;
            t->member[t->first[rank] + t->place[rank]] = rank;
        }
    }
    free(by_tag);
}

/* ---- settings of jobs ---- */

/* Sets what named jobs do instead of the run. */
static void settle_jobs(struct traffic *t)
{
    const struct hx_spec *spec = t->spec;
    if (spec->named_jobs == 0)
        return;
    t->own = hx_allocate(spec->named_jobs, sizeof *t->own);
    t->own_of = hx_allocate(t->g->hosts, sizeof *t->own_of);
    for (unsigned i = 0; i < spec->named_jobs; i++)
        t->own[i] = hx_job_settings(&t->settings, &spec->named[i]);
    uint16_t *by_tag = hx_allocate(UINT16_MAX + 1, sizeof *by_tag);
    for (unsigned i = 0; i < spec->named_jobs; i++)
        by_tag[spec->named[i].tag] = (uint16_t)i;
    for (uint32_t rank = 0; rank < t->g->hosts; rank++)
        t->own_of[rank] = by_tag[job_of(t, rank)];
    free(by_tag);
}

/* Whether a job that is not silent has a pattern from `first` up to `end`. */
static bool has_pattern(const struct traffic *t, unsigned first, unsigned end)
{
    bool any = !t->own && t->settings.pattern >= first && t->settings.pattern < end;
    for (unsigned i = 0; t->own && i < t->spec->named_jobs; i++)
        any = any || (t->own[i].pattern >= first && t->own[i].pattern < end && !t->spec->named[i].silent);
    return any;
}

bool traffic_has_collectives(const struct traffic *t)
{
    return has_pattern(t, HX_COLLECTIVES, HX_ALL_PATTERNS);
}

bool traffic_has_common(const struct traffic *t)
{
    return traffic_has_collectives(t) || traffic_has_schedules(t);
}

bool traffic_has_schedules(const struct traffic *t)
{
    return has_pattern(t, HX_SCHEDULE, HX_SCHEDULE + 1);
}

bool traffic_jobs_differ(const struct traffic *t)
{
    bool any = false;
    for (unsigned i = 0; i < t->spec->named_jobs; i++)
        any = any || t->spec->named[i].settings.given;
    return any;
}

uint64_t traffic_job_start_ns(const struct traffic *t, uint32_t rank)
{
    return t->own && !hx_spec_board_idle(t->spec, board_of(t, rank)) ? t->spec->named[t->own_of[rank]].start_ns : 0;
}

/* Whether the job has its own pattern, and so its own target. */
static bool has_own_target(const struct traffic *t, uint32_t rank)
{
    return t->own && t->spec->named[t->own_of[rank]].settings.given & HX_GIVEN_PATTERN;
}

uint32_t traffic_target(const struct traffic *t, uint32_t rank)
{
    return has_own_target(t, rank) ? t->lowest[rank] : t->target[0];
}

/* ---- shifts ---- */

/* Element `index` of a random permutation of 0 .. n-1, given by `key`: a Feistel network on an even number of bits,
 * iterated until the result is below n. */
static uint32_t shuffled(uint64_t key, uint32_t index, uint32_t n)
{
    unsigned half = 1;
    while ((uint64_t)1 << 2 * half < n)
        half++;
    uint32_t mask = (1U << half) - 1;
    do {
        uint32_t left = index >> half;
        uint32_t right = index & mask;
        for (unsigned round = 0; round < 4; round++) {
            uint32_t next = left ^ ((uint32_t)random_of(key, round, right) & mask);
            left = right;
            right = next;
        }
        index = left << half | right;
    } while (index >= n);
    return index;
}

/* The multiplier nearest to n times the golden ratio that is coprime to n. */
static uint32_t golden_step(uint32_t n)
{
    for (uint32_t away = 0;; away++) {
        uint32_t step = (uint32_t)((double)n * 0.6180339887498949) + (away + 1) / 2 * (away % 2 ? 1U : UINT32_MAX);
        if (hx_common_divisor(n, step) == 1)
            return step;
    }
}

/* Chooses the shifts of a job's all-to-all: all members make the same shift at the same time, so that all receive
 * alike. Successive shifts are far apart, so that any few of them load rows and columns alike. A sample of shifts is
 * random. */
static void choose_shifts_of(struct traffic *t, uint32_t rank)
{
    uint32_t n = t->members[rank];
    uint32_t shifts = traffic_destinations(t, rank);
    uint32_t *shift = t->shift + t->first[rank];
    uint64_t key = random_of(t->settings.seed ^ FOR_ORDER, t->first[rank], 0);
    uint32_t step = shifts < n - 1 ? 0 : golden_step(n);
    for (uint32_t index = 0; index < shifts; index++)
        shift[index] = step ? (uint32_t)((uint64_t)(index + 1) * step % n) : 1 + shuffled(key, index, n - 1);
}

static void choose_shifts(struct traffic *t)
{
    for (uint32_t rank = 0; rank < t->g->hosts; rank++) {
        if (t->members[rank] > 1 && t->place[rank] == 0 && pattern_of(t, rank) == HX_ALL_TO_ALL)
            choose_shifts_of(t, rank);
    }
}

/* ---- start and end ---- */

void traffic_init(struct traffic *t, const struct hx_spec *spec, const struct hx_fabric *g,
                  const struct hx_settings *settings, const struct flows *flows)
{
    uint32_t n = g->hosts;
    const struct hx_coordinates *target = &settings->target;
    *t = (struct traffic){.spec = spec, .g = g, .settings = *settings, .flows = flows, .targets = target->count};
    for (unsigned i = 0; i < target->count; i++)
        t->target[i] = hx_host_at(g, target->at[i].addr_hi, target->at[i].addr_lo);
    t->targets += t->targets == 0; /* default: the north-west host */
    t->member = hx_allocate(n, sizeof *t->member);
    t->first = hx_allocate(n, sizeof *t->first);
    t->lowest = hx_allocate(n, sizeof *t->lowest);
    t->members = hx_allocate(n, sizeof *t->members);
    t->place = hx_allocate(n, sizeof *t->place);
    t->shift = hx_allocate(n, sizeof *t->shift);
    t->partner = hx_allocate(n, sizeof *t->partner);
    settle_jobs(t);
    gather_jobs(t);
    choose_shifts(t);
    t->senders = hx_allocate(n, sizeof *t->senders);
    traffic_choose_partners(t);
    for (uint32_t rank = 0; rank < n; rank++) {
        if (t->partner[rank] != TRAFFIC_NOBODY)
            t->senders[t->partner[rank]]++;
    }
    peers_choose(t);
}

void traffic_free(struct traffic *t)
{
    HX_FREE(t->member, t->first, t->lowest, t->members, t->place, t->shift, t->partner, t->senders, t->own, t->own_of);
    peers_free(&t->peers);
}

/* ---- destinations ---- */

/* Neighbour `side` (E W N S) on the logical torus of the whole fabric; TRAFFIC_NOBODY if it is of another job. */
static uint32_t neighbour(const struct traffic *t, uint32_t rank, unsigned side)
{
    const struct hx_fabric *g = t->g;
    struct hx_coordinate at = hx_grid_of(g, rank);
    unsigned dx = side == HX_E ? 1U : side == HX_W ? g->columns - 1U : 0;
    unsigned dy = side == HX_S ? 1U : side == HX_N ? g->rows - 1U : 0;
    uint32_t to = hx_fabric_at(g, (at.addr_hi + dx) % g->columns, (at.addr_lo + dy) % g->rows);
    bool fits = to != rank && t->members[to] && t->first[to] == t->first[rank];
    return fits ? to : TRAFFIC_NOBODY;
}

static unsigned neighbours(const struct traffic *t, uint32_t rank, uint32_t list[4])
{
    unsigned n = 0;
    for (unsigned side = HX_E; side <= HX_S; side++) {
        uint32_t to = neighbour(t, rank, side);
        if (to != TRAFFIC_NOBODY)
            list[n++] = to;
    }
    return n;
}

uint32_t traffic_destinations(const struct traffic *t, uint32_t rank)
{
    uint32_t list[4];
    uint64_t shifts = traffic_settings(t, rank)->shifts;
    if (t->members[rank] < 2)
        return 0;
    if (t->flows)
        return t->flows->destinations[rank];
    if (peers_are_of(pattern_of(t, rank)))
        return peers_count(&t->peers, rank);
    if (traffic_has_partners(pattern_of(t, rank)))
        return t->partner[rank] != TRAFFIC_NOBODY;
    switch (pattern_of(t, rank)) {
    case HX_NEIGHBOUR:
        return neighbours(t, rank, list);
    case HX_INCAST:
        return rank != traffic_target(t, rank) && t->members[traffic_target(t, rank)] &&
               t->first[rank] == t->first[traffic_target(t, rank)];
    case HX_ALL_TO_ALL:
        return shifts && shifts < t->members[rank] ? (uint32_t)shifts : t->members[rank] - 1;
    default:
        return t->members[rank] - 1U;
    }
}

uint32_t traffic_peers(const struct traffic *t, uint32_t rank)
{
    uint32_t others = t->members[rank] ? t->members[rank] - 1 : 0;
    uint32_t peers = 2 * traffic_destinations(t, rank);
    if (t->flows)
        peers = t->flows->peers[rank];
    else if (peers_are_of(pattern_of(t, rank)))
        peers = peers_count(&t->peers, rank) + t->peers.senders[rank];
    else if (traffic_has_partners(pattern_of(t, rank)))
        peers = 1 + t->senders[rank];
    else if (pattern_of(t, rank) == HX_INCAST)
        peers = rank == traffic_target(t, rank) ? others : 1;
    else if (pattern_of(t, rank) == HX_NEIGHBOUR)
        peers = traffic_destinations(t, rank); /* its neighbours send to it */
    return peers < others ? peers : others;
}

uint64_t traffic_messages(const struct traffic *t, uint32_t rank)
{
    const struct hx_settings *s = traffic_settings(t, rank);
    bool plain = t->members[rank] && !traffic_is_common(t, rank);
    uint64_t to = plain ? traffic_destinations(t, rank) : 0;
    if (to == 0)
        return 0;
    if (t->flows)
        return flows_of(t->flows, rank);
    return s->duration_ns ? UINT64_MAX : to * s->count;
}

double traffic_bytes_of_all(const struct traffic *t)
{
    double sum = 0;
    for (uint64_t i = 0; t->flows && i < flows_count(t->flows); i++)
        sum += (double)t->flows->bytes[i];
    for (uint32_t rank = 0; !t->flows && rank < t->g->hosts; rank++)
        sum += (double)traffic_messages(t, rank) * (double)traffic_settings(t, rank)->message;
    return sum;
}

double traffic_share_offered(const struct traffic *t)
{
    double senders = 0;
    double all = hx_fabric_injection(t->g, HX_LINK_GBPS);
    for (uint32_t rank = 0; rank < t->g->hosts; rank++)
        senders += traffic_messages(t, rank) > 0 ? hx_host_injection(t->g, rank, HX_LINK_GBPS) / all : 0;
    return t->settings.rate * senders / t->g->hosts;
}

/* Phases of a sampled all-to-all; 0: it uses common shifts. Phases need all hosts, and are for samples: over all
 * destinations shifts are even. */
static uint32_t phases_of(const struct traffic *t, uint32_t rank)
{
    bool sample = traffic_settings(t, rank)->shifts && t->members[rank] == t->g->hosts;
    uint32_t phases = sample ? hx_fabric_phases(t->g) : 0;
    return traffic_destinations(t, rank) <= phases ? phases : 0;
}

/* Partner of a message in its phase. Phases are successive from a random first one: any few of them load the links
 * alike. */
static uint32_t partner_of(const struct traffic *t, uint32_t rank, uint64_t message, uint32_t phases)
{
    uint32_t first = random_below(random_of(t->settings.seed ^ FOR_ORDER, t->first[rank], 0), phases);
    uint32_t index = (uint32_t)(message % traffic_settings(t, rank)->shifts);
    return hx_fabric_partner(t->g, rank, (first + index) % phases);
}

/* Target of a hotspot's message; TRAFFIC_NOBODY: it goes to any host. Hosts of other jobs, of failed boards, and the
 * sender are no targets. */
static uint32_t hot_target(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint32_t mine[HX_VALUE_MOST_COORDINATES];
    uint32_t n = 0;
    bool own = has_own_target(t, rank);
    uint64_t dice = random_of(t->settings.seed ^ FOR_HOT, rank, message);
    if ((double)(dice >> 11) * 0x1p-53 >= t->settings.hotspot)
        return TRAFFIC_NOBODY;
    for (unsigned i = 0; i < (own ? 1 : t->targets); i++) {
        uint32_t to = own ? traffic_target(t, rank) : t->target[i];
        if (to != rank && t->members[to] && t->first[to] == t->first[rank])
            mine[n++] = to;
    }
    return n ? mine[random_below(random_of(t->settings.seed ^ FOR_TARGET, rank, message), n)] : TRAFFIC_NOBODY;
}

uint64_t traffic_bytes(const struct traffic *t, uint32_t rank, uint64_t message)
{
    return t->flows ? t->flows->bytes[t->flows->first[rank] + message] : traffic_settings(t, rank)->message;
}

double traffic_interval(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint64_t dice = random_of(t->settings.seed ^ FOR_ARRIVALS, rank, message);
    return -log1p(-((double)(dice >> 11) * 0x1p-53));
}

uint64_t traffic_start_ns(const struct traffic *t, uint32_t rank, uint64_t message)
{
    return t->flows ? t->flows->start_ns[t->flows->first[rank] + message] : 0;
}

static uint32_t shift_of(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint32_t shifts = traffic_destinations(t, rank);
    return shifts ? t->shift[t->first[rank] + message % shifts] : 0;
}

/* ---- destination of a message, by pattern ---- */

/* The member of the sender's job that is `step` + 1 places after it. */
static uint32_t member_after(const struct traffic *t, uint32_t rank, uint32_t step)
{
    return t->member[t->first[rank] + (t->place[rank] + 1 + step) % t->members[rank]];
}

static uint32_t to_partner(const struct traffic *t, uint32_t rank, uint64_t message)
{
    (void)message;
    return t->partner[rank];
}

static uint32_t to_peer(const struct traffic *t, uint32_t rank, uint64_t message)
{
    return t->peers.to[t->peers.first[rank] + message % peers_count(&t->peers, rank)];
}

static uint32_t to_neighbour(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint32_t list[4];
    uint32_t count = neighbours(t, rank, list);
    return list[message % count];
}

static uint32_t to_target(const struct traffic *t, uint32_t rank, uint64_t message)
{
    (void)message;
    return traffic_target(t, rank);
}

static uint32_t to_random(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint64_t random = random_of(t->settings.seed ^ FOR_UNIFORM, rank, message);
    return member_after(t, rank, random_below(random, t->members[rank] - 1));
}

static uint32_t to_hotspot(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint32_t target = hot_target(t, rank, message);
    return target != TRAFFIC_NOBODY ? target : to_random(t, rank, message);
}

static uint32_t to_all_in_random_order(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint32_t others = t->members[rank] - 1;
    uint64_t key = random_of(t->settings.seed ^ FOR_ORDER, rank, message / others);
    return member_after(t, rank, shuffled(key, (uint32_t)(message % others), others));
}

static uint32_t to_all_by_shifts(const struct traffic *t, uint32_t rank, uint64_t message)
{
    uint32_t phases = phases_of(t, rank);
    return phases ? partner_of(t, rank, message, phases) : member_after(t, rank, shift_of(t, rank, message) - 1);
}

typedef uint32_t destination_function(const struct traffic *t, uint32_t rank, uint64_t message);

/* NULL: the pattern has no messages of its own, as collectives. */
static destination_function *const by_pattern[HX_ALL_PATTERNS] = {
    [HX_PERMUTATION] = to_partner,      [HX_BISECTION] = to_partner,   [HX_TORNADO] = to_partner,
    [HX_TRANSPOSE] = to_partner,        [HX_BIT_REVERSE] = to_partner, [HX_WORST_CASE] = to_peer,
    [HX_NEIGHBOUR_3D] = to_peer,        [HX_NEIGHBOUR] = to_neighbour, [HX_INCAST] = to_target,
    [HX_HOTSPOT] = to_hotspot,          [HX_UNIFORM] = to_random,      [HX_ALL_TO_ALL_RANDOM] = to_all_in_random_order,
    [HX_ALL_TO_ALL] = to_all_by_shifts,
};

uint32_t traffic_destination(const struct traffic *t, uint32_t rank, uint64_t message)
{
    if (t->flows)
        return t->flows->to[t->flows->first[rank] + message];
    destination_function *destination = by_pattern[pattern_of(t, rank)];
    return destination ? destination(t, rank, message) : TRAFFIC_NOBODY;
}

/* Unless destinations are random or from a file, each period of messages has the same destinations. */
uint64_t traffic_messages_between(const struct traffic *t, uint32_t from, uint32_t to)
{
    uint64_t all = traffic_messages(t, from);
    bool drawn = t->flows || pattern_of(t, from) == HX_UNIFORM || pattern_of(t, from) == HX_HOTSPOT;
    uint64_t round = drawn ? all : traffic_destinations(t, from);
    if (all == UINT64_MAX || all == 0 || round == 0 || from == to)
        return 0;
    uint64_t met = 0;
    for (uint64_t message = 0; message < round; message++)
        met += traffic_destination(t, from, message) == to;
    return met * (all / round);
}
