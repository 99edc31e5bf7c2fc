/* support_ground.h - fabrics for traffic tests: a shape, with or without jobs, with or without failed boards, by seed.
 *
 * Hosts in use, their jobs and their possible partners are computed here, without the product. HX_SEED chooses other
 * jobs, failures and seeds of the traffic; a failed test names it. */
#ifndef HXMESH_TESTS_SUPPORT_GROUND_H
#define HXMESH_TESTS_SUPPORT_GROUND_H

#include "fabric-emu/live/fabric.h"
#include "workload/traffic.h"

enum { GROUND_MESSAGES = 3 /* to each destination */, GROUND_MOST = 256 /* accelerators */ };

struct ground {
    struct fab_fabric f;
    unsigned n;              /* accelerators */
    bool alive[GROUND_MOST]; /* in use: its board works, and belongs to a job if there are jobs */
    unsigned job[GROUND_MOST];
    uint64_t seed;
};

extern struct ground ground; /* the open one */

enum { GROUND_KINDS = 4 /* without failures and jobs; failures; jobs; both */ };
void ground_open(const char *shape, unsigned kind);
void ground_close(void);
/* Calls `test` on every shape of each kind. */
void ground_each(void (*test)(const struct ground *g));
/* Teardown: closes what a failed test left open, and prints its place. */
int ground_close_after_failure(void **state);
#define GROUND_TEST(function) cmocka_unit_test_teardown(function, ground_close_after_failure)

bool ground_may_talk(const struct ground *g, unsigned from, unsigned to);
/* Possible partners of a rank. */
unsigned ground_others(const struct ground *g, unsigned rank);

struct hx_settings ground_settings(enum hx_pattern pattern, uint64_t seed);
/* Traffic of GROUND_MESSAGES times the pattern; `target`: of an incast or hotspot. */
struct traffic ground_traffic(const struct ground *g, enum hx_pattern pattern, uint64_t seed, unsigned target);

#endif
