/* text.h - texts cut to a size, never within a UTF-8 character. */
#ifndef HXMESH_BASE_TEXT_H
#define HXMESH_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the whole characters that fit into `most` bytes. Reads at most most + 1 bytes. */
size_t hx_text_length(const char *text, size_t most);

/* Copies what fits into `bytes`, with the final zero. Returns `to`. */
char *hx_text_copy(char *to, size_t bytes, const char *text);

/* Returns a copy for free(); NULL: text is NULL. */
const char *hx_text_own(const char *text);

/* Returns the end of a noun after its count: "s", or "" for one. */
static inline const char *hx_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
