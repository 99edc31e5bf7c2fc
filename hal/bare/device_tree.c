/* device_tree.c - reads a flattened device tree (device_tree.h). */
#include "hal/bare/device_tree.h"

/* Offsets in the header, bytes; numbers are big-endian. */
enum { AT_MAGIC = 0, AT_BYTES = 4, AT_STRUCTURE = 8, AT_STRINGS = 12, AT_COMPATIBLE = 24, AT_STRINGS_BYTES = 32 };
enum { AT_STRUCTURE_BYTES = 36, HEADER_BYTES = 40, COMPATIBLE_VERSION = 16 };
#define MAGIC UINT32_C(0xd00dfeed)

enum token { NODE = 1, NODE_END = 2, PROPERTY = 3, NOTHING = 4, LAST = 9 };
enum { MOST_DEPTH = 16 };

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* ---- text ---- */

/* Returns the offset after a string's zero; 0: it does not end within `bytes`. */
static uint32_t text_end(const uint8_t *text, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (text[i] == 0)
            return i + 1;
    return 0;
}

/* Both are zero-terminated. */
static bool is(const uint8_t *text, const char *wanted)
{
    while (*text && *text == (uint8_t)*wanted)
        text++, wanted++;
    return *text == (uint8_t)*wanted;
}

static bool lists(const uint8_t *list, uint32_t bytes, const char *wanted)
{
    for (uint32_t end; (end = text_end(list, bytes)) != 0; list += end, bytes -= end)
        if (is(list, wanted))
            return true;
    return false;
}

/* ---- items ---- */

/* A token with its contents: name and value of a property. */
struct item {
    enum token token;
    const uint8_t *name, *value;
    uint32_t bytes;
};

/* Position in the structure: start of the next item. */
struct cursor {
    const struct device_tree *tree;
    uint32_t at;
};

static uint32_t left(const struct cursor *c)
{
    return c->tree->structure_bytes - c->at;
}

/* Items are aligned to four bytes. */
static bool skip(struct cursor *c, uint32_t bytes)
{
    if (bytes > left(c) || (bytes + 3) / 4 * 4 > left(c))
        return false;
    c->at += (bytes + 3) / 4 * 4;
    return true;
}

static bool property(struct cursor *c, struct item *i)
{
    const struct device_tree *t = c->tree;
    const uint8_t *at = t->structure + c->at;
    if (!skip(c, 8))
        return false;
    uint32_t name = word(at + 4);
    i->bytes = word(at);
    i->value = at + 8;
    i->name = t->strings + name;
    return name < t->strings_bytes && text_end(i->name, t->strings_bytes - name) && skip(c, i->bytes);
}

/* Reads the next item. Returns false if there is no whole one. */
static bool next(struct cursor *c, struct item *i)
{
    const uint8_t *at = c->tree->structure + c->at;
    if (!skip(c, 4))
        return false;
    *i = (struct item){.token = (enum token)word(at)};
    switch (i->token) {
    case NODE: {
        uint32_t name = text_end(at + 4, left(c));
        return name && skip(c, name);
    }
    case PROPERTY:
        return property(c, i);
    case NODE_END:
    case NOTHING:
    case LAST:
        return true;
    }
    return false;
}

/* Checks that nodes nest properly, within MOST_DEPTH, up to an end item. Returns the fault, or NULL. */
static const char *structure_fault(const struct device_tree *t)
{
    struct cursor c = {.tree = t};
    struct item i;
    unsigned depth = 0;
    while (next(&c, &i)) {
        if (i.token == LAST)
            return depth == 0 ? NULL : "ends within a node";
        if (i.token == NODE && ++depth > MOST_DEPTH)
            return "has nodes nested too deeply";
        if (i.token != NODE && i.token != NOTHING && depth == 0)
            return "has an item outside of all nodes";
        depth -= i.token == NODE_END;
    }
    return "has an item that is cut off, or of no kind";
}

/* ---- a tree ---- */

static bool is_within(uint32_t at, uint32_t bytes, uint32_t all)
{
    return at >= HEADER_BYTES && at <= all && bytes <= all - at;
}

const char *device_tree_open(struct device_tree *t, const void *at, size_t most)
{
    const uint8_t *header = at;
    if (!header || most < HEADER_BYTES || word(header + AT_MAGIC) != MAGIC)
        return "is not there";
    uint32_t bytes = word(header + AT_BYTES);
    uint32_t structure = word(header + AT_STRUCTURE);
    uint32_t strings = word(header + AT_STRINGS);
    *t = (struct device_tree){.structure_bytes = word(header + AT_STRUCTURE_BYTES),
                              .strings_bytes = word(header + AT_STRINGS_BYTES)};
    if (bytes > most)
        return "is longer than it can be";
    if (word(header + AT_COMPATIBLE) > COMPATIBLE_VERSION)
        return "is for readers of a later version";
    if (!is_within(structure, t->structure_bytes, bytes))
        return "has its structure outside of its bytes";
    if (!is_within(strings, t->strings_bytes, bytes))
        return "has its strings outside of its bytes";
    t->structure = header + structure;
    t->strings = header + strings;
    return structure_fault(t);
}

/* ---- queries ---- */

/* A node: cell counts of its children's ranges, its first range and interrupt, and whether it matches the query. */
struct node {
    uint32_t address_words, size_words;
    const uint8_t *range;
    uint32_t range_bytes;
    uint32_t interrupt; /* 0: none */
    bool wanted;
};

static void note(struct node *n, const struct item *i, const char *name, const char *value)
{
    if (is(i->name, "#address-cells") && i->bytes == 4)
        n->address_words = word(i->value);
    if (is(i->name, "#size-cells") && i->bytes == 4)
        n->size_words = word(i->value);
    if (is(i->name, "interrupts") && i->bytes >= 4)
        n->interrupt = word(i->value);
    if (is(i->name, "reg")) {
        n->range = i->value;
        n->range_bytes = i->bytes;
    }
    n->wanted = n->wanted || (is(i->name, name) && lists(i->value, i->bytes, value));
}

static uint64_t words(const uint8_t *at, uint32_t count)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < count; i++)
        number = number << 32 | word(at + 4 * (size_t)i);
    return number;
}

static bool range_of(const struct node *n, const struct node *parent, struct device_range *range)
{
    uint32_t address = parent->address_words;
    uint32_t size = parent->size_words;
    if (!n->range || address > 2 || size > 2 || n->range_bytes < 4 * (address + size))
        return false;
    range->address = words(n->range, address);
    range->interrupt = n->interrupt;
    range->bytes = words(n->range + 4 * (size_t)address, size);
    return true;
}

bool device_tree_next(const struct device_tree *t, const char *property, const char *value, uint64_t least,
                      struct device_range *found)
{
    struct cursor c = {.tree = t};
    struct item i;
    struct node nodes[MOST_DEPTH + 1] = {{.address_words = 2, .size_words = 1}};
    struct device_range range;
    unsigned depth = 0;
    bool any = false;
    while (next(&c, &i) && i.token != LAST) {
        if (i.token == NODE)
            nodes[++depth] = (struct node){.address_words = 2, .size_words = 1}; /* defaults of the specification */
        else if (i.token == PROPERTY)
            note(&nodes[depth], &i, property, value);
        else if (i.token == NODE_END) {
            const struct node *n = &nodes[depth--];
            if (n->wanted && range_of(n, &nodes[depth], &range) && range.address >= least &&
                (!any || range.address < found->address)) {
                *found = range;
                any = true;
            }
        }
    }
    return any;
}

bool device_tree_number(const struct device_tree *t, const char *property, uint32_t *number)
{
    struct cursor c = {.tree = t};
    struct item i;
    while (next(&c, &i) && i.token != LAST)
        if (i.token == PROPERTY && i.bytes == 4 && is(i.name, property)) {
            *number = word(i.value);
            return true;
        }
    return false;
}
