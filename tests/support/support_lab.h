/* support_lab.h - memory that is freed when a test ends, however it ends, and the seed that is said if it fails. */
#ifndef HXMESH_TESTS_SUPPORT_LAB_H
#define HXMESH_TESTS_SUPPORT_LAB_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory until lab_free. */
void *lab_memory(size_t bytes);
/* Frees all of it: between the runs of a test (NULL), and as its cmocka teardown. */
int lab_free(void **state);

/* The seed of the run that is going on, 0: none. A test that ends without having cleared it has failed in that run, and
 * the teardown says so. */
extern uint64_t lab_seed;

#endif
