/* test_trace.c - packets of the model's captures are followed from end to end: every hop, its time, and the last
 * record of a packet. */
#include "tests/support/support_capture_harm.h"
#include "tests/support/support_capture_validate.h"
#include "tools/trace/sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    const struct sim_capture *c;
    struct hx_capture_index capture_index;
    struct hx_trace_sums sums;
    uint64_t packets, steps;
};

/* Path of the packet in the model: the records with its bytes, in order, behind those of other copies. */
static void require_as_recorded_from(const struct seen *s, const struct hx_trace_packet *p, unsigned others)
{
    const struct sim_record *first = &s->c->records[p->steps[0].frame - 1];
    uint32_t at = 0;
    for (size_t i = 0; i < s->c->count; i++) {
        const struct sim_record *r = &s->c->records[i];
        if (memcmp(r->frame + 24, first->frame + 24, 40) != 0)
            continue;
        if (others > 0) {
            others--;
            continue;
        }
        assert_true(at < p->count);
        const struct hx_trace_step *step = &p->steps[at++];
        assert_int_equal(step->frame, i + 1);
        assert_int_equal(step->time_ns, r->time_ns);
        assert_int_equal(step->out, r->direction == 2);
        assert_int_equal(step->vc, r->frame[15]);
        assert_string_equal(s->capture_index.ports[step->port].name, sim_interface_name(&s->c->set, r->interface));
    }
    assert_int_equal(at, p->count);
}

static void finished(void *context, const struct hx_trace_packet *p)
{
    struct seen *s = context;
    hx_sums_packet(&s->sums, p);
    s->packets++;
    s->steps += p->count;
    if (s->packets % 17 == 0 && s->c->set.lose == 0)
        require_as_recorded_from(s, p, 0);
}

static struct seen seen;

/* Follows packets through the interfaces that `keep` chooses (NULL: all). */
static void follow_at(const struct sim_capture *c, bool (*keep)(const char *name), const struct hx_trace_filter *filter,
                      void (*to)(void *context, const struct hx_trace_packet *p))
{
    struct hx_problem problem;
    struct hx_trace t;
    struct hx_capture_frame s;
    seen = (struct seen){.c = c};
    FILE *file = open_capture(c, keep, &seen.capture_index);
    hx_sums_begin(&seen.sums, &seen.capture_index);
    hx_trace_begin(&t, &seen.capture_index, filter, to, &seen);
    while (hx_capture_index_next(&seen.capture_index, &s, &problem) > 0)
        hx_trace_frame(&t, &s);
    hx_trace_end(&t);
    hx_trace_free(&t);
    (void)fclose(file);
}

static void follow_by(const struct sim_capture *c, const struct hx_trace_filter *filter,
                      void (*to)(void *context, const struct hx_trace_packet *p))
{
    follow_at(c, NULL, filter, to);
}

static void follow(const struct sim_capture *c, const struct hx_trace_filter *filter)
{
    follow_by(c, filter, finished);
}

static void forget(struct sim_capture *c)
{
    hx_sums_free(&seen.sums);
    hx_capture_index_close(&seen.capture_index);
    sim_free(c);
}

static const struct hx_trace_filter all = {.data_only = false};

static void every_packet_is_followed_from_end_to_end(void **state)
{
    (void)state;
    struct sim_settings set = sim_default;
    struct sim_capture c;
    set.messages = 10;
    set.planes = 2;
    set.bytes = 20000;
    sim_run(&c, &set);
    follow(&c, &all);
    /* 10 messages of 3 packets and an acknowledgement, of 64 accelerators */
    assert_int_equal(seen.packets, 64 * 10 * 4);
    assert_int_equal(seen.steps, c.count);
    assert_true(seen.sums.fate[HX_TRACE_DELIVERED] == seen.packets);
    assert_int_equal(seen.sums.latency.count, 64 * 10 * 3); /* acknowledgements have none */
    forget(&c);
}

static void times_add_up(void **state)
{
    (void)state;
    struct sim_capture c;
    sim_run(&c, &sim_default);
    follow(&c, &all);
    uint64_t all_sum = 0;
    uint64_t sum = 0;
    uint64_t most = 0;
    /* Latencies of all packets and of those with data, from the model's records at endpoints. */
    for (size_t i = 0; i < c.count; i++) {
        const char *name = sim_interface_name(&c.set, c.records[i].interface);
        if (!strstr(name, "/local"))
            continue;
        const bool is_data = c.records[i].frame[HX_AT_KIND] == HX_DATA;
        const uint64_t time = c.records[i].direction == 1 ? -c.records[i].time_ns : c.records[i].time_ns;
        all_sum += time;
        sum += is_data ? time : 0;
        for (size_t from = 0; c.records[i].direction != 1 && is_data && from < i; from++)
            if (memcmp(c.records[from].frame + 24, c.records[i].frame + 24, 40) == 0) {
                uint64_t took = c.records[i].time_ns - c.records[from].time_ns;
                most = took > most ? took : most;
                break;
            }
    }
    assert_int_equal(seen.sums.latency.sum, sum);
    assert_int_equal(seen.sums.latency.most, most);
    uint64_t median = hx_sums_quantile(&seen.sums, 0.5);
    assert_in_range(median, seen.sums.latency.least, most);
    /* A cable takes 150 ns in the model: the rest of a path's time is waiting. */
    uint64_t waited = 0;
    uint64_t hops = 0;
    for (uint32_t i = 0; i < seen.sums.port_count; i++) {
        waited += seen.sums.ports[i].wait.sum;
        hops += seen.sums.ports[i].wait.count;
    }
    assert_int_equal(waited + (hops - seen.packets) * 150, all_sum);
    forget(&c);
}

/* The first copy was recorded only at its sender, in and out. */
static void note_copies(void *context, const struct hx_trace_packet *p)
{
    struct seen *s = context;
    hx_sums_packet(&s->sums, p);
    s->packets += p->out;
    s->steps += p->out ? 0 : p->count;
    if (p->out)
        require_as_recorded_from(s, p, 2);
}

/* A packet is lost behind its first switch and sent again: each copy has its own records, and the lost one ends at
 * that switch. */
static void a_retransmission_is_another_copy(void **state)
{
    (void)state;
    struct sim_capture c;
    sim_run(&c, &sim_default);
    size_t in = 0;
    while (c.records[in].direction != 1 || !strstr(sim_interface_name(&c.set, c.records[in].interface), "/local"))
        in++;
    uint8_t key[SIM_KEY_BYTES];
    memcpy(key, c.records[in].frame + SIM_KEY_AT, sizeof key);
    const struct sim_record *first = &c.records[in];
    const struct hx_trace_filter one = {
        .has_from = true,
        .has_to = true,
        .from = {first->frame[36] << 8 | first->frame[37], first->frame[38] << 8 | first->frame[39]},
        .to = {first->frame[32] << 8 | first->frame[33], first->frame[34] << 8 | first->frame[35]},
        .has_message = true,
        .data_only = true};
    size_t out = in + 1;
    while (!sim_is_record_of(&c.records[out], key))
        out++;
    sim_insert_copy(&c, out); /* the first copy arrives and leaves, */
    sim_insert_copy(&c, in);
    struct sim_record moved = c.records[out + 2]; /* before the second arrives */
    memmove(&c.records[in + 2], &c.records[in + 1], (out + 1 - in) * sizeof moved);
    c.records[in + 1] = moved;
    follow_by(&c, &one, note_copies);
    assert_int_equal(seen.packets, 1);
    assert_int_equal(seen.steps, 2);
    assert_int_equal(seen.sums.fate[HX_TRACE_MISSING], 1);
    assert_int_equal(seen.sums.kept[0].frame, in + 2);
    forget(&c);
}

static void messages_report_their_spread(void **state)
{
    (void)state;
    struct sim_settings set = sim_default;
    struct sim_capture c;
    set.planes = 4;
    set.bytes = 64 * 8192;
    set.messages = 1;
    set.snaplen = 96;
    sim_run(&c, &set);
    follow(&c, &(struct hx_trace_filter){.has_from = true, .from = {3, 5}});
    assert_int_equal(seen.sums.messages.count, 1);
    const struct hx_message_sum **list = hx_sums_messages(&seen.sums);
    const struct hx_message_sum *m = list[0];
    assert_true(m->key.src_addr_hi == 3 && m->key.src_addr_lo == 5 && m->packets == 64 && m->seen == 64 &&
                m->delivered == 64);
    assert_int_equal(m->acknowledgements, 1);
    uint64_t ports = 0;
    uint64_t paths = 0;
    for (unsigned plane = 0; plane < 4; plane++)
        assert_int_equal(m->by_plane[plane], 16);
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        ports += m->by_port[port];
    for (uint32_t i = 0; i < m->path_count; i++) {
        paths += m->paths[i].packets;
        assert_non_null(strstr(m->paths[i].text, "/local"));
    }
    assert_int_equal(ports, 64);
    assert_int_equal(paths, 64);
    assert_true(m->path_count >= 4);
    free(list);
    forget(&c);
}

static void a_lost_packet_ends_at_its_last_record(void **state)
{
    (void)state;
    struct sim_capture c;
    sim_run(&c, &sim_default);
    uint64_t frame = sim_break(&c, "delivery-lost");
    follow(&c, &all);
    assert_int_equal(seen.sums.fate[HX_TRACE_MISSING], 1);
    assert_int_equal(seen.sums.kept[0].frame, frame);
    assert_false(seen.sums.kept[0].out);
    forget(&c);
}

static void lost_and_retransmitted_packets_are_two_copies(void **state)
{
    (void)state;
    struct sim_settings set = sim_default;
    struct sim_capture c;
    set.wire = true;
    set.lose = 20;
    sim_run(&c, &set);
    assert_true(c.lost > 3);
    follow(&c, &all);
    assert_int_equal(seen.sums.fate[HX_TRACE_MISSING], c.lost);
    assert_int_equal(seen.packets - seen.sums.fate[HX_TRACE_DELIVERED], c.lost);
    assert_int_equal(seen.sums.fate[HX_TRACE_DELIVERED], 64 * 3 * 2);
    forget(&c);
}

static bool of_a34(const char *name)
{
    return strncmp(name, "a3,4/", 5) == 0;
}

static void count_only(void *context, const struct hx_trace_packet *p)
{
    struct seen *s = context;
    hx_sums_packet(&s->sums, p);
    s->packets++;
}

/* A capture of one node: what leaves by its cables is out of sight, and not missing. What vanishes in the node is. */
static void what_leaves_the_captured_ports_is_not_missing(void **state)
{
    (void)state;
    struct sim_capture c;
    sim_run(&c, &sim_default);
    uint64_t delivered = 0;
    uint64_t left = 0;
    size_t last = 0;
    for (size_t i = 0; i < c.count; i++) {
        const char *name = sim_interface_name(&c.set, c.records[i].interface);
        bool is_out = of_a34(name) && c.records[i].direction == 2;
        delivered += is_out && strstr(name, "/local");
        left += is_out && !strstr(name, "/local");
        last = is_out ? i : last;
    }
    assert_true(delivered > 3 && left > 3);
    follow_at(&c, of_a34, &all, count_only);
    assert_int_equal(seen.sums.fate[HX_TRACE_DELIVERED], delivered);
    assert_int_equal(seen.sums.fate[HX_TRACE_OUT_OF_SIGHT], left);
    assert_int_equal(seen.sums.fate[HX_TRACE_MISSING], 0);
    hx_sums_free(&seen.sums);
    hx_capture_index_close(&seen.capture_index);
    sim_take_out(&c, last);
    follow_at(&c, of_a34, &all, count_only);
    assert_int_equal(seen.sums.fate[HX_TRACE_MISSING], 1);
    forget(&c);
}

/* A packet that comes out with a wrong checksum is not delivered: its endpoint drops it. */
static void a_damaged_packet_is_not_delivered(void **state)
{
    (void)state;
    struct sim_capture c;
    sim_run(&c, &sim_default);
    size_t at = 0;
    while (c.records[at].direction != 2 || c.records[at].captured <= SIM_HEADER_BYTES ||
           !strstr(sim_interface_name(&c.set, c.records[at].interface), "/local"))
        at++;
    c.records[at].frame[SIM_HEADER_BYTES] ^= 1;
    follow_by(&c, &all, count_only);
    assert_int_equal(seen.sums.fate[HX_TRACE_DAMAGED], 1);
    assert_int_equal(seen.sums.fate[HX_TRACE_DELIVERED], seen.packets - 1);
    assert_int_equal(seen.sums.latency.count, seen.packets / 2 - 1); /* the other half are acknowledgements */
    forget(&c);
}

/* Latencies are counted in bins, so a quantile is the middle of a bin. */
static void a_quantile_is_between_minimum_and_maximum(void **state)
{
    (void)state;
    enum { BIN_OF_36800 = 12 * 16 + 1 }; /* 34,816 to 36,863 */
    static struct hx_trace_sums sums;
    hx_time_add(&sums.latency, 36800);
    sums.bins[BIN_OF_36800] = 1;
    assert_int_equal(hx_sums_quantile(&sums, 0.5), 36800);
    hx_time_add(&sums.latency, 34900);
    sums.bins[BIN_OF_36800] = 2;
    assert_true(hx_sums_quantile(&sums, 0.5) > 34900);
    assert_true(hx_sums_quantile(&sums, 0.5) < 36800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_is_followed_from_end_to_end),
        cmocka_unit_test(times_add_up),
        cmocka_unit_test(a_retransmission_is_another_copy),
        cmocka_unit_test(messages_report_their_spread),
        cmocka_unit_test(a_lost_packet_ends_at_its_last_record),
        cmocka_unit_test(lost_and_retransmitted_packets_are_two_copies),
        cmocka_unit_test(what_leaves_the_captured_ports_is_not_missing),
        cmocka_unit_test(a_damaged_packet_is_not_delivered),
        cmocka_unit_test(a_quantile_is_between_minimum_and_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
