/* provider.c - fi_getinfo(), fabrics and domains (provider.h). */
#include "provider.h"

#include <stdlib.h>
#include <string.h>

#include <rdma/providers/fi_prov.h>

enum { MAJOR = 0, MINOR = 1, MOST_OPERATIONS = 65536 };

static const uint64_t send_caps = FI_MSG | FI_TAGGED | FI_SEND;
static const uint64_t receive_caps = FI_MSG | FI_TAGGED | FI_RECV | FI_DIRECTED_RECV | FI_SOURCE;
static const uint64_t other_caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
static const uint64_t order = FI_ORDER_SAS;

/* ---- fi_getinfo ---- */

/* True if `asked` has bits beyond `there`. */
static bool is_beyond(uint64_t asked, uint64_t there)
{
    return (asked & ~there) != 0;
}

static bool suits_ends(const struct fi_info *h)
{
    const struct fi_tx_attr *t = h->tx_attr;
    const struct fi_rx_attr *r = h->rx_attr;
    uint64_t flags = FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE;
    if (t && (is_beyond(t->caps, send_caps | other_caps) || is_beyond(t->msg_order, order) ||
              is_beyond(t->op_flags, flags) || t->inject_size > HX_PROGRAM_SHORT || t->iov_limit > 1 ||
              t->size > MOST_OPERATIONS || t->comp_order))
        return false;
    return !r ||
           !(is_beyond(r->caps, receive_caps | other_caps) || is_beyond(r->msg_order, order) ||
             is_beyond(r->op_flags, FI_COMPLETION) || r->iov_limit > 1 || r->size > MOST_OPERATIONS || r->comp_order);
}

static bool suits_domain(const struct fi_domain_attr *d)
{
    return (d->threading == FI_THREAD_UNSPEC || d->threading == FI_THREAD_DOMAIN ||
            d->threading == FI_THREAD_COMPLETION) &&
           d->control_progress != FI_PROGRESS_AUTO && d->data_progress != FI_PROGRESS_AUTO &&
           d->cq_data_size <= sizeof(uint32_t);
}

static bool suits(const struct fi_info *h)
{
    const struct fi_ep_attr *e = h->ep_attr;
    const struct fi_fabric_attr *f = h->fabric_attr;
    if (is_beyond(h->caps, send_caps | receive_caps | other_caps) || h->addr_format != FI_FORMAT_UNSPEC)
        return false;
    if (e &&
        ((e->type != FI_EP_UNSPEC && e->type != FI_EP_RDM) || e->protocol || e->tx_ctx_cnt > 1 || e->rx_ctx_cnt > 1))
        return false;
    if (f && f->prov_name && !strstr(f->prov_name, HXFI_NAME))
        return false;
    return suits_ends(h) && (!h->domain_attr || suits_domain(h->domain_attr));
}

static void describe_ends(struct fi_info *i)
{
    *i->tx_attr = (struct fi_tx_attr){.caps = send_caps,
                                      .msg_order = order,
                                      .inject_size = HX_PROGRAM_SHORT,
                                      .size = MOST_OPERATIONS,
                                      .iov_limit = 1};
    *i->rx_attr =
        (struct fi_rx_attr){.caps = receive_caps, .msg_order = order, .size = MOST_OPERATIONS, .iov_limit = 1};
    i->ep_attr->type = FI_EP_RDM;
    i->ep_attr->protocol = FI_PROTO_UNSPEC;
    i->ep_attr->protocol_version = 1;
    i->ep_attr->max_msg_size = UINT64_C(1) << 40;
    i->ep_attr->mem_tag_format = UINT64_C(0x2AAAAAAAAAAAAAAA); /* 62 bits, each a separate field */
    i->ep_attr->tx_ctx_cnt = i->ep_attr->rx_ctx_cnt = 1;
}

static bool describe_domain(struct fi_info *i)
{
    struct fi_domain_attr *d = i->domain_attr;
    d->name = strdup(HXFI_NAME);
    d->threading = FI_THREAD_DOMAIN;
    d->control_progress = d->data_progress = FI_PROGRESS_MANUAL;
    d->resource_mgmt = FI_RM_ENABLED;
    d->av_type = FI_AV_UNSPEC;
    d->cq_data_size = sizeof(uint32_t);
    d->cq_cnt = MOST_OPERATIONS;
    d->ep_cnt = d->tx_ctx_cnt = d->rx_ctx_cnt = d->max_ep_tx_ctx = d->max_ep_rx_ctx = 1;
    d->mr_iov_limit = 1;
    d->mr_cnt = MOST_OPERATIONS;
    d->caps = other_caps;
    i->fabric_attr->name = strdup(HXFI_NAME);
    i->fabric_attr->prov_version = FI_VERSION(MAJOR, MINOR);
    return d->name && i->fabric_attr->name; /* libfabric sets prov_name */
}

/* Follows the hints if there is a choice. */
static bool follow(struct fi_info *i, const struct fi_info *h)
{
    uint64_t asked = h->caps & (send_caps | receive_caps);
    if (asked)
        i->caps = asked | ((asked & (FI_SEND | FI_RECV)) ? 0 : FI_SEND | FI_RECV) | other_caps;
    if (h->tx_attr)
        i->tx_attr->op_flags = h->tx_attr->op_flags;
    if (h->rx_attr)
        i->rx_attr->op_flags = h->rx_attr->op_flags;
    if (h->domain_attr && h->domain_attr->av_type != FI_AV_UNSPEC)
        i->domain_attr->av_type = h->domain_attr->av_type;
    if (h->dest_addr && h->dest_addrlen) {
        i->dest_addr = malloc(h->dest_addrlen);
        i->dest_addrlen = h->dest_addrlen;
        if (i->dest_addr)
            memcpy(i->dest_addr, h->dest_addr, h->dest_addrlen);
        return i->dest_addr != NULL;
    }
    return true;
}

int hxfi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                 struct fi_info **info)
{
    (void)node;
    (void)service;
    (void)flags;
    *info = NULL;
    if (hx_program_find(getenv("HXMESH_FABRIC")) != 0 || (hints && !suits(hints)))
        return -FI_ENODATA;
    struct fi_info *i = fi_allocinfo();
    if (!i)
        return -FI_ENOMEM;
    i->caps = send_caps | receive_caps | other_caps;
    i->addr_format = FI_FORMAT_UNSPEC;
    describe_ends(i);
    if (!describe_domain(i) || (hints && !follow(i, hints))) {
        fi_freeinfo(i);
        return -FI_ENOMEM;
    }
    i->fabric_attr->api_version = version;
    *info = i;
    return 0;
}

/* ---- memory: registration is not needed ---- */

static int close_plain(struct fid *fid)
{
    free(fid);
    return 0;
}

static struct fi_ops plain_life = HXFI_LIFE(close_plain, hxfi_no_bind, hxfi_no_control);

static int register_any(struct fid_mr **mr, uint64_t key, void *context)
{
    struct fid_mr *m = calloc(1, sizeof *m);
    if (!m)
        return -FI_ENOMEM;
    *m = (struct fid_mr){.fid = {.fclass = FI_CLASS_MR, .context = context, .ops = &plain_life}, .key = key};
    *mr = m;
    return 0;
}

static int register_one(struct fid *fid, const void *at, size_t bytes, uint64_t access, uint64_t offset, uint64_t key,
                        uint64_t flags, struct fid_mr **mr, void *context)
{
    (void)fid, (void)at, (void)bytes, (void)access, (void)offset, (void)flags;
    return register_any(mr, key, context);
}

static int register_many(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access, uint64_t offset,
                         uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    (void)fid, (void)iov, (void)count, (void)access, (void)offset, (void)flags;
    return register_any(mr, key, context);
}

static int register_by_attr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **mr)
{
    (void)fid, (void)flags;
    return register_any(mr, attr->requested_key, attr->context);
}

static struct fi_ops_mr memory_ops = {
    .size = sizeof memory_ops, .reg = register_one, .regv = register_many, .regattr = register_by_attr};

/* ---- domains ---- */

static int bind_domain(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)fid, (void)flags;
    return other->fclass == FI_CLASS_EQ ? 0 : -FI_ENOSYS;
}

static struct fi_ops domain_life = HXFI_LIFE(close_plain, bind_domain, hxfi_no_control);
static struct fi_ops_domain domain_ops = {.size = sizeof domain_ops,
                                          .av_open = hxfi_vector_open,
                                          .cq_open = hxfi_queue_open,
                                          .endpoint = hxfi_endpoint_open,
                                          .scalable_ep = hxfi_no_scalable,
                                          .cntr_open = hxfi_no_counter,
                                          .poll_open = hxfi_no_poll,
                                          .stx_ctx = hxfi_no_shared_sends,
                                          .srx_ctx = hxfi_no_shared_receives,
                                          .query_atomic = hxfi_no_atomic_query,
                                          .query_collective = hxfi_no_collective};

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
    (void)info;
    struct hxfi_domain *d = calloc(1, sizeof *d);
    if (!d)
        return -FI_ENOMEM;
    d->fid.fid = (struct fid){.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &domain_life};
    d->fid.ops = &domain_ops;
    d->fid.mr = &memory_ops;
    d->fabric = (struct hxfi_fabric *)fabric;
    *domain = &d->fid;
    return 0;
}

/* ---- fabrics ---- */

static struct fi_ops_fabric fabric_ops = {.size = sizeof fabric_ops,
                                          .domain = open_domain,
                                          .passive_ep = hxfi_no_passive,
                                          .eq_open = hxfi_events_open,
                                          .wait_open = hxfi_no_wait,
                                          .trywait = hxfi_no_try_wait};

static int open_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    if (attr->name && strcmp(attr->name, HXFI_NAME) != 0)
        return -FI_ENODATA;
    struct hxfi_fabric *f = calloc(1, sizeof *f);
    if (!f)
        return -FI_ENOMEM;
    f->fid.fid = (struct fid){.fclass = FI_CLASS_FABRIC, .context = context, .ops = &plain_life};
    f->fid.ops = &fabric_ops;
    *fabric = &f->fid;
    return 0;
}

static void clean_up(void)
{
}

static struct fi_provider provider = {.version = FI_VERSION(MAJOR, MINOR),
                                      .fi_version = FI_VERSION(1, 17),
                                      .name = HXFI_NAME,
                                      .getinfo = hxfi_getinfo,
                                      .fabric = open_fabric,
                                      .cleanup = clean_up};

/* Called by libfabric after loading. */
__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void);
struct fi_provider *fi_prov_ini(void)
{
    return &provider;
}
