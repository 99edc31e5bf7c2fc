/* messages.c - traffic of an image's endpoint (messages.h). */
#include "messages.h"
#include "hxmesh/error.h"
#include "workload/payload.h"

static const uint64_t ns_per_us = 1000;

static void fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct messages *m = of;
    const struct config *c = m->config;
    if (c->verify)
        payload_fill(c->seed, c->rank, hx_accelerator(&c->g, s->dst_addr_hi, s->dst_addr_lo), s, packet, to, bytes);
}

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    struct messages *m = of;
    const struct config *c = m->config;
    if (c->verify)
        m->bytes_corrupted +=
            payload_check(c->seed, hx_accelerator(&c->g, h->src_addr_hi, h->src_addr_lo), c->rank, h, payload);
}

void messages_init(struct messages *m, const struct config *config, struct node *node)
{
    *m = (struct messages){.config = config, .node = node};
}

struct hal_user messages_user(struct messages *m)
{
    return (struct hal_user){.fill = fill, .place = place, .of = m};
}

/* True if the rate allows another message. */
static bool is_due(const struct messages *m, uint64_t now)
{
    const struct config *c = m->config;
    return c->rate == 0 || m->begun * c->message <= (now - m->began_at) / ns_per_us * c->rate;
}

unsigned messages_begin(struct messages *m, uint64_t now)
{
    const struct config *c = m->config;
    struct hx_endpoint *ep = &m->node->endpoint;
    unsigned begun = 0;
    if (!m->may_begin || c->targets == 0 || (m->begun == 0 && !node_is_up(m->node)))
        return 0;
    m->began_at = m->begun ? m->began_at : now;
    for (; m->begun < c->messages && hx_endpoint_takes(ep) && is_due(m, now); begun++, m->begun++) {
        struct hx_place to = hx_place_of(&c->g, c->to[m->begun % c->targets]);
        if (hx_endpoint_send(ep, to.gx, to.gy, c->message, 0, m->begun) != HX_OK)
            break;
    }
    return begun;
}
