/* hxmesh-trace - follows packets through a capture of many ports. */
#include "base/json.h"
#include "base/progress.h"
#include "tools/trace/trace_report.h"

#include <string.h>
#include <sys/stat.h>

struct request {
    struct hx_trace_view view;
    struct hx_trace_filter filter;
    const char *spec_text, *timeline_file;
    const char *packet; /* --packet as given; NULL: not given */
    json_t *packets;    /* NULL: text output */
    struct hx_timeline timeline;
};

enum { GIVEN_FROM = 1, GIVEN_TO = 2, GIVEN_MESSAGE = 4, GIVEN_OFFSET = 8 };

static void finished(void *context, const struct hx_trace_packet *p)
{
    struct request *r = context;
    hx_sums_packet(r->view.sums, p);
    if (r->timeline_file)
        hx_timeline_packet(&r->timeline, p);
    bool wanted =
        r->view.packets_shown && !(r->view.missing_only && hx_trace_fate(r->view.trace->c, p) != HX_TRACE_MISSING);
    if (!wanted || r->view.shown >= r->view.most)
        return;
    r->view.shown++;
    if (r->packets)
        json_array_append_new(r->packets, hx_trace_packet_json(&r->view, p));
    else
        hx_trace_print_packet(&r->view, p);
}

/* The coordinate with wildcards replaced by 0, which is in every fabric. */
static struct hx_coordinate named_part(struct hx_coordinate at)
{
    at.addr_hi = at.addr_hi == HX_TRACE_ANY ? 0 : at.addr_hi;
    at.addr_lo = at.addr_lo == HX_TRACE_ANY ? 0 : at.addr_lo;
    return at;
}

/* The fabric is known once the file's head is read. */
static void check_filter(const struct request *r, const struct hx_cap_fabric *f)
{
    if (f->known && r->filter.has_from)
        hx_spec_check_coordinate(&f->spec, r->packet ? "--packet" : "--from", named_part(r->filter.from));
    if (f->known && r->filter.has_to)
        hx_spec_check_coordinate(&f->spec, r->packet ? "--packet" : "--to", named_part(r->filter.to));
}

static void follow(struct request *r, struct hx_capture_index *c, struct hx_trace *t, bool quiet)
{
    struct stat about;
    double size = stat(r->view.file, &about) == 0 && S_ISREG(about.st_mode) ? (double)about.st_size : 0;
    struct hx_progress progress = hx_progress_start("trace", quiet);
    struct hx_problem problem;
    struct hx_capture_frame s;
    int more;
    while ((more = hx_capture_index_next(c, &s, &problem)) > 0) {
        if (c->frames == 1)
            check_filter(r, &c->fabric);
        hx_trace_frame(t, &s);
        if (size > 0 && c->frames % 4096 == 0)
            hx_progress_show(&progress, (double)c->reader.offset / size, "");
    }
    hx_progress_end(&progress);
    if (more < 0)
        hx_die_of(&problem);
    hx_trace_end(t);
}

static void run(struct request *r, const struct hx_spec *spec, const struct hx_common *common)
{
    struct hx_capture_index capture_index;
    struct hx_trace trace;
    static struct hx_trace_sums sums;
    struct hx_problem problem;
    FILE *timeline = NULL;
    if (!hx_capture_index_open(&capture_index, r->view.file, spec, &problem))
        hx_die_of(&problem);
    r->view.trace = &trace;
    r->view.sums = &sums;
    if (r->timeline_file) {
        timeline = hx_output_open(r->timeline_file);
        hx_timeline_begin(&r->timeline, timeline, &capture_index);
    }
    r->packets = common->json ? json_array() : NULL;
    hx_sums_begin(&sums, &capture_index);
    hx_trace_begin(&trace, &capture_index, &r->filter, finished, r);
    follow(r, &capture_index, &trace, common->quiet);
    if (timeline) {
        hx_timeline_end(&r->timeline);
        hx_output_close(timeline, r->timeline_file);
    }
    if (common->json)
        hx_json_write(hx_trace_json(&r->view, r->packets), common->json);
    else
        hx_trace_print(&r->view);
    hx_output_close(stdout, "-");
    hx_trace_free(&trace);
    hx_sums_free(&sums);
    hx_capture_index_close(&capture_index);
}

/* Parses "src,dst,message,offset" into the four options: "1,2,6,3,5,0" or "a1,2,a6,3,5,0"; a part may be "*". */
static void take_packet(struct request *r, const char *text, uint64_t *given)
{
    uint64_t *const to[] = {NULL, NULL, NULL, NULL, &r->filter.message, &r->filter.offset};
    unsigned *const coordinates[] = {&r->filter.from.addr_hi, &r->filter.from.addr_lo, &r->filter.to.addr_hi,
                                     &r->filter.to.addr_lo};
    static const unsigned bits[] = {GIVEN_FROM, GIVEN_FROM, GIVEN_TO, GIVEN_TO, GIVEN_MESSAGE, GIVEN_OFFSET};
    const char *next = text;
    r->filter.from = r->filter.to = (struct hx_coordinate){HX_TRACE_ANY, HX_TRACE_ANY};
    r->filter.data_only = true;
    for (unsigned part = 0; part < 6; part++) {
        char word[16] = "";
        bool letter = (part == 0 || part == 2) && *next == 'a';
        next += letter;
        size_t length = strcspn(next, ",");
        uint64_t value = 0;
        if (length == 0 || length >= sizeof word || (next[length] == ',') != (part < 5))
            hx_die(HX_EXIT_USAGE, "--packet", "'%s' is not HI,LO,HI,LO,message,offset", text);
        memcpy(word, next, length);
        next += length + 1;
        if (strcmp(word, "*") == 0 && !letter)
            continue;
        char why[HX_WHY_TEXT];
        const char *wrong = hx_value_number(word, 0, UINT32_MAX, &value, why);
        if (wrong)
            hx_die(HX_EXIT_USAGE, "--packet", "%s", wrong);
        *given |= bits[part];
        if (part < 4)
            *coordinates[part] = (unsigned)value;
        else
            *to[part] = value;
    }
}

static void set_filter(struct request *r, uint64_t given)
{
    r->filter.has_from = given & GIVEN_FROM;
    r->filter.has_to = given & GIVEN_TO;
    r->filter.has_message = given & GIVEN_MESSAGE;
    r->filter.has_offset = given & GIVEN_OFFSET;
    r->view.packets_shown = given != 0 || r->view.missing_only;
}

int main(int argc, char **argv)
{
    static struct request r = {.view.most = 10};
    static struct hx_overrides overrides;
    static uint64_t given;
    static const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Which packets are shown hop by hop; acknowledgements go with their message"),
        {HX_COORDINATE("from", &r.filter.from, "of messages of this host"), .given = &given, .given_bit = GIVEN_FROM,
         .otherwise = "any"},
        {HX_COORDINATE("to", &r.filter.to, "of messages to this host"), .given = &given, .given_bit = GIVEN_TO,
         .otherwise = "any"},
        {HX_NUMBER("message", &r.filter.message, 0, UINT32_MAX, "of messages with this number"), .letter = 'm',
         .given = &given, .given_bit = GIVEN_MESSAGE, .otherwise = "any"},
        {HX_NUMBER("offset", &r.filter.offset, 0, UINT32_MAX, "with this place in their message"), .given = &given,
         .given_bit = GIVEN_OFFSET, .otherwise = "any"},
        {HX_STRING("packet", "HI,LO,HI,LO,MESSAGE,OFFSET", &r.packet,
                   "all of these at once: from, to, message, offset; '*' for any"),
         .letter = 'p'},
        {HX_FLAG("missing", &r.view.missing_only, "that did not arrive")},
        HX_OPTIONS_HEADING("What is written"),
        {HX_NUMBER("most", &r.view.most, 1, 1000000, "rows of each list; of missing packets no more than 1000")},
        {HX_STRING("timeline", "FILE", &r.timeline_file,
                   "write a timeline of the chosen packets (all, if none is chosen) to FILE: Chrome trace events, for "
                   "ui.perfetto.dev; - is stdout"),
         .alias = "perfetto"},
        HX_OPTIONS_HEADING("The fabric, where the file does not say it"),
        {HX_STRING("spec", "SPEC|FILE", &r.spec_text, "fabric")},
        HX_OVERRIDE_OPTIONS(&overrides),
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh trace", "hxmesh-capture hxmesh-run hxmesh-verify"),
        .examples = {{"hxmesh trace run.pcapng --from 0,0 --to 5,3", "the path of each packet, hop by hop"},
                     {"hxmesh trace run.pcapng --missing", "what did not arrive, and where it was seen last"}},
        HX_OPERANDS("FILE", 1, 1),
        .summary = "Follows packets through a capture of many ports: each hop with time, port, VC and waiting, how a "
                   "message spread over paths, and where packets that did not arrive were seen last.",
        .details = "Without a choice of packets the sums over all are shown.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    r.view.file = argv[first];
    hx_options_apart(&command, &common, "packet", (const char *const[]){"from", "to", "message", "offset", NULL});
    hx_options_need(&command, &common, "spec", (const char *const[]){"planes", "radix", "taper", "routing", NULL});
    if (r.packet)
        take_packet(&r, r.packet, &given);
    set_filter(&r, given);
    if (common.json)
        hx_output_check(common.json);
    const struct hx_output outputs[] = {{"--timeline", r.timeline_file}, {"--json", common.json}};
    hx_outputs_apart(outputs, 2);
    hx_outputs_off(r.view.file, outputs, 2);
    struct hx_spec spec = {.failed = NULL};
    if (r.spec_text)
        hx_spec_load(r.spec_text, &overrides, &spec);
    run(&r, r.spec_text ? &spec : NULL, &common);
    hx_spec_free(&spec);
    return HX_EXIT_DONE;
}
