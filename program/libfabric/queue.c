/* queue.c - completion queues, in all formats, and an event queue that is always empty (provider.h). */
#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_ROOM = 256 };

/* ---- filling ---- */

static bool grow(struct hxfi_queue *q)
{
    size_t room = q->room ? 2 * q->room : LEAST_ROOM;
    struct hxfi_entry *entry = calloc(room, sizeof *entry);
    if (!entry)
        return false;
    for (size_t i = 0, at = q->first; i < q->count; i++, at = at + 1 == q->room ? 0 : at + 1)
        entry[i] = q->entry[at];
    free(q->entry);
    q->entry = entry;
    q->room = room;
    q->first = 0;
    return true;
}

bool hxfi_queue_reserve(struct hxfi_queue *q)
{
    if (!q)
        return true;
    if (q->count + q->reserved == q->room && !grow(q))
        return false;
    q->reserved++;
    return true;
}

void hxfi_queue_unreserve(struct hxfi_queue *q)
{
    if (q)
        q->reserved--;
}

static void put(struct hxfi_queue *q, const struct hxfi_entry *entry)
{
    q->entry[(q->first + q->count++) % q->room] = *entry;
}

void hxfi_queue_complete(struct hxfi_queue *q, const struct hxfi_operation *o, size_t bytes, uint64_t tag,
                         fi_addr_t source)
{
    hxfi_queue_unreserve(q);
    if (!q || !o->reported)
        return;
    bool has_data = o->flags & FI_RECV && tag & HXFI_WITH_DATA; /* data is for the receiver only */
    put(q, &(struct hxfi_entry){.entry = {.op_context = o->context,
                                          .flags = o->flags | (has_data ? FI_REMOTE_CQ_DATA : 0),
                                          .len = bytes,
                                          .buf = o->buffer,
                                          .data = o->note,
                                          .tag = tag & HXFI_TAG},
                                .source = source});
}

void hxfi_queue_fail(struct hxfi_queue *q, const struct hxfi_operation *o, int error, size_t bytes, size_t beyond,
                     uint64_t tag)
{
    hxfi_queue_unreserve(q);
    if (!q)
        return;
    put(q, &(struct hxfi_entry){
               .entry = {.op_context = o->context, .flags = o->flags, .len = bytes, .buf = o->buffer, .tag = tag},
               .error = error,
               .beyond = beyond});
}

/* ---- reading ---- */

static size_t bytes_of(enum fi_cq_format format)
{
    static const size_t bytes[] = {[FI_CQ_FORMAT_UNSPEC] = sizeof(struct fi_cq_tagged_entry),
                                   [FI_CQ_FORMAT_CONTEXT] = sizeof(struct fi_cq_entry),
                                   [FI_CQ_FORMAT_MSG] = sizeof(struct fi_cq_msg_entry),
                                   [FI_CQ_FORMAT_DATA] = sizeof(struct fi_cq_data_entry),
                                   [FI_CQ_FORMAT_TAGGED] = sizeof(struct fi_cq_tagged_entry)};
    return bytes[format];
}

static bool has_failure(const struct hxfi_queue *q)
{
    return q->count && q->entry[q->first].error;
}

static void take_first(struct hxfi_queue *q)
{
    q->first = (q->first + 1) % q->room;
    q->count--;
}

/* Each format is a prefix of the longest one. */
static ssize_t read_from(struct fid_cq *fid, void *to, size_t most, fi_addr_t *source)
{
    struct hxfi_queue *q = (struct hxfi_queue *)fid;
    size_t bytes = bytes_of(q->format);
    size_t n = 0;
    int error = q->domain->endpoint ? hxfi_progress(q->domain->endpoint) : 0;
    for (; n < most && q->count && !has_failure(q); n++, take_first(q)) {
        const struct hxfi_entry *e = &q->entry[q->first];
        memcpy((uint8_t *)to + n * bytes, &e->entry, bytes);
        if (source)
            source[n] = e->source;
    }
    if (n)
        return (ssize_t)n;
    return has_failure(q) ? -FI_EAVAIL : error ? error : -FI_EAGAIN;
}

static ssize_t read_plain(struct fid_cq *fid, void *to, size_t most)
{
    return read_from(fid, to, most, NULL);
}

static ssize_t read_failure(struct fid_cq *fid, struct fi_cq_err_entry *to, uint64_t flags)
{
    struct hxfi_queue *q = (struct hxfi_queue *)fid;
    (void)flags;
    if (!has_failure(q))
        return -FI_EAGAIN;
    const struct hxfi_entry *e = &q->entry[q->first];
    *to = (struct fi_cq_err_entry){.op_context = e->entry.op_context,
                                   .flags = e->entry.flags,
                                   .len = e->entry.len,
                                   .buf = e->entry.buf,
                                   .tag = e->entry.tag,
                                   .olen = e->beyond,
                                   .err = e->error,
                                   .prov_errno = e->error};
    take_first(q);
    return 1;
}

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Events without completion do not extend the timeout. */
static ssize_t wait_from(struct fid_cq *fid, void *to, size_t most, fi_addr_t *source, const void *cond, int timeout)
{
    const struct hxfi_queue *q = (const struct hxfi_queue *)fid;
    const int64_t end = now_ms() + timeout;
    (void)cond;
    for (int left = timeout;; left = timeout < 0 ? timeout : end > now_ms() ? (int)(end - now_ms()) : 0) {
        ssize_t n = read_from(fid, to, most, source);
        int error = n == -FI_EAGAIN && q->domain->endpoint && left ? hx_program_wait(q->domain->endpoint->program, left)
                                                                   : -ETIMEDOUT;
        if (n != -FI_EAGAIN || error == -ETIMEDOUT)
            return n;
        if (error)
            return error;
    }
}

static ssize_t wait_plain(struct fid_cq *fid, void *to, size_t most, const void *cond, int timeout)
{
    return wait_from(fid, to, most, NULL, cond, timeout);
}

static const char *explain(struct fid_cq *fid, int error, const void *data, char *text, size_t bytes)
{
    (void)fid;
    (void)data;
    (void)text;
    (void)bytes;
    return fi_strerror(error);
}

/* ---- open and close ---- */

static int close_queue(struct fid *fid)
{
    struct hxfi_queue *q = (struct hxfi_queue *)fid;
    free(q->entry);
    free(q);
    return 0;
}

static struct fi_ops queue_life = HXFI_LIFE(close_queue, hxfi_no_bind, hxfi_no_control);
static struct fi_ops_cq queue_ops = {.size = sizeof queue_ops,
                                     .read = read_plain,
                                     .readfrom = read_from,
                                     .readerr = read_failure,
                                     .sread = wait_plain,
                                     .sreadfrom = wait_from,
                                     .signal = hxfi_no_signal,
                                     .strerror = explain};

int hxfi_queue_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    if (attr &&
        (attr->format > FI_CQ_FORMAT_TAGGED || (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)))
        return -FI_ENOSYS;
    struct hxfi_queue *q = calloc(1, sizeof *q);
    if (!q)
        return -FI_ENOMEM;
    q->fid.fid = (struct fid){.fclass = FI_CLASS_CQ, .context = context, .ops = &queue_life};
    q->fid.ops = &queue_ops;
    q->domain = (struct hxfi_domain *)domain;
    q->format = attr ? attr->format : FI_CQ_FORMAT_UNSPEC;
    *cq = &q->fid;
    return 0;
}

/* ---- event queue: programs open one, but there are no events ---- */

static ssize_t no_event(struct fid_eq *eq, uint32_t *event, void *to, size_t bytes, uint64_t flags)
{
    (void)eq;
    (void)event;
    (void)to;
    (void)bytes;
    (void)flags;
    return -FI_EAGAIN;
}

static ssize_t no_event_failed(struct fid_eq *eq, struct fi_eq_err_entry *to, uint64_t flags)
{
    (void)eq;
    (void)to;
    (void)flags;
    return -FI_EAGAIN;
}

static ssize_t no_event_awaited(struct fid_eq *eq, uint32_t *event, void *to, size_t bytes, int timeout, uint64_t flags)
{
    (void)timeout;
    return no_event(eq, event, to, bytes, flags);
}

static const char *explain_event(struct fid_eq *eq, int error, const void *data, char *text, size_t bytes)
{
    (void)eq;
    (void)data;
    (void)text;
    (void)bytes;
    return fi_strerror(error);
}

static int close_events(struct fid *fid)
{
    free(fid);
    return 0;
}

static struct fi_ops events_life = HXFI_LIFE(close_events, hxfi_no_bind, hxfi_no_control);
static struct fi_ops_eq events_ops = {.size = sizeof events_ops,
                                      .read = no_event,
                                      .readerr = no_event_failed,
                                      .write = hxfi_no_event_written,
                                      .sread = no_event_awaited,
                                      .strerror = explain_event};

int hxfi_events_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context)
{
    (void)fabric;
    if (attr && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC)
        return -FI_ENOSYS;
    struct fid_eq *new = calloc(1, sizeof *new);
    if (!new)
        return -FI_ENOMEM;
    *new = (struct fid_eq){.fid = {.fclass = FI_CLASS_EQ, .context = context, .ops = &events_life}, .ops = &events_ops};
    *eq = new;
    return 0;
}
