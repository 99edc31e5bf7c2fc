/* test_device_tree.c - hal/bare/device_tree.h reads trees that this file writes token by token, by the
 * specification. */
#include "hal/bare/device_tree.h"
#include "tests/support/support_seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a tree that is written ---- */

enum { HEADER = 40, MOST = 8192 };
enum { BEGIN_NODE = 1, END_NODE = 2, PROP = 3, NOP = 4, END = 9 };

struct writer {
    uint8_t structure[MOST], strings[MOST];
    uint32_t bytes, names;
};

static void put(uint8_t *at, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (24 - 8 * i));
}

static void item(struct writer *w, uint32_t number)
{
    put(w->structure + w->bytes, number);
    w->bytes += 4;
}

static void raw(struct writer *w, const void *from, size_t bytes)
{
    memcpy(w->structure + w->bytes, from, bytes);
    w->bytes += (uint32_t)(bytes + 3) / 4 * 4;
}

static void begin(struct writer *w, const char *name)
{
    item(w, BEGIN_NODE);
    raw(w, name, strlen(name) + 1);
}

static void property(struct writer *w, const char *name, const void *value, size_t bytes)
{
    item(w, PROP);
    item(w, (uint32_t)bytes);
    item(w, w->names);
    raw(w, value, bytes);
    memcpy(w->strings + w->names, name, strlen(name) + 1);
    w->names += (uint32_t)strlen(name) + 1;
}

static void put_text(struct writer *w, const char *name, const char *value)
{
    property(w, name, value, strlen(value) + 1);
}

static void put_number(struct writer *w, const char *name, uint32_t value)
{
    uint8_t bytes[4];
    put(bytes, value);
    property(w, name, bytes, sizeof bytes);
}

/* A device of that kind; its range has this many words of address and of size. */
static void device(struct writer *w, const char *kind, uint64_t address, unsigned address_words, uint64_t bytes,
                   unsigned size_words)
{
    uint8_t range[16];
    uint8_t *at = range;
    for (unsigned n = address_words; n-- > 0; at += 4)
        put(at, (uint32_t)(address >> (32 * n)));
    for (unsigned n = size_words; n-- > 0; at += 4)
        put(at, (uint32_t)(bytes >> (32 * n)));
    begin(w, "device");
    property(w, "reg", range, (size_t)(at - range));
    put_number(w, "interrupts", (uint32_t)address ^ 5);
    put_text(w, "compatible", kind);
    item(w, END_NODE);
}

/* Exactly its bytes, so that a sanitizer sees every read beyond. */
static uint8_t *tree_of(const struct writer *w, size_t *bytes)
{
    *bytes = HEADER + w->bytes + w->names;
    uint8_t *tree = malloc(*bytes);
    assert_non_null(tree);
    const uint32_t header[] = {0xd00dfeed, (uint32_t)*bytes, HEADER,  HEADER + w->bytes, 0, 17, 16,
                               0,          w->names,         w->bytes};
    for (unsigned i = 0; i < sizeof header / sizeof *header; i++)
        put(tree + 4 * (size_t)i, header[i]);
    memcpy(tree + HEADER, w->structure, w->bytes);
    memcpy(tree + HEADER + w->bytes, w->strings, w->names);
    return tree;
}

/* A board like QEMU's, its devices in descending order, with a NOP token. */
static void write_board(struct writer *w)
{
    *w = (struct writer){.bytes = 0};
    begin(w, "");
    put_number(w, "#address-cells", 2);
    put_number(w, "#size-cells", 2);
    begin(w, "memory@80000000");
    put_text(w, "device_type", "memory");
    property(w, "reg", "\0\0\0\0\x80\0\0\0\0\0\0\0\x06\x40\0", 16);
    item(w, END_NODE);
    begin(w, "cpus");
    put_number(w, "#address-cells", 1);
    put_number(w, "#size-cells", 0);
    put_number(w, "timebase-frequency", 10000000);
    item(w, END_NODE);
    item(w, NOP);
    begin(w, "soc");
    put_number(w, "#address-cells", 2);
    put_number(w, "#size-cells", 2);
    for (uint64_t place = 8; place-- > 0;)
        device(w, "virtio,mmio", 0x10001000 + 0x1000 * place, 2, 0x1000, 2);
    begin(w, "clint@2000000");
    property(w, "compatible", "sifive,clint0\0riscv,clint0", 27);
    property(w, "reg", "\0\0\0\0\x02\0\0\0\0\0\0\0\0\x01\0", 16);
    item(w, END_NODE);
    item(w, END_NODE);
    item(w, END_NODE);
    item(w, END);
}

/* ---- good trees ---- */

static uint8_t *open_board(struct device_tree *t)
{
    struct writer w;
    size_t bytes;
    write_board(&w);
    uint8_t *tree = tree_of(&w, &bytes);
    assert_null(device_tree_open(t, tree, bytes));
    return tree;
}

static void a_board_is_read(void **state)
{
    (void)state;
    struct device_tree t;
    struct device_range range = {.address = 0};
    uint32_t hz;
    uint8_t *tree = open_board(&t);
    assert_true(device_tree_next(&t, "device_type", "memory", 0, &range));
    assert_int_equal(range.address, 0x80000000);
    assert_int_equal(range.bytes, 100 << 20);
    assert_int_equal(range.interrupt, 0);
    assert_true(device_tree_number(&t, "timebase-frequency", &hz));
    assert_int_equal(hz, 10000000);
    uint64_t least = 0;
    for (uint64_t place = 0; place < 8; place++, least = range.address + 1) {
        assert_true(device_tree_next(&t, "compatible", "virtio,mmio", least, &range));
        assert_int_equal(range.address, 0x10001000 + 0x1000 * place);
        assert_int_equal(range.interrupt, range.address ^ 5);
    }
    assert_false(device_tree_next(&t, "compatible", "virtio,mmio", least, &range));
    free(tree);
}

static void only_whole_strings_of_a_list_match(void **state)
{
    (void)state;
    struct device_tree t;
    struct device_range range;
    uint8_t *tree = open_board(&t);
    assert_true(device_tree_next(&t, "compatible", "riscv,clint0", 0, &range));
    assert_int_equal(range.address, 0x2000000);
    assert_true(device_tree_next(&t, "compatible", "sifive,clint0", 0, &range));
    assert_false(device_tree_next(&t, "compatible", "riscv,clint", 0, &range));
    assert_false(device_tree_next(&t, "compatible", "riscv,clint00", 0, &range));
    assert_false(device_tree_next(&t, "compatible", "clint0", 0, &range));
    assert_false(device_tree_next(&t, "model", "riscv,clint0", 0, &range));
    uint32_t n;
    assert_false(device_tree_number(&t, "timebase", &n));
    free(tree);
}

/* Devices at random addresses, on buses with addresses and sizes of one or two words. */
static void devices_are_sorted_by_address_on_buses_of_any_width(void **state)
{
    (void)state;
    enum { ROUNDS = 500, MOST_DEVICES = 12 };
    const uint64_t first = seeded_by(1);
    for (seeded_run = first; seeded_run < first + ROUNDS; seeded_run++) {
        uint64_t r = seeded_run;
        struct writer w = {.bytes = 0};
        uint64_t address[MOST_DEVICES];
        uint64_t size[MOST_DEVICES];
        unsigned count = 1 + seeded_below(&r, MOST_DEVICES);
        begin(&w, "");
        for (unsigned n = 0; n < count; n++) {
            unsigned address_words = 1 + seeded_below(&r, 2);
            unsigned size_words = seeded_below(&r, 3);
            address[n] =
                ((uint64_t)seeded_below(&r, UINT32_MAX) << 8 | n) & (address_words == 1 ? UINT32_MAX : UINT64_MAX);
            size[n] = size_words == 0 ? 0 : seeded_below(&r, UINT32_MAX);
            begin(&w, "bus");
            put_number(&w, "#address-cells", address_words);
            put_number(&w, "#size-cells", size_words);
            device(&w, n % 3 ? "wanted" : "other", address[n], address_words, size[n], size_words);
            item(&w, END_NODE);
        }
        item(&w, END_NODE);
        item(&w, END);
        size_t bytes;
        uint8_t *tree = tree_of(&w, &bytes);
        struct device_tree t;
        struct device_range range;
        assert_null(device_tree_open(&t, tree, bytes));
        uint64_t least = 0;
        for (unsigned found = 0; found < count - (count + 2) / 3; found++, least = range.address + 1) {
            unsigned best = 0; /* not wanted, so none */
            for (unsigned n = 0; n < count; n++)
                if (n % 3 && address[n] >= least && (best == 0 || address[n] < address[best]))
                    best = n;
            assert_int_not_equal(best, 0);
            assert_true(device_tree_next(&t, "compatible", "wanted", least, &range));
            assert_true(range.address == address[best] && range.bytes == size[best]);
        }
        assert_false(device_tree_next(&t, "compatible", "wanted", least, &range));
        free(tree);
    }
    seeded_run = 0;
}

/* ---- bad trees ---- */

/* Writes `value` at byte `at` of a good tree; returns the error, or "". */
static const char *with(uint32_t at, uint32_t value)
{
    struct writer w;
    struct device_tree t;
    size_t bytes;
    write_board(&w);
    uint8_t *tree = tree_of(&w, &bytes);
    put(tree + at, value);
    const char *fault = device_tree_open(&t, tree, bytes);
    free(tree);
    return fault ? fault : "";
}

static void a_wrong_header_is_refused(void **state)
{
    (void)state;
    struct writer w;
    struct device_tree t;
    write_board(&w);
    uint32_t bytes = HEADER + w.bytes + w.names;
    assert_string_equal(with(4, bytes), "");
    assert_string_equal(device_tree_open(&t, NULL, bytes), "is not there");
    assert_string_equal(with(0, 0xd00dfeee), "is not there");
    assert_string_equal(with(4, bytes + 1), "is longer than it can be");
    assert_string_equal(with(8, bytes), "has its structure outside of its bytes");
    assert_string_equal(with(8, UINT32_MAX), "has its structure outside of its bytes");
    assert_string_equal(with(36, UINT32_MAX), "has its structure outside of its bytes");
    assert_string_equal(with(12, bytes - w.names + 1), "has its strings outside of its bytes");
    assert_string_equal(with(32, w.names + 1), "has its strings outside of its bytes");
    assert_string_equal(with(24, 17), "is for readers of a later version");
}

static void an_incomplete_structure_is_refused(void **state)
{
    (void)state;
    static const char cut[] = "has an item that is cut off, or of no kind";
    struct writer w;
    write_board(&w);
    uint32_t end = HEADER + w.bytes;
    assert_string_equal(with(36, w.bytes - 4), cut);             /* without its last item */
    assert_string_equal(with(end - 4, 7), cut);                  /* an unknown token */
    assert_string_equal(with(end - 4, NOP), cut);                /* no end token */
    assert_string_equal(with(HEADER + 12, UINT32_MAX - 2), cut); /* a property longer than the tree */
    assert_string_equal(with(HEADER + 16, w.names), cut);        /* its name is outside, */
    assert_string_equal(with(32, w.names - 1), cut);             /* or without an end */
    assert_string_equal(with(end - 8, NOP), "ends within a node");
    assert_string_equal(with(end - 4, END_NODE), "has an item outside of all nodes");
    assert_string_equal(with(HEADER, NOP), cut); /* the name of a missing node */
}

static void a_too_deep_tree_is_refused(void **state)
{
    (void)state;
    for (unsigned depth = 15; depth <= 18; depth++) {
        struct writer w = {.bytes = 0};
        struct device_tree t;
        size_t bytes;
        for (unsigned n = 0; n < depth; n++)
            begin(&w, "deep");
        for (unsigned n = 0; n < depth; n++)
            item(&w, END_NODE);
        item(&w, END);
        uint8_t *tree = tree_of(&w, &bytes);
        const char *fault = device_tree_open(&t, tree, bytes);
        assert_string_equal(fault ? fault : "", depth <= 16 ? "" : "has nodes nested too deeply");
        free(tree);
    }
}

/* Trees that are cut anywhere or have changed bytes: a sanitizer reports reads beyond their bytes. */
static void a_broken_tree_leads_nowhere(void **state)
{
    (void)state;
    enum { ROUNDS = 20000 };
    const uint64_t first = seeded_by(1);
    struct writer w;
    size_t bytes;
    write_board(&w);
    uint8_t *good = tree_of(&w, &bytes);
    unsigned opened = 0;
    for (seeded_run = first; seeded_run < first + ROUNDS; seeded_run++) {
        uint64_t r = seeded_run;
        size_t round = seeded_run - first;
        size_t cut = round < bytes ? round : bytes;
        uint8_t *tree = malloc(cut ? cut : 1);
        assert_non_null(tree);
        memcpy(tree, good, cut);
        for (unsigned n = round < bytes ? 0 : 1 + seeded_below(&r, 4); n > 0; n--)
            tree[seeded_below(&r, cut)] = (uint8_t)seeded_below(&r, 256);
        struct device_tree t;
        struct device_range range;
        uint32_t hz;
        bool opens = device_tree_open(&t, tree, cut) == NULL;
        assert_false(opens && cut < bytes);
        if (opens) {
            (void)device_tree_next(&t, "compatible", "virtio,mmio", 0, &range);
            (void)device_tree_number(&t, "timebase-frequency", &hz);
            opened++;
        }
        free(tree);
    }
    seeded_run = 0;
    free(good);
    assert_in_range(opened, ROUNDS / 20, ROUNDS - 1); /* many changes are of values, so the tree stays valid */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_board_is_read),
        cmocka_unit_test(only_whole_strings_of_a_list_match),
        cmocka_unit_test_teardown(devices_are_sorted_by_address_on_buses_of_any_width, seeded_report),
        cmocka_unit_test(a_wrong_header_is_refused),
        cmocka_unit_test(an_incomplete_structure_is_refused),
        cmocka_unit_test(a_too_deep_tree_is_refused),
        cmocka_unit_test_teardown(a_broken_tree_leads_nowhere, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
