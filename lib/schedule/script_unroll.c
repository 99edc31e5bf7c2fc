/* script_unroll.c - carries out the statements of a script for each rank, and adds their operations (script.h).
 *
 * A list has a front: what its next operation waits for. A statement with after or after_start is unordered: it waits
 * for what it names, and only the end of the list waits for it. A loop goes on with the front of its own list. */
#include "base/blobs.h"
#include "schedule/script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTSIDE = UINT32_MAX,
    LONGEST_NAME = 200,
    KEY_BODY = sizeof(uint32_t),
    MANY = 8 /* more than these are joined by one operation */
};

/* Operations: number << 1, plus SCHEDULE_AFTER_START if only their start counts. */
struct front {
    uint32_t *list;
    size_t count, room;
};

/* What a name stands for. */
struct named {
    struct front starts, ends;
    uint32_t rank; /* + 1, at which it does; 0: at none */
};

/* Body and name: two bodies have names of their own. */
struct key {
    char text[KEY_BODY + LONGEST_NAME];
};

struct unroll {
    struct script *s;
    struct schedule_builder *b;
    uint32_t rank;
    uint32_t body;                      /* repeat around the statement, or OUTSIDE */
    const struct hx_yaml_item *purpose; /* of the statement; NULL: none */
    struct hx_blobs keys;               /* of all ranks, which mostly have the same */
    struct named *named;                /* [keys] */
    size_t names, names_room;
    uint64_t steps, most;
};

/* A list that is carried out. */
struct sequence {
    struct front before; /* of the list, */
    unsigned beginnings; /* and how many statements wait for it */
    struct front now;    /* of the next statement in order, */
    bool begun;          /* if one was carried out; else `before` */
    struct front starts, unordered;
};

/* ---- fronts ---- */

static void push(struct front *f, uint32_t operation)
{
    f->list = hx_grow(f->list, f->count, &f->room, sizeof *f->list);
    f->list[f->count++] = operation;
}

static void append(struct front *f, const struct front *other)
{
    for (size_t i = 0; i < other->count; i++)
        push(f, other->list[i]);
}

static void swap(struct front *a, struct front *b)
{
    struct front kept = *a;
    *a = *b;
    *b = kept;
}

static void wait_for(const struct unroll *u, uint32_t number, const struct front *before)
{
    for (size_t i = 0; i < before->count; i++) {
        bool start = before->list[i] & SCHEDULE_AFTER_START;
        (start ? schedule_after_start : schedule_after)(u->b, u->rank, number, before->list[i] >> 1);
    }
}

/* Replaces many operations by one that takes no time: n operations after m others need no n x m dependencies. */
static void join(const struct unroll *u, struct front *f)
{
    if (f->count <= MANY)
        return;
    uint32_t number = schedule_compute(u->b, u->rank, 0, SCRIPT_STREAMS);
    wait_for(u, number, f);
    f->count = 0;
    push(f, number << 1);
}

/* ---- names ---- */

/* Writes the key of a name at this rank. */
static bool print_key(const struct unroll *u, const struct script_label *label, struct key *key)
{
    memcpy(key->text, &u->body, KEY_BODY);
    return script_label_print(u->s, label, key->text + KEY_BODY, LONGEST_NAME);
}

static const char *name_in(const struct key *key)
{
    return key->text + KEY_BODY;
}

static struct named *find(struct unroll *u, const struct key *key)
{
    uint32_t number = hx_blobs_add(&u->keys, key->text, KEY_BODY + strlen(name_in(key)) + 1);
    if (number == u->names) {
        u->named = hx_grow(u->named, u->names, &u->names_room, sizeof *u->named);
        u->named[u->names++] = (struct named){.rank = 0};
    }
    return &u->named[number];
}

static void define(struct unroll *u, const struct key *key, const struct front *starts, const struct front *ends)
{
    struct named *n = find(u, key);
    n->rank = u->rank + 1;
    n->starts.count = n->ends.count = 0;
    append(&n->starts, starts);
    append(&n->ends, ends);
}

static void free_names(struct unroll *u)
{
    for (size_t i = 0; i < u->names; i++)
        HX_FREE(u->named[i].starts.list, u->named[i].ends.list);
    free(u->named);
    hx_blobs_free(&u->keys);
}

/* Says why a name stands for nothing. */
static bool fail_name(const struct unroll *u, const struct script_label *label, const char *name)
{
    char hint[HX_HINT_TEXT];
    enum { MOST = 256 };
    const char *words[MOST + 1];
    unsigned known = 0;
    for (uint32_t i = 0; i < u->names && known < MOST; i++) {
        const char *other = (const char *)hx_blobs_at(&u->keys, i) + KEY_BODY;
        if (u->named[i].rank != u->rank + 1)
            continue;
        if (strcmp(other, name) == 0)
            return script_fail(u->s, label->item, 0,
                               "'%s' is in another repeated block: only that block can wait for it", name);
        words[known++] = other;
    }
    words[known] = NULL;
    return script_fail(u->s, label->item, 0, "no operation '%s' is above at rank %" PRIu32 "%s", name, u->rank,
                       hx_did_you_mean(hint, name, words));
}

/* Adds the operations of each name to a front: their ends, or their starts. */
static bool look_up(struct unroll *u, const struct script_labels *labels, bool start, struct front *f)
{
    for (unsigned i = 0; i < labels->labels; i++) {
        struct key key;
        if (!print_key(u, &labels->label[i], &key))
            return false;
        const struct named *n = find(u, &key);
        if (n->rank != u->rank + 1)
            return fail_name(u, &labels->label[i], name_in(&key));
        const struct front *found = start ? &n->starts : &n->ends;
        for (size_t o = 0; o < found->count; o++)
            push(f, found->list[o] | (start ? SCHEDULE_AFTER_START : 0));
    }
    return true;
}

/* ---- operations ---- */

static bool evaluate(const struct unroll *u, const struct script_value *v, uint64_t low, uint64_t high,
                     uint64_t *result)
{
    int64_t value = 0;
    if (v->item && !script_evaluate(u->s, v, (int64_t)low, (int64_t)high, &value))
        return false;
    *result = (uint64_t)value;
    return true;
}

static bool add_message(const struct unroll *u, const struct script_statement *st, uint32_t *number)
{
    uint64_t bytes;
    uint64_t tag;
    uint64_t peer;
    if (!evaluate(u, &st->amount, 0, SCHEDULE_MOST_BYTES, &bytes) ||
        !evaluate(u, &st->tag, 0, SCHEDULE_ANY - 1, &tag) || !evaluate(u, &st->peer, 0, u->s->ranks - 1, &peer))
        return false;
    peer = st->any_peer ? SCHEDULE_ANY : peer;
    tag = st->any_tag ? SCHEDULE_ANY : tag;
    *number = (st->kind == SCRIPT_SEND ? schedule_send : schedule_receive)(u->b, u->rank, (uint32_t)peer, bytes,
                                                                           (uint32_t)tag);
    return true;
}

static bool add_collective(const struct unroll *u, const struct script_statement *st, uint32_t *number)
{
    uint64_t bytes;
    uint64_t root;
    uint32_t group;
    uint32_t size;
    if (!script_group_number(u->s, st, u->b, u->rank, &group, &size) ||
        !evaluate(u, &st->amount, 0, SCHEDULE_MOST_BYTES, &bytes) || !evaluate(u, &st->root, 0, size - 1, &root))
        return false;
    uint32_t tag = (uint32_t)root;
    if (st->shares.item && !script_shares_add(u->s, &st->shares, u->b, size, &tag))
        return false;
    *number = schedule_collect(u->b, u->rank, st->collective, group, bytes, tag);
    schedule_builder_at(u->b, u->rank, *number)->algorithm = (uint8_t)st->algorithm;
    return true;
}

static bool add_operation(const struct unroll *u, const struct script_statement *st, uint32_t *number)
{
    uint64_t time;
    uint64_t stream;
    if (!evaluate(u, &st->stream, 0, SCRIPT_STREAMS - 1, &stream))
        return false;
    if (st->kind == SCRIPT_COLLECTIVE)
        return add_collective(u, st, number);
    if (st->kind != SCRIPT_COMPUTE) {
        if (!add_message(u, st, number))
            return false;
        schedule_builder_at(u->b, u->rank, *number)->stream = (uint8_t)stream;
        return true;
    }
    if (!evaluate(u, &st->amount, 0, SCHEDULE_MOST_TIME, &time))
        return false;
    *number = schedule_compute(u->b, u->rank, time, (unsigned)stream);
    return true;
}

static bool set_purpose(const struct unroll *u, uint32_t number)
{
    return !u->purpose || schedule_set_purpose(u->b, u->rank, number, u->purpose->text) ||
           script_fail(u->s, u->purpose, 0, "more than %d purposes", SCHEDULE_MOST_PURPOSES - 1);
}

/* ---- lists ---- */

/* Keeps loops from going on for ever. */
static bool has_room(const struct unroll *u, const struct script_statement *st, uint64_t steps)
{
    return steps <= u->most - u->steps ||
           script_fail(u->s, st->item, 0, "the schedule has more than %" PRIu64 " operations (repeat a block)",
                       u->most);
}

static bool count(struct unroll *u, const struct script_statement *st)
{
    bool good = has_room(u, st, 1);
    u->steps += good;
    return good;
}

static bool carry_out(struct unroll *u, const struct script_list *list, bool together, struct sequence *q);

static void free_sequence(struct sequence *q)
{
    HX_FREE(q->before.list, q->now.list, q->starts.list, q->unordered.list);
}

/* Everything that a list's end waits for. */
static void end_sequence(const struct sequence *q, struct front *ends)
{
    append(ends, &q->now);
    append(ends, &q->unordered);
}

static bool repeat_body(struct unroll *u, const struct script_statement *st, uint64_t times, const struct front *before,
                        struct front *own)
{
    uint32_t outer = u->body;
    struct sequence q = {.begun = false};
    uint32_t number = schedule_repeat(u->b, u->rank, times);
    wait_for(u, number, before);
    push(own, number << 1);
    u->body = number;
    bool good = carry_out(u, &st->body, st->together, &q);
    u->body = outer;
    schedule_repeat_end(u->b, u->rank);
    free_sequence(&q);
    if (schedule_builder_count(u->b, u->rank) == number + 1)
        *schedule_builder_at(u->b, u->rank, number) =
            (struct schedule_operation){.kind = SCHEDULE_COMPUTE, .stream = SCRIPT_STREAMS};
    return good;
}

/* Carries out the body for each value of the loop's variable, or once. */
static bool unroll_body(struct unroll *u, const struct script_statement *st, struct sequence *q)
{
    struct script *s = u->s;
    unsigned outer = s->scope.names;
    bool good = true;
    if (!st->loop.item)
        return carry_out(u, &st->body, st->together, q);
    const char *name = hx_yaml_word(hx_yaml_first(script_key(st->item, "for")));
    for (unsigned i = 0; good && i < st->loop.ranges; i++) {
        int64_t first;
        int64_t last;
        good = script_range_bounds(s, &st->loop.range[i], -SCRIPT_MOST_NUMBER, SCRIPT_MOST_NUMBER, &first, &last) &&
               (first > last || has_room(u, st, (uint64_t)last - (uint64_t)first + 1));
        for (int64_t value = first; good && value <= last; value++) {
            s->scope.names = st->variable + 1;
            s->name[st->variable].name = name;
            s->value[st->variable] = value;
            good = count(u, st) && carry_out(u, &st->body, st->together, q);
            s->scope.names = outer;
        }
    }
    return good;
}

static bool do_block(struct unroll *u, const struct script_statement *st, const struct front *before,
                     struct front *starts, struct front *ends)
{
    uint64_t times = 1;
    if (st->amount.item) {
        if (!evaluate(u, &st->amount, 0, SCRIPT_MOST_NUMBER, &times))
            return false;
        if (times == 0)
            return true;
        bool good = repeat_body(u, st, times, before, ends);
        append(starts, ends);
        return good;
    }
    struct sequence q = {.begun = false};
    append(&q.before, before);
    bool good = unroll_body(u, st, &q);
    append(starts, &q.starts);
    end_sequence(&q, ends);
    free_sequence(&q);
    return good;
}

static bool do_operation(struct unroll *u, const struct script_statement *st, const struct front *before,
                         struct front *starts, struct front *ends)
{
    uint32_t number;
    if (!add_operation(u, st, &number) || !set_purpose(u, number))
        return false;
    wait_for(u, number, before);
    push(starts, number << 1);
    push(ends, number << 1);
    return true;
}

static bool do_statement(struct unroll *u, const struct script_statement *st, const struct front *before,
                         struct front *starts, struct front *ends)
{
    struct key key;
    const struct hx_yaml_item *outer = u->purpose;
    uint32_t first = schedule_builder_count(u->b, u->rank);
    bool is_operation = st->kind != SCRIPT_BLOCK || st->amount.item; /* `first`; a repeat has its body behind it */
    if (st->name.item && !print_key(u, &st->name, &key))
        return false;
    u->purpose = st->purpose ? st->purpose : outer;
    bool good = (st->kind == SCRIPT_BLOCK ? do_block : do_operation)(u, st, before, starts, ends);
    u->purpose = outer;
    if (!good)
        return false;
    if (is_operation && st->name.item && ends->count)
        schedule_set_name(u->b, u->rank, first, name_in(&key));
    if (st->name.item)
        define(u, &key, starts, ends);
    return true;
}

/* A name of a statement that is not for this rank stands for nothing, so that others may wait for it. */
static bool skip(struct unroll *u, const struct script_statement *st)
{
    struct key key;
    const struct front none = {.count = 0};
    if (st->name.item && !print_key(u, &st->name, &key))
        return false;
    if (st->name.item)
        define(u, &key, &none, &none);
    return true;
}

/* What the next statement of a list waits for. */
static const struct front *front_of(const struct unroll *u, bool together, struct sequence *q)
{
    if (q->begun && !together)
        return &q->now;
    if (++q->beginnings == 2)
        join(u, &q->before);
    return &q->before;
}

/* Carries out one statement of a list, and moves the list's front. */
static bool step(struct unroll *u, const struct script_statement *st, bool together, struct sequence *q)
{
    struct front named = {.count = 0};
    struct front starts = {.count = 0};
    struct front ends = {.count = 0};
    bool good = look_up(u, &st->after, false, &named) && look_up(u, &st->after_start, true, &named) &&
                do_statement(u, st, st->unordered ? &named : front_of(u, together, q), &starts, &ends);
    if (st->unordered || together) {
        append(&q->unordered, &ends);
    } else if (ends.count) {
        swap(&q->now, &ends);
    }
    if (together || (!st->unordered && !q->begun))
        append(&q->starts, &starts);
    q->begun = q->begun || (!together && !st->unordered && q->now.count);
    HX_FREE(named.list, starts.list, ends.list);
    return good;
}

static bool carry_out(struct unroll *u, const struct script_list *list, bool together, struct sequence *q)
{
    for (unsigned i = 0; i < list->statements; i++) {
        const struct script_statement *st = &list->statement[i];
        bool is_here;
        if (!count(u, st) || !script_set_has(u->s, &st->ranks, u->rank, &is_here) ||
            !(is_here ? step(u, st, together, q) : skip(u, st)))
            return false;
    }
    return true;
}

/* ---- ranks ---- */

bool script_set_parameters(struct script *s, unsigned known)
{
    for (unsigned i = 0; i < s->parameters; i++) {
        if (!(s->parameter[i].e.uses & ~known) &&
            !script_evaluate(s, &s->parameter[i], INT64_MIN, INT64_MAX, &s->value[s->first_parameter + i]))
            return false;
    }
    return true;
}

bool script_unroll(struct script *s, struct schedule_builder *b, uint64_t most)
{
    struct unroll u = {.s = s, .b = b, .body = OUTSIDE, .most = most};
    bool good = true;
    s->no_rank_yet = false;
    s->value[SCRIPT_RANKS] = s->ranks;
    for (u.rank = 0; good && u.rank < s->ranks; u.rank++) {
        struct sequence q = {.begun = false};
        s->value[SCRIPT_RANK] = u.rank;
        good =
            script_set_parameters(s, EXPRESSION_OF_RANKS | EXPRESSION_OF_RANK) && carry_out(&u, &s->program, true, &q);
        free_sequence(&q);
    }
    free_names(&u);
    return good;
}
