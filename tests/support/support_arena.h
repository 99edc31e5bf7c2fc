/* support_arena.h - helpers of arena tests: a name for each test, child processes, and a check that nothing of an
 * arena stays open. */
#ifndef SUPPORT_ARENA_H
#define SUPPORT_ARENA_H

#include "base/arena.h"

#include <sys/types.h>

extern char arena_name[64];
extern char arena_path[128]; /* path of the object of that name */

/* Setup and teardown of a test: takes a new name, and checks that nothing of it is open or mapped. */
int arena_choose_name(void **state);
int arena_validate_closed(void **state);
#define ARENA_TEST(function) cmocka_unit_test_setup_teardown(function, arena_choose_name, arena_validate_closed)

/* Number of descriptors that this process has open. */
unsigned arena_open_descriptors(void);
bool arena_is_there(void);
/* Makes an unlocked file of that name, as a killed owner leaves it. */
void arena_make_file(mode_t mode);

/* Runs `life` in a child process; returns its status as of waitpid. */
int arena_in_a_process(void (*life)(void));
/* Runs `life` in a child process with an empty private /dev/shm of `bytes` (NULL: no limit); returns its status.
 * Skips the test if this user may not make one. */
int arena_in_own_shm(void (*life)(void), const char *bytes);

#endif
