/* seeds.c - means over runs that differ only in their seed, and their 95 % intervals (tools/sweep/sweep.h). */
#include "base/error.h"
#include "tools/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two-sided 95 % quantile of Student's t. */
static double student(unsigned freedom)
{
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                               2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    const unsigned known = sizeof t / sizeof *t;
    return freedom <= known ? t[freedom - 1] : 1.96 + 2.46 / freedom;
}

struct mean {
    double mean;
    double half; /* of the 95 % interval, by Student's t; 0: one value */
};

static struct mean mean_of(const double *value, unsigned n)
{
    double sum = 0;
    double squares = 0;
    for (unsigned i = 0; i < n; i++)
        sum += value[i];
    for (unsigned i = 0; i < n; i++)
        squares += (value[i] - sum / n) * (value[i] - sum / n);
    return (struct mean){sum / n, n > 1 ? student(n - 1) * sqrt(squares / (n - 1) / n) : 0};
}

const char *sweep_interval_name(char name[SWEEP_INTERVAL_NAME], const char *figure)
{
    (void)snprintf(name, SWEEP_INTERVAL_NAME, "%s%s", figure, SWEEP_INTERVAL);
    return name;
}

/* Whether all runs have the same value. */
static bool are_equal(const struct sweep_row *row, unsigned n, const char *key)
{
    for (unsigned i = 1; i < n; i++)
        if (!json_equal(json_object_get(row[i].figures, key), json_object_get(row[0].figures, key)))
            return false;
    return true;
}

/* Writes the numbers of all runs. Returns false if one has none. */
static bool take_numbers(const struct sweep_row *row, unsigned n, const char *key, double *value)
{
    for (unsigned i = 0; i < n; i++) {
        value[i] = sweep_figure(&row[i], key);
        if (!isfinite(value[i]))
            return false;
    }
    return true;
}

/* A load is stable if it is with every seed. */
static bool are_all_true(const struct sweep_row *row, unsigned n, const char *key)
{
    for (unsigned i = 0; i < n; i++)
        if (!json_is_true(json_object_get(row[i].figures, key)))
            return false;
    return true;
}

/* What says which seed ran: the first. */
static bool is_of_seed(const char *key)
{
    return strcmp(key, "seed") == 0 || strcmp(key, "settings.seed") == 0;
}

static void combine_figure(json_t *into, const struct sweep_row *row, unsigned n, const char *key, json_t *first)
{
    char name[SWEEP_INTERVAL_NAME];
    double value[SWEEP_VALUES];
    if (are_equal(row, n, key) || is_of_seed(key)) {
        (void)json_object_set(into, key, first);
    } else if (take_numbers(row, n, key, value)) {
        struct mean mean = mean_of(value, n);
        (void)json_object_set_new(into, key, json_real(mean.mean));
        (void)json_object_set_new(into, sweep_interval_name(name, key), json_real(mean.half));
    } else {
        bool flag = json_is_boolean(first);
        (void)json_object_set_new(into, key, flag ? json_boolean(are_all_true(row, n, key)) : json_null());
    }
}

/* The figures of n runs as one: what all have in common, means with intervals, and null for what one run lacks. */
static json_t *combined(const struct sweep_row *row, unsigned n)
{
    const char *key;
    json_t *first;
    json_t *into = json_object();
    for (unsigned i = 0; i < n; i++)
        if (!row[i].figures)
            return into;
    json_object_foreach(row[0].figures, key, first)
    {
        combine_figure(into, row, n, key, first);
    }
    (void)json_object_set_new(into, "seeds", json_integer(n));
    return into;
}

static int worst_of(const struct sweep_row *row, unsigned n)
{
    int worst = HX_EXIT_DONE;
    for (unsigned i = 0; i < n; i++)
        worst = row[i].exit_code != HX_EXIT_DONE ? row[i].exit_code : worst;
    return worst;
}

void sweep_combine_seeds(struct sweep *s)
{
    const unsigned n = s->axis[s->axes - 1]->count;
    for (unsigned run = 0; run * n < s->runs; run++) {
        struct sweep_row *row = &s->row[run * n];
        struct sweep_row all = row[0];
        all.exit_code = worst_of(row, n);
        all.figures = row[0].again || row[0].left_out ? NULL : combined(row, n);
        if (all.figures && json_object_size(all.figures) == 0) {
            json_decref(all.figures);
            all.figures = NULL;
        }
        for (unsigned i = 0; i < n; i++) {
            json_decref(row[i].figures);
            row[i].figures = NULL;
            if (i)
                free(row[i].left_out);
            row[i].left_out = NULL;
        }
        s->row[run] = all;
    }
    s->runs /= n;
    s->axis[s->axes - 1]->count = 1;
}
