/* goal.c - reads GOAL text, the schedules of LogGOPSim and ATLAHS.
 *
 *     file   = "num_ranks" INT { rank }                       every rank below INT once, in any order
 *     rank   = "rank" INT "{" { item } "}"
 *     item   = [ LABEL ":" ] op LINE | LABEL ( "requires" | "irequires" ) LABEL LINE | LINE
 *     op     = "calc" INT                              [ "cpu" INT ]
 *            | "send" INT "b" "to" INT                 [ "tag" INT ]            [ "cpu" INT ] [ "nic" INT ]
 *            | "recv" INT "b" "from" ( INT | "-1" )    [ "tag" ( INT | "-1" ) ] [ "cpu" INT ] [ "nic" INT ]
 *     LABEL  = any word but send, recv, calc, rank and num_ranks
 *
 * Tokens and comments: goal_tokens.h. A comment may also follow an operation; other readers of GOAL refuse that.
 *
 * calc is a compute operation of so many ns on stream `cpu`. send and recv have `cpu` as the stream of their overhead;
 * -1 is any source or any tag. `nic` is checked and left out. Of a tag above 32 bits the low 32 bits count, as in
 * txt2bin. "a requires b": a waits for the end of b; "a irequires b": for its start. Both stand above this line. A
 * label that is given again in a rank names the newest operation above. Labels become names. */
#include "schedule/goal.h"
#include "base/blobs.h"
#include "schedule/formats.h"
#include "schedule/goal_tokens.h"
#include "schedule/readers.h"

#include <inttypes.h>
#include <stdlib.h>

/* The newest operation that has a label. */
struct label {
    uint32_t rank;
    uint32_t number;
    uint32_t name; /* in the schedule's names */
};

struct reader {
    struct goal_tokens t;
    struct schedule_builder *b;
    struct hx_blobs words; /* labels of all ranks, which mostly have the same */
    struct label *label;   /* of each of the words */
    size_t labels, room;
    bool *known; /* [ranks]: had its block */
    uint32_t ranks, rank;
    uint64_t folded; /* tags above 32 bits */
};

/* ---- numbers and words ---- */

/* Reads the next token, a number of 0 .. most. what: what it is, for errors. */
static bool read_number(struct reader *r, uint64_t most, const char *what, uint64_t *number)
{
    if (!goal_next(&r->t))
        return false;
    if (r->t.kind != GOAL_NUMBER)
        return goal_expected(&r->t, what, "");
    if (r->t.number > most)
        return goal_fail(&r->t, "%s is at most %" PRIu64, what, most);
    *number = r->t.number;
    return true;
}

/* Reads the next token, which is this word. */
static bool read_word(struct reader *r, const char *word, const char *expected, const char *hint)
{
    return goal_next(&r->t) && (goal_is(&r->t, word) || goal_expected(&r->t, expected, hint));
}

/* Reads the next token, a rank; any: -1 is one too. */
static bool read_rank(struct reader *r, bool any, uint32_t *rank)
{
    if (!goal_next(&r->t))
        return false;
    *rank = SCHEDULE_ANY;
    if (any && r->t.kind == GOAL_ANY)
        return true;
    if (r->t.kind != GOAL_NUMBER)
        return goal_expected(&r->t, any ? "a rank, or -1 for any" : "a rank", "");
    if (r->t.number >= r->ranks)
        return goal_fail(&r->t, "the rank is out of range (num_ranks %" PRIu32 " allows 0 to %" PRIu32 ")", r->ranks,
                         r->ranks - 1);
    *rank = (uint32_t)r->t.number;
    return true;
}

/* ---- operations ---- */

/* Expects the end of the line at the current token. options: those that may follow there. */
static bool end_line(struct reader *r, const char *options)
{
    return r->t.kind == GOAL_LINE || r->t.kind == GOAL_END || goal_expected(&r->t, options, "");
}

/* Reads a tag's value. */
static bool read_tag(struct reader *r, bool any, uint32_t *tag)
{
    if (!goal_next(&r->t))
        return false;
    if (any && r->t.kind == GOAL_ANY) {
        *tag = SCHEDULE_ANY;
        return true;
    }
    if (r->t.kind != GOAL_NUMBER)
        return goal_expected(&r->t, any ? "a tag, or -1 for any" : "a tag", any ? "" : " (only recv may have -1)");
    *tag = (uint32_t)r->t.number;
    r->folded += r->t.number > UINT32_MAX;
    if (r->t.number == UINT64_MAX || *tag == SCHEDULE_ANY)
        return goal_fail(&r->t, "the tag is out of range (its low 32 bits would mean any tag)");
    return true;
}

/* Reads [tag T] [cpu C] [nic N] behind a message, and the end of the line. */
static bool read_options(struct reader *r, struct schedule_operation *o)
{
    uint64_t number = 0;
    if (!goal_next(&r->t))
        return false;
    if (goal_is(&r->t, "tag") && !(read_tag(r, o->kind == SCHEDULE_RECEIVE, &o->tag) && goal_next(&r->t)))
        return false;
    if (goal_is(&r->t, "cpu")) {
        if (!(read_number(r, SCHEDULE_STREAMS - 1, "a cpu", &number) && goal_next(&r->t)))
            return false;
        o->stream = (uint8_t)number;
    }
    if (goal_is(&r->t, "nic") && !(read_number(r, UINT8_MAX, "a nic", &number) && goal_next(&r->t)))
        return false;
    return end_line(r, "tag, cpu, nic, in this order, or the end of the line");
}

static bool read_message(struct reader *r, bool send)
{
    uint64_t bytes = 0;
    uint32_t peer = 0;
    const char *hint = send ? " (send BYTESb to RANK)" : " (recv BYTESb from RANK)";
    if (!(read_number(r, SCHEDULE_MOST_BYTES, "a number of bytes", &bytes) && read_word(r, "b", "'b'", hint) &&
          read_word(r, send ? "to" : "from", send ? "'to'" : "'from'", hint) && read_rank(r, !send, &peer)))
        return false;
    uint32_t number =
        send ? schedule_send(r->b, r->rank, peer, bytes, 0) : schedule_receive(r->b, r->rank, peer, bytes, 0);
    return read_options(r, schedule_builder_at(r->b, r->rank, number));
}

static bool read_compute(struct reader *r)
{
    uint64_t ns = 0;
    uint64_t stream = 0;
    if (!(read_number(r, GOAL_MOST_TIME, "a time in ns", &ns) && goal_next(&r->t)))
        return false;
    if (goal_is(&r->t, "cpu") && !(read_number(r, SCHEDULE_STREAMS - 1, "a cpu", &stream) && goal_next(&r->t)))
        return false;
    (void)schedule_compute(r->b, r->rank, ns * GOAL_PS, (unsigned)stream);
    return end_line(r, "cpu or the end of the line");
}

static bool is_operation(const struct reader *r)
{
    return goal_is(&r->t, "send") || goal_is(&r->t, "recv") || goal_is(&r->t, "calc");
}

/* Reads an operation from its first word, the current token. */
static bool read_operation(struct reader *r)
{
    if (goal_is(&r->t, "calc"))
        return read_compute(r);
    return read_message(r, goal_is(&r->t, "send"));
}

/* ---- labels ---- */

/* Returns the number of the label that is the current word; adds it if it is new. */
static uint32_t find_label(struct reader *r)
{
    uint32_t label = hx_blobs_add(&r->words, r->t.word, r->t.length + 1);
    if (label == r->labels) {
        r->label = hx_grow(r->label, r->labels, &r->room, sizeof *r->label);
        r->label[r->labels++] = (struct label){.rank = UINT32_MAX};
    }
    return label;
}

/* Gives an operation its label, which is also its name. */
static void set_label(struct reader *r, uint32_t label, uint32_t number)
{
    struct label *l = &r->label[label];
    l->rank = r->rank;
    l->number = number;
    if (l->name == SCHEDULE_NO_NAME) {
        schedule_set_name(r->b, r->rank, number, (const char *)hx_blobs_at(&r->words, label));
        l->name = schedule_builder_at(r->b, r->rank, number)->name;
    }
    schedule_builder_at(r->b, r->rank, number)->name = l->name;
}

/* Whether a label names an operation of this rank; it stands at `column`. */
static bool is_known(struct reader *r, uint32_t label, unsigned column)
{
    if (r->label[label].rank == r->rank)
        return true;
    r->t.column = column;
    return goal_fail(&r->t,
                     "'%.60s' is no operation of rank %" PRIu32 " above this line (a dependency stands below both)",
                     (const char *)hx_blobs_at(&r->words, label), r->rank);
}

/* Reads what follows "LABEL requires". */
static bool read_dependency(struct reader *r, uint32_t later, bool start)
{
    if (!goal_next(&r->t))
        return false;
    if (r->t.kind != GOAL_WORD)
        return goal_expected(&r->t, "a label", "");
    uint32_t earlier = find_label(r);
    if (!(is_known(r, earlier, r->t.column) && goal_next(&r->t) && end_line(r, "the end of the line")))
        return false;
    (start ? schedule_after_start : schedule_after)(r->b, r->rank, r->label[later].number, r->label[earlier].number);
    return true;
}

/* Reads an item that begins with a label, the current token. */
static bool read_labelled(struct reader *r)
{
    uint32_t label = find_label(r);
    unsigned column = r->t.column;
    uint32_t number = schedule_builder_count(r->b, r->rank);
    if (!goal_next(&r->t))
        return false;
    bool start = goal_is(&r->t, "irequires");
    if (start || goal_is(&r->t, "requires"))
        return is_known(r, label, column) && read_dependency(r, label, start);
    if (r->t.kind != GOAL_COLON)
        return goal_expected(&r->t, "':', requires or irequires", " (LABEL: send ..., or LABEL requires LABEL)");
    if (!goal_next(&r->t))
        return false;
    if (!is_operation(r))
        return goal_expected(&r->t, "send, recv or calc", "");
    if (!read_operation(r))
        return false;
    set_label(r, label, number);
    return true;
}

/* ---- ranks ---- */

/* Reads an item from its first token, which is the current one. */
static bool read_item(struct reader *r)
{
    if (is_operation(r))
        return read_operation(r);
    if (r->t.kind == GOAL_END)
        return goal_fail(&r->t, "the file ends within rank %" PRIu32 " ('}' ends a rank)", r->rank);
    if (r->t.kind != GOAL_WORD || goal_is(&r->t, "rank") || goal_is(&r->t, "num_ranks"))
        return goal_expected(&r->t, "an operation, a label or '}'", "");
    return read_labelled(r);
}

/* Reads a rank's block behind the word "rank". */
static bool read_block(struct reader *r)
{
    if (!read_rank(r, false, &r->rank))
        return false;
    if (r->known[r->rank])
        return goal_fail(&r->t, "rank %" PRIu32 " has a block already", r->rank);
    r->known[r->rank] = true;
    if (!goal_next(&r->t))
        return false;
    if (r->t.kind != GOAL_OPEN)
        return goal_expected(&r->t, "'{'", "");
    while (goal_next_on_lines(&r->t)) {
        if (r->t.kind == GOAL_CLOSE)
            return true;
        if (!read_item(r))
            return false;
    }
    return false;
}

/* At the end of the file: whether every rank had its block. */
static bool is_complete(const struct reader *r)
{
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        if (!r->known[rank])
            return goal_fail(&r->t,
                             "the file ends without rank %" PRIu32 " (num_ranks %" PRIu32 " asks for %" PRIu32
                             " blocks; one may be empty)",
                             rank, r->ranks, r->ranks);
    }
    return true;
}

static bool read_ranks(struct reader *r)
{
    while (goal_next_on_lines(&r->t)) {
        if (r->t.kind == GOAL_END)
            return is_complete(r);
        if (!goal_is(&r->t, "rank"))
            return goal_expected(&r->t, "rank", " (rank R { ... })");
        if (!read_block(r))
            return false;
    }
    return false;
}

static bool read_file(struct reader *r)
{
    uint64_t ranks = 0;
    if (!goal_next_on_lines(&r->t))
        return false;
    if (!goal_is(&r->t, "num_ranks"))
        return goal_expected(&r->t, "num_ranks", "");
    if (!read_number(r, SCHEDULE_MOST_RANKS, "a number of ranks", &ranks))
        return false;
    if (ranks == 0)
        return goal_fail(&r->t, "a schedule has at least one rank");
    r->ranks = (uint32_t)ranks;
    r->b = schedule_builder_new(r->ranks);
    schedule_set_in_order(r->b);
    r->known = hx_allocate(ranks, sizeof *r->known);
    return read_ranks(r);
}

static struct schedule_builder *read(const char *path, const struct schedule_read_options *options,
                                     struct schedule_notes *notes, struct hx_problem *problem)
{
    struct reader r = {.ranks = 0};
    (void)options;
    if (!goal_tokens_open(&r.t, path, problem))
        return NULL;
    bool good = read_file(&r);
    if (r.folded)
        (void)snprintf(notes->what, sizeof notes->what, "the bits above the 32nd of %" PRIu64 " tags", r.folded);
    goal_tokens_close(&r.t);
    hx_blobs_free(&r.words);
    HX_FREE(r.label, r.known);
    if (good)
        return r.b;
    schedule_builder_free(r.b);
    return NULL;
}

static bool is_goal(const uint8_t *begin, size_t bytes)
{
    return goal_begins(begin, bytes, bytes == SCHEDULE_SNIFF);
}

const struct schedule_format schedule_goal = {
    .name = "goal",
    .what = "GOAL text of LogGOPSim and ATLAHS",
    .is = is_goal,
    .read = read,
    .write = schedule_goal_write,
};
