/* old_names.c - old names, and those that replace them (old_names.h). */
#include "base/old_names.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *old_name, *name;
} renamed[] = {
    {"pace", "injection_rate"}, /* of a fabric file; a figure of a sweep */
    {"nap", "idle_wait"},       /* of a node file */
};

const char *hx_old_name(const char *name)
{
    for (unsigned i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i].old_name, name) == 0)
            return renamed[i].name;
    return NULL;
}

const char *hx_old_name_read(const char *where, const char *name)
{
    const char *current = name ? hx_old_name(name) : NULL;
    char said[64]; /* programs that this one starts read the same file, and do not say it again */
    if (!current)
        return name;
    (void)snprintf(said, sizeof said, "HXMESH_OLD_NAME_%.40s", name);
    if (!getenv(said))
        hx_warn(where, "'%s' is the old name of '%s'; the next version reads only that", name, current);
    (void)setenv(said, "1", 1);
    return current;
}
