/* times.c - checks times of frames: at a node they do not decrease, and no frame is in the file twice. */
#include "tools/verify/verify.h"

#include <string.h>

static struct hx_seen_at seen_at(const struct hx_capture_frame *s)
{
    return (struct hx_seen_at){s->frame, s->time_ns, s->port, &s->seen.key};
}

static bool is_the_same(const struct hx_kept_frame *a, const struct hx_kept_frame *b)
{
    return a->time_ns == b->time_ns && a->port == b->port && a->direction == b->direction && a->vc == b->vc &&
           a->hops == b->hops && memcmp(&a->key, &b->key, sizeof a->key) == 0;
}

/* A file joined with itself has all frames twice, so it suffices to compare the first ones. A link may make a copy at
 * the same time. */
static void validate_twice(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_kept_frame one = hx_kept(s);
    const struct hx_seen_at at = seen_at(s);
    for (unsigned i = 0; i < v->firsts && s->time_ns <= v->last_first_ns; i++) {
        if (!is_the_same(&v->first[i], &one))
            continue;
        hx_verify_find(v, &at, HX_ALLOW_COPIES | HX_ALLOW_UNSEEN, false, HX_RULE_DELIVERY,
                       "is frame %llu once more, at the same place and time", (unsigned long long)v->first[i].frame);
        return;
    }
    if (v->firsts == HX_FIRST_FRAMES)
        return;
    v->first[v->firsts++] = one;
    v->last_first_ns = s->time_ns > v->last_first_ns ? s->time_ns : v->last_first_ns;
}

/* Simulated times must be in the order of the file. A wall clock may be set back, so that is only counted. */
static void validate_order(struct hx_verify *v, const struct hx_capture_frame *s)
{
    struct hx_verify_node *node = &v->nodes[v->ports[s->port].node];
    const struct hx_seen_at at = seen_at(s);
    if (node->frame && s->time_ns < node->time_ns) {
        if (v->c->fabric.facts.clock == HX_CLOCK_VIRTUAL)
            hx_verify_find(v, &at, 0, false, HX_RULE_ORDER, "has an earlier time than frame %llu of the same node",
                           (unsigned long long)node->frame);
        else
            v->counts.gone_back++;
    }
    node->frame = s->frame;
    node->time_ns = s->time_ns;
}

void hx_verify_time(struct hx_verify *v, const struct hx_capture_frame *s)
{
    if (!s->has_time) {
        v->counts.without_time++;
        return;
    }
    validate_twice(v, s);
    validate_order(v, s);
    v->counts.of_one_time += s->time_ns == v->first[0].time_ns;
}

void hx_verify_times_end(struct hx_verify *v)
{
    struct hx_verify_counts *n = &v->counts;
    if (n->of_one_time + n->without_time + n->nowhere < n->data || n->of_one_time < 2)
        n->of_one_time = 0;
}
