/* prop_endpoint.c - endpoints over a network that loses, repeats, corrupts and reorders packets, in thousands of
 * seeded runs. Every message is received once, each byte placed once and right, and acknowledged once, also when
 * endpoints restart or cannot inject for a while. If the network is too bad for the retries, messages fail, and
 * still none arrives twice. HX_SEED chooses other runs; a failure names the seed of its run. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_loopback.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RUNS = 1500, LONG = 60000 /* turns */ };

static struct cloud cloud;

struct manner {
    unsigned turns;    /* while messages are sent */
    unsigned eager;    /* percent that an endpoint sends a message in a turn */
    unsigned restarts; /* of 1000 turns */
    unsigned mute;     /* percent of the time, endpoint by endpoint */
    unsigned largest;  /* packets */
};

static unsigned below(unsigned bound)
{
    return seeded_below(&cloud.random, bound);
}

static struct manner start(uint64_t seed, unsigned retries)
{
    uint64_t random = seed;
    uint64_t timeout_ns = (20 + seeded_below(&random, 60)) * CLOUD_TURN;
    struct hx_endpoint_config config = {.plane_set = (uint8_t)(1 + seeded_below(&random, 15)),
                                        .window = (uint8_t)(HX_PEER_WINDOW << seeded_below(&random, 3)),
                                        .sends = (uint8_t)(1 + seeded_below(&random, 24)),
                                        .epoch = 1 + seeded_below(&random, 255),
                                        .key = seed,
                                        .retries = (uint8_t)retries,
                                        .check = seeded_below(&random, 3) == 0,
                                        .job = 3,
                                        .timeout_ns = timeout_ns,
                                        .least_ns = timeout_ns / (1 + seeded_below(&random, 4)),
                                        .most_ns = timeout_ns << seeded_below(&random, 5),
                                        .unreachable_ns = 8 * timeout_ns};
    cloud_init(&cloud, 2 + seeded_below(&random, CLOUD_ENDS - 1), &config, 64, random);
    cloud.faults = (struct cloud_faults){.lose = below(2) * below(20),
                                         .repeat = below(2) * below(20),
                                         .corrupt = config.check ? below(20) : 0,
                                         .keep = below(2) * below(90)};
    return (struct manner){.turns = 20 + below(50),
                           .eager = 1 + below(30),
                           .restarts = below(3) == 0 ? 1 + below(30) : 0,
                           .mute = below(3) == 0 ? below(90) : 0,
                           .largest = below(80) == 0 ? 700 : 1 + below(8)};
}

static uint64_t draw_bytes(const struct manner *m)
{
    uint64_t packets = below(m->largest + 1);
    switch (below(4)) {
    case 0:
        return below(100);
    case 1:
        return packets * 8192;
    default:
        return packets * 8192 + below(8192);
    }
}

static void send_some(const struct manner *m)
{
    for (unsigned from = 0; from < cloud.ends; from++) {
        if (below(100) < m->eager && cloud.messages.count < CLOUD_MESSAGES)
            (void)cloud_send(&cloud, from, below(cloud.ends), draw_bytes(m));
    }
}

static void disturb(const struct manner *m)
{
    for (unsigned end = 0; end < cloud.ends; end++)
        cloud.end[end].mute = below(100) < m->mute;
    if (below(1000) < m->restarts)
        cloud_restart(&cloud, below(cloud.ends));
}

/* Sends for a while, then runs the faulty network until all messages have ended. */
static void run(const struct manner *m)
{
    for (unsigned turn = 0; turn < m->turns; turn++) {
        send_some(m);
        disturb(m);
        cloud_step(&cloud);
    }
    for (unsigned end = 0; end < cloud.ends; end++)
        cloud.end[end].mute = false;
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(messages_open(&cloud.messages), 0);
    for (unsigned end = 0; end < cloud.ends; end++) {
        const struct hx_endpoint *ep = &cloud.end[end].ep;
        assert_int_equal(ep->active, 0);
        assert_int_equal(ep->due.filled, 0);
    }
}

static void every_message_arrives_exactly_once(void **state)
{
    (void)state;
    uint64_t messages = 0, repeated = 0, forgotten = 0;
    const uint32_t runs = effort(RUNS);
    for (uint64_t n = 0; n < runs; n++) {
        lab_seed = shapes_seed() + n;
        struct manner m = start(lab_seed, 255);
        run(&m);
        messages_validate_all_through(&cloud.messages);
        messages += cloud.messages.count;
        for (unsigned end = 0; end < cloud.ends; end++)
            repeated += cloud.end[end].ep.stats.packets_repeated;
        for (unsigned i = 0; i < cloud.messages.count; i++)
            forgotten += cloud.messages.list[i].forgotten;
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(messages > 10 * runs);
    assert_true(repeated > (runs == RUNS ? 10 : 1) * runs);
    assert_true(forgotten > runs / 10);
}

/* Two or three tries, and a network that sometimes loses all: each failure has its event, and an acknowledged
 * message has arrived. */
static void a_failed_message_fails_once(void **state)
{
    (void)state;
    uint64_t failed = 0, sent = 0;
    const uint32_t runs = effort(RUNS / 4);
    for (uint64_t n = 0; n < runs; n++) {
        lab_seed = shapes_seed() + n;
        struct manner m = start(lab_seed, 1 + (unsigned)(n % 3));
        m.restarts = 0;
        cloud.faults.lose = 20 + below(60);
        run(&m);
        for (unsigned i = 0; i < cloud.messages.count; i++) {
            const struct message *message = &cloud.messages.list[i];
            assert_int_equal(message->sent + message->failed, 1);
            assert_true(message->received >= message->sent);
            failed += message->failed;
            sent += message->sent;
        }
        cloud.faults = (struct cloud_faults){0}; /* the network works again */
        for (unsigned from = 0; from < cloud.ends && cloud.messages.count < CLOUD_MESSAGES; from++) {
            int number = cloud_send(&cloud, from, 0, 3 * 8192 + 5);
            assert_true(number >= 0);
            assert_true(cloud_run(&cloud, LONG));
            assert_int_equal(cloud.messages.list[number].received + cloud.messages.list[number].sent, 2);
        }
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(failed > runs);
    assert_true(sent > runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_message_arrives_exactly_once, lab_free),
        cmocka_unit_test_teardown(a_failed_message_fails_once, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
