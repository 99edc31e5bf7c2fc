/* request.c - sends requests to a running fabric (request.h). */
#include "request.h"
#include "base/signals.h"
#include "taps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_LOCK = SLOTS, LOOK_NS = 1000000 };

/* ---- asking process ---- */

static bool lock(const struct attached *a, short type)
{
    struct flock byte = {.l_type = type, .l_whence = SEEK_SET, .l_start = REQUEST_LOCK, .l_len = 1};
    return fcntl(a->arena.fd, F_SETLK, &byte) == 0;
}

static bool is_mine(const struct attached *a)
{
    return lock(a, F_WRLCK);
}

/* The lock's owner raises `asked`: the ticket is its own, or a dead process's. */
static bool is_answered(const struct attached *a)
{
    const struct fab_request *r = &a->control->request;
    return atomic_load(&r->answered) == atomic_load(&r->asked);
}

/* Waits until `comes_true`. Returns HX_EXIT_DONE, or the exit code of a failure. */
static int await(const struct attached *a, bool (*comes_true)(const struct attached *))
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    while (!comes_true(a)) {
        if (hx_signals_pending())
            return HX_EXIT_INTERRUPTED;
        if (attach_has_ended(a))
            return HX_EXIT_ENVIRONMENT;
        (void)nanosleep(&look, NULL);
    }
    return HX_EXIT_DONE;
}

/* Sends a line under the lock, and waits for the answer. Returns as await(). */
static int exchange(const struct attached *a, const char *line)
{
    struct fab_request *r = &a->control->request;
    int code = await(a, is_answered);
    if (code)
        return code;
    (void)snprintf(r->line, sizeof r->line, "%s", line);
    atomic_fetch_add(&r->asked, 1);
    return await(a, is_answered);
}

int request_ask(const struct attached *a, const char *line, char **answer)
{
    const struct fab_request *r = &a->control->request;
    *answer = hx_allocate(sizeof r->answer + 1, 1);
    int code = await(a, is_mine);
    bool mine = code == HX_EXIT_DONE;
    if (mine)
        code = exchange(a, line);
    if (code == HX_EXIT_DONE) {
        code = r->code;
        memcpy(*answer, r->answer, sizeof r->answer);
    } else {
        (void)snprintf(*answer, sizeof r->answer, "%s",
                       code == HX_EXIT_INTERRUPTED ? "interrupted before the fabric answered"
                                                   : "the fabric ended before it answered");
    }
    if (mine)
        (void)lock(a, F_UNLCK);
    return code;
}

/* ---- supervisor ---- */

bool request_take(struct fab_fabric *f, struct request *r)
{
    const struct fab_request *slot = &f->control->request;
    r->ticket = atomic_load(&slot->asked);
    if (r->ticket == atomic_load(&slot->answered))
        return false;
    memcpy(r->line, slot->line, sizeof r->line);
    r->line[sizeof r->line - 1] = '\0';
    return true;
}

void request_answer(struct fab_fabric *f, const struct request *r, int code, const char *answer)
{
    struct fab_request *slot = &f->control->request;
    slot->code = code;
    (void)snprintf(slot->answer, sizeof slot->answer, "%s", answer);
    atomic_store(&slot->answered, r->ticket);
}
