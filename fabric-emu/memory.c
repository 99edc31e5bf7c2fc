/* memory.c - reads /proc/self/status (memory.h). */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t memory_private_bytes(void)
{
    static const char field[] = "RssAnon:";
    FILE *f = fopen("/proc/self/status", "r");
    unsigned long kib = 0;
    char line[128];
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtoul(line + strlen(field), NULL, 10);
    }
    if (f)
        (void)fclose(f);
    return (uint64_t)kib * 1024;
}
