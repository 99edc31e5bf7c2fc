/* support_ground.c - shapes, jobs and failures for traffic tests (support_ground.h). */
#include "tests/support/shm/support_ground.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const shapes[] = {"1x1 Hx1Mesh",  "2x1 Hx1Mesh",  "1x1 Hx4Mesh", "3x3 Hx1Mesh", "4x4 Hx2Mesh",
                                     "3x2 H2x4Mesh", "5x3 H3x1Mesh", "2x2 Hx4Mesh", "7x1 H1x2Mesh"};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct ground ground;
static bool open;

void ground_close(void)
{
    if (open)
        fab_destroy(&ground.f);
    open = false;
}

/* Boards fail, and belong to one of two jobs or to none, at random. */
static void spoil(struct hx_spec *spec, bool failures, bool jobs, uint64_t *random)
{
    unsigned boards = hx_spec_boards(spec);
    if (failures)
        spec->failed = hx_allocate(boards, sizeof *spec->failed);
    if (jobs)
        spec->job = hx_allocate(boards, sizeof *spec->job);
    for (unsigned board = 0; board < boards; board++) {
        if (failures)
            spec->failed[board] = seeded_below(random, 4) == 0;
        if (jobs)
            spec->job[board] = (uint16_t)(seeded_below(random, 3) * 1000);
    }
}

void ground_open(const char *shape, unsigned kind)
{
    ground_close();
    struct ground *g = &ground;
    *g = (struct ground){.seed = seeded_by(1) * 100 + kind};
    uint64_t random = g->seed;
    struct hx_spec spec;
    hx_spec_load(shape, NULL, &spec);
    spoil(&spec, kind & 1, kind & 2, &random);
    unsigned a = spec.a;
    unsigned b = spec.b;
    unsigned x = spec.x;
    g->n = spec.a * spec.b * spec.x * spec.y;
    assert_true(g->n <= GROUND_MOST);
    for (unsigned rank = 0; rank < g->n; rank++) {
        unsigned board = rank / (a * x) / b * x + rank % (a * x) / a;
        g->job[rank] = spec.job ? spec.job[board] : 0;
        g->alive[rank] = (!spec.failed || !spec.failed[board]) && (!spec.job || g->job[rank]);
    }
    char name[64];
    (void)snprintf(name, sizeof name, "traffic-%ld", (long)getpid());
    fab_create(&g->f, &spec, &(struct fab_options){.workers = 1, .name = name});
    open = true;
}

void ground_each(void (*test)(const struct ground *g))
{
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (unsigned kind = 0; kind < GROUND_KINDS; kind++) {
            ground_open(shapes[shape], kind);
            test(&ground);
        }
    }
    ground_close();
}

int ground_close_after_failure(void **state)
{
    (void)state;
    if (open)
        print_message("at %s, HX_SEED=%llu\n", ground.f.spec.fabric, (unsigned long long)seeded_by(1));
    ground_close();
    return 0;
}

bool ground_may_talk(const struct ground *g, unsigned from, unsigned to)
{
    return from != to && g->alive[from] && g->alive[to] && g->job[from] == g->job[to];
}

unsigned ground_others(const struct ground *g, unsigned rank)
{
    unsigned sum = 0;
    for (unsigned to = 0; to < g->n; to++)
        sum += ground_may_talk(g, rank, to);
    return sum;
}

struct hx_settings ground_settings(enum hx_pattern pattern, uint64_t seed)
{
    struct hx_settings s = hx_default_settings;
    s.pattern = pattern;
    s.count = GROUND_MESSAGES;
    s.seed = seed;
    return s;
}

struct traffic ground_traffic(const struct ground *g, enum hx_pattern pattern, uint64_t seed, unsigned target)
{
    struct hx_settings s = ground_settings(pattern, seed);
    struct hx_coordinate at = hx_address_of(g->f.g, target);
    s.target = (struct hx_coordinates){1, {{at.addr_hi, at.addr_lo}}};
    struct traffic t;
    traffic_init(&t, &g->f.spec, g->f.g, &s, NULL);
    return t;
}
