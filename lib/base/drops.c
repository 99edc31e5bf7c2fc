/* drops.c - names of drop reasons (base/drops.h). */
#include "base/drops.h"

#include <stddef.h>

const char *const hx_drop_names[HX_DROP_COUNT + 1] = {
#define DROP_NAME(name, text) text,
    HX_DROP_REASONS(DROP_NAME)
#undef DROP_NAME
        NULL};
