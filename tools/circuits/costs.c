/* costs.c - what a server costs with its share of a network (costs.h). */
#include "tools/circuits/costs.h"

#include <inttypes.h>
#include <stdio.h>

const struct hx_prices circuits_prices = {.rates = 5,
                                          .rate = {{.gbps = 10, .transceiver = 20, .nic = 185, .port = 94},
                                                   {.gbps = 25, .transceiver = 39, .nic = 185, .port = 144},
                                                   {.gbps = 40, .transceiver = 39, .nic = 354, .port = 144},
                                                   {.gbps = 100, .transceiver = 99, .nic = 678, .port = 187},
                                                   {.gbps = 200, .transceiver = 198, .nic = 815, .port = 374}},
                                          .optical = HX_OPTICAL_ALL,
                                          .metre = 0.30,
                                          .longest = 1000,
                                          .circuit = HX_CIRCUIT_LOOKAHEAD,
                                          .panel = 100,
                                          .ocs = 520,
                                          .flip = 25,
                                          .gbyte_cable = 27.84,
                                          .gbyte_nic = 54.24,
                                          .gbyte_port = 14.96};

void circuits_tree_spec(char text[CIRCUITS_TREE_SPEC], uint32_t hosts, bool tapered)
{
    const unsigned even = tapered ? 4 : 2; /* of a leaf's ports, half lead down */
    unsigned radix = 4;
    while (hx_tree_levels(hosts, radix) == 0)
        radix += even;
    const int used = snprintf(text, CIRCUITS_TREE_SPEC, "fat-tree hosts=%" PRIu32 " radix=%u levels=%d", hosts, radix,
                              CIRCUITS_TREE_LEVELS);
    if (tapered)
        (void)snprintf(text + used, CIRCUITS_TREE_SPEC - (size_t)used, " down=%u up=%u", radix / 2, radix / 4);
}
