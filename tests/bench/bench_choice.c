/* bench_choice.c - the choice of a collective's algorithm: its time, or its estimates.
 *
 *     bench_choice                              processor time of a choice on 1,024 hosts
 *     bench_choice --estimate FABRIC BYTES...   for each size of an all-reduce "BYTES ALGORITHM SECONDS", and "BYTES best
 *                                               ALGORITHM" (tests/system/collective_best.py reads it) */
#include "measure.h"
#include "spec/spec.h"
#include "workload/collective_choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 5 };

struct bench {
    struct hx_spec spec;
    struct traffic traffic;
    struct collective_plan plan;
    const struct hx_fabric *g;
};

static void bench_open(struct bench *b, const char *fabric)
{
    struct hx_problem problem;
    struct hx_settings settings = hx_default_settings;
    memset(b, 0, sizeof *b);
    settings.pattern = HX_COLLECTIVES + HX_ALL_REDUCE;
    settings.algorithm = HX_ALGORITHM_TREE;
    if (!hx_spec_parse(fabric, &b->spec, &problem) || !hx_spec_build(&b->spec, &problem))
        hx_die_of(&problem);
    b->g = hx_spec_fabric(&b->spec);
    traffic_init(&b->traffic, &b->spec, b->g, &settings, NULL);
    if (!collective_plan_init(&b->plan, &b->traffic, &problem))
        hx_die_of(&problem);
}

static void bench_close(struct bench *b)
{
    collective_plan_free(&b->plan);
    traffic_free(&b->traffic);
    hx_spec_free(&b->spec);
}

static void print_estimates(const char *fabric, char **sizes, int count)
{
    struct bench b;
    bench_open(&b, fabric);
    for (int i = 0; i < count; i++) {
        struct collective_job *job = &b.plan.job[0];
        job->config.bytes = strtoull(sizes[i], NULL, 10);
        for (unsigned a = 0; a < HX_COLLECTIVE_ALGORITHMS; a++) {
            const double seconds = collective_seconds(job, b.g, (enum hx_collective_algorithm)a);
            if (isfinite(seconds))
                printf("%s %s %.9g\n", sizes[i], hx_collective_algorithm_names[a], seconds);
        }
        printf("%s best %s\n", sizes[i], hx_collective_algorithm_names[collective_best(job, b.g)]);
    }
    bench_close(&b);
}

static void measure_fabric(json_t *results, const char *key, const char *fabric)
{
    double ms[TRIALS];
    struct bench b;
    bench_open(&b, fabric);
    b.plan.job[0].config.bytes = 1 << 20;
    for (unsigned i = 0; i < TRIALS; i++) {
        const uint64_t start = measure_thread_ns();
        (void)collective_best(&b.plan.job[0], b.g);
        ms[i] = (double)(measure_thread_ns() - start) / 1e6;
    }
    const struct measured m = measure_summary(ms, TRIALS);
    measure_print(fabric, m, "ms a choice");
    (void)json_object_set_new(results, key, measure_json(m));
    bench_close(&b);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "--estimate") == 0) {
        print_estimates(argv[2], argv + 3, argc - 3);
        return 0;
    }
    json_t *results = json_object();
    printf("choosing the algorithm of an all-reduce of 1 MiB (median of %d, spread)\n", TRIALS);
    measure_fabric(results, "choice_hx2mesh_ms", "16x16 Hx2Mesh");
    measure_fabric(results, "choice_fat_tree_ms", "fat-tree hosts=1024 radix=64");
    measure_finish(results, argc, argv);
    return 0;
}
