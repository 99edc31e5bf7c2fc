/* slim_fly_phases.c - all-to-all of a Slim Fly in phases in which hosts rarely share a link.
 *
 * Most pairs of routers have one minimal path. In a common shift, all p hosts of a router use the same path and share a
 * link that carries one.
 *
 * A link from (0, x, ..) to (1, m, ..) goes up on the diagonal m - x; the reverse link goes down on it. If all routers
 * (0, .., ..) make one step (slim_fly.h) of a k, they use each link of a diagonal once, and no other link between the
 * parts:
 *
 *     SAME_PART from 0   up k, down k - by        from 1   down k, up k + by
 *     ACROSS    from 0   up k                     from 1   down k
 *
 * ACROSS also takes one link of its line, from 0 by -by and from 1 by +by; none if by = 0. So hosts of a router with
 * different steps share no link if all diagonals up differ, all diagonals down differ, and no two steps across have by
 * and -by. There are q diagonals in each direction, and p hosts with S steps in their part take p + S. This fits for p
 * up to two thirds of q.
 *
 * The phases of a group add the same element to each k: q in all. Within each, the hosts of a router take turns at all
 * steps and at all partners of the router. In a phase every host receives from one.
 *
 * Pairs that fill no group of p are in no phase: those on the same line or router, and some more. For p above two
 * thirds of q, phases use some diagonals twice; for even q, where -by is by, some links of lines. */
#include "topology/slim_fly.h"

/* Returns a + b from (0, .., ..), a - b from (1, .., ..). */
static unsigned onward_by(const struct hx_galois *f, unsigned part, unsigned a, unsigned b)
{
    return part ? hx_galois_difference(f, a, b) : hx_galois_sum(f, a, b);
}

static unsigned back_from(const struct hx_galois *f, unsigned part, unsigned a, unsigned b)
{
    return onward_by(f, !part, a, b);
}

/* Number of steps on each diagonal, up and down, in the current group. */
struct diagonals {
    unsigned used[2][HX_GALOIS_MOST];
};

enum { UP, DOWN };

/* Returns the direction by which a step leaves its host's part; SAME_PART returns by the other. */
static unsigned out_of(unsigned part)
{
    return part ? DOWN : UP;
}

static unsigned use_of(const struct hx_slim_fly *s, const struct diagonals *d, unsigned part,
                       const struct hx_slim_fly_step *step, unsigned k)
{
    unsigned back =
        step->kind == HX_SLIM_FLY_SAME_PART ? d->used[!out_of(part)][back_from(&s->field, part, k, step->by)] : 0;
    return d->used[out_of(part)][k] + back;
}

/* Adds a step to the group, for the hosts of both parts, on the least used diagonals. */
static void add_step(struct hx_slim_fly *s, struct diagonals *d, unsigned n, enum hx_slim_fly_kind kind, unsigned by)
{
    for (unsigned part = 0; part < 2; part++) {
        struct hx_slim_fly_step *step = &s->phases.step[part][n];
        *step = (struct hx_slim_fly_step){.kind = (uint8_t)kind, .by = (uint8_t)by};
        for (unsigned k = 1; k < s->q; k++)
            step->k = (uint8_t)(use_of(s, d, part, step, k) < use_of(s, d, part, step, step->k) ? k : step->k);
        d->used[out_of(part)][step->k]++;
        if (kind == HX_SLIM_FLY_SAME_PART)
            d->used[!out_of(part)][back_from(&s->field, part, step->k, by)]++;
    }
}

/* Steps across have by = 0 and then the powers of the primitive element, of which -1 is half-way (except where -a = a).
 * So no group has both a and -a. Groups share the steps within a part evenly, since these take twice as many
 * diagonals. */
void hx_slim_fly_plan(struct hx_slim_fly *s)
{
    struct hx_slim_fly_phases *r = &s->phases;
    unsigned shares = (2 * s->q + s->p - 1) / s->p;
    unsigned in_part = 0;
    unsigned across = 0;
    for (r->groups = 0;; r->groups++) {
        struct diagonals d = {{{0}}};
        unsigned n = r->groups * s->p;
        unsigned end = n + s->p;
        unsigned share = (s->q - 1) * (r->groups + 1) / shares - in_part;
        if (share + (s->q - across) < s->p)
            return;
        for (; share; share--, in_part++)
            add_step(s, &d, n++, HX_SLIM_FLY_SAME_PART, s->field.power[in_part]);
        for (; n < end; across++)
            add_step(s, &d, n++, HX_SLIM_FLY_ACROSS, across ? s->field.power[across - 1] : 0);
    }
}

uint32_t hx_slim_fly_phases(const struct hx_slim_fly *s)
{
    return s->phases.groups * s->q * s->p * s->p;
}

/* ---- partners ---- */

/* Returns the end of the link from (part, line, at) to a line of the other part: y = m x + c. */
static unsigned crossed(const struct hx_galois *f, unsigned part, unsigned line, unsigned at, unsigned far)
{
    return back_from(f, part, at, hx_galois_product(f, line, far));
}

static uint32_t router_at(const struct hx_slim_fly *s, unsigned part, unsigned line, unsigned at)
{
    return (part * s->q + line) * s->q + at;
}

/* Returns the router that a step leads to, with `added` to its k. */
static uint32_t router_to(const struct hx_slim_fly *s, uint32_t router, unsigned step, unsigned added)
{
    const struct hx_galois *f = &s->field;
    unsigned part = router / (s->q * s->q);
    unsigned line = router / s->q % s->q;
    const struct hx_slim_fly_step *of = &s->phases.step[part][step];
    unsigned far = onward_by(f, part, line, hx_galois_sum(f, of->k, added));
    unsigned at = crossed(f, part, line, router % s->q, far);
    if (of->kind == HX_SLIM_FLY_ACROSS)
        return router_at(s, !part, far, back_from(f, part, at, of->by));
    unsigned to = hx_galois_sum(f, line, of->by);
    return router_at(s, part, to, crossed(f, !part, far, at, to));
}

/* Digits of a phase, from the last: the turn, the offset of the receiving host, the element added to k, the group. */
uint32_t hx_slim_fly_partner(const struct hx_slim_fly *s, uint32_t host, uint32_t phase)
{
    unsigned own = host % s->p;
    unsigned turn = phase % s->p;
    unsigned onward = phase / s->p % s->p;
    unsigned added = phase / s->p / s->p % s->q;
    unsigned group = phase / s->p / s->p / s->q;
    unsigned step = group * s->p + (own + turn) % s->p;
    return router_to(s, host / s->p, step, added) * s->p + (own + onward) % s->p;
}
