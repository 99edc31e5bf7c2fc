/* support_messages.c - checks messages (support_messages.h). */
#include "tests/support/support_messages.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void messages_init(struct messages *m, unsigned columns, unsigned capacity, uint64_t seed)
{
    *m = (struct messages){.columns = columns, .capacity = capacity, .seed = seed};
    m->list = lab_memory(capacity * sizeof *m->list);
}

unsigned messages_add(struct messages *m, unsigned from, unsigned to, uint64_t bytes)
{
    assert_true(m->count < m->capacity);
    struct message *message = &m->list[m->count];
    *message = (struct message){.from = from, .to = to, .bytes = bytes, .packets = 1};
    while ((uint64_t)message->packets * 8192 < bytes)
        message->packets++;
    message->here = lab_memory(message->packets);
    return m->count++;
}

void messages_forget(struct messages *m, unsigned rank)
{
    for (unsigned i = 0; i < m->count; i++) {
        struct message *message = &m->list[i];
        if (message->sent || message->failed)
            continue;
        if (message->from == rank)
            message->gone = true;
        if (message->to == rank) {
            memset(message->here, 0, message->packets);
            message->placed = 0;
            message->forgotten++;
        }
    }
}

void messages_fill(const struct messages *m, unsigned number, uint32_t packet, uint8_t *to, unsigned bytes)
{
    uint64_t at = split_mix(m->seed + number) + packet * UINT64_C(0x2545F4914F6CDD1D);
    for (unsigned i = 0; i < bytes; i += 8) {
        uint64_t word = seeded_next(&at);
        memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static struct message *message_of(struct messages *m, uint64_t number, unsigned from, unsigned to)
{
    assert_true(number < m->count);
    struct message *message = &m->list[number];
    assert_int_equal(message->from, from);
    assert_int_equal(message->to, to);
    return message;
}

void messages_place(struct messages *m, unsigned rank, const struct hx_header *h, const uint8_t *payload)
{
    struct message *message = message_of(m, h->tag, h->src_addr_lo * m->columns + h->src_addr_hi, rank);
    assert_int_equal(h->message_packets, message->packets);
    assert_true(h->offset < message->packets);
    uint64_t left = message->bytes - (uint64_t)h->offset * 8192;
    assert_int_equal(h->length, left < 8192 ? left : 8192);
    uint8_t expected[8192];
    messages_fill(m, h->tag, h->offset, expected, h->length);
    assert_memory_equal(payload, expected, h->length);
    assert_int_equal(message->here[h->offset], 0);
    message->here[h->offset] = 1;
    message->placed++;
    m->placed_bytes += h->length;
}

void messages_event(struct messages *m, unsigned rank, const struct hx_event *event)
{
    unsigned peer = event->addr_lo * m->columns + event->addr_hi;
    if (event->type == HX_EVENT_RECEIVED) {
        struct message *message = message_of(m, event->tag, peer, rank);
        assert_int_equal(event->bytes, message->bytes);
        assert_int_equal(message->placed, message->packets);
        assert_true(message->received <= message->forgotten);
        message->received++;
        return;
    }
    struct message *message = message_of(m, event->cookie, rank, peer);
    assert_int_equal(event->tag, event->cookie);
    assert_int_equal(event->bytes, message->bytes);
    assert_int_equal(message->sent + message->failed, 0);
    if (event->type == HX_EVENT_SENT) {
        assert_true(message->received > 0);
        message->sent++;
    } else {
        assert_int_equal(event->type, HX_EVENT_FAILED);
        message->failed++;
    }
}

unsigned messages_open(const struct messages *m)
{
    unsigned open = 0;
    for (unsigned i = 0; i < m->count; i++)
        open += !m->list[i].gone && m->list[i].failed + m->list[i].sent == 0;
    return open;
}

void messages_validate_all_through(const struct messages *m)
{
    for (unsigned i = 0; i < m->count; i++) {
        const struct message *message = &m->list[i];
        assert_int_equal(message->failed, 0);
        if (message->gone)
            continue;
        assert_int_equal(message->sent, 1);
        assert_in_range(message->received, 1, 1 + message->forgotten);
        for (uint32_t packet = 0; message->forgotten == 0 && packet < message->packets; packet++)
            assert_int_equal(message->here[packet], 1);
    }
}
