/* transfer.c - all forms of sends and receives: with and without tag, one buffer or a vector of one, with and without
 * flags (provider.h). */
#include "provider.h"

#include <errno.h>

/* ---- sending ---- */

struct outgoing {
    const void *data;
    size_t bytes;
    fi_addr_t to;
    uint64_t tag; /* as sent */
    void *context;
    uint64_t flags; /* of the call */
    bool is_tagged;
    bool is_silent; /* no completion */
    uint32_t note;  /* data for the receiver's completion, with HXFI_WITH_DATA in the tag */
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

/* Sends a message. An injected one is short (fi_tx_attr.inject_size), so it is copied before the call returns. */
static ssize_t send_one(struct fid_ep *ep, struct outgoing m)
{
    struct hxfi_endpoint *e = (struct hxfi_endpoint *)ep;
    uint32_t host = hxfi_host_of(e->vector, m.to);
    if (!e->program || host == HXFI_ANY_HOST || (m.flags & FI_INJECT && m.bytes > HX_PROGRAM_SHORT))
        return -FI_EINVAL;
    struct hxfi_operation *o = hxfi_operation_begin(e, e->sends);
    if (!o)
        return -FI_ENOMEM;
    *o = (struct hxfi_operation){.context = m.context,
                                 .flags = FI_SEND | (m.is_tagged ? FI_TAGGED : FI_MSG),
                                 .reported = !m.is_silent && wants_completion(m.flags, e->sends_selective),
                                 .bytes = m.bytes,
                                 .tag = m.tag};
    int error = hx_program_send_noted(e->program, host, m.tag, m.note, m.data, m.bytes, o);
    if (error == -EAGAIN) {
        int ended = hxfi_progress(e);
        error = ended ? ended : hx_program_send_noted(e->program, host, m.tag, m.note, m.data, m.bytes, o);
    }
    if (error) {
        hxfi_queue_unreserve(e->sends);
        hxfi_operation_end(e, o);
    }
    return error;
}

/* ---- receiving ---- */

struct incoming {
    void *data;
    size_t bytes;
    fi_addr_t from;
    uint64_t tag, ignore; /* as received */
    void *context;
    uint64_t flags;
    bool is_tagged;
};

/* Completes with the waiting message's data; with FI_CLAIM reserves it for the context. */
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

static ssize_t receive_one(struct fid_ep *ep, struct incoming m)
{
    struct hxfi_endpoint *e = (struct hxfi_endpoint *)ep;
    const uint32_t host = e->directed ? hxfi_host_of(e->vector, m.from) : HXFI_ANY_HOST;
    bool no_sender = e->directed && m.from != FI_ADDR_UNSPEC && host == HXFI_ANY_HOST;
    if (!e->program || no_sender)
        return -FI_EINVAL;
    if (m.flags & (FI_MULTI_RECV | FI_DISCARD))
        return -FI_ENOSYS;
    struct hxfi_operation *o = hxfi_operation_begin(e, e->receives);
    if (!o)
        return -FI_ENOMEM;
    *o = (struct hxfi_operation){.context = m.context,
                                 .flags = FI_RECV | (m.is_tagged ? FI_TAGGED : FI_MSG),
                                 .reported = wants_completion(m.flags, e->receives_selective),
                                 .buffer = m.data,
                                 .bytes = m.bytes,
                                 .host = host,
                                 .tag = m.tag,
                                 .ignore = m.ignore,
                                 .claims = (m.flags & (FI_CLAIM | FI_PEEK)) == FI_CLAIM};
    if (m.flags & FI_PEEK)
        return peek(e, o, m.flags);
    hxfi_receive(e, o);
    return 0;
}

static struct hxfi_endpoint *of(struct fid_ep *ep)
{
    return (struct hxfi_endpoint *)ep;
}

/* ---- forms of a call ---- */

/* Returns the only buffer of a vector; false: there are more. */
static bool is_one_buffer(const struct iovec *iov, size_t count, void **start, size_t *bytes)
{
    *start = count ? iov->iov_base : NULL;
    *bytes = count ? iov->iov_len : 0;
    return count <= 1;
}

static ssize_t send_vector(struct fid_ep *ep, struct outgoing m, const struct iovec *iov, size_t count)
{
    void *start;
    bool is_one = is_one_buffer(iov, count, &start, &m.bytes);
    m.data = start;
    return is_one ? send_one(ep, m) : -FI_EINVAL;
}

static ssize_t send_message(struct fid_ep *ep, struct outgoing m, const struct iovec *iov, size_t count, uint64_t flags,
                            uint64_t data)
{
    m.flags = flags;
    if (flags & FI_REMOTE_CQ_DATA)
        add_data(&m, data);
    return send_vector(ep, m, iov, count);
}

static ssize_t send_with_data(struct fid_ep *ep, struct outgoing m, uint64_t data)
{
    add_data(&m, data);
    return send_one(ep, m);
}

static ssize_t inject(struct fid_ep *ep, struct outgoing m)
{
    m.flags = FI_INJECT;
    m.is_silent = true;
    return send_one(ep, m);
}

static ssize_t inject_with_data(struct fid_ep *ep, struct outgoing m, uint64_t data)
{
    add_data(&m, data);
    return inject(ep, m);
}

static ssize_t receive_vector(struct fid_ep *ep, struct incoming m, const struct iovec *iov, size_t count)
{
    return is_one_buffer(iov, count, &m.data, &m.bytes) ? receive_one(ep, m) : -FI_EINVAL;
}

static ssize_t receive_message(struct fid_ep *ep, struct incoming m, const struct iovec *iov, size_t count,
                               uint64_t flags)
{
    m.flags = flags;
    return receive_vector(ep, m, iov, count);
}

/* ---- tagged ---- */

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
    return receive_one(ep, tagged_in(ep, data, bytes, from, tag, ignore, context));
}

static ssize_t tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t from,
                            uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    return receive_vector(ep, tagged_in(ep, NULL, 0, from, tag, ignore, context), iov, count);
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *message, uint64_t flags)
{
    return receive_message(ep, tagged_in(ep, NULL, 0, message->addr, message->tag, message->ignore, message->context),
                           message->msg_iov, message->iov_count, flags);
}

static ssize_t tagged_send(struct fid_ep *ep, const void *data, size_t bytes, void *desc, fi_addr_t to, uint64_t tag,
                           void *context)
{
    (void)desc;
    return send_one(ep, tagged_out(ep, data, bytes, to, tag, context));
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t to,
                            uint64_t tag, void *context)
{
    (void)desc;
    return send_vector(ep, tagged_out(ep, NULL, 0, to, tag, context), iov, count);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *message, uint64_t flags)
{
    return send_message(ep, tagged_out(ep, NULL, 0, message->addr, message->tag, message->context), message->msg_iov,
                        message->iov_count, flags, message->data);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *data, size_t bytes, fi_addr_t to, uint64_t tag)
{
    return inject(ep, tagged_out(ep, data, bytes, to, tag, NULL));
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *data, size_t bytes, void *desc, uint64_t more,
                               fi_addr_t to, uint64_t tag, void *context)
{
    (void)desc;
    return send_with_data(ep, tagged_out(ep, data, bytes, to, tag, context), more);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *data, size_t bytes, uint64_t more, fi_addr_t to,
                                 uint64_t tag)
{
    return inject_with_data(ep, tagged_out(ep, data, bytes, to, tag, NULL), more);
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

/* ---- untagged ---- */

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
    return receive_one(ep, plain_in(ep, data, bytes, from, context));
}

static ssize_t plain_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t from,
                           void *context)
{
    (void)desc;
    return receive_vector(ep, plain_in(ep, NULL, 0, from, context), iov, count);
}

static ssize_t plain_recvmsg(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    return receive_message(ep, plain_in(ep, NULL, 0, message->addr, message->context), message->msg_iov,
                           message->iov_count, flags);
}

static ssize_t plain_send(struct fid_ep *ep, const void *data, size_t bytes, void *desc, fi_addr_t to, void *context)
{
    (void)desc;
    return send_one(ep, plain_out(ep, data, bytes, to, context));
}

static ssize_t plain_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t to,
                           void *context)
{
    (void)desc;
    return send_vector(ep, plain_out(ep, NULL, 0, to, context), iov, count);
}

static ssize_t plain_sendmsg(struct fid_ep *ep, const struct fi_msg *message, uint64_t flags)
{
    return send_message(ep, plain_out(ep, NULL, 0, message->addr, message->context), message->msg_iov,
                        message->iov_count, flags, message->data);
}

static ssize_t plain_inject(struct fid_ep *ep, const void *data, size_t bytes, fi_addr_t to)
{
    return inject(ep, plain_out(ep, data, bytes, to, NULL));
}

static ssize_t plain_senddata(struct fid_ep *ep, const void *data, size_t bytes, void *desc, uint64_t more,
                              fi_addr_t to, void *context)
{
    (void)desc;
    return send_with_data(ep, plain_out(ep, data, bytes, to, context), more);
}

static ssize_t plain_injectdata(struct fid_ep *ep, const void *data, size_t bytes, uint64_t more, fi_addr_t to)
{
    return inject_with_data(ep, plain_out(ep, data, bytes, to, NULL), more);
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
