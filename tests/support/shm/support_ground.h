/* support_ground.h - what tests of traffic run on: a shape, perhaps cut into jobs, perhaps with failed boards, by seed.
 *
 * Who is alive, who is of whose job and who may talk to whom is worked out here, and not asked of the product. HX_SEED
 * chooses other jobs, failures and seeds of the traffic; a failed test names it. */
#ifndef HXMESH_TESTS_SUPPORT_GROUND_H
#define HXMESH_TESTS_SUPPORT_GROUND_H

#include "fabric-emu/live/fabric.h"
#include "workload/traffic.h"

enum { GROUND_MESSAGES = 3 /* to each destination */, GROUND_MOST = 256 /* accelerators */ };

struct ground {
    struct fab_fabric f;
    unsigned n;              /* accelerators */
    bool alive[GROUND_MOST]; /* takes part: its board works, and is a job's where there are jobs */
    unsigned job[GROUND_MOST];
    uint64_t seed;
};

extern struct ground ground; /* the one that is open */

enum { GROUND_KINDS = 4 /* whole, failures, jobs, both */ };
void ground_open(const char *shape, unsigned kind);
void ground_close(void);
/* Calls `test` on every shape, whole and spoilt. */
void ground_each(void (*test)(const struct ground *g));
/* Teardown: closes what a failed test has left open, and says where it was. */
int ground_close_after_failure(void **state);
#define GROUND_TEST(function) cmocka_unit_test_teardown(function, ground_close_after_failure)

bool ground_may_talk(const struct ground *g, unsigned from, unsigned to);
/* Others that one may talk to. */
unsigned ground_others(const struct ground *g, unsigned rank);

struct hx_settings ground_settings(enum hx_pattern pattern, uint64_t seed);
/* GROUND_MESSAGES times the pattern; `target`: of an incast or hotspot. */
struct traffic ground_traffic(const struct ground *g, enum hx_pattern pattern, uint64_t seed, unsigned target);

#endif
