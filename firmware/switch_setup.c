/* switch_setup.c - initialisation of a switch, and changes of its routes (include/hxmesh/switch.h). */
#include "hal_port.h"
#include "hxmesh/lanes.h"
#include "hxmesh/memory.h"
#include "hxmesh/switch.h"
#include "switch_parts.h"

size_t hx_switch_bytes(unsigned ports, unsigned vcs)
{
    size_t queues = (size_t)vcs * ports;
    size_t words = ports * queues + queues + (HAL_SHARED ? queues * HX_WINDOW / 2 : 0);
    return ports * sizeof(struct hx_input) + words * sizeof(uint64_t) + (queues + 7) / 8 * 8;
}

void hx_switch_init(struct hx_switch *sw, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *hal,
                    void *memory)
{
    memset(memory, 0, hx_switch_bytes(ports, vcs));
    *sw = (struct hx_switch){.hal = hal,
                             .inputs = (uint16_t)ports,
                             .outputs = (uint16_t)ports,
                             .route.vcs = (uint8_t)vcs,
                             .job = job,
                             .first_vc = (uint8_t)(vcs - 1)};
    sw->input = memory;
    sw->candidates = (uint64_t *)(void *)(sw->input + ports);
    sw->requests = sw->candidates + (size_t)ports * vcs * ports;
    uint64_t *behind = sw->requests + (size_t)vcs * ports;
    if (HAL_SHARED) {
        sw->kept = (uint32_t *)(void *)behind;
        behind += (size_t)vcs * ports * HX_WINDOW / 2;
    }
    sw->next_input = (uint8_t *)behind;
    for (unsigned i = 0; i < ports; i++)
        sw->input[i].seen = sw->input[i].tail = hal_consumed(hal, i);
}

void hx_switch_reroute(struct hx_switch *sw)
{
    bool is_accelerator = !sw->route.is_router;
    memset(sw->candidates, 0, (size_t)sw->inputs * sw->route.vcs * sw->outputs * sizeof(uint64_t));
    memset(sw->requests, 0, (size_t)sw->route.vcs * sw->outputs * sizeof(uint64_t));
    memset(sw->wanted, 0, sizeof sw->wanted);
    for (unsigned input = 0; input < sw->inputs; input++) {
        struct hx_input *in = &sw->input[input];
        for (unsigned vc = 0; vc < sw->route.vcs; vc++) {
            uint64_t slots = in->waiting[vc];
            while (slots) {
                uint16_t position = oldest(slots, hx_lane(in->tail, vc));
                slots &= ~slot_bit(position);
                const struct hx_desc *d = hal_arrival(sw->hal, input, vc, position);
                struct hx_heading to = waiting_heading(sw, input, vc, position, d);
                uint64_t ports = candidate_ports_on(sw, input, vc, to, open_to(sw, vc), hx_route_ports, is_accelerator);
                if (ports) {
                    ask_for(sw, input, vc, position, ports);
                } else {
                    let_go(in, vc, position);
                    hal_drop(sw->hal, input, vc, d, HX_DROP_NO_ROUTE);
                }
            }
        }
        release(sw, input);
    }
    hal_commit(sw->hal);
}

unsigned hx_switch_waiting(const struct hx_switch *sw)
{
    unsigned sum = 0;
    for (unsigned input = 0; input < sw->inputs; input++)
        for (unsigned vc = 0; vc < sw->route.vcs; vc++)
            sum += (unsigned)__builtin_popcountll(sw->input[input].waiting[vc]);
    return sum;
}
