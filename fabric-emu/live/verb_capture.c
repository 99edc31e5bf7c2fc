/* verb_capture.c - `hxmesh capture`: writes frames of a running fabric to a file or a pipe. */
#include "base/json.h"
#include "base/signals.h"
#include "base/text.h"
#include "fabric-emu/capture/capture.h"
#include "recording.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct capturing {
    struct attached fabric;
    struct recording recording;
    struct hx_capture_settings settings;
    const char *name, *rotate;
    uint64_t most, duration_ns, rotate_bytes, rotate_files;
    bool list;
    int signals;
    uint64_t end_ns; /* by the run's clock; 0: none */
    bool interrupted;
};

static bool goes_on(struct recording *r, void *of)
{
    struct capturing *c = of;
    struct signalfd_siginfo info;
    if (read(c->signals, &info, sizeof info) == (ssize_t)sizeof info)
        c->interrupted = true;
    bool late = c->end_ns && shm_clock_ns(&r->clock) >= c->end_ns;
    return !c->interrupted && !late && !capture_is_full(&r->capture) && !r->capture.reader_left &&
           !r->capture.report.error && !attach_has_ended(&c->fabric);
}

/* Parses "100MiB,5": size of a file, number of files to keep. */
static void take_rotation(struct capturing *c)
{
    if (!c->rotate)
        return;
    char size[32];
    const char *comma = strchr(c->rotate, ',');
    size_t length = comma ? (size_t)(comma - c->rotate) : strlen(c->rotate);
    (void)snprintf(size, sizeof size, "%.*s", (int)(length < sizeof size ? length : sizeof size - 1), c->rotate);
    char why[HX_WHY_TEXT];
    const char *wrong = hx_value_bytes(size, 4096, (uint64_t)1 << 50, &c->rotate_bytes, why);
    if (!wrong && comma)
        wrong = hx_value_number(comma + 1, 1, 99999, &c->rotate_files, why);
    if (wrong)
        hx_die(HX_EXIT_USAGE, "--rotate", "%s (write SIZE or SIZE,FILES, as 100MiB,5)", wrong);
    if (strcmp(c->settings.file, "-") == 0)
        hx_die(HX_EXIT_USAGE, "--rotate", "stdout cannot be rotated");
}

static void check(struct capturing *c, const struct hx_common *common)
{
    if (!c->settings.file)
        hx_die(HX_EXIT_USAGE, "--write", "is missing: where are the frames to go? (-w FILE, or -w - for stdout)");
    if (strcmp(c->settings.file, "-") == 0 && isatty(STDOUT_FILENO))
        hx_die(HX_EXIT_USAGE, "--write", "stdout is a terminal: a capture is for a file or a pipe");
    if (strcmp(c->settings.file, "-") == 0 && common->json && strcmp(common->json, "-") == 0)
        hx_die(HX_EXIT_USAGE, "--json", "stdout gets the capture already");
    const struct hx_output outputs[] = {{"--json", common->json}, {"--write", c->settings.file}};
    hx_outputs_apart(outputs, 2);
    take_rotation(c);
}

static void announce(const struct capturing *c, bool quiet)
{
    if (!quiet)
        (void)fprintf(stderr, "hxmesh: capturing at %" PRIu32 " port%s of %s\n", c->recording.ports.interfaces,
                      hx_plural(c->recording.ports.interfaces), c->fabric.name);
}

static int finish(const struct capturing *c, const struct hx_common *common)
{
    const struct capture_report *r = &c->recording.capture.report;
    if (common->json)
        hx_json_write(capture_report_json(r), common->json);
    if (capture_report_complain(r))
        return HX_EXIT_ENVIRONMENT;
    if (!common->quiet)
        (void)fprintf(stderr,
                      "hxmesh: %" PRIu64 " frames captured of %" PRIu64 " that the filter let through (%" PRIu64
                      " passed, %" PRIu64 " dropped by the tap%s)\n",
                      r->written, r->accepted, r->received, r->dropped,
                      r->dropped ? "; a smaller --snaplen or a larger --buffer keeps more" : "");
    return c->interrupted && (c->most || c->duration_ns) ? HX_EXIT_INTERRUPTED : HX_EXIT_DONE;
}

static int capture(struct capturing *c, const struct hx_common *common)
{
    struct hx_problem problem;
    check(c, common);
    if (!attach_open(&c->fabric, c->name, &problem))
        hx_die_of(&problem);
    const struct recording_plan plan = {.settings = &c->settings,
                                        .ports_option = "--port",
                                        .filter_option = "--filter",
                                        .most = c->most,
                                        .rotate_bytes = c->rotate_bytes,
                                        .rotate_files = c->rotate_files};
    const struct recording_fabric fabric = {.metrics = c->fabric.metrics,
                                            .head = c->fabric.head,
                                            .control = c->fabric.control,
                                            .arena = c->fabric.arena,
                                            .g = &c->fabric.graph};
    if (!recording_open(&c->recording, &plan, &fabric, &problem) || !recording_tap(&c->recording, &problem))
        hx_die_of(&problem);
    c->signals = hx_signals_open();
    if (recording_await(&c->recording) == 0 && !attach_has_ended(&c->fabric))
        hx_die(HX_EXIT_ENVIRONMENT, c->fabric.name, "no worker of this fabric answers");
    announce(c, common->quiet);
    c->end_ns = c->duration_ns ? shm_clock_ns(&c->recording.clock) + c->duration_ns : 0;
    recording_run(&c->recording, c->signals, goes_on, c);
    recording_close(&c->recording);
    int code = finish(c, common);
    attach_close(&c->fabric);
    return code;
}

int verb_capture(int argc, char **argv)
{
    static struct capturing c = {.settings = HX_CAPTURE_DEFAULTS};
    struct hx_capture_settings *s = &c.settings;
    const struct hx_option options[] = {
        {HX_STRING("write", "FILE", &s->file,
                   "where the frames go, as pcapng; - is stdout (for `| wireshark -k -i -`)"),
         .letter = 'w'},
        {HX_LIST("port", "PATTERN", &s->ports,
                 "at ports with such names, as 'a5,3/p0/E', 'a5,3/*' or 'row*'; may be given again"),
         .letter = 'p', .otherwise = "all"},
        {HX_STRING("filter", "FILTER", &s->filter,
                   "only frames that this BPF filter lets through, as 'ether dst 02:00:00:05:00:03'"),
         .letter = 'f'},
        {HX_NUMBER("count", &c.most, 0, UINT64_MAX, "end after so many frames; 0: do not"), .letter = 'c'},
        {HX_DURATION("duration", &c.duration_ns, 0, HX_MOST_DURATION, "end after so long, as 30s; 0: do not"),
         .letter = 'd'},
        HX_SNAPLEN_OPTION(s),
        {HX_STRING("rotate", "SIZE[,FILES]", &c.rotate,
                   "begin another file, FILE with a number, behind so many bytes; keep the last FILES of them")},
        HX_ANNOTATE_OPTION(s),
        {HX_BYTES("buffer", &s->buffer, 1 << 16, HX_CAPTURE_MOST_BUFFER, "between each worker and the file")},
        {HX_FLAG("list", &c.list, "print running fabrics and their ports, as JSON; with --name that one")},
        {HX_STRING("name", "FABRIC", &c.name, "of the fabric, as `hxmesh run --name` gave it"),
         .otherwise = "the only one that runs"},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh capture", "hxmesh-run hxmesh-verify hxmesh-trace hxmesh-replay"),
        .examples = {{"hxmesh capture -p 'a0,0/p0/*' -w - | wireshark -k -i -", "frames of a running fabric, live"},
                     {"hxmesh capture -p 'a5,3/*' -c 1000 -w some.pcapng", "a thousand frames of one accelerator"}},
        .summary = "Captures frames at the ports of a running fabric, until it ends, or Ctrl-C.",
        .details =
            "The fabric never waits for a capture: frames that find no room are dropped and counted. Exit code: 0 "
            "ended as asked, 4 the file could not be written, 130 interrupted before --count or --duration was "
            "over.",
        .options = options};
    struct hx_common common;
    (void)hx_options_parse(&command, argc, argv, &common);
    hx_options_apart(&command, &common, "list",
                     (const char *const[]){"write", "port", "filter", "count", "duration", "snaplen", "rotate",
                                           "annotate", "buffer", NULL});
    if (c.list) {
        hx_json_write(attach_list(c.name), common.json ? common.json : "-");
        return HX_EXIT_DONE;
    }
    return capture(&c, &common);
}
