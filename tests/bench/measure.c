/* measure.c - median, spread, machine and date (measure.h). */
#include "measure.h"
#include "base/json.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int ascending(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

struct measured measure_summary(double *samples, unsigned n)
{
    qsort(samples, n, sizeof *samples, ascending);
    return (struct measured){samples[n / 2], samples[0], samples[n - 1]};
}

json_t *measure_json(struct measured m)
{
    return json_pack("{s:f, s:f, s:f}", "median", m.median, "least", m.least, "most", m.most);
}

void measure_print(const char *what, struct measured m, const char *unit)
{
    printf("  %-44s %10.2f   (%.2f to %.2f)  %s\n", what, m.median, m.least, m.most, unit);
    (void)fflush(stdout);
}

double measure_ticks_per_second(void)
{
    struct shm_clock clock;
    shm_clock_start(&clock);
    const struct timespec wait = {.tv_nsec = 50000000};
    (void)nanosleep(&wait, NULL);
    uint64_t ticks = shm_clock_ticks() - clock.ticks;
    uint64_t ns = hx_monotonic_ns() - clock.ns;
    return (double)ticks * 1e9 / (double)ns;
}

void measure_remove_runtime(const char *folder)
{
    static const char *const parts[] = {"/dpdk/rte", "/dpdk", ""};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s%s", folder, parts[i]);
        (void)rmdir(path);
    }
}

uint64_t measure_thread_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

FILE *measure_run(const char *options)
{
    const char *program = getenv("HXMESH") ? getenv("HXMESH") : "build/hxmesh";
    char command[512];
    (void)snprintf(command, sizeof command, "%s run %s --quiet --json -", program, options);
    return popen(command, "r"); // NOLINT(cert-env33-c): a benchmark of the program that its caller names
}

json_t *measure_report(FILE *run)
{
    json_t *report = run ? json_loadf(run, 0, NULL) : NULL;
    if (run)
        (void)pclose(run);
    return report;
}

double measure_hops(const json_t *report)
{
    return json_number_value(json_object_get(json_object_get(report, "host"), "packet_hops_per_cpu_second"));
}

static void add_machine(json_t *results)
{
    char line[256];
    char model[256] = "unknown";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *name = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (name)
            (void)snprintf(model, sizeof model, "%.*s", (int)strcspn(name + 2, "\n"), name + 2);
    }
    if (f)
        (void)fclose(f);
    time_t now = time(NULL);
    struct tm utc;
    char date[32];
    (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    (void)json_object_set_new(results, "machine", json_string(model));
    (void)json_object_set_new(results, "date", json_string(date));
}

void measure_finish(json_t *results, int argc, char **argv)
{
    add_machine(results);
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            hx_json_write(results, argv[i + 1]);
            return;
        }
    }
    json_decref(results);
}
