/* excuses.c - faults that a capture speaks of, and the breaches that they allow (tools/verify/excuses.h). */
#include "tools/verify/excuses.h"
#include "host/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ASIDE = 1 << 16 };

/* How far from its time a fault is felt, by clock. What is on a link when it goes down was sent before; ends of links and routers
 * follow later. Live, times are those of the schedule, and workers share cores. */
struct margin {
    uint64_t before_ns, link_ns, ways_ns;
};
static const struct margin margins[] = {
    [HX_CLOCK_WALL] = {1000000000, HX_FAULT_FELT_NS, HX_FAULT_FELT_NS}, [HX_CLOCK_VIRTUAL] = {2000, 2000, 1000000}};

struct damage {
    struct hx_key key;
    uint64_t since_ns;
    uint64_t
        made_up; /* 1: nobody sent such a packet; 0: its checksum, or a field that is none of a frame's, says it all */
};

/* A packet, whatever its checksum is, at a port of the capture. */
struct passage {
    struct hx_key packet;
    uint64_t port;
};

/* It was sent with a wrong checksum, because it had been damaged: the link may have mended it. */
struct sent_wrong {
    struct passage by;
    uint64_t time_ns;
    uint64_t mended; /* 1: it came right, and nothing else can for this one */
};

void hx_excuses_begin(struct hx_excuses *e)
{
    *e = (struct hx_excuses){.breach = NULL};
    e->damaged = hx_map_make(sizeof(struct hx_key), sizeof(struct damage));
    e->sent_wrong = hx_map_make(sizeof(struct passage), sizeof(struct sent_wrong));
}

void hx_excuses_free(struct hx_excuses *e)
{
    hx_faults_free(&e->faults);
    free(e->over);
    hx_map_free(&e->damaged);
    hx_map_free(&e->sent_wrong);
    free(e->breach);
}

/* ---- what was heard of ---- */

/* What it may do, to a link of its own or elsewhere. */
static unsigned kinds_of(const struct hx_fault *fault)
{
    const struct hx_impairment *i = &fault->impairs;
    if (fault->kind == HX_FAULT_KILLED)
        return HX_EXCUSES_GAPS | HX_EXCUSES_WAYS;
    if (hx_fault_cuts(fault))
        return HX_EXCUSES_LOSS | HX_EXCUSES_ORDER | HX_EXCUSES_WAYS | HX_EXCUSES_STRETCH;
    unsigned kinds = fault->kind == HX_FAULT_IMPAIRS ? HX_EXCUSES_STRETCH : 0;
    kinds |= i->loss ? HX_EXCUSES_LOSS : 0;
    kinds |= i->corrupt ? HX_EXCUSES_DAMAGE : 0;
    kinds |= i->duplicate ? HX_EXCUSES_COPIES : 0;
    bool disorders = kinds & ~(unsigned)HX_EXCUSES_STRETCH || i->reorder || i->delay_ns;
    return disorders ? kinds | HX_EXCUSES_ORDER : kinds;
}

/* Simulated, a line's time is the frame's. Live it counts from the start of the run, or from when it was asked for, and what is known is
 * when the frame was seen, and how long before that it was if the file began later. */
static void hear_line(struct hx_excuses *e, const struct hx_sightings *c, const char *line, uint64_t seen_ns)
{
    struct hx_fault fault;
    struct hx_problem problem;
    if (!hx_fault_parse(&fault, line, c->fabric.g, &problem)) {
        e->not_understood++;
        return;
    }
    if (c->fabric.facts.clock == HX_CLOCK_WALL)
        fault.at_ns = seen_ns;
    e->kinds |= kinds_of(&fault);
    (void)hx_faults_put(&e->faults, &fault);
}

/* What is new may have ended any of what was known. */
static void end_others(struct hx_excuses *e, const struct hx_fabric *g)
{
    free(e->over);
    e->over = hx_allocate(e->faults.count, sizeof *e->over);
    hx_faults_ends(&e->faults, g, e->over);
}

/* "fault at 5 s, 1500ms ago": how long, ns. 0: the head of the line does not say. */
static uint64_t ago_of(const char *head, size_t length)
{
    static const char end[] = " ago";
    char text[HX_VALUE_TEXT];
    uint64_t ns = 0;
    const char *comma = memchr(head, ',', length);
    if (!comma || length < sizeof end - 1 || memcmp(head + length - (sizeof end - 1), end, sizeof end - 1) != 0)
        return 0;
    const char *from = comma + 1 + (comma[1] == ' ');
    const char *to = head + length - (sizeof end - 1);
    (void)snprintf(text, sizeof text, "%.*s", to > from ? (int)(to - from) : 0, from);
    return hx_value_duration(text, 0, UINT64_MAX, &ns) ? 0 : ns;
}

void hx_excuses_hear(struct hx_excuses *e, const struct hx_sightings *c, const struct hx_sighting *s)
{
    static const char mark[] = "fault at ";
    const char *text = s->comment.bytes;
    size_t left = s->comment.length;
    size_t known = e->faults.count;
    while (c->fabric.known && left) {
        const char *end = memchr(text, '\n', left);
        size_t length = end ? (size_t)(end - text) : left;
        const char *colon = memchr(text, ':', length);
        char line[HX_FAULT_TEXT + 2]; /* one too many is refused where lines are read */
        if (colon && length >= sizeof mark && memcmp(text, mark, sizeof mark - 1) == 0) {
            uint64_t ago = ago_of(text, (size_t)(colon - text));
            (void)snprintf(line, sizeof line, "%.*s", (int)(length - (size_t)(colon + 1 - text)), colon + 1);
            hear_line(e, c, line, s->time_ns - (ago < s->time_ns ? ago : s->time_ns));
        }
        text += length + (end != NULL);
        left -= length + (end != NULL);
    }
    if (e->faults.count > known)
        end_others(e, c->fabric.g);
}

/* ---- what they allow ---- */

static uint64_t later(uint64_t time, uint64_t by)
{
    return time > UINT64_MAX - by ? UINT64_MAX : time + by;
}

/* When it is over for those kinds: at a link of its own, or, of ways, by its own time. */
static uint64_t over_at(const struct hx_excuses *e, size_t i, const struct hx_fabric *g, const struct hx_port_at *at,
                        bool on_link)
{
    const struct hx_fault *fault = &e->faults.fault[i];
    if (on_link)
        return later(hx_fault_end_at(&e->faults, i, g, at->plane, at->node, at->port), fault->impairs.delay_ns);
    return e->over[i];
}

static bool allows(const struct hx_excuses *e, const struct hx_sightings *c, size_t i, const struct hx_port_at *at,
                   uint64_t time_ns, unsigned by)
{
    static const unsigned of_links =
        HX_EXCUSES_LOSS | HX_EXCUSES_DAMAGE | HX_EXCUSES_COPIES | HX_EXCUSES_ORDER | HX_EXCUSES_STRETCH;
    const struct hx_fault *fault = &e->faults.fault[i];
    const struct margin *m = &margins[c->fabric.facts.clock];
    const struct hx_fabric *g = c->fabric.g;
    unsigned kinds = kinds_of(fault) & by;
    if (!kinds || later(time_ns, m->before_ns + fault->impairs.delay_ns) < fault->at_ns)
        return false;
    if (kinds & of_links && at->node != HX_NOWHERE &&
        hx_fault_has_link(&fault->target, g, at->plane, at->node, at->port) &&
        time_ns <= later(over_at(e, i, g, at, true), m->link_ns))
        return true;
    bool in_plane = fault->target.plane == HX_EVERY_PLANE || fault->target.plane == at->plane;
    return kinds & ~of_links && in_plane && time_ns <= later(over_at(e, i, g, at, false), m->ways_ns);
}

/* Whether the capture lost frames at the port or at the other end of its link. */
static bool has_holes(const struct hx_sightings *c, const struct hx_port_at *at)
{
    bool any = false;
    if (at->node == HX_NOWHERE)
        return false;
    struct hx_port_at far = hx_cap_far(&c->fabric, at);
    for (uint32_t i = 0; i < c->port_count; i++) {
        const struct hx_port_at *other = &c->ports[i].at;
        bool here = other->node == at->node && other->port == at->port;
        bool there = other->node == far.node && other->port == far.port;
        any = any || (other->plane == at->plane && (here || there) && c->ports[i].dropped);
    }
    return any;
}

bool hx_excused(const struct hx_excuses *e, const struct hx_sightings *c, uint32_t port, uint64_t time_ns, unsigned by)
{
    bool excused = by & HX_EXCUSES_HOLES && has_holes(c, &c->ports[port].at);
    for (size_t i = 0; (e->kinds & by) && i < e->faults.count && !excused; i++)
        excused = allows(e, c, i, &c->ports[port].at, time_ns, by);
    return excused;
}

/* ---- frames that were damaged ---- */

static bool is_known(const struct hx_key *key)
{
    static const struct hx_key none;
    return memcmp(key, &none, sizeof none) != 0;
}

static void note(struct hx_excuses *e, const struct hx_key *key, uint64_t time_ns, bool made_up)
{
    bool first = hx_map_find(&e->damaged, key) == NULL;
    struct damage *d = hx_map_get(&e->damaged, key);
    d->since_ns = first || time_ns < d->since_ns ? time_ns : d->since_ns;
    d->made_up |= made_up;
}

static struct passage passage_of(const struct hx_key *key, uint32_t port)
{
    struct passage p = {*key, port};
    memset(p.packet.bytes, 0, HX_CRC_FIRST - HX_AT_CRC);
    return p;
}

/* The first sight of that packet at the port until `time_ns`, or, where `exact`, at it; NULL: there is none. */
static struct sent_wrong *find_wrong(const struct hx_excuses *e, const struct hx_key *key, uint32_t port,
                                     uint64_t time_ns, bool exact)
{
    const struct passage by = passage_of(key, port);
    struct sent_wrong *w = hx_map_find(&e->sent_wrong, &by);
    while (w && (exact ? w->time_ns != time_ns : w->mended || w->time_ns > time_ns))
        w = hx_map_find_next(&e->sent_wrong, w);
    return w;
}

/* Once, however often the breach is looked at. */
static void note_wrong(struct hx_excuses *e, const struct hx_breach *b)
{
    const struct passage by = passage_of(&b->key, b->port);
    if (find_wrong(e, &b->key, b->port, b->time_ns, true))
        return;
    struct sent_wrong *w = hx_map_add(&e->sent_wrong, &by);
    w->time_ns = b->time_ns;
}

/* By this breach, which a link's damage allows, is known of its packet. */
static void note_damage(struct hx_excuses *e, const struct hx_breach *b)
{
    if (!is_known(&b->key))
        return;
    note(e, &b->key, b->time_ns, b->finding.rule == HX_RULE_DELIVERY);
}

/* What is known of damage that the packet had met by then; NULL: it had met none. */
static const struct damage *damage_before(const struct hx_excuses *e, const struct hx_key *key, uint64_t time_ns)
{
    const struct damage *d = hx_map_find(&e->damaged, key);
    return d && time_ns >= d->since_ns ? d : NULL;
}

/* Whether the breach can follow from damage of its packet. */
static bool follows_from_damage(const struct hx_excuses *e, const struct hx_breach *b)
{
    const struct damage *d = damage_before(e, &b->key, b->time_ns);
    bool shown = b->finding.rule == HX_RULE_CRC || b->finding.rule == HX_RULE_HEADER;
    return d && (d->made_up || shown);
}

bool hx_excuses_mended(struct hx_excuses *e, const struct hx_sightings *c, const struct hx_seen_at *at, uint32_t from)
{
    struct sent_wrong *w = find_wrong(e, at->key, from, at->time_ns, false);
    if (!w || !hx_excused(e, c, at->port, at->time_ns, HX_EXCUSES_DAMAGE))
        return false;
    w->mended = !hx_excused(e, c, at->port, at->time_ns, HX_EXCUSES_COPIES); /* else a copy of it may come right, too */
    return true;
}

bool hx_excuses_made_up(const struct hx_excuses *e, const struct hx_key *key)
{
    const struct damage *d = hx_map_find(&e->damaged, key);
    return d && d->made_up;
}

/* ---- breaches that wait ---- */

static void tell(struct hx_findings_list *found, const struct hx_finding *f)
{
    hx_find(found, f->loss, f->frame, f->rule, "%s", f->what);
}

/* A breach at a link that damages what it carries makes its packet one that was damaged, wherever it is seen from then on. */
static bool is_excused(struct hx_excuses *e, const struct hx_sightings *c, const struct hx_breach *b)
{
    if (b->by & HX_EXCUSES_DAMAGE && hx_excused(e, c, b->port, b->time_ns, HX_EXCUSES_DAMAGE))
        note_damage(e, b);
    if (hx_excused(e, c, b->port, b->time_ns, b->by))
        return true;
    bool follows = follows_from_damage(e, b);
    if (follows && b->finding.rule == HX_RULE_CRC)
        note_wrong(e, b);
    return follows;
}

/* What nothing excuses yet is set aside: that its packet was damaged, or what fault there was, may be told later. */
void hx_excuses_take(struct hx_excuses *e, const struct hx_sightings *c, const struct hx_breach *breach,
                     struct hx_findings_list *found)
{
    bool damages = e->kinds & HX_EXCUSES_DAMAGE;
    if (is_excused(e, c, breach)) {
        e->excused++;
        return;
    }
    if ((!damages && !breach->by) || e->breaches == MOST_ASIDE) {
        tell(found, &breach->finding);
        return;
    }
    e->breach = hx_grown(e->breach, e->breaches, &e->room, sizeof *e->breach);
    e->breach[e->breaches++] = *breach;
}

void hx_excuses_settle(struct hx_excuses *e, const struct hx_sightings *c)
{
    for (uint32_t i = 0; i < e->breaches; i++)
        (void)is_excused(e, c, &e->breach[i]); /* which notes damage */
}

void hx_excuses_end(struct hx_excuses *e, const struct hx_sightings *c, struct hx_findings_list *found)
{
    hx_excuses_settle(e, c); /* of what was found since, too: all is known before any is told */
    for (uint32_t i = 0; i < e->breaches; i++) {
        if (is_excused(e, c, &e->breach[i]))
            e->excused++;
        else
            tell(found, &e->breach[i].finding);
    }
}
