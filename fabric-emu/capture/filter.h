/* filter.h - filters in the language of tcpdump, compiled by libpcap for Ethernet frames. */
#ifndef CAPTURE_FILTER_H
#define CAPTURE_FILTER_H

#include "base/error.h"

#include <pcap/pcap.h>
#include <stdint.h>

struct capture_filter {
    struct bpf_insn *program;
    uint32_t count; /* of instructions; 0: all frames pass */
};

/* Compiles a filter; NULL or empty text passes all frames. Returns false if it is not a filter; the problem names
 * `option`. */
bool capture_filter_compile(struct capture_filter *f, const char *text, const char *option, struct hx_problem *problem);
bool capture_filter_passes(const struct capture_filter *f, const uint8_t *frame, uint32_t captured, uint32_t original);
void capture_filter_free(struct capture_filter *f);

#endif
