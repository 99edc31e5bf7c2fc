/* bench_capture.c - cost of a capture for a live 4x4 Hx2Mesh: its packet rate with a capture, as a share of that
 * without.
 *
 * One worker, so that the capturing process has a core of its own if there are two. Runs with and without take
 * turns, and each is compared with its neighbour. The rate is packet-hops a second of the worker's processor time. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAIRS = 5 };

struct request {
    const char *key, *what, *fabric, *capture;
};

static const struct request requests[] = {
    {"capture_one_port_ratio", "one port, 96 B of each frame", "--no-verify", "--capture-ports a5,3/p0/E --snaplen 96"},
    {"capture_one_port_whole_ratio", "one port, whole frames, payload checked", "--verify",
     "--capture-ports a5,3/p0/E"},
    {"capture_all_ratio", "all 448 ports, 96 B of each frame", "--no-verify", "--snaplen 96"},
};

struct sample {
    double rate, kept; /* packet-hops a second; share of the frames that the tap kept */
};

static struct sample run(const char *fabric, const char *file, const char *capture)
{
    char options[256];
    (void)snprintf(options, sizeof options, "'4x4 Hx2Mesh' -w 1 --message 1MiB -d 1s %s %s%s %s", fabric,
                   file ? "--capture " : "", file ? file : "", file ? capture : "");
    json_t *report = measure_report(measure_run(options));
    const json_t *c = json_object_get(report, "capture");
    double accepted = json_number_value(json_object_get(c, "accepted"));
    double dropped = json_number_value(json_object_get(c, "dropped"));
    struct sample s = {.rate = measure_hops(report), .kept = accepted > 0 ? 1 - dropped / accepted : 0};
    json_decref(report);
    return s;
}

static void measure_capture(json_t *results, const struct request *r, const char *file)
{
    double ratio[PAIRS];
    double kept[PAIRS];
    for (unsigned i = 0; i < PAIRS; i++) {
        struct sample without = run(r->fabric, NULL, NULL);
        struct sample with = run(r->fabric, file, r->capture);
        ratio[i] = without.rate > 0 ? with.rate / without.rate : 0;
        kept[i] = with.kept;
        (void)unlink(file);
    }
    char key[64];
    struct measured m = measure_summary(ratio, PAIRS);
    measure_print(r->what, m, "of the packet rate");
    (void)json_object_set_new(results, r->key, measure_json(m));
    m = measure_summary(kept, PAIRS);
    measure_print("", m, "of the frames kept");
    (void)snprintf(key, sizeof key, "%s_kept", r->key);
    (void)json_object_set_new(results, key, measure_json(m));
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hxmesh-bench-XXXXXX";
    char file[64];
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(file, sizeof file, "%s/run.pcapng", folder);
    json_t *results = json_object();
    printf("capture of a live fabric, 1 worker (median of %d pairs, spread)\n", PAIRS);
    for (unsigned i = 0; i < sizeof requests / sizeof *requests; i++)
        measure_capture(results, &requests[i], file);
    (void)rmdir(folder);
    measure_finish(results, argc, argv);
    return 0;
}
