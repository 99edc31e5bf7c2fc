/* prop_in_order.c - messages that arrive in any possible order are delivered in the order of their sending, each
 * once and complete. If messages fail or an endpoint restarts, no message is held for ever. */
#include "tests/support/support_seed.h"
#include "workload/in_order.h"

#include <string.h>

enum { MESSAGES = 200, RUNS = 40, LOG = 2 * MESSAGES };

/* A message in flight, with its placed packets. */
struct flight {
    uint32_t number, tag, bytes;
    unsigned packets, placed;
    bool used;
};

struct world {
    uint64_t random;
    struct in_order order;
    struct flight flight[HX_PEER_WINDOW];
    uint32_t sent, sequence;
    uint8_t life;
    uint32_t log[LOG]; /* numbers, as delivered */
    unsigned logged;
    bool given_up[MESSAGES];
};

/* Byte at an offset of a message, which identifies the message by itself. */
static uint8_t byte_of(uint32_t number, uint32_t at)
{
    return (uint8_t)(at < 4 ? number >> at * 8 : number * 31 + at * 7 + (at >> 8));
}

static void take(void *of, const uint8_t *data, uint32_t bytes)
{
    struct world *w = of;
    uint32_t number;
    assert_true(bytes >= 4);
    memcpy(&number, data, sizeof number);
    for (uint32_t at = 0; at < bytes; at++)
        assert_int_equal(data[at], byte_of(number, at));
    assert_true(w->logged < LOG);
    w->log[w->logged++] = number;
}

/* A window of four: number n is sent when n - 4 has ended. */
static void send_one(struct world *w)
{
    struct flight *f = &w->flight[w->sent % HX_PEER_WINDOW];
    if (w->sent == MESSAGES || f->used)
        return;
    uint32_t bytes =
        4 + seeded_below(&w->random, seeded_below(&w->random, 2) ? 2000 : IN_ORDER_PACKETS * HX_MAX_PAYLOAD - 4);
    *f = (struct flight){.number = w->sent++,
                         .tag = in_order_tag(w->life, w->sequence++),
                         .bytes = bytes,
                         .packets = (bytes + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD,
                         .used = true};
}

static struct flight *any_flight(struct world *w)
{
    struct flight *f = &w->flight[seeded_below(&w->random, HX_PEER_WINDOW)];
    return f->used ? f : NULL;
}

/* A random packet of a random message arrives; the last one completes the message. */
static void place_one(struct world *w)
{
    const struct in_order_out to = {.give = take, .of = w};
    struct flight *f = any_flight(w);
    if (!f)
        return;
    unsigned offset = seeded_below(&w->random, f->packets);
    while (f->placed >> offset & 1U)
        offset = (offset + 1) % f->packets;
    uint32_t at = offset * HX_MAX_PAYLOAD;
    uint8_t payload[HX_MAX_PAYLOAD];
    uint32_t length = f->bytes - at < HX_MAX_PAYLOAD ? f->bytes - at : HX_MAX_PAYLOAD;
    const struct hx_header h = {
        .tag = f->tag, .offset = offset, .message_packets = f->packets, .length = (uint16_t)length};
    for (uint32_t i = 0; i < length; i++)
        payload[i] = byte_of(f->number, at + i);
    assert_true(in_order_place(&w->order, &h, payload, &to));
    f->placed |= 1U << offset;
    if (f->placed != (1U << f->packets) - 1)
        return;
    if (f->packets > 1)
        in_order_received(&w->order, f->tag, f->bytes, &to);
    f->used = false;
}

static void give_up_one(struct world *w)
{
    struct flight *f = any_flight(w);
    if (!f)
        return;
    w->given_up[f->number] = true;
    f->used = false;
    w->life++;
    w->sequence = 0;
}

static bool is_over(const struct world *w)
{
    bool any = w->sent < MESSAGES;
    for (unsigned i = 0; i < HX_PEER_WINDOW; i++)
        any = any || w->flight[i].used;
    return !any;
}

/* given_up_in: one of this many steps fails a message; 0: none. */
static void run(struct world *w, unsigned given_up_in)
{
    while (!is_over(w)) {
        send_one(w);
        place_one(w);
        if (given_up_in && seeded_below(&w->random, given_up_in) == 0)
            give_up_one(w);
    }
}

static void in_the_order_they_were_sent(void **state)
{
    (void)state;
    static struct world w;
    for (seeded_run = seeded_by(1); seeded_run <= seeded_by(1) + RUNS; seeded_run++) {
        w = (struct world){.random = seeded_run, .life = (uint8_t)seeded_run};
        if (seeded_run % 3 == 0) { /* the sequence wraps */
            w.sequence = IN_ORDER_SEQUENCE - MESSAGES / 2;
            w.order = (struct in_order){.met = true, .life = w.life, .next = w.sequence};
        }
        run(&w, 0);
        assert_int_equal(w.logged, MESSAGES);
        for (uint32_t i = 0; i < MESSAGES; i++)
            assert_int_equal(w.log[i], i);
        in_order_free(&w.order);
    }
    seeded_run = 0;
}

/* Complete messages are delivered once, and in order except around a restart, whatever fails. */
static void failed_messages_delay_no_others(void **state)
{
    (void)state;
    static struct world w;
    for (seeded_run = seeded_by(1); seeded_run <= seeded_by(1) + RUNS; seeded_run++) {
        unsigned times[MESSAGES] = {0};
        unsigned missing = 0;
        unsigned given_up = 0;
        w = (struct world){.random = seeded_run};
        run(&w, 40);
        for (unsigned i = 0; i < w.logged; i++)
            times[w.log[i]]++;
        for (uint32_t i = 0; i < MESSAGES; i++) {
            assert_true(times[i] <= 1);
            missing += times[i] == 0 && !w.given_up[i];
            given_up += w.given_up[i];
        }
        /* A failed message takes at most the others in flight with it. */
        assert_true(missing <= given_up * (HX_PEER_WINDOW - 1));
        in_order_free(&w.order);
    }
    seeded_run = 0;
}

/* A receiver restarts in the middle: later messages arrive in order, except those that its earlier incarnation
 * acknowledged. */
static void a_restarted_receiver_continues(void **state)
{
    (void)state;
    static struct world w;
    for (seeded_run = seeded_by(1); seeded_run <= seeded_by(1) + RUNS; seeded_run++) {
        w = (struct world){.random = seeded_run};
        while (w.sent < MESSAGES / 2) {
            send_one(&w);
            place_one(&w);
        }
        in_order_free(&w.order);
        for (unsigned i = 0; i < HX_PEER_WINDOW; i++)
            w.flight[i].placed = 0; /* the endpoint restarts them, too */
        unsigned before = w.logged;
        run(&w, 0);
        unsigned after = w.logged - before;
        assert_true(after >= MESSAGES / 2 - HX_PEER_WINDOW);
        assert_int_equal(w.log[w.logged - 1], MESSAGES - 1);
        for (unsigned i = before + 2 * HX_PEER_WINDOW; i < w.logged; i++)
            assert_int_equal(w.log[i], w.log[i - 1] + 1);
        in_order_free(&w.order);
    }
    seeded_run = 0;
}

static void forged_messages_are_refused(void **state)
{
    (void)state;
    const uint8_t payload[HX_MAX_PAYLOAD] = {0};
    struct world w = {.logged = 0};
    const struct in_order_out to = {.give = take, .of = &w};
    const struct hx_header none = {.message_packets = 0};
    const struct hx_header long_one = {.message_packets = IN_ORDER_PACKETS + 1};
    const struct hx_header beyond = {.message_packets = 2, .offset = 2};
    assert_false(in_order_place(&w.order, &none, payload, &to));
    assert_false(in_order_place(&w.order, &long_one, payload, &to));
    assert_false(in_order_place(&w.order, &beyond, payload, &to));
    in_order_received(&w.order, 5, 100000, &to); /* without any arrival */
    assert_int_equal(w.logged, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(in_the_order_they_were_sent, seeded_report),
        cmocka_unit_test_teardown(failed_messages_delay_no_others, seeded_report),
        cmocka_unit_test_teardown(a_restarted_receiver_continues, seeded_report),
        cmocka_unit_test(forged_messages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
