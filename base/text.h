/* text.h - texts that are cut to what there is room for: never within a UTF-8 character. */
#ifndef HXMESH_BASE_TEXT_H
#define HXMESH_BASE_TEXT_H

#include <stddef.h>

/* How many bytes of a text are its first whole characters, `most` at most. No byte behind the first most + 1 is
 * read. */
size_t hx_text_length(const char *text, size_t most);

/* Copies what fits into `bytes`, the final zero included. Returns `to`. */
char *hx_text_copy(char *to, size_t bytes, const char *text);

#endif
