/* prop_switch.c - switches under random and adversarial traffic, in hundreds of seeded runs, checked packet by packet.
 *
 * A run has the constants of one platform, and calls the switch by steps or, as the virtual clock does, for each event.
 * The check sees arrivals, the credit before each step, and departures by output and order. It keeps its own list of
 * waiting packets and their outputs, and checks the promises of switch.h:
 *     - every packet leaves once, unchanged, by an output of its set, on the right VC, and only with credit for all of it
 *     - packets waiting for an output leave in the order of arrival, input by input
 *     - a new packet takes no output that an older packet of its VC waits for
 *     - fairness: with k older packets at its input, it leaves after at most (k + 1) * inputs grants of any of its outputs
 *     - no packet waits for an output with credit for every packet that wants it
 *     - each packet that begins to wait is counted once
 * HX_SEED chooses other runs; a failure names the seed of its run. */
#include "tests/support/loopback/support_loopback.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 160, STEPS = 200, MOST_PORTS = 14, MOST = 60000, LIVE = MOST_PORTS * HX_VCS * LOOPBACK_SLOTS };
enum { CLASSES = 64, OUTSIDE = 128 };

enum state { NEW, WAITS, LEFT, DROPPED };

struct packet {
    enum state state;
    bool was_waiting; /* at the beginning of this step */
    unsigned input, vc, gx, length, blocks;
    uint64_t set;
    unsigned older;              /* waiting packets of its input when it began to wait */
    unsigned grants[MOST_PORTS]; /* of each output on its VC, while it waits */
    unsigned left_by, place;     /* output, and rank among this step's departures by it */
};

/* Parameters of a run. */
struct manner {
    unsigned ports;
    const struct switch_calls *platform;
    bool tree, one_output, short_only;
    bool by_event;      /* by the calls for single events, not by steps */
    unsigned arrivals;  /* percent that an input gets a packet in a turn */
    unsigned busiest;   /* input that gets more */
    unsigned room;      /* most blocks that an output gains in a step */
    unsigned room_rate; /* percent that it gains at all */
    unsigned reroutes;  /* percent of the steps */
};

struct checker {
    struct rig rig;
    struct manner manner;
    uint64_t random;
    unsigned incrementing;
    uint64_t up, above;     /* tree: ports with a link, ports to spines */
    uint64_t sets[CLASSES]; /* known to the check */
    struct packet packet[MOST];
    unsigned packets;
    unsigned live[LIVE]; /* packets that have not left, by age */
    unsigned lives;
    unsigned room[MOST_PORTS][HX_VCS]; /* before the step */
    unsigned drops, stalls;
    uint64_t waited, longest; /* over all runs */
};

static struct checker checker;

static unsigned below(struct checker *j, unsigned bound)
{
    return seeded_below(&j->random, bound);
}

static bool percent(struct checker *j, unsigned chance)
{
    return below(j, 100) < chance;
}

/* ---- parameters of a run ---- */

/* Ports of an accelerator's destination: none (the packet goes to the endpoint), the endpoint, or others. */
static uint64_t draw_set(struct checker *j)
{
    uint64_t all = ((uint64_t)1 << j->manner.ports) - 1;
    uint64_t one = (uint64_t)1 << (percent(j, j->manner.one_output ? 80 : 0) ? 1 : below(j, j->manner.ports));
    uint64_t set = j->manner.one_output || percent(j, 50) ? one : seeded_next(&j->random) & all;
    if (j->manner.tree)
        return j->manner.reroutes ? set | 3 : set; /* with reroutes, a packet that the switch has not seen keeps a
                                                    * path */
    return set >> HX_LOCAL & 1 ? (uint64_t)1 << HX_LOCAL : set;
}

static void draw_routes(struct checker *j)
{
    for (unsigned gx = 0; gx < CLASSES; gx++) {
        uint64_t set = draw_set(j);
        j->rig.sets[gx] = (uint8_t)set;
        j->rig.tree[gx] = set;
        j->sets[gx] = j->manner.tree || set ? set : (uint64_t)1 << HX_LOCAL;
    }
}

/* Some ports of a tree switch lead to spines, and some have no link; the first two reach every destination. */
static void draw_links(struct checker *j)
{
    uint64_t all = ((uint64_t)1 << j->manner.ports) - 1;
    j->above = percent(j, 50) ? seeded_next(&j->random) & all & ~UINT64_C(1) : 0;
    j->up = percent(j, 50) ? (seeded_next(&j->random) & all) | 3 : all;
    if (j->manner.tree)
        rig_links(&j->rig, j->up, j->above);
}

static void start(struct checker *j, uint64_t seed)
{
    static const unsigned rates[] = {3, 20, 60, 100};
    static const unsigned rooms[] = {1, 8, 33, 64};
    memset(j->packet, 0, j->packets * sizeof *j->packet);
    j->packets = j->lives = j->drops = j->stalls = 0;
    j->random = seed;
    bool tree = percent(j, 40);
    const struct switch_calls *platform = switch_platforms[below(j, SWITCH_PLATFORMS)];
    j->manner = (struct manner){.platform = platform,
                                .by_event = platform == &switch_of_virtual_clock || percent(j, 30),
                                .tree = tree,
                                .ports = tree ? 3 + below(j, MOST_PORTS - 2) : HX_ACCELERATOR_PORTS,
                                .one_output = percent(j, 30),
                                .short_only = percent(j, 20),
                                .arrivals = rates[below(j, 4)],
                                .room = rooms[below(j, 4)],
                                .room_rate = rates[1 + below(j, 3)],
                                .reroutes = percent(j, 30) ? 5 : 0};
    j->manner.busiest = below(j, j->manner.ports);
    j->incrementing = tree ? 0 : below(j, 16);
    unsigned blocks = 32 + below(j, LOOPBACK_MAX_BLOCKS - 31);
    rig_init_on(&j->rig, platform, tree ? HX_ROW_SWITCH : HX_ACCELERATOR, j->manner.ports, j->incrementing, blocks);
    j->rig.sw.route.columns = j->rig.sw.route.rows = OUTSIDE;
    draw_links(j);
    draw_routes(j);
}

/* ---- arrivals ---- */

static unsigned draw_length(struct checker *j)
{
    if (j->manner.short_only || percent(j, 60))
        return below(j, 300);
    return percent(j, 50) ? 8192 : below(j, 8193);
}

static uint64_t set_of(const struct checker *j, const struct packet *p)
{
    uint64_t from = (uint64_t)1 << p->input;
    bool is_down = from & j->above; /* a packet from a spine does not go up again */
    if (j->manner.tree) {
        uint64_t on = j->sets[p->gx] & j->up & ~(is_down ? j->above : from);
        return on ? on : j->up & (is_down ? ~j->above : from);
    }
    uint64_t set = j->sets[p->gx] & ~(uint64_t)(p->vc == HX_VCS - 1 ? j->incrementing : 0);
    return set ? set : (uint64_t)1 << HX_LOCAL;
}

static void arrive(struct checker *j, unsigned input)
{
    struct packet *p = &j->packet[j->packets];
    *p = (struct packet){
        .input = input, .vc = below(j, HX_VCS), .gx = below(j, CLASSES), .length = draw_length(j), .state = NEW};
    p->blocks = p->length ? (p->length + 255) / 256 : 1;
    p->set = set_of(j, p);
    if (j->packets == MOST || rig_space(&j->rig, input, p->vc) < p->blocks)
        return;
    struct hx_desc d = {
        .length = (uint16_t)p->length, .vc = (uint8_t)p->vc, .dst_addr_hi = (uint16_t)p->gx, .job = RIG_JOB};
    bool foreign = !j->manner.tree && percent(j, 1);
    bool outside = percent(j, 1);
    d.job = foreign ? RIG_JOB + 1 : RIG_JOB;
    if (outside && percent(j, 50))
        d.dst_addr_lo = (uint16_t)(OUTSIDE + below(j, 60000));
    else if (outside)
        d.dst_addr_hi = (uint16_t)(OUTSIDE + below(j, 60000));
    rig_arrive_as(&j->rig, input, p->vc, j->packets, &d);
    if (foreign || outside || p->set == 0) {
        p->state = DROPPED;
        j->drops++;
    } else {
        j->live[j->lives++] = j->packets;
    }
    j->packets++;
}

static void arrivals(struct checker *j)
{
    for (unsigned input = 0; input < j->manner.ports; input++) {
        unsigned chance = input == j->manner.busiest ? 100 : j->manner.arrivals;
        for (unsigned tries = 0; tries < 4 && percent(j, chance); tries++)
            arrive(j, input);
    }
}

/* Credit behind port and VC. An output that gains less than a packet for long blocks large ones. */
static void make_room(struct checker *j)
{
    for (unsigned port = 0; port < j->manner.ports; port++) {
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            unsigned room = rig_room_left(&j->rig, port, vc);
            if (room < 200 && percent(j, j->manner.room_rate))
                rig_room(&j->rig, port, vc, room + 1 + below(j, j->manner.room));
            j->room[port][vc] = rig_room_left(&j->rig, port, vc);
        }
    }
}

/* ---- checks of a step ---- */

static unsigned vc_behind(const struct checker *j, unsigned port, unsigned vc)
{
    return vc + (j->incrementing >> port & 1);
}

static void note_departures(struct checker *j, unsigned port)
{
    struct rig_packet out;
    unsigned sent[HX_VCS] = {0};
    for (unsigned place = 0; rig_take(&j->rig, port, &out); place++) {
        assert_true(out.id < j->packets);
        struct packet *p = &j->packet[out.id];
        assert_true(p->state == NEW || p->state == WAITS);
        assert_true(p->set >> port & 1);
        assert_int_equal(out.vc, vc_behind(j, port, p->vc));
        assert_int_equal(out.hops, 1);
        assert_int_equal(out.length, p->length);
        assert_true(out.intact);
        sent[out.vc] += p->blocks;
        p->state = LEFT;
        p->left_by = port;
        p->place = place;
    }
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        assert_true(sent[vc] <= j->room[port][vc]);
        assert_int_equal(rig_room_left(&j->rig, port, vc), j->room[port][vc] - sent[vc]);
    }
}

/* For one (input, VC) and one output, a later packet never passes an earlier one that waited when the step began. */
static void validate_order(const struct checker *j, unsigned at)
{
    const struct packet *p = &j->packet[j->live[at]];
    for (unsigned i = 0; i < at; i++) {
        const struct packet *older = &j->packet[j->live[i]];
        if (older->input != p->input || older->vc != p->vc || !older->was_waiting || !(older->set >> p->left_by & 1))
            continue;
        assert_int_equal(older->state, LEFT);
        assert_true(older->left_by != p->left_by || older->place < p->place);
    }
}

static void validate_newcomer(const struct checker *j, const struct packet *p)
{
    for (unsigned i = 0; i < j->lives; i++) {
        const struct packet *other = &j->packet[j->live[i]];
        bool passed = other->was_waiting && other->state == WAITS && other->vc == p->vc;
        assert_false(passed && other->set >> p->left_by & 1);
    }
}

/* Grants of an output on p's VC in this step before p's own (p stays: all). */
static unsigned grants_before(const struct checker *j, const struct packet *p, unsigned port)
{
    unsigned before = 0;
    for (unsigned i = 0; i < j->lives; i++) {
        const struct packet *other = &j->packet[j->live[i]];
        if (other->state == LEFT && other->left_by == port && other->vc == p->vc)
            before += p->state != LEFT || p->left_by != port || other->place < p->place;
    }
    return before;
}

static void validate_fairness(struct checker *j, struct packet *p)
{
    for (unsigned port = 0; port < j->manner.ports; port++) {
        if (!(p->set >> port & 1))
            continue;
        p->grants[port] += grants_before(j, p, port);
        if (p->state == LEFT && p->left_by != port)
            continue; /* within a step the order between outputs is unknown */
        assert_true(p->grants[port] < (p->older + 1) * j->manner.ports);
        j->longest = p->grants[port] > j->longest ? p->grants[port] : j->longest;
    }
}

/* For each output and VC the largest packet that waits for it, in blocks. */
static void find_largest(const struct checker *j, unsigned largest[MOST_PORTS][HX_VCS])
{
    memset(largest, 0, MOST_PORTS * sizeof *largest);
    for (unsigned i = 0; i < j->lives; i++) {
        const struct packet *p = &j->packet[j->live[i]];
        for (unsigned port = 0; p->was_waiting && port < j->manner.ports; port++) {
            if (p->set >> port & 1 && p->blocks > largest[port][p->vc])
                largest[port][p->vc] = p->blocks;
        }
    }
}

/* An output with waiting packets lacks credit for at least one that waited before or after the step. */
static void validate_idle_outputs(const struct checker *j, unsigned before[MOST_PORTS][HX_VCS])
{
    unsigned after[MOST_PORTS][HX_VCS];
    find_largest(j, after);
    for (unsigned port = 0; port < j->manner.ports; port++) {
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            unsigned largest = before[port][vc] > after[port][vc] ? before[port][vc] : after[port][vc];
            if (after[port][vc] && vc_behind(j, port, vc) < HX_VCS)
                assert_true(rig_room_left(&j->rig, port, vc_behind(j, port, vc)) < largest);
        }
    }
}

/* A remaining packet begins to wait behind `older` others of its input and VC, and counts its grants from here. */
static void begin_waiting(struct checker *j, unsigned at)
{
    struct packet *p = &j->packet[j->live[at]];
    p->state = WAITS;
    p->older = 0;
    memset(p->grants, 0, sizeof p->grants);
    for (unsigned i = 0; i < at; i++) {
        const struct packet *q = &j->packet[j->live[i]];
        p->older += q->input == p->input && q->vc == p->vc;
    }
    j->waited++;
}

/* Whether the switch has seen the packet: it is within the window of 64 positions. */
static bool was_seen(const struct checker *j, const struct packet *p, unsigned waiting_of_input[MOST_PORTS][HX_VCS])
{
    unsigned in_rig = (unsigned)__builtin_popcountll(j->rig.sw.input[p->input].waiting[p->vc]);
    return waiting_of_input[p->input][p->vc]++ < in_rig;
}

static void settle(struct checker *j)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < j->lives; i++) {
        if (j->packet[j->live[i]].state != LEFT)
            j->live[kept++] = j->live[i];
    }
    j->lives = kept;
    unsigned waiting_of_input[MOST_PORTS][HX_VCS] = {{0}};
    unsigned waiting = 0;
    for (unsigned i = 0; i < j->lives; i++) {
        struct packet *p = &j->packet[j->live[i]];
        bool seen = was_seen(j, p, waiting_of_input);
        if (seen && p->state == NEW) {
            begin_waiting(j, i);
            j->stalls++;
        }
        assert_int_equal(seen, p->state == WAITS);
        p->was_waiting = seen;
        waiting += seen;
    }
    assert_int_equal(hx_switch_waiting(&j->rig.sw), waiting);
}

static void validate_step(struct checker *j)
{
    unsigned moved = j->manner.by_event ? rig_events(&j->rig) : rig_step(&j->rig);
    for (unsigned port = 0; port < j->manner.ports; port++)
        note_departures(j, port);
    for (unsigned i = 0; i < j->lives; i++) {
        struct packet *p = &j->packet[j->live[i]];
        moved -= p->state == LEFT;
        if (p->was_waiting)
            validate_fairness(j, p);
        if (p->state == LEFT)
            validate_order(j, i);
        if (p->state == LEFT && !p->was_waiting)
            validate_newcomer(j, p);
    }
    assert_int_equal(moved, 0);
    unsigned largest[MOST_PORTS][HX_VCS];
    find_largest(j, largest);
    settle(j);
    validate_idle_outputs(j, largest);
}

/* New routes: all packets begin to wait again. */
static void reroute(struct checker *j)
{
    draw_routes(j);
    j->rig.calls->reroute(&j->rig.sw);
    for (unsigned i = 0; i < j->lives; i++) {
        struct packet *p = &j->packet[j->live[i]];
        p->set = set_of(j, p);
        if (p->state == WAITS)
            begin_waiting(j, i);
    }
}

static unsigned drops_of_rig(const struct checker *j)
{
    const uint64_t *drops = j->rig.hal.node.drops;
    return (unsigned)(drops[HX_DROP_FOREIGN_JOB] + drops[HX_DROP_MALFORMED] + drops[HX_DROP_NO_ROUTE]);
}

static void run(struct checker *j)
{
    for (unsigned step = 0; step < STEPS; step++) {
        if (percent(j, j->manner.reroutes))
            reroute(j);
        arrivals(j);
        make_room(j);
        validate_step(j);
    }
    for (unsigned step = 0; step < 300 && j->lives > 0; step++) {
        rig_room_everywhere(&j->rig, 200);
        for (unsigned port = 0; port < j->manner.ports; port++)
            for (unsigned vc = 0; vc < HX_VCS; vc++)
                j->room[port][vc] = 200;
        validate_step(j);
    }
    assert_int_equal(j->lives, 0);
    assert_int_equal(drops_of_rig(j), j->drops);
    const uint64_t *stalls = j->rig.hal.node.stalls;
    assert_int_equal(stalls[HX_STALL_NO_CREDIT] + stalls[HX_STALL_OUTPUT_BUSY], j->stalls);
    rig_validate_empty(&j->rig);
}

static void switches_keep_their_promises(void **state)
{
    (void)state;
    const uint32_t runs = effort(RUNS);
    for (uint64_t n = 0; n < runs; n++) {
        lab_seed = shapes_seed() + n;
        start(&checker, lab_seed);
        run(&checker);
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(checker.waited > 100 * runs);
    assert_true(checker.longest > 2 * HX_ACCELERATOR_PORTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(switches_keep_their_promises, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
