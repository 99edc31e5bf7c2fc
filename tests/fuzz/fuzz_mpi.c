/* fuzz_mpi.c - any text behind the first line of two MPI traces is refused in one line with a place, or is a schedule.
 * libFuzzer's entry; seeds in corpus/mpi.
 *
 * Both ranks have the same lines, so that what fits one may not fit the other. */
#include "schedule/formats.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096, RANKS = 2, NAME = 64 };

static void write_trace(char path[NAME], unsigned rank, const uint8_t *data, size_t size)
{
    (void)snprintf(path, NAME, "/tmp/hxmesh-fuzz-%d.%u.mpi", (int)getpid(), rank);
    FILE *out = fopen(path, "w");
    require(out && fprintf(out, "hxmesh-mpi 1 rank %u of %d\n", rank, RANKS) > 0 &&
            fwrite(data, 1, size, out) == size && fclose(out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct schedule_read_options options = {.ranks = 0};
    char path[RANKS][NAME];
    struct schedule_notes notes;
    struct hx_problem problem = {.what = ""};
    if (size > LONGEST)
        return 0;
    for (unsigned i = 0; i < RANKS; i++)
        write_trace(path[i], i, data, size);
    struct schedule *s = schedule_read(path[0], &options, &notes, &problem);
    if (s)
        require(schedule_ranks(s) == RANKS && strlen(notes.what) < sizeof notes.what);
    else
        require(problem.exit_code != 0 && strncmp(problem.where, "/tmp/hxmesh-fuzz-", 17) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    schedule_close(s);
    for (unsigned i = 0; i < RANKS; i++)
        require(unlink(path[i]) == 0);
    return 0;
}
