/* replay.c - a main() for the fuzz targets that needs no fuzzing engine: runs stored inputs and mutations of them.
 *
 *     fuzz_NAME FILE|FOLDER...
 *
 * Each input, and the empty one, runs unchanged, then with HX_MUTATIONS (2000; 50 in `make check`) changes drawn
 * from HX_SEED (1); the same seed gives the same bytes. An input is one test, reported as a line of TAP. Inputs run
 * in a child process, so this one survives any crash, prints the bytes that caused it, and keeps them. */
#include "tests/fuzz/fuzz.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

/* Current input, shared with the child. */
struct current {
    uint64_t mutation;
    size_t size;
    uint8_t bytes[ROOM];
};

struct replay {
    struct current *current;
    const char *program;
    uint64_t seed;
    uint64_t mutations;
    unsigned tests;
    unsigned failed;
};

static void change_byte(struct current *c, uint64_t *state)
{
    static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '\n', '"', ':'};
    if (c->size == 0) {
        return;
    }
    uint8_t *byte = &c->bytes[seeded_below(state, c->size)];
    switch (seeded_next(state) % 3) {
    case 0:
        *byte = (uint8_t)(*byte ^ (1u << (seeded_next(state) % 8)));
        break;
    case 1:
        *byte = edges[seeded_below(state, sizeof edges)];
        break;
    default:
        *byte = (uint8_t)seeded_next(state);
        break;
    }
}

/* Repeats a part of the input at another place: repeated keys, records, headers. */
static void copy_stretch(struct current *c, uint64_t *state)
{
    if (c->size == 0) {
        return;
    }
    size_t from = seeded_below(state, c->size);
    size_t to = seeded_below(state, c->size + 1);
    size_t length = 1 + seeded_below(state, c->size - from);
    if (length > ROOM - c->size) {
        return;
    }
    uint8_t *stretch = malloc(length);
    if (!stretch) {
        abort();
    }
    memcpy(stretch, c->bytes + from, length);
    memmove(c->bytes + to + length, c->bytes + to, c->size - to);
    memcpy(c->bytes + to, stretch, length);
    c->size += length;
    free(stretch);
}

static void remove_stretch(struct current *c, uint64_t *state)
{
    if (c->size == 0) {
        return;
    }
    size_t from = seeded_below(state, c->size);
    size_t length = 1 + seeded_below(state, c->size - from);
    memmove(c->bytes + from, c->bytes + from + length, c->size - from - length);
    c->size -= length;
}

static void append_bytes(struct current *c, uint64_t *state)
{
    for (size_t n = 1 + seeded_below(state, 16); n > 0 && c->size < ROOM; n--) {
        c->bytes[c->size++] = (uint8_t)seeded_next(state);
    }
}

static void mutate(struct current *c, uint64_t *state)
{
    for (uint64_t changes = 1 + seeded_next(state) % 4; changes > 0; changes--) {
        switch (seeded_next(state) % 8) {
        case 0:
            copy_stretch(c, state);
            break;
        case 1:
            remove_stretch(c, state);
            break;
        case 2:
            append_bytes(c, state);
            break;
        default:
            change_byte(c, state);
            break;
        }
    }
}

/* The input ends where its block ends, so the address sanitizer sees every read beyond it. The lead keeps the block
 * of an empty input nonempty, and the input aligned like an allocation. */
static void run_current(const struct current *c)
{
    const size_t lead = 16;
    uint8_t *block = malloc(lead + c->size);
    if (!block) {
        abort();
    }
    memcpy(block + lead, c->bytes, c->size);
    (void)LLVMFuzzerTestOneInput(block + lead, c->size);
    free(block);
}

static _Noreturn void run_all(const struct replay *r, const uint8_t *input, size_t size)
{
    struct current *c = r->current;
    for (uint64_t mutation = 0; mutation <= r->mutations; mutation++) {
        uint64_t state = r->seed ^ (mutation << 32);
        c->mutation = mutation;
        c->size = size;
        if (size > 0) {
            memcpy(c->bytes, input, size);
        }
        if (mutation > 0) {
            mutate(c, &state);
        }
        run_current(c);
    }
    exit(0);
}

/* Keeps the bytes that ended the child beside the program, and prints the command to repeat it. */
static void report_end(const struct replay *r, int status)
{
    const struct current *c = r->current;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s-failing-%u", r->program, r->tests);
    FILE *file = fopen(path, "wb");
    bool kept = file && fwrite(c->bytes, 1, c->size, file) == c->size;
    if (file && fclose(file) != 0) {
        kept = false;
    }
    printf("# %s %d at mutation %llu of HX_SEED=%llu\n", WIFSIGNALED(status) ? "killed by signal" : "ended with status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), (unsigned long long)c->mutation,
           (unsigned long long)r->seed);
    if (kept) {
        printf("# to see it again: HX_MUTATIONS=0 %s %s\n", r->program, path);
    }
}

static void replay_input(struct replay *r, const char *name, const uint8_t *input, size_t size)
{
    r->tests++;
    (void)fflush(NULL);
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        run_all(r, input, size);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("replay");
        exit(4);
    }
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %u - %s and %llu mutations\n", good ? "ok" : "not ok", r->tests, name, (unsigned long long)r->mutations);
    if (!good) {
        r->failed++;
        report_end(r, status);
    }
}

static void replay_file(struct replay *r, const char *path)
{
    static uint8_t input[ROOM];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(4);
    }
    size_t size = fread(input, 1, sizeof input, file);
    if (ferror(file)) {
        perror(path);
        exit(4);
    }
    (void)fclose(file);
    replay_input(r, path, input, size);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay_path(struct replay *r, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        if (errno == ENOENT) {
            return; /* a target without stored inputs */
        }
        perror(path);
        exit(4);
    }
    if (!S_ISDIR(about.st_mode)) {
        replay_file(r, path);
        return;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, visible, alphasort);
    for (int i = 0; i < count; i++) {
        char file[4096];
        (void)snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        replay_file(r, file);
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
    struct current *current = mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (current == MAP_FAILED) {
        perror("replay");
        return 4;
    }
    struct replay r = {.current = current,
                       .program = argv[0],
                       .seed = number_from("HX_SEED", 1),
                       .mutations = number_from("HX_MUTATIONS", effort_is_quick() ? 50 : 2000)};
    replay_input(&r, "empty input", NULL, 0);
    for (int i = 1; i < argc; i++) {
        replay_path(&r, argv[i]);
    }
    printf("1..%u\n", r.tests);
    return r.failed == 0 ? 0 : 1;
}
