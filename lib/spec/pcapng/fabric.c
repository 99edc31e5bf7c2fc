/* fabric.c - reads and writes the fabric's comment in a capture's section header (spec/pcapng/fabric.h). */
#include "spec/pcapng/fabric.h"
#include "base/pcapng/write.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const link_words[HX_CAPTURE_LINKS + 1] = {
    [HX_CAPTURE_WIRE] = "wire", [HX_CAPTURE_MEMORY] = "memory", [HX_CAPTURE_PORT] = "port"};
static const char *const crc_words[HX_CAPTURE_CRCS + 1] = {
    [HX_CAPTURE_CRC_NOT_SAID] = "unknown", [HX_CAPTURE_CRC_ON] = "on", [HX_CAPTURE_CRC_OFF] = "off"};
static const char *const span_words[HX_CAPTURE_SPANS + 1] = {
    [HX_CAPTURE_SPAN_NOT_SAID] = "unknown", [HX_CAPTURE_SPAN_RUN] = "run", [HX_CAPTURE_SPAN_PART] = "part"};

/* ---- writing ---- */

struct line {
    char *text;
    size_t bytes, used;
    bool full;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(l->text + l->used, l->bytes - l->used, format, arguments);
    va_end(arguments);
    l->full = l->full || length < 0 || (size_t)length >= l->bytes - l->used;
    if (!l->full)
        l->used += (size_t)length;
    else
        l->text[l->used] = '\0';
}

/* Value of a board in a list; 0: not listed. */
static unsigned failed_value(const struct hx_spec *spec, unsigned board)
{
    return hx_spec_board_failed(spec, board);
}

static unsigned job_value(const struct hx_spec *spec, unsigned board)
{
    return hx_spec_board_job(spec, board);
}

static void add_boards(struct line *l, const char *key, const struct hx_spec *spec,
                       unsigned (*value)(const struct hx_spec *spec, unsigned board), bool with_value)
{
    size_t begin = l->used;
    const char *separator = "";
    add(l, " %s=", key);
    unsigned boards = hx_spec_boards(spec);
    for (unsigned board = 0; board < boards && !l->full;) {
        unsigned first = board;
        unsigned here = value(spec, board);
        while (board < boards && value(spec, board) == here)
            board++;
        if (here == 0)
            continue;
        add(l, "%s%u", separator, first);
        if (board - first > 1)
            add(l, "-%u", board - 1);
        if (with_value)
            add(l, ":%u", here);
        separator = ",";
    }
    if (l->full || !*separator) {
        bool full = l->full;
        l->used = begin;
        l->text[begin] = '\0';
        l->full = false;
        if (full)
            add(l, " %s=unknown", key);
    }
}

const char *hx_capture_print(char *text, size_t bytes, const struct hx_spec *spec, const struct hx_capture_facts *facts)
{
    struct line l = {.text = text, .bytes = bytes};
    add(&l, HX_CAPTURE_MARK "%s%s planes=%u", spec->fabric, spec->a ? "" : " ;", spec->planes);
    if (spec->a)
        add(&l, " radix=%u taper=%u", spec->radix, spec->taper);
    add(&l, " credits=%u link=%s clock=%s", spec->credits, link_words[facts->link], hx_clock_names[facts->clock]);
    if (facts->buffer)
        add(&l, " buffer=%" PRIu64, facts->buffer);
    if (facts->crc != HX_CAPTURE_CRC_NOT_SAID)
        add(&l, " crc=%s", crc_words[facts->crc]);
    if (facts->span != HX_CAPTURE_SPAN_NOT_SAID)
        add(&l, " span=%s", span_words[facts->span]);
    if (spec->externals)
        add(&l, " external=%u", spec->externals);
    /* Reserves room for both lists as "unknown". */
    static const char spare[] = " failed=unknown jobs=unknown";
    l.bytes = bytes > sizeof spare + l.used ? bytes - sizeof spare : bytes;
    add_boards(&l, "failed", spec, failed_value, false);
    add_boards(&l, "jobs", spec, job_value, true);
    return text;
}

/* ---- reading ---- */

bool hx_capture_marked(const char *text, size_t length)
{
    size_t mark = sizeof HX_CAPTURE_MARK - 1;
    return length >= mark && memcmp(text, HX_CAPTURE_MARK, mark) == 0;
}

struct reading {
    struct hx_spec *spec;
    struct hx_capture_facts *facts;
    const struct hx_graph_text *graph;
    struct hx_problem *problem;
    const char *failed, *jobs; /* lists, read after the fabric is built */
};

/* Sets a range of a list, "3" or "8-11", with ":tag" if it has tags. */
static bool take_range(const char **text, const struct hx_spec *spec, bool *failed, uint16_t *job)
{
    char *end;
    unsigned long first = strtoul(*text, &end, 10);
    unsigned long last = first;
    if (end == *text)
        return false;
    if (*end == '-')
        last = strtoul(end + 1, &end, 10);
    unsigned long tag = 0;
    if (job) {
        if (*end != ':')
            return false;
        tag = strtoul(end + 1, &end, 10);
    }
    if (first > last || last >= hx_spec_boards(spec) || tag > UINT16_MAX)
        return false;
    for (unsigned long board = first; board <= last; board++) {
        if (job)
            job[board] = (uint16_t)tag;
        else
            failed[board] = true;
    }
    *text = end;
    return true;
}

static bool take_list(struct reading *r, const char *list, const char *key, bool *failed, uint16_t *job)
{
    const char *next = list;
    while (take_range(&next, r->spec, failed, job)) {
        if (*next == '\0')
            return true;
        if (*next++ != ',')
            break;
    }
    return hx_fail(r->problem, HX_EXIT_CONFIG, "comment", "'%s=%s' is not a list of boards", key, list);
}

static bool take_lists(struct reading *r)
{
    size_t boards = hx_spec_boards(r->spec);
    if (r->failed) {
        r->spec->failed = calloc(boards, sizeof *r->spec->failed);
        if (!r->spec->failed)
            return hx_fail(r->problem, HX_EXIT_ENVIRONMENT, NULL, "no memory for %zu boards", boards);
        if (!take_list(r, r->failed, "failed", r->spec->failed, NULL))
            return false;
    }
    if (r->jobs) {
        r->spec->job = calloc(boards, sizeof *r->spec->job);
        if (!r->spec->job)
            return hx_fail(r->problem, HX_EXIT_ENVIRONMENT, NULL, "no memory for %zu boards", boards);
        return take_list(r, r->jobs, "jobs", NULL, r->spec->job);
    }
    return true;
}

/* Reads a number if `word` is KEY=NUMBER. */
static bool take_number(struct reading *r, const char *word, const char *key, uint64_t high, uint64_t *number)
{
    size_t length = strlen(key);
    if (strncmp(word, key, length) != 0 || word[length] != '=')
        return true;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_number(word + length + 1, 1, high, number, why);
    return !wrong || hx_fail(r->problem, HX_EXIT_CONFIG, "comment", "%s: %s", key, wrong);
}

static bool take_choice(struct reading *r, const char *word, const char *key, const char *const *words, unsigned *at)
{
    size_t length = strlen(key);
    if (strncmp(word, key, length) != 0 || word[length] != '=')
        return true;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_choice(word + length + 1, words, at, why);
    return !wrong || hx_fail(r->problem, HX_EXIT_CONFIG, "comment", "%s: %s", key, wrong);
}

static void take_boards(const char *word, const char *key, const char **list, bool *unknown)
{
    size_t length = strlen(key);
    if (strncmp(word, key, length) != 0 || word[length] != '=')
        return;
    *unknown = strcmp(word + length + 1, "unknown") == 0;
    *list = *unknown ? NULL : word + length + 1;
}

static bool take_word(struct reading *r, const char *word, struct hx_overrides *o)
{
    take_boards(word, "failed", &r->failed, &r->facts->failed_unknown);
    take_boards(word, "jobs", &r->jobs, &r->facts->jobs_unknown);
    return take_number(r, word, "planes", HX_MAX_PLANES, &o->planes) &&
           take_number(r, word, "radix", HX_MAX_RADIX, &o->radix) &&
           take_number(r, word, "taper", HX_MAX_TAPER, &o->taper) &&
           take_number(r, word, "credits", HX_MOST_CREDITS, &o->credits) &&
           take_number(r, word, "buffer", UINT32_MAX, &r->facts->buffer) &&
           take_number(r, word, "external", UINT32_MAX, &r->facts->external) &&
           take_choice(r, word, "link", link_words, &r->facts->link) &&
           take_choice(r, word, "crc", crc_words, &r->facts->crc) &&
           take_choice(r, word, "span", span_words, &r->facts->span) &&
           take_choice(r, word, "clock", hx_clock_names, &r->facts->clock);
}

/* Cuts `text` into words. The fabric ends before a ';', or before the first word with a '='. */
static bool take_text(struct reading *r, char *text)
{
    char fabric[HX_SPEC_BYTES] = "";
    struct hx_overrides overrides = {0};
    char *rest = NULL;
    bool of_fabric = strstr(text, " ; ") != NULL;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, ";") == 0) {
            of_fabric = false;
        } else if (strchr(word, '=') && !of_fabric) {
            if (!take_word(r, word, &overrides))
                return false;
        } else if (strlen(fabric) + strlen(word) + 2 <= sizeof fabric) {
            strcat(strcat(fabric, *fabric ? " " : ""), word); /* NOLINT: the length is checked above */
        }
    }
    if (!hx_spec_parse(fabric, r->spec, r->problem) || !hx_spec_override(r->spec, &overrides, r->problem))
        return false;
    r->spec->told = r->graph;
    return hx_spec_build(r->spec, r->problem) && take_lists(r);
}

bool hx_capture_parse(const char *text, size_t length, const struct hx_graph_text *graph, struct hx_spec *spec,
                      struct hx_capture_facts *facts, struct hx_problem *problem)
{
    *facts = (struct hx_capture_facts){.link = HX_CAPTURE_WIRE};
    *spec = (struct hx_spec){.failed = NULL};
    size_t mark = sizeof HX_CAPTURE_MARK - 1;
    if (!hx_capture_marked(text, length))
        return hx_fail(problem, HX_EXIT_CONFIG, "comment", "does not begin with '" HX_CAPTURE_MARK "'");
    const char *end = memchr(text + mark, '\n', length - mark); /* mergecap appends lines */
    char *copy = strndup(text + mark, end ? (size_t)(end - text) - mark : length - mark);
    if (!copy)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "no memory for a comment of %zu bytes", length);
    struct reading r = {.spec = spec, .facts = facts, .graph = graph, .problem = problem};
    bool good = take_text(&r, copy);
    spec->told = NULL;
    free(copy);
    if (!good)
        hx_spec_free(spec);
    return good;
}
