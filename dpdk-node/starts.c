/* starts.c - counting starts (starts.h). */
#include "starts.h"
#include "host/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_count(const char *file)
{
    char line[32] = "";
    FILE *in = fopen(file, "r");
    if (!in && errno != ENOENT)
        hx_die(HX_EXIT_ENVIRONMENT, file, "%s", strerror(errno));
    if (in) {
        (void)!fgets(line, sizeof line, in);
        (void)fclose(in);
    }
    return strtoull(line, NULL, 10);
}

/* Written beside and then renamed: a node that is killed meanwhile keeps the count it had. */
static void write_count(const char *file, uint64_t count)
{
    char beside[300];
    (void)snprintf(beside, sizeof beside, "%.255s.new", file);
    FILE *out = fopen(beside, "w");
    bool good = out && fprintf(out, "%" PRIu64 "\n", count) > 0;
    good = out && fflush(out) == 0 && fsync(fileno(out)) == 0 && good;
    good = out && fclose(out) == 0 && good && rename(beside, file) == 0;
    if (!good)
        hx_die(HX_EXIT_ENVIRONMENT, file, "the count of starts cannot be kept: %s", strerror(errno));
}

struct starts starts_next(const char *file)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t sixteenths = (uint64_t)now.tv_sec * 16 + (uint64_t)now.tv_nsec / 62500000;
    struct starts s = {.session = (uint32_t)sixteenths, .epoch = (uint8_t)((uint64_t)now.tv_sec % 255 + 1)};
    if (file[0]) {
        uint64_t count = read_count(file) + 1;
        write_count(file, count);
        s.epoch = (uint8_t)((count - 1) % 255 + 1);
    }
    return s;
}
