/* packed.c - opens files that may be packed by gzip (packed.h). */
#include "schedule/packed.h"
#include "base/input.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { UNPACK_AT_ONCE = 1 << 16 };

gzFile packed_open(const char *path, struct hx_problem *problem)
{
    FILE *in = hx_input_open(path, problem);
    if (!in)
        return NULL;
    int fd = dup(fileno(in));
    (void)fclose(in);
    gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");
    if (file) {
        (void)gzbuffer(file, UNPACK_AT_ONCE);
        return file;
    }
    if (fd >= 0)
        (void)close(fd);
    (void)hx_fail(problem, HX_EXIT_CONFIG, path, "is no file that can be read twice (a trace is a plain file)");
    return NULL;
}

bool packed_fail_end(gzFile in, const char *path, uint64_t at, const char *expected, struct hx_problem *problem)
{
    int error;
    const char *reason = gzerror(in, &error);
    if (error != Z_OK && error != Z_BUF_ERROR)
        return hx_fail(problem, HX_EXIT_CONFIG, path, "byte %" PRIu64 ": cannot be unpacked: %s", at, reason);
    return hx_fail(problem, HX_EXIT_CONFIG, path, "byte %" PRIu64 ": the file ends, expected %s (is it whole?)", at,
                   expected);
}

/* Unpacks the begin of a packed file. */
static size_t unpack(const uint8_t *from, size_t bytes, uint8_t *to, size_t room)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)from,
                  .avail_in = (unsigned)bytes,
                  .next_out = to,
                  .avail_out = (unsigned)room};
    if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
        return 0;
    (void)inflate(&z, Z_SYNC_FLUSH);
    (void)inflateEnd(&z);
    return room - z.avail_out;
}

size_t packed_begin(const uint8_t *from, size_t bytes, uint8_t *to, size_t room)
{
    if (bytes > 2 && from[0] == 0x1f && from[1] == 0x8b)
        return unpack(from, bytes, to, room);
    size_t count = bytes < room ? bytes : room;
    memcpy(to, from, count);
    return count;
}
