/* test_deferred.c - messages that wait for a send of their hosts (fabric-emu/live/deferred.h): each goes when its
 * host has one free, in order per host, and none delays other hosts. */
#include "fabric-emu/live/deferred.h"
#include "tests/support/support_seed.h"

#include <string.h>

enum { HOSTS = 5, MOST_OF_ONE = 8 };

/* Hosts, and the free sends of each. */
struct world {
    struct deferred deferred;
    unsigned room[HOSTS];
    uint64_t put[HOSTS], gone[HOSTS]; /* messages; each host's are numbered from 0 */
};

static bool takes(void *of, const struct workload_message *m)
{
    struct world *w = of;
    if (!w->room[m->to])
        return false;
    w->room[m->to]--;
    assert_int_equal(m->number, w->gone[m->to]);
    assert_int_equal(m->tag, 100 + m->to);
    w->gone[m->to]++;
    return true;
}

static unsigned waiting(const struct world *w)
{
    unsigned sum = 0;
    for (unsigned host = 0; host < HOSTS; host++)
        sum += (unsigned)(w->put[host] - w->gone[host]);
    return sum;
}

static void put_some(struct world *w, uint64_t *random)
{
    while (w->deferred.count < WORKLOAD_SENDS && seeded_below(random, 8)) {
        uint32_t to = (uint32_t)seeded_below(random, HOSTS);
        if (w->put[to] - w->gone[to] == MOST_OF_ONE)
            continue;
        deferred_put(&w->deferred, &(struct workload_message){.to = to, .tag = 100 + to, .number = w->put[to]++});
    }
}

static void each_message_goes_when_its_host_has_a_free_send(void **state)
{
    (void)state;
    enum { RUNS = 100, STEPS = 300 };
    for (uint64_t run = 0; run < RUNS; run++) {
        seeded_run = seeded_by(1) + run;
        uint64_t random = seeded_run;
        struct world w = {.put = {0}};
        for (unsigned step = 0; step < STEPS; step++) {
            put_some(&w, &random);
            for (unsigned host = 1; host < HOSTS; host++) /* the first never has one */
                w.room[host] = (unsigned)seeded_below(&random, 3);
            deferred_each(&w.deferred, takes, &w);
            assert_int_equal(w.deferred.count, waiting(&w));
            for (unsigned host = 0; host < HOSTS; host++)
                assert_true(!w.room[host] || w.put[host] == w.gone[host]);
        }
        assert_int_equal(w.gone[0], 0);
        deferred_free(&w.deferred);
    }
    seeded_run = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_message_goes_when_its_host_has_a_free_send, seeded_report)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
