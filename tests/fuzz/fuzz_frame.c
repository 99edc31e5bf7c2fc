/* fuzz_frame.c - any bytes as a data frame and as a credit frame: the decoders read only these bytes, and an accepted
 * frame encodes to the same ones. libFuzzer's entry; seeds in corpus/frame.
 *
 * A fuzzer does not guess checksums, so a credit frame is tried twice: unchanged, and with a right checksum. */
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/support_frame.h"

#include <stdlib.h>
#include <string.h>

static void try_data(const uint8_t *bytes, size_t size)
{
    struct hx_header h;
    if (hx_frame_decode(&h, bytes, size) != HX_OK)
        return;
    uint8_t again[HX_HEADER_BYTES];
    hx_frame_encode(again, &h);
    require(memcmp(again, bytes, sizeof again) == 0);
    require(size >= (size_t)HX_HEADER_BYTES + h.length && h.length <= HX_MAX_PAYLOAD);
    require(h.vc < HX_VCS && h.plane < HX_MAX_PLANES && (h.kind == HX_PROBE || h.offset <= h.message_packets));
    require(hx_blocks(h.length) >= 1 && hx_blocks(h.length) <= HX_PACKET_BLOCKS);
    (void)hx_frame_crc(bytes, h.length);
}

static int try_credit(const uint8_t *bytes, size_t size)
{
    struct hx_credit_frame c;
    int error = hx_credit_decode(&c, bytes, size);
    if (error != HX_OK)
        return error;
    uint8_t again[HX_CREDIT_FRAME_BYTES];
    require(hx_credit_encode(again, &c) <= size);
    require(memcmp(again, bytes, hx_credit_encode(again, &c)) == 0);
    return HX_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_data(data, size);
    (void)try_credit(data, size);
    if (size < HX_CREDIT_FRAME_BYTES)
        return 0;
    uint8_t sealed[HX_CREDIT_FRAME_BYTES];
    memcpy(sealed, data, sizeof sealed);
    support_set_credit_crc(sealed);
    require(try_credit(sealed, sizeof sealed) != HX_E_CHECKSUM);
    return 0;
}
