/* fault_allowances.c - faults that a capture reports, and the breaches that they allow
 * (tools/verify/fault_allowances.h). */
#include "tools/verify/fault_allowances.h"
#include "base/value.h"
#include "tools/verify/verify.h" /* circle: a part of the verifier */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEFERRED = 1 << 16 };

/* Time around a fault in which its effects may be seen, by clock. Packets on a link when it goes down were sent before;
 * ends of links and routers react later. Live times are the schedule's, and workers share cores. */
struct margin {
    struct hx_felt_margin link, reroutes, unseen;
};
static const struct margin margins[] = {
    [HX_CLOCK_WALL] = {.link = {1000000000, HX_FAULT_FELT_NS},
                       .reroutes = {1000000000, HX_FAULT_FELT_NS},
                       .unseen = {HX_FAULT_FELT_NS, HX_FAULT_FELT_NS}},
    [HX_CLOCK_VIRTUAL] = {.link = {2000, 2000}, .reroutes = {2000, 1000000}, .unseen = {1000000, 1000000}}};

struct damage {
    struct hx_key key;
    uint64_t since_ns;
    /* 1: no node sent such a packet; 0: its checksum or an invalid field shows the damage */
    uint64_t made_up;
};

/* A packet, with any checksum, at a port of the capture. */
struct passage {
    struct hx_key packet;
    uint64_t port;
};

/* A damaged packet, sent with a wrong checksum; the link may restore it. */
struct sent_wrong {
    struct passage by;
    uint64_t time_ns;
    uint64_t mended; /* 1: it arrived restored, and cannot do so again */
};

void hx_fault_allowances_begin(struct hx_fault_allowances *e)
{
    *e = (struct hx_fault_allowances){.breach = NULL};
    e->damaged = hx_table_make(sizeof(struct hx_key), sizeof(struct damage));
    e->sent_wrong = hx_table_make(sizeof(struct passage), sizeof(struct sent_wrong));
}

static void forget_shut(struct hx_fault_allowances *e)
{
    for (uint32_t i = 0; i < e->shut_ports; i++)
        hx_felt_free(&e->shut_of[i].felt);
    free(e->shut_of);
    e->shut_of = NULL;
    e->shut_ports = 0;
}

/* Frees all tables of effects; they are built again when needed. */
static void forget_tables(struct hx_fault_allowances *e)
{
    for (uint32_t i = 0; i < e->ports; i++)
        hx_felt_free(&e->of_port[i].felt);
    for (uint32_t i = 0; i < e->planes; i++) {
        hx_felt_free(&e->of_plane[i]);
        hx_felt_free(&e->unseen[i]);
    }
    free(e->of_port);
    e->of_port = NULL;
    e->ports = e->unseen_ports = 0;
    e->heard = e->unseen_heard = 0;
}

void hx_fault_allowances_free(struct hx_fault_allowances *e)
{
    forget_tables(e);
    forget_shut(e);
    hx_faults_free(&e->shut);
    free(e->shut_ns);
    free(e->of_plane);
    free(e->unseen);
    hx_faults_free(&e->faults);
    hx_table_free(&e->damaged);
    hx_table_free(&e->sent_wrong);
    free(e->breach);
}

/* ---- annotations ---- */

/* What an annotation says of a line of a schedule. */
enum said { SAID_FAULT, SAID_CHANGE, SAID_FOLLOWED, SAID_NOTHING };

/* Notes that the links of a planned change are shut from `from_ns` until its end, or until a fault opens them. */
static void shut(struct hx_fault_allowances *e, const struct hx_fault *change, uint64_t from_ns)
{
    e->shut_ns = hx_grow(e->shut_ns, e->shut.count, &e->shut_room, sizeof *e->shut_ns);
    size_t at = hx_faults_put(&e->shut, change);
    memmove(e->shut_ns + at + 1, e->shut_ns + at, (e->shut.count - 1 - at) * sizeof *e->shut_ns);
    e->shut_ns[at] = from_ns;
    forget_shut(e);
}

/* The latest change with that line; NULL: the capture began later. */
static const struct hx_fault *change_of(const struct hx_fault_allowances *e, const struct hx_fault *same)
{
    for (size_t i = e->faults.count; i-- > 0;) {
        const struct hx_fault *one = &e->faults.fault[i];
        if (one->kind == HX_FAULT_CLOSED && strcmp(one->text, same->text) == 0)
            return one;
    }
    return NULL;
}

/* Takes a fault from a line of an annotation. Simulated, the line has the time of the fault. Live, that counts from the
 * start of the run or from the request, so `seen_ns` replaces it: the frame's time less the age that the annotation
 * gives. */
static void take_fault(struct hx_fault_allowances *e, struct hx_table *let_pass, const struct hx_capture_index *c,
                       struct hx_fault *fault, uint64_t seen_ns)
{
    bool live = c->fabric.facts.clock == HX_CLOCK_WALL;
    if (live)
        fault->at_ns = seen_ns;
    e->kinds |= hx_felt_kinds(fault);
    e->planned += fault->kind == HX_FAULT_CLOSED;
    if (fault->kind == HX_FAULT_UP || (fault->kind == HX_FAULT_CLOSED && !live))
        shut(e, fault, fault->at_ns);
    size_t at = hx_faults_put(&e->faults, fault);
    if (at + 1 == e->faults.count)
        return;
    forget_tables(e); /* which refer to faults by index */
    hx_tally_shift(let_pass, (uint32_t)at);
}

/* A strict check knows of planned changes only, and of the links that a fault opens again. */
static void take_line(struct hx_verify *v, const char *line, enum said said, uint64_t seen_ns)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    const struct hx_capture_index *c = v->c;
    struct hx_fault fault;
    struct hx_problem problem;
    bool understood =
        hx_fault_parse(&fault, line, c->fabric.g, &problem) && (said == SAID_FAULT) == (fault.kind != HX_FAULT_CLOSED);
    const struct hx_fault *change = understood && said == SAID_FOLLOWED ? change_of(e, &fault) : NULL;
    if (!understood)
        e->not_understood++;
    else if (change)
        shut(e, change, seen_ns);
    else if (v->strict && said == SAID_FAULT && fault.kind != HX_FAULT_UP)
        e->not_allowed++;
    else if (said != SAID_FOLLOWED)
        take_fault(e, &v->let_pass, c, &fault, seen_ns);
}

/* The age in ns of "fault at 5 s, 1500ms ago"; 0: no age given. */
static uint64_t ago_of(const char *head, size_t length)
{
    char why[HX_WHY_TEXT];
    static const char end[] = " ago";
    char text[HX_VALUE_TEXT];
    uint64_t ns = 0;
    const char *comma = memchr(head, ',', length);
    if (!comma || length < sizeof end - 1 || memcmp(head + length - (sizeof end - 1), end, sizeof end - 1) != 0)
        return 0;
    const char *from = comma + 1 + (comma[1] == ' ');
    const char *to = head + length - (sizeof end - 1);
    (void)snprintf(text, sizeof text, "%.*s", to > from ? (int)(to - from) : 0, from);
    return hx_value_duration(text, 0, UINT64_MAX, &ns, why) ? 0 : ns;
}

/* What the head of a line says, "fault at 5 us". */
static enum said said_by(const char *head, size_t length)
{
    static const char *const marks[] = {
        [SAID_FAULT] = "fault at ", [SAID_CHANGE] = "change at ", [SAID_FOLLOWED] = "change followed after "};
    unsigned said = SAID_FAULT;
    while (said < SAID_NOTHING && (length < strlen(marks[said]) || memcmp(head, marks[said], strlen(marks[said])) != 0))
        said++;
    return (enum said)said;
}

void hx_fault_allowances_hear(struct hx_verify *v, const struct hx_capture_frame *s)
{
    const struct hx_capture_index *c = v->c;
    const char *text = s->comment.bytes;
    size_t left = s->comment.length;
    while (c->fabric.known && left) {
        const char *end = memchr(text, '\n', left);
        size_t length = end ? (size_t)(end - text) : left;
        const char *colon = memchr(text, ':', length);
        enum said said = colon ? said_by(text, (size_t)(colon - text)) : SAID_NOTHING;
        char line[HX_FAULT_TEXT + 2]; /* the parser refuses a line that fills it */
        if (said != SAID_NOTHING) {
            uint64_t ago = said == SAID_FOLLOWED ? 0 : ago_of(text, (size_t)(colon - text));
            (void)snprintf(line, sizeof line, "%.*s", (int)(length - (size_t)(colon + 1 - text)), colon + 1);
            take_line(v, line, said, s->time_ns - (ago < s->time_ns ? ago : s->time_ns));
        }
        text += length + (end != NULL);
        left -= length + (end != NULL);
    }
}

/* ---- allowances ---- */

static const unsigned link_allowances =
    HX_ALLOW_LOSS | HX_ALLOW_DAMAGE | HX_ALLOW_COPIES | HX_ALLOW_ORDER | HX_ALLOW_STRETCH | HX_ALLOW_LATE;

static const struct margin *margin_of(const struct hx_verify *v)
{
    return &margins[v->c->fabric.facts.clock];
}

/* A table of effects by port that is built again where a new fault has the link. */
struct tables {
    const struct hx_faults *faults;
    struct hx_felt_link **of_port;
    size_t *ports;
    void (*add)(struct hx_verify *v, const struct hx_port_at *link, struct hx_felt *to);
};

static const struct hx_felt *felt_of(struct hx_verify *v, const struct tables *t, uint32_t port)
{
    const struct hx_port_at *at = &v->c->ports[port].at;
    while (*t->ports <= port) {
        size_t room = *t->ports;
        *t->of_port = hx_grow(*t->of_port, *t->ports, &room, sizeof **t->of_port);
        memset(*t->of_port + *t->ports, 0, (room - *t->ports) * sizeof **t->of_port);
        *t->ports = room;
    }
    struct hx_felt_link *l = &(*t->of_port)[port];
    bool touched = false;
    for (; l->heard < t->faults->count && at->node != HX_NOWHERE; l->heard++)
        touched = touched ||
                  hx_fault_has_link(&t->faults->fault[l->heard].target, v->c->fabric.g, at->plane, at->node, at->port);
    if (!touched)
        return &l->felt;
    hx_felt_free(&l->felt);
    t->add(v, at, &l->felt);
    hx_felt_make(&l->felt);
    return &l->felt;
}

static void add_effects(struct hx_verify *v, const struct hx_port_at *link, struct hx_felt *to)
{
    hx_felt_add_link(to, &v->fault_allowances.faults, v->c->fabric.g, link, &margin_of(v)->link);
}

static const struct hx_felt *felt_at(struct hx_verify *v, uint32_t port)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    return felt_of(v, &(struct tables){&e->faults, &e->of_port, &e->ports, add_effects}, port);
}

/* ---- closed links ---- */

struct shut_link {
    const struct hx_fault_allowances *e;
    struct hx_felt *to;
};

/* A packet may leave in the instant in which the link is closed, and in which it opens. */
static void add_shut_span(void *of, size_t at, uint64_t end_ns)
{
    struct shut_link *l = of;
    const uint64_t from_ns = l->e->shut_ns[at] + 1;
    if (l->e->shut.fault[at].kind == HX_FAULT_CLOSED && end_ns > from_ns)
        hx_felt_add(l->to, from_ns, end_ns == UINT64_MAX ? end_ns : end_ns - 1, HX_ALLOW_REROUTE);
}

static void add_shut(struct hx_verify *v, const struct hx_port_at *link, struct hx_felt *to)
{
    struct shut_link l = {&v->fault_allowances, to};
    hx_faults_each_end(&l.e->shut, v->c->fabric.g, link->plane, link->node, link->port, add_shut_span, &l);
}

bool hx_fault_allowances_shut(struct hx_verify *v, uint32_t port, uint64_t time_ns)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    return e->planned &&
           hx_felt_at(felt_of(v, &(struct tables){&e->shut, &e->shut_of, &e->shut_ports, add_shut}, port), time_ns);
}

/* ---- elsewhere ---- */

static void make_room_for_planes(struct hx_verify *v)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    if (e->planes)
        return;
    e->planes = v->c->fabric.g->planes;
    e->of_plane = hx_allocate(e->planes, sizeof *e->of_plane);
    e->unseen = hx_allocate(e->planes, sizeof *e->unseen);
}

/* Effects elsewhere than on the failing links. */
static const struct hx_felt *felt_in_plane(struct hx_verify *v, unsigned plane)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    const struct hx_felt_margin *m = &margin_of(v)->reroutes;
    make_room_for_planes(v);
    if (e->heard == e->faults.count)
        return &e->of_plane[plane];
    e->heard = e->faults.count;
    uint64_t *over_ns = hx_allocate(e->heard, sizeof *over_ns);
    hx_faults_ends(&e->faults, v->c->fabric.g, over_ns);
    for (unsigned i = 0; i < e->planes; i++) {
        hx_felt_free(&e->of_plane[i]);
        for (size_t at = 0; at < e->heard; at++) {
            const struct hx_fault *fault = &e->faults.fault[at];
            uint64_t from_ns = fault->at_ns > m->before_ns ? fault->at_ns - m->before_ns : 0;
            uint64_t to_ns = over_ns[at] > UINT64_MAX - m->after_ns ? UINT64_MAX : over_ns[at] + m->after_ns;
            if (fault->target.plane == HX_EVERY_PLANE || fault->target.plane == i)
                hx_felt_add(&e->of_plane[i], from_ns, to_ns, hx_felt_kinds(fault) & ~link_allowances);
        }
        hx_felt_make(&e->of_plane[i]);
    }
    free(over_ns);
    return &e->of_plane[plane];
}

static void add_unseen(void *of, unsigned plane, uint32_t node, unsigned port)
{
    struct hx_verify *v = of;
    const struct hx_port_at at = {.plane = plane, .node = node, .port = port};
    if (!hx_verify_shows(v, &at))
        hx_felt_add_link(&v->fault_allowances.unseen[plane], &v->fault_allowances.faults, v->c->fabric.g, &at,
                         &margin_of(v)->unseen);
}

/* Effects on links that the capture does not show, as seen on packets that come from there. */
static const struct hx_felt *felt_unseen(struct hx_verify *v, unsigned plane)
{
    static const struct hx_fault_target all = {.place = HX_PLACE_ALL, .plane = HX_EVERY_PLANE};
    struct hx_fault_allowances *e = &v->fault_allowances;
    make_room_for_planes(v);
    if (e->unseen_heard == e->faults.count && e->unseen_ports == v->port_count)
        return &e->unseen[plane];
    e->unseen_heard = e->faults.count;
    e->unseen_ports = v->port_count;
    for (unsigned i = 0; i < e->planes; i++)
        hx_felt_free(&e->unseen[i]);
    hx_fault_each_link(&all, v->c->fabric.g, add_unseen, v);
    for (unsigned i = 0; i < e->planes; i++)
        hx_felt_make(&e->unseen[i]);
    return &e->unseen[plane];
}

bool hx_fault_allowed(struct hx_verify *v, uint32_t port, uint64_t time_ns, unsigned by)
{
    const struct hx_fault_allowances *e = &v->fault_allowances;
    unsigned plane = v->c->ports[port].at.plane;
    if (by & (HX_ALLOW_CAPTURE_LOSS | HX_ALLOW_MISSED) && hx_verify_lacks(v, port, by))
        return true;
    unsigned on_link = e->kinds & by & link_allowances;
    unsigned elsewhere = e->kinds & by & ~link_allowances;
    unsigned (*felt)(const struct hx_felt *f, uint64_t time_ns) = by & HX_ALLOW_SINCE ? hx_felt_since : hx_felt_at;
    return (on_link && on_link & felt(felt_at(v, port), time_ns)) ||
           (elsewhere && elsewhere & felt(felt_in_plane(v, plane), time_ns)) ||
           (on_link && by & HX_ALLOW_UNSEEN && on_link & felt(felt_unseen(v, plane), time_ns));
}

/* ---- names of faults ---- */

enum { MOST_SEARCHED = 1 << 26 }; /* bounds the time that names take */

/* How well a fault explains what was seen at a port at a time. */
enum match { MATCH_NONE, MATCH_KIND, MATCH_TIME, MATCH_PORT, MATCH_BOTH };
static enum match match_of(const struct hx_verify *v, const struct hx_fault *fault, uint32_t port, uint64_t time_ns,
                           unsigned by)
{
    const struct hx_port_at *at = &v->c->ports[port].at;
    const struct margin *m = margin_of(v);
    uint64_t from_ns = fault->at_ns > m->unseen.before_ns ? fault->at_ns - m->unseen.before_ns : 0;
    bool is_late = fault->for_ns && time_ns > fault->at_ns + fault->for_ns + m->unseen.after_ns;
    if (!(hx_felt_kinds(fault) & by))
        return MATCH_NONE;
    bool has_link =
        at->node != HX_NOWHERE && hx_fault_has_link(&fault->target, v->c->fabric.g, at->plane, at->node, at->port);
    bool has_time = time_ns >= from_ns && !is_late;
    if (has_link)
        return has_time ? MATCH_BOTH : MATCH_PORT;
    return has_time ? MATCH_TIME : MATCH_KIND;
}

uint32_t hx_fault_allowances_name(struct hx_verify *v, uint32_t port, uint64_t time_ns, unsigned by)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    uint32_t best = HX_TALLY_NO_FAULT;
    enum match best_match = MATCH_NONE;
    if (e->searched > MOST_SEARCHED)
        return HX_TALLY_SOME_FAULT;
    for (size_t i = e->faults.count; i-- > 0 && best_match != MATCH_BOTH;) {
        enum match match = match_of(v, &e->faults.fault[i], port, time_ns, by);
        e->searched++;
        if (match <= best_match)
            continue;
        best = (uint32_t)i;
        best_match = match;
    }
    return best == HX_TALLY_NO_FAULT && hx_verify_lacks(v, port, by) ? HX_TALLY_GAPS : best;
}

/* ---- damaged frames ---- */

static bool is_known(const struct hx_key *key)
{
    static const struct hx_key none;
    return memcmp(key, &none, sizeof none) != 0;
}

static void note(struct hx_fault_allowances *e, const struct hx_key *key, uint64_t time_ns, bool made_up)
{
    bool first = hx_table_find(&e->damaged, key) == NULL;
    struct damage *d = hx_table_find_or_add(&e->damaged, key);
    d->since_ns = first || time_ns < d->since_ns ? time_ns : d->since_ns;
    d->made_up |= made_up;
}

static struct passage passage_of(const struct hx_key *key, uint32_t port)
{
    struct passage p = {*key, port};
    memset(p.packet.bytes, 0, HX_CRC_FIRST - HX_AT_CRC);
    return p;
}

/* The first noted passage of the packet at the port, until `time_ns` and not restored; or if `exact`, the one at
 * `time_ns`. NULL: none. */
static struct sent_wrong *find_wrong(const struct hx_fault_allowances *e, const struct hx_key *key, uint32_t port,
                                     uint64_t time_ns, bool exact)
{
    const struct passage by = passage_of(key, port);
    struct sent_wrong *w = hx_table_find(&e->sent_wrong, &by);
    while (w && (exact ? w->time_ns != time_ns : w->mended || w->time_ns > time_ns))
        w = hx_table_find_next(&e->sent_wrong, w);
    return w;
}

/* Notes it once, even if the breach is checked again. */
static void note_wrong(struct hx_fault_allowances *e, const struct hx_breach *b)
{
    const struct passage by = passage_of(&b->key, b->port);
    if (find_wrong(e, &b->key, b->port, b->time_ns, true))
        return;
    struct sent_wrong *w = hx_table_add(&e->sent_wrong, &by);
    w->time_ns = b->time_ns;
}

/* Notes the damage of a packet that is shown by a breach, which a link's damage allows. */
static void note_damage(struct hx_fault_allowances *e, const struct hx_breach *b)
{
    if (!is_known(&b->key))
        return;
    bool shown = b->finding.rule == HX_RULE_CRC || b->finding.rule == HX_RULE_HEADER;
    note(e, &b->key, b->time_ns, b->finding.rule == HX_RULE_DELIVERY || (b->by & HX_ALLOW_UNSEEN && !shown));
}

/* The packet's damage until `time_ns`; NULL: none. */
static const struct damage *damage_before(const struct hx_fault_allowances *e, const struct hx_key *key,
                                          uint64_t time_ns)
{
    const struct damage *d = hx_table_find(&e->damaged, key);
    return d && time_ns >= d->since_ns ? d : NULL;
}

/* Whether the breach may follow from damage of its packet. */
static bool follows_from_damage(const struct hx_fault_allowances *e, const struct hx_breach *b)
{
    const struct damage *d = damage_before(e, &b->key, b->time_ns);
    bool shown = b->finding.rule == HX_RULE_CRC || b->finding.rule == HX_RULE_HEADER;
    return d && (d->made_up || shown);
}

bool hx_fault_allowances_mended(struct hx_verify *v, const struct hx_seen_at *at, uint32_t from)
{
    struct sent_wrong *w = find_wrong(&v->fault_allowances, at->key, from, at->time_ns, false);
    if (!w || !hx_fault_allowed(v, at->port, at->time_ns, HX_ALLOW_DAMAGE))
        return false;
    w->mended =
        /* otherwise a copy of it may also arrive restored */
        !hx_fault_allowed(v, at->port, at->time_ns, HX_ALLOW_COPIES);
    return true;
}

bool hx_fault_allowances_made_up(const struct hx_fault_allowances *e, const struct hx_key *key)
{
    const struct damage *d = hx_table_find(&e->damaged, key);
    return d && d->made_up;
}

/* ---- deferred breaches ---- */

static void report(struct hx_findings_list *found, const struct hx_finding *f)
{
    hx_find(found, f->loss, f->frame, f->rule, "%s", f->what);
}

/* Whether a fault or damage allows the breach. A breach at a link that damages packets marks its packet as damaged from
 * then on. */
static bool is_allowed(struct hx_verify *v, const struct hx_breach *b)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    unsigned damage = b->by & (HX_ALLOW_DAMAGE | HX_ALLOW_UNSEEN);
    if (damage & HX_ALLOW_DAMAGE && hx_fault_allowed(v, b->port, b->time_ns, damage))
        note_damage(e, b);
    if (hx_fault_allowed(v, b->port, b->time_ns, b->by))
        return true;
    bool follows = follows_from_damage(e, b);
    if (follows && b->finding.rule == HX_RULE_CRC)
        note_wrong(e, b);
    return follows;
}

/* Damage shows at later ports too. */
static void allow(struct hx_verify *v, const struct hx_breach *b)
{
    const struct hx_seen_at at = {b->finding.frame, b->time_ns, b->port, &b->key};
    v->fault_allowances.allowed++;
    hx_verify_let_pass(v, hx_rule_names[b->finding.rule], &at, b->by ? b->by : HX_ALLOW_DAMAGE);
}

/* Defers a breach that no known fault allows: the damage or the fault may be found later. */
void hx_fault_allowances_take(struct hx_verify *v, const struct hx_breach *breach)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    bool damages = e->kinds & HX_ALLOW_DAMAGE;
    if (is_allowed(v, breach)) {
        allow(v, breach);
        return;
    }
    if ((!damages && !breach->by) || e->breaches == MOST_DEFERRED) {
        report(&v->found, &breach->finding);
        return;
    }
    e->breach = hx_grow(e->breach, e->breaches, &e->room, sizeof *e->breach);
    e->breach[e->breaches++] = *breach;
}

void hx_fault_allowances_settle(struct hx_verify *v)
{
    for (uint32_t i = 0; i < v->fault_allowances.breaches; i++)
        (void)is_allowed(v, &v->fault_allowances.breach[i]); /* notes damage */
}

void hx_fault_allowances_end(struct hx_verify *v)
{
    struct hx_fault_allowances *e = &v->fault_allowances;
    /* again, for later breaches: all damage must be known before any breach is reported */
    hx_fault_allowances_settle(v);
    for (uint32_t i = 0; i < e->breaches; i++) {
        if (is_allowed(v, &e->breach[i]))
            allow(v, &e->breach[i]);
        else
            report(&v->found, &e->breach[i].finding);
    }
}
