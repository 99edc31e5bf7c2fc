/* timing.c - picoseconds from the parameters (timing.h). */
#include "timing.h"
#include "hxmesh/switch.h"

enum { OUTPUT_PACKETS = 4 /* an output takes its next packet so many crossbar times before its link is free */ };
enum { TRAINS_BUFFERED = 8 /* trains that a VC's buffer holds at least */ };

static void set_rate(struct virtual_rate *rate, uint64_t gbps)
{
    for (unsigned n = 0; n <= VIRTUAL_MOST_BLOCKS; n++)
        rate->blocks[n] = (uint32_t)(n * (uint64_t)HX_BLOCK * 8 * 1000 / gbps);
}

void virtual_timing_train(struct virtual_timing *t, unsigned train)
{
    t->train = train;
    t->full = train * VIRTUAL_PACKET_BLOCKS;
}

/* A train needs credit for all of it at once, so a small buffer gets short ones. */
static uint32_t train_of(const struct virtual_speeds *p, uint32_t vc_blocks)
{
    uint32_t train = p->train ? p->train : 1;
    while (train > 1 && vc_blocks < TRAINS_BUFFERED * train * HX_PACKET_BLOCKS)
        train /= 2;
    return train;
}

void virtual_timing_init(struct virtual_timing *t, const struct virtual_speeds *p, unsigned vcs)
{
    *t = (struct virtual_timing){.input = (uint32_t)(p->input * 1000),
                                 .output = (uint32_t)(p->output * 1000),
                                 .cable = (uint32_t)(p->cable * 1000),
                                 .trace = (uint32_t)(p->trace * 1000),
                                 .vcs = vcs};
    set_rate(&t->link, p->link);
    set_rate(&t->local, p->link * 4);
    virtual_timing_injection_rate(t, 1);
    set_rate(&t->crossbar, p->crossbar);
    set_rate(&t->local_crossbar, p->crossbar * 4);
    t->ahead = t->output + OUTPUT_PACKETS * t->crossbar.blocks[VIRTUAL_PACKET_BLOCKS];
    uint64_t packets = p->buffer / vcs / HX_MAX_PAYLOAD;
    /* At most one window of the switch: packets behind the window would wait for those before them. */
    packets = packets < HX_WINDOW ? packets : HX_WINDOW;
    t->vc_blocks = (uint32_t)(packets * HX_PACKET_BLOCKS);
    virtual_timing_train(t, train_of(p, t->vc_blocks));
    t->window = UINT64_MAX;
    virtual_timing_class(t, 0, 0, p->trace < p->cable ? t->trace : t->cable);
}

static void set_tail(struct virtual_link *l)
{
    for (unsigned n = 1; n <= VIRTUAL_MOST_BLOCKS; n++)
        l->tail.blocks[n] = l->rate.blocks[n] - l->rate.blocks[1];
}

static void set_endpoint(struct virtual_timing *t)
{
    t->endpoint = (struct virtual_link){.rate = t->local, .crossbar = t->local_crossbar};
    set_tail(&t->endpoint);
}

void virtual_timing_class(struct virtual_timing *t, unsigned link_class, uint64_t gbps, uint32_t latency)
{
    struct virtual_link *l = &t->of[link_class];
    *l = (struct virtual_link){.rate = t->link, .crossbar = t->crossbar, .latency = latency};
    if (gbps)
        set_rate(&l->rate, gbps);
    for (unsigned n = 0; n <= VIRTUAL_MOST_BLOCKS; n++)
        l->crossbar.blocks[n] = l->rate.blocks[n] < l->crossbar.blocks[n] ? l->rate.blocks[n] : l->crossbar.blocks[n];
    set_tail(l);
    if (l->rate.blocks[1] != t->link.blocks[1])
        virtual_timing_train(t, 1);
    l->there = l->rate.blocks[1] + latency + t->input;
    l->back = t->output + latency + t->input;
    set_endpoint(t);
    /* A packet is ready no earlier than output + 1 block + link + input after the decision. Credit is back no earlier
     * than 1 block in the crossbar + output + link + input. */
    uint64_t block = l->crossbar.blocks[1] < l->rate.blocks[1] ? l->crossbar.blocks[1] : l->rate.blocks[1];
    l->window = t->output + latency + t->input + block;
    t->window = l->window < t->window ? l->window : t->window;
}

void virtual_timing_local(struct virtual_timing *t, unsigned links)
{
    for (unsigned n = 0; n <= VIRTUAL_MOST_BLOCKS; n++) {
        t->local.blocks[n] = t->link.blocks[n] / links;
        t->local_crossbar.blocks[n] = t->crossbar.blocks[n] / links;
    }
    set_endpoint(t);
    virtual_timing_injection_rate(t, 1);
}

void virtual_timing_injection_rate(struct virtual_timing *t, double share)
{
    for (unsigned n = 0; n <= VIRTUAL_MOST_BLOCKS; n++)
        t->inject[n] = (uint64_t)(t->local.blocks[n] / share);
}
