/* fuzz_circuits.c - any text as a plan of circuits: it is refused with a one-line error and leaves the schedule empty,
 * or its lines close links, in order, all hosts stay joined, and the order of routers is found or refused in one line.
 * libFuzzer's entry; seeds in corpus/circuits. */
#include "spec/circuits/circuits.h"
#include "tests/fuzz/fuzz.h"
#include "topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Names with hyphens, and two links between a pair. It is made once. */
static struct hx_fabric *fabric(void)
{
    static struct hx_fabric made;
    static const char graph[] = "forward a\nforward a-b\nforward b\nforward c\n"
                                "a,b\na,b\nb,c\nc,a\na,a-b\na-b,c\na-b,b\n";
    struct hx_problem problem;
    if (!made.hosts)
        require(hx_fabric_make_told(&made, "graph g.csv", 2,
                                    &(struct hx_graph_text){.bytes = graph, .length = sizeof graph - 1}, &problem));
    return &made;
}

static void require_closings(const struct hx_faults *faults, const struct hx_fabric *f)
{
    for (size_t i = 0; i < faults->count; i++) {
        struct hx_problem problem;
        struct hx_fault again;
        const struct hx_fault *fault = &faults->fault[i];
        require(fault->kind == HX_FAULT_CLOSED && fault->target.place == HX_PLACE_LINK);
        require(i == 0 || fault->at_ns >= faults->fault[i - 1].at_ns);
        require(hx_fault_parse(&again, fault->text, f, &problem));
        require(again.at_ns == fault->at_ns && again.for_ns == fault->for_ns &&
                again.target.port == fault->target.port);
    }
}

static bool is_closed(const uint64_t *closed, uint32_t node, unsigned port)
{
    return closed[node] >> port & 1;
}

static void require_joined(void *of, uint64_t at_ns, const uint64_t *closed)
{
    const struct hx_fabric *f = of;
    bool *reached = calloc(f->nodes, sizeof *reached);
    bool more = true;
    require(reached != NULL && at_ns <= HX_MOST_FAULT_TIME);
    reached[0] = true;
    while (more) {
        more = false;
        for (uint32_t node = 0; node < f->nodes; node++)
            for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
                const struct hx_end far = hx_fabric_far(f, node, port);
                if (reached[node] && far.node != HX_NOWHERE && !reached[far.node] && !is_closed(closed, node, port) &&
                    !is_closed(closed, far.node, far.port))
                    reached[far.node] = more = true;
            }
    }
    for (uint32_t host = 0; host < f->hosts; host++)
        require(reached[host]);
    free(reached);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    struct hx_faults faults = {.count = 0};
    struct hx_problem problem = {.what = ""};
    int file = memfd_create("plan", MFD_CLOEXEC);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool good = hx_circuits_read(&faults, path, fabric(), &problem);
    (void)close(file);
    if (good) {
        require_closings(&faults, fabric());
        hx_circuits_each_state(fabric(), &faults, require_joined, fabric());
    }
    if (!good || !hx_circuits_order(fabric(), &faults, &problem))
        require(problem.exit_code != 0 && problem.what[0] != '\0' && !strchr(problem.what, '\n'));
    require(good || faults.count == 0);
    hx_faults_free(&faults);
    return 0;
}
