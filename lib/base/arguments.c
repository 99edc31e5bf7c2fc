/* arguments.c - builds argument lists (base/arguments.h). */
#include "base/arguments.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void hx_arguments_add(struct hx_arguments *a, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    a->item = hx_grow(a->item, a->count + 1, &a->room, sizeof *a->item);
    if (vasprintf(&a->item[a->count++], format, values) < 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "out of memory: an argument of a program was refused");
    a->item[a->count] = NULL;
    va_end(values);
}

struct hx_arguments hx_arguments_copy(char *const *words)
{
    struct hx_arguments a = {.count = 0};
    for (; *words; words++)
        hx_arguments_add(&a, "%s", *words);
    return a;
}

void hx_arguments_free(struct hx_arguments *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->item[i]);
    free(a->item);
    *a = (struct hx_arguments){.count = 0};
}
