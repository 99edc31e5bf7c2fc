/* bench_auth_tag.c - cost of a frame's authentication tag for its sender and its receiver, in cycles of the
 * processor's counter (hxmesh/auth_tag.h), for the shortest packet and a full one. */
#include "clock.h"
#include "hal/cable/cable.h"
#include "hal/wire/wire.h"
#include "measure.h"

#include <stdio.h>

enum { FRAMES = 20000, BLOCKS = 512 };

struct size {
    const char *key, *what;
    uint32_t length; /* of payload */
};

static const struct size sizes[] = {{"seal_64", "packet of 64 B", 0},
                                    {"seal_8256", "packet of 8,256 B", HX_MAX_PAYLOAD}};

static uint8_t frame[WIRE_MAX_FRAME];

/* Opens a session between two ends. */
static void meet(struct cable_end *a, struct cable_end *b)
{
    uint8_t credit[CABLE_CREDIT_BYTES];
    struct hx_desc d;
    for (uint64_t now = 1; !a->link.open || !b->link.open; now++) {
        (void)cable_take(b, credit, cable_credit_write(a, credit), &d);
        cable_credit_sent(a, now);
        (void)cable_take(a, credit, cable_credit_write(b, credit), &d);
        cable_credit_sent(b, now);
    }
}

static void prepare(struct cable_end ends[2], const struct hx_auth_key *key)
{
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = (struct cable_end){.random = i + 1, .key = key};
        cable_begin(&ends[i], HX_MESH_VCS, BLOCKS, BLOCKS);
    }
    meet(&ends[0], &ends[1]);
}

static uint64_t taken;

/* Cycles a frame: [0] to write a tag, [1] to check it. */
static void measure_frames(struct cable_end ends[2], uint32_t length, double cycles[2])
{
    struct hx_header h;
    uint64_t ticks[2] = {0, 0};
    for (unsigned n = 0; n < FRAMES; n++) {
        uint64_t start = shm_clock_ticks();
        if (ends[0].key)
            cable_authenticate(&ends[0], frame, length);
        uint64_t authenticated = shm_clock_ticks();
        taken += cable_validate(&ends[1], frame, cable_bytes(&ends[0], length), &h) == CABLE_DATA;
        ticks[0] += authenticated - start;
        ticks[1] += shm_clock_ticks() - authenticated;
    }
    for (unsigned i = 0; i < 2; i++)
        cycles[i] = (double)ticks[i] / FRAMES;
}

static void measure_size(json_t *results, const struct size *size, const struct hx_auth_key *key)
{
    static const char *const steps[2] = {"sealed", "judged"};
    const struct hx_header h = {
        .credit_vc = HX_NO_CREDIT, .kind = HX_DATA, .message_packets = 1, .length = (uint16_t)size->length, .epoch = 1};
    double runs[2][MEASURE_RUNS];
    struct cable_end ends[2];
    prepare(ends, key);
    hx_frame_encode(frame, &h);
    for (unsigned run = 0; run < MEASURE_RUNS; run++) {
        double cycles[2];
        measure_frames(ends, size->length, cycles);
        runs[0][run] = cycles[0];
        runs[1][run] = cycles[1];
    }
    for (unsigned step = key ? 0 : 1; step < 2; step++) {
        char name[64];
        struct measured m = measure_summary(runs[step], MEASURE_RUNS);
        (void)snprintf(name, sizeof name, "%s %s%s", size->what, steps[step], key ? "" : ", no key");
        measure_print(name, m, "cycles");
        (void)snprintf(name, sizeof name, "%s_%s%s", size->key, steps[step], key ? "" : "_no_key");
        (void)json_object_set_new(results, name, measure_json(m));
    }
}

int main(int argc, char **argv)
{
    static const struct hx_auth_key key = {{1, 2}};
    json_t *results = json_object();
    printf("seals (median of %d runs of %d frames, spread)\n", MEASURE_RUNS, FRAMES);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        measure_size(results, &sizes[i], NULL);
        measure_size(results, &sizes[i], &key);
    }
    if (taken != (uint64_t)4 * MEASURE_RUNS * FRAMES) {
        (void)fprintf(stderr, "bench_seal: only %llu frames were taken\n", (unsigned long long)taken);
        return 1;
    }
    measure_finish(results, argc, argv);
    return 0;
}
