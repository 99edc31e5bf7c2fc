/* random_calls.c - random calls of libhxmesh-sim: random_calls FIRST_SEED COUNT.
 *
 * Whatever is called: time never decreases, each message ends once, nothing is corrupted, and a run to its end is
 * complete. Prints the seed and what was wrong, and exits with 1. */
#include <hxmesh/sim.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300 };

struct play {
    struct hx_sim *f;
    uint64_t random, seed;
    uint64_t now;          /* ps: time of the last call */
    uint64_t sent, ended;  /* messages */
    const char *option[9]; /* NULL at the end */
};

static uint32_t draw(struct play *p, uint32_t below)
{
    p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(p->random >> 33) % below;
}

_Noreturn static void fail(const struct play *p, const char *what)
{
    printf("seed %" PRIu64 ": %s: %s\n", p->seed, what, p->f ? hx_sim_error(p->f) : "");
    exit(1);
}

/* ---- opening ---- */

static void draw_options(struct play *p)
{
    static const char *const words[][2] = {
        {"--planes", "2"}, {"--train", "4"}, {"--failures", "1"}, {"--fault", "all loss=1% at 1us for 20us"}};
    unsigned n = 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (draw(p, 4))
            continue;
        p->option[n++] = words[i][0];
        p->option[n++] = words[i][1];
    }
    if (draw(p, 3) == 0)
        p->option[n++] = "--verify";
    p->option[n] = NULL;
}

static bool open_fabric(struct play *p)
{
    static const char *const fabrics[] = {
        "2x2 Hx2Mesh",  "Ring(4)_FC(4)", "torus 4x4", "fat-tree hosts=16 taper=2", "slim-fly q=5",
        "4x1 H2x4Mesh", "1x1 Hx2Mesh",   "Ring(2)",   "dragonfly a=4 p=2 h=2"};
    char error[HX_SIM_TEXT] = "";
    draw_options(p);
    p->f = hx_sim_open(fabrics[draw(p, sizeof fabrics / sizeof *fabrics)], p->option, error);
    if (!p->f && (error[0] == '\0' || strchr(error, '\n')))
        fail(p, "an error that is no line");
    return p->f;
}

/* ---- calls ---- */

static void post_message(struct play *p)
{
    const uint32_t hosts = hx_sim_hosts(p->f);
    const uint32_t from = draw(p, hosts + (draw(p, 20) == 0)); /* at times no host */
    p->sent +=
        hx_sim_send(p->f, from, draw(p, hosts), draw(p, 3) ? draw(p, 100000) : 0, draw(p, 100), p->sent) == HX_SIM_OK;
}

static void post_collective(struct play *p)
{
    static const char *const kinds[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast",
                                        "reduce",     "gather",     "scatter",        "barrier",    "nothing"};
    const uint32_t hosts = hx_sim_hosts(p->f);
    const uint32_t size = draw(p, hosts) + 1;
    const uint32_t first = draw(p, hosts);
    uint32_t *group = malloc(size * sizeof *group);
    if (!group)
        fail(p, "out of memory");
    for (uint32_t i = 0; i < size; i++)
        group[i] = (first + i) % hosts;
    if (hx_sim_collective(p->f, kinds[draw(p, 10)], group, size, draw(p, 100000), draw(p, 2) ? NULL : "ring", 9) ==
        HX_SIM_BROKEN)
        fail(p, "a collective");
    free(group);
}

static int take(struct play *p, uint64_t until)
{
    struct hx_sim_event e;
    const int result = hx_sim_next(p->f, until, &e);
    if (result < 0)
        fail(p, "the next event");
    if (hx_sim_now(p->f) < p->now || (result == HX_SIM_EVENT && e.time != hx_sim_now(p->f)))
        fail(p, "time goes back");
    p->now = hx_sim_now(p->f);
    const bool ends = result == HX_SIM_EVENT && (e.type == HX_SIM_ACKNOWLEDGED || e.type == HX_SIM_FAILED);
    p->ended += ends && e.from != UINT32_MAX;
    return result;
}

static void call(struct play *p)
{
    switch (draw(p, 8)) {
    case 0:
        (void)hx_sim_timer(p->f, draw(p, 2) ? draw(p, hx_sim_hosts(p->f)) : HX_SIM_NO_HOST, p->now + draw(p, 3000000),
                           1);
        break;
    case 1:
        if (draw(p, 3) == 0)
            post_collective(p);
        break;
    case 2:
        (void)take(p, p->now + draw(p, 2000000));
        break;
    case 3:
    case 4:
        (void)take(p, HX_SIM_NEVER);
        break;
    default:
        post_message(p);
    }
}

static void run_to_end(struct play *p)
{
    int result;
    do
        result = take(p, HX_SIM_NEVER);
    while (result == HX_SIM_EVENT);
    if (p->sent != p->ended)
        fail(p, "messages are left");
    const char *report = draw(p, 2) ? hx_sim_report(p->f) : "\"complete\": true, \"bytes_corrupted\": 0,";
    if (!report || !strstr(report, "\"complete\": true") || !strstr(report, "\"bytes_corrupted\": 0,"))
        fail(p, "the report");
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct play p = {.random = seed * 7919 + 1, .seed = seed};
        if (!open_fabric(&p))
            continue;
        for (unsigned i = 0; i < STEPS; i++)
            call(&p);
        if (draw(&p, 3))
            run_to_end(&p);
        hx_sim_close(p.f);
    }
    puts("nothing wrong");
    return 0;
}
