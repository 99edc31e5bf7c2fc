/* packed.h - files that may be packed by gzip, as traces are; a plain file is read as it is. */
#ifndef SCHEDULE_PACKED_H
#define SCHEDULE_PACKED_H

#include "base/error.h"

#include <stdint.h>
#include <zlib.h>

/* Returns NULL and sets *problem if the file cannot be read. The caller closes it by gzclose(). */
gzFile packed_open(const char *path, struct hx_problem *problem);

/* Reports a read at byte `at` of the unpacked file that gave less than it should. Returns false. */
bool packed_fail_end(gzFile in, const char *path, uint64_t at, const char *expected, struct hx_problem *problem);

/* Copies the first bytes of a file, unpacked if they are packed. Returns their number. */
size_t packed_begin(const uint8_t *from, size_t bytes, uint8_t *to, size_t room);

#endif
