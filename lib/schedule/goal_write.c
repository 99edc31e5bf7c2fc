/* goal_write.c - writes GOAL text (grammar: goal.c).
 *
 * A rank has its operations, in order, then its dependencies. An operation has a label if it has a name or a
 * dependency. The label is the name, if GOAL allows it and no operation of the rank above has it. Otherwise it is "l"
 * and the operation's number from 1, with underscores between if a name looks like that. So labels are unique in a
 * rank, as txt2bin needs them, and equal schedules give equal texts. */
#include "base/output.h"
#include "schedule/goal.h"
#include "schedule/goal_tokens.h"
#include "schedule/unroll.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what GOAL can say ---- */

static bool fail_collective(const struct schedule *s, uint64_t index, const char *where, struct hx_problem *problem)
{
    uint32_t rank = 0;
    while (s->first[rank + 1] <= index)
        rank++;
    const char *kind = hx_collective_kind_names[s->operation[index].collective];
    return hx_fail(problem, HX_EXIT_CONFIG, where,
                   "GOAL has no collectives, and rank %" PRIu32
                   " has %s %s (without --as, hxmesh's own format is written)",
                   rank, kind[0] == 'a' ? "an" : "a", kind);
}

static bool has_only_messages(const struct schedule *s, const char *where, struct hx_problem *problem)
{
    uint64_t rounded = 0;
    for (uint64_t i = 0; i < s->head->operations; i++) {
        const struct schedule_operation *o = &s->operation[i];
        if (o->kind == SCHEDULE_COLLECTIVE)
            return fail_collective(s, i, where, problem);
        rounded += o->kind == SCHEDULE_COMPUTE && o->amount % GOAL_PS;
    }
    if (rounded)
        hx_warn(where, "%" PRIu64 " computing times are rounded to whole nanoseconds, the unit of GOAL", rounded);
    return true;
}

struct schedule *schedule_goal_plain(const struct schedule *s, const char *where, struct hx_problem *problem)
{
    if (!has_only_messages(s, where, problem))
        return NULL;
    return schedule_has_repeats(s) ? schedule_unroll(s, where, problem) : (struct schedule *)(uintptr_t)s;
}

/* ---- labels ---- */

struct writer {
    const struct schedule *s;
    FILE *out;
    uint32_t *last; /* [bytes of names / 2 + 1]: the newest rank, from 1, that has a name; by half the name's offset */
    bool *named;    /* [operations of the rank]: the label is the name */
    char prefix[GOAL_LONGEST_WORD + 2]; /* of other labels */
    uint32_t rank;
};

static bool is_label(const char *name)
{
    static const char *const keywords[] = {"send", "recv", "calc", "rank", "num_ranks", NULL};
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    if (length == 0 || length > GOAL_LONGEST_WORD || name[length] || name[0] == '_' ||
        (name[0] >= '0' && name[0] <= '9'))
        return false;
    for (unsigned i = 0; keywords[i]; i++) {
        if (strcmp(name, keywords[i]) == 0)
            return false;
    }
    return true;
}

/* Sets the prefix: "l", and more underscores than a name of the form l_*[0-9]+ has. */
static void choose_prefix(struct writer *w)
{
    const char *end = w->s->names + w->s->head->names;
    size_t underscores = 0;
    for (const char *name = w->s->names; name < end; name += strlen(name) + 1) {
        size_t more = name[0] == 'l' ? strspn(name + 1, "_") : 0;
        size_t digits = name[0] == 'l' ? strspn(name + 1 + more, "0123456789") : 0;
        if (digits && !name[1 + more + digits] && 1 + more + digits <= GOAL_LONGEST_WORD && more >= underscores)
            underscores = more + 1;
    }
    w->prefix[0] = 'l';
    memset(w->prefix + 1, '_', underscores);
}

/* Decides for each operation of the rank whether its name is its label. */
static void choose_labels(struct writer *w)
{
    for (uint32_t i = 0; i < schedule_count(w->s, w->rank); i++) {
        const struct schedule_operation *o = schedule_at(w->s, w->rank, i);
        uint32_t *last = &w->last[o->name / 2];
        if (o->name == SCHEDULE_NO_NAME)
            continue;
        w->named[i] = *last != w->rank + 1 && is_label(schedule_name(w->s, o));
        *last = w->rank + 1;
    }
}

static void print_label(const struct writer *w, uint32_t number)
{
    if (w->named[number])
        (void)fputs(schedule_name(w->s, schedule_at(w->s, w->rank, number)), w->out);
    else
        (void)fprintf(w->out, "%s%" PRIu32, w->prefix, number + 1);
}

/* ---- ranks ---- */

static bool has_label(const struct writer *w, uint32_t number)
{
    const struct schedule_operation *o = schedule_at(w->s, w->rank, number);
    const uint32_t *list;
    return o->name != SCHEDULE_NO_NAME || o->waits || schedule_followers(w->s, w->rank, number, &list);
}

/* Prints a number, or -1 for any. */
static void print_or_any(const struct writer *w, const char *word, uint32_t number)
{
    if (number == SCHEDULE_ANY)
        (void)fprintf(w->out, " %s -1", word);
    else
        (void)fprintf(w->out, " %s %" PRIu32, word, number);
}

static void print_operation(const struct writer *w, const struct schedule_operation *o)
{
    if (o->kind == SCHEDULE_COMPUTE) {
        (void)fprintf(w->out, "calc %" PRIu64, schedule_goal_time(o->amount));
    } else {
        bool send = o->kind == SCHEDULE_SEND;
        (void)fprintf(w->out, "%s %" PRIu64 "b", send ? "send" : "recv", o->amount);
        print_or_any(w, send ? "to" : "from", o->peer);
        print_or_any(w, "tag", o->tag);
    }
    if (o->stream)
        (void)fprintf(w->out, " cpu %u", o->stream);
    (void)fputc('\n', w->out);
}

static void print_dependencies(const struct writer *w, uint32_t number)
{
    const uint32_t *list;
    uint32_t followers = schedule_followers(w->s, w->rank, number, &list);
    for (uint32_t i = 0; i < followers; i++) {
        print_label(w, list[i] >> 1);
        (void)fputs(list[i] & SCHEDULE_AFTER_START ? " irequires " : " requires ", w->out);
        print_label(w, number);
        (void)fputc('\n', w->out);
    }
}

static void print_rank(struct writer *w)
{
    uint32_t count = schedule_count(w->s, w->rank);
    w->named = hx_allocate(count, sizeof *w->named);
    choose_labels(w);
    (void)fprintf(w->out, "\nrank %" PRIu32 " {\n", w->rank);
    for (uint32_t i = 0; i < count; i++) {
        if (has_label(w, i)) {
            print_label(w, i);
            (void)fputs(": ", w->out);
        }
        print_operation(w, schedule_at(w->s, w->rank, i));
    }
    for (uint32_t i = 0; i < count; i++)
        print_dependencies(w, i);
    (void)fputs("}\n", w->out);
    free(w->named);
}

bool schedule_goal_write(const struct schedule *s, const char *path, struct hx_problem *problem)
{
    struct schedule *plain = schedule_goal_plain(s, path, problem);
    if (!plain)
        return false;
    struct writer w = {.s = plain, .out = hx_output_open(path)};
    w.last = hx_allocate(plain->head->names / 2 + 1, sizeof *w.last);
    choose_prefix(&w);
    (void)fprintf(w.out, "num_ranks %" PRIu32 "\n", schedule_ranks(plain));
    for (; w.rank < schedule_ranks(plain); w.rank++)
        print_rank(&w);
    free(w.last);
    hx_output_close(w.out, path);
    if (plain != s)
        schedule_close(plain);
    return true;
}
