/* machine_text.c - configuration of an image in QEMU: its place, and its part of the run's traffic (machine.h). */
#include "base/error.h"
#include "base/random.h"
#include "machine.h"
#include "topology/name.h"
#include "workload/waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* MOST_DRAWN: destinations of random traffic in the list; longer traffic repeats the list. */
enum { MOST_DRAWN = 4096, UNREACHABLE_MS = 40000 };

/* Whether each message has a random destination; otherwise destinations repeat in a cycle. */
static bool is_drawn(const struct traffic *t, uint32_t rank)
{
    unsigned pattern = traffic_settings(t, rank)->pattern;
    return pattern == HX_UNIFORM || pattern == HX_HOTSPOT;
}

bool machine_supports(const struct traffic *t, uint32_t rank, const char *name, struct hx_problem *problem)
{
    uint64_t messages = traffic_messages(t, rank);
    const struct hx_settings *s = traffic_settings(t, rank);
    if (t->flows)
        return hx_fail(problem, HX_EXIT_CONFIG, name, "an image in QEMU sends a pattern, and no messages of a file");
    if (s->arrivals == HX_ARRIVALS_POISSON)
        return hx_fail(problem, HX_EXIT_CONFIG, name, "an image in QEMU sends at even times (--arrivals even)");
    if (is_drawn(t, rank) && messages != UINT64_MAX && messages > MOST_DRAWN)
        return hx_fail(problem, HX_EXIT_CONFIG, name,
                       "an image in QEMU sends at most %d messages to hosts that are drawn, not %" PRIu64
                       " (a --duration, or a smaller --count)",
                       MOST_DRAWN, messages);
    return true;
}

static void write_targets(FILE *to, const struct traffic *t, uint32_t rank)
{
    uint64_t messages = traffic_messages(t, rank);
    uint64_t round = messages == 0 ? 0 : is_drawn(t, rank) ? MOST_DRAWN : traffic_destinations(t, rank);
    round = round < messages ? round : messages;
    (void)fprintf(to, "to");
    for (uint64_t message = 0; message < round; message++)
        (void)fprintf(to, " %" PRIu32, traffic_destination(t, rank, message));
    (void)fprintf(to, "\n");
}

static void write_blocked(FILE *to, const struct hx_spec *spec, uint16_t job)
{
    unsigned boards = hx_spec_boards(spec);
    uint8_t *bits = hx_allocate(boards / 8 + 1, 1);
    (void)hx_spec_blocked_boards(spec, job, bits);
    (void)fprintf(to, "blocked");
    for (unsigned board = 0; board < boards; board++) {
        if (bits[board / 8] >> board % 8 & 1)
            (void)fprintf(to, " %u", board);
    }
    (void)fprintf(to, "\n");
    free(bits);
}

/* Returns the limit for four links of a plane, as traffic.rate counts; 0: no limit. */
static uint64_t bytes_per_us(double rate)
{
    double most = 4.0 * HX_NOMINAL_LINK_RATE / 1e6;
    return rate < 1 ? (uint64_t)(most * rate) + 1 : 0;
}

static void write_text(FILE *to, const struct fab_fabric *f, const struct hx_external *e, const struct traffic *t)
{
    const struct hx_geometry g = hx_spec_mesh(&f->spec, "an image in QEMU");
    uint32_t rank = hx_host_at(f->g, e->addr_hi, e->addr_lo);
    uint16_t job = layout_job_of(&f->spec, rank);
    (void)fprintf(to, "fabric %u %u %u %u %u %u %u\n", g.a, g.b, g.x, g.y, g.planes, g.radix, g.taper);
    (void)fprintf(to, "vcs %u\n", f->g->vcs);
    write_blocked(to, &f->spec, job);
    (void)fprintf(to, "at %u %u %u\ncredits %u\njob %u\n", e->addr_hi, e->addr_lo, e->plane, (unsigned)f->spec.credits,
                  job);
    (void)fprintf(to, "random %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", hx_random_epoch(), hx_random_64(),
                  hx_random_64());
    (void)fprintf(to, "traffic %" PRIu64 " %d %" PRIu64 " %" PRIu64 "\n", t->settings.seed, t->settings.verify,
                  traffic_settings(t, rank)->message, traffic_messages(t, rank));
    (void)fprintf(to, "rate %" PRIu64 "\n", bytes_per_us(t->settings.rate));
    write_targets(to, t, rank);
    (void)fprintf(to, "wait %d %d %d %d %d\n", WAIT_FIRST_MS, WAIT_LEAST_MS, WAIT_MOST_MS, WAIT_RETRIES,
                  UNREACHABLE_MS);
}

char *machine_text(const struct fab_fabric *f, const struct hx_external *e, const struct traffic *t)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    if (to)
        write_text(to, f, e, t);
    if (!to || fclose(to) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory");
    return text;
}
