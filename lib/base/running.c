/* running.c - finds fabrics in /dev/shm (base/running.h). */
#include "base/running.h"
#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 8 };

struct names {
    bool (*is_one)(const char *name);
    unsigned count;
    char name[MOST_NAMES][HX_RUNNING_NAME];
};

static void note(const char *name, void *of)
{
    struct names *names = of;
    if (!names->is_one(name))
        return;
    if (names->count < MOST_NAMES)
        (void)snprintf(names->name[names->count], sizeof names->name[0], "%s", name);
    names->count++;
}

bool hx_running_only(char name[HX_RUNNING_NAME], bool (*is_one)(const char *name), const char *where,
                     struct hx_problem *problem)
{
    struct names names = {.is_one = is_one};
    int error = shm_arena_each(note, &names);
    if (error)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, "/dev/shm", "cannot be read: %s", strerror(-error));
    if (names.count == 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL,
                       "no fabric is running (`hxmesh run`, `serve` and `up` start one)");
    (void)snprintf(name, HX_RUNNING_NAME, "%s", names.name[0]);
    if (names.count == 1)
        return true;
    char list[300] = "";
    for (unsigned i = 0; i < names.count && i < MOST_NAMES; i++) {
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names.name[i]);
    }
    return hx_fail(problem, HX_EXIT_USAGE, where, "%u fabrics are running: choose one of %s", names.count, list);
}

bool hx_running_refuse(const char *name, int error, struct hx_problem *problem)
{
    const char *what = NULL;
    if (error == -ENOENT || error == -ESRCH)
        what = "no fabric of this name is running";
    else if (error == -EAGAIN)
        what = "this fabric is only just starting; try again";
    else if (error == -EPERM)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "/dev/shm/" SHM_PREFIX "%s is not a file of this user",
                       name);
    else if (error == -EPROTO)
        what = "this fabric runs another version of hxmesh";
    if (what)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "%s", what);
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, name, "cannot attach to this fabric: %s", strerror(-error));
}

const char *hx_running_said(const char *option, const char *operand)
{
    if (option && operand && strcmp(option, operand) != 0)
        hx_die(HX_EXIT_USAGE, operand, "and --name %s name two fabrics: give one", option);
    return option ? option : operand;
}
