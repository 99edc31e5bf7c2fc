/* bench_sim.c - messages a second through libhxmesh-sim: bench_sim SPEC BYTES ROUNDS.
 *
 * Each host sends to the one 1, 2, ... ROUNDS places after it, all posted at the begin, as the schedule that is printed
 * with `bench_sim SPEC BYTES ROUNDS schedule` does. Prints messages a second of processor time, without the opening. */
#include <hxmesh/sim.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_schedule(uint32_t hosts, uint64_t bytes, uint32_t rounds)
{
    printf("num_ranks %" PRIu32 "\n", hosts);
    for (uint32_t rank = 0; rank < hosts; rank++) {
        printf("rank %" PRIu32 " {\n", rank);
        for (uint32_t r = 1; r <= rounds; r++)
            printf("s%" PRIu32 ": send %" PRIu64 "b to %" PRIu32 " tag %" PRIu32 "\nr%" PRIu32 ": recv %" PRIu64
                   "b from %" PRIu32 " tag %" PRIu32 "\n",
                   r, bytes, (rank + r) % hosts, r, r, bytes, (rank + hosts - r % hosts) % hosts, r);
        puts("}");
    }
}

int main(int argc, char **argv)
{
    char error[HX_SIM_TEXT];
    struct hx_sim *f = argc > 3 ? hx_sim_open(argv[1], NULL, error) : NULL;
    if (!f) {
        (void)fprintf(stderr, "bench_sim: %s\n", argc > 3 ? error : "bench_sim SPEC BYTES ROUNDS");
        return 2;
    }
    const uint32_t hosts = hx_sim_hosts(f);
    const uint64_t bytes = strtoull(argv[2], NULL, 10);
    const uint32_t rounds = (uint32_t)strtoul(argv[3], NULL, 10);
    struct hx_sim_event e;
    uint64_t messages = 0;
    if (argc > 4) {
        print_schedule(hosts, bytes, rounds);
        hx_sim_close(f);
        return 0;
    }
    const double begin = seconds();
    for (uint32_t r = 1; r <= rounds; r++)
        for (uint32_t host = 0; host < hosts; host++)
            (void)hx_sim_send(f, host, (host + r) % hosts, bytes, r, 0);
    while (hx_sim_next(f, HX_SIM_NEVER, &e) == HX_SIM_EVENT)
        messages += e.type == HX_SIM_DELIVERED;
    const double took = seconds() - begin;
    printf("%" PRIu64 " messages, %.0f a second, %.9f s simulated\n", messages, (double)messages / took,
           (double)hx_sim_now(f) * 1e-12);
    hx_sim_close(f);
    return 0;
}
