/* chakra_stream.c - bytes and messages of a file that may be packed by gzip (chakra_stream.h). */
#include "schedule/chakra_stream.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_MESSAGE = 1 << 30 };

bool chakra_stream_open(struct chakra_stream *s, const char *path, struct hx_problem *problem)
{
    *s = (struct chakra_stream){.path = path, .problem = problem};
    s->in = packed_open(path, problem);
    return s->in != NULL;
}

void chakra_stream_close(struct chakra_stream *s)
{
    (void)gzclose(s->in);
    free(s->message);
}

/* Reports a read that gave less than it should. */
bool chakra_stream_fail_end(const struct chakra_stream *s, const char *expected)
{
    return packed_fail_end(s->in, s->path, s->at, expected, s->problem);
}

bool chakra_stream_fail(const struct chakra_stream *s, uint64_t place, const char *what)
{
    return hx_fail(s->problem, HX_EXIT_CONFIG, s->path, "byte %" PRIu64 ": %s", place, what);
}

/* Reads the length of a message. *is_end: the file ends before it. */
static bool read_length(struct chakra_stream *s, uint32_t *length, bool *is_end)
{
    uint64_t begin = s->at;
    *length = 0;
    *is_end = false;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        int byte = gzgetc(s->in);
        int error;
        (void)gzerror(s->in, &error);
        *is_end = byte < 0 && s->at == begin && error == Z_OK;
        if (*is_end)
            return true;
        if (byte < 0)
            return chakra_stream_fail_end(s, "the length of a message");
        s->at++;
        if (shift == 28 && byte > 0x0f)
            break;
        *length |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return *length <= MOST_MESSAGE ||
                   chakra_stream_fail(s, begin,
                                      "a message of more than 1 GiB, expected a node (is it a Chakra trace?)");
    }
    return chakra_stream_fail(s, begin, "expected the length of a message");
}

/* Reads a message. *is_end: the file ends before it. Memory grows with what is there, not with the length. */
bool chakra_stream_message(struct chakra_stream *s, struct protobuf *message, bool *is_end)
{
    uint32_t length;
    size_t have = 0;
    if (!read_length(s, &length, is_end) || *is_end)
        return *is_end;
    while (have < length) {
        if (have == s->room)
            s->message = hx_grow(s->message, have, &s->room, 1);
        size_t wanted = length - have < s->room - have ? length - have : s->room - have;
        int got = gzread(s->in, s->message + have, (unsigned)wanted);
        have += got > 0 ? (size_t)got : 0;
        s->at += got > 0 ? (unsigned)got : 0;
        if (got <= 0)
            return chakra_stream_fail_end(s, "the rest of a message");
    }
    *message = protobuf_of(s->message, length);
    return true;
}

size_t chakra_stream_give(void *to, size_t bytes, void *of)
{
    struct chakra_stream *s = of;
    int got = gzread(s->in, to, (unsigned)bytes);
    s->at += got > 0 ? (unsigned)got : 0;
    return got < 0 ? (size_t)-1 : (size_t)got;
}
