/* counts.c - counters by name (base/counts.h). */
#include "base/counts.h"

#include <inttypes.h>
#include <stdio.h>

const char *const hx_drop_names[HX_DROP_COUNT + 1] = {
#define DROP_NAME(name, text) text,
    HX_DROP_REASONS(DROP_NAME)
#undef DROP_NAME
        NULL};

const char *const hx_stall_names[HX_STALL_COUNT + 1] = {
#define STALL_NAME(name, text) text,
    HX_STALLS(STALL_NAME)
#undef STALL_NAME
        NULL};

void hx_print_counts(const char *title, const char *const *names, const uint64_t *counts)
{
    bool any = false;
    printf("  %-14s", title);
    for (unsigned i = 0; names[i]; i++) {
        if (counts[i])
            printf(" %s %" PRIu64, names[i], counts[i]);
        any = any || counts[i];
    }
    printf("%s\n", any ? "" : " none");
}
