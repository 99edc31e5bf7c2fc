/* verb_replay.c - `hxmesh replay`: sends the frames of a capture into a port of a running fabric, or to an
 * interface. */
#include "base/clock.h"
#include "base/json.h"
#include "base/pcapng/read.h"
#include "base/signals.h"
#include "fabric-emu/capture/filter.h"
#include "replay.h"
#include "topology/name.h"
#include "verbs.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SETTLE_MS = 10000, BUSY_NS = 50000 };

static const char *const direction_names[] = {"both", "in", "out", NULL};

struct replaying {
    const char *file, *name, *port, *interface, *filter_text, *from;
    unsigned direction; /* index in direction_names */
    double speed, rate;
    bool fast;
    struct capture_filter filter;
    struct hx_pcapng_reader reader;
    struct replay_target target;
    int signals;
    bool interrupted;
    uint64_t start_ns, first_ns; /* start of sending; time of the first frame */
    bool *chosen;                /* interfaces of the section that --from selects */
    uint32_t chosen_room;
    uint64_t read, given, passed_over, cut, too_long;
    uint64_t cut_at; /* offset of the incomplete last block; 0: the file is complete */
};

/* Waits until `at`, or a signal. */
static void wait_until(struct replaying *r, uint64_t at)
{
    struct pollfd signals = {.fd = r->signals, .events = POLLIN};
    uint64_t before = hx_monotonic_ns();
    uint64_t ns = at > before ? at - before : 0;
    const struct timespec wait = {.tv_sec = (time_t)(ns / 1000000000U), .tv_nsec = (long)(ns % 1000000000U)};
    r->interrupted = r->interrupted || ppoll(&signals, 1, &wait, NULL) > 0;
}

/* Returns when the n-th frame is due; 0: at once. */
static uint64_t due(const struct replaying *r, uint64_t n, uint64_t time_ns)
{
    if (r->fast)
        return 0;
    if (r->rate > 0)
        return r->start_ns + (uint64_t)((double)n * 1e9 / r->rate);
    return time_ns > r->first_ns ? r->start_ns + (uint64_t)((double)(time_ns - r->first_ns) / r->speed) : r->start_ns;
}

static void send_packet(struct replaying *r, const struct hx_pcapng_read_packet *p)
{
    enum replay_result result;
    while ((result = replay_send(&r->target, p->bytes, p->captured)) == REPLAY_BUSY && !r->interrupted) {
        if (replay_has_ended(&r->target))
            hx_die(HX_EXIT_ENVIRONMENT, r->target.fabric.name, "the fabric ended after %" PRIu64 " frames", r->given);
        wait_until(r, hx_monotonic_ns() + BUSY_NS);
    }
    if (result == REPLAY_BROKEN)
        hx_die(HX_EXIT_ENVIRONMENT, r->interface, "frame %" PRIu64 " cannot be sent: %m", p->frame);
    r->given += result == REPLAY_SENT;
    r->too_long += result == REPLAY_TOO_LONG;
}

static bool is_wanted(const struct replaying *r, const struct hx_pcapng_read_packet *p)
{
    static const enum hx_pcapng_direction wanted[] = {HX_PCAPNG_UNKNOWN, HX_PCAPNG_INBOUND, HX_PCAPNG_OUTBOUND};
    return (r->direction == 0 || p->direction == wanted[r->direction]) &&
           (!r->from || (p->interface < r->chosen_room && r->chosen[p->interface])) &&
           capture_filter_passes(&r->filter, p->bytes, p->captured, p->original);
}

static void take_packet(struct replaying *r)
{
    const struct hx_pcapng_read_packet *p = &r->reader.packet;
    r->read++;
    if (!is_wanted(r, p)) {
        r->passed_over++;
        return;
    }
    if (p->captured < p->original) {
        r->cut++;
        return;
    }
    if (r->start_ns == 0) {
        r->start_ns = hx_monotonic_ns();
        r->first_ns = p->time_ns;
    }
    uint64_t at = due(r, r->given, p->time_ns);
    if (at)
        wait_until(r, at);
    if (!r->interrupted)
        send_packet(r, p);
}

static void take_interface(struct replaying *r)
{
    const struct hx_pcapng_read_interface *i = &r->reader.interface;
    char name[HX_NAME_BYTES];
    if (!r->from)
        return;
    if (i->number >= r->chosen_room) {
        uint32_t room = i->number * 2 + 64;
        bool *chosen = hx_allocate(room, sizeof *chosen);
        if (r->chosen)
            memcpy(chosen, r->chosen, r->chosen_room * sizeof *chosen);
        free(r->chosen);
        r->chosen = chosen;
        r->chosen_room = room;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(i->name.length < sizeof name ? i->name.length : sizeof name - 1),
                   i->name.bytes ? i->name.bytes : "");
    r->chosen[i->number] = fnmatch(r->from, name, 0) == 0;
}

/* Accepts a file that ends in an incomplete block: its writer was killed. */
static void accept_cut_file(struct replaying *r, const struct hx_problem *problem)
{
    if (!r->reader.cut || r->read == 0)
        hx_die_of(problem);
    r->cut_at = r->reader.offset;
    hx_warn(r->file, "is cut off at byte %" PRIu64 ", within a block: the frames before it were sent", r->cut_at);
}

static void replay_file(struct replaying *r)
{
    struct hx_problem problem;
    while (!r->interrupted) {
        switch (hx_pcapng_next(&r->reader, &problem)) {
        case HX_PCAPNG_IS_BAD:
            accept_cut_file(r, &problem);
            return;
        case HX_PCAPNG_IS_END:
            return;
        case HX_PCAPNG_IS_INTERFACE:
            take_interface(r);
            break;
        case HX_PCAPNG_IS_PACKET:
            take_packet(r);
            break;
        default:
            break;
        }
    }
}

static void settle(struct replaying *r)
{
    for (unsigned ms = 0; ms < SETTLE_MS && !replay_is_settled(&r->target) && !r->interrupted; ms++) {
        if (replay_has_ended(&r->target))
            break;
        wait_until(r, hx_monotonic_ns() + 1000000);
    }
}

/* ---- report ---- */

static uint64_t sent_of(const struct replaying *r)
{
    return r->target.feed ? atomic_load(&r->target.feed->count[FEED_SENT]) : r->given;
}

static json_t *report_json(const struct replaying *r, double seconds)
{
    json_t *refused = json_object();
    for (unsigned i = FEED_SENT + 1; r->target.feed && i < FEED_VERDICT_COUNT; i++)
        (void)json_object_set_new(refused, feed_verdict_names[i],
                                  json_integer((json_int_t)atomic_load(&r->target.feed->count[i])));
    json_t *cut_at = r->cut_at ? json_integer((json_int_t)r->cut_at) : json_null();
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:f}", "file", hx_json_text(r->file), "cut_at", cut_at,
                     "read", (json_int_t)r->read, "passed_over", (json_int_t)r->passed_over, "cut", (json_int_t)r->cut,
                     "too_long", (json_int_t)r->too_long, "sent", (json_int_t)sent_of(r), "refused", refused, "seconds",
                     seconds);
}

static void print_report(const struct replaying *r, double seconds)
{
    printf("%s: %" PRIu64 " of %" PRIu64 " frames sent in %.3f s\n", r->file, sent_of(r), r->read, seconds);
    printf("  not wanted %" PRIu64 ", cut short in the capture %" PRIu64 ", too long %" PRIu64, r->passed_over, r->cut,
           r->too_long);
    for (unsigned i = FEED_SENT + 1; r->target.feed && i < FEED_VERDICT_COUNT; i++)
        printf(", %s %" PRIu64, feed_verdict_names[i], atomic_load(&r->target.feed->count[i]));
    printf("\n");
}

static int replay(struct replaying *r, const struct hx_common *common)
{
    struct hx_problem problem;
    hx_output_check(common->json);
    hx_outputs_off(r->file, &(struct hx_output){"--json", common->json}, 1);
    if ((r->port != NULL) == (r->interface != NULL))
        hx_die(HX_EXIT_USAGE, "--port", "%s: say where the frames are to go, by --port or by --interface",
               r->port ? "and --interface" : "is missing");
    if (!capture_filter_compile(&r->filter, r->filter_text, "--filter", &problem) ||
        !hx_pcapng_open(&r->reader, r->file, &problem))
        hx_die_of(&problem);
    if (!(r->port ? replay_open_port(&r->target, r->name, r->port, &problem)
                  : replay_open_interface(&r->target, r->interface, &problem)))
        hx_die_of(&problem);
    r->signals = hx_signals_open();
    replay_file(r);
    settle(r);
    double seconds = r->start_ns ? (double)(hx_monotonic_ns() - r->start_ns) / 1e9 : 0;
    if (common->json)
        hx_json_write(report_json(r, seconds), common->json);
    else
        print_report(r, seconds);
    replay_close(&r->target);
    hx_pcapng_close(&r->reader);
    capture_filter_free(&r->filter);
    free(r->chosen);
    return r->interrupted ? HX_EXIT_INTERRUPTED : HX_EXIT_DONE;
}

int verb_replay(int argc, char **argv)
{
    struct replaying r = {.speed = 1};
    const struct hx_option options[] = {
        HX_OPTIONS_HEADING("Where to"),
        {HX_STRING("port", "PORT", &r.port, "into this port of a running fabric, as a5,3/p0/E; local: injected there"),
         .letter = 'p'},
        {HX_STRING("name", "FABRIC", &r.name, "of the fabric, as `hxmesh run --name` gave it"),
         .otherwise = "the only one that runs"},
        {HX_STRING("interface", "IFNAME", &r.interface, "onto this network interface (needs CAP_NET_RAW)"),
         .letter = 'i'},
        HX_OPTIONS_HEADING("Which frames"),
        {HX_STRING("filter", "FILTER", &r.filter_text, "that this BPF filter lets through"), .letter = 'f'},
        {HX_STRING("from", "PATTERN", &r.from, "that were captured at ports with such names, as 'a5,3/p0/E'"),
         .otherwise = "all"},
        {HX_CHOICE("direction", &r.direction, direction_names, "in which direction there"), .argument = "WORD"},
        HX_OPTIONS_HEADING("How fast"),
        {HX_REAL("speed", &r.speed, 1e-9, 1e9, "so many times as fast as they were captured")},
        {HX_REAL("rate", &r.rate, 1e-3, 1e9, "so many frames a second, evenly"), .argument = "FRAMES",
         .otherwise = "as captured"},
        {HX_FLAG("as-fast-as-possible", &r.fast, "without any pause")},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh replay", "hxmesh-capture hxmesh-run hxmesh-trace"),
        .examples = {{"hxmesh replay run.pcapng --port a5,3/p0/E",
                      "captured frames once more, into a fabric that runs"}},
        HX_OPERANDS("FILE", 1, 1),
        .summary = "Sends the frames of a capture (pcapng or pcap) again, into a running fabric or onto an interface.",
        .details =
            "A fabric checks them like frames of a wire, and counts what it refuses: malformed frames, "
            "coordinates it does not have, wrong checksums, credit frames. Frames that the capture cut short are "
            "not sent.",
        .options = options};
    struct hx_common common;
    int first = hx_options_parse(&command, argc, argv, &common);
    r.file = argv[first];
    hx_options_apart(&command, &common, "as-fast-as-possible", (const char *const[]){"speed", "rate", NULL});
    hx_options_apart(&command, &common, "speed", (const char *const[]){"rate", NULL});
    hx_options_apart(&command, &common, "interface", (const char *const[]){"name", NULL});
    return replay(&r, &common);
}
