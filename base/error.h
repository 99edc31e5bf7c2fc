/* error.h - how every host program of hxmesh says that something is wrong: one line on stderr and an exit code.
 *
 *     hxmesh: error: WHERE: WHAT (hint)
 *
 * WHERE is a file with line and column, an option, a path or the argument as it was given. Whatever a line quotes
 * from its input, it stays one line: control characters are shown as '?'.
 *
 * Functions that can fail and are used by more than one program return false and fill a struct hx_problem; the
 * programs' own code dies of it. */
#ifndef HXMESH_BASE_ERROR_H
#define HXMESH_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum hx_exit {
    HX_EXIT_DONE = 0,
    HX_EXIT_FAILED = 1,      /* verification failed: the program worked, what it judged did not */
    HX_EXIT_USAGE = 2,       /* the command line cannot be understood */
    HX_EXIT_CONFIG = 3,      /* a spec string or file is bad */
    HX_EXIT_ENVIRONMENT = 4, /* memory, permission, device: the machine refused */
    HX_EXIT_INTERRUPTED = 130
};

/* What a user is told of them; ends with meaning NULL. */
struct hx_exit_meaning {
    int code;
    const char *meaning;
};
extern const struct hx_exit_meaning hx_exit_meanings[];

struct hx_problem {
    int exit_code;
    char where[256]; /* empty: nowhere in particular */
    char what[512];
};

/* Fills *p and returns false, so that a failing function can `return hx_fail(...)`. where may be NULL: nowhere;
 * an empty word is shown as ''. */
__attribute__((format(printf, 4, 5))) bool hx_fail(struct hx_problem *p, int exit_code, const char *where,
                                                   const char *format, ...);

/* The same of a place in a file: HX_EXIT_CONFIG, "path:line:column", both from 1; column 0: "path:line". */
__attribute__((format(printf, 5, 6))) bool hx_fail_at(struct hx_problem *p, const char *path, unsigned line,
                                                      unsigned column, const char *format, ...);
void hx_fail_at_list(struct hx_problem *p, const char *path, unsigned line, unsigned column, const char *format,
                     va_list arguments);

/* Prints the line and ends the program. where may be NULL. */
__attribute__((format(printf, 3, 4))) _Noreturn void hx_die(int exit_code, const char *where, const char *format, ...);
_Noreturn void hx_die_of(const struct hx_problem *p);

/* Prints the line and goes on; a warning has "warning" for "error". */
__attribute__((format(printf, 2, 3))) void hx_complain(const char *where, const char *format, ...);
__attribute__((format(printf, 2, 3))) void hx_warn(const char *where, const char *format, ...);

/* malloc that never returns NULL (zeroed): dies with HX_EXIT_ENVIRONMENT. */
void *hx_allocate(size_t count, size_t bytes);

/* An array of *room elements of which `used` are in use, with room for one more: the same, or a larger copy in its
 * place, which is not zeroed. NULL and room 0 begin one. Dies as hx_allocate() does. */
void *hx_grow(void *array, size_t used, size_t *room, size_t bytes);

/* free() of each pointer. */
#define HX_FREE(...) hx_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void hx_free_each(void *const *pointers, size_t count);

/* The one of `words` (ended by NULL) that `word` was probably meant to be, by edit distance; NULL: none is near. */
const char *hx_nearest(const char *word, const char *const *words);

/* " (did you mean 'X'?)" for that word, or the empty string. Overwritten by the next call. */
const char *hx_did_you_mean(const char *word, const char *const *words);

#endif
