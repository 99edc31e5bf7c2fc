/* absent.c - calls that the provider hxmesh does not have: each must return -FI_ENOSYS (docs/programs.md).
 *
 * Needs a host of the fabric HXMESH_FABRIC. Prints each other result, a line each; exit code 1 if there is any. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned asked, wrong;

static void expect_absent(const char *call, long answer)
{
    asked++;
    if (answer == -FI_ENOSYS)
        return;
    printf("%s: answers %ld\n", call, answer);
    wrong++;
}
#define ABSENT(call) expect_absent(#call, (long)(call))

static void expect(const char *call, int answer)
{
    if (answer == 0)
        return;
    fprintf(stderr, "absent: %s: %s\n", call, fi_strerror(-answer));
    exit(2);
}
#define DONE(call) expect(#call, call)

struct opened {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_eq *eq;
    struct fid_ep *ep;
};

static struct opened open_all(void)
{
    struct opened o = {0};
    struct fi_info *hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup("hxmesh");
    hints->ep_attr->type = FI_EP_RDM;
    DONE(fi_getinfo(FI_VERSION(1, 11), NULL, NULL, 0, hints, &o.info));
    fi_freeinfo(hints);
    DONE(fi_fabric(o.info->fabric_attr, &o.fabric, NULL));
    DONE(fi_domain(o.fabric, o.info, &o.domain, NULL));
    DONE(fi_av_open(o.domain, &(struct fi_av_attr){.type = FI_AV_TABLE}, &o.av, NULL));
    DONE(fi_cq_open(o.domain, &(struct fi_cq_attr){.format = FI_CQ_FORMAT_TAGGED}, &o.cq, NULL));
    DONE(fi_eq_open(o.fabric, &(struct fi_eq_attr){.size = 1}, &o.eq, NULL));
    DONE(fi_endpoint(o.domain, o.info, &o.ep, NULL));
    DONE(fi_ep_bind(o.ep, &o.av->fid, 0));
    DONE(fi_ep_bind(o.ep, &o.cq->fid, FI_SEND | FI_RECV));
    DONE(fi_enable(o.ep));
    return o;
}

static void close_all(const struct opened *o)
{
    DONE(fi_close(&o->ep->fid));
    DONE(fi_close(&o->eq->fid));
    DONE(fi_close(&o->cq->fid));
    DONE(fi_close(&o->av->fid));
    DONE(fi_close(&o->domain->fid));
    DONE(fi_close(&o->fabric->fid));
    fi_freeinfo(o->info);
}

static void call_remote_memory(struct fid_ep *ep)
{
    char data[8] = "";
    const struct iovec iov = {data, sizeof data};
    const struct fi_msg_rma message = {.msg_iov = &iov, .iov_count = 1};
    ABSENT(fi_read(ep, data, sizeof data, NULL, 0, 0, 0, NULL));
    ABSENT(fi_readv(ep, &iov, NULL, 1, 0, 0, 0, NULL));
    ABSENT(fi_readmsg(ep, &message, 0));
    ABSENT(fi_write(ep, data, sizeof data, NULL, 0, 0, 0, NULL));
    ABSENT(fi_writev(ep, &iov, NULL, 1, 0, 0, 0, NULL));
    ABSENT(fi_writemsg(ep, &message, 0));
    ABSENT(fi_inject_write(ep, data, sizeof data, 0, 0, 0));
    ABSENT(fi_writedata(ep, data, sizeof data, NULL, 0, 0, 0, 0, NULL));
    ABSENT(fi_inject_writedata(ep, data, sizeof data, 0, 0, 0, 0));
}

static void call_atomics(struct fid_ep *ep)
{
    uint64_t a = 0;
    uint64_t b = 0;
    size_t count;
    struct fi_ioc iov = {&a, 1};
    struct fi_ioc result = {&b, 1};
    const struct fi_msg_atomic message = {.msg_iov = &iov, .iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM};
    ABSENT(fi_atomic(ep, &a, 1, NULL, 0, 0, 0, FI_UINT64, FI_SUM, NULL));
    ABSENT(fi_atomicv(ep, &iov, NULL, 1, 0, 0, 0, FI_UINT64, FI_SUM, NULL));
    ABSENT(fi_atomicmsg(ep, &message, 0));
    ABSENT(fi_inject_atomic(ep, &a, 1, 0, 0, 0, FI_UINT64, FI_SUM));
    ABSENT(fi_fetch_atomic(ep, &a, 1, NULL, &b, NULL, 0, 0, 0, FI_UINT64, FI_SUM, NULL));
    ABSENT(fi_fetch_atomicv(ep, &iov, NULL, 1, &result, NULL, 1, 0, 0, 0, FI_UINT64, FI_SUM, NULL));
    ABSENT(fi_fetch_atomicmsg(ep, &message, &result, NULL, 1, 0));
    ABSENT(fi_compare_atomic(ep, &a, 1, NULL, &a, NULL, &b, NULL, 0, 0, 0, FI_UINT64, FI_CSWAP, NULL));
    ABSENT(fi_compare_atomicv(ep, &iov, NULL, 1, &iov, NULL, 1, &result, NULL, 1, 0, 0, 0, FI_UINT64, FI_CSWAP, NULL));
    ABSENT(fi_compare_atomicmsg(ep, &message, &iov, NULL, 1, &result, NULL, 1, 0));
    ABSENT(fi_atomicvalid(ep, FI_UINT64, FI_SUM, &count));
    ABSENT(fi_fetch_atomicvalid(ep, FI_UINT64, FI_SUM, &count));
    ABSENT(fi_compare_atomicvalid(ep, FI_UINT64, FI_CSWAP, &count));
}

static void call_collectives(struct fid_ep *ep)
{
    uint64_t a = 0;
    uint64_t b = 0;
    ABSENT(fi_barrier(ep, 0, NULL));
    ABSENT(fi_barrier2(ep, 0, 0, NULL));
    ABSENT(fi_broadcast(ep, &a, 1, NULL, 0, 0, FI_UINT64, 0, NULL));
    ABSENT(fi_alltoall(ep, &a, 1, NULL, &b, NULL, 0, FI_UINT64, 0, NULL));
    ABSENT(fi_allreduce(ep, &a, 1, NULL, &b, NULL, 0, FI_UINT64, FI_SUM, 0, NULL));
    ABSENT(fi_allgather(ep, &a, 1, NULL, &b, NULL, 0, FI_UINT64, 0, NULL));
    ABSENT(fi_reduce_scatter(ep, &a, 1, NULL, &b, NULL, 0, FI_UINT64, FI_SUM, 0, NULL));
    ABSENT(fi_reduce(ep, &a, 1, NULL, &b, NULL, 0, 0, FI_UINT64, FI_SUM, 0, NULL));
    ABSENT(fi_scatter(ep, &a, 1, NULL, &b, NULL, 0, 0, FI_UINT64, 0, NULL));
    ABSENT(fi_gather(ep, &a, 1, NULL, &b, NULL, 0, 0, FI_UINT64, 0, NULL));
}

/* Calls that open neither a fabric nor a domain, and calls of neither. */
static void call_others(const struct opened *o)
{
    struct fid *fid = NULL;
    struct fid *waited = &o->cq->fid;
    struct fi_atomic_attr atomic = {0};
    struct fi_collective_attr collective = {0};
    ABSENT(fi_passive_ep(o->fabric, o->info, (struct fid_pep **)(void *)&fid, NULL));
    ABSENT(fi_wait_open(o->fabric, &(struct fi_wait_attr){0}, (struct fid_wait **)(void *)&fid));
    ABSENT(fi_trywait(o->fabric, &waited, 1));
    ABSENT(fi_scalable_ep(o->domain, o->info, (struct fid_ep **)(void *)&fid, NULL));
    ABSENT(fi_cntr_open(o->domain, &(struct fi_cntr_attr){0}, (struct fid_cntr **)(void *)&fid, NULL));
    ABSENT(fi_poll_open(o->domain, &(struct fi_poll_attr){0}, (struct fid_poll **)(void *)&fid));
    ABSENT(fi_stx_context(o->domain, o->info->tx_attr, (struct fid_stx **)(void *)&fid, NULL));
    ABSENT(fi_srx_context(o->domain, o->info->rx_attr, (struct fid_ep **)(void *)&fid, NULL));
    ABSENT(fi_query_atomic(o->domain, FI_UINT64, FI_SUM, &atomic, 0));
    ABSENT(fi_query_collective(o->domain, FI_BARRIER, &collective, 0));
    ABSENT(fi_av_insertsvc(o->av, "127.0.0.1", "1", NULL, 0, NULL));
    ABSENT(fi_av_insertsym(o->av, "127.0.0.1", 1, "1", 1, NULL, 0, NULL));
    ABSENT(fi_cq_signal(o->cq));
    ABSENT(fi_eq_write(o->eq, 0, "", 0, 0));
}

static void call_endpoint(struct fid_ep *ep)
{
    struct fid *fid = NULL;
    char address[64] = "";
    size_t bytes = sizeof address;
    ABSENT(fi_tx_context(ep, 0, NULL, (struct fid_ep **)(void *)&fid, NULL));
    ABSENT(fi_rx_context(ep, 0, NULL, (struct fid_ep **)(void *)&fid, NULL));
    ABSENT(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &bytes, sizeof bytes));
    ABSENT(fi_setname(&ep->fid, address, bytes));
    ABSENT(fi_getpeer(ep, address, &bytes));
    ABSENT(fi_connect(ep, address, NULL, 0));
    ABSENT(fi_accept(ep, NULL, 0));
    ABSENT(fi_shutdown(ep, 0));
    ABSENT(fi_join(ep, address, 0, (struct fid_mc **)(void *)&fid, NULL));
}

int main(void)
{
    const struct opened o = open_all();
    call_remote_memory(o.ep);
    call_atomics(o.ep);
    call_collectives(o.ep);
    call_others(&o);
    call_endpoint(o.ep);
    close_all(&o);
    printf("%u calls, %u of them there\n", asked, wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
