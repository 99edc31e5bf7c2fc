/* flows.c - reads messages from a file, sorts them by source and counts peers (flows.h). */
#include "workload/flows.h"
#include "base/error.h"
#include "base/lines.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limits, so that an endless file does not fill memory. The longest line is a row of the largest matrix. */
enum { COLUMNS = 4, LONGEST_LINE = 1 << 20, LARGEST_FILE = 1 << 30 };
static const char *const column_names[COLUMNS + 1] = {"start", "source", "destination", "bytes", NULL};
enum column { START, SOURCE, DESTINATION, BYTES };
static const char list_head[] = "start,source,destination,bytes";

struct message {
    uint64_t start_ns, bytes;
    uint32_t from, to;
};

struct table {
    struct message *message;
    size_t count, room;
};

struct reading {
    struct hx_lines lines;
    const struct hx_spec *spec;
    const struct hx_fabric *g;
    uint64_t latest_ns; /* latest start of a message */
    struct table table;
    uint64_t left_out;
    bool labels;             /* a matrix has labels before its lines and above its columns */
    unsigned order[COLUMNS]; /* columns of a list */
};

/* Sets the problem and returns false. `at` points into the line; NULL: its begin. */
__attribute__((format(printf, 3, 4))) static bool fail(struct reading *r, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hx_fail_at_list(r->lines.problem, r->lines.path, r->lines.line, hx_lines_column(&r->lines, at), format, arguments);
    va_end(arguments);
    return false;
}

/* ---- the table ---- */

static void add(struct reading *r, struct message message)
{
    struct table *t = &r->table;
    t->message = hx_grow(t->message, t->count, &t->room, sizeof *t->message);
    t->message[t->count++] = message;
}

/* ---- values ---- */

/* Reads digits up to one of `ends` (which may be the final zero). Returns the position of the end; NULL: no such
 * number. */
static const char *take_digits(const char *text, const char *ends, uint32_t *number)
{
    uint64_t value = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at) && value <= UINT32_MAX; at++)
        value = value * 10 + (unsigned)(*at - '0');
    if (at == text || value > UINT32_MAX || !(*at ? strchr(ends, *at) != NULL : *ends == '\0'))
        return NULL;
    *number = (uint32_t)value;
    return at;
}

static bool read_place(struct reading *r, const char *text, uint32_t *rank)
{
    const struct hx_fabric *g = r->g;
    uint32_t gx;
    uint32_t gy;
    if (take_digits(text, "", rank))
        return *rank < g->hosts || fail(r, text, "rank %u is outside 0 .. %u", *rank, g->hosts - 1);
    const char *colon = take_digits(text + (*text == 'a'), ":,", &gx);
    const char *behind = colon ? colon + 1 + strspn(colon + 1, " ") : NULL;
    if (!behind || !take_digits(behind, "", &gy))
        return fail(r, text,
                    "'%.60s' is no accelerator (write its rank, 0 .. %u, or its place as 5:3, a5:3 or \"5,3\")", text,
                    g->hosts - 1);
    *rank = hx_host_at(g, gx, gy);
    return *rank != HX_NOWHERE ||
           fail(r, text, "a%u,%u is outside the %s (gx 0 .. %u, gy 0 .. %u)", gx, gy, r->spec->fabric,
                hx_coordinate_ranges(g).addr_hi - 1, hx_coordinate_ranges(g).addr_lo - 1);
}

static bool read_bytes(struct reading *r, const char *text, uint64_t least, uint64_t *bytes)
{
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_bytes(text, least, HX_MOST_MESSAGE, bytes, why);
    return !wrong || fail(r, text, "%s", wrong);
}

/* ---- messages ---- */

static unsigned board_of(const struct reading *r, uint32_t rank)
{
    return hx_spec_board_of(r->spec, rank);
}

/* Whether these two may exchange messages. `at`: their position in the line. */
static bool check_pair(struct reading *r, const char *at, uint32_t from, uint32_t to)
{
    uint16_t job = hx_spec_board_job(r->spec, board_of(r, from));
    uint16_t other = hx_spec_board_job(r->spec, board_of(r, to));
    struct hx_coordinate a = hx_coordinate_of(r->g, from);
    struct hx_coordinate b = hx_coordinate_of(r->g, to);
    if (hx_spec_board_idle(r->spec, board_of(r, from)))
        return fail(r, at, "a%u,%u is of no job, and idle where jobs are named", a.addr_hi, a.addr_lo);
    if (from == to)
        return fail(r, at, "a%u,%u sends to itself (leave it out: that never crosses the fabric)", a.addr_hi,
                    a.addr_lo);
    if (job != other)
        return fail(r, at, "a%u,%u of job %u sends to a%u,%u of job %u (only accelerators of one job talk)", a.addr_hi,
                    a.addr_lo, job, b.addr_hi, b.addr_lo, other);
    return true;
}

static void take_flow(struct reading *r, uint32_t from, uint32_t to, uint64_t start_ns, uint64_t bytes)
{
    if (hx_spec_board_failed(r->spec, board_of(r, from)) || hx_spec_board_failed(r->spec, board_of(r, to)))
        r->left_out++;
    else
        add(r, (struct message){start_ns, bytes, from, to});
}

static bool read_message(struct reading *r)
{
    char *value[COLUMNS];
    char *rest = r->lines.text;
    unsigned n = 0;
    for (; rest && n < COLUMNS; n++)
        value[r->order[n]] = hx_lines_value(&rest);
    if (rest || n < COLUMNS)
        return fail(r, rest,
                    "a message has %u values, as the first line names them (a place of two numbers is written "
                    "5:3 or \"5,3\")",
                    COLUMNS);
    uint64_t start_ns;
    uint64_t bytes;
    uint32_t from;
    uint32_t to;
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_duration(value[START], 0, r->latest_ns, &start_ns, why);
    if (wrong)
        return fail(r, value[START], "%s", wrong);
    if (!read_place(r, value[SOURCE], &from) || !read_place(r, value[DESTINATION], &to) ||
        !check_pair(r, value[DESTINATION], from, to) || !read_bytes(r, value[BYTES], 1, &bytes))
        return false;
    take_flow(r, from, to, start_ns, bytes);
    return true;
}

static bool read_head(struct reading *r)
{
    char hint[HX_HINT_TEXT];
    char *rest = r->lines.text;
    unsigned seen = 0;
    for (unsigned n = 0; rest; n++) {
        const char *name = hx_lines_value(&rest);
        unsigned column = 0;
        while (column < COLUMNS && strcasecmp(name, column_names[column]) != 0)
            column++;
        if (column == COLUMNS)
            return fail(r, name,
                        "'%.60s' is no column%s (a list of messages begins with the line %s; a matrix has sizes "
                        "only)",
                        name, hx_did_you_mean(hint, name, column_names), list_head);
        if (seen >> column & 1)
            return fail(r, name, "column '%s' is there twice", name);
        seen |= 1U << column;
        r->order[n] = column;
    }
    for (unsigned column = 0; column < COLUMNS; column++)
        if (!(seen >> column & 1))
            return fail(r, NULL, "column '%s' is missing (a list of messages begins with the line %s)",
                        column_names[column], list_head);
    return true;
}

/* Checks a label of a line or column. Any name is good; a place must be that of this rank. */
static bool check_label(struct reading *r, const char *label, uint32_t rank)
{
    uint32_t named = 0;
    bool is_place = read_place(r, label, &named);
    return !is_place || named == rank || rank >= r->g->hosts ||
           fail(r, label, "'%.60s' stands where rank %u is expected: a matrix is in the order of ranks", label, rank);
}

static bool read_labels(struct reading *r)
{
    char *rest = r->lines.text;
    uint32_t rank = 0;
    (void)hx_lines_value(&rest); /* the corner */
    for (; rest; rank++)
        if (!check_label(r, hx_lines_value(&rest), rank))
            return false;
    return rank == r->g->hosts ||
           fail(r, NULL, "%u labels: a matrix for the %s has %u columns", rank, r->spec->fabric, r->g->hosts);
}

/* Destinations begin after the source, so that sources begin with different ones. */
static bool read_row(struct reading *r, uint32_t from, uint64_t *row)
{
    uint32_t n = r->g->hosts;
    char *rest = r->lines.text;
    if (from == n)
        return fail(r, NULL, "one line too many: a matrix for the %s has %u lines of %u sizes", r->spec->fabric, n, n);
    uint32_t to = 0;
    if (r->labels && !check_label(r, hx_lines_value(&rest), from))
        return false;
    for (; rest && to < n; to++) {
        const char *value = hx_lines_value(&rest);
        if (!read_bytes(r, value, 0, &row[to]))
            return false;
        if (row[to] && !check_pair(r, value, from, to))
            return false;
    }
    if (rest || to < n)
        return fail(r, rest, "%s than %u sizes: a matrix for the %s has %u lines of %u sizes", rest ? "more" : "fewer",
                    n, r->spec->fabric, n, n);
    for (uint32_t i = 1; i < n; i++) {
        to = (from + i) % n;
        if (row[to])
            take_flow(r, from, to, 0, row[to]);
    }
    return true;
}

/* ---- lines ---- */

static bool read_list(struct reading *r)
{
    if (!read_head(r))
        return false;
    while (hx_lines_next(&r->lines)) {
        if (!read_message(r))
            return false;
    }
    return !r->lines.failed;
}

static bool read_matrix(struct reading *r)
{
    uint32_t from = 0;
    uint64_t *row = hx_allocate(r->g->hosts, sizeof *row);
    bool good = !r->labels || (read_labels(r) && hx_lines_next(&r->lines));
    do {
        good = good && read_row(r, from++, row);
    } while (good && hx_lines_next(&r->lines));
    free(row);
    return good && !r->lines.failed &&
           (from == r->g->hosts ||
            fail(r, NULL, "the matrix ends behind %u lines; for the %s it has %u", from, r->spec->fabric, r->g->hosts));
}

/* Whether the first line has labels: its corner is empty, or it holds a name and as many values as a matrix with labels
 * has. */
static bool are_labels(const struct reading *r)
{
    const char *corner = r->lines.text + strspn(r->lines.text, " \t\"");
    unsigned values = 1;
    bool quoted = false;
    for (const char *at = r->lines.text; *at; at++) {
        quoted = quoted != (*at == '"');
        values += *at == ',' && !quoted;
    }
    bool is_list = false;
    for (unsigned i = 0; i < COLUMNS; i++)
        is_list = is_list || strncasecmp(corner, column_names[i], strlen(column_names[i])) == 0;
    return *corner == ',' || (isalpha((unsigned char)*corner) && !is_list && values == r->g->hosts + 1);
}

static bool read_all(struct reading *r)
{
    if (!hx_lines_next(&r->lines))
        return !r->lines.failed && hx_fail(r->lines.problem, HX_EXIT_CONFIG, r->lines.path,
                                           "holds no traffic (a list of messages begins with the line %s)", list_head);
    r->labels = are_labels(r);
    bool is_list = !r->labels && isalpha((unsigned char)r->lines.text[strspn(r->lines.text, " \t\"")]);
    if (!(is_list ? read_list(r) : read_matrix(r)))
        return false;
    return r->table.count || hx_fail(r->lines.problem, HX_EXIT_CONFIG, r->lines.path, "holds no message%s",
                                     r->left_out ? " but of failed boards" : "");
}

/* ---- by source ---- */

static void sort(struct flows *f, const struct table *t)
{
    uint32_t n = f->accelerators;
    f->first = hx_allocate((size_t)n + 2, sizeof *f->first);
    f->start_ns = hx_allocate(t->count, sizeof *f->start_ns);
    f->bytes = hx_allocate(t->count, sizeof *f->bytes);
    f->to = hx_allocate(t->count, sizeof *f->to);
    uint64_t *next = f->first + 1; /* next[i]: index for the next message of source i; in the end its end */
    for (size_t i = 0; i < t->count; i++)
        next[t->message[i].from + 1]++;
    for (uint32_t rank = 0; rank < n; rank++)
        next[rank + 1] += next[rank];
    for (size_t i = 0; i < t->count; i++) {
        const struct message *m = &t->message[i];
        uint64_t at = next[m->from]++;
        f->start_ns[at] = m->start_ns;
        f->bytes[at] = m->bytes;
        f->to[at] = m->to;
    }
}

static void count_peers(struct flows *f)
{
    uint32_t n = f->accelerators;
    uint32_t *last = hx_allocate(n, sizeof *last); /* [destinations]: last source that sends there, + 1 */
    f->destinations = hx_allocate(n, sizeof *f->destinations);
    f->peers = hx_allocate(n, sizeof *f->peers);
    for (uint32_t from = 0; from < n; from++) {
        for (uint64_t i = f->first[from]; i < f->first[from + 1]; i++) {
            uint32_t to = f->to[i];
            if (last[to] == from + 1)
                continue;
            last[to] = from + 1;
            f->destinations[from]++;
            f->peers[from]++;
            f->peers[to]++;
        }
    }
    free(last);
}

bool flows_read(struct flows *f, const char *path, const struct hx_spec *spec, const struct hx_fabric *g,
                uint64_t latest_ns, struct hx_problem *problem)
{
    struct reading r = {.spec = spec, .g = g, .latest_ns = latest_ns};
    if (!hx_lines_open_large(&r.lines, path, LONGEST_LINE, LARGEST_FILE, problem))
        return false;
    *f = (struct flows){.accelerators = g->hosts};
    bool good = read_all(&r);
    hx_lines_close(&r.lines);
    if (good) {
        f->left_out = r.left_out;
        sort(f, &r.table);
        count_peers(f);
    }
    free(r.table.message);
    return good;
}

struct flows *flows_load(const struct hx_settings *settings, const struct hx_spec *spec, const struct hx_fabric *g)
{
    struct hx_problem problem;
    if (settings->pattern != HX_FLOWS)
        return NULL;
    struct flows *f = hx_allocate(1, sizeof *f);
    uint64_t latest_ns = settings->clock == HX_CLOCK_VIRTUAL ? HX_MOST_SIMULATED : HX_MOST_DURATION;
    if (!flows_read(f, settings->traffic_file, spec, g, latest_ns, &problem))
        hx_die_of(&problem);
    return f;
}

void flows_clear(struct flows *f)
{
    HX_FREE(f->first, f->start_ns, f->bytes, f->to, f->destinations, f->peers);
}

void flows_free(struct flows *f)
{
    if (f)
        flows_clear(f);
    free(f);
}
