/* origin.c - reads the clock and /proc/cpuinfo (tools/origin.h). */
#include "tools/origin.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void note_date(struct origin *o)
{
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || !strftime(o->date, sizeof o->date, "%Y-%m-%dT%H:%M:%SZ", &utc))
        (void)snprintf(o->date, sizeof o->date, "unknown");
}

static void note_machine(struct origin *o)
{
    (void)snprintf(o->machine, sizeof o->machine, "unknown processor");
    FILE *in = fopen("/proc/cpuinfo", "r");
    if (!in)
        return;
    char line[256];
    while (fgets(line, sizeof line, in)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value[strcspn(value, "\n")] = '\0';
        (void)snprintf(o->machine, sizeof o->machine, "%s", value + 1 + strspn(value + 1, " "));
        break;
    }
    (void)fclose(in);
}

struct origin origin_now(void)
{
    struct origin o;
    note_date(&o);
    note_machine(&o);
    return o;
}
