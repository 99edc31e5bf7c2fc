/* jobs.c - adds jobs and places them (spec/jobs.h). */
#include "spec/jobs.h"
#include "allocation/placement.h"
#include "base/rng.h"
#include "base/text.h"
#include "spec/tags.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const struct hx_job_values hx_job_defaults = {.place = HX_HOSTS_CONTIGUOUS};

const char *hx_jobs_impossible(const struct hx_spec *spec, char *why)
{
    const struct hx_fabric *g = spec->graph;
    return spec->a || g->nodes > g->hosts
               ? NULL
               : hx_why(why, "hosts of a %s of one or two sides forward packets: jobs cannot be kept apart",
                        g->topology->word);
}

const char *hx_job_text(char *text, const struct hx_spec *spec, uint16_t tag)
{
    const struct hx_job *job = hx_spec_job(spec, tag);
    if (job && job->name[0])
        (void)snprintf(text, HX_JOB_TEXT, "job %u (%s)", tag, job->name);
    else
        (void)snprintf(text, HX_JOB_TEXT, "job %u", tag);
    return text;
}

/* ---- values of a job ---- */

static uint16_t next_tag(const struct hx_spec *spec)
{
    struct hx_tags tags;
    hx_tags_make(&tags, spec);
    return hx_tags_take(&tags);
}

static const char *read_size(struct hx_job *job, const struct hx_spec *spec, const char *text, char *why)
{
    struct hx_shape shape;
    if (!text)
        return NULL;
    if (!hx_job_shape(text, &shape))
        return hx_why(why, "'%.60s' is no size (write a number of %s, as 6, or COLUMNSxROWS of them, as 3x2)", text,
                      spec->a ? "boards" : "hosts");
    bool shaped = strpbrk(text, "x,");
    job->size[0] = shaped ? shape.columns : shape.columns * shape.rows;
    job->size[1] = shaped ? shape.rows : 0;
    return NULL;
}

static const char *read_grid(struct hx_job *job, const char *text, char *why)
{
    unsigned count = text ? hx_spec_tokens_list(text, job->grid, 2) : 0;
    if (text && !(count == 2 && job->grid[0] && job->grid[1]))
        return hx_why(why, "'%.60s' is no grid (write COLUMNSxROWS of hosts, as 8x4)", text);
    if (text && (job->grid[0] > HX_JOB_SIDE || job->grid[1] > HX_JOB_SIDE))
        return hx_why(why, "'%.60s' is no grid: a side has at most %d hosts", text, HX_JOB_SIDE);
    return NULL;
}

/* Only digits are a tag; any other word is a name. So --only can tell them apart. */
static bool is_tag(const char *word)
{
    return *word && word[strspn(word, "0123456789")] == '\0';
}

static const char *read_name(struct hx_job *job, const struct hx_spec *spec, const char *name, char *why)
{
    if (!name)
        return NULL;
    if (is_tag(name))
        return hx_why(why, "'%.60s' is a tag, not a name: give it as tag, or a name with a letter", name);
    if (strlen(name) >= sizeof job->name)
        return hx_why(why, "'%.60s' is longer than %d letters", name, HX_JOB_NAME - 1);
    for (unsigned i = 0; i < spec->named_jobs; i++)
        if (strcmp(spec->named[i].name, name) == 0)
            return hx_why(why, "there is a job '%s' already", name);
    (void)snprintf(job->name, sizeof job->name, "%s", name);
    return NULL;
}

static const char *read_settings(struct hx_job *job, const struct hx_job_values *v)
{
    job->settings = v->settings;
    job->given = v->given;
    job->start_ns = v->start_ns;
    job->place = v->place;
    if (v->settings.given & HX_GIVEN_PATTERN && v->settings.pattern == HX_FLOWS)
        return "a list of messages is for the whole run: a job may have a schedule";
    return NULL;
}

/* Reads the values of a job. Returns whether all are good. */
static bool read_job(struct hx_job *job, const struct hx_spec *spec, const struct hx_job_values *v,
                     struct hx_job_refusal *r)
{
    if ((r->key = "name", r->what = read_name(job, spec, v->name, r->text)) ||
        (r->key = "size", r->what = read_size(job, spec, v->size, r->text)) ||
        (r->key = "grid", r->what = read_grid(job, v->grid, r->text)) ||
        (r->key = "traffic", r->what = read_settings(job, v)))
        return false;
    r->key = "place";
    if (v->given & HX_GIVEN_PLACE && spec->a)
        r->what = "is for hosts of another fabric: boards of a HammingMesh are found as hxmesh allocate finds them";
    return !r->what;
}

struct hx_job *hx_jobs_add(struct hx_spec *spec, const struct hx_job_values *v, struct hx_job_refusal *r)
{
    struct hx_job new = {.tag = v->tag ? (uint16_t)v->tag : next_tag(spec)};
    const struct hx_job *old = hx_spec_job(spec, new.tag);
    if (!read_job(&new, spec, v, r))
        return NULL;
    r->key = "tag";
    if (new.tag == HX_NO_JOB)
        r->what = hx_why(r->text, "all %d tags are taken", UINT16_MAX);
    else if (old && (v->name || v->size || v->grid || v->start_ns || v->settings.given))
        r->what = hx_why(r->text, "there is a job %u already: only boards can be added to it", new.tag);
    if (r->what)
        return NULL;
    if (old)
        return &spec->named[old - spec->named];
    struct hx_job *more = hx_allocate(spec->named_jobs + 1, sizeof *more);
    if (spec->named_jobs)
        memcpy(more, spec->named, spec->named_jobs * sizeof *more);
    free(spec->named);
    spec->named = more;
    new.settings.traffic_file = hx_text_own(new.settings.traffic_file);
    spec->named[spec->named_jobs] = new;
    return &spec->named[spec->named_jobs++];
}

/* ---- placement ---- */

static bool is_free(const struct hx_spec *spec, unsigned board)
{
    return !hx_spec_board_failed(spec, board) && hx_spec_board_job(spec, board) == HX_NO_JOB;
}

void hx_job_keep_grid(struct hx_job *job, const struct hx_spec *spec, struct hx_shape was, struct hx_shape is)
{
    if (job->grid[0] || is.columns == was.columns)
        return;
    job->grid[0] = was.columns * spec->a;
    job->grid[1] = was.rows * spec->b;
}

void hx_job_boards(struct hx_boards *b, const struct hx_spec *spec, uint16_t tag)
{
    hx_boards_make(b, spec->x, spec->y);
    for (unsigned board = 0; board < hx_spec_boards(spec); board++)
        if (hx_spec_board_failed(spec, board) || hx_spec_board_job(spec, board) != tag)
            hx_board_take(b, board % spec->x, board / spec->x);
}

static void give_boards(struct hx_spec *spec, const struct hx_placement *p, uint16_t tag)
{
    for (unsigned n = 0; n < p->shape.rows * p->shape.columns; n++)
        spec->job[hx_placement_board(p, n, spec->x)] = tag;
}

static bool place_boards(struct hx_spec *spec, struct hx_job *job)
{
    bool any_shape = job->size[1] == 0;
    struct hx_shape shape = any_shape ? hx_shape_of(job->size[0]) : (struct hx_shape){job->size[1], job->size[0]};
    const struct hx_placement_rules rules = {
        .transpose = true, .aspect = any_shape ? HX_DEFAULT_ASPECT : 1, .search = HX_DEFAULT_SEARCH};
    struct hx_boards boards;
    struct hx_placement p;
    hx_job_boards(&boards, spec, HX_NO_JOB);
    bool placed = hx_place(&p, &boards, shape, &rules);
    if (placed)
        give_boards(spec, &p, job->tag);
    if (placed && !any_shape)
        hx_job_keep_grid(job, spec, shape, p.shape);
    if (placed)
        hx_placement_free(&p);
    hx_boards_free(&boards);
    return placed;
}

void hx_job_keep_largest(struct hx_spec *spec, uint16_t tag)
{
    struct hx_boards boards;
    struct hx_placement p;
    hx_job_boards(&boards, spec, tag);
    hx_place_largest(&p, &boards);
    if (p.shape.rows * p.shape.columns < boards.free) {
        struct hx_job_refusal none;
        if (!spec->job)
            spec->job = hx_allocate(hx_spec_boards(spec), sizeof *spec->job);
        for (unsigned board = 0; board < hx_spec_boards(spec); board++)
            if (spec->job[board] == tag)
                spec->job[board] = HX_NO_JOB;
        give_boards(spec, &p, tag == HX_NO_JOB ? hx_jobs_add(spec, &hx_job_defaults, &none)->tag : tag);
    }
    hx_placement_free(&p);
    hx_boards_free(&boards);
}

static bool place_hosts(struct hx_spec *spec, struct hx_job *job)
{
    const struct hx_fabric *f = spec->graph;
    uint32_t count = job->size[0] * (job->size[1] ? job->size[1] : 1);
    bool *free_hosts = hx_allocate(f->hosts, sizeof *free_hosts);
    uint32_t *host = hx_allocate(f->hosts, sizeof *host);
    uint64_t random = split_mix(job->tag); /* placement is a part of the fabric, independent of the run's seed */
    for (uint32_t h = 0; h < f->hosts; h++)
        free_hosts[h] = is_free(spec, h);
    bool placed = count <= f->hosts && hx_place_hosts(host, count, f, free_hosts, job->place, &random);
    for (uint32_t i = 0; placed && i < count; i++)
        spec->job[host[i]] = job->tag;
    if (placed && job->size[1] && !job->grid[0]) {
        job->grid[0] = job->size[0];
        job->grid[1] = job->size[1];
    }
    free(free_hosts);
    free(host);
    return placed;
}

const char *hx_job_place(struct hx_spec *spec, struct hx_job *job, char *why)
{
    if (!job->size[0])
        return NULL;
    if (!spec->job)
        spec->job = hx_allocate(hx_spec_boards(spec), sizeof *spec->job);
    unsigned room = 0;
    for (unsigned board = 0; board < hx_spec_boards(spec); board++)
        room += is_free(spec, board);
    if (spec->a ? place_boards(spec, job) : place_hosts(spec, job))
        return NULL;
    char size[32];
    (void)snprintf(size, sizeof size, job->size[1] ? "%ux%u" : "%u", job->size[0], job->size[1]);
    return hx_why(why, "no room for %s %s: %u of %u are free%s", size, spec->a ? "boards" : "hosts", room,
                  hx_spec_boards(spec), spec->a ? ", and a job needs rows of boards with the same free columns" : "");
}

struct hx_job *hx_jobs_add_placed(struct hx_spec *spec, const struct hx_job_values *v, struct hx_job_refusal *r)
{
    struct hx_job *job = hx_jobs_add(spec, v, r);
    if (!job)
        return NULL;
    r->what = hx_job_place(spec, job, r->text);
    if (!r->what)
        return job;
    r->key = NULL;
    spec->named_jobs--; /* the last one */
    return NULL;
}

/* ---- --job ---- */

/* Reads a token of --job: KEY=VALUE, or the next of size, traffic and message. Returns the problem, or NULL. */
static const char *take_word(const struct hx_option *options, char *word, unsigned *place, char *why)
{
    static const char *const order[] = {"size", "traffic", "message"};
    static const char prefix[] = "jobs[].";
    char *equals = strchr(word, '=');
    const char *key = equals ? word : *place < 3 ? order[(*place)++] : NULL;
    const char *names[16] = {NULL};
    unsigned count = 0;
    if (!key)
        return hx_why(why, "'%.60s': a size, a traffic pattern and a size of messages stand without a key", word);
    if (equals)
        *equals = '\0';
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++) {
        names[count++] = o->key + sizeof prefix - 1;
        const char *bad = strcmp(names[count - 1], key) == 0 ? hx_option_apply(o, equals ? equals + 1 : word, why) : "";
        if (!bad || *bad)
            return bad;
    }
    char hint[HX_HINT_TEXT];
    return hx_why(why, "unknown key '%.40s'%s", key, hx_did_you_mean(hint, key, names));
}

static const char *not_for(const struct hx_option *options, unsigned pattern, char *why)
{
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++) {
        bool given = o->given && *o->given & o->given_bit;
        char why_not[HX_WHY_TEXT];
        const char *bad =
            given ? hx_applies_wrong(o, HX_FOR_PATTERN(pattern) | HX_FOR_ANY_CLOCK, HX_APPLIES_KEYS, why_not) : NULL;
        if (bad)
            return hx_why(why, "%s: %s", o->key + sizeof "jobs[]." - 1, bad);
    }
    return NULL;
}

const char *hx_job_not_for(const struct hx_job *job, unsigned pattern, char *why)
{
    struct hx_job_values v = {.given = job->given, .settings = job->settings};
    const struct hx_option options[] = {HX_JOB_OPTIONS(&v), HX_OPTIONS_END};
    return not_for(options, pattern, why);
}

static const char *read_words(struct hx_job_values *v, char *text, char *why)
{
    const struct hx_option options[] = {HX_JOB_OPTIONS(v), HX_OPTIONS_END};
    char *colon = text + strcspn(text, ":= \t");
    unsigned place = 0;
    if (*colon == ':') {
        *colon = '\0';
        v->name = *text ? text : NULL;
        text = colon + 1;
    }
    char *rest;
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        const char *bad = take_word(options, word, &place, why);
        if (bad)
            return bad;
    }
    if (!v->size)
        return "has no size (write for example 'big: 4x4 all-reduce 16MiB')";
    return v->settings.given & HX_GIVEN_PATTERN ? not_for(options, v->settings.pattern, why) : NULL;
}

static bool add_job_text(struct hx_spec *spec, const char *said, struct hx_problem *problem)
{
    char text[256];
    char shown[HX_JOB_NAME + 16];
    struct hx_job_values v = hx_job_defaults;
    struct hx_job_refusal r = {.what = NULL};
    const char *bad = hx_jobs_impossible(spec, r.text);
    (void)snprintf(shown, sizeof shown, "--job '%.*s'", HX_JOB_NAME, said);
    if (strlen(said) >= sizeof text)
        bad = hx_why(r.text, "is longer than %zu letters", sizeof text - 1);
    (void)snprintf(text, sizeof text, "%s", said + strspn(said, " \t"));
    bad = bad ? bad : read_words(&v, text, r.text);
    if (!bad && !hx_jobs_add_placed(spec, &v, &r))
        bad = r.what;
    return !bad || hx_fail(problem, HX_EXIT_USAGE, shown, "%s", bad);
}

static bool is_called(const struct hx_job *job, const char *word)
{
    char why[HX_WHY_TEXT];
    uint64_t tag;
    if (is_tag(word))
        return !hx_value_number(word, 1, UINT16_MAX, &tag, why) && job->tag == tag;
    return job->name[0] && strcmp(job->name, word) == 0;
}

static bool unsilence(struct hx_spec *spec, const char *word, struct hx_problem *problem)
{
    bool any = false;
    for (unsigned i = 0; i < spec->named_jobs; i++) {
        bool called = is_called(&spec->named[i], word);
        any = any || called;
        spec->named[i].silent = spec->named[i].silent && !called;
    }
    return any || hx_fail(problem, HX_EXIT_USAGE, "--only", "no job has the name or tag '%s'", word);
}

bool hx_jobs_take_said(struct hx_spec *spec, struct hx_problem *problem)
{
    for (unsigned i = 0; i < spec->said.count; i++)
        if (!add_job_text(spec, spec->said.item[i], problem))
            return false;
    for (unsigned i = 0; i < spec->named_jobs; i++)
        spec->named[i].silent = spec->only.count > 0;
    for (unsigned i = 0; i < spec->only.count; i++)
        if (!unsilence(spec, spec->only.item[i], problem))
            return false;
    return true;
}
