/* filter.c - compiles and runs filters with libpcap (filter.h). */
#include "fabric-emu/capture/filter.h"
#include "hal/tap_ring.h"

#include <stdlib.h>
#include <string.h>

static bool keep(struct capture_filter *f, const struct bpf_program *compiled)
{
    _Static_assert(sizeof *f->program == 8, "an instruction is 8 bytes, as hal/tap_ring.h has room for");
    f->count = compiled->bf_len;
    f->program = hx_allocate(f->count, sizeof *f->program);
    memcpy(f->program, compiled->bf_insns, f->count * sizeof *f->program);
    return true;
}

bool capture_filter_compile(struct capture_filter *f, const char *text, const char *option, struct hx_problem *problem)
{
    *f = (struct capture_filter){.count = 0};
    if (!text || !*text)
        return true;
    pcap_t *pcap = pcap_open_dead(DLT_EN10MB, HX_TAP_MOST_SNAPLEN);
    if (!pcap)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "no memory to compile a filter");
    struct bpf_program compiled = {0};
    bool good = pcap_compile(pcap, &compiled, text, 1, PCAP_NETMASK_UNKNOWN) == 0;
    if (!good)
        (void)hx_fail(problem, HX_EXIT_USAGE, option, "'%s': %s", text, pcap_geterr(pcap));
    else if (compiled.bf_len > HX_TAP_MOST_PROGRAM)
        good = hx_fail(problem, HX_EXIT_USAGE, option, "the filter is too long");
    else
        good = keep(f, &compiled);
    pcap_freecode(&compiled);
    pcap_close(pcap);
    return good;
}

bool capture_filter_passes(const struct capture_filter *f, const uint8_t *frame, uint32_t captured, uint32_t original)
{
    return f->count == 0 || bpf_filter(f->program, frame, original, captured) != 0;
}

void capture_filter_free(struct capture_filter *f)
{
    free(f->program);
    f->program = NULL;
}
