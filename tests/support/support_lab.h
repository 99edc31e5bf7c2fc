/* support_lab.h - memory that is freed at the end of a test, also of a failed one, and the seed that a failure
 * names. */
#ifndef HXMESH_TESTS_SUPPORT_LAB_H
#define HXMESH_TESTS_SUPPORT_LAB_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory until lab_free. */
void *lab_memory(size_t bytes);
/* Frees all of it: between runs of a test (NULL), or as its cmocka teardown. */
int lab_free(void **state);

/* Seed of the current run; 0: none. If a test ends with a seed set, it failed in that run, and the teardown prints
 * the seed. */
extern uint64_t lab_seed;

#endif
