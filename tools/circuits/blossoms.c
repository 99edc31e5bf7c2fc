/* blossoms.c - Edmonds' blossoms, primal-dual (tools/circuits/blossoms.h).
 *
 * After J. Edmonds, "Maximum matching and a polyhedron with 0,1-vertices" (1965), and the analysis of Galil,
 * "Efficient algorithms for finding maximum matching in graphs" (1986).
 *
 * Weights count twice, so all duals are integers. Node v has a dual y(v), blossom B a dual z(B) >= 0, and an edge has
 *
 *     slack(u, v) = y(u) + y(v) + z of all blossoms that contain u and v - 2 weight(u, v) >= 0
 *
 * The search ends with y >= 0, y = 0 at single nodes, slack 0 at matched edges, and all but one node of each blossom
 * matched within it. Then twice the weight is the sum of y and z (|B| - 1) / 2: that proves the matching best.
 *
 * A stage grows trees of edges without slack from all single nodes until two trees meet. The path between their roots
 * is then inverted. Each step of a stage takes away the slack of one edge, or makes one z zero. It costs O(n), and a
 * new blossom O(n) for each of its parts. A stage has O(n) steps with O(n) parts, and there are n/2 stages.
 *
 * All single nodes have the same y, since it falls at all of them in all stages. Edges of trees have no slack and z is
 * even, so y of all nodes in trees is even, or odd. So slack between outer parts is even: half of it is an integer. */
#include "tools/circuits/blossoms.h"
#include "base/error.h"

#include <string.h>

enum { NONE = MATCHING_ALONE };

/* Of a part that belongs to no other. Within a stage, y falls at the nodes of outer parts and rises at inner ones. */
enum label {
    FREE,  /* in no tree */
    OUTER, /* an even number of edges from a root: the path goes on over edges that are not matched */
    INNER  /* an odd number: it goes on over the matched edge */
};

struct edge {
    uint32_t from, to; /* nodes */
};

/* A part is a node (below n) or a blossom: an odd cycle of parts without slack on its edges. Every second edge of the
 * cycle is matched, but for two edges at the first part. */
struct part {
    uint32_t within;         /* blossom that it is in; NONE: in none */
    uint32_t next, previous; /* in the cycle of that blossom */
    struct edge step;        /* from this part to the next */
    uint32_t first;          /* of a blossom: part that holds its base; NONE: the number is unused */
    uint32_t base;           /* node that is not matched within the part */
    enum label label;        /* if it is in none */
    struct edge entry;       /* of an inner part: edge of the tree that leads to it */
    struct edge nearest;     /* of an outer part: edge of least slack to one that was outer before; from NONE: none */
    int64_t dual;            /* y or z */
};

/* All outer nodes change by the same amount, so the order of slacks from them to a node stays. That keeps `nearest` and
 * `closest` right between the steps that change them. The nodes of a blossom change together too, so that `among` is
 * right as long as the blossom exists. */
struct matching {
    uint32_t n;
    uint32_t parts;    /* n + n / 2: no more blossoms exist at a time */
    int64_t *weight;   /* [n * n] */
    struct part *part; /* [parts] */
    uint32_t *mate;    /* [n]; MATCHING_ALONE */
    uint32_t *outmost; /* [n]: part around a node that is in none */
    uint32_t *closest; /* [n]: of nodes that are not outer: outer node of least slack; NONE */
    uint16_t *among;   /* [n / 2][n]: node of a blossom with the least slack to each node outside */
    bool *marked;      /* [parts] */
    uint32_t *stack;   /* [2 * parts] */
};

/* ---- parts ---- */

/* Of nodes in different outmost parts. */
static int64_t slack(const struct matching *m, uint32_t u, uint32_t v)
{
    return m->part[u].dual + m->part[v].dual - 2 * m->weight[(size_t)u * m->n + v];
}

static bool is_outmost(const struct matching *m, uint32_t part)
{
    return (part < m->n || m->part[part].first != NONE) && m->part[part].within == NONE;
}

static uint32_t among(const struct matching *m, uint32_t part, uint32_t node)
{
    return part < m->n ? part : m->among[(size_t)(part - m->n) * m->n + node];
}

static enum label label_of(const struct matching *m, uint32_t node)
{
    return m->part[m->outmost[node]].label;
}

/* The part of a blossom, one level down, that holds a node. */
static uint32_t holder(const struct matching *m, uint32_t blossom, uint32_t node)
{
    uint32_t part = node;
    while (m->part[part].within != blossom)
        part = m->part[part].within;
    return part;
}

/* Calls itself once a level. */
static void set_outmost(struct matching *m, uint32_t part, uint32_t outmost)
{
    if (part < m->n) {
        m->outmost[part] = outmost;
        return;
    }
    uint32_t inside = m->part[part].first;
    do {
        set_outmost(m, inside, outmost);
        inside = m->part[inside].next;
    } while (inside != m->part[part].first);
}

/* A step around a blossom, forward or backward, as an edge from the part. */
static struct edge step_of(const struct matching *m, uint32_t part, bool forward)
{
    if (forward)
        return m->part[part].step;
    struct edge e = m->part[m->part[part].previous].step;
    return (struct edge){e.to, e.from};
}

static uint32_t neighbour(const struct matching *m, uint32_t part, bool forward)
{
    return forward ? m->part[part].next : m->part[part].previous;
}

/* Returns the direction in which an even number of steps leads from a part to the first one of its blossom. */
static bool even_way(const struct matching *m, uint32_t part)
{
    bool even = true;
    for (uint32_t first = m->part[m->part[part].within].first; part != first; part = m->part[part].next)
        even = !even;
    return even;
}

/* ---- inversion of a path ---- */

static void join(struct matching *m, uint32_t a, uint32_t b)
{
    m->mate[a] = b;
    m->mate[b] = a;
}

/* Makes a node the base of a part: matches all others within it. */
static void rebase(struct matching *m, uint32_t part, uint32_t node)
{
    uint32_t *stack = m->stack, depth = 0; /* parts with their bases to be; the parts differ */
    stack[depth++] = part;
    stack[depth++] = node;
    while (depth) {
        node = stack[--depth];
        part = stack[--depth];
        if (part < m->n)
            continue;
        const uint32_t first = holder(m, part, node);
        const bool forward = even_way(m, first);
        m->part[part].base = node;
        stack[depth++] = first;
        stack[depth++] = node;
        for (uint32_t at = first; at != m->part[part].first;) {
            const uint32_t a = neighbour(m, at, forward), b = neighbour(m, a, forward);
            const struct edge e = step_of(m, a, forward);
            join(m, e.from, e.to);
            stack[depth++] = a;
            stack[depth++] = e.from;
            stack[depth++] = b;
            stack[depth++] = e.to;
            at = b;
        }
        m->part[part].first = first;
    }
}

/* The part above an outer one in the tree, over an inner one; NONE: it is a root. */
static uint32_t above(const struct matching *m, uint32_t outer)
{
    const uint32_t mate = m->mate[m->part[outer].base];
    return mate == MATCHING_ALONE ? NONE : m->outmost[m->part[m->outmost[mate]].entry.from];
}

/* Matches a node of an outer part with another node, and inverts the path from there to the root. */
static void invert(struct matching *m, uint32_t node, uint32_t with)
{
    for (;;) {
        const uint32_t outer = m->outmost[node];
        const uint32_t old = m->mate[m->part[outer].base];
        rebase(m, outer, node);
        m->mate[node] = with;
        if (old == MATCHING_ALONE)
            return;
        const uint32_t inner = m->outmost[old];
        const struct edge entry = m->part[inner].entry;
        rebase(m, inner, entry.to);
        m->mate[entry.to] = entry.from;
        node = entry.from;
        with = entry.to;
    }
}

/* ---- steps of a stage ---- */

static void see(const struct matching *m, struct edge *nearest, uint32_t from, uint32_t to)
{
    if (nearest->from == NONE || slack(m, from, to) < slack(m, nearest->from, nearest->to))
        *nearest = (struct edge){from, to};
}

/* Makes a part outer, and looks at all edges from it. */
static void reach(struct matching *m, uint32_t part)
{
    m->part[part].label = OUTER;
    m->part[part].nearest.from = NONE;
    for (uint32_t to = 0; to < m->n; to++) {
        const uint32_t other = m->outmost[to];
        if (other == part)
            continue;
        const uint32_t from = among(m, part, to);
        if (m->part[other].label == OUTER) {
            see(m, &m->part[part].nearest, from, to);
        } else if (m->closest[to] == NONE || slack(m, from, to) < slack(m, m->closest[to], to)) {
            m->closest[to] = from;
        }
    }
}

/* Adds a free part and the one that it is matched with to a tree, over an edge to `to`. */
static void grow(struct matching *m, uint32_t to)
{
    const uint32_t inner = m->outmost[to];
    m->part[inner].label = INNER;
    m->part[inner].entry = (struct edge){m->closest[to], to};
    reach(m, m->outmost[m->mate[m->part[inner].base]]);
}

static void put_after(struct matching *m, uint32_t part, uint32_t next, uint32_t from, uint32_t to)
{
    m->part[part].next = next;
    m->part[part].step = (struct edge){from, to};
    m->part[next].previous = part;
}

/* Makes the cycle of a blossom from an edge between two outer parts and the paths from these up to `top`. */
static void close_cycle(struct matching *m, struct edge e, uint32_t top)
{
    const uint32_t end[2] = {m->outmost[e.from], m->outmost[e.to]};
    put_after(m, end[0], end[1], e.from, e.to);
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t outer = end[side], up; outer != top; outer = up) {
            const uint32_t base = m->part[outer].base, mate = m->mate[base], inner = m->outmost[mate];
            const struct edge entry = m->part[inner].entry;
            up = m->outmost[entry.from];
            if (side == 0) {
                put_after(m, inner, outer, mate, base);
                put_after(m, up, inner, entry.from, entry.to);
            } else {
                put_after(m, outer, inner, base, mate);
                put_after(m, inner, up, entry.to, entry.from);
            }
        }
    }
}

/* Fills `among` of a blossom from its parts. */
static void look_around(struct matching *m, uint32_t blossom)
{
    uint16_t *best = &m->among[(size_t)(blossom - m->n) * m->n];
    const uint32_t first = m->part[blossom].first;
    for (uint32_t node = 0; node < m->n; node++)
        best[node] = (uint16_t)among(m, first, node);
    for (uint32_t part = m->part[first].next; part != first; part = m->part[part].next) {
        for (uint32_t node = 0; node < m->n; node++) {
            const uint32_t other = among(m, part, node);
            if (slack(m, other, node) < slack(m, best[node], node))
                best[node] = (uint16_t)other;
        }
    }
}

static void shrink(struct matching *m, struct edge e, uint32_t top)
{
    uint32_t blossom = m->n;
    while (m->part[blossom].first != NONE)
        blossom++;
    close_cycle(m, e, top);
    m->part[blossom] = (struct part){.within = NONE, .first = top, .base = m->part[top].base};
    uint32_t part = top;
    do {
        m->part[part].within = blossom;
        part = m->part[part].next;
    } while (part != top);
    set_outmost(m, blossom, blossom);
    look_around(m, blossom);
    reach(m, blossom);
}

/* Takes an inner blossom with z = 0 apart. The tree goes on over its parts from the entry to the base; other parts are
 * free. */
static void expand(struct matching *m, uint32_t blossom)
{
    const uint32_t base = m->part[blossom].first;
    uint32_t at = holder(m, blossom, m->part[blossom].entry.to);
    const bool forward = even_way(m, at);
    uint32_t part = base;
    do {
        m->part[part].within = NONE;
        m->part[part].label = FREE;
        set_outmost(m, part, part);
        part = m->part[part].next;
    } while (part != base);
    m->part[at].label = INNER;
    m->part[at].entry = m->part[blossom].entry;
    m->part[blossom].first = NONE;
    while (at != base) {
        const uint32_t outer = neighbour(m, at, forward);
        at = neighbour(m, outer, forward);
        m->part[at].label = INNER;
        m->part[at].entry = step_of(m, outer, forward);
        reach(m, outer);
    }
}

/* Joins two outer parts by an edge: a blossom, or a path between two roots. Returns whether it was a path. */
static bool meet(struct matching *m, struct edge e)
{
    memset(m->marked, 0, m->parts);
    for (uint32_t part = m->outmost[e.from]; part != NONE; part = above(m, part))
        m->marked[part] = true;
    uint32_t top = m->outmost[e.to];
    while (top != NONE && !m->marked[top])
        top = above(m, top);
    if (top != NONE) {
        shrink(m, e, top);
        return false;
    }
    invert(m, e.from, e.to);
    invert(m, e.to, e.from);
    return true;
}

/* ---- stages ---- */

enum what { NOTHING, GROW, MEET, EXPAND };

/* What comes next when the duals change, after which change. */
struct step {
    enum what what;
    int64_t after;
    uint32_t which; /* node to grow to; part */
};

static void offer(struct step *s, enum what what, int64_t after, uint32_t which)
{
    if (after < s->after)
        *s = (struct step){what, after, which};
}

/* NOTHING: y of single nodes becomes 0 first. These have the least y of all nodes, since it fell in all stages. So an
 * edge without weight is never the next one. */
static struct step next_step(const struct matching *m, int64_t left)
{
    struct step s = {NOTHING, left, 0};
    for (uint32_t node = 0; node < m->n; node++)
        if (label_of(m, node) == FREE && m->closest[node] != NONE)
            offer(&s, GROW, slack(m, m->closest[node], node), node);
    for (uint32_t part = 0; part < m->parts; part++) {
        const struct part *p = &m->part[part];
        if (!is_outmost(m, part))
            continue;
        if (p->label == OUTER && p->nearest.from != NONE)
            offer(&s, MEET, slack(m, p->nearest.from, p->nearest.to) / 2, part);
        else if (p->label == INNER && part >= m->n)
            offer(&s, EXPAND, p->dual / 2, part);
    }
    return s;
}

static void change_duals(struct matching *m, int64_t by)
{
    static const int sign[] = {[FREE] = 0, [OUTER] = -1, [INNER] = 1};
    for (uint32_t node = 0; node < m->n; node++)
        m->part[node].dual += sign[label_of(m, node)] * by;
    for (uint32_t part = m->n; part < m->parts; part++)
        if (is_outmost(m, part))
            m->part[part].dual -= sign[m->part[part].label] * 2 * by;
}

/* Returns y of the single nodes at the end of the stage; 0: there are none, or the matching is best. */
static int64_t stage(struct matching *m, int64_t left)
{
    bool roots = false;
    for (uint32_t node = 0; node < m->n; node++)
        m->closest[node] = NONE;
    for (uint32_t part = 0; part < m->parts; part++)
        m->part[part].label = FREE;
    for (uint32_t part = 0; part < m->parts; part++) {
        if (is_outmost(m, part) && m->mate[m->part[part].base] == MATCHING_ALONE) {
            roots = true;
            reach(m, part);
        }
    }
    while (roots) {
        const struct step s = next_step(m, left);
        change_duals(m, s.after);
        left -= s.after;
        if (s.what == NOTHING || (s.what == MEET && meet(m, m->part[s.which].nearest)))
            return left;
        if (s.what == GROW)
            grow(m, s.which);
        else if (s.what == EXPAND)
            expand(m, s.which);
    }
    return 0;
}

struct matching *matching_find(uint32_t n, const int64_t *weight)
{
    struct matching *m = hx_allocate(1, sizeof *m);
    m->n = n;
    m->parts = n + n / 2;
    m->weight = hx_allocate((size_t)n * n + 1, sizeof *m->weight);
    m->part = hx_allocate(m->parts + 1, sizeof *m->part);
    m->mate = hx_allocate(n + 1, sizeof *m->mate);
    m->outmost = hx_allocate(n + 1, sizeof *m->outmost);
    m->closest = hx_allocate(n + 1, sizeof *m->closest);
    m->among = hx_allocate((size_t)(n / 2) * n + 1, sizeof *m->among);
    m->marked = hx_allocate(m->parts + 1, sizeof *m->marked);
    m->stack = hx_allocate((size_t)2 * m->parts + 2, sizeof *m->stack);

    int64_t most = 0;
    memcpy(m->weight, weight, (size_t)n * n * sizeof *weight);
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = 0; v < n; v++)
            most = u != v && weight[(size_t)u * n + v] > most ? weight[(size_t)u * n + v] : most;
    for (uint32_t part = 0; part < m->parts; part++)
        m->part[part] = (struct part){.within = NONE, .first = NONE, .base = part};
    for (uint32_t node = 0; node < n; node++) {
        m->part[node].dual = most;
        m->mate[node] = MATCHING_ALONE;
        m->outmost[node] = node;
    }
    for (int64_t left = most; left > 0;)
        left = stage(m, left);
    return m;
}

void matching_free(struct matching *m)
{
    if (!m)
        return;
    HX_FREE(m->weight, m->part, m->mate, m->outmost, m->closest, m->among, m->marked, m->stack, m);
}

/* ---- result ---- */

uint32_t matching_mate(const struct matching *m, uint32_t node)
{
    return m->mate[node];
}

static int64_t weight_of(const struct matching *m, const int64_t *weight)
{
    int64_t sum = 0;
    for (uint32_t node = 0; node < m->n; node++)
        if (node < m->mate[node] && m->mate[node] != MATCHING_ALONE)
            sum += weight[(size_t)node * m->n + m->mate[node]];
    return sum;
}

int64_t matching_weight(const struct matching *m)
{
    return weight_of(m, m->weight);
}

static bool is_matching(const struct matching *m)
{
    for (uint32_t node = 0; node < m->n; node++) {
        const uint32_t mate = m->mate[node];
        if (mate != MATCHING_ALONE && (mate >= m->n || mate == node || m->mate[mate] != node))
            return false;
    }
    return true;
}

/* Adds z to the sums of all pairs within a blossom. Returns the blossom's nodes. */
static uint32_t add_blossom(const struct matching *m, uint32_t blossom, int64_t *sum, uint32_t *node)
{
    uint32_t nodes = 0;
    for (uint32_t v = 0; v < m->n; v++) {
        uint32_t part = v;
        while (part != NONE && part != blossom)
            part = m->part[part].within;
        if (part == blossom)
            node[nodes++] = v;
    }
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t j = 0; j < nodes; j++)
            sum[(size_t)node[i] * m->n + node[j]] += m->part[blossom].dual;
    return nodes;
}

bool matching_is_proved(const struct matching *m, const int64_t *weight)
{
    bool proved = is_matching(m);
    int64_t *sum = hx_allocate((size_t)m->n * m->n + 1, sizeof *sum), value = 0;
    uint32_t *node = hx_allocate(m->n + 1, sizeof *node);
    for (uint32_t part = m->n; part < m->parts; part++) {
        const int64_t z = m->part[part].first == NONE ? 0 : m->part[part].dual;
        if (z == 0)
            continue;
        const uint32_t nodes = add_blossom(m, part, sum, node);
        proved = proved && z > 0 && nodes % 2 == 1;
        value += z * (nodes / 2);
    }
    for (uint32_t u = 0; u < m->n; u++) {
        value += m->part[u].dual;
        proved = proved && m->part[u].dual >= 0;
        for (uint32_t v = 0; v < u; v++) {
            const size_t pair = (size_t)u * m->n + v;
            proved = proved && m->part[u].dual + m->part[v].dual + sum[pair] >= 2 * weight[pair];
        }
    }
    HX_FREE(sum, node);
    return proved && value == 2 * weight_of(m, weight);
}
