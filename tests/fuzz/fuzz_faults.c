/* fuzz_faults.c - any text as a fault schedule: a line is refused with a one-line error, or the schedule is in
 * order, reads back from its own text, and gives each link its changes in turn. libFuzzer's entry; seeds in
 * corpus/faults. */
#include "spec/faults/faults.h"
#include "tests/fuzz/fuzz.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1024 };

/* Two fabrics: of boards and of groups. They are made once. */
static const struct hx_fabric *fabric_of(unsigned which)
{
    static struct hx_fabric made[2];
    static const char *const texts[2] = {"2x2 Hx2Mesh", "fat-tree hosts=8 radix=8"};
    struct hx_problem problem;
    if (!made[which].hosts)
        require(hx_fabric_make(&made[which], texts[which], 2, &problem));
    return &made[which];
}

static void require_in_turn(const struct hx_faults *faults, const struct hx_fabric *f)
{
    for (uint32_t node = 0; node < f->nodes; node++) {
        size_t count = 0;
        struct hx_link_change *change = hx_faults_of_link(faults, f, node % 2, node, 0, &count);
        for (size_t i = 0; i < count; i++) {
            require(change[i].fault < faults->count && (i == 0 || change[i].at_ns > change[i - 1].at_ns));
            require(!change[i].state.down || faults->fault[change[i].fault].kind != HX_FAULT_CLOSED);
            require(change[i].state.impairs.loss <= HX_FAULT_WHOLE && change[i].state.impairs.rate <= HX_FAULT_WHOLE);
        }
        free(change);
    }
}

static void require_sound(const struct hx_faults *faults, const struct hx_fabric *f)
{
    for (size_t i = 0; i < faults->count; i++) {
        struct hx_problem problem;
        struct hx_fault again;
        const struct hx_fault *fault = &faults->fault[i];
        require(i == 0 || fault->at_ns >= faults->fault[i - 1].at_ns);
        require(memchr(fault->text, '\0', sizeof fault->text) != NULL);
        require(hx_fault_parse(&again, fault->text, f, &problem));
        require(again.kind == fault->kind && again.at_ns == fault->at_ns && again.for_ns == fault->for_ns);
    }
    require_in_turn(faults, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST + 1] = "";
    struct hx_faults faults = {.seed = 1};
    struct hx_problem problem = {.what = ""};
    if (size == 0)
        return 0;
    const struct hx_fabric *f = fabric_of(data[0] % 2);
    memcpy(text, data + 1, size - 1 < LONGEST ? size - 1 : LONGEST);
    if (hx_faults_add(&faults, text, "schedule", f, &problem))
        require_sound(&faults, f);
    else
        require(problem.exit_code != 0 && problem.what[0] != '\0' && !strchr(problem.what, '\n'));
    hx_faults_free(&faults);
    return 0;
}
