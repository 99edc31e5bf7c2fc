/* support_endpoint.c - a trial of endpoints and its gate (support_endpoint.h). */
#include "tests/support/loopback/support_endpoint.h"
#include "hxmesh/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct cloud cloud;
struct trial_gate gate;

struct hx_endpoint_config trial_config(unsigned planes)
{
    return (struct hx_endpoint_config){.plane_set = (uint8_t)((1U << planes) - 1),
                                       .sends = 8,
                                       .window = (uint8_t)hx_peer_window(planes),
                                       .epoch = 1,
                                       .retries = RETRIES,
                                       .check = true,
                                       .job = JOB,
                                       .timeout_ns = TIMEOUT_TURNS * CLOUD_TURN,
                                       .least_ns = TIMEOUT_TURNS * CLOUD_TURN,
                                       .most_ns = 16 * TIMEOUT_TURNS * CLOUD_TURN,
                                       .unreachable_ns = UNREACHABLE_TURNS * CLOUD_TURN};
}

void trial_start(unsigned ends, unsigned planes)
{
    struct hx_endpoint_config config = trial_config(planes);
    cloud_init(&cloud, ends, &config, LOOPBACK_MAX_BLOCKS, 1);
}

unsigned trial_send(unsigned from, unsigned to, uint64_t bytes)
{
    int number = cloud_send(&cloud, from, to, bytes);
    assert_true(number >= 0);
    return (unsigned)number;
}

const struct message *trial_message(unsigned number)
{
    return &cloud.messages.list[number];
}

void trial_turns(unsigned count)
{
    while (count-- > 0)
        cloud_step(&cloud);
}

void trial_finish(void)
{
    assert_true(cloud_run(&cloud, LONG));
    messages_validate_all_through(&cloud.messages);
}

/* ---- the gate ---- */

struct hx_header trial_read(const struct cloud_frame *f)
{
    struct hx_header h;
    assert_int_equal(hx_frame_decode(&h, f->bytes, (size_t)HX_HEADER_BYTES + f->length), HX_OK);
    return h;
}

bool trial_count_and_lose(struct cloud *c, struct cloud_frame *f)
{
    (void)c;
    struct hx_header h = trial_read(f);
    gate.kinds[h.kind]++;
    gate.planes[f->plane]++;
    if (h.kind == HX_DATA)
        gate.offsets[h.offset % 4096]++;
    if (h.kind == HX_ACK && !gate.copy.bytes) {
        memcpy(gate.kept, f->bytes, sizeof gate.kept);
        gate.copy = *f;
        gate.copy.bytes = gate.kept;
    }
    if (gate.withholds && h.kind == HX_DATA && h.offset == 0) {
        gate.withholds = false;
        memcpy(gate.late, f->bytes, sizeof gate.late);
        gate.withheld = *f;
        gate.withheld.bytes = gate.late;
        return false;
    }
    if ((h.kind == HX_DATA || h.kind == HX_PROBE) && gate.astray != NO_END)
        f->to = gate.astray;
    if (gate.dead[f->plane])
        return false;
    if (h.kind != gate.lose_kind || gate.lose_first == 0 || h.offset >= gate.lose_below ||
        (gate.lose_to != NO_END && gate.lose_to != f->to))
        return true;
    gate.lose_first--;
    return false;
}

void trial_watch(void)
{
    memset(&gate, 0, sizeof gate);
    gate.lose_to = gate.astray = NO_END;
    gate.lose_below = UINT32_MAX;
    cloud.gate = trial_count_and_lose;
}

void trial_watch_losing_data(unsigned to, unsigned below)
{
    trial_watch();
    gate.lose_kind = HX_DATA;
    gate.lose_first = UINT32_MAX;
    gate.lose_to = to;
    gate.lose_below = below;
}

void trial_hold(bool yes)
{
    cloud.faults.keep = yes ? 100 : 0;
}

void trial_put_back(const struct cloud_frame *f)
{
    struct cloud_frame *to = &cloud.frame[cloud.frames++];
    memcpy(to->bytes, f->bytes, (size_t)HX_HEADER_BYTES + f->length);
    to->length = f->length;
    to->plane = f->plane;
    to->to = f->to;
}

void trial_rewrite(struct cloud_frame *f, const struct hx_header *h)
{
    hx_frame_encode(f->bytes, h);
    hx_frame_set_crc(f->bytes, hx_frame_crc(f->bytes, h->length));
}
