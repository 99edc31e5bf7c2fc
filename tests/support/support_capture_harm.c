/* support_capture_harm.c - faults of links and recorders in a capture of the model (support_capture_harm.h). */
#include "tests/support/support_capture_harm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

bool sim_is_record_of(const struct sim_record *r, const uint8_t *key)
{
    return r->frame[13] == 0xB5 && memcmp(r->frame + SIM_KEY_AT, key, SIM_KEY_BYTES) == 0;
}

static bool is_local(const struct sim_capture *c, const struct sim_record *r)
{
    return strstr(sim_interface_name(&c->set, r->interface), "local") != NULL;
}

bool sim_is_arrival(const struct sim_capture *c, const struct sim_record *r)
{
    return r->direction == 1 && !is_local(c, r) && r->frame[13] == 0xB5 && r->captured > SIM_HEADER_BYTES;
}

void sim_lose(struct sim_capture *c, size_t at)
{
    uint8_t key[SIM_KEY_BYTES];
    size_t kept = at;
    memcpy(key, c->records[at].frame + SIM_KEY_AT, sizeof key);
    for (size_t i = at; i < c->count; i++) {
        if (sim_is_record_of(&c->records[i], key))
            free(c->records[i].frame);
        else
            c->records[kept++] = c->records[i];
    }
    c->count = kept;
}

void sim_turn_bit(struct sim_capture *c, size_t at, size_t byte)
{
    uint8_t key[SIM_KEY_BYTES];
    memcpy(key, c->records[at].frame + SIM_KEY_AT, sizeof key);
    for (size_t i = at; i < c->count; i++)
        if (sim_is_record_of(&c->records[i], key))
            c->records[i].frame[byte] ^= 1;
}

void sim_repeat(struct sim_capture *c, size_t at)
{
    uint8_t key[SIM_KEY_BYTES];
    struct sim_record *records = calloc(2 * c->count, sizeof *records);
    size_t count = 0;
    assert_non_null(records);
    memcpy(key, c->records[at].frame + SIM_KEY_AT, sizeof key);
    for (size_t i = 0; i < c->count; i++) {
        records[count++] = c->records[i];
        if (i < at || !sim_is_record_of(&c->records[i], key))
            continue;
        records[count] = c->records[i];
        records[count].frame = malloc(c->records[i].captured);
        assert_non_null(records[count].frame);
        memcpy(records[count].frame, c->records[i].frame, c->records[i].captured);
        count++;
    }
    free(c->records);
    c->records = records;
    c->count = c->room = count;
}

void sim_take_out(struct sim_capture *c, size_t at)
{
    free(c->records[at].frame);
    memmove(&c->records[at], &c->records[at + 1], (--c->count - at) * sizeof *c->records);
}

void sim_insert_copy(struct sim_capture *c, size_t at)
{
    struct sim_record *records = calloc(c->count + 1, sizeof *records);
    uint8_t *frame = malloc(c->records[at].captured);
    assert_non_null(records);
    assert_non_null(frame);
    memcpy(frame, c->records[at].frame, c->records[at].captured);
    memcpy(records, c->records, (at + 1) * sizeof *records);
    memcpy(records + at + 1, c->records + at, (c->count - at) * sizeof *records);
    records[at + 1].frame = frame;
    free(c->records);
    c->records = records;
    c->room = ++c->count;
}

void sim_forget_interface(struct sim_capture *c, unsigned interface)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (c->records[i].interface == interface)
            free(c->records[i].frame);
        else
            c->records[kept++] = c->records[i];
    }
    c->count = kept;
}

void sim_repeat_all(struct sim_capture *c, uint64_t later_ns)
{
    size_t once = c->count;
    struct sim_record *records = calloc(2 * once, sizeof *records);
    assert_non_null(records);
    memcpy(records, c->records, once * sizeof *records);
    for (size_t i = 0; i < once; i++) {
        struct sim_record *r = &records[once + i];
        *r = records[i];
        r->time_ns += later_ns;
        r->frame = malloc(r->captured);
        assert_non_null(r->frame);
        memcpy(r->frame, records[i].frame, r->captured);
    }
    free(c->records);
    c->records = records;
    c->count = c->room = 2 * once;
}

size_t sim_find_arrival(const struct sim_capture *c, size_t from)
{
    while (from < c->count && !sim_is_arrival(c, &c->records[from]))
        from++;
    assert_true(from < c->count);
    return from;
}
