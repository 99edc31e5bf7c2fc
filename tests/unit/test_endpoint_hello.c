/* test_endpoint_hello.c - sessions of peers: recorded, forged and late packets change nothing, and a restart costs
 * round trips but no timeout. */
#include "siphash.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* From the paper's appendix and its reference code: key 00 01 .. 0F, message 00 01 .. 07. */
static void the_hash_is_siphash(void **state)
{
    (void)state;
    static const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0F0E0D0C0B0A0908)};
    assert_true(hx_siphash(key, UINT64_C(0x0706050403020100)) == UINT64_C(0x93F5F5799A932462));
}

static void put_rewritten(const struct cloud_frame *f, const struct hx_header *h)
{
    trial_put_back(f);
    trial_rewrite(&cloud.frame[cloud.frames - 1], h);
}

/* A copy of a packet in flight. */
static struct cloud_frame recorded(uint8_t bytes[HX_MAX_FRAME])
{
    struct cloud_frame f = cloud.frame[0];
    memcpy(bytes, f.bytes, (size_t)HX_HEADER_BYTES + f.length);
    f.bytes = bytes;
    return f;
}

/* Eight packets of other epochs, earlier and later by any count, with correct checksums, while eight messages are in
 * flight. They are dropped, the peer gets at most one hello, and every message completes. */
static void recorded_packets_of_another_epoch_fail_no_message(void **state)
{
    (void)state;
    for (unsigned kind = HX_DATA; kind <= HX_HELLO; kind++) {
        static uint8_t bytes[HX_MAX_FRAME];
        trial_start(2, 1);
        trial_hold(true);
        for (unsigned n = 0; n < HX_PEER_WINDOW; n++) {
            trial_send(0, 1, 40 * FULL);
            trial_send(1, 0, 40 * FULL);
        }
        trial_turns(8);
        struct cloud_frame f = recorded(bytes);
        trial_hold(false);
        trial_turns(6);
        struct hx_header h = trial_read(&f);
        unsigned from = h.src_addr_hi;
        uint32_t epoch = h.epoch;
        trial_watch();
        for (unsigned n = 0; n < 8; n++) {
            h.kind = (uint8_t)kind;
            h.epoch = epoch + 1 + n * UINT32_C(0x20000000);
            h.length = kind == HX_HELLO ? HX_HELLO_BYTES : kind == HX_DATA ? FULL : 0;
            h.tag = kind == HX_HELLO ? n % 2 : h.tag;
            if (kind == HX_HELLO)
                h.message = h.offset = h.message_packets = 0;
            if (kind == HX_PROBE)
                h.offset = 1;
            if (kind != HX_UNREACHABLE)
                put_rewritten(&f, &h);
        }
        trial_finish();
        assert_int_equal(cloud.end[0].ep.stats.packets_repeated + cloud.end[1].ep.stats.packets_repeated, 0);
        assert_int_equal(cloud.end[1 - from].ep.peer[from].epoch, epoch);
        assert_int_equal(cloud_drops(&cloud, 1 - from, HX_DROP_STALE), kind == HX_UNREACHABLE ? 0 : 8);
        /* Every hello is answered: with the epoch, and once with the next message number. */
        assert_in_range(gate.kinds[HX_HELLO], kind != HX_UNREACHABLE,
                        kind == HX_DATA || kind == HX_UNREACHABLE ? 2 : 4);
        lab_free(NULL);
    }
}

/* ---- a restart ---- */

static uint8_t answer_bytes[HX_MAX_FRAME];
static struct cloud_frame answer; /* last answer to end 0 */

static void record_frame(const struct cloud_frame *f)
{
    memcpy(answer_bytes, f->bytes, HX_HEADER_BYTES + HX_HELLO_BYTES);
    answer = *f;
    answer.bytes = answer_bytes;
}

static bool record_hellos(struct cloud *c, struct cloud_frame *f)
{
    if (trial_read(f).kind == HX_HELLO && f->to == 0)
        record_frame(f);
    return trial_count_and_lose(c, f);
}

/* A late hello reports an empty window and arrives again after more than a window: the message restarts, and the
 * receiver has more of it than leaves before an acknowledgement. */
static void a_late_hello_fails_no_message(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_send(0, 1, FULL);
    trial_finish();
    trial_watch();
    cloud.gate = record_hellos;
    cloud_restart(&cloud, 0);
    trial_send(0, 1, FULL);
    trial_finish();
    assert_int_equal(trial_read(&answer).tag, 1);
    unsigned number = trial_send(0, 1, 3 * HX_MESSAGE_WINDOW * FULL);
    while (trial_message(number)->placed < 2 * HX_MESSAGE_WINDOW)
        trial_turns(1);
    const struct hx_endpoint_stats *stats = &cloud.end[0].ep.stats;
    uint64_t repeated = stats->packets_repeated;
    trial_put_back(&answer);
    trial_finish();
    assert_int_equal(stats->packets_sent, 1 + 3 * HX_MESSAGE_WINDOW);
    assert_in_range(stats->packets_repeated - repeated, 1, HX_MESSAGE_WINDOW);
}

static bool record_answers(struct cloud *c, struct cloud_frame *f)
{
    static const uint8_t none[sizeof(uint64_t)];
    const uint8_t *answers = f->bytes + HX_HEADER_BYTES + sizeof none;
    if (trial_read(f).kind == HX_HELLO && f->to == 0 && memcmp(answers, none, sizeof none) != 0)
        record_frame(f);
    return trial_count_and_lose(c, f);
}

/* An answer to an earlier incarnation, with its nonce, arrives again at the next incarnation: the nonce is used up.
 * Any other nonce fails too. */
static void a_nonce_is_valid_for_one_answer(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    cloud.gate = record_answers;
    trial_send(0, 1, FULL);
    trial_finish();
    cloud_restart(&cloud, 1);
    trial_send(0, 1, FULL);
    trial_finish();
    struct cloud_frame first = answer;
    assert_non_null(first.bytes);
    uint8_t bytes[HX_HEADER_BYTES + HX_HELLO_BYTES];
    memcpy(bytes, answer_bytes, sizeof bytes);
    first.bytes = bytes;
    assert_int_equal(trial_read(&first).epoch, cloud.end[1].config.epoch);
    cloud_restart(&cloud, 1);
    trial_send(0, 1, FULL);
    trial_finish();
    assert_int_equal(cloud.end[0].ep.peer[1].epoch, cloud.end[1].config.epoch);
    for (unsigned i = 0; i < 70; i++) {
        struct hx_header h = trial_read(&first);
        trial_put_back(&first);
        if (i < 64)
            cloud.frame[cloud.frames - 1].bytes[HX_HEADER_BYTES + 8 + i / 8] ^= (uint8_t)(1U << i % 8);
        trial_rewrite(&cloud.frame[cloud.frames - 1], &h);
        trial_turns(2);
        assert_int_equal(cloud.end[0].ep.peer[1].epoch, cloud.end[1].config.epoch);
    }
    trial_send(0, 1, 30 * FULL);
    trial_finish();
}

/* Either end restarts, and either sends: everything arrives in less than a timeout. */
static void a_restart_costs_round_trips(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 6; which++) {
        trial_start(2, 1);
        trial_send(0, 1, 5);
        trial_send(1, 0, 5);
        trial_finish();
        if (which & 1) /* in the middle of a message to the restarting end */
            trial_send(0, 1, 40 * FULL);
        trial_turns(which & 1 ? 5 : 0);
        cloud_restart(&cloud, 1);
        if (which != 1)
            trial_send(1, 0, 20 * FULL);
        if (which == 4)
            trial_send(0, 1, 20 * FULL);
        assert_true(cloud_run(&cloud, TIMEOUT_TURNS - 5));
        messages_validate_all_through(&cloud.messages);
        assert_int_equal(cloud.end[0].ep.stats.probes_sent + cloud.end[1].ep.stats.probes_sent, 0);
        lab_free(NULL);
    }
}

/* A silent peer gets one hello per eighth of a timeout, for any number of packets. */
static void hellos_are_rare(void **state)
{
    (void)state;
    static uint8_t bytes[HX_MAX_FRAME];
    trial_start(2, 1);
    trial_send(0, 1, 10);
    trial_finish();
    trial_hold(true);
    trial_send(0, 1, 10);
    trial_turns(3);
    struct cloud_frame f = recorded(bytes);
    trial_hold(false);
    trial_finish();
    struct hx_header h = trial_read(&f);
    trial_watch();
    gate.lose_kind = HX_HELLO;
    gate.lose_first = UINT32_MAX;
    enum { TURNS = 400 };
    for (unsigned n = 0; n < TURNS; n++) {
        h.epoch = 1000 + n;
        put_rewritten(&f, &h);
        trial_turns(1);
    }
    assert_in_range(gate.kinds[HX_HELLO], TURNS * 8 / TIMEOUT_TURNS / 2, TURNS * 8 / TIMEOUT_TURNS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_siphash),
        cmocka_unit_test_teardown(recorded_packets_of_another_epoch_fail_no_message, lab_free),
        cmocka_unit_test_teardown(a_late_hello_fails_no_message, lab_free),
        cmocka_unit_test_teardown(a_nonce_is_valid_for_one_answer, lab_free),
        cmocka_unit_test_teardown(a_restart_costs_round_trips, lab_free),
        cmocka_unit_test_teardown(hellos_are_rare, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
