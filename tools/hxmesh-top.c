/* hxmesh-top.c - `hxmesh top`: shows a running fabric, like top(1). Reads counters that the fabric keeps anyway
 * (topology/metrics.h), so it disturbs nothing. */
#include "base/json.h"
#include "base/options/options.h"
#include "base/signals.h"
#include "tools/top/draw.h"
#include "tools/top/screen.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 50 /* milliseconds between checks for keys and the fabric's end */,
    BLOCK_ROWS = 32,
    BLOCK_COLUMNS = 80
};
#define LEAST_INTERVAL UINT64_C(100000000)
#define MOST_INTERVAL  UINT64_C(3600000000000)

struct program {
    struct top top;
    struct top_view view;
    uint64_t interval_ns;
    uint64_t ticks; /* number to show; 0: until the end */
    uint64_t links; /* number in JSON */
    FILE *json;     /* NULL: show text */
    bool screen;
    bool quit;
    bool blocks; /* a block of text was printed before */
    struct hx_common common;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void handle_signals(void)
{
    const struct sigaction action = {.sa_handler = interrupt};
    hx_signals_handle(&action);
    sigset_t set = hx_signals_ending();
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL); /* a run that shows this has blocked them */
}

/* ---- showing ---- */

static void show(struct program *p)
{
    unsigned rows = BLOCK_ROWS;
    unsigned columns = BLOCK_COLUMNS;
    if (p->screen)
        top_screen_size(&rows, &columns);
    struct canvas page;
    canvas_new(&page, rows, columns);
    top_draw(&page, &p->top, &p->view);
    if (p->screen)
        top_screen_show(&page);
    else {
        if (p->blocks)
            printf("\n");
        canvas_write(&page, stdout);
        (void)fflush(stdout);
        p->blocks = true;
    }
    canvas_free(&page);
}

static void tick(struct program *p, double seconds)
{
    top_read(&p->top);
    if (!p->json) {
        show(p);
        return;
    }
    json_t *line = top_json(&p->top, seconds, (unsigned)p->links);
    (void)json_dumpf(line, p->json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', p->json);
    if (fflush(p->json) != 0)
        hx_output_close(p->json, p->common.json); /* reports the error and dies */
    json_decref(line);
}

/* ---- keys ---- */

static void change_interval(struct program *p, bool longer)
{
    uint64_t next = longer ? p->interval_ns * 2 : p->interval_ns / 2;
    p->interval_ns = next < LEAST_INTERVAL ? LEAST_INTERVAL : next > MOST_INTERVAL ? MOST_INTERVAL : next;
    p->view.interval = (double)p->interval_ns / 1e9;
}

static void obey(struct program *p, enum top_key key)
{
    if (key == TOP_KEY_NONE)
        return;
    if (key == TOP_KEY_QUIT)
        p->quit = true;
    else if (key == TOP_KEY_SORT)
        p->view.order = (p->view.order + 1) % TOP_ORDERS;
    else if (key == TOP_KEY_PLANE)
        p->view.plane = p->view.plane + 1 == (int)p->top.g.planes ? TOP_ALL_PLANES : p->view.plane + 1;
    else if (key == TOP_KEY_HELP)
        p->view.help = !p->view.help;
    else if (key != TOP_KEY_RESIZE)
        change_interval(p, key == TOP_KEY_LONGER);
    show(p);
}

/* Waits until the interval is over, the fabric has ended, or the user quits. */
static void wait_for_tick(struct program *p, uint64_t since)
{
    const struct timespec moment = {.tv_nsec = LOOK_MS * 1000000};
    while (!p->quit && !interrupted && hx_metrics_now() - since < p->interval_ns && !top_has_ended(&p->top)) {
        if (p->screen)
            obey(p, top_screen_key(LOOK_MS));
        else
            (void)nanosleep(&moment, NULL);
    }
}

static void watch(struct program *p)
{
    uint64_t since = hx_metrics_now();
    top_read(&p->top);
    if (p->screen)
        show(p);
    for (uint64_t n = 0; !p->top.ended && (p->ticks == 0 || n < p->ticks); n++) {
        wait_for_tick(p, since);
        if (p->quit || interrupted)
            return;
        uint64_t now = hx_metrics_now();
        tick(p, (double)(now - since) / 1e9);
        since = now;
    }
}

/* ---- the command line ---- */

static void parse(struct program *p, int argc, char **argv, const char **name)
{
    bool once = false;
    const char *by_option = NULL;
    const struct hx_option options[] = {
        {HX_STRING("name", "FABRIC", &by_option,
                   "of the fabric, as `hxmesh run --name` gave it, or the run's process number"),
         .otherwise = "the only one that runs"},
        {HX_DURATION("interval", &p->interval_ns, LEAST_INTERVAL, MOST_INTERVAL,
                     "how long to count before it is shown, as 500ms or 2s"),
         .letter = 'i'},
        {HX_NUMBER("count", &p->ticks, 0, UINT32_MAX, "how often; 0: until the fabric ends"), .letter = 'n'},
        {HX_FLAG("once", &once, "the same as --count 1, without the screen")},
        {HX_NUMBER("links", &p->links, 0, TOP_MOST_LINKS, "hottest links in a line of --json")},
        HX_OPTIONS_END};
    const struct hx_command command = {
        HX_PROGRAM("hxmesh top", "hxmesh-run hxmesh-clean"),
        .examples = {{"hxmesh top", "the fabric that runs; q ends it"},
                     {"hxmesh top --name lab --interval 2s --json -", "lines of JSON of the one that was named lab"}},
        HX_OPERANDS("[NAME]", 0, 1),
        .summary = "Shows a running fabric, live or virtual: its hottest links, rates, drops, workers, and a map.",
        .details = "--json prints a line of JSON each interval. What is not a terminal gets plain text each interval. "
                   "Keys: q quit, s sort, p plane, + - interval, h help.",
        .hides_operands = true,
        .options = options};
    int first = hx_options_parse(&command, argc, argv, &p->common);
    *name = hx_running_said(by_option, first < argc ? argv[first] : NULL);
    p->view = (struct top_view){.plane = TOP_ALL_PLANES, .interval = (double)p->interval_ns / 1e9};
    if (once)
        p->ticks = 1;
    p->screen = !once && !p->common.json;
}

int main(int argc, char **argv)
{
    struct program p = {.interval_ns = 1000000000, .links = 10};
    const char *name;
    parse(&p, argc, argv, &name);
    struct hx_problem problem;
    if (!top_open(&p.top, name, &problem))
        hx_die_of(&problem);
    if (p.common.json)
        p.json = hx_output_open(p.common.json);
    handle_signals();
    p.screen = p.screen && top_screen_open();
    watch(&p);
    if (p.screen)
        top_screen_close();
    if (p.top.ended && !p.common.quiet && !p.json)
        printf("%s has ended\n", p.top.name);
    if (p.json)
        hx_output_close(p.json, p.common.json);
    else
        hx_output_close(stdout, "-");
    top_close(&p.top);
    return interrupted ? HX_EXIT_INTERRUPTED : HX_EXIT_DONE;
}
