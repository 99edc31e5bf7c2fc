/* arguments.h - the argument list of a program to start. */
#ifndef HXMESH_BASE_ARGUMENTS_H
#define HXMESH_BASE_ARGUMENTS_H

#include <stddef.h>

/* Initialize to {.count = 0}. */
struct hx_arguments {
    char **item; /* for execv(): item[count] is NULL */
    size_t count, room;
};

__attribute__((format(printf, 2, 3))) void hx_arguments_add(struct hx_arguments *a, const char *format, ...);
/* Copies a list that ends with NULL. */
struct hx_arguments hx_arguments_copy(char *const *words);
void hx_arguments_free(struct hx_arguments *a);

#endif
