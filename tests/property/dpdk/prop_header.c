/* prop_header.c - inline reading of frames on the DPDK platform agrees with hx_frame_decode: it accepts no invalid
 * frame, reads the same fields, and accepts nearly all common frames. Platform: dpdk. */
#include "dpdk/header.h"
#include "hxmesh/error.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 300000, ADDRESS_BITS = 48 };

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    return seeded_below(&random_state, below);
}

static int seed(void **state)
{
    (void)state;
    random_state = seeded_by(1);
    print_message("seed %llu\n", (unsigned long long)random_state);
    return 0;
}

static struct hx_header good_header(void)
{
    struct hx_header h = {.vc = (uint8_t)draw(HX_VCS),
                          .hops = (uint8_t)draw(256),
                          .credit_vc = (uint8_t)(draw(8) ? draw(HX_VCS) : HX_NO_CREDIT),
                          .credit_limit = draw(UINT32_MAX),
                          .kind = (uint8_t)(draw(8) ? HX_DATA : HX_ACK),
                          .plane = (uint8_t)draw(HX_MAX_PLANES),
                          .job = (uint16_t)draw(65536),
                          .dst_addr_hi = (uint16_t)draw(65536),
                          .dst_addr_lo = (uint16_t)draw(65536),
                          .src_addr_hi = (uint16_t)draw(65536),
                          .src_addr_lo = (uint16_t)draw(65536),
                          .message_packets = 1 + draw(draw(2) ? 3 : 1U << 30),
                          .length = HX_MAX_PAYLOAD,
                          .epoch = 1};
    h.offset = draw(h.message_packets);
    if (h.offset + 1 == h.message_packets)
        h.length = (uint16_t)draw(HX_MAX_PAYLOAD + 1);
    return h;
}

static void check(const uint8_t *frame, uint32_t bytes, unsigned plane)
{
    unsigned vcs = 1 + draw(HX_VCS);
    struct hx_header h;
    struct hx_desc d = {0};
    struct hx_desc scalar = {0};
    uint64_t address = ((uint64_t)draw(UINT32_MAX) << (ADDRESS_BITS - 32)) & ~UINT64_C(63);
    const struct dpdk_job job = {.tag = draw(4) ? hx_get16(frame + HX_AT_JOB) : (uint16_t)draw(65536),
                                 .bits = draw(2) ? UINT16_MAX : 0};
    const struct dpdk_expected expected = dpdk_expect(plane, vcs, job);
    bool taken = dpdk_read_header(&d, frame, bytes, &expected, address);
    bool taken_scalar = dpdk_read_header_scalar(&scalar, frame, bytes, plane, vcs, job, address);
    bool good = hx_frame_decode(&h, frame, bytes) == HX_OK && h.plane == plane && h.vc < vcs &&
                (h.credit_vc < vcs || h.credit_vc == HX_NO_CREDIT) &&
                h.via == 0 && /* a HammingMesh's nodes have no detours */
                (h.job == job.tag || job.bits == 0);
    assert_int_equal(taken, taken_scalar);
    assert_int_equal(taken, good && h.kind == HX_DATA && bytes == (uint32_t)HX_HEADER_BYTES + h.length);
    if (!taken)
        return;
    assert_memory_equal(&d, &scalar, sizeof d);
    assert_int_equal(d.buffer | (uint64_t)d.flow << 32, address);
    assert_int_equal(d.length, h.length);
    assert_int_equal(d.vc, h.vc);
    assert_int_equal(d.hops, h.hops);
    assert_int_equal(d.dst_addr_hi, h.dst_addr_hi);
    assert_int_equal(d.dst_addr_lo, h.dst_addr_lo);
    assert_int_equal(d.job, h.job);
    assert_int_equal(dpdk_grant_place(frame), h.credit_vc == HX_NO_CREDIT ? 0 : h.credit_vc + 1);
    assert_int_equal(hx_get32(frame + 20), h.credit_limit);
}

static void good_frames_are_read_alike(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t frame[HX_HEADER_BYTES];
        const struct hx_header h = good_header();
        hx_frame_encode(frame, &h);
        check(frame, (uint32_t)HX_HEADER_BYTES + h.length, h.plane);
    }
}

static void spoilt_frames_are_validated_alike(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t frame[HX_HEADER_BYTES];
        const struct hx_header h = good_header();
        hx_frame_encode(frame, &h);
        for (unsigned flips = 1 + draw(2); flips > 0; flips--)
            frame[draw(HX_HEADER_BYTES)] ^= (uint8_t)(1U << draw(8));
        uint32_t bytes = (uint32_t)HX_HEADER_BYTES + h.length;
        check(frame, draw(4) ? bytes : HX_HEADER_BYTES + draw(HX_MAX_PAYLOAD), h.plane);
    }
}

static void hop_fields_are_written_alike(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t frame[HX_HEADER_BYTES];
        uint8_t other[HX_HEADER_BYTES];
        const struct hx_header h = good_header();
        hx_frame_encode(frame, &h);
        memcpy(other, frame, sizeof other);
        unsigned vc = draw(HX_VCS);
        unsigned hops = draw(256);
        unsigned grant = draw(HX_VCS);
        uint32_t limit = draw(UINT32_MAX);
        hx_frame_set_hop(frame, vc, hops, HX_NO_CREDIT, h.credit_limit);
        dpdk_write_hop(other, vc, hops);
        assert_memory_equal(frame, other, sizeof frame);
        hx_frame_set_hop(frame, vc, hops, grant, limit);
        dpdk_write_grant(other, grant, limit);
        assert_memory_equal(frame, other, sizeof frame);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(good_frames_are_read_alike, seed),
                                       cmocka_unit_test_setup(spoilt_frames_are_validated_alike, seed),
                                       cmocka_unit_test_setup(hop_fields_are_written_alike, seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
