/* prove_credit.c - credits and sessions of a link, from any state and with any frame: counts, nonces and flags are
 * any numbers. Promises of callers (hxmesh/credit.h) hold: VCs of the fabric, 1 .. HX_VCS. */
#include "hxmesh/credit.h"
#include "prove.h"

static void any_link(struct hx_credit_link *l)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        l->tx[vc] = (struct hx_credit_sender){.sent = (uint32_t)any(0, UINT32_MAX),
                                              .limit = (uint32_t)any(0, UINT32_MAX),
                                              .buffer = (uint32_t)any(0, INT32_MAX)};
        l->rx[vc] = (struct hx_credit_receiver){.received = (uint32_t)any(0, UINT32_MAX),
                                                .freed = (uint32_t)any(0, UINT32_MAX),
                                                .buffer = (uint32_t)any(0, INT32_MAX),
                                                .lost = (uint32_t)any(0, UINT32_MAX)};
    }
    l->nonce = any(0, UINT64_MAX);
    l->next_nonce = any(0, UINT64_MAX);
    l->peer_nonce = any(0, UINT64_MAX);
    l->asks = any(0, UINT64_MAX);
    l->vcs = (uint8_t)any(1, HX_VCS);
    l->sessions = (uint32_t)any(0, UINT32_MAX);
    l->suspected = (uint32_t)any(0, UINT32_MAX);
    l->unheard = (uint32_t)any(0, UINT32_MAX);
    l->open = any(0, 1) != 0;
    l->heard = any(0, 1) != 0;
    l->answer = any(0, 1) != 0;
}

static struct hx_credit_frame any_frame(void)
{
    struct hx_credit_frame f = {.plane = (uint8_t)any(0, HX_MAX_PLANES - 1), .vcs = (uint8_t)any(1, HX_VCS)};
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        f.limit[vc] = (uint32_t)any(0, UINT32_MAX);
        f.sent[vc] = (uint32_t)any(0, UINT32_MAX);
    }
    f.nonce = any(0, UINT64_MAX);
    f.peer_nonce = any(0, UINT64_MAX);
    return f;
}

int main(void)
{
    struct hx_credit_link l = {0};
    hx_credit_link_up(&l, (unsigned)any(1, HX_VCS), (uint32_t)any(0, INT32_MAX), (uint32_t)any(0, INT32_MAX),
                      any(0, UINT64_MAX));
    any_link(&l);
    const struct hx_credit_frame f = any_frame();
    (void)hx_credit_link_take(&l, &f, any(0, UINT64_MAX));
    any_link(&l);
    (void)hx_credit_link_frame(&l, (uint8_t)any(0, UINT8_MAX));
    hx_credit_link_notified(&l);
    any_link(&l);
    const unsigned vc = (unsigned)any(0, HX_VCS - 1);
    hx_credit_link_grant(&l, vc, (uint32_t)any(0, UINT32_MAX));
    (void)hx_credit_link_arrive(&l, vc, (uint32_t)any(0, UINT32_MAX));
    hx_credit_leave(&l.rx[vc], (uint32_t)any(0, UINT32_MAX));
    (void)hx_credit_room(&l.tx[vc]);
    hx_credit_spend(&l.tx[vc], (uint32_t)any(0, UINT32_MAX));
    (void)hx_credit_is_ahead((uint32_t)any(0, UINT32_MAX), (uint32_t)any(0, UINT32_MAX));
    return 0;
}
