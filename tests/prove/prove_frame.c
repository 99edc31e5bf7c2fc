/* prove_frame.c - decoders get any bytes of any length, and encoders any decoded header. A frame ends where its memory
 * ends, so a read beyond it is an alarm.
 *
 * Lengths: from none to SHORT bytes more than the longest credit frame; longer frames have payload behind the
 * header. */
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "prove.h"

enum { SHORT = 8, LONGEST = HX_CREDIT_FRAME_BYTES + SHORT };

static void data_frame(uint8_t *frame, size_t bytes)
{
    struct hx_header h;
    uint8_t again[HX_HEADER_BYTES];
    any_bytes(frame, bytes);
    if (hx_frame_decode(&h, frame, bytes) != HX_OK)
        return;
    hx_frame_encode(again, &h);
    (void)hx_blocks(h.length);
    for (unsigned length = 0; HX_HEADER_BYTES + (size_t)length <= bytes; length++) {
        if (h.length == length) /* always true for an accepted frame; the analysis needs it case by case */
            (void)hx_frame_crc(frame, length);
    }
}

/* vcs: number of VCs in the frame, if it is long enough. */
static void credit_frame(uint8_t *frame, size_t bytes, uint64_t vcs)
{
    struct hx_credit_frame c;
    uint8_t again[HX_CREDIT_FRAME_BYTES];
    any_bytes(frame, bytes);
    if (bytes > HX_AT_CONTROL_ITEMS)
        frame[HX_AT_CONTROL_ITEMS] = (uint8_t)vcs;
    if (hx_credit_decode(&c, frame, bytes) == HX_OK)
        (void)hx_credit_encode(again, &c);
}

int main(void)
{
    uint8_t memory[LONGEST];
    for (size_t bytes = 0; bytes <= LONGEST; bytes++) {
        uint8_t *frame = memory + LONGEST - bytes;
        data_frame(frame, bytes);
        for (unsigned vcs = 0; vcs <= HX_VCS; vcs++)
            credit_frame(frame, bytes, vcs);
        credit_frame(frame, bytes, any(HX_VCS + 1, UINT8_MAX));
    }
    return 0;
}
