/* shared.c - a host with two users: the packets of its interface (packets.c), and a program (program.c).
 *
 * Each user is a workload that knows nothing of the other. This one joins both to the endpoint:
 *
 *     number of a message    2 * the user's own number + user, so that an event finds its user
 *     tag of a message       names the receiving user: tags with a mark are packets' (in_order.h), others programs'
 *                            (hal/program/attachment.h)
 *
 * Users do not block each other. They begin messages in turn, and each has at most half of the endpoint's messages in
 * flight. A message that waits for its host is passed by others (ops->passes). When a program ends, only its messages
 * fail. Packets without a reader and messages without a program are received and discarded. */
#include "workload/in_order.h"
#include "workload/kinds.h"

enum user { PACKETS, PROGRAM, USERS };
enum { MOST_IN_FLIGHT = WORKLOAD_SENDS / USERS };
_Static_assert(ATTACHMENT_OTHERS == 1 << (IN_ORDER_MARK_SHIFT - ATTACHMENT_KIND_SHIFT),
               "what has a mark is no program's");

struct shared {
    struct workload base;
    struct workload *user[USERS];
    uint64_t packets_begun;
    unsigned in_flight[USERS]; /* messages, up to MOST_IN_FLIGHT */
    enum user turn;            /* user to ask first */
};

static struct shared *shared_of(struct workload *w)
{
    return (struct shared *)w;
}

static enum user user_of(uint64_t number)
{
    return number % USERS;
}

static enum user receiver_of(uint32_t tag)
{
    return in_order_has_mark(tag) ? PACKETS : PROGRAM;
}

static void number_for_all(struct workload_message *m, enum user user)
{
    m->number = m->number * USERS + user;
}

static struct workload_message as_own(const struct workload_message *m)
{
    struct workload_message own = *m;
    own.number /= USERS;
    return own;
}

/* ---- sending ---- */

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    struct shared *s = shared_of(w);
    for (unsigned i = 0; i < USERS; i++) {
        enum user user = (s->turn + i) % USERS;
        if (s->in_flight[user] < MOST_IN_FLIGHT && workload_next(s->user[user], now, refused, m)) {
            number_for_all(m, user);
            return true;
        }
    }
    return false;
}

static void take(struct workload *w, const struct workload_message *m)
{
    struct shared *s = shared_of(w);
    enum user user = user_of(m->number);
    const struct workload_message own = as_own(m);
    workload_take(s->user[user], &own);
    s->in_flight[user]++;
    s->turn = (user + 1) % USERS;
}

static void give_up(struct workload *w, const struct workload_message *m)
{
    const struct workload_message own = as_own(m);
    workload_give_up(shared_of(w)->user[user_of(m->number)], &own);
}

static void fill(const struct workload *w, const struct hx_send *send, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct workload *user = ((const struct shared *)w)->user[user_of(send->cookie)];
    struct hx_send own = *send;
    own.cookie /= USERS;
    user->ops->fill(user, &own, packet, to, bytes);
}

/* ---- receiving ---- */

static uint64_t place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    return workload_place(shared_of(w)->user[receiver_of(h->tag)], h, payload);
}

static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    struct shared *s = shared_of(w);
    if (e->type == HX_EVENT_RECEIVED)
        return workload_event(s->user[receiver_of(e->tag)], now, e);
    enum user user = user_of(e->cookie);
    struct hx_event own = *e;
    own.cookie /= USERS;
    s->in_flight[user]--;
    return workload_event(s->user[user], now, &own);
}

/* ---- restart of workers and programs ---- */

/* Only a program's messages can be repeated: packets that a predecessor read are lost. */
static bool message(const struct workload *w, uint64_t number, struct workload_message *m)
{
    const struct workload *program = ((const struct shared *)w)->user[PROGRAM];
    if (user_of(number) != PROGRAM || !program->ops->message(program, number / USERS, m))
        return false;
    number_for_all(m, PROGRAM);
    return true;
}

static void follow(struct workload *w, uint64_t begun, unsigned in_flight)
{
    struct shared *s = shared_of(w);
    workload_follow(s->user[PROGRAM], begun / USERS, in_flight);
    s->in_flight[PROGRAM] = in_flight;
}

static bool drains(struct workload *w, uint64_t now)
{
    return workload_drains(shared_of(w)->user[PROGRAM], now);
}

static bool gives_up(const struct workload *w, uint64_t number)
{
    (void)w;
    return user_of(number) == PROGRAM;
}

static void drained(struct workload *w)
{
    struct workload *program = shared_of(w)->user[PROGRAM];
    program->ops->drained(program);
}

/* ---- start and end ---- */

static bool is_over(const struct workload *w)
{
    (void)w;
    return false;
}

static void close_users(struct workload *w)
{
    for (unsigned user = 0; user < USERS; user++)
        workload_close(shared_of(w)->user[user]);
}

static const struct workload_ops ops = {
    WORKLOAD_OPS(struct shared), .passes = true,     .take = take,        .give_up = give_up,
    .message = message,          .follow = follow,   .event = event,      .drains = drains,
    .gives_up = gives_up,        .drained = drained, .close = close_users};

static size_t rounded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static size_t bytes_of(const struct workload_plan *plan, uint32_t rank)
{
    return rounded(sizeof(struct shared)) + rounded(packets_kind.bytes(plan, rank)) + program_kind.bytes(plan, rank);
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    struct shared *s = m->memory;
    struct workload_memory packets = {.memory = (uint8_t *)m->memory + rounded(sizeof *s)};
    struct workload_memory program = {.memory = (uint8_t *)packets.memory + rounded(packets_kind.bytes(plan, rank))};
    s->base = (struct workload){.ops = &ops, .carries = true};
    s->user[PACKETS] = packets_kind.make(plan, rank, &packets);
    s->user[PROGRAM] = program_kind.make(plan, rank, &program);
    s->user[PACKETS]->begun = &s->packets_begun;
    s->user[PROGRAM]->begun = m->asked;
    for (unsigned user = 0; user < USERS; user++)
        s->user[user]->rank = rank;
    return &s->base;
}

const struct workload_kind shared_kind = {.bytes = bytes_of, .make = make};
