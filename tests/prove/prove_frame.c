/* prove_frame.c - the decoders of frames are given any bytes of any length, and the encoders any header that was
 * decoded. A frame ends where its memory ends, so that a read behind it is an alarm.
 *
 * Lengths: every one from none to SHORT bytes more than the longest credit frame; payload lies behind the header, in
 * the frames that are longer. */
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
        if (h.length == length) /* it is accepted only so: one by one, for the analysis to know it */
            (void)hx_frame_crc(frame, length);
    }
}

/* vcs: what the frame says of itself, if it is so long. */
static void credit_frame(uint8_t *frame, size_t bytes, uint64_t vcs)
{
    struct hx_credit_frame c;
    uint8_t again[HX_CREDIT_FRAME_BYTES];
    any_bytes(frame, bytes);
    if (bytes > HX_AT_CONTROL_VCS)
        frame[HX_AT_CONTROL_VCS] = (uint8_t)vcs;
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
