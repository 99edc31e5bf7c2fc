/* request.c - asking a running fabric for something (request.h). */
#include "request.h"
#include "taps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_LOCK = SLOTS, LOOK_NS = 1000000 };
enum state { NOTHING, ASKED, ANSWERED };

/* ---- asking process ---- */

static bool lock(const struct attached *a, short type)
{
    struct flock byte = {.l_type = type, .l_whence = SEEK_SET, .l_start = REQUEST_LOCK, .l_len = 1};
    return fcntl(a->arena.fd, F_SETLKW, &byte) == 0;
}

/* false: the fabric ended before it answered. */
static bool await(const struct attached *a)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    while (atomic_load(&a->control->request.state) != ANSWERED) {
        if (attach_has_ended(a))
            return false;
        (void)nanosleep(&look, NULL);
    }
    return true;
}

int request_ask(const struct attached *a, const char *line, char **answer)
{
    struct fab_request *r = &a->control->request;
    int code = HX_EXIT_ENVIRONMENT;
    *answer = hx_allocate(sizeof r->answer + 1, 1);
    if (!lock(a, F_WRLCK)) {
        (void)snprintf(*answer, sizeof r->answer, "cannot be asked: %s", strerror(errno));
        return code;
    }
    (void)snprintf(r->line, sizeof r->line, "%s", line);
    atomic_store(&r->state, ASKED);
    if (await(a)) {
        code = r->code;
        memcpy(*answer, r->answer, sizeof r->answer);
    } else {
        (void)snprintf(*answer, sizeof r->answer, "the fabric ended before it answered");
    }
    atomic_store(&r->state, NOTHING);
    (void)lock(a, F_UNLCK);
    return code;
}

/* ---- supervisor ---- */

bool request_take(struct fab_fabric *f, char line[FAB_REQUEST_BYTES])
{
    struct fab_request *r = &f->control->request;
    if (atomic_load(&r->state) != ASKED)
        return false;
    memcpy(line, r->line, FAB_REQUEST_BYTES);
    line[FAB_REQUEST_BYTES - 1] = '\0';
    return true;
}

void request_answer(struct fab_fabric *f, int code, const char *answer)
{
    struct fab_request *r = &f->control->request;
    r->code = code;
    (void)snprintf(r->answer, sizeof r->answer, "%s", answer);
    atomic_store(&r->state, ANSWERED);
}
