/* prop_stray.c - stray stores into the shared memory of a running fabric, by a process that maps it. No foreign
 * process is killed, the run ends in bounded time, a report of success is true, and nothing is left behind. HX_SEED,
 * HX_CASES: other and more cases. */
#include "base/clock.h"
#include "fabric-emu/live/session.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "workload/random.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    CASES = 12,
    MOST_WORDS = 4,  /* stores of a case */
    PATIENCE_S = 20, /* the run is interrupted after this; messages without a path fail after some seconds */
    END_S = 15,
    WORKERS = 2,
    MESSAGES = 30,
    UNTRUE = 99
};
static const char fabric[] = "2x2 Hx2Mesh";
static const uint64_t message = 64 << 10;

static struct {
    uint64_t seed, drawn;
    char name[64];
    pid_t run, bystander;
    struct fab_fabric plan; /* the same layout under another name, to find addresses */
    struct shm_arena arena;
} t;

static uint64_t draw(void)
{
    return random_of(t.seed, 5, t.drawn++);
}

static void pause_ms(unsigned ms)
{
    const struct timespec wait = {.tv_nsec = ms * 1000000L};
    (void)nanosleep(&wait, NULL);
}

/* ---- the run, in a process of its own ---- */

static struct hx_spec spec_of(void)
{
    struct hx_spec spec;
    const struct hx_overrides none = {.planes = 0};
    hx_spec_load(fabric, &none, &spec);
    return spec;
}

static bool is_true(const struct result *r)
{
    uint64_t all = (uint64_t)r->g->hosts * (r->g->hosts - 1) * MESSAGES;
    uint64_t packets = message / HX_MAX_PAYLOAD;
    const uint64_t most_ns = UINT64_C(100000000000); /* of all times and durations */
    uint64_t drops = 0;
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        drops = r->drops[reason] > most_ns ? r->drops[reason] : drops;
    return r->sum.messages_received == all && r->messages_begun == all && r->sum.messages_failed == 0 &&
           r->bytes_corrupted == 0 && r->sum.bytes_delivered == all * message &&
           r->sum.packets_delivered == all * packets && r->outcome.buffers_missing == 0 && r->max_vc < HX_VCS &&
           r->latency.most < most_ns && fab_histogram_mean(&r->latency) < most_ns && r->cpu_seconds < 100 &&
           r->packet_hops < most_ns && drops < most_ns;
}

static _Noreturn void run_fabric(void)
{
    struct session s;
    struct hx_spec spec = spec_of();
    struct hx_settings settings = hx_default_settings;
    settings.message = message;
    settings.count = MESSAGES;
    (void)freopen("/dev/null", "w", stderr);
    session_open_traffic(&s, &spec, &(struct fab_options){.workers = WORKERS, .name = t.name, .quiet = true}, &settings,
                         NULL);
    session_run_traffic(&s, true, true);
    int code = session_exit_code(&s);
    if (code == HX_EXIT_DONE && !is_true(&s.result))
        code = UNTRUE;
    session_close(&s);
    exit(code);
}

/* ---- targets ---- */

struct region {
    const char *name;
    const void *at;
    size_t bytes;
};

static struct region choose_region(void)
{
    const struct fab_fabric *f = &t.plan;
    const struct region all[] = {
        {"metrics head", f->metrics.head, 256},
        {"head", f->head, 64},
        {"control", f->control, 64},
        {"an area", &f->area[draw() % WORKERS], offsetof(struct fab_area, drops)},
        {"an area", &f->area[draw() % WORKERS], 2 * 64},
        {"a record", &f->area[draw() % WORKERS].redo, 512},
        {"drops", &f->area[draw() % WORKERS].drops, sizeof f->area->drops},
        {"an accelerator", &f->accelerator[draw() % f->g->hosts], 128},
        {"job counts", f->job, f->jobs.slots * sizeof *f->job},
        {"metrics", &f->metrics.worker[draw() % WORKERS], sizeof *f->metrics.worker},
        {"ring indices", fab_ring(f, draw() % WORKERS, draw() % WORKERS), 2 * 64},
        {"rings", f->rings, WORKERS * WORKERS * f->ring_bytes},
        {"link indices", f->link_base + draw() % (f->g->planes * f->layout.links) * f->link_bytes, 2 * 64},
        {"links", f->link_base, (size_t)f->g->planes * f->layout.links * f->link_bytes},
        {"frames", f->buffers, (size_t)WORKERS * f->per_home * sizeof *f->buffers},
    };
    return all[draw() % (sizeof all / sizeof *all)];
}

/* No half of the values is a process of this test, in case a pid is read from there again. */
static uint64_t choose_value(uint64_t old)
{
    const uint64_t bystander = (uint32_t)t.bystander | (uint64_t)(uint32_t)t.bystander << 32;
    switch (draw() % 6) {
    case 0:
        return 0;
    case 1:
        return UINT64_C(0x7FFFFFFF7FFFFFFF);
    case 2:
        return draw() | UINT64_C(0x4000000040000000);
    case 3:
        return draw() % 4;
    case 4:
        return old ^ (uint64_t)1 << draw() % 64;
    default:
        return draw() % 2 ? bystander : bystander << 32;
    }
}

static const char *hit_a_word(void)
{
    const struct region region = choose_region();
    size_t first = (size_t)((const uint8_t *)region.at - t.plan.arena.base);
    volatile uint64_t *word =
        (volatile uint64_t *)(void *)(t.arena.base + first + draw() % (region.bytes / sizeof *word) * sizeof *word);
    *word = choose_value(*word);
    return region.name;
}

/* ---- a case ---- */

static void start_run(void)
{
    (void)fflush(NULL);
    t.run = fork();
    assert_true(t.run >= 0);
    if (t.run == 0)
        run_fabric();
    double end = hx_monotonic_seconds() + PATIENCE_S;
    while (shm_arena_attach(&t.arena, t.name, t.plan.arena.bytes) != 0) {
        assert_true(hx_monotonic_seconds() < end);
        pause_ms(1);
    }
    const struct hx_metrics_head *head = (const struct hx_metrics_head *)(const void *)t.arena.base;
    while (atomic_load(&head->phase) == HX_PHASE_STARTING && hx_monotonic_seconds() < end)
        pause_ms(1);
}

/* Wait status of the run; -1: it did not end in time. */
static int await_end(double seconds)
{
    int status = 0;
    for (double end = hx_monotonic_seconds() + seconds; hx_monotonic_seconds() < end; pause_ms(5)) {
        if (waitpid(t.run, &status, WNOHANG) == t.run)
            return status;
    }
    return -1;
}

static bool is_alive(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

static void hit_some(char *hit, size_t bytes)
{
    pause_ms((unsigned)(draw() % 60));
    for (uint64_t words = 1 + draw() % MOST_WORDS; words; words--) {
        size_t used = strlen(hit);
        (void)snprintf(hit + used, bytes - used, "%s%s", used ? ", " : "", hit_a_word());
        pause_ms((unsigned)(draw() % 10));
    }
}

/* Words that end a run, or decide on its result. */
static void hit_one(const void *at, uint64_t value, bool half)
{
    uint8_t *to = t.arena.base + ((const uint8_t *)at - t.plan.arena.base);
    pause_ms(30);
    if (half)
        *(volatile uint32_t *)(void *)to = (uint32_t)value;
    else
        *(volatile uint64_t *)(void *)to = value;
}

struct decisive {
    const char *name; /* NULL: random */
    const void *at;
    uint64_t value;
    bool half;
};

static void hit_randomly(unsigned number, const struct decisive *word)
{
    char hit[200] = "";
    t.drawn = (uint64_t)number << 32;
    (void)snprintf(t.name, sizeof t.name, "stray-%ld-%u", (long)getpid(), number);
    start_run();
    if (word)
        hit_one(word->at, word->value, word->half);
    else
        hit_some(hit, sizeof hit);
    if (word)
        (void)snprintf(hit, sizeof hit, "%s", word->name);
    double began = hx_monotonic_seconds();
    int status = await_end(PATIENCE_S);
    bool interrupted = status < 0;
    if (interrupted) {
        (void)kill(t.run, SIGINT);
        status = await_end(END_S);
    }
    print_message("case %u: %s: %s %d after %.1f s%s\n", number, hit, WIFEXITED(status) ? "ended with" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), hx_monotonic_seconds() - began,
                  interrupted ? ", interrupted" : "");
    if (status < 0) {
        (void)kill(t.run, SIGKILL);
        fail_msg("seed %llu, case %u: %s: the run did not end", (unsigned long long)t.seed, number, hit);
    }
    shm_arena_close(&t.arena, false);
    char path[160];
    (void)snprintf(path, sizeof path, "/dev/shm/" SHM_PREFIX "%s", t.name);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == UNTRUE || !is_alive(t.bystander) || access(path, F_OK) == 0)
        fail_msg("seed %llu, case %u: %s: status %#x%s%s", (unsigned long long)t.seed, number, hit, (unsigned)status,
                 is_alive(t.bystander) ? "" : ", a bystander is dead",
                 access(path, F_OK) == 0 ? ", memory is left" : "");
}

static void stray_stores(void **state)
{
    (void)state;
    const char *cases = getenv("HX_CASES");
    supervisor_block_signals();
    t.seed = seeded_by(1);
    struct hx_spec spec = spec_of();
    char plan[64];
    (void)snprintf(plan, sizeof plan, "stray-%ld", (long)getpid());
    fab_create(&t.plan, &spec, &(struct fab_options){.workers = WORKERS, .name = plan, .quiet = true});
    t.bystander = fork();
    assert_true(t.bystander >= 0);
    while (t.bystander == 0)
        (void)pause();
    const struct fab_fabric *f = &t.plan;
    const uint64_t huge = UINT64_C(0x4000000040000000);
    const struct decisive words[] = {
        {"messages begun", &f->accelerator[3].issued, huge, false},
        {"no messages begun", &f->accelerator[4].issued, 0, false},
        {"a message under way", &f->accelerator[5].flying[2], huge, false},
        {"packets delivered", &f->accelerator[6].stats.packets_delivered, huge, false},
        {"drops", &f->area[1].drops[HX_DROP_STALE], huge, false},
        {"a VC", &f->area[0].max_vc, 77, true},
        {"a latency", &f->job[0].latency.most, huge, false},
        {"a sum of latencies", &f->job[0].latency.sum, huge, false},
        {"processor time", &f->metrics.worker[1].cpu_ns, huge, false},
        {"a link's packets", &f->metrics.link[2].packets, huge, false},
        {"the phase", &f->control->phase, FAB_STOPPING, true},
        {"another phase", &f->control->phase, FAB_STARTING, true},
        {"a worker's state", &f->area[1].state, FAB_WORKER_DOWN, true},
        {"a worker done", &f->area[1].state, FAB_WORKER_DONE, true},
        {"who is gone", &f->control->gone, 3, false},
        {"when it began", &f->control->started_ns, huge, false},
        {"a record", &f->area[0].redo.count, 100, false},
    };
    enum { WORDS = sizeof words / sizeof *words };
    unsigned number = WORDS;
    for (unsigned n = 0; n < effort_few(WORDS / 2, WORDS); n++)
        hit_randomly(effort_case(n, WORDS), &words[effort_case(n, WORDS)]);
    for (unsigned long i = 0; i < (cases ? strtoul(cases, NULL, 0) : effort(CASES)); i++)
        hit_randomly(number++, NULL);
    (void)kill(t.bystander, SIGKILL);
    (void)waitpid(t.bystander, NULL, 0);
    fab_destroy(&t.plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stray_stores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
