/* chakra_stream.h - a file of a Chakra trace as bytes and messages; unpacked if it is packed by gzip. */
#ifndef SCHEDULE_CHAKRA_STREAM_H
#define SCHEDULE_CHAKRA_STREAM_H

#include "schedule/packed.h"
#include "schedule/protobuf.h"

struct chakra_stream {
    gzFile in;
    const char *path; /* not copied */
    struct hx_problem *problem;
    uint64_t at; /* byte of the unpacked file */
    uint8_t *message;
    size_t room;
};

/* Returns false and sets *problem if the file cannot be read. */
bool chakra_stream_open(struct chakra_stream *s, const char *path, struct hx_problem *problem);
void chakra_stream_close(struct chakra_stream *s);

/* Reads a message behind its length; it lives until the next is read. *is_end: the file ends before it. */
bool chakra_stream_message(struct chakra_stream *s, struct protobuf *message, bool *is_end);
/* Reads bytes for json_load_callback(). */
size_t chakra_stream_give(void *to, size_t bytes, void *of);

/* Report "byte N: ...", and return false: a problem of the bytes at `place`, and a file that ends too early. */
bool chakra_stream_fail(const struct chakra_stream *s, uint64_t place, const char *what);
bool chakra_stream_fail_end(const struct chakra_stream *s, const char *expected);

#endif
