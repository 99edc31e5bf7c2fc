/* error.h - how every program reports an error: one line on stderr and an exit code.
 *
 *     hxmesh: error: WHERE: WHAT (hint)
 *
 * WHERE is a file with line and column, an option, a path or an argument. A message is always one line: control
 * characters of quoted input become '?'.
 *
 * Functions that can fail and are shared by programs return false and fill a struct hx_problem. A program's own code
 * ends with hx_die(). */
#ifndef HXMESH_BASE_ERROR_H
#define HXMESH_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum hx_exit {
    HX_EXIT_DONE = 0,
    HX_EXIT_FAILED = 1,      /* verification failed; the program itself worked */
    HX_EXIT_USAGE = 2,       /* invalid command line */
    HX_EXIT_CONFIG = 3,      /* invalid spec string or file */
    HX_EXIT_ENVIRONMENT = 4, /* the machine refused: memory, permission, device */
    HX_EXIT_INTERRUPTED = 130
};

/* Their meanings in help texts; ends with meaning NULL. */
struct hx_exit_meaning {
    int code;
    const char *meaning;
};
extern const struct hx_exit_meaning hx_exit_meanings[];

struct hx_problem {
    int exit_code;
    char where[256]; /* empty: no place */
    char what[512];
};

/* Fills *p and returns false, so that a failing function can `return hx_fail(...)`. where NULL: no place; an empty
 * string prints as ''. */
__attribute__((format(printf, 4, 5))) bool hx_fail(struct hx_problem *p, int exit_code, const char *where,
                                                   const char *format, ...);

/* The same for a place in a file: HX_EXIT_CONFIG, "path:line:column", both from 1; column 0: "path:line". */
__attribute__((format(printf, 5, 6))) bool hx_fail_at(struct hx_problem *p, const char *path, unsigned line,
                                                      unsigned column, const char *format, ...);
void hx_fail_at_list(struct hx_problem *p, const char *path, unsigned line, unsigned column, const char *format,
                     va_list arguments);

/* Writes "WHERE: WHAT", or what without a place, and returns text. */
enum { HX_PROBLEM_TEXT = sizeof(struct hx_problem) };
const char *hx_problem_text(char text[HX_PROBLEM_TEXT], const struct hx_problem *p);

/* Prints the line and ends the program. where may be NULL. */
__attribute__((format(printf, 3, 4))) _Noreturn void hx_die(int exit_code, const char *where, const char *format, ...);
_Noreturn void hx_die_of(const struct hx_problem *p);

/* Makes hx_die() in this thread call `to` once in place of printing. The program ends with the exit code that it
 * returns. NULL: it prints. */
void hx_error_hand_over(int (*to)(const struct hx_problem *p));
/* Makes hx_complain() and hx_warn() in this thread call `to` in place of printing. NULL: they print. */
void hx_error_say_to(void (*to)(const struct hx_problem *p));

/* Prints the line and returns; hx_warn() prints "warning". */
__attribute__((format(printf, 2, 3))) void hx_complain(const char *where, const char *format, ...);
__attribute__((format(printf, 2, 3))) void hx_warn(const char *where, const char *format, ...);

/* Allocates zeroed memory. Never returns NULL: dies with HX_EXIT_ENVIRONMENT. */
void *hx_allocate(size_t count, size_t bytes);

/* Returns an array of *room elements, `used` of them in use, with room for one more: the same, or a larger copy that is
 * not zeroed. Start with NULL and room 0. Dies as hx_allocate() does. */
void *hx_grow(void *array, size_t used, size_t *room, size_t bytes);

/* Calls free() for each pointer. */
#define HX_FREE(...) hx_free_each((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void hx_free_each(void *const *pointers, size_t count);

/* Returns the most similar of `words` (ends with NULL) by edit distance; NULL: none is similar. */
const char *hx_nearest(const char *word, const char *const *words);

/* Writes " (did you mean 'X'?)" or "". Returns hint. */
enum { HX_HINT_TEXT = 80 };
const char *hx_did_you_mean(char hint[HX_HINT_TEXT], const char *word, const char *const *words);

#endif
