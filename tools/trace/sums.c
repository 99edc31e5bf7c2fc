/* sums.c - totals over traced packets (tools/trace/sums.h). */
#include "tools/trace/sums.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_TEXT = 1024, BINS_OF_A_POWER = 16 };

void hx_sums_begin(struct hx_trace_sums *s, struct hx_capture_index *c)
{
    *s = (struct hx_trace_sums){.c = c};
    s->messages = hx_table_make(sizeof(struct hx_message_key), sizeof(struct hx_message_sum));
}

void hx_sums_free(struct hx_trace_sums *s)
{
    size_t at = 0;
    for (struct hx_message_sum *m; (m = hx_table_each(&s->messages, &at)) != NULL;) {
        for (uint32_t i = 0; i < m->path_count; i++)
            free(m->paths[i].text);
        free(m->paths);
    }
    hx_table_free(&s->messages);
    free(s->ports);
}

/* ---- times ---- */

void hx_time_add(struct hx_time_sum *s, uint64_t ns)
{
    s->least = s->count == 0 || ns < s->least ? ns : s->least;
    s->most = ns > s->most ? ns : s->most;
    s->sum += ns;
    s->count++;
}

uint64_t hx_time_mean(const struct hx_time_sum *s)
{
    return s->count ? s->sum / s->count : 0;
}

static unsigned bin_of(uint64_t ns)
{
    if (ns < BINS_OF_A_POWER)
        return (unsigned)ns;
    unsigned power = 63U - (unsigned)__builtin_clzll(ns);
    return (power - 3) * BINS_OF_A_POWER + (unsigned)(ns >> (power - 4) & (BINS_OF_A_POWER - 1));
}

static uint64_t bin_middle(unsigned bin)
{
    if (bin < BINS_OF_A_POWER)
        return bin;
    unsigned power = bin / BINS_OF_A_POWER + 3;
    uint64_t width = 1ULL << (power - 4);
    return (1ULL << power) + bin % BINS_OF_A_POWER * width + width / 2;
}

uint64_t hx_sums_quantile(const struct hx_trace_sums *s, double share)
{
    uint64_t before = (uint64_t)(share * (double)s->latency.count);
    for (unsigned bin = 0; bin < HX_TIME_BINS; bin++) {
        if (s->bins[bin] > before) {
            uint64_t ns = bin_middle(bin);
            ns = ns < s->latency.least ? s->latency.least : ns;
            return ns > s->latency.most ? s->latency.most : ns;
        }
        before -= s->bins[bin];
    }
    return s->latency.most;
}

/* ---- paths ---- */

/* Writes the output ports of a packet: "a0,0/p0/E row0/p0/5 ...". */
static void write_path(char text[PATH_TEXT], const struct hx_capture_index *c, const struct hx_trace_packet *p)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < p->count && used < PATH_TEXT; i++) {
        if (!p->steps[i].out)
            continue;
        int length = snprintf(text + used, PATH_TEXT - used, "%s%s", used ? " " : "", c->ports[p->steps[i].port].name);
        used += length > 0 ? (size_t)length : 0;
    }
}

static void add_path(struct hx_trace_sums *s, struct hx_message_sum *m, const struct hx_trace_packet *p, uint64_t ns)
{
    if (!m->paths) {
        if (s->messages_with_paths == HX_PATH_MESSAGES)
            return;
        s->messages_with_paths++;
        m->paths = hx_allocate(HX_PATHS + 1, sizeof *m->paths);
    }
    char text[PATH_TEXT];
    write_path(text, s->c, p);
    uint32_t at = 0;
    while (at < m->path_count && m->paths[at].text && strcmp(m->paths[at].text, text) != 0)
        at++;
    if (at == m->path_count) {
        m->path_count++;
        if (at < HX_PATHS) {
            m->paths[at].text = strdup(text);
            if (!m->paths[at].text)
                hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a path");
        }
    }
    m->paths[at].packets++;
    hx_time_add(&m->paths[at].latency, ns);
}

/* ---- messages ---- */

/* The key of a packet's message. An acknowledgement travels against its message, and peer_epoch is the epoch of the
 * message's sender. A hello has no message. */
static struct hx_message_key key_of(const struct hx_header *h)
{
    struct hx_message_key key = {h->src_addr_hi, h->src_addr_lo, h->dst_addr_hi, h->dst_addr_lo,
                                 h->message,     h->job,         h->peer_epoch};
    if (hx_seen_is_forward(h))
        key.epoch = hx_epoch_check(h->epoch);
    else
        key = (struct hx_message_key){h->dst_addr_hi, h->dst_addr_lo, h->src_addr_hi, h->src_addr_lo,
                                      h->message,     h->job,         h->peer_epoch};
    return key;
}

static const struct hx_trace_step *first_out(const struct hx_trace_packet *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->steps[i].out)
            return &p->steps[i];
    return NULL;
}

static void add_message(struct hx_trace_sums *s, const struct hx_trace_packet *p, bool delivered, uint64_t ns)
{
    if (p->header.kind == HX_HELLO)
        return;
    struct hx_message_key key = key_of(&p->header);
    struct hx_message_sum *m = hx_table_find_or_add(&s->messages, &key);
    if (p->header.kind != HX_DATA) {
        m->acknowledgements += p->header.kind == HX_ACK && delivered;
        return;
    }
    uint64_t first = p->steps[0].time_ns;
    uint64_t last = p->steps[p->count - 1].time_ns;
    m->first_ns = m->seen == 0 || first < m->first_ns ? first : m->first_ns;
    m->packets = p->header.message_packets;
    m->seen++;
    m->by_plane[p->header.plane % HX_MAX_PLANES]++;
    const struct hx_trace_step *out = first_out(p);
    if (out && p->injected) {
        const struct hx_port_at *at = &s->c->ports[out->port].at;
        if (at->node != HX_NOWHERE && at->port < HX_ACCELERATOR_PORTS)
            m->by_port[at->port]++;
    }
    if (!delivered)
        return;
    m->delivered++;
    m->last_ns = last > m->last_ns ? last : m->last_ns;
    if (p->injected) {
        hx_time_add(&m->latency, ns);
        add_path(s, m, p, ns);
    }
}

/* ---- packets ---- */

static void add_waits(struct hx_trace_sums *s, const struct hx_trace_packet *p)
{
    while (s->port_count < s->c->port_count) {
        s->ports = hx_grow(s->ports, s->port_count, &s->port_room, sizeof *s->ports);
        memset(&s->ports[s->port_count++], 0, sizeof *s->ports);
    }
    struct hx_trace_stay stay;
    for (uint32_t at = 0; hx_trace_next_stay(p, s->c, &at, &stay);) {
        if (!stay.out)
            continue;
        struct hx_port_wait *w = &s->ports[stay.out->port];
        w->out++;
        if (stay.in)
            hx_time_add(&w->wait, stay.out->time_ns > stay.in->time_ns ? stay.out->time_ns - stay.in->time_ns : 0);
    }
}

static void add_missing(struct hx_trace_sums *s, const struct hx_trace_packet *p)
{
    const struct hx_trace_step *last = &p->steps[p->count - 1];
    uint64_t at = s->fate[HX_TRACE_MISSING] - 1;
    if (at < HX_MISSING_KEPT)
        s->kept[at] = (struct hx_missing){
            .header = p->header, .frame = last->frame, .time_ns = last->time_ns, .port = last->port, .out = last->out};
}

static void add_latency(struct hx_trace_sums *s, uint64_t ns)
{
    hx_time_add(&s->latency, ns);
    s->bins[bin_of(ns)]++;
}

void hx_sums_packet(struct hx_trace_sums *s, const struct hx_trace_packet *p)
{
    uint64_t first = p->steps[0].time_ns;
    uint64_t last = p->steps[p->count - 1].time_ns;
    uint64_t ns = last > first ? last - first : 0;
    enum hx_trace_fate fate = hx_trace_fate(s->c, p);
    s->packets++;
    s->fate[fate]++;
    if (fate == HX_TRACE_MISSING)
        add_missing(s, p);
    else if (fate == HX_TRACE_DELIVERED && p->injected && p->header.kind == HX_DATA)
        add_latency(s, ns);
    add_waits(s, p);
    add_message(s, p, fate == HX_TRACE_DELIVERED, ns);
}

static int compare(const void *a, const void *b)
{
    const struct hx_message_key *one = &(*(const struct hx_message_sum *const *)a)->key;
    const struct hx_message_key *other = &(*(const struct hx_message_sum *const *)b)->key;
    const uint32_t pairs[][2] = {
        {one->src_addr_lo, other->src_addr_lo},
        {one->src_addr_hi, other->src_addr_hi},
        {one->dst_addr_lo, other->dst_addr_lo},
        {one->dst_addr_hi, other->dst_addr_hi},
        {one->job, other->job},
        {one->epoch, other->epoch},
        {one->message, other->message},
    };
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] != pairs[i][1])
            return pairs[i][0] < pairs[i][1] ? -1 : 1;
    return 0;
}

const struct hx_message_sum **hx_sums_messages(const struct hx_trace_sums *s)
{
    const struct hx_message_sum **list = hx_allocate(s->messages.count, sizeof(struct hx_message_sum *));
    size_t count = 0;
    size_t at = 0;
    for (const struct hx_message_sum *m; (m = hx_table_each(&s->messages, &at)) != NULL;)
        list[count++] = m;
    qsort(list, count, sizeof(struct hx_message_sum *), compare);
    return list;
}
