/* memory.c - reads /proc and control groups (memory.h). */
#include "memory.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind `field` in a file of lines "field number"; 0: none. */
static uint64_t number_in(const char *path, const char *field)
{
    FILE *f = fopen(path, "r");
    unsigned long long number = 0;
    char line[256];
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, field, strlen(field)) == 0)
            number = strtoull(line + strlen(field), NULL, 10);
    }
    if (f)
        (void)fclose(f);
    return number;
}

static uint64_t number_of_group(const char *group, const char *file, const char *field)
{
    char path[640];
    (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
    return number_in(path, field);
}

/* Bytes that a control group may still take; cached files can be evicted. */
static uint64_t left_in_group(const char *group)
{
    uint64_t most = number_of_group(group, "memory.max", "");
    uint64_t files =
        number_of_group(group, "memory.stat", "inactive_file ") + number_of_group(group, "memory.stat", "active_file ");
    uint64_t used = number_of_group(group, "memory.current", "");
    used = used > files ? used - files : 0;
    if (most == 0) /* no such file, or "max" */
        return UINT64_MAX;
    return most > used ? most - used : 0;
}

/* Bytes that this process and its children may still take: of the machine, and of their control groups. */
static uint64_t available_bytes(void)
{
    uint64_t available = number_in("/proc/meminfo", "MemAvailable:") * 1024;
    uint64_t least = available ? available : UINT64_MAX;
    char group[512] = "";
    FILE *f = fopen("/proc/self/cgroup", "r");
    if (f && fscanf(f, "0::%500s", group) != 1)
        group[0] = 0;
    if (f)
        (void)fclose(f);
    for (char *end = group + strlen(group); end; end = strrchr(group, '/')) { /* its own group, and those above it */
        *end = 0;
        uint64_t left = left_in_group(group);
        least = left < least ? left : least;
    }
    return least;
}

void memory_check(const char *who, uint64_t bytes, const char *less)
{
    const double gib = 1 << 30;
    uint64_t available = available_bytes();
    if (bytes > available)
        hx_die(HX_EXIT_ENVIRONMENT, who, "needs about %.1f GiB of memory, there are %.1f GiB (%s)", (double)bytes / gib,
               (double)available / gib, less);
}

uint64_t memory_private_bytes(void)
{
    return number_in("/proc/self/status", "RssAnon:") * 1024;
}

uint64_t memory_oom_kills(void)
{
    return number_in("/proc/vmstat", "oom_kill ");
}
