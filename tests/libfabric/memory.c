/* memory.c - calls without memory: each call is refused, or its end is reported (docs/programs.md).
 *
 * Needs a host of the fabric HXMESH_FABRIC. Peeks (FI_PEEK) for missing messages, without memory from some call on,
 * and then reads the completion queue. Prints the numbers of accepted, refused and reported calls; exit code 1 if
 * any was neither. */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 2000, WITH_MEMORY = 100 };

static bool fails;

/* The provider uses it too. */
void *__libc_calloc(size_t nmemb, size_t size);
void *calloc(size_t nmemb, size_t size)
{
    return fails ? NULL : __libc_calloc(nmemb, size);
}

static void expect(const char *call, int answer)
{
    if (answer == 0)
        return;
    fprintf(stderr, "memory: %s: %s\n", call, fi_strerror(-answer));
    exit(2);
}
#define DONE(call) expect(#call, call)

static struct fid_cq *cq;

static struct fid_ep *open_endpoint(void)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_ep *ep;
    hints->fabric_attr->prov_name = strdup("hxmesh");
    hints->ep_attr->type = FI_EP_RDM;
    DONE(fi_getinfo(FI_VERSION(1, 11), NULL, NULL, 0, hints, &info));
    fi_freeinfo(hints);
    DONE(fi_fabric(info->fabric_attr, &fabric, NULL));
    DONE(fi_domain(fabric, info, &domain, NULL));
    DONE(fi_av_open(domain, &(struct fi_av_attr){.type = FI_AV_TABLE}, &av, NULL));
    DONE(fi_cq_open(domain, &(struct fi_cq_attr){.format = FI_CQ_FORMAT_TAGGED}, &cq, NULL));
    DONE(fi_endpoint(domain, info, &ep, NULL));
    DONE(fi_ep_bind(ep, &av->fid, 0));
    DONE(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV));
    DONE(fi_enable(ep));
    return ep;
}

/* Entries of the queue, all of which report that there is no message. */
static unsigned read_all(void)
{
    unsigned told = 0;
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error;
    while (fi_cq_read(cq, &entry, 1) == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1 && error.err == FI_ENOMSG)
        told++;
    return told;
}

int main(void)
{
    struct fid_ep *ep = open_endpoint();
    const struct fi_msg_tagged message = {.addr = FI_ADDR_UNSPEC};
    unsigned taken = 0;
    unsigned refused = 0;
    for (unsigned call = 0; call < CALLS; call++) {
        fails = call >= WITH_MEMORY;
        ssize_t answer = fi_trecvmsg(ep, &message, FI_PEEK);
        taken += answer == 0;
        refused += answer == -FI_ENOMEM;
    }
    unsigned told = read_all();
    fails = false;
    printf("%u taken, %u refused, %u told\n", taken, refused, told);
    return taken + refused == CALLS && refused && told == taken ? 0 : 1;
}
