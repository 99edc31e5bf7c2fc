/* hxmesh-verify - checks a capture frame by frame against the rules of the fabric. */
#include "base/json.h"
#include "base/progress.h"
#include "tools/verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct request {
    const char *file;
    const char *spec_text;
    uint64_t most; /* number of findings shown */
    bool part, whole, strict;
};

static uint64_t findings(const struct hx_findings_list *l)
{
    uint64_t all = 0;
    for (unsigned rule = 0; rule < HX_RULES; rule++)
        all += l->by_rule[rule];
    return all;
}

static json_t *rules_to_json(const struct hx_findings_list *l)
{
    json_t *rules = json_object();
    for (unsigned rule = 0; rule < HX_RULES; rule++)
        json_object_set_new(rules, hx_rule_names[rule], json_integer((json_int_t)l->by_rule[rule]));
    return rules;
}

static json_t *findings_to_json(const struct hx_findings_list *l, uint64_t most)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < l->count && i < most; i++)
        json_array_append_new(list, json_pack("{s:I, s:s, s:o}", "frame", (json_int_t)l->kept[i].frame, "rule",
                                              hx_rule_names[l->kept[i].rule], "what", hx_json_text(l->kept[i].what)));
    return list;
}

static json_t *notes_to_json(const struct hx_findings_list *l)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < l->note_count; i++) {
        char text[HX_FINDING_TEXT];
        json_array_append_new(list, json_string(hx_note_text(text, l, i)));
    }
    return list;
}

/* Whether enough was checked for a verdict. A strict one needs more than single frames. */
static bool suffices(const struct hx_verify *v)
{
    return hx_verify_validated(v) && (!v->strict || v->found.count || hx_verify_followed(hx_verify_checked(v)));
}

static bool passed(const struct hx_verify *v)
{
    return v->found.count == 0 && suffices(v);
}

/* What let a breach or a loss pass. */
static const char *reason(const struct hx_verify *v, const struct hx_tally *t)
{
    switch (t->fault) {
    case HX_TALLY_NO_FAULT:
        return "no fault";
    case HX_TALLY_GAPS:
        return "frames that the capture lacks";
    case HX_TALLY_SOME_FAULT:
        return "one of many faults";
    default:
        return v->fault_allowances.faults.fault[t->fault].text;
    }
}

static json_t *checked_to_json(const struct hx_verify *v)
{
    json_t *list = json_array();
    for (unsigned rule = 0; rule < HX_RULES; rule++)
        if (hx_verify_checked(v) >> rule & 1)
            json_array_append_new(list, json_string(hx_rule_names[rule]));
    return list;
}

static json_t *let_pass_to_json(const struct hx_verify *v)
{
    json_t *list = json_array();
    struct hx_tally *tally = hx_tally_sorted(&v->let_pass);
    for (size_t i = 0; i < v->let_pass.count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I, s:I}", "what", tally[i].what, "port",
                                              v->c->ports[tally[i].port].name, "by", reason(v, &tally[i]), "count",
                                              (json_int_t)tally[i].count, "first_frame", (json_int_t)tally[i].frame));
    free(tally);
    return list;
}

static json_t *to_json(const struct hx_verify *v, const struct request *r)
{
    const struct hx_verify_counts *n = &v->counts;
    const struct hx_findings_list *l = &v->found;
    json_t *first = json_null();
    if (l->count)
        first = json_pack("{s:I, s:s, s:o}", "frame", (json_int_t)l->kept[0].frame, "rule",
                          hx_rule_names[l->kept[0].rule], "what", hx_json_text(l->kept[0].what));
    json_t *validated = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "data_frames", (json_int_t)n->data, "credit_frames",
                                  (json_int_t)n->credit, "checksums", (json_int_t)n->crc_validated, "nodes",
                                  (json_int_t)n->nodes_validated, "links", (json_int_t)n->links_validated,
                                  "credit_links", (json_int_t)n->credit_links_validated);
    return json_pack("{s:i, s:o, s:o, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "schema", 2, "file", hx_json_text(r->file), "spec",
                     hx_json_text(v->c->fabric.known ? v->c->fabric.spec.fabric : NULL), "passed", passed(v), "strict",
                     v->strict, "frames", (json_int_t)v->c->frames, "ports", (json_int_t)v->c->port_count, "injected",
                     (json_int_t)n->injected, "delivered", (json_int_t)n->delivered, "delivered_again",
                     (json_int_t)n->repeats, "first", first, "rules", rules_to_json(l), "findings",
                     findings_to_json(l, r->most), "checked", checked_to_json(v), "let_pass", let_pass_to_json(v),
                     "verified", validated, "not_verified", notes_to_json(l), "cut_at",
                     v->c->cut_at ? json_integer((json_int_t)v->c->cut_at) : json_null());
}

static void print_checked(const struct hx_verify *v)
{
    printf("%-13s", "checked");
    for (unsigned rule = 0, count = 0; rule < HX_RULES; rule++)
        if (hx_verify_checked(v) >> rule & 1)
            printf("%s%s", count++ ? ", " : "", hx_rule_names[rule]);
    putchar('\n');
}

/* What was let pass, where, and by which fault. */
static void print_let_pass(const struct hx_verify *v, const struct request *r)
{
    struct hx_tally *tally = hx_tally_sorted(&v->let_pass);
    size_t count = v->let_pass.count;
    for (size_t i = 0; i < count && i < r->most; i++)
        printf("%-13s%" PRIu64 " %s at %s by %s, first in frame %" PRIu64 "\n", i == 0 ? "let pass" : "",
               tally[i].count, tally[i].what, v->c->ports[tally[i].port].name, reason(v, &tally[i]), tally[i].frame);
    if (count > r->most)
        printf("%-13s%" PRIu64 " more\n", "", (uint64_t)count - r->most);
    free(tally);
}

static void print(const struct hx_verify *v, const struct request *r)
{
    const struct hx_findings_list *l = &v->found;
    const struct hx_verify_counts *n = &v->counts;
    if (l->count)
        printf("%s: BAD: frame %" PRIu64 ": %s: %s\n", r->file, l->kept[0].frame, hx_rule_names[l->kept[0].rule],
               l->kept[0].what);
    else if (!passed(v))
        printf("%s: NOT CHECKED: %s\n", r->file,
               hx_verify_validated(v) ? "no frame was followed from port to port" : "it has no frame of a fabric");
    else
        printf("%s: good%s\n", r->file,
               hx_verify_followed(hx_verify_checked(v)) ? "" : ", each frame by itself: none was followed");
    printf("%-13s%s, %u ports, %" PRIu64 " nodes whole, %" PRIu64 " cables with both ends\n", "fabric",
           v->c->fabric.known ? v->c->fabric.spec.fabric : "not known", v->c->port_count, n->nodes_validated,
           n->links_validated);
    printf("%-13s%" PRIu64 ": %" PRIu64 " data, %" PRIu64 " credit; %" PRIu64 " checksums checked\n", "frames",
           v->c->frames, n->data, n->credit, n->crc_validated);
    printf("%-13s%" PRIu64 " injected, %" PRIu64 " delivered; %" PRIu64 " data packets more than once\n", "packets",
           n->injected, n->delivered, n->repeats);
    print_checked(v);
    for (unsigned i = 1; i < l->count && i < r->most; i++)
        printf("%-13sframe %" PRIu64 ": %s: %s\n", i == 1 ? "also" : "", l->kept[i].frame,
               hx_rule_names[l->kept[i].rule], l->kept[i].what);
    if (findings(l) > r->most)
        printf("%-13s%" PRIu64 " more\n", "", findings(l) - (l->count < r->most ? l->count : r->most));
    for (unsigned i = 0; i < l->note_count; i++) {
        char text[HX_FINDING_TEXT];
        printf("%-13s%s\n", i == 0 ? "but" : "", hx_note_text(text, l, i));
    }
    print_let_pass(v, r);
}

static off_t size_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? about.st_size : 0;
}

static void validate(struct hx_verify *v, struct hx_capture_index *c, const struct request *r, bool quiet)
{
    struct hx_progress progress = hx_progress_start("verify", quiet);
    double size = (double)size_of(r->file);
    struct hx_capture_frame s;
    struct hx_problem problem;
    int more;
    while ((more = hx_capture_index_next(c, &s, &problem)) > 0) {
        hx_verify_frame(v, &s);
        if (size > 0 && c->frames % 4096 == 0)
            hx_progress_show(&progress, (double)c->reader.offset / size, "");
    }
    hx_progress_end(&progress);
    if (more < 0)
        hx_die_of(&problem);
    hx_verify_end(v);
}

int main(int argc, char **argv)
{
    static struct request r = {.most = 10};
    static struct hx_overrides overrides;
    static const struct hx_option options[] = {
        HX_OPTIONS_HEADING("The fabric, where the file does not say it, or says it wrong"),
        {HX_STRING("spec", "SPEC|FILE", &r.spec_text, "fabric, with its failed boards and jobs if it is a file")},
        HX_OVERRIDE_OPTIONS(&overrides),
        HX_CREDIT_OPTION(&overrides),
        HX_OPTIONS_HEADING("Checks"),
        {HX_FLAG("part", &r.part, "packets were in flight when the capture began or ended: none is missing")},
        {HX_FLAG("whole", &r.whole, "the opposite, whatever the file says")},
        {HX_FLAG("strict", &r.strict,
                 "faults allow nothing, no packet may be lost, and frames must be followed from port to port")},
        {HX_NUMBER("most", &r.most, 1, HX_FINDINGS_KEPT, "breaches shown, and rows of what faults let pass")},
        HX_OPTIONS_END};
    static const struct hx_command command = {
        HX_PROGRAM("hxmesh verify", "hxmesh-capture hxmesh-run hxmesh-trace"),
        .examples = {{"hxmesh verify run.pcapng", "checks a capture against every rule of the fabric"},
                     {"hxmesh verify some.pcapng --part", "packets were in flight when it began or ended"},
                     {"hxmesh verify faults.pcapng --strict", "names each breach that a fault of the run would allow"}},
        .failed = "a rule is broken, or there is no frame to check; with --strict also if no frame could be followed",
        HX_OPERANDS("FILE", 1, 1),
        .summary = "Checks a capture (pcapng or pcap) against the rules of routing and of links, independently of the "
                   "firmware's routes, and names the first frame that breaks one.",
        .details =
            "Rules: header, crc, job, distance, north-last, vc, hops, order, credit, delivery (docs/capture.md). Frame "
            "numbers are Wireshark's. A capture of some ports is checked as far as possible; what was not checked is "
            "listed. Exits 1 if a rule is broken, or if there is no frame to check.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    r.file = argv[first];
    hx_options_apart(&command, &common, "part", (const char *const[]){"whole", NULL});
    hx_options_need(&command, &common, "spec",
                    (const char *const[]){"planes", "radix", "taper", "routing", "credits", NULL});
    hx_outputs_off(r.file, &(struct hx_output){"--json", common.json}, 1);
    struct hx_spec spec = {.failed = NULL};
    if (r.spec_text)
        hx_spec_load(r.spec_text, &overrides, &spec);

    struct hx_capture_index capture_index;
    struct hx_verify verify;
    struct hx_problem problem;
    if (!hx_capture_index_open(&capture_index, r.file, r.spec_text ? &spec : NULL, &problem))
        hx_die_of(&problem);
    capture_index.given_buffer = overrides.credits;
    hx_verify_begin(&verify, &capture_index, r.part, r.whole);
    verify.strict = r.strict;
    validate(&verify, &capture_index, &r, common.quiet);
    bool good = passed(&verify);
    if (common.json)
        hx_json_write(to_json(&verify, &r), common.json);
    else
        print(&verify, &r);
    hx_output_close(stdout, "-");
    hx_verify_free(&verify);
    hx_capture_index_close(&capture_index);
    hx_spec_free(&spec);
    return good ? HX_EXIT_DONE : HX_EXIT_FAILED;
}
