/* support_chakra.h - makes Chakra traces in the wire format of Protocol Buffers. */
#ifndef HXMESH_TESTS_SUPPORT_CHAKRA_H
#define HXMESH_TESTS_SUPPORT_CHAKRA_H

#include <stddef.h>
#include <stdint.h>

enum { BYTES_ROOM = 4096 };

struct bytes {
    uint8_t at[BYTES_ROOM];
    size_t count;
};

void bytes_varint(struct bytes *b, uint64_t value);
/* A field that is a varint, or that has bytes. */
void bytes_number(struct bytes *b, unsigned field, uint64_t value);
void bytes_field(struct bytes *b, unsigned field, const void *value, size_t count);
void bytes_text(struct bytes *b, unsigned field, const char *text);

/* Begins a file: GlobalMetadata. Adds a node to it. */
struct bytes trace_begin(void);
void trace_add(struct bytes *file, const struct bytes *node);

/* Begins a node, and adds to it. */
struct bytes node_begin(uint64_t id, const char *name, unsigned type);
void node_data(struct bytes *node, uint64_t id);
void node_control(struct bytes *node, uint64_t id);
/* An attribute, as the number of the field that its value is in says (9: int64, 27: bool, 29: string). */
void node_attribute(struct bytes *node, const char *name, unsigned field, uint64_t value);
void node_text(struct bytes *node, const char *name, const char *text);

#endif
