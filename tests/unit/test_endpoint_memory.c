/* test_endpoint_memory.c - the memory of an endpoint: its size is hx_endpoint_bytes(), hardly more than its tables;
 * its pieces are disjoint and start at cache lines. Also lookups of peers, and units of time. */
#include "endpoint_parts.h"
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LINE = 64, MOST_PIECES = 14 };

struct pieces {
    struct {
        const uint8_t *at;
        size_t bytes;
    } list[MOST_PIECES];
    unsigned count;
};

static void add(struct pieces *p, const void *at, size_t bytes)
{
    assert_true(p->count < MOST_PIECES);
    p->list[p->count].at = at;
    p->list[p->count++].bytes = bytes;
}

/* Words of the set of due messages. */
static size_t words_of_due(const struct hx_endpoint *ep)
{
    return ((size_t)(ep->place ? ep->places : ep->config.sends) + 63) / 64;
}

/* As include/hxmesh/endpoint.h describes each. */
static void list_pieces(struct pieces *p, const struct hx_endpoint *ep)
{
    size_t sends = ep->config.sends;
    size_t due_words = words_of_due(ep) * sizeof(uint64_t);
    *p = (struct pieces){.count = 0};
    add(p, ep->send, sends * sizeof *ep->send);
    add(p, ep->send_map, sends * sizeof *ep->send_map);
    add(p, ep->send_lost, sends * sizeof *ep->send_lost);
    add(p, ep->due.word, due_words + (sends + 63) / 64 * sizeof(uint64_t)); /* and idle.word */
    add(p, ep->peer, ep->peers * sizeof *ep->peer);
    add(p, ep->rest_of, (ep->peers + (size_t)1) * sizeof *ep->rest_of);
    add(p, ep->slots, ep->peers * (size_t)ep->slot_bytes);
    add(p, ep->map, (size_t)ep->peers * ep->window * sizeof *ep->map);
    add(p, ep->rest, ep->peers * sizeof *ep->rest);
    add(p, ep->ack, (size_t)ep->ack_slots * sizeof *ep->ack);
    add(p, ep->report, HX_REPORTS * sizeof *ep->report);
    if (ep->place) {
        add(p, ep->place, sends * sizeof *ep->place);
        add(p, ep->sender, ep->places * sizeof *ep->sender);
    }
    if (ep->bucket)
        add(p, ep->bucket, ((size_t)ep->bucket_mask + 1) * sizeof *ep->bucket);
}

static void validate_pieces(const struct hx_endpoint *ep, const uint8_t *memory, size_t bytes)
{
    struct pieces p;
    list_pieces(&p, ep);
    size_t needed = 0;
    for (unsigned i = 0; i < p.count; i++) {
        size_t from = (size_t)(p.list[i].at - memory);
        assert_true(p.list[i].at >= memory && from + p.list[i].bytes <= bytes);
        assert_int_equal(from % LINE, 0);
        for (unsigned j = 0; j < i; j++)
            assert_true(p.list[j].at + p.list[j].bytes <= p.list[i].at ||
                        p.list[i].at + p.list[i].bytes <= p.list[j].at);
        needed += (p.list[i].bytes + LINE - 1) / LINE * LINE;
    }
    assert_in_range(bytes, needed, needed + LINE);
    assert_ptr_equal(ep->idle.word, ep->due.word + words_of_due(ep));
    assert_in_range(ep->places, ep->place ? ep->config.sends : 0, ep->place ? HX_MAX_SENDS : 0);
}

static void validate(const struct hx_endpoint_config *c, bool hashed)
{
    struct hx_endpoint ep;
    struct hal_endpoint hal;
    size_t bytes = hx_endpoint_bytes(c);
    uint8_t *memory = lab_memory(bytes);
    assert_int_equal(hx_endpoint_init(&ep, c, &hal, memory), HX_OK);
    validate_pieces(&ep, memory, bytes);
    assert_int_equal(ep.ack_slots, ep.peers * (ep.window + 1U));
    assert_int_equal(ep.bucket != NULL, hashed);
    if (hashed) { /* at least half of it is empty, and not much more */
        assert_int_equal((ep.bucket_mask + 1) & ep.bucket_mask, 0);
        assert_in_range(ep.bucket_mask + 1, 2 * ep.peers, 4 * ep.peers - 1);
        assert_int_equal(ep.peers, c->peers);
        assert_int_equal(ep.known, 0);
    } else {
        assert_int_equal(ep.peers, c->columns * c->rows);
        assert_int_equal(ep.known, ep.peers);
    }
    for (unsigned i = 0; i < c->sends; i++)
        assert_true(ep.idle.word[i / 64] >> i % 64 & 1);
    (void)lab_free(NULL);
}

static struct hx_endpoint_config config_of(uint16_t columns, uint16_t rows, uint16_t sends, uint32_t peers)
{
    struct hx_endpoint_config c = trial_config(1);
    c.columns = columns;
    c.rows = rows;
    c.sends = sends;
    c.peers = peers;
    return c;
}

static void pieces_lie_apart(void **state)
{
    (void)state;
    static const uint16_t sends[] = {1, 2, 63, 64, 65, 128, 1000, HX_MAX_SENDS};
    for (unsigned s = 0; s < sizeof sends / sizeof *sends; s++) {
        for (uint32_t peers = 0; peers <= 40; peers++) {
            struct hx_endpoint_config c = config_of(7, 5, sends[s], peers);
            validate(&c, peers != 0);
            c.at_once = 1;
            validate(&c, peers != 0);
            c.window = HX_MOST_PEER_WINDOW;
            validate(&c, peers != 0);
        }
    }
}

/* A hash begins small, and doubles as peers are met; each is found again in its entry. */
static void a_hash_grows_with_the_peers_met(void **state)
{
    (void)state;
    struct hx_endpoint ep;
    struct hal_endpoint hal;
    struct hx_endpoint_config c = config_of(100, 100, 8, 10000);
    assert_int_equal(hx_endpoint_init(&ep, &c, &hal, lab_memory(hx_endpoint_bytes(&c))), HX_OK);
    assert_in_range(ep.bucket_mask + 1, 2, 1024);
    for (uint32_t n = 0; n < 10000; n++) {
        uint32_t rank = n * 7919 % 10000;
        assert_null(hx_endpoint_peer(&ep, rank));
        assert_ptr_equal(hx_endpoint_add_peer(&ep, rank), &ep.peer[n]);
        assert_in_range(ep.bucket_mask + 1, 2 * ep.known, UINT32_MAX);
        assert_int_equal(hx_endpoint_rank(&ep, &ep.peer[n]), rank);
    }
    for (uint32_t n = 0; n < 10000; n++)
        assert_ptr_equal(hx_endpoint_peer(&ep, n * 7919 % 10000), &ep.peer[n]);
    assert_in_range(ep.bucket_mask + 1, 20000, 40000);
    (void)lab_free(NULL);
}

/* Ranks with the same start in the hash, also near its end: each is found again, none twice, and there is no room
 * for one more. */
static void ranks_of_the_same_hash_are_distinguished(void **state)
{
    (void)state;
    enum { PEERS = 6 };
    const struct hx_endpoint_config c = config_of(500, 20, 8, PEERS);
    for (uint32_t place = 0; place < 16; place++) {
        struct hx_endpoint ep;
        struct hal_endpoint hal;
        uint32_t rank[PEERS + 1];
        unsigned count = 0;
        assert_int_equal(hx_endpoint_init(&ep, &c, &hal, lab_memory(hx_endpoint_bytes(&c))), HX_OK);
        for (uint32_t r = 0; count <= PEERS; r++) {
            assert_true(r < 500 * 20);
            if (hx_endpoint_bucket(&ep, r) == place)
                rank[count++] = r;
        }
        for (unsigned n = 0; n < PEERS; n++) {
            assert_null(hx_endpoint_peer(&ep, rank[n]));
            assert_ptr_equal(hx_endpoint_add_peer(&ep, rank[n]), &ep.peer[n]);
        }
        assert_null(hx_endpoint_add_peer(&ep, rank[PEERS]));
        for (unsigned n = 0; n < PEERS; n++) {
            assert_int_equal(ep.peer[n].rank, rank[n]);
            assert_ptr_equal(hx_endpoint_peer(&ep, rank[n]), &ep.peer[n]);
            assert_ptr_equal(hx_endpoint_add_peer(&ep, rank[n]), &ep.peer[n]);
        }
        assert_null(hx_endpoint_peer(&ep, rank[PEERS]));
        (void)lab_free(NULL);
    }
}

/* Pieces of memory of both ends, with their sizes. */
struct apart {
    struct hx_endpoint_sizes bytes;
    struct hx_endpoint_memory memory[2];
};

static struct apart lie_apart(void)
{
    trial_start(2, 1);
    struct apart a = {.bytes = hx_endpoint_sizes(&cloud.end[0].config)};
    for (unsigned end = 0; end < 2; end++) {
        struct cloud_end *e = &cloud.end[end];
        a.memory[end] = (struct hx_endpoint_memory){lab_memory(a.bytes.often), lab_memory(a.bytes.pending),
                                                    lab_memory(a.bytes.second), lab_memory(a.bytes.maps),
                                                    lab_memory(a.bytes.reports)};
        assert_int_equal(hx_endpoint_init_apart(&e->ep, &e->config, &e->hal, &a.memory[end]), HX_OK);
    }
    return a;
}

static size_t lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Each piece begins with its first field, and ends with its last. */
static void its_pieces_may_be_apart(void **state)
{
    (void)state;
    struct apart a = lie_apart();
    for (unsigned end = 0; end < 2; end++) {
        const struct hx_endpoint *ep = &cloud.end[end].ep;
        const struct hx_endpoint_memory *m = &a.memory[end];
        assert_ptr_equal(ep->due.word, m->often);
        assert_ptr_equal((uint8_t *)ep->peer + lines(sizeof *ep->peer * ep->peers),
                         (uint8_t *)m->often + a.bytes.often);
        assert_ptr_equal(ep->send, m->pending);
        assert_ptr_equal((uint8_t *)ep->ack + lines(sizeof *ep->ack * ep->ack_slots),
                         (uint8_t *)m->pending + a.bytes.pending);
        assert_ptr_equal(ep->slots, m->second);
        assert_int_equal(a.bytes.second, ep->slot_bytes * (size_t)ep->peers);
        assert_ptr_equal(ep->rest, m->maps);
        assert_ptr_equal((uint8_t *)ep->send_map + lines(sizeof *ep->send_map * ep->config.sends),
                         (uint8_t *)m->maps + a.bytes.maps);
        assert_ptr_equal(ep->send_lost, m->reports);
        assert_ptr_equal((uint8_t *)ep->report + lines(sizeof *ep->report * HX_REPORTS),
                         (uint8_t *)m->reports + a.bytes.reports);
    }
    assert_int_equal(a.bytes.often + a.bytes.pending + a.bytes.second + a.bytes.maps + a.bytes.reports,
                     hx_endpoint_bytes(&cloud.end[0].config));
}

/* Long messages both ways, in order and answered, leave rarely used memory untouched. */
static void state_for_losses_stays_zero(void **state)
{
    (void)state;
    struct apart a = lie_apart();
    (void)trial_send(0, 1, 2000 * FULL);
    (void)trial_send(1, 0, 2000 * FULL);
    trial_finish();
    for (unsigned end = 0; end < 2; end++) {
        for (size_t i = 0; i < a.bytes.second; i++)
            assert_int_equal(((const uint8_t *)a.memory[end].second)[i], 0);
        for (size_t i = 0; i < a.bytes.maps; i++)
            assert_int_equal(((const uint8_t *)a.memory[end].maps)[i], 0);
    }
}

/* Several messages at once, in any order, touch nothing that is for packets without a path. */
static void state_for_packets_without_a_path_stays_zero(void **state)
{
    (void)state;
    struct apart a = lie_apart();
    for (unsigned message = 0; message < 4; message++)
        (void)trial_send(0, 1, 100 * FULL);
    trial_finish();
    assert_int_equal(cloud.end[1].ep.stats.messages_received, 4);
    assert_int_equal(((const struct hx_receive *)a.memory[1].second)->packets, 100);
    for (unsigned end = 0; end < 2; end++) {
        for (size_t i = 0; i < a.bytes.reports; i++)
            assert_int_equal(((const uint8_t *)a.memory[end].reports)[i], 0);
    }
}

/* Only as many message slots are touched as have been in flight at once. */
static void messages_take_the_first_slots(void **state)
{
    (void)state;
    (void)lie_apart();
    for (unsigned turn = 0; turn < 20; turn++) {
        for (unsigned message = 0; message < 3; message++)
            (void)trial_send(0, 1, FULL);
        trial_finish();
    }
    const struct hx_endpoint *ep = &cloud.end[0].ep;
    assert_true(ep->config.sends > 3);
    assert_int_equal(ep->send[2].message % 3, 2);
    const uint8_t *rest = (const uint8_t *)&ep->send[3];
    for (size_t i = 0; i < (ep->config.sends - 3) * sizeof *ep->send; i++)
        assert_int_equal(rest[i], 0);
}

/* Rarely used state of a peer is allocated at first use, one entry per peer. */
static void rarely_used_state_is_contiguous(void **state)
{
    (void)state;
    for (uint32_t peers = 0; peers <= 40; peers += 20) {
        const struct hx_endpoint_config c = config_of(9, 11, 8, peers);
        struct hx_endpoint ep;
        struct hal_endpoint hal;
        assert_int_equal(hx_endpoint_init(&ep, &c, &hal, lab_memory(hx_endpoint_bytes(&c))), HX_OK);
        for (uint32_t n = 0; n < ep.peers; n++) {
            const struct hx_peer *peer = &ep.peer[n * 7 % ep.peers];
            assert_ptr_equal(hx_endpoint_rest(&ep, peer), &ep.rest[n]);
            assert_ptr_equal(hx_endpoint_rest(&ep, peer), &ep.rest[n]);
        }
        for (uint32_t n = 0; n < ep.peers; n++)
            assert_ptr_equal(hx_endpoint_rest(&ep, &ep.peer[n * 7 % ep.peers]), &ep.rest[n]);
        assert_int_equal(ep.rest_of[ep.peers], ep.peers);
        (void)lab_free(NULL);
    }
}

/* The unit of time makes the least timeout 1,024 to 2,047 units, or is a nanosecond if that is more. */
static void units_of_time_follow_the_least_timeout(void **state)
{
    (void)state;
    struct hx_endpoint_config c = config_of(2, 1, 1, 0);
    c.timeout_ns = c.most_ns = (uint64_t)1 << 40;
    for (unsigned bit = 0; bit < 40; bit++) {
        for (unsigned more = 0; more < 2; more++) {
            struct hx_endpoint ep;
            struct hal_endpoint hal;
            c.least_ns =
                ((uint64_t)1 << (bit + more)) - more; /* a power of two, and the largest number below the next */
            assert_int_equal(hx_endpoint_init(&ep, &c, &hal, lab_memory(hx_endpoint_bytes(&c))), HX_OK);
            assert_int_equal(ep.unit_shift, bit > 10 ? bit - 10 : 0);
            (void)lab_free(NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(pieces_lie_apart, lab_free),
        cmocka_unit_test_teardown(a_hash_grows_with_the_peers_met, lab_free),
        cmocka_unit_test_teardown(ranks_of_the_same_hash_are_distinguished, lab_free),
        cmocka_unit_test_teardown(its_pieces_may_be_apart, lab_free),
        cmocka_unit_test_teardown(state_for_losses_stays_zero, lab_free),
        cmocka_unit_test_teardown(state_for_packets_without_a_path_stays_zero, lab_free),
        cmocka_unit_test_teardown(messages_take_the_first_slots, lab_free),
        cmocka_unit_test_teardown(rarely_used_state_is_contiguous, lab_free),
        cmocka_unit_test_teardown(units_of_time_follow_the_least_timeout, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
