/* write.c - builds pcapng blocks and writes many at a time (base/pcapng/write.h). */
#include "base/pcapng/write.h"
#include "base/pcapng/blocks.h"
#include "base/text.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH_AT = 4, RESOLUTION_NS = 9, FILTER_TEXT = 0 };

int hx_pcapng_begin(struct hx_pcapng_writer *w, void *room, size_t size,
                    int (*write)(void *context, const void *bytes, size_t length), void *context)
{
    if (size < HX_PCAPNG_LEAST_ROOM)
        return EINVAL;
    *w = (struct hx_pcapng_writer){.room = room, .size = size, .write = write, .context = context};
    return 0;
}

/* Writes whole blocks until a full disk takes no more. */
static void write_what_fits(struct hx_pcapng_writer *w)
{
    for (size_t at = 0; at < w->used;) {
        uint32_t head[2]; /* type and length */
        memcpy(head, w->room + at, sizeof head);
        size_t length = le32toh(head[1]);
        if (w->write(w->context, w->room + at, length) != 0)
            return;
        w->bytes += length;
        w->packets_ready -= le32toh(head[0]) == HX_PCAPNG_ENHANCED;
        at += length;
    }
}

static bool is_full(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

int hx_pcapng_flush(struct hx_pcapng_writer *w)
{
    if (w->error == 0 && w->used > 0) {
        w->error = w->write(w->context, w->room, w->used);
        if (w->error == 0)
            w->bytes += w->used;
        else if (is_full(w->error))
            write_what_fits(w);
        if (w->error != 0)
            w->packets_lost += w->packets_ready;
        w->used = 0;
        w->packets_ready = 0;
    }
    return w->error;
}

/* ---- blocks: little-endian words ---- */

/* Inlined, a block stays in registers while it is built; calls would take four times as long per frame. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct block {
    uint8_t *bytes;
    size_t used;
};

ALWAYS_INLINE void put(struct block *b, const void *bytes, size_t length)
{
    memcpy(b->bytes + b->used, bytes, length);
    b->used += length;
}

ALWAYS_INLINE void put_number(struct block *b, uint64_t value, unsigned bytes)
{
    uint64_t little = htole64(value);
    memcpy(b->bytes + b->used, &little, bytes);
    b->used += bytes;
}

ALWAYS_INLINE void pad(struct block *b)
{
    while (b->used % 4 != 0)
        b->bytes[b->used++] = 0;
}

ALWAYS_INLINE void put_time(struct block *b, uint64_t time)
{
    put_number(b, time >> 32, 4);
    put_number(b, time, 4);
}

static void option_text(struct block *b, unsigned code, const char *text, size_t most)
{
    if (!text || !*text)
        return;
    size_t length = hx_text_length(text, most);
    put_number(b, code, 2);
    put_number(b, length, 2);
    put(b, text, length);
    pad(b);
}

ALWAYS_INLINE void option_number(struct block *b, unsigned code, uint64_t value, unsigned bytes)
{
    put_number(b, code, 2);
    put_number(b, bytes, 2);
    put_number(b, value, bytes);
    pad(b);
}

/* Times in options have their upper half first, in any byte order. */
static void option_time(struct block *b, unsigned code, uint64_t time)
{
    put_number(b, code, 2);
    put_number(b, 8, 2);
    put_time(b, time);
}

/* Begins a block of at most `most` bytes; flushes first if it does not fit. */
ALWAYS_INLINE int open_block(struct hx_pcapng_writer *w, struct block *b, enum hx_pcapng_block type, size_t most)
{
    if (w->size - w->used < most && hx_pcapng_flush(w) != 0)
        return w->error;
    *b = (struct block){.bytes = w->room + w->used};
    put_number(b, (uint32_t)type, 4);
    put_number(b, 0, 4);
    return w->error;
}

ALWAYS_INLINE void close_block(struct hx_pcapng_writer *w, struct block *b, size_t options_at)
{
    if (b->used > options_at)
        option_number(b, HX_PCAPNG_END, 0, 0);
    size_t length = b->used + 4;
    put_number(b, length, 4);
    b->used = LENGTH_AT;
    put_number(b, length, 4);
    w->used += length;
}

enum { FIXED = 256 }; /* more than all parts of a block except texts and packet */

static void long_text(struct block *b, const struct hx_pcapng_section *s)
{
    for (size_t at = 0; at < s->text_bytes;) {
        size_t mark = strlen(s->mark);
        size_t left = s->text_bytes - at;
        size_t length = left;
        if (left > HX_PCAPNG_MOST_NOTE - mark) /* no character is cut in two */
            for (length = HX_PCAPNG_MOST_NOTE - mark; ((unsigned char)s->text[at + length] & 0xC0U) == 0x80U;)
                length--;
        put_number(b, HX_PCAPNG_COMMENT, 2);
        put_number(b, mark + length, 2);
        put(b, s->mark, mark);
        put(b, s->text + at, length);
        pad(b);
        at += length;
    }
}

int hx_pcapng_section(struct hx_pcapng_writer *w, const struct hx_pcapng_section *s)
{
    struct block b;
    int error = open_block(w, &b, HX_PCAPNG_SECTION,
                           FIXED + HX_PCAPNG_MOST_NOTES * HX_PCAPNG_MOST_NOTE + 3 * HX_PCAPNG_MOST_TEXT +
                               hx_pcapng_room_of_text(s->text_bytes));
    if (error)
        return error;
    put_number(&b, HX_PCAPNG_BYTE_ORDER, 4);
    put_number(&b, 1, 2);
    put_number(&b, 0, 2);
    put_number(&b, UINT64_MAX, 8);
    size_t options = b.used;
    for (unsigned i = 0; i < HX_PCAPNG_MOST_NOTES && s->comments[i]; i++)
        option_text(&b, HX_PCAPNG_COMMENT, s->comments[i], HX_PCAPNG_MOST_NOTE);
    long_text(&b, s);
    option_text(&b, HX_PCAPNG_HARDWARE, s->hardware, HX_PCAPNG_MOST_TEXT);
    option_text(&b, HX_PCAPNG_OS, s->os, HX_PCAPNG_MOST_TEXT);
    option_text(&b, HX_PCAPNG_APPLICATION, s->application, HX_PCAPNG_MOST_TEXT);
    close_block(w, &b, options);
    w->interfaces = 0;
    return 0;
}

static void option_filter(struct block *b, const char *filter)
{
    if (!filter || !*filter)
        return;
    size_t length = hx_text_length(filter, HX_PCAPNG_MOST_TEXT);
    put_number(b, HX_PCAPNG_FILTER, 2);
    put_number(b, length + 1, 2);
    put_number(b, FILTER_TEXT, 1);
    put(b, filter, length);
    pad(b);
}

int hx_pcapng_interface(struct hx_pcapng_writer *w, const struct hx_pcapng_interface *i)
{
    struct block b;
    int error = open_block(w, &b, HX_PCAPNG_INTERFACE, FIXED + 3 * HX_PCAPNG_MOST_TEXT);
    if (error)
        return error;
    put_number(&b, HX_PCAPNG_ETHERNET, 2);
    put_number(&b, 0, 2);
    put_number(&b, i->snaplen, 4);
    size_t options = b.used;
    option_text(&b, HX_PCAPNG_NAME, i->name, HX_PCAPNG_MOST_TEXT);
    option_text(&b, HX_PCAPNG_DESCRIPTION, i->description, HX_PCAPNG_MOST_TEXT);
    if (i->bits_per_second)
        option_number(&b, HX_PCAPNG_SPEED, i->bits_per_second, 8);
    option_number(&b, HX_PCAPNG_RESOLUTION, RESOLUTION_NS, 1);
    option_filter(&b, i->filter);
    close_block(w, &b, options);
    w->interfaces++;
    return 0;
}

int hx_pcapng_packet(struct hx_pcapng_writer *w, const struct hx_pcapng_packet *p)
{
    if (p->interface >= w->interfaces || p->original < p->captured)
        return EINVAL;
    if (p->captured > HX_PCAPNG_MOST_BYTES)
        return EMSGSIZE;
    struct block b;
    unsigned comments = 0;
    while (comments < HX_PCAPNG_MOST_ANNOTATIONS && p->comments[comments])
        comments++;
    int error = open_block(w, &b, HX_PCAPNG_ENHANCED, FIXED + p->captured + comments * HX_PCAPNG_MOST_TEXT);
    if (error) {
        w->packets_lost++;
        return error;
    }
    put_number(&b, p->interface, 4);
    put_time(&b, p->time_ns);
    put_number(&b, p->captured, 4);
    put_number(&b, p->original, 4);
    if (p->captured)
        put(&b, p->bytes, p->captured);
    pad(&b);
    size_t options = b.used;
    if (p->direction != HX_PCAPNG_UNKNOWN)
        option_number(&b, HX_PCAPNG_FLAGS, p->direction, 4);
    if (p->has_dropped)
        option_number(&b, HX_PCAPNG_DROPPED, p->dropped, 8);
    if (p->has_id)
        option_number(&b, HX_PCAPNG_ID, p->id, 8);
    if (p->has_queue)
        option_number(&b, HX_PCAPNG_QUEUE, p->queue, 4);
    for (unsigned i = 0; i < comments; i++)
        option_text(&b, HX_PCAPNG_COMMENT, p->comments[i], HX_PCAPNG_MOST_TEXT);
    close_block(w, &b, options);
    w->packets++;
    w->packets_ready++;
    return 0;
}

static void option_count(struct block *b, unsigned code, uint64_t count)
{
    if (count != HX_PCAPNG_NOT_KNOWN)
        option_number(b, code, count, 8);
}

int hx_pcapng_statistics(struct hx_pcapng_writer *w, const struct hx_pcapng_statistics *s)
{
    if (s->interface >= w->interfaces)
        return EINVAL;
    struct block b;
    int error = open_block(w, &b, HX_PCAPNG_STATISTICS, FIXED);
    if (error)
        return error;
    put_number(&b, s->interface, 4);
    put_time(&b, s->time_ns);
    size_t options = b.used;
    if (s->start_ns != HX_PCAPNG_NOT_KNOWN)
        option_time(&b, HX_PCAPNG_START, s->start_ns);
    if (s->end_ns != HX_PCAPNG_NOT_KNOWN)
        option_time(&b, HX_PCAPNG_STOP, s->end_ns);
    option_count(&b, HX_PCAPNG_IFRECV, s->received);
    option_count(&b, HX_PCAPNG_IFDROP, s->dropped);
    option_count(&b, HX_PCAPNG_FILTERACCEPT, s->accepted);
    option_count(&b, HX_PCAPNG_OSDROP, s->os_dropped);
    close_block(w, &b, options);
    return 0;
}

/* ---- file descriptors ---- */

/* Truncates a regular file; other files keep a partial block. */
static void cut_back(int fd, off_t length)
{
    struct stat about;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && ftruncate(fd, length) == 0)
        (void)lseek(fd, length, SEEK_SET);
}

int hx_pcapng_write_fd(void *context, const void *bytes, size_t length)
{
    const struct hx_pcapng_fd *file = context;
    const uint8_t *next = bytes;
    off_t begin = lseek(file->fd, 0, SEEK_CUR);
    while (length > 0) {
        ssize_t written = write(file->fd, next, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int error = written < 0 ? errno : EIO;
            if (begin >= 0)
                cut_back(file->fd, begin);
            return error;
        }
        next += written;
        length -= (size_t)written;
    }
    return 0;
}
