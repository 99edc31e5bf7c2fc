/* clock.c - calibrates the processor's counter (clock.h). */
#include "clock.h"

#include <stdio.h>
#include <string.h>

/* The kernel offers the clock source "tsc" only when the counter is constant and synchronous on all cores. */
static int counter_is_good(void)
{
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "r");
    if (!f)
        return 0;
    char line[256] = "";
    int good = fgets(line, sizeof line, f) && strstr(line, "tsc");
    (void)fclose(f);
    return good;
}

/* Reads both clocks at one instant. Of several readings it takes the quickest: the process may lose its core in
 * between. */
static struct shm_clock read_both(void)
{
    enum { READINGS = 8 };
    struct shm_clock best = {.ticks = 0};
    uint64_t least = UINT64_MAX;
    for (unsigned n = 0; n < READINGS; n++) {
        uint64_t before = hx_monotonic_ns();
        uint64_t ticks = shm_clock_ticks();
        uint64_t took = hx_monotonic_ns() - before;
        if (took < least)
            best = (struct shm_clock){.ticks = ticks, .ns = before + took / 2};
        least = took < least ? took : least;
    }
    return best;
}

void shm_clock_start(struct shm_clock *c)
{
    *c = read_both();
    if (c->ticks == 0 || !counter_is_good())
        return;
    const struct timespec wait = {.tv_nsec = 5000000};
    (void)nanosleep(&wait, NULL);
    struct shm_clock end = read_both();
    c->scale = ((end.ns - c->ns) << 32) / (end.ticks - c->ticks);
}
