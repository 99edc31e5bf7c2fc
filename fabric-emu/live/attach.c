/* attach.c - finding running fabrics (attach.h). */
#include "attach.h"
#include "fabric-emu/capture_ports.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- one ---- */

/* What another process wrote is checked before use; the geometry judges its numbers itself. */
static bool make_sense(struct attached *a)
{
    const struct fab_head *h = a->head;
    uint64_t last = a->arena.bytes - sizeof(struct fab_control);
    return h->magic == FAB_MAGIC && h->version == FAB_VERSION && h->head_bytes == sizeof *h && h->workers > 0 &&
           h->workers <= SHM_MAX_WORKERS && h->control_at % 64 == 0 && h->control_at <= last &&
           hx_geometry_init(&a->g, h->a, h->b, h->x, h->y, h->planes, h->radix, h->taper) == 0;
}

/* Returns 0 or -errno as shm_arena_attach; -EAGAIN: the fabric is not ready yet. */
static int attach(struct attached *a, const char *name)
{
    *a = (struct attached){.supervisor = -1};
    int error = shm_arena_attach(&a->arena, name, fab_attach_bytes());
    if (error)
        return error;
    a->head = (const struct fab_head *)(const void *)a->arena.base;
    (void)snprintf(a->name, sizeof a->name, "%s", name);
    uint32_t life = atomic_load(&a->head->life);
    if (life != FAB_READY)
        error = life == FAB_OPENING ? -EAGAIN : -ESRCH;
    else if (!make_sense(a))
        error = -EPROTO;
    else if ((a->supervisor = (int)syscall(SYS_pidfd_open, a->head->pid, 0)) < 0)
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
    a->supervisor = -1;
}

bool attach_has_ended(const struct attached *a)
{
    struct pollfd supervisor = {.fd = a->supervisor, .events = POLLIN};
    return atomic_load(&a->head->life) == FAB_ENDED || poll(&supervisor, 1, 0) != 0;
}

/* ---- all ---- */

enum { MOST_NAMES = 8 };

struct names {
    unsigned count;
    char name[MOST_NAMES][128];
};

static void note_running(const char *name, void *of)
{
    struct names *names = of;
    struct attached a;
    if (attach(&a, name) != 0)
        return;
    attach_close(&a);
    if (names->count < MOST_NAMES)
        (void)snprintf(names->name[names->count], sizeof names->name[0], "%s", name);
    names->count++;
}

static bool find_only(struct names *names, struct hx_problem *problem)
{
    *names = (struct names){.count = 0};
    int error = shm_arena_each(note_running, names);
    if (error)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "/dev/shm", "cannot be read: %s", strerror(-error));
    if (names->count == 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "no fabric is running (start one with `hxmesh run`)");
    if (names->count == 1)
        return true;
    char list[300] = "";
    for (unsigned i = 0; i < names->count && i < MOST_NAMES; i++) {
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names->name[i]);
    }
    return hx_fail(problem, HX_EXIT_USAGE, "--name", "%u fabrics are running: choose one of %s", names->count, list);
}

bool attach_open(struct attached *a, const char *name, struct hx_problem *problem)
{
    struct names names;
    if (!name && !find_only(&names, problem))
        return false;
    name = name ? name : names.name[0];
    if (strchr(name, '/'))
        return hx_fail(problem, HX_EXIT_USAGE, "--name", "'%s' is no name of a fabric", name);
    int error = attach(a, name);
    if (error == 0)
        return true;
    if (error == -ENOENT || error == -ESRCH)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "no fabric of this name is running");
    if (error == -EAGAIN)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "this fabric is only just starting; try again");
    if (error == -EPROTO)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "this fabric runs another version of hxmesh");
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "cannot attach to this fabric: %s", strerror(-error));
}

static json_t *port_names(const struct attached *a)
{
    const struct hx_option_list none = {.count = 0};
    struct hx_problem problem;
    struct capture_ports ports;
    json_t *list = json_array();
    if (!capture_ports_choose(&ports, &a->g, &none, "", &problem))
        return list;
    for (uint32_t i = 0; i < ports.interfaces; i++) {
        char name[HX_NAME_BYTES];
        (void)json_array_append_new(list, json_string(capture_port_name(name, &ports, i)));
    }
    capture_ports_free(&ports);
    return list;
}

static void list_running(const char *name, void *of)
{
    struct attached a;
    if (attach(&a, name) != 0)
        return;
    const struct fab_head *h = a.head;
    (void)json_array_append_new(of, json_pack("{s:s, s:s%, s:s%, s:i, s:i, s:i, s:o}", "name", name, "fabric",
                                              h->fabric, strnlen(h->fabric, sizeof h->fabric), "title", h->name,
                                              strnlen(h->name, sizeof h->name), "pid", (int)h->pid, "workers",
                                              (int)h->workers, "planes", (int)h->planes, "ports", port_names(&a)));
    attach_close(&a);
}

json_t *attach_list(void)
{
    json_t *list = json_array();
    (void)shm_arena_each(list_running, list);
    return json_pack("{s:o}", "fabrics", list);
}
