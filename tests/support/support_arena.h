/* support_arena.h - what tests of arenas share: a name of its own for each test, processes beside it, and the judgement
 * that nothing of an arena stays open. */
#ifndef SUPPORT_ARENA_H
#define SUPPORT_ARENA_H

#include "base/arena.h"

#include <sys/types.h>

extern char arena_name[64];
extern char arena_path[128]; /* where the object of that name lies */

/* Setup and teardown of a test: another name; nothing of it is open or mapped any more. */
int arena_choose_name(void **state);
int arena_validate_closed(void **state);
#define ARENA_TEST(function) cmocka_unit_test_setup_teardown(function, arena_choose_name, arena_validate_closed)

bool arena_is_there(void);
/* A file of that name which nobody has locked, as a killed owner leaves it. */
void arena_make_file(mode_t mode);

/* Runs `life` in a process of its own; returns how it ended, as waitpid says. */
int arena_in_a_process(void (*life)(void));
/* The same in a process with an empty /dev/shm that nobody else sees, of so many bytes (NULL: without a limit). Skips
 * the test where this user may not make one. */
int arena_in_own_shm(void (*life)(void), const char *bytes);

#endif
