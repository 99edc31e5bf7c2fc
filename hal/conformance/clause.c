/* clause.c - runs one clause at a time, and reports functions that do harm (kit.h, running.h). */
#include "kit.h"

#include <stdio.h>
#include <string.h>

const struct kit_check *const kit_groups[KIT_GROUPS] = {kit_switch_checks, kit_endpoint_checks, kit_detour_checks,
                                                        kit_traffic_checks};

struct kit_shared *kit_shared;
static const struct kit_check *tried;
static const struct conformance_world *world; /* of the clause being tried */

/* ---- harm ---- */

/* Returns the clause being tried if it is of this function, else the function's first; NULL: the kit has none. */
static const char *clause_of(const char *function)
{
    if (strcmp(tried->function, function) == 0)
        return tried->clause;
    for (unsigned i = 0; i < KIT_GROUPS; i++)
        for (const struct kit_check *check = kit_groups[i]; check->function; check++)
            if (strcmp(check->function, function) == 0)
                return check->clause;
    return NULL;
}

void kit_blame(const char *function, const char *words)
{
    struct kit_shared *s = kit_shared;
    s->broken = true;
    for (unsigned i = 0; i < s->blamed_count; i++)
        if (strcmp(s->blamed[i], function) == 0)
            return;
    if (s->blamed_count < KIT_MOST_BLAMED)
        s->blamed[s->blamed_count++] = function;
    const char *clause = clause_of(function);
    if (clause)
        printf("%s: %s (hal.h: %s)\n", function, words, clause);
    else
        printf("%s: %s (in the check of %s)\n", function, words, tried->function);
    (void)fflush(stdout);
}

static uint64_t free_before;

void kit_gives(const char *function)
{
    free_before = conformance_free_buffers(world);
    kit_runs(function);
}

void kit_gave(const char *function)
{
    if (conformance_free_buffers(world) <= free_before + 1)
        return;
    kit_blame(function, "a buffer came back twice");
    kit_abandon();
}

/* ---- a clause ---- */

void kit_begin(const struct kit_check *check)
{
    tried = check;
    kit_shared->broken = false;
    kit_runs(check->function);
}

void kit_try(void)
{
    struct kit k = {.check = tried};
    world = &k.w;
    if (!conformance_open(&k.w)) {
        kit_blame("conformance_open", "cannot make a world");
        return;
    }
    k.free_at_first = conformance_free_buffers(&k.w);
    k.room_at_first = hal_tx_credits(k.w.sw[0], HX_E);
    tried->run(&k);
    conformance_close(&k.w);
}
