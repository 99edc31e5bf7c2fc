/* test_link.c - times of a packet that a switch sends: crossbar, link, far end, credit. Against a second version of
 * the rule in hal/virtual/timing.h. */
#include "tests/support/virtual/support_virtual.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The accelerator in the middle of a board of three by three: four traces and its endpoint. */
enum { MIDDLE = 4 };
static struct support_virtual lab;
static struct worker worker;

static int open_lab(void **state)
{
    (void)state;
    static const struct support_virtual_plan plan = {.spec = "1x1 Hx3Mesh"};
    support_virtual_open_worker(&lab, &plan, &worker);
    return 0;
}

static int close_lab(void **state)
{
    (void)state;
    support_virtual_close_worker(&lab, &worker);
    return 0;
}

/* ---- the rule ---- */

/* ps: of n blocks on a link, in the crossbar, and with an endpoint's inner port. */
static uint64_t on_link(uint64_t n)
{
    return n * 5120;
}
static uint64_t in_crossbar(uint64_t n, unsigned port)
{
    return n * (port == HX_LOCAL ? 640 : 2560);
}
static uint64_t on_output(uint64_t n, unsigned port)
{
    return port == HX_LOCAL ? n * 1280 : on_link(n);
}
#define OUTPUT UINT64_C(40000)
#define INPUT  UINT64_C(40000)
#define TRACE  UINT64_C(1000)

struct rule {
    uint64_t last_credit[HX_ACCELERATOR_PORTS],
        last_delivery; /* credits of an input, and deliveries, keep their order */
    uint64_t input_free[HX_ACCELERATOR_PORTS], output_free[HX_ACCELERATOR_PORTS], link_free[HX_ACCELERATOR_PORTS];
};

struct times {
    uint64_t arrives; /* ready at the next switch, or delivered */
    uint64_t credit;  /* at the sender */
};

static uint64_t latest(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t ab = a > b ? a : b;
    return ab > c ? ab : c;
}

static struct times apply(struct rule *rule, unsigned in, unsigned out, uint64_t t, uint64_t r, uint64_t n)
{
    uint64_t through = latest(t, rule->input_free[in], rule->output_free[out]);
    uint64_t start = latest(through + OUTPUT, rule->link_free[out], 0);
    uint64_t tail = r + on_link(n - 1);
    uint64_t gone = latest(through + in_crossbar(n, in), tail, 0);
    rule->input_free[in] = through + in_crossbar(n, in);
    rule->output_free[out] = through + in_crossbar(n, out);
    rule->link_free[out] = start + on_output(n, out);
    rule->last_credit[in] = latest(gone + OUTPUT + TRACE + INPUT, rule->last_credit[in], 0);
    if (out != HX_LOCAL)
        return (struct times){start + on_link(1) + TRACE + INPUT, rule->last_credit[in]};
    rule->last_delivery = latest(start + on_output(n, out), tail + OUTPUT, rule->last_delivery);
    return (struct times){rule->last_delivery, rule->last_credit[in]};
}

/* ---- the switch ---- */

static struct hal_switch *middle(void)
{
    return &worker.sim_node[MIDDLE]->node[0].hal;
}

static struct hx_desc packet(unsigned vc, unsigned blocks)
{
    struct hx_desc d = {
        .buffer = virtual_pool_get(&worker.v.pool), .length = (uint16_t)(256 * blocks), .vc = (uint8_t)vc};
    d.flow = (uint16_t)hx_blocks(d.length);
    return d;
}

static uint64_t newest_arrival(const struct hal_switch *h, unsigned out, unsigned vc)
{
    if (out == HX_LOCAL) {
        const struct virtual_eject *q = &h->endpoint->plane[0].eject;
        return q->slots[(q->head - 1) & q->mask].ready;
    }
    virtual_post_end(h->worker);
    const struct virtual_rx *far = h->tx[out].far;
    return virtual_queue_at(&far->queue[vc], (uint16_t)(hx_lane(far->head, vc) - 1))->ready;
}

static uint64_t newest_credit(const struct hal_switch *h, unsigned in, unsigned vc, unsigned blocks)
{
    virtual_post_end(h->worker);
    const struct virtual_credits *back = &h->rx[in].from->back;
    uint64_t entry = back->entries[(back->head - 1) & back->mask];
    assert_true(virtual_credit_vc(entry) == vc && virtual_credit_blocks(entry) == blocks);
    return virtual_credit_time(entry);
}

/* Sends at time t a packet that may be routed since r. */
static struct times send_packet(unsigned in, unsigned out, unsigned vc, uint64_t t, uint64_t r, unsigned blocks)
{
    struct hal_switch *h = middle();
    const struct hx_desc d = packet(vc, blocks);
    uint16_t position = hx_lane(h->rx[in].head, vc);
    unsigned credit = hx_lane(h->tx[out].lanes, vc);
    const struct virtual_sent sum = h->tx[out].sum;
    virtual_deliver(&h->rx[in], &d, r, virtual_birth(0, MIDDLE));
    worker.v.now = t;
    hal_transmit(h, out, vc, in, vc, hal_arrival(h, in, vc, position));
    h->rx[in].ready = h->rx[in].tail = h->rx[in].head;
    support_virtual_forget(h->sim_node);
    if (out != HX_LOCAL)
        assert_int_equal(hx_lane(h->tx[out].lanes, vc), credit - blocks);
    assert_true(h->tx[out].sum.packets == sum.packets + 1 && h->tx[out].sum.blocks == sum.blocks + blocks);
    return (struct times){newest_arrival(h, out, vc), in == HX_LOCAL ? 0 : newest_credit(h, in, vc, blocks)};
}

static struct rule rule;
static uint64_t now; /* later than everything before */

static void start_anew(void **state)
{
    (void)state;
    now += 1000000000;
    memset(&rule, 0, sizeof rule);
}

static void both(unsigned in, unsigned out, uint64_t t, uint64_t r, unsigned blocks)
{
    struct times expected = apply(&rule, in, out, t, r, blocks);
    struct times times = send_packet(in, out, blocks % HX_MESH_VCS, t, r, blocks);
    assert_int_equal(times.arrives, expected.arrives);
    if (in != HX_LOCAL)
        assert_int_equal(times.credit, expected.credit);
}

/* ---- tests ---- */

/* One input, two outputs, at the same time: the second packet waits until the first is through the crossbar. */
static void one_input_two_outputs(void **state)
{
    start_anew(state);
    uint64_t first = send_packet(HX_W, HX_E, 0, now, now, 32).arrives;
    uint64_t hops = worker.v.hops;
    uint64_t second = send_packet(HX_W, HX_S, 0, now, now, 32).arrives;
    assert_int_equal(worker.v.hops, hops + 1);
    assert_int_equal(first, now + OUTPUT + on_link(1) + TRACE + INPUT);
    assert_int_equal(second, first + 32 * 2560);
}

/* Two inputs, two outputs: no wait. */
static void two_inputs_two_outputs(void **state)
{
    start_anew(state);
    uint64_t first = send_packet(HX_W, HX_E, 0, now, now, 32).arrives;
    assert_int_equal(send_packet(HX_N, HX_S, 0, now, now, 32).arrives, first);
}

/* A packet that waited long is gone when the crossbar has it; one that is still arriving, when the crossbar has its
 * tail. */
static void departure_of_a_packet(void **state)
{
    start_anew(state);
    uint64_t back = OUTPUT + TRACE + INPUT;
    assert_int_equal(send_packet(HX_W, HX_E, 0, now, now - 1000000, 32).credit, now + 32 * 2560 + back);
    assert_int_equal(send_packet(HX_N, HX_S, 0, now, now, 32).credit, now + 31 * 5120 + back);
}

/* Random inputs, outputs, sizes and waiting times. */
static void any_sequence(void **state)
{
    start_anew(state);
    for (uint64_t n = 0; n < 1000; n++) {
        uint64_t random = random_of(1, n, 0);
        unsigned in = (unsigned)(random % 5);
        unsigned out = (in + 1 + (unsigned)(random >> 8) % 4) % 5;
        now += (random >> 16) % 60000;
        both(in, out, now, now - (random >> 32) % 300000, 1 + (unsigned)(random >> 24) % 32);
    }
}

/* A dropped packet frees its buffer and returns its credit by its input, as if it had left. */
static void a_dropped_packet_frees_its_buffer(void **state)
{
    start_anew(state);
    struct hal_switch *h = middle();
    uint64_t drops = h->worker->drops[HX_DROP_UNREACHABLE];
    for (unsigned in = 0; in < HX_LOCAL; in++) {
        for (unsigned n = 0; n < 12; n++) {
            unsigned vc = n % HX_MESH_VCS;
            unsigned blocks = 1 + 31 * (n / HX_MESH_VCS % 2);
            uint64_t ready = now - (n < 6 ? 0 : 1000000);
            const struct hx_desc d = packet(vc, blocks);
            uint16_t position = hx_lane(h->rx[in].head, vc);
            virtual_deliver(&h->rx[in], &d, ready, virtual_birth(0, MIDDLE));
            worker.v.now = now;
            uint64_t before = h->rx[in].last_credit;
            hal_drop(h, in, vc, hal_arrival(h, in, vc, position), HX_DROP_UNREACHABLE);
            h->rx[in].ready = h->rx[in].tail = h->rx[in].head;
            support_virtual_forget(h->sim_node);
            uint64_t gone = latest(now + in_crossbar(blocks, in), ready + on_link(blocks - 1), 0);
            assert_int_equal(newest_credit(h, in, vc, blocks), latest(gone + OUTPUT + TRACE + INPUT, before, 0));
            assert_int_equal(h->worker->drops[HX_DROP_UNREACHABLE], ++drops);
            assert_int_equal(packet(vc, 1).buffer, d.buffer); /* the next one to be taken */
            virtual_pool_put(&worker.v.pool, d.buffer);
            now += 1000000000;
        }
    }
}

/* Packets injected at one time follow each other on the endpoint's link, however long it was idle. */
static void one_injection_after_the_other(void **state)
{
    start_anew(state);
    struct hal_switch *h = middle();
    const struct virtual_rx *rx = &h->rx[HX_LOCAL];
    worker.v.now = now;
    for (unsigned n = 0; n < 3; n++) {
        const struct hx_desc d = packet(0, 32);
        virtual_inject(h->endpoint, 0, &d);
        const struct virtual_slot *slot = virtual_queue_at(&rx->queue[0], (uint16_t)(hx_lane(rx->head, 0) - 1));
        assert_int_equal(slot->ready, now + n * 32 * 1280 + 1280 + INPUT);
    }
    h->rx[HX_LOCAL].ready = h->rx[HX_LOCAL].tail = h->rx[HX_LOCAL].head;
}

/* Times from which the switch may route three packets injected at once, from `now` on. */
static void inject_three(uint64_t ready[3])
{
    struct hal_switch *h = middle();
    struct virtual_rx *rx = &h->rx[HX_LOCAL];
    worker.v.now = now;
    for (unsigned n = 0; n < 3; n++) {
        const struct hx_desc d = packet(0, 32);
        virtual_inject(h->endpoint, 0, &d);
        ready[n] = virtual_queue_at(&rx->queue[0], (uint16_t)(hx_lane(rx->head, 0) - 1))->ready - now;
    }
    rx->ready = rx->tail = rx->head;
}

/* However long it rested, a source is no faster than its links or than its injection rate. */
static void a_rested_source_makes_no_burst(void **state)
{
    start_anew(state);
    struct hal_endpoint *h = middle()->endpoint;
    const struct virtual_timing timing = worker.v.timing;
    const uint64_t block = h->block;
    uint64_t ready[3];
    h->block = 4 * block; /* one link */
    inject_three(ready);
    for (unsigned n = 0; n < 3; n++)
        assert_int_equal(ready[n], 1280 + INPUT + n * on_link(32));
    virtual_timing_injection_rate(&worker.v.timing, 0.125); /* half a link */
    for (unsigned turn = 0; turn < 2; turn++) {
        start_anew(state);
        inject_three(ready);
        for (unsigned n = 0; n < 3; n++)
            assert_int_equal(ready[n], 1280 + INPUT + 2 * n * on_link(32));
    }
    worker.v.timing = timing;
    h->block = block;
}

/* An output with waiting packets has one item in the event queue, for its earliest credit, with any number of later
 * ones. */
static void the_next_credit_of_an_output_has_one_item(void **state)
{
    start_anew(state);
    struct hal_switch *h = middle();
    struct virtual_event_queue *event_queue = &h->sim_node->event_queue;
    support_virtual_forget(h->sim_node); /* items of other tests */
    virtual_credit(&h->tx[HX_E], virtual_credit_of(now, 0, 1));
    assert_int_equal(virtual_event_queue_count(event_queue), 0); /* no packet waits */
    h->credit_blocked = 1U << HX_E;
    h->tx[HX_E].back.awaited = true;
    virtual_credit(&h->tx[HX_E], virtual_credit_of(now + 1, 0, 1));
    virtual_credit(&h->tx[HX_E], virtual_credit_of(now + 2, 1, 1));
    assert_int_equal(virtual_event_queue_count(event_queue), 1);
    assert_int_equal(virtual_event_queue_time(event_queue), now + 1);
    assert_int_equal(virtual_event_queue_take(event_queue), h->credit_item + HX_E);
    h->credit_blocked = h->credit_noted = 0;
}

/* ---- to another worker ---- */

static struct support_virtual parted;
static struct worker first_of_two;

/* A switch of the first worker with a link to the second one; its port. */
static struct hal_switch *find_link_between_workers(unsigned *port)
{
    for (uint32_t n = 0; n < first_of_two.sim_nodes; n++) {
        struct virtual_sim_node *e = first_of_two.sim_node[n];
        for (*port = 0; *port < e->node[0].hal.ports; ++*port) {
            if (e->node[0].hal.rx[*port].linked && !e->node[0].hal.rx[*port].from && !e->node[0].hal.tx[*port].far)
                return &e->node[0].hal;
        }
    }
    fail();
    return NULL;
}

/* A packet or a single credit to another worker lowers the window that this worker publishes, so no worker passes
 * it. */
static void departures_to_other_workers_lower_the_published_window(void **state)
{
    (void)state;
    static const struct support_virtual_plan plan = {.spec = "4x1 Hx1Mesh", .workers = 2};
    support_virtual_open_worker(&parted, &plan, &first_of_two);
    struct virtual_worker *w = &first_of_two.v;
    unsigned port = 0;
    struct hal_switch *h = find_link_between_workers(&port);
    uint64_t t = 1000000000;
    for (unsigned n = 0; n < 3; n++, t += 1000000000) {
        const struct hx_desc d = {.buffer = virtual_pool_get(&w->pool), .length = 256, .flow = 1};
        uint16_t position = hx_lane(h->rx[port].head, 0);
        virtual_deliver(&h->rx[port], &d, t, 0);
        w->now = t;
        w->sent_window = n == 2 ? 0 : VIRTUAL_NO_WINDOW; /* an earlier one was sent already */
        if (n == 0)
            hal_drop(h, port, 0, hal_arrival(h, port, 0, position), HX_DROP_UNREACHABLE);
        else
            hal_transmit(h, port, 0, port, 0, hal_arrival(h, port, 0, position));
        virtual_post_end(w);
        h->rx[port].ready = h->rx[port].tail = h->rx[port].head;
        support_virtual_forget(h->sim_node);
        uint64_t credit = h->rx[port].last_credit;
        uint64_t landing = t + w->timing.output + h->tx[port].kind->there;
        uint64_t soonest = n > 0 && landing < credit ? landing : credit;
        assert_true(soonest > t);
        assert_int_equal(w->sent_window, n == 2 ? 0 : soonest / w->wheel.width);
    }
    support_virtual_close_worker(&parted, &first_of_two);
}

static uint64_t reported_age; /* ps */

static void report_age(void *of, const struct hx_desc *d, uint64_t when, uint64_t took, uint64_t behind)
{
    (void)of;
    (void)d;
    (void)when;
    assert_int_equal(behind, 0);
    reported_age = took;
}

/* The latency is the time since the injection (these were injected at time 0), whether or not frames hold the wait
 * before it. No delivery is earlier than the packet is ready. */
static void a_delivery_has_its_latency(void **state)
{
    start_anew(state);
    struct hal_endpoint *h = middle()->endpoint;
    const struct hal_endpoint before = *h;
    struct hx_desc out;
    h->delivered = report_age;
    worker.v.now = now;
    while (virtual_ejected(h, 0, &out, 1) == 1)
        virtual_pool_put(&worker.v.pool, out.buffer);
    for (unsigned rated = 0; rated < 2; rated++) {
        now += 10000000;
        uint64_t ready = send_packet(HX_W, HX_LOCAL, 0, now, now, 4).arrives;
        const struct virtual_eject *q = &h->plane[0].eject;
        uint32_t buffer = q->slots[(q->head - 1) & q->mask].d.buffer;
        virtual_set_wait(virtual_pool_frame(&worker.v.pool, buffer), virtual_wait_of(777, false));
        h->counts_waits = rated;
        worker.v.now = ready - 1;
        assert_int_equal(virtual_ejected(h, 0, &out, 1), 0);
        worker.v.now = ready;
        assert_int_equal(virtual_ejected(h, 0, &out, 1), 1);
        assert_int_equal(out.buffer, buffer);
        assert_int_equal(reported_age, ready);
        virtual_pool_put(&worker.v.pool, buffer);
    }
    h->delivered = before.delivered;
    h->counts_waits = before.counts_waits;
}

/* A packet that was due before its injection has its wait in the frame, in whole nanoseconds, up to 31 bits, and its
 * mark. */
static void a_packet_carries_its_wait(void **state)
{
    static const uint64_t waited[] = {0, 999, 5000000, UINT64_C(2147483647000), UINT64_C(9000000000000)};
    start_anew(state);
    now += UINT64_C(10000000000000);
    struct hal_endpoint *h = middle()->endpoint;
    h->counts_waits = true;
    for (unsigned i = 0; i < sizeof waited / sizeof *waited; i++) {
        now += 1000000000;
        worker.v.now = now;
        h->plane[0].due = h->plane[0].inject_free = 0;
        h->since = waited[i] ? now - waited[i] : UINT64_MAX;
        h->marked = i % 2;
        const struct hx_desc d = packet(0, 1);
        virtual_inject(h, 0, &d);
        uint64_t ns = waited[i] / 1000;
        const uint32_t wait = virtual_wait(virtual_pool_frame(&worker.v.pool, d.buffer));
        assert_int_equal(virtual_waited_ns(wait), ns < INT32_MAX ? ns : INT32_MAX);
        assert_int_equal(virtual_is_marked(wait), i % 2);
        assert_true(h->since == UINT64_MAX && !h->marked);
        struct virtual_rx *rx = &middle()->rx[HX_LOCAL];
        rx->ready = rx->tail = rx->head;
    }
    h->counts_waits = false;
}

/* Functions for detours: occupancy of an output's link and its bound, final destination of a packet, and a redirect
 * of a waiting packet in place. */
static void functions_for_detours(void **state)
{
    start_anew(state);
    struct hal_switch *h = middle();
    worker.v.now = now;
    unsigned before = hal_output_occupancy(h, HX_E);
    (void)send_packet(HX_W, HX_E, 1, now, now, 5);
    (void)send_packet(HX_W, HX_E, 2, now, now, 3);
    assert_int_equal(hal_output_occupancy(h, HX_E), before + 5 + 3);
    assert_int_equal(hal_vc_buffer(h), worker.v.timing.vc_blocks);

    struct hx_desc d = packet(1, 2);
    const struct hx_header frame = {.credit_vc = HX_NO_CREDIT,
                                    .kind = HX_DATA,
                                    .dst_addr_hi = 700,
                                    .dst_addr_lo = 9,
                                    .message_packets = 1,
                                    .epoch = 1};
    hx_frame_encode(virtual_pool_frame(&worker.v.pool, d.buffer), &frame);
    uint16_t position = hx_lane(h->rx[HX_N].head, 1);
    virtual_deliver(&h->rx[HX_N], &d, now, virtual_birth(0, MIDDLE));
    hal_redirect(h, HX_N, 1, position, 300, HX_NO_ADDRESS);
    const struct hx_desc *at = hal_arrival(h, HX_N, 1, position);
    assert_true(at->dst_addr_hi == 300 && at->dst_addr_lo == HX_NO_ADDRESS && at->buffer == d.buffer &&
                at->length == d.length);
    uint16_t addr_hi = 0;
    uint16_t addr_lo = 0;
    assert_true(hal_destination(h, at, &addr_hi, &addr_lo));
    assert_true(addr_hi == 700 && addr_lo == 9);
    hal_drop(h, HX_N, 1, at, HX_DROP_UNREACHABLE);
    virtual_post_end(h->worker);
    h->rx[HX_N].ready = h->rx[HX_N].tail = h->rx[HX_N].head;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_input_two_outputs),
        cmocka_unit_test(two_inputs_two_outputs),
        cmocka_unit_test(departure_of_a_packet),
        cmocka_unit_test(any_sequence),
        cmocka_unit_test(a_dropped_packet_frees_its_buffer),
        cmocka_unit_test(one_injection_after_the_other),
        cmocka_unit_test(a_rested_source_makes_no_burst),
        cmocka_unit_test(the_next_credit_of_an_output_has_one_item),
        cmocka_unit_test(departures_to_other_workers_lower_the_published_window),
        cmocka_unit_test(functions_for_detours),
        cmocka_unit_test(a_packet_carries_its_wait),
        cmocka_unit_test(a_delivery_has_its_latency),
    };
    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
