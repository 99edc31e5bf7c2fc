/* transfer.c - sends and receives in all the forms that libfabric has for them: tagged and not, one buffer or a vector
 * of one, with flags or without (provider.h). */
#include "provider.h"

#include <errno.h>

/* ---- sending ---- */

struct outgoing {
    const void *data;
    size_t bytes;
    fi_addr_t to;
    uint64_t tag; /* as it goes out */
    void *context;
    uint64_t flags; /* of the call */
    bool is_tagged;
    bool is_silent; /* nobody is told how it ends */
    uint32_t note;  /* with HXFI_WITH_DATA in its tag: data for the receiver's completion */
};

static void add_data(struct outgoing *m, uint64_t data)
{
    m->tag |= HXFI_WITH_DATA;
    m->note = (uint32_t)data;
}

static bool wants_completion(uint64_t flags, bool selective)
{
    return !selective || flags & FI_COMPLETION;
}

/* What is injected is copied before the call returns: it is short (fi_tx_attr.inject_size). */
static ssize_t send_one(struct fid_ep *ep, const struct outgoing *m)
{
    struct hxfi_endpoint *e = (struct hxfi_endpoint *)ep;
    uint32_t host = hxfi_host_of(e->vector, m->to);
    if (!e->program || host == HXFI_ANY_HOST || (m->flags & FI_INJECT && m->bytes > HX_PROGRAM_SHORT))
        return -FI_EINVAL;
    struct hxfi_operation *o = hxfi_operation_begin(e, e->sends);
    if (!o)
        return -FI_ENOMEM;
    *o = (struct hxfi_operation){.context = m->context,
                                 .flags = FI_SEND | (m->is_tagged ? FI_TAGGED : FI_MSG),
                                 .says_so = !m->is_silent && wants_completion(m->flags, e->sends_selective),
                                 .bytes = m->bytes,
                                 .tag = m->tag};
    int error = hx_program_send_noted(e->program, host, m->tag, m->note, m->data, m->bytes, o);
    if (error == -EAGAIN) {
        int ended = hxfi_progress(e);
        error = ended ? ended : hx_program_send_noted(e->program, host, m->tag, m->note, m->data, m->bytes, o);
    }
    if (error) {
        hxfi_queue_forgo(e->sends);
        hxfi_operation_end(e, o);
    }
    return error;
}

/* ---- receiving ---- */

struct incoming {
    void *data;
    size_t bytes;
    fi_addr_t from;
    uint64_t tag, ignore; /* as it comes in */
    void *context;
    uint64_t flags;
    bool is_tagged;
};

/* Says what waits, and with FI_CLAIM keeps it for who asked. */
static ssize_t peek(struct hxfi_endpoint *e, struct hxfi_operation *o, uint64_t flags)
{
    int ended = hxfi_progress(e);
    struct hxfi_unexpected *u = ended ? NULL : hxfi_find(e, o, NULL);
    if (u) {
        u->claimed = (flags & FI_CLAIM) ? o->context : NULL;
        o->note = u->note;
        hxfi_queue_complete(e->receives, o, u->bytes, u->tag, hxfi_address_of(e->vector, u->peer));
    } else {
        hxfi_queue_fail(e->receives, o, FI_ENOMSG, 0, 0, o->tag);
    }
    hxfi_operation_end(e, o);
    return ended;
}

static ssize_t receive_one(struct fid_ep *ep, const struct incoming *m)
{
    struct hxfi_endpoint *e = (struct hxfi_endpoint *)ep;
    const uint32_t host = e->directed ? hxfi_host_of(e->vector, m->from) : HXFI_ANY_HOST;
    bool from_nobody = e->directed && m->from != FI_ADDR_UNSPEC && host == HXFI_ANY_HOST;
    if (!e->program || from_nobody)
        return -FI_EINVAL;
    if (m->flags & (FI_MULTI_RECV | FI_DISCARD))
        return -FI_ENOSYS;
    struct hxfi_operation *o = hxfi_operation_begin(e, e->receives);
    if (!o)
        return -FI_ENOMEM;
    *o = (struct hxfi_operation){.context = m->context,
                                 .flags = FI_RECV | (m->is_tagged ? FI_TAGGED : FI_MSG),
                                 .says_so = wants_completion(m->flags, e->receives_selective),
                                 .buffer = m->data,
                                 .bytes = m->bytes,
                                 .host = host,
                                 .tag = m->tag,
                                 .ignore = m->ignore,
                                 .claims = (m->flags & (FI_CLAIM | FI_PEEK)) == FI_CLAIM};
    if (m->flags & FI_PEEK)
        return peek(e, o, m->flags);
    hxfi_receive(e, o);
    return 0;
}

static struct hxfi_endpoint *of(struct fid_ep *ep)
{
    return (struct hxfi_endpoint *)ep;
}

static void *start_of(const struct iovec *iov, size_t count)
{
    return count ? iov->iov_base : NULL;
}

static size_t length_of(const struct iovec *iov, size_t count)
{
    return count ? iov->iov_len : 0;
}

/* ---- with a tag ---- */

static struct outgoing tagged_out(struct fid_ep *ep, const void *data, size_t bytes, fi_addr_t to, uint64_t tag,
                                  void *context)
{
    return (struct outgoing){data, bytes, to, tag & HXFI_TAG, context, of(ep)->send_flags, true, false, 0};
}

static struct incoming tagged_in(struct fid_ep *ep, void *data, size_t bytes, fi_addr_t from, uint64_t tag,
                                 uint64_t ignore, void *context)
{
    return (struct incoming){data, bytes, from, tag & HXFI_TAG, ignore, context, of(ep)->receive_flags, true};
}

static ssize_t tagged_recv(struct fid_ep *ep, void *data, size_t bytes, void *desc, fi_addr_t from, uint64_t tag,
                           uint64_t ignore, void *context)
{
    (void)desc;
    const struct incoming m = tagged_in(ep, data, bytes, from, tag, ignore, context);
    return receive_one(ep, &m);
}

static ssize_t tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t from,
                            uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    if (count > 1)
        return -FI_EINVAL;
    const struct incoming m = tagged_in(ep, start_of(iov, count), length_of(iov, count), from, tag, ignore, context);
    return receive_one(ep, &m);
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *message, uint64_t flags)
{
    size_t count = message->iov_count;
    if (count > 1)
        return -FI_EINVAL;
    struct incoming m = tagged_in(ep, start_of(message->msg_iov, count), length_of(message->msg_iov, count),
                                  message->addr, message->tag, message->ignore, message->context);
    m.flags = flags;
    return receive_one(ep, &m);
}

static ssize_t tagged_send(struct fid_ep *ep, const void *data, size_t bytes, void *desc, fi_addr_t to, uint64_t tag,
                           void *context)
{
    (void)desc;
    const struct outgoing m = tagged_out(ep, data, bytes, to, tag, context);
    return send_one(ep, &m);
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t to,
                            uint64_t tag, void *context)
{
    (void)desc;
    if (count > 1)
        return -FI_EINVAL;
    const struct outgoing m = tagged_out(ep, start_of(iov, count), length_of(iov, count), to, tag, context);
    return send_one(ep, &m);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *message, uint64_t flags)
{
    size_t count = message->iov_count;
    if (count > 1)
        return -FI_EINVAL;
    struct outgoing m = tagged_out(ep, start_of(message->msg_iov, count), length_of(message->msg_iov, count),
                                   message->addr, message->tag, message->context);
    m.flags = flags;
    if (flags & FI_REMOTE_CQ_DATA)
        add_data(&m, message->data);
    return send_one(ep, &m);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *data, size_t bytes, fi_addr_t to, uint64_t tag)
{
    struct outgoing m = tagged_out(ep, data, bytes, to, tag, NULL);
    m.flags = FI_INJECT;
    m.is_silent = true;
    return send_one(ep, &m);
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *data, size_t bytes, void *desc, uint64_t more,
                               fi_addr_t to, uint64_t tag, void *context)
{
    (void)desc;
    struct outgoing m = tagged_out(ep, data, bytes, to, tag, context);
    add_data(&m, more);
    return send_one(ep, &m);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *data, size_t bytes, uint64_t more, fi_addr_t to,
                                 uint64_t tag)
{
    struct outgoing m = tagged_out(ep, data, bytes, to, tag, NULL);
    m.flags = FI_INJECT;
    m.is_silent = true;
    add_data(&m, more);
    return send_one(ep, &m);
}

struct fi_ops_tagged hxfi_tagged_ops = {.size = sizeof hxfi_tagged_ops,
                                        .recv = tagged_recv,
                                        .recvv = tagged_recvv,
                                        .recvmsg = tagged_recvmsg,
                                        .send = tagged_send,
                                        .sendv = tagged_sendv,
                                        .sendmsg = tagged_sendmsg,
                                        .inject = tagged_inject,
                                        .senddata = tagged_senddata,
                                        .injectdata = tagged_injectdata};

/* ---- without ---- */

static struct outgoing plain_out(struct fid_ep *ep, const void *data, size_t bytes, fi_addr_t to, void *context)
{
    return (struct outgoing){data, bytes, to, HXFI_UNTAGGED, context, of(ep)->send_flags, false, false, 0};
}

static struct incoming plain_in(struct fid_ep *ep, void *data, size_t bytes, fi_addr_t from, void *context)
{
    return (struct incoming){data, bytes, from, HXFI_UNTAGGED, 0, context, of(ep)->receive_flags, false};
}

static ssize_t plain_recv(struct fid_ep *ep, void *data, size_t bytes, void *desc, fi_addr_t from, void *context)
{
    (void)desc;
    const struct incoming m = plain_in(ep, data, bytes, from, context);
    return receive_one(ep, &m);
}

static ssize_t plain_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t from,
                           void *context)
{
    (void)desc;
    if (count > 1)
        return -FI_EINVAL;
    const struct incoming m = plain_in(ep, start_of(iov, count), length_of(iov, count), from, context);
    return receive_one(ep, &m);
}

static ssize_t plain_recvmsg(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    size_t count = message->iov_count;
    if (count > 1)
        return -FI_EINVAL;
    struct incoming m = plain_in(ep, start_of(message->msg_iov, count), length_of(message->msg_iov, count),
                                 message->addr, message->context);
    m.flags = flags;
    return receive_one(ep, &m);
}

static ssize_t plain_send(struct fid_ep *ep, const void *data, size_t bytes, void *desc, fi_addr_t to, void *context)
{
    (void)desc;
    const struct outgoing m = plain_out(ep, data, bytes, to, context);
    return send_one(ep, &m);
}

static ssize_t plain_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t to,
                           void *context)
{
    (void)desc;
    if (count > 1)
        return -FI_EINVAL;
    const struct outgoing m = plain_out(ep, start_of(iov, count), length_of(iov, count), to, context);
    return send_one(ep, &m);
}

static ssize_t plain_sendmsg(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    size_t count = message->iov_count;
    if (count > 1)
        return -FI_EINVAL;
    struct outgoing m = plain_out(ep, start_of(message->msg_iov, count), length_of(message->msg_iov, count),
                                  message->addr, message->context);
    m.flags = flags;
    if (flags & FI_REMOTE_CQ_DATA)
        add_data(&m, message->data);
    return send_one(ep, &m);
}

static ssize_t plain_inject(struct fid_ep *ep, const void *data, size_t bytes, fi_addr_t to)
{
    struct outgoing m = plain_out(ep, data, bytes, to, NULL);
    m.flags = FI_INJECT;
    m.is_silent = true;
    return send_one(ep, &m);
}

static ssize_t plain_senddata(struct fid_ep *ep, const void *data, size_t bytes, void *desc, uint64_t more,
                              fi_addr_t to, void *context)
{
    (void)desc;
    struct outgoing m = plain_out(ep, data, bytes, to, context);
    add_data(&m, more);
    return send_one(ep, &m);
}

static ssize_t plain_injectdata(struct fid_ep *ep, const void *data, size_t bytes, uint64_t more, fi_addr_t to)
{
    struct outgoing m = plain_out(ep, data, bytes, to, NULL);
    m.flags = FI_INJECT;
    m.is_silent = true;
    add_data(&m, more);
    return send_one(ep, &m);
}

struct fi_ops_msg hxfi_msg_ops = {.size = sizeof hxfi_msg_ops,
                                  .recv = plain_recv,
                                  .recvv = plain_recvv,
                                  .recvmsg = plain_recvmsg,
                                  .send = plain_send,
                                  .sendv = plain_sendv,
                                  .sendmsg = plain_sendmsg,
                                  .inject = plain_inject,
                                  .senddata = plain_senddata,
                                  .injectdata = plain_injectdata};
