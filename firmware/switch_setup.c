/* switch_setup.c - initialisation of a switch, and changes of its routes (include/hxmesh/switch.h). */
#include "hal_port.h"
#include "hxmesh/lanes.h"
#include "hxmesh/memory.h"
#include "hxmesh/switch.h"
#include "switch_route.h"

static size_t rounded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* Returns the length of hx_switch.candidate_row, rounded up to even. */
static size_t row_numbers(size_t queues)
{
    return (queues + (HAL_SHARED ? queues * HX_WINDOW : 0) + 1) & ~(size_t)1;
}

size_t hx_switch_sharing_bytes(unsigned ports, unsigned vcs)
{
    size_t queues = (size_t)vcs * ports;
    return ports * sizeof(struct hx_input) + queues * sizeof(uint64_t) + row_numbers(queues) * sizeof(uint32_t) +
           rounded(queues);
}

size_t hx_switch_bytes(unsigned ports, unsigned vcs)
{
    return hx_switch_sharing_bytes(ports, vcs) + hx_rows_bytes(ports, vcs, 1);
}

void hx_switch_init_sharing(struct hx_switch *sw, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *hal,
                            struct hx_rows *rows, void *memory)
{
    size_t queues = (size_t)vcs * ports;
    *sw = (struct hx_switch){.hal = hal,
                             .inputs = (uint16_t)ports,
                             .outputs = (uint16_t)ports,
                             .route.vcs = (uint8_t)vcs,
                             .job = job,
                             .first_vc = (uint8_t)(vcs - 1),
                             .candidate_rows = rows};
    sw->input = memory;
    sw->requests = (uint64_t *)(void *)(sw->input + ports);
    sw->candidate_row = (uint32_t *)(void *)(sw->requests + queues);
    sw->next_input = (uint8_t *)(sw->candidate_row + row_numbers(queues));
    for (unsigned i = 0; i < ports; i++)
        sw->input[i].seen = sw->input[i].tail = hal_consumed(hal, i);
}

void hx_switch_init(struct hx_switch *sw, unsigned ports, unsigned vcs, uint16_t job, struct hal_switch *hal,
                    void *memory)
{
    uint64_t *own = (uint64_t *)memory + hx_switch_sharing_bytes(ports, vcs) / sizeof(uint64_t);
    hx_switch_init_sharing(sw, ports, vcs, job, hal, (struct hx_rows *)(void *)own, memory);
    for (unsigned queue = 0; queue < vcs * ports; queue++)
        sw->candidate_row[queue] = queue + 1;
}

void hx_switch_reroute(struct hx_switch *sw)
{
    bool is_accelerator = !sw->route.is_router;
    memset(sw->requests, 0, (size_t)sw->route.vcs * sw->outputs * sizeof(uint64_t));
    memset(sw->wanted, 0, sizeof sw->wanted);
    for (unsigned input = 0; input < sw->inputs; input++) {
        struct hx_input *in = &sw->input[input];
        for (unsigned vc = 0; vc < sw->route.vcs; vc++) {
            uint64_t slots = in->waiting[vc];
            if (slots)
                memset(hx_switch_candidates(sw, input, vc), 0, sw->outputs * sizeof(uint64_t));
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
                    give_row(sw, input, vc);
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
