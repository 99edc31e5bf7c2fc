/* blobs.h - a table of different byte strings, numbered from 0 in the order of adding. Equal strings have one
 * number. */
#ifndef HXMESH_BASE_BLOBS_H
#define HXMESH_BASE_BLOBS_H

#include "base/table.h"

/* Zero is an empty table. */
struct hx_blobs {
    uint8_t *bytes; /* all strings, one behind the other */
    size_t used, bytes_room;
    struct hx_blob *blob; /* [count] */
    size_t count, room;
    struct hx_table numbers; /* by hash */
};

struct hx_blob {
    size_t at, bytes; /* in the table's bytes */
};

enum { HX_NO_BLOB = UINT32_MAX };

/* The number of a string; HX_NO_BLOB: it is not there. */
uint32_t hx_blobs_find(const struct hx_blobs *t, const void *data, size_t bytes);
/* The same, and adds it if it is not there. Running out of memory ends the program. */
uint32_t hx_blobs_add(struct hx_blobs *t, const void *data, size_t bytes);
void hx_blobs_free(struct hx_blobs *t);

/* Valid until the next string is added. */
static inline const void *hx_blobs_at(const struct hx_blobs *t, uint32_t number)
{
    return t->bytes + t->blob[number].at;
}

#endif
