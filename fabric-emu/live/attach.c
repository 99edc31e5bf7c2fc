/* attach.c - finds running fabrics (attach.h). */
#include "attach.h"
#include "base/json.h"
#include "base/running.h"
#include "base/text.h"
#include "fabric-emu/capture/ports.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- one fabric ---- */

/* Reads the graph. A graph from a file lies behind the attached part, and needs the whole arena. */
static bool knows_fabric(struct attached *a)
{
    struct shm_arena all;
    if (a->metrics->graph_bytes == 0)
        return hx_metrics_fabric(a->metrics, a->arena.bytes, &a->graph);
    if (shm_arena_read(&all, a->name) != 0)
        return false;
    bool known = all.bytes >= sizeof *a->metrics &&
                 hx_metrics_fabric((const struct hx_metrics_head *)(const void *)all.base, all.bytes, &a->graph);
    shm_arena_close(&all, false);
    return known;
}

/* Validates what another process wrote; hx_metrics_fabric() checks the numbers of the graph itself. */
static bool make_sense(struct attached *a)
{
    const struct hx_metrics_head *m = a->metrics;
    const struct fab_head *h = a->head;
    uint64_t last = a->arena.bytes - sizeof(struct fab_control);
    return m->magic == HX_METRICS_MAGIC && m->clock == HX_CLOCK_WALL && m->version == HX_METRICS_VERSION &&
           h->version == FAB_VERSION && h->head_bytes == sizeof *h && m->workers > 0 && m->workers <= SHM_MAX_WORKERS &&
           h->control_at % 64 == 0 && h->control_at <= last && knows_fabric(a);
}

/* Returns 0 or -errno as shm_arena_attach; -EAGAIN: the fabric is not ready yet. */
static int attach(struct attached *a, const char *name)
{
    *a = (struct attached){.supervisor = -1};
    int error = shm_arena_attach(&a->arena, name, fab_attach_bytes());
    if (error)
        return error;
    a->metrics = (const struct hx_metrics_head *)(const void *)a->arena.base;
    a->head = (const struct fab_head *)(const void *)(a->arena.base + fab_head_at());
    (void)snprintf(a->name, sizeof a->name, "%s", name);
    uint32_t life = atomic_load(&a->metrics->life);
    if (life != HX_LIFE_READY)
        error = life == HX_LIFE_OPENING ? -EAGAIN : -ESRCH;
    else if (!make_sense(a))
        error = -EPROTO;
    else if ((a->supervisor = (int)syscall(SYS_pidfd_open, a->metrics->pid, 0)) < 0)
        error = -errno;
    if (error)
        attach_close(a);
    else
        a->control = (struct fab_control *)(void *)(a->arena.base + a->head->control_at);
    return error;
}

void attach_close(struct attached *a)
{
    if (a->supervisor >= 0)
        (void)close(a->supervisor);
    shm_arena_close(&a->arena, false);
    hx_fabric_free(&a->graph);
    a->supervisor = -1;
}

bool attach_has_ended(const struct attached *a)
{
    struct pollfd supervisor = {.fd = a->supervisor, .events = POLLIN};
    return atomic_load(&a->metrics->life) == HX_LIFE_ENDED || poll(&supervisor, 1, 0) != 0;
}

/* ---- all fabrics ---- */

static bool runs_live(const char *name)
{
    struct attached a;
    if (attach(&a, name) != 0)
        return false;
    attach_close(&a);
    return true;
}

/* A virtual run's shared memory begins alike, but has no control to attach to. */
static bool is_virtual(const char *name)
{
    struct shm_arena arena;
    if (shm_arena_read(&arena, name) != 0)
        return false;
    const struct hx_metrics_head *head = (const struct hx_metrics_head *)(const void *)arena.base;
    bool virtual = arena.bytes >= sizeof *head && head->magic == HX_METRICS_MAGIC && head->clock == HX_CLOCK_VIRTUAL;
    shm_arena_close(&arena, false);
    return virtual;
}

bool attach_open(struct attached *a, const char *name, struct hx_problem *problem)
{
    char only[HX_RUNNING_NAME];
    if (!name && !hx_running_only(only, runs_live, "--name", problem))
        return false;
    name = name ? name : only;
    if (strchr(name, '/')) {
        (void)hx_fail(problem, HX_EXIT_USAGE, "--name", "'%s' is no name of a fabric", name);
        return false;
    }
    int error = attach(a, name);
    if (error == -EPROTO && is_virtual(name))
        return hx_fail(
            problem, HX_EXIT_USAGE, name,
            "this fabric runs under the virtual clock (give --capture, --fault and the like to `hxmesh run`, "
            "before it starts)");
    return error == 0 || hx_running_refuse(name, error, problem);
}

static json_t *port_names(const struct attached *a)
{
    const struct hx_option_list none = {.count = 0};
    struct hx_problem problem;
    struct capture_ports ports;
    json_t *list = json_array();
    if (!capture_ports_choose(&ports, &a->graph, &none, "", &problem))
        return list;
    for (uint32_t i = 0; i < ports.interfaces; i++) {
        char name[HX_NAME_BYTES];
        (void)json_array_append_new(list, json_string(capture_port_name(name, &ports, i)));
    }
    capture_ports_free(&ports);
    return list;
}

static void add_running(json_t *of, const char *name, const struct attached *a)
{
    const struct hx_metrics_head *h = a->metrics;
    char fabric[sizeof h->fabric];
    char title[sizeof h->name];
    (void)hx_text_copy(fabric, sizeof fabric, h->fabric);
    (void)hx_text_copy(title, sizeof title, h->name);
    (void)json_array_append_new(of, json_pack("{s:o, s:o, s:o, s:i, s:i, s:i, s:o}", "name", hx_json_text(name),
                                              "fabric", hx_json_text(fabric), "title", hx_json_text(title), "pid",
                                              (int)h->pid, "workers", (int)h->workers, "planes", (int)h->planes,
                                              "ports", port_names(a)));
}

static void list_running(const char *name, void *of)
{
    struct attached a;
    if (attach(&a, name) != 0)
        return;
    add_running(of, name, &a);
    attach_close(&a);
}

static json_t *list_one(const char *name)
{
    struct attached a;
    struct hx_problem problem;
    json_t *one = json_array();
    if (!attach_open(&a, name, &problem))
        hx_die_of(&problem);
    add_running(one, name, &a);
    attach_close(&a);
    return one;
}

json_t *attach_list(const char *name)
{
    json_t *all = name ? list_one(name) : json_array();
    int error = name ? 0 : shm_arena_each(list_running, all);
    if (error) {
        json_decref(all);
        hx_die(HX_EXIT_ENVIRONMENT, "/dev/shm", "cannot be read: %s", strerror(-error));
    }
    return json_pack("{s:o}", "fabrics", all);
}
