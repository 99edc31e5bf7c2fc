/* packets.c - needs at packet level (tools/bandwidth/packets.h). */
#include "tools/bandwidth/packets.h"
#include "base/error.h"
#include "base/powers.h"
#include "tools/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LEAST_GBPS = 10 /* of a link: rates are whole Gb/s */, PHASES = 2 * BANDWIDTH_DIMENSIONS };

/* ---- the schedule ---- */

/* A part of a chunk's way: a collective along a dimension. */
struct phase {
    const char *collective;
    unsigned dimension;
    uint64_t bytes;
};

static unsigned phases_of(const struct bandwidth_network *n, const struct bandwidth_need *need, uint64_t bytes,
                          struct phase phase[PHASES])
{
    unsigned count = 0;
    for (unsigned d = 0; d < n->dimensions; d++) {
        if (need->members[d] < 2)
            continue;
        phase[count++] = (struct phase){"reduce-scatter", d, bytes};
        bytes /= need->members[d];
    }
    const unsigned parts = count;
    phase[parts - 1].collective = "all-reduce";
    for (unsigned i = parts - 1; i-- > 0; count++)
        phase[count] = (struct phase){"all-gather", phase[i].dimension, phase[i].bytes};
    return count;
}

static const char *algorithm_of(enum bandwidth_kind kind, unsigned members)
{
    if (kind == BANDWIDTH_FC || members == 2)
        return "direct";
    return hx_is_power_of_two(members) ? "halving" : "bruck";
}

/* Messages of a phase on a whole ring: at each step a segment of each half goes to the next NPU, and to the one before.
 * As messages, because the algorithm "ring" of a collective goes around a grid of columns and rows. */
static void write_ring(const struct phase *at, unsigned members, uint64_t stride, unsigned number, FILE *out)
{
    const unsigned halves = strcmp(at->collective, "all-reduce") == 0 ? 2 : 1;
    const uint64_t segment = at->bytes / (2 * members);
    (void)fprintf(out,
                  "        do:\n"
                  "          - for: {step: 1..%u}\n"
                  "            do:\n"
                  "              - together:\n",
                  halves * (members - 1));
    for (unsigned i = 0; i < 4; i++) {
        const bool sends = i < 2, after = i == 0 || i == 3;
        (void)fprintf(out,
                      "                  - {%s: %" PRIu64 ", %s: \"rank + ((rank / %" PRIu64
                      " + %u) %% %u - rank / %" PRIu64 " %% %u) * %" PRIu64 "\", tag: %u}\n",
                      sends ? "send" : "receive", segment, sends ? "to" : "from", stride, after ? 1 : members - 1,
                      members, stride, members, stride, 2 * number + (i % 2));
    }
}

/* Phase `number` of a chunk: behind the chunk's phase before, and the same of the chunk before. */
static void write_phase(const struct bandwidth_network *n, const struct bandwidth_need *need, const struct phase *at,
                        unsigned number, unsigned chunk, FILE *out)
{
    const struct bandwidth_dimension *d = &n->dimension[at->dimension];
    const unsigned members = need->members[at->dimension];
    (void)fprintf(out, "      - name: p%u-%u\n", number, chunk);
    if (number > 0 && chunk > 0)
        (void)fprintf(out, "        after: [p%u-%u, p%u-%u]\n", number - 1, chunk, number, chunk - 1);
    else if (number > 0 || chunk > 0)
        (void)fprintf(out, "        after: [p%u-%u]\n", number > 0 ? number - 1 : 0, number > 0 ? chunk : chunk - 1);
    if (d->kind == BANDWIDTH_RING && members == d->size && members > 2)
        write_ring(at, members, need->stride[at->dimension], number, out);
    else
        (void)fprintf(out,
                      "        collective: %s\n        group: d%u\n        bytes: %" PRIu64 "\n        algorithm: %s\n",
                      at->collective, at->dimension, at->bytes, algorithm_of(d->kind, members));
}

void bandwidth_schedule(const struct bandwidth_network *n, const struct bandwidth_need *need, uint64_t bytes, FILE *out)
{
    struct phase phase[PHASES];
    unsigned phases = phases_of(n, need, bytes, phase);
    const unsigned chunks = phases > 1 ? BANDWIDTH_CHUNKS : 1;
    const char *comma = "";
    phases = phases_of(n, need, bytes / chunks, phase);
    (void)fprintf(out, "ranks: %" PRIu64 "\ngroups: {", bandwidth_npus(n));
    for (unsigned d = 0; d < n->dimensions; d++) {
        if (need->members[d] < 2)
            continue;
        (void)fprintf(out, "%sd%u: {size: %u, stride: %" PRIu64 "}", comma, d, need->members[d], need->stride[d]);
        comma = ", ";
    }
    (void)fprintf(out, "}\nprogram:\n  - together:\n");
    for (unsigned c = 0; c < chunks; c++)
        for (unsigned p = 0; p < phases; p++)
            write_phase(n, need, &phase[p], p, c, out);
}

/* ---- the fabric ---- */

static unsigned links_of(const struct bandwidth_dimension *d)
{
    return d->kind == BANDWIDTH_FC ? d->size - 1 : d->kind == BANDWIDTH_RING && d->size > 2 ? 2 : 1;
}

/* The network with switches that exist, and the need's groups on it. Returns false if they do not fill it evenly. */
static bool stand_in(const struct bandwidth_network *n, const struct bandwidth_need *need,
                     struct bandwidth_network *small, struct bandwidth_need *on)
{
    uint64_t begin = 1, small_begin = 1;
    bool any = false;
    *small = *n;
    *on = *need;
    for (unsigned d = 0; d < n->dimensions; d++) {
        unsigned *size = &small->dimension[d].size;
        const uint64_t low = need->members[d] > 1 ? need->stride[d] / begin : 1;
        while (n->dimension[d].kind == BANDWIDTH_SWITCH && *size > BANDWIDTH_MOST_PORTS && *size % 2 == 0)
            *size /= 2;
        if (low * on->members[d] > *size)
            on->members[d] = (unsigned)(*size / low);
        if (on->members[d] == 0 || *size % (low * on->members[d]) != 0)
            return false;
        on->stride[d] = small_begin * low;
        begin *= n->dimension[d].size;
        small_begin *= *size;
        any |= on->members[d] > 1;
    }
    return any;
}

/* Writes the spec of a network with the rates over `slowed`, and sets rate[] to what they have. */
static void write_fabric(const struct bandwidth_network *n, double *rate, unsigned slowed, char text[BANDWIDTH_NAME])
{
    size_t used = strlen(bandwidth_network_write(n, text));
    for (unsigned d = 0; d < n->dimensions && used < BANDWIDTH_NAME; d++) {
        const unsigned links = links_of(&n->dimension[d]);
        const double gbps = fmax(1, round(rate[d] * 8 / 1e9 / links / slowed));
        used += (size_t)snprintf(text + used, BANDWIDTH_NAME - used, "%s%.0f", d ? "," : " gbps=", gbps);
        rate[d] = gbps * links * 1e9 / 8;
    }
}

/* By how much rates and vector are divided: the slowest link that the need uses keeps LEAST_GBPS. */
static unsigned slowed_of(const struct bandwidth_network *n, const struct bandwidth_need *need, const double *rate)
{
    double least = INFINITY;
    for (unsigned d = 0; d < n->dimensions; d++)
        if (need->members[d] > 1)
            least = fmin(least, rate[d] * 8 / 1e9 / links_of(&n->dimension[d]));
    return isfinite(least) && least > LEAST_GBPS ? (unsigned)(least / LEAST_GBPS) : 1;
}

/* ---- a run ---- */

static int run_file(const char *fabric, const char *file, unsigned workers, double *seconds)
{
    struct hx_arguments a = simulation_arguments(fabric);
    hx_arguments_add(&a, "--traffic=%s", file);
    hx_arguments_add(&a, "--workers=%u", workers);
    hx_arguments_add(&a, "--clock=virtual");
    simulation_ask(&a, true);
    struct simulation s = simulation_run("hxmesh run", &a, NULL, NULL);
    if (s.report.json)
        *seconds = report_number(&s.report, "virtual_seconds");
    return simulation_end(&s);
}

/* Runs an all-reduce of `bytes` in all groups. */
static int run_groups(const char *fabric, const struct bandwidth_network *n, const struct bandwidth_need *need,
                      uint64_t bytes, unsigned workers, double *seconds)
{
    char file[64];
    int memory = memfd_create("hxmesh-bandwidth", MFD_CLOEXEC);
    FILE *out = memory < 0 ? NULL : fdopen(memory, "w");
    if (out) {
        bandwidth_schedule(n, need, bytes, out);
        (void)fflush(out);
        (void)snprintf(file, sizeof file, "/proc/%d/fd/%d", (int)getpid(), memory);
        const int code = run_file(fabric, file, workers, seconds);
        (void)fclose(out);
        return code;
    }
    hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a schedule");
}

/* Seconds of the need by bytes alone. */
static double closed_of(const struct bandwidth_network *n, const struct bandwidth_need *need, const double *rate)
{
    const struct bandwidth_work alone = {.needs = 1, .need = {*need}, .bubble = 1};
    return bandwidth_time_of(n, &alone, rate, 0).exposed;
}

static int simulate(const struct bandwidth_network *n, const struct bandwidth_need *need, const double *rate,
                    const struct bandwidth_packets *how, struct bandwidth_run *run)
{
    struct bandwidth_network small;
    struct bandwidth_need on;
    double has[BANDWIDTH_DIMENSIONS], all = 1;
    if (need->pattern != BANDWIDTH_COLLECTIVE || !stand_in(n, need, &small, &on))
        return HX_EXIT_DONE;
    memcpy(has, rate, sizeof has);
    run->slowed = slowed_of(&small, &on, rate);
    write_fabric(&small, has, run->slowed, run->fabric);
    for (unsigned d = 0; d < n->dimensions; d++)
        all *= on.members[d];
    on.bytes = 2 * (all - 1) / all * (double)how->vector;
    run->vector = how->vector * run->slowed;
    run->closed = closed_of(&small, &on, has);
    return run_groups(run->fabric, &small, &on, how->vector, how->workers, &run->seconds);
}

/* The first need with the groups of need i, and so with its simulation. */
static unsigned like(const struct bandwidth_network *n, const struct bandwidth_work *w, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (w->need[k].pattern == w->need[i].pattern &&
            memcmp(w->need[k].members, w->need[i].members, n->dimensions * sizeof *w->need[k].members) == 0 &&
            memcmp(w->need[k].stride, w->need[i].stride, n->dimensions * sizeof *w->need[k].stride) == 0)
            return k;
    return i;
}

int bandwidth_simulate(const struct bandwidth_network *n, const struct bandwidth_work *w, const double *rate,
                       const struct bandwidth_packets *how, double *seconds, struct bandwidth_run *runs)
{
    struct bandwidth_run run[BANDWIDTH_NEEDS] = {{.fabric = ""}};
    for (unsigned i = 0; i < w->needs; i++) {
        const unsigned same = like(n, w, i);
        const int code = same < i ? HX_EXIT_DONE : simulate(n, &w->need[i], rate, how, &run[i]);
        if (code != HX_EXIT_DONE)
            return code;
        run[i] = run[same];
        seconds[i] = closed_of(n, &w->need[i], rate) * (run[i].closed > 0 ? run[i].seconds / run[i].closed : 1);
    }
    if (runs)
        memcpy(runs, run, w->needs * sizeof *run);
    return HX_EXIT_DONE;
}
