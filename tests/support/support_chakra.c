/* support_chakra.c - makes Chakra traces (support_chakra.h). */
#include "tests/support/support_chakra.h"

#include <stdlib.h>
#include <string.h>

static void put(struct bytes *b, const void *from, size_t count)
{
    if (count > BYTES_ROOM - b->count)
        abort();
    if (count)
        memcpy(b->at + b->count, from, count);
    b->count += count;
}

void bytes_varint(struct bytes *b, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(b, &byte, 1);
        value >>= 7;
    } while (value);
}

void bytes_number(struct bytes *b, unsigned field, uint64_t value)
{
    bytes_varint(b, (uint64_t)field << 3);
    bytes_varint(b, value);
}

void bytes_field(struct bytes *b, unsigned field, const void *value, size_t count)
{
    bytes_varint(b, (uint64_t)field << 3 | 2);
    bytes_varint(b, count);
    put(b, value, count);
}

void bytes_text(struct bytes *b, unsigned field, const char *text)
{
    bytes_field(b, field, text, strlen(text));
}

struct bytes trace_begin(void)
{
    struct bytes metadata = {.count = 0};
    struct bytes file = {.count = 0};
    bytes_text(&metadata, 1, "0.0.4");
    trace_add(&file, &metadata);
    return file;
}

void trace_add(struct bytes *file, const struct bytes *node)
{
    bytes_varint(file, node->count);
    put(file, node->at, node->count);
}

struct bytes node_begin(uint64_t id, const char *name, unsigned type)
{
    struct bytes node = {.count = 0};
    if (id)
        bytes_number(&node, 1, id);
    bytes_text(&node, 2, name);
    bytes_number(&node, 3, type);
    return node;
}

void node_data(struct bytes *node, uint64_t id)
{
    struct bytes packed = {.count = 0};
    bytes_varint(&packed, id);
    bytes_field(node, 5, packed.at, packed.count);
}

void node_control(struct bytes *node, uint64_t id)
{
    bytes_number(node, 4, id);
}

void node_attribute(struct bytes *node, const char *name, unsigned field, uint64_t value)
{
    struct bytes attribute = {.count = 0};
    bytes_text(&attribute, 1, name);
    bytes_number(&attribute, field, value);
    bytes_field(node, 10, attribute.at, attribute.count);
}

void node_text(struct bytes *node, const char *name, const char *text)
{
    struct bytes attribute = {.count = 0};
    bytes_text(&attribute, 1, name);
    bytes_text(&attribute, 29, text);
    bytes_field(node, 10, attribute.at, attribute.count);
}
