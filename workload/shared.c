/* shared.c - a host with two users: the packets of its interface (packets.c), and a program that holds it (program.c).
 *
 * Each is a workload of its own that knows nothing of the other; this one stands between them and the endpoint:
 *
 *     number of a message    twice the user's own, and which user: so an event finds whose it is
 *     tag of a message       says for which user of the receiver it is: marked ones are packets' (in_order.h), all others
 *                            programs' (hal/program/attachment.h)
 *
 * Neither keeps the other waiting. Users begin messages in turn; each has at most half of what the endpoint may have
 * under way; a message that waits for its host is passed by all others (ops->passes). If a program ends, only its own
 * messages are given up. Nobody need be there: packets without an interface's reader and messages for no program are
 * received, and end there. */
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
    unsigned in_flight[USERS]; /* messages; of none more than MOST_IN_FLIGHT */
    enum user turn;            /* who is asked first */
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

static int event(struct workload *w, const struct hx_event *e)
{
    struct shared *s = shared_of(w);
    if (e->type == HX_EVENT_RECEIVED)
        return workload_event(s->user[receiver_of(e->tag)], e);
    enum user user = user_of(e->cookie);
    struct hx_event own = *e;
    own.cookie /= USERS;
    s->in_flight[user]--;
    return workload_event(s->user[user], &own);
}

/* ---- workers and programs that die ---- */

/* What packets a predecessor had read is gone with it. */
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

/* ---- life ---- */

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

size_t shared_bytes(void)
{
    return rounded(sizeof(struct shared)) + rounded(packets_bytes()) + program_bytes();
}

struct workload *shared_make(const struct workload_plan *plan, uint32_t rank, uint64_t *asked, void *memory)
{
    struct shared *s = memory;
    uint8_t *at = (uint8_t *)memory + rounded(sizeof *s);
    s->base = (struct workload){.ops = &ops, .carries = true};
    s->user[PACKETS] = packets_make(plan, rank, at);
    s->user[PROGRAM] = program_make(plan, rank, at + rounded(packets_bytes()));
    s->user[PACKETS]->begun = &s->packets_begun;
    s->user[PROGRAM]->begun = asked;
    for (unsigned user = 0; user < USERS; user++)
        s->user[user]->rank = rank;
    return &s->base;
}
