/* test_endpoint.c - the endpoint, promise by promise (endpoint.h), over a network that does what the test says. */
#include "hxmesh/error.h"
#include "tests/property/support_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { JOB = 9, TIMEOUT_TURNS = 50, RETRIES = 5, FULL = 8192, LONG = 100000 /* turns */ };

static struct cloud cloud;

static struct hx_endpoint_config config_of(unsigned planes)
{
    return (struct hx_endpoint_config){.planes = (uint8_t)planes,
                                       .sends = 8,
                                       .epoch = 1,
                                       .retries = RETRIES,
                                       .check = true,
                                       .job = JOB,
                                       .timeout_ns = TIMEOUT_TURNS * CLOUD_TURN};
}

static void start(unsigned ends, unsigned planes)
{
    struct hx_endpoint_config config = config_of(planes);
    cloud_init(&cloud, ends, &config, LOOPBACK_MAX_BLOCKS, 1);
}

static unsigned send(unsigned from, unsigned to, uint64_t bytes)
{
    int number = cloud_send(&cloud, from, to, bytes);
    assert_true(number >= 0);
    return (unsigned)number;
}

static const struct message *message(unsigned number)
{
    return &cloud.messages.list[number];
}

static void turns(unsigned count)
{
    while (count-- > 0)
        cloud_step(&cloud);
}

static void run_to_the_end(void)
{
    assert_true(cloud_run(&cloud, LONG));
    messages_judge_all_through(&cloud.messages);
}

/* ---- gates ---- */

static struct hx_header read(const struct cloud_frame *f)
{
    struct hx_header h;
    assert_int_equal(hx_frame_decode(&h, f->bytes, (size_t)HX_HEADER_BYTES + f->length), HX_OK);
    return h;
}

/* What the gates of the tests count and do. */
static struct {
    unsigned kinds[4];      /* packets that entered, by kind */
    unsigned offsets[4096]; /* data packets, by offset */
    unsigned planes[HX_MAX_PLANES];
    unsigned lose_kind;
    unsigned lose_first;      /* so many of that kind */
    unsigned lose_to;         /* only those to this end; CLOUD_ENDS: to any */
    unsigned lose_below;      /* only those below this offset */
    unsigned astray;          /* data goes to this end instead; CLOUD_ENDS: it does not */
    bool dead[HX_MAX_PLANES]; /* the plane loses everything */
    uint8_t kept[HX_MAX_FRAME];
    struct cloud_frame copy; /* the first acknowledgement */
    bool withholds;          /* data packet 0, until it is put back */
    uint8_t late[HX_MAX_FRAME];
    struct cloud_frame withheld;
} gate;

static bool count_and_lose(struct cloud *c, struct cloud_frame *f)
{
    (void)c;
    struct hx_header h = read(f);
    gate.kinds[h.kind]++;
    gate.planes[f->plane]++;
    if (h.kind == HX_DATA)
        gate.offsets[h.offset % 4096]++;
    if (h.kind == HX_ACK && !gate.copy.bytes) {
        memcpy(gate.kept, f->bytes, sizeof gate.kept);
        gate.copy = *f;
        gate.copy.bytes = gate.kept;
    }
    if (gate.withholds && h.kind == HX_DATA && h.offset == 0) {
        gate.withholds = false;
        memcpy(gate.late, f->bytes, sizeof gate.late);
        gate.withheld = *f;
        gate.withheld.bytes = gate.late;
        return false;
    }
    if (h.kind == HX_DATA && gate.astray != CLOUD_ENDS)
        f->to = gate.astray;
    if (gate.dead[f->plane])
        return false;
    if (h.kind != gate.lose_kind || gate.lose_first == 0 || h.offset >= gate.lose_below ||
        (gate.lose_to != CLOUD_ENDS && gate.lose_to != f->to))
        return true;
    gate.lose_first--;
    return false;
}

static void watch(void)
{
    memset(&gate, 0, sizeof gate);
    gate.lose_to = gate.astray = CLOUD_ENDS;
    gate.lose_below = UINT32_MAX;
    cloud.gate = count_and_lose;
}

/* Nothing leaves the network any more, or all does. */
static void hold(bool yes)
{
    cloud.faults.keep = yes ? 100 : 0;
}

static void put_back(const struct cloud_frame *f)
{
    struct cloud_frame *to = &cloud.frame[cloud.frames++];
    memcpy(to->bytes, f->bytes, (size_t)HX_HEADER_BYTES + f->length);
    to->length = f->length;
    to->plane = f->plane;
    to->to = f->to;
}

/* ---- cutting and placing ---- */

static void a_message_is_cut_into_packets(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0,
                                     1,
                                     255,
                                     8191,
                                     8192,
                                     8193,
                                     2 * FULL,
                                     16383,
                                     2 * FULL + 1,
                                     63 * FULL + 5,
                                     64 * FULL,
                                     65 * FULL,
                                     511 * FULL,
                                     512 * FULL,
                                     512 * FULL + 1,
                                     600 * FULL - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        start(2, 1);
        watch();
        unsigned number = send(0, 1, sizes[i]);
        run_to_the_end();
        unsigned packets = sizes[i] ? (unsigned)((sizes[i] + FULL - 1) / FULL) : 1;
        assert_int_equal(message(number)->packets, packets);
        assert_int_equal(gate.kinds[HX_DATA], packets); /* none twice */
        for (unsigned p = 0; p < packets; p++)
            assert_int_equal(gate.offsets[p], 1);
        assert_int_equal(cloud.messages.placed_bytes, sizes[i]);
        const struct hx_endpoint_stats *sender = &cloud.end[0].ep.stats, *receiver = &cloud.end[1].ep.stats;
        assert_int_equal(sender->packets_sent, packets);
        assert_int_equal(sender->packets_repeated, 0);
        assert_int_equal(sender->messages_sent, 1);
        assert_int_equal(receiver->packets_delivered, packets);
        assert_int_equal(receiver->bytes_delivered, sizes[i]);
        assert_int_equal(receiver->messages_received, 1);
        assert_int_equal(receiver->acks_sent, gate.kinds[HX_ACK]);
        lab_free(NULL);
    }
}

static void packets_are_placed_in_any_order(void **state)
{
    (void)state;
    for (unsigned backwards = 0; backwards < 2; backwards++) {
        start(2, 2);
        hold(true);
        unsigned number = send(0, 1, 300 * FULL + 77);
        turns(100);
        assert_int_equal(cloud.frames, 301);
        for (unsigned i = 0; backwards && i < cloud.frames / 2; i++) {
            struct cloud_frame f = cloud.frame[i];
            cloud.frame[i] = cloud.frame[cloud.frames - 1 - i];
            cloud.frame[cloud.frames - 1 - i] = f;
        }
        hold(false);
        run_to_the_end();
        assert_int_equal(message(number)->placed, 301);
        lab_free(NULL);
    }
}

static void a_message_to_oneself_arrives(void **state)
{
    (void)state;
    start(2, 1);
    send(1, 1, 5 * FULL + 9);
    send(1, 1, 0);
    run_to_the_end();
}

/* ---- windows ---- */

static void at_most_512_packets_are_ahead(void **state)
{
    (void)state;
    start(2, 4);
    watch();
    hold(true);
    send(0, 1, 2000 * FULL);
    turns(TIMEOUT_TURNS - 2);
    assert_int_equal(gate.kinds[HX_DATA], 512);
    /* All but packet 0 arrive: what is beyond 511 has to wait for it. */
    for (unsigned i = 0; i < cloud.frames; i++) {
        if (read(&cloud.frame[i]).offset == 0) {
            struct cloud_frame last = cloud.frame[--cloud.frames];
            cloud.frame[cloud.frames] = cloud.frame[i];
            cloud.frame[i] = last;
        }
    }
    hold(false);
    turns(20);
    assert_int_equal(gate.kinds[HX_DATA], 512);
    gate.lose_kind = HX_DATA;
    gate.lose_first = gate.lose_below = 1; /* packet 0 is lost once more; still nothing beyond the window goes out */
    run_to_the_end();
    assert_true(gate.offsets[0] >= 3);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_UNEXPECTED), 0);
}

/* Packet 0 comes after all others of the window: nothing more was on its way that would have been acknowledged. */
static void a_late_packet_moves_the_window_at_once(void **state)
{
    (void)state;
    start(2, 4);
    watch();
    gate.withholds = true;
    send(0, 1, 600 * FULL);
    turns(TIMEOUT_TURNS - 2);
    assert_int_equal(gate.kinds[HX_DATA], 512);
    put_back(&gate.withheld);
    turns(10);
    assert_int_equal(gate.kinds[HX_DATA], 600);
    run_to_the_end();
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

/* As many messages as the window has, and not one more, until the first is acknowledged. */
static void few_messages_of_a_pair_are_under_way(void **state)
{
    (void)state;
    start(3, 1);
    watch();
    hold(true);
    for (unsigned to = 1; to <= 2; to++) {
        for (unsigned n = 0; n < HX_PEER_WINDOW; n++)
            send(0, to, 5 + n);
        assert_int_equal(cloud_send(&cloud, 0, to, 7), HX_E_BUSY);
    }
    turns(3);
    assert_int_equal(gate.kinds[HX_DATA], 2 * HX_PEER_WINDOW);
    hold(false);
    turns(5);
    send(0, 1, 7);
    run_to_the_end();
    assert_int_equal(cloud.messages.count, 2 * HX_PEER_WINDOW + 1);
}

static void all_sends_may_be_taken(void **state)
{
    (void)state;
    struct hx_endpoint_config config = config_of(1);
    config.sends = 3;
    cloud_init(&cloud, 4, &config, LOOPBACK_MAX_BLOCKS, 1);
    for (unsigned to = 1; to < 4; to++)
        send(0, to, 100);
    assert_int_equal(cloud_send(&cloud, 0, 1, 100), HX_E_BUSY);
    run_to_the_end();
    send(0, 1, 100);
    run_to_the_end();
}

static void what_is_out_of_range_is_refused(void **state)
{
    (void)state;
    start(2, 1);
    struct hx_endpoint *ep = &cloud.end[0].ep;
    assert_int_equal(hx_endpoint_send(ep, 2, 0, 1, 0, 0), HX_E_RANGE);
    assert_int_equal(hx_endpoint_send(ep, 0, 1, 1, 0, 0), HX_E_RANGE);
    assert_int_equal(hx_endpoint_send(ep, 1, 0, ((uint64_t)1 << 32) * FULL, 0, 0), HX_E_RANGE);
    assert_true(hx_endpoint_idle(ep));
    struct hx_endpoint other;
    for (unsigned field = 0; field < 9; field++) {
        struct hx_endpoint_config c = cloud.end[0].config;
        switch (field) {
        case 0:
            c.gx = 2;
            break;
        case 1:
            c.gy = 1;
            break;
        case 2:
            c.planes = 0;
            break;
        case 3:
            c.planes = 5;
            break;
        case 4:
            c.sends = 0;
            break;
        case 5:
            c.sends = 65;
            break;
        case 6:
            c.epoch = 0;
            break;
        case 7:
            c.timeout_ns = 0;
            break;
        default:
            assert_int_equal(hx_endpoint_init(&other, &c, &cloud.end[0].hal, cloud.end[0].memory), HX_OK);
            continue;
        }
        assert_int_equal(hx_endpoint_init(&other, &c, &cloud.end[0].hal, cloud.end[0].memory), HX_E_RANGE);
    }
}

/* ---- losses and repetitions ---- */

static void lost_data_is_sent_again(void **state)
{
    (void)state;
    for (unsigned lost = 1; lost <= 200; lost += 33) {
        start(2, 1);
        watch();
        gate.lose_kind = HX_DATA;
        gate.lose_first = lost;
        send(0, 1, 200 * FULL);
        run_to_the_end();
        assert_int_equal(gate.kinds[HX_DATA], 200 + cloud.end[0].ep.stats.packets_repeated);
        assert_true(cloud.end[0].ep.stats.packets_repeated >= lost);
        lab_free(NULL);
    }
}

/* An acknowledgement names what is there beyond a gap; only the gap is filled. */
static void only_what_is_missing_is_sent_again(void **state)
{
    (void)state;
    start(2, 1);
    watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = 3;
    send(0, 1, 3 * FULL + 64 * FULL); /* the last 64 are acknowledged, the first three are not */
    run_to_the_end();
    for (unsigned p = 0; p < 67; p++)
        assert_int_equal(gate.offsets[p], p < 3 ? 2 : 1);
}

static void lost_acknowledgements_do_no_harm(void **state)
{
    (void)state;
    for (unsigned lost = 1; lost < RETRIES; lost++) {
        start(2, 1);
        watch();
        gate.lose_kind = HX_ACK;
        gate.lose_first = lost;
        send(0, 1, 3 * FULL);
        run_to_the_end();
        assert_int_equal(cloud.end[1].ep.stats.messages_received, 1);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_DUPLICATE), 3 * lost);
        lab_free(NULL);
    }
}

static void packets_that_come_twice_are_placed_once(void **state)
{
    (void)state;
    start(2, 1);
    cloud.faults.repeat = 50;
    for (unsigned i = 0; i < 20; i++) {
        send(0, 1, 9 * FULL + i);
        send(1, 0, i);
        run_to_the_end();
    }
    assert_true(cloud_drops(&cloud, 1, HX_DROP_DUPLICATE) + cloud_drops(&cloud, 1, HX_DROP_STALE) > 50);
}

/* The acknowledgement of a message comes again when another message has its slot, and later numbers are under way. */
static void stale_acknowledgements_are_nobodys(void **state)
{
    (void)state;
    start(2, 1);
    watch();
    send(0, 1, 2 * FULL);
    run_to_the_end();
    struct cloud_frame old = gate.copy;
    assert_non_null(old.bytes);
    for (unsigned i = 0; i < 6; i++) {
        hold(true);
        unsigned third = send(0, 1, 2 * FULL);
        turns(3);
        put_back(&old);
        hold(false);
        cloud.frames = 0; /* the data is lost, the old acknowledgement arrives */
        put_back(&old);
        turns(3);
        assert_int_equal(message(third)->sent, 0);
        run_to_the_end();
    }
}

/* Older acknowledgements of the same message come late: what is known to be there stays known. */
static void reordered_acknowledgements_are_taken_together(void **state)
{
    (void)state;
    start(2, 1);
    watch();
    cloud.faults.keep = 80;
    send(0, 1, 500 * FULL);
    turns(TIMEOUT_TURNS - 2);
    cloud.faults.keep = 0;
    run_to_the_end();
    assert_true(gate.kinds[HX_ACK] >= 7);
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

static void acknowledgements_come_every_64_packets(void **state)
{
    (void)state;
    start(2, 1);
    watch();
    send(0, 1, 640 * FULL);
    run_to_the_end();
    assert_in_range(gate.kinds[HX_ACK], 10, 11);
}

static void a_corrupted_packet_is_dropped_and_repaired(void **state)
{
    (void)state;
    start(2, 1);
    hold(true);
    unsigned number = send(0, 1, 3 * FULL);
    turns(3);
    for (unsigned i = 0; i < 3; i++)
        cloud.frame[i].bytes[HX_HEADER_BYTES + 1000 * i] ^= 0x10;
    hold(false);
    turns(5);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_CHECKSUM), 3);
    assert_int_equal(message(number)->placed, 0);
    run_to_the_end();
}

static void without_the_check_no_checksum_is_asked_for(void **state)
{
    (void)state;
    struct hx_endpoint_config config = config_of(1);
    config.check = false;
    cloud_init(&cloud, 2, &config, LOOPBACK_MAX_BLOCKS, 1);
    hold(true);
    send(0, 1, FULL);
    turns(3);
    assert_int_equal(read(&cloud.frame[0]).crc, 0);
    hold(false);
    run_to_the_end();
}

/* ---- who has no business here ---- */

static void rewrite(struct cloud_frame *f, const struct hx_header *h)
{
    hx_frame_encode(f->bytes, h);
    hx_frame_set_crc(f->bytes, hx_frame_crc(f->bytes, h->length));
}

static void packets_that_do_not_belong_are_dropped_by_reason(void **state)
{
    (void)state;
    start(3, 1);
    hold(true);
    unsigned number = send(0, 1, 3 * FULL);
    turns(3);
    struct hx_header good = read(&cloud.frame[0]);
    struct hx_header h = good;
    h.job++;
    rewrite(&cloud.frame[0], &h); /* of another job */
    h = read(&cloud.frame[1]);
    h.epoch = 0;
    rewrite(&cloud.frame[1], &h);
    h = read(&cloud.frame[2]);
    h.src_gx = 3; /* from outside the fabric */
    rewrite(&cloud.frame[2], &h);
    hold(false);
    turns(5);
    assert_int_equal(message(number)->placed, 0);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_FOREIGN_JOB), 1);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_MALFORMED), 2);
    run_to_the_end();
}

static void headers_that_fit_no_message_are_unexpected(void **state)
{
    (void)state;
    start(2, 1);
    hold(true);
    send(0, 1, 3 * FULL);
    turns(3);
    struct cloud_frame f = cloud.frame[2];
    struct hx_header h = read(&f);
    put_back(&f);
    h.message_packets = 5; /* the first said 3 */
    h.length = FULL;
    rewrite(&cloud.frame[3], &h);
    put_back(&f);
    h.message_packets = 3;
    h.kind = HX_ACK;
    h.offset = 2; /* of a message that was never sent that far */
    h.length = 100;
    rewrite(&cloud.frame[4], &h);
    hold(false);
    run_to_the_end();
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_UNEXPECTED), 1);

    /* An acknowledgement of more than was sent, while the message is under way. */
    hold(true);
    send(0, 1, 600 * FULL);
    turns(120);
    struct hx_header ack = {
        .kind = HX_ACK, .job = JOB, .message = 1, .offset = 550, .message_packets = 600, .epoch = 1};
    ack.src_gx = 1;
    ack.peer_epoch = 1;
    cloud.frames = 1;
    cloud.frame[0].length = 0;
    cloud.frame[0].to = 0;
    rewrite(&cloud.frame[0], &ack);
    hold(false);
    turns(3);
    assert_int_equal(cloud_drops(&cloud, 0, HX_DROP_UNEXPECTED), 1);
    run_to_the_end();
}

/* ---- restarts ---- */

static void a_receiver_restarts_in_the_middle(void **state)
{
    (void)state;
    for (unsigned when = 1; when < 60; when += 4) {
        start(2, 1);
        send(0, 1, 100 * FULL + 3);
        send(0, 1, 40 * FULL);
        turns(when);
        cloud_restart(&cloud, 1);
        run_to_the_end();
        send(0, 1, 7);
        send(1, 0, 9);
        run_to_the_end();
        lab_free(NULL);
    }
}

static void a_sender_restarts_in_the_middle(void **state)
{
    (void)state;
    for (unsigned when = 1; when < 60; when += 4) {
        start(2, 1);
        send(0, 1, 100 * FULL + 3);
        send(0, 1, 40 * FULL);
        turns(when);
        cloud_restart(&cloud, 0);
        send(0, 1, 90 * FULL);
        send(0, 1, 30 * FULL);
        run_to_the_end();
        send(1, 0, 9);
        run_to_the_end();
        lab_free(NULL);
    }
}

static void both_restart_in_the_middle(void **state)
{
    (void)state;
    for (unsigned when = 1; when < 40; when += 3) {
        start(2, 2);
        send(0, 1, 100 * FULL + 3);
        send(1, 0, 80 * FULL);
        turns(when);
        cloud_restart(&cloud, 0);
        cloud_restart(&cloud, 1);
        send(0, 1, 90 * FULL);
        send(1, 0, 30 * FULL);
        run_to_the_end();
        lab_free(NULL);
    }
}

static void epochs_wrap(void **state)
{
    (void)state;
    start(2, 1);
    for (unsigned life = 0; life < 600; life++) {
        send(0, 1, FULL + life);
        run_to_the_end();
        send(1, 0, life);
        turns(life % 4);
        cloud_restart(&cloud, life % 2);
        if (cloud.messages.count + 2 > CLOUD_MESSAGES)
            cloud.messages.count = 0;
        run_to_the_end();
    }
}

/* What a former life sent arrives now. */
static void packets_of_a_former_life_are_stale(void **state)
{
    (void)state;
    start(2, 1);
    hold(true);
    unsigned old = send(0, 1, 3 * FULL);
    turns(3);
    assert_int_equal(cloud.frames, 3);
    cloud_restart(&cloud, 0);
    unsigned new = send(0, 1, 2 * FULL);
    turns(4);
    assert_int_equal(cloud.frames, 5);
    for (unsigned i = 0; i < 2; i++) { /* the new ones first */
        struct cloud_frame f = cloud.frame[i];
        cloud.frame[i] = cloud.frame[3 + i];
        cloud.frame[3 + i] = f;
    }
    hold(false);
    run_to_the_end();
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_STALE), 3);
    assert_int_equal(message(old)->placed, 0);
    assert_int_equal(message(new)->received, 1);
}

/* B has all of A's message, cannot say so, and A begins anew: its new message of that number has not come yet, so the
 * acknowledgement that still waits must not speak for it. */
static void an_acknowledgement_for_a_former_life_is_not_sent(void **state)
{
    (void)state;
    start(2, 1);
    cloud.end[1].mute = true;
    unsigned old = send(0, 1, 10);
    turns(4);
    assert_int_equal(message(old)->received, 1);
    cloud_restart(&cloud, 0);
    watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = 1; /* the new message 0; its successor tells B of the restart */
    unsigned first = send(0, 1, 20);
    unsigned second = send(0, 1, 30);
    turns(4);
    assert_int_equal(message(second)->received, 1);
    cloud.end[1].mute = false;
    turns(6);
    assert_int_equal(message(first)->sent, 0);
    run_to_the_end();
    assert_int_equal(message(first)->received, 1);
}

/* B restarts; the first packet it hears is one for its former life. What follows is the message all the same. */
static void a_tag_survives_a_restart_of_the_receiver(void **state)
{
    (void)state;
    start(2, 1);
    send(1, 0, 1); /* A knows B's epoch from now on */
    run_to_the_end();
    for (unsigned i = 0; i < 3; i++)
        (void)send(0, 1, 6 * FULL + i), run_to_the_end();
    hold(true);
    unsigned number = send(0, 1, 9 * FULL); /* the judge knows messages by their tag */
    turns(4);
    cloud_restart(&cloud, 1);
    hold(false);
    run_to_the_end();
    assert_int_equal(message(number)->received, 1);
    assert_true(cloud_drops(&cloud, 1, HX_DROP_STALE) > 0);
}

/* ---- no way ---- */

static void a_peer_that_never_answers_is_given_up(void **state)
{
    (void)state;
    start(3, 1);
    watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = UINT32_MAX;
    gate.lose_to = 1;
    unsigned lost = send(0, 1, 10);
    unsigned fine = send(0, 2, 10);
    turns(TIMEOUT_TURNS - 2);
    assert_int_equal(gate.kinds[HX_DATA], 2);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(gate.kinds[HX_DATA], 2 + RETRIES);
    assert_int_equal(message(lost)->failed, 1);
    assert_int_equal(cloud.end[0].last_error, HX_E_UNREACHABLE);
    assert_int_equal(message(fine)->sent, 1);
    assert_int_equal(cloud.end[0].ep.stats.messages_failed, 1);

    gate.lose_first = 0;
    unsigned again = send(0, 1, 20);
    unsigned more = send(0, 1, 30);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(message(again)->received + message(again)->sent, 2);
    assert_int_equal(message(more)->received + message(more)->sent, 2);
}

/* Half of a message came, the sender gave up; the next message of the slot takes its place. */
static void a_message_given_up_leaves_no_trace(void **state)
{
    (void)state;
    start(2, 1);
    watch();
    gate.lose_kind = HX_DATA;
    send(0, 1, 1);
    send(0, 1, 1);
    run_to_the_end();
    hold(true);
    unsigned lost = send(0, 1, 10 * FULL);
    turns(8);
    cloud.frames = 4;
    gate.lose_first = UINT32_MAX;
    hold(false);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(message(lost)->failed, 1);
    assert_int_equal(message(lost)->placed, 4);
    gate.lose_first = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned next = send(0, 1, 7 * FULL);
        assert_true(cloud_run(&cloud, LONG));
        assert_int_equal(message(next)->received + message(next)->sent, 2);
    }
}

/* Where a packet finds no way on, the accelerator's endpoint gets it and tells the sender, who is silent until its next
 * try. `at`: where that is. */
static void judge_unreachable(unsigned at)
{
    start(3, 1);
    watch();
    gate.astray = at;
    unsigned number = send(0, 1, 900 * FULL);
    turns(20);
    assert_int_equal(message(number)->placed, 0);
    unsigned tried = gate.kinds[HX_DATA];
    assert_true(tried > 0 && tried < 500);
    assert_int_equal(cloud_drops(&cloud, at, HX_DROP_UNREACHABLE), tried);
    assert_int_equal(gate.kinds[HX_UNREACHABLE], at == 0 ? 0 : tried);
    turns(TIMEOUT_TURNS - 25);
    assert_int_equal(gate.kinds[HX_DATA], tried);
    turns(20);
    assert_true(gate.kinds[HX_DATA] > tried); /* the next try */
    gate.astray = CLOUD_ENDS;                 /* there is a way again */
    run_to_the_end();
    lab_free(NULL);

    start(3, 1);
    watch();
    gate.astray = at;
    number = send(0, 1, 10);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(gate.kinds[HX_DATA], 1 + RETRIES);
    assert_int_equal(message(number)->failed, 1);
    assert_int_equal(cloud.end[0].last_error, HX_E_UNREACHABLE);
    lab_free(NULL);
}

static void a_packet_without_a_way_is_reported_to_its_sender(void **state)
{
    (void)state;
    judge_unreachable(2);
    judge_unreachable(0); /* its own switch finds no way */
}

/* An acknowledgement that finds no way is not reported: reports about reports would never end. */
static void only_data_is_reported(void **state)
{
    (void)state;
    start(3, 1);
    hold(true);
    send(0, 1, 10);
    turns(3);
    struct cloud_frame f = cloud.frame[0];
    struct hx_header h = read(&f);
    put_back(&f);
    h.kind = HX_ACK;
    h.length = 0;
    rewrite(&cloud.frame[1], &h);
    cloud.frame[1].length = 0;
    cloud.frame[1].to = 2;
    watch();
    hold(false);
    turns(4);
    assert_int_equal(cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE), 1);
    assert_int_equal(gate.kinds[HX_UNREACHABLE], 0);
    run_to_the_end();
}

/* ---- planes ---- */

static void planes_share_the_packets(void **state)
{
    (void)state;
    for (unsigned planes = 1; planes <= HX_MAX_PLANES; planes++) {
        start(2, planes);
        watch();
        send(0, 1, 400 * FULL);
        run_to_the_end();
        for (unsigned plane = 0; plane < planes; plane++)
            assert_in_range(gate.planes[plane], 360 / planes, 480 / planes);
        lab_free(NULL);
    }
}

/* A plane is dead, and nobody told the endpoint: its packets vanish, and it always has room. Short messages get through
 * as well, and so do their acknowledgements. */
static void a_dead_plane_stops_no_message(void **state)
{
    (void)state;
    for (unsigned dead = 0; dead < HX_MAX_PLANES; dead++) {
        start(2, HX_MAX_PLANES);
        watch();
        gate.dead[dead] = true;
        for (unsigned i = 0; i < 12; i++) {
            send(0, 1, i == 5 ? 100 * FULL : 10);
            run_to_the_end();
        }
        lab_free(NULL);
    }
    for (unsigned alive = 0; alive < HX_MAX_PLANES; alive++) {
        start(2, HX_MAX_PLANES);
        watch();
        for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++)
            gate.dead[plane] = plane != alive;
        send(0, 1, 10);
        run_to_the_end();
        send(0, 1, 10);
        run_to_the_end();
        lab_free(NULL);
    }
}

/* ---- room ---- */

static void arrivals_are_consumed_without_room_to_inject(void **state)
{
    (void)state;
    start(3, 1);
    cloud.end[0].mute = true;
    unsigned own = send(0, 1, 50 * FULL);
    unsigned in = send(1, 0, 400 * FULL);
    unsigned more = send(2, 0, 300 * FULL);
    turns(400);
    assert_int_equal(message(in)->received, 1);
    assert_int_equal(message(more)->received, 1);
    assert_int_equal(message(own)->placed, 0);
    cloud.end[0].mute = false;
    run_to_the_end();
}

static void everybody_is_mute_for_long(void **state)
{
    (void)state;
    start(4, 2);
    for (unsigned from = 0; from < 4; from++)
        for (unsigned to = 0; to < 4; to++)
            send(from, to, 20 * FULL);
    for (unsigned i = 0; i < 30; i++) {
        for (unsigned end = 0; end < 4; end++)
            cloud.end[end].mute = (i + end) % 5 != 0;
        turns(13);
    }
    for (unsigned end = 0; end < 4; end++)
        cloud.end[end].mute = false;
    run_to_the_end();
}

/* The list of acknowledgements holds every slot once, however often it is asked for. */
static void acknowledgements_that_wait_do_not_pile_up(void **state)
{
    (void)state;
    start(4, 1);
    cloud.end[0].mute = true;
    for (unsigned from = 1; from < 4; from++) {
        send(from, 0, 10);
        send(from, 0, 20);
    }
    for (unsigned i = 0; i < 40; i++) {
        turns(20);
        if (i % 8 == 7)
            cloud_restart(&cloud, 1 + i / 8 % 3);
        assert_true(cloud.end[0].ep.acks_count <= cloud.end[0].ep.ack_slots);
        assert_int_equal(cloud.end[0].ep.ack_slots, 4 * HX_PEER_WINDOW);
    }
    cloud.end[0].mute = false;
    assert_true(cloud_run(&cloud, LONG));
}

/* Both have restarted, and each first hears from the other's former life. B owes that one an acknowledgement already
 * when the new one asks for the same slot. */
static void a_slot_is_in_the_list_once_over_all_lives(void **state)
{
    (void)state;
    start(2, 1);
    hold(true);
    send(1, 0, 10);
    send(0, 1, 20);
    turns(3);
    assert_int_equal(cloud.frames, 2);
    cloud_restart(&cloud, 0);
    cloud_restart(&cloud, 1);
    cloud.end[1].mute = true;
    hold(false);
    turns(4);
    assert_int_equal(cloud.end[1].ep.acks_count, 1);
    send(0, 1, 30);
    turns(4);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_STALE), 2); /* that, and an acknowledgement, for B's former life */
    assert_int_equal(cloud.end[1].ep.acks_count, 1);
    cloud.end[1].mute = false;
    run_to_the_end();
}

static void an_idle_endpoint_says_so(void **state)
{
    (void)state;
    start(2, 1);
    assert_true(hx_endpoint_idle(&cloud.end[0].ep));
    assert_int_equal(hx_endpoint_step(&cloud.end[0].ep), 0);
    send(0, 1, 10);
    assert_false(hx_endpoint_idle(&cloud.end[0].ep));
    cloud.end[1].mute = true;
    turns(5);
    assert_false(hx_endpoint_idle(&cloud.end[1].ep)); /* owes an acknowledgement */
    cloud.end[1].mute = false;
    run_to_the_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_message_is_cut_into_packets, lab_free),
        cmocka_unit_test_teardown(packets_are_placed_in_any_order, lab_free),
        cmocka_unit_test_teardown(a_message_to_oneself_arrives, lab_free),
        cmocka_unit_test_teardown(at_most_512_packets_are_ahead, lab_free),
        cmocka_unit_test_teardown(a_late_packet_moves_the_window_at_once, lab_free),
        cmocka_unit_test_teardown(few_messages_of_a_pair_are_under_way, lab_free),
        cmocka_unit_test_teardown(all_sends_may_be_taken, lab_free),
        cmocka_unit_test_teardown(what_is_out_of_range_is_refused, lab_free),
        cmocka_unit_test_teardown(lost_data_is_sent_again, lab_free),
        cmocka_unit_test_teardown(only_what_is_missing_is_sent_again, lab_free),
        cmocka_unit_test_teardown(lost_acknowledgements_do_no_harm, lab_free),
        cmocka_unit_test_teardown(packets_that_come_twice_are_placed_once, lab_free),
        cmocka_unit_test_teardown(stale_acknowledgements_are_nobodys, lab_free),
        cmocka_unit_test_teardown(reordered_acknowledgements_are_taken_together, lab_free),
        cmocka_unit_test_teardown(acknowledgements_come_every_64_packets, lab_free),
        cmocka_unit_test_teardown(a_corrupted_packet_is_dropped_and_repaired, lab_free),
        cmocka_unit_test_teardown(without_the_check_no_checksum_is_asked_for, lab_free),
        cmocka_unit_test_teardown(packets_that_do_not_belong_are_dropped_by_reason, lab_free),
        cmocka_unit_test_teardown(headers_that_fit_no_message_are_unexpected, lab_free),
        cmocka_unit_test_teardown(a_receiver_restarts_in_the_middle, lab_free),
        cmocka_unit_test_teardown(a_sender_restarts_in_the_middle, lab_free),
        cmocka_unit_test_teardown(both_restart_in_the_middle, lab_free),
        cmocka_unit_test_teardown(epochs_wrap, lab_free),
        cmocka_unit_test_teardown(packets_of_a_former_life_are_stale, lab_free),
        cmocka_unit_test_teardown(an_acknowledgement_for_a_former_life_is_not_sent, lab_free),
        cmocka_unit_test_teardown(a_tag_survives_a_restart_of_the_receiver, lab_free),
        cmocka_unit_test_teardown(a_peer_that_never_answers_is_given_up, lab_free),
        cmocka_unit_test_teardown(a_message_given_up_leaves_no_trace, lab_free),
        cmocka_unit_test_teardown(a_packet_without_a_way_is_reported_to_its_sender, lab_free),
        cmocka_unit_test_teardown(only_data_is_reported, lab_free),
        cmocka_unit_test_teardown(planes_share_the_packets, lab_free),
        cmocka_unit_test_teardown(a_dead_plane_stops_no_message, lab_free),
        cmocka_unit_test_teardown(arrivals_are_consumed_without_room_to_inject, lab_free),
        cmocka_unit_test_teardown(everybody_is_mute_for_long, lab_free),
        cmocka_unit_test_teardown(acknowledgements_that_wait_do_not_pile_up, lab_free),
        cmocka_unit_test_teardown(a_slot_is_in_the_list_once_over_all_lives, lab_free),
        cmocka_unit_test_teardown(an_idle_endpoint_says_so, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
