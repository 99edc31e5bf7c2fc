/* measure.h - what the benchmarks share: repeat, take the median and the spread, print a row, keep it for the JSON. */
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

/* Removes a runtime folder of EAL's, with what EAL makes in it. */
void measure_remove_runtime(const char *folder);

/* Nanoseconds that this thread has run: what other programs take of the processor is not in it. */
uint64_t measure_thread_ns(void);

/* Begins `hxmesh run OPTIONS` with the program that HXMESH names; what measure_report gets of it is its report, NULL:
 * it failed. */
FILE *measure_run(const char *options);
json_t *measure_report(FILE *run);
/* Of a report: hops a second of processor time, which is what one core gives. */
double measure_hops(const json_t *report);

/* The file named behind --json, or NULL; machine and date are added to `results`, which is written there. */
void measure_finish(json_t *results, int argc, char **argv);

#endif
