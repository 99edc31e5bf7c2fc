/* measure.h - shared by benchmarks: repeat, take the median and the spread, print a row, keep it for the JSON. */
#ifndef MEASURE_H
#define MEASURE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

enum { MEASURE_RUNS = 9 };

struct measured {
    double median, least, most;
};

/* Sorts the samples. */
struct measured measure_summary(double *samples, unsigned n);

/* {"median": .., "least": .., "most": ..} */
json_t *measure_json(struct measured m);

void measure_print(const char *what, struct measured m, const char *unit);

/* Ticks of the processor's counter in a second, measured against the system's clock. */
double measure_ticks_per_second(void);

/* Removes a runtime folder of EAL with its content. */
void measure_remove_runtime(const char *folder);

/* Nanoseconds of this thread's processor time, without that of other programs. */
uint64_t measure_thread_ns(void);

/* Starts `hxmesh run OPTIONS` with the program of HXMESH; measure_report reads its report (NULL: it failed). */
FILE *measure_run(const char *options);
json_t *measure_report(FILE *run);
/* Hops a second of processor time in a report, which is the rate of one core. */
double measure_hops(const json_t *report);

/* Writes `results`, with machine and date, to the file behind --json, if there is one. */
void measure_finish(json_t *results, int argc, char **argv);

#endif
