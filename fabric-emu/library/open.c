/* open.c - opens and closes a fabric of the library (library.h). */
#include "base/text.h"
#include "fabric-emu/virtual/build.h"
#include "library.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)HX_SIM_TEXT >= (int)HX_PROBLEM_TEXT, "all errors fit");

/* ---- calls ---- */

int library_refuse(struct hx_sim *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(f->error, sizeof f->error, format, arguments);
    va_end(arguments);
    return HX_SIM_INVALID;
}

int library_call(struct hx_sim *f, int (*call)(struct hx_sim *f, void *of), void *of)
{
    volatile int result = HX_SIM_BROKEN;
    if (f->broken)
        return HX_SIM_BROKEN;
    owned_enter(&f->owned);
    virtual_arena_use(&f->arena);
    if (setjmp(f->owned.back) == 0) {
        result = call(f, of);
    } else {
        f->broken = true;
        (void)hx_problem_text(f->error, &f->owned.problem);
    }
    virtual_arena_use(NULL);
    owned_leave();
    return result;
}

const char *hx_sim_error(const struct hx_sim *f)
{
    return f->error;
}

const char *hx_sim_warnings(const struct hx_sim *f)
{
    return f->owned.said ? f->owned.said : "";
}

/* ---- options ---- */

struct opening {
    const char *fabric;
    const char *const *options;
};

static char *own(const char *text)
{
    return (char *)(uintptr_t)hx_text_own(text);
}

/* A command line of `hxmesh run`. Texts are copied, as options keep them. */
static char **command_line(const struct opening *o, int *count)
{
    static const char *const before[] = {"hxmesh-sim", "--clock", "virtual", "--quiet"};
    enum { BEFORE = sizeof before / sizeof *before };
    size_t given = 0;
    while (o->options && o->options[given])
        given++;
    char **line = hx_allocate(BEFORE + given + 2, sizeof *line);
    int n = 0;
    for (unsigned i = 0; i < BEFORE; i++)
        line[n++] = own(before[i]);
    line[n++] = own(o->fabric);
    for (size_t i = 0; i < given; i++)
        line[n++] = own(o->options[i]);
    *count = n;
    return line;
}

static void parse(struct hx_sim *f, const struct opening *o)
{
    int count;
    char **line = command_line(o, &count);
    setup_parse(&f->setup, count, line, true);
    f->setup.o.common.line = own(f->setup.o.common.line); /* until the next is read */
}

/* ---- the fabric ---- */

static void add_faults(struct hx_sim *f)
{
    const struct hx_faults *faults = &f->setup.faults;
    for (size_t i = 0; i < faults->count; i++) {
        struct timer t = {
            .key = {.time = faults->fault[i].at_ns * PS_PER_NS}, .cookie = i, .host = HX_SIM_NO_HOST, .fault = true};
        time_heap_push(&f->timers, &t.key);
    }
}

static void start_worker(struct hx_sim *f)
{
    struct model *m = &f->setup.m;
    struct worker *w = f->worker = hx_allocate(1, sizeof *w);
    virtual_channel_join(m->channel, 0, false);
    atomic_store(&m->control->begun, true);
    build_worker(w, m, 0);
    f->driver = hx_allocate(m->g->hosts, sizeof(struct driver *));
    for (uint32_t i = 0; i < w->accelerators; i++)
        f->driver[w->driver[i].rank] = &w->driver[i];
    f->done = hx_allocate(w->sim_nodes + 1U, sizeof *f->done);
    f->limit = hx_allocate(w->sim_nodes + 1U, sizeof *f->limit);
    f->of_host = hx_allocate(m->g->hosts, sizeof *f->of_host);
    for (uint32_t i = 0; i < w->sim_nodes; i++)
        f->limit[i] = UINT64_MAX;
    for (uint32_t i = 0; i < m->g->hosts; i++)
        f->of_host[i].bytes = sizeof(struct time_key);
    w->pauses = (struct worker_pauses){f->done, f->limit, library_pause, f};
    worker_windows_begin(w, &f->windows);
}

static int open_fabric(struct hx_sim *f, void *of)
{
    f->waiting = (struct time_heap){.bytes = sizeof(struct waiting)};
    f->timers = (struct time_heap){.bytes = sizeof(struct timer)};
    parse(f, of);
    setup_settle(&f->setup);
    if (f->setup.o.posted)
        f->posted = f->setup.posted = posted_open(f->setup.o.g, library_happened, f);
    setup_prepare(&f->setup, 1);
    add_faults(f);
    start_worker(f);
    return HX_SIM_OK;
}

/* getopt() and the readers of files have variables of the whole process. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

struct hx_sim *hx_sim_open(const char *fabric, const char *const *options, char error[HX_SIM_TEXT])
{
    struct opening o = {fabric, options};
    struct hx_sim *f = calloc(1, sizeof *f);
    if (!f) {
        (void)snprintf(error, HX_SIM_TEXT, "out of memory");
        return NULL;
    }
    (void)pthread_mutex_lock(&opening);
    const int result = library_call(f, open_fabric, &o);
    (void)pthread_mutex_unlock(&opening);
    if (result == HX_SIM_OK)
        return f;
    (void)snprintf(error, HX_SIM_TEXT, "%s", f->error);
    hx_sim_close(f);
    return NULL;
}

void hx_sim_close(struct hx_sim *f)
{
    if (!f)
        return;
    owned_free(&f->owned);
    free(f);
}
