/* support_capture_break.c - changes a capture of the model so that it breaks one rule (support_capture.h). */
#include "tests/support/support_capture.h"
#include "tests/support/support_capture_frame.h"

#include <stdlib.h>
#include <string.h>

struct view {
    bool data, accelerator;
    unsigned gx, gy, port, to_gx, to_gy;
};

static struct view look(const struct sim_capture *c, const struct sim_record *r)
{
    unsigned columns = c->set.a * c->set.x;
    unsigned accelerators = columns * c->set.b * c->set.y;
    unsigned per_plane = c->interfaces / c->set.planes;
    unsigned at = r->interface % per_plane;
    return (struct view){.data = r->frame[13] == 0xB5,
                         .accelerator = at < accelerators * SIM_PORTS,
                         .gx = at / SIM_PORTS % columns,
                         .gy = at / SIM_PORTS / columns,
                         .port = at % SIM_PORTS,
                         .to_gx = (unsigned)r->frame[32] << 8 | r->frame[33],
                         .to_gy = (unsigned)r->frame[34] << 8 | r->frame[35]};
}

/* Change that breaks a rule; returns true if it fits the record. */
struct record_break {
    const char *rule;
    bool (*apply)(struct sim_capture *c, size_t at, const struct view *v);
};

static bool break_header(struct sim_capture *c, size_t at, const struct view *v)
{
    (void)v;
    c->records[at].frame[18] = 1;
    return true;
}

static bool break_crc(struct sim_capture *c, size_t at, const struct view *v)
{
    (void)v;
    c->records[at].frame[27] ^= 1;
    return c->set.crc;
}

static bool break_job(struct sim_capture *c, size_t at, const struct view *v)
{
    if (!v->accelerator)
        return false;
    c->records[at].frame[31] = 5;
    if (c->set.crc)
        sim_frame_set_crc(c->records[at].frame);
    return true;
}

static bool leave_by(struct sim_capture *c, size_t at, const struct view *v, unsigned port)
{
    c->records[at].interface += port - v->port;
    return true;
}

static bool break_distance(struct sim_capture *c, size_t at, const struct view *v)
{
    if (!v->accelerator || v->port == SIM_LOCAL || c->records[at].direction != 2)
        return false;
    for (unsigned port = SIM_E; port < SIM_LOCAL; port++)
        if (!sim_is_minimal(&c->set, v->gx, v->gy, v->to_gx, v->to_gy, port))
            return leave_by(c, at, v, port);
    return false;
}

/* Sends a packet north that still needs east or west on this board. */
static bool break_north_last(struct sim_capture *c, size_t at, const struct view *v)
{
    if (!v->accelerator || v->port > SIM_W || c->records[at].direction != 2 ||
        !sim_is_minimal(&c->set, v->gx, v->gy, v->to_gx, v->to_gy, SIM_N) ||
        sim_leaves_board(&c->set, v->gx, v->gy, SIM_N))
        return false;
    for (unsigned port = SIM_E; port <= SIM_W; port++)
        if (sim_is_minimal(&c->set, v->gx, v->gy, v->to_gx, v->to_gy, port) &&
            sim_leaves_board(&c->set, v->gx, v->gy, port))
            return false;
    return leave_by(c, at, v, SIM_N);
}

/* A packet that moved north could leave the board to the west. Sends it on east on the board, which is as near. */
static bool break_turn(struct sim_capture *c, size_t at, const struct view *v)
{
    size_t in = at;
    while (in-- > 0)
        if (memcmp(c->records[in].frame + 24, c->records[at].frame + 24, 40) == 0)
            break;
    if (!v->accelerator || v->port != SIM_W || c->records[at].direction != 2 ||
        !sim_leaves_board(&c->set, v->gx, v->gy, SIM_W) || sim_leaves_board(&c->set, v->gx, v->gy, SIM_S) ||
        !sim_is_minimal(&c->set, v->gx, v->gy, v->to_gx, v->to_gy, SIM_E) ||
        c->records[in].interface != c->records[at].interface + SIM_S - SIM_W)
        return false;
    c->records[at].frame[15]--;
    return leave_by(c, at, v, SIM_E);
}

static bool break_vc(struct sim_capture *c, size_t at, const struct view *v)
{
    struct sim_record *r = &c->records[at];
    if (!v->accelerator || r->direction != 2 || !sim_leaves_board(&c->set, v->gx, v->gy, v->port))
        return false;
    r->frame[15]--;
    return true;
}

static bool break_hops(struct sim_capture *c, size_t at, const struct view *v)
{
    (void)v;
    c->records[at].frame[16]++;
    return true;
}

/* A data frame grants 65,536 blocks too many. */
static bool break_credit(struct sim_capture *c, size_t at, const struct view *v)
{
    struct sim_record *r = &c->records[at];
    if (!c->set.wire || r->direction != 1 || r->frame[17] > 2 || v->port == SIM_LOCAL)
        return false;
    r->frame[21]++;
    return true;
}

/* Swaps a packet with the next arrival on the same port and VC. */
static bool break_order(struct sim_capture *c, size_t at, const struct view *v)
{
    struct sim_record *r = &c->records[at];
    if (r->direction != 1 || (v->accelerator && v->port == SIM_LOCAL))
        return false;
    for (size_t i = at + 1; i < c->count; i++) {
        struct sim_record *other = &c->records[i];
        if (other->interface != r->interface || other->direction != 1 || other->vc != r->vc || other->frame[13] != 0xB5)
            continue;
        struct sim_record kept = *r;
        r->frame = other->frame;
        r->bytes = other->bytes;
        r->captured = other->captured;
        other->frame = kept.frame;
        other->bytes = kept.bytes;
        other->captured = kept.captured;
        return true;
    }
    return false;
}

static bool break_delivery(struct sim_capture *c, size_t at, const struct view *v)
{
    if (!v->accelerator || v->port != SIM_LOCAL || c->records[at].direction != 2 || at == 0)
        return false;
    struct sim_record *records = malloc((c->count + 1) * sizeof *records);
    if (!records)
        abort();
    memcpy(records, c->records, (at + 1) * sizeof *records);
    memcpy(records + at + 1, c->records + at, (c->count - at) * sizeof *records);
    records[at + 1].frame = malloc(records[at].captured);
    if (!records[at + 1].frame)
        abort();
    memcpy(records[at + 1].frame, records[at].frame, records[at].captured);
    free(c->records);
    c->records = records;
    c->room = ++c->count;
    return true;
}

/* Removes a delivery, so the packet's last record is its arrival at the last switch. */
static uint64_t lose_delivery(struct sim_capture *c)
{
    for (size_t at = c->count / 2; at < c->count; at++) {
        struct view v = look(c, &c->records[at]);
        if (!v.data || !v.accelerator || v.port != SIM_LOCAL || c->records[at].direction != 2)
            continue;
        size_t last = at;
        while (last-- > 0)
            if (memcmp(c->records[last].frame + 24, c->records[at].frame + 24, 40) == 0)
                break;
        free(c->records[at].frame);
        memmove(&c->records[at], &c->records[at + 1], (c->count - at - 1) * sizeof *c->records);
        c->count--;
        return last + 1;
    }
    return 0;
}

/* First record from `at` on of that interface and direction with a data frame on the VC. */
static size_t find_record(const struct sim_capture *c, size_t at, uint32_t interface, unsigned direction, unsigned vc)
{
    while (++at < c->count)
        if (c->records[at].interface == interface && c->records[at].direction == direction && c->records[at].vc == vc &&
            c->records[at].frame[13] == 0xB5)
            break;
    return at;
}

/* Record of the arrival of the packet of record `at`. */
static size_t find_arrival(const struct sim_capture *c, size_t at)
{
    size_t i = at + 1;
    while (i < c->count &&
           (c->records[i].direction != 1 || memcmp(c->records[i].frame + 24, c->records[at].frame + 24, 40) != 0))
        i++;
    return i;
}

/* Swaps the arrivals of two successive packets, and records the sending of both behind them. */
static uint64_t arrive_early(struct sim_capture *c)
{
    for (size_t first = c->count / 2; first < c->count; first++) {
        const struct sim_record *r = &c->records[first];
        struct view v = look(c, r);
        if (!v.data || r->direction != 2 || (v.accelerator && v.port == SIM_LOCAL))
            continue;
        size_t second = find_record(c, first, r->interface, 2, r->vc);
        size_t came = find_arrival(c, first);
        size_t second_came = second < c->count ? find_arrival(c, second) : c->count;
        if (second > came || second_came >= c->count || second_came < came)
            continue;
        struct sim_record sent = c->records[second];
        struct sim_record early = c->records[second_came];
        memmove(&c->records[second_came], &c->records[second_came + 1], (c->count - 1 - second_came) * sizeof early);
        memmove(&c->records[second], &c->records[second + 1], (came - second) * sizeof sent);
        c->records[came] = sent;
        memmove(&c->records[first + 2], &c->records[first + 1], (c->count - 2 - first) * sizeof early);
        c->records[first + 1] = early;
        return first + 2;
    }
    return 0;
}

/* Both packets of arrive_early() arrive before either is recorded as sent. */
static uint64_t arrive_before_sent(struct sim_capture *c)
{
    uint64_t frame = arrive_early(c);
    if (frame == 0)
        return 0;
    struct sim_record *r = &c->records[frame - 2];
    size_t came = find_arrival(c, (size_t)frame - 2) - ((size_t)frame - 2);
    const struct sim_record front[] = {r[1], r[came], r[0]};
    memmove(r + 3, r + 2, (came - 2) * sizeof *r);
    memcpy(r, front, sizeof front);
    return frame - 1;
}

/* The count of sent blocks is one too high. */
static uint64_t say_wrong_count(struct sim_capture *c)
{
    for (size_t at = c->count / 2; at < c->count; at++) {
        struct sim_record *r = &c->records[at];
        if (r->frame[13] != 0xB6 || r->direction != 2)
            continue;
        r->frame[27]++;
        sim_frame_set_crc(r->frame);
        return at + 1;
    }
    return 0;
}

uint64_t sim_break(struct sim_capture *c, const char *rule)
{
    static const struct record_break breaks[] = {{"header", break_header},
                                                 {"crc", break_crc},
                                                 {"job", break_job},
                                                 {"distance", break_distance},
                                                 {"north-last", break_north_last},
                                                 {"north-last-turn", break_turn},
                                                 {"vc", break_vc},
                                                 {"hops", break_hops},
                                                 {"credit", break_credit},
                                                 {"order", break_order},
                                                 {"delivery", break_delivery}};
    if (strcmp(rule, "delivery-lost") == 0)
        return lose_delivery(c);
    if (strcmp(rule, "order-early") == 0)
        return arrive_early(c);
    if (strcmp(rule, "order-before") == 0)
        return arrive_before_sent(c);
    if (strcmp(rule, "credit-sent") == 0)
        return say_wrong_count(c);
    if (strcmp(rule, "credit") == 0 && c->set.greedy)
        return c->overrun_frame;
    for (unsigned i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        if (strcmp(rule, breaks[i].rule) != 0)
            continue;
        for (size_t at = c->count / 2; at < c->count; at++) {
            struct view v = look(c, &c->records[at]);
            if (v.data && breaks[i].apply(c, at, &v))
                return at + 1 + (strcmp(rule, "delivery") == 0);
        }
    }
    return 0;
}
