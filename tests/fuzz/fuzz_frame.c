/* fuzz_frame.c - any bytes as a data frame and as a control frame: the decoders read only these bytes, and an accepted
 * frame encodes to the same ones. Accepted notices go to a node of a small fabric. libFuzzer's entry; seeds in
 * corpus/frame.
 *
 * A fuzzer does not guess checksums, so a control frame is tried twice: unchanged, and with a right checksum. */
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "hxmesh/notice.h"
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

/* ---- notices ---- */

enum { NODE = 3, PORT = 1, OTHER_PORT = 0 };

/* A node of a 2x2 Hx2Mesh with two sessions. */
struct node {
    struct hx_geometry g;
    struct hx_dead_links dead;
    struct hx_notices notices;
    void *links, *state;
};

static void start(struct node *n)
{
    require(hx_geometry_init(&n->g, 2, 2, 2, 2, 1, 64, 1) == HX_OK);
    n->links = calloc(1, hx_dead_links_bytes(&n->g));
    n->state = calloc(1, hx_notices_bytes(&n->g));
    require(n->links && n->state);
    hx_dead_links_init(&n->dead, &n->g, n->links);
    hx_notices_init(&n->notices, &n->g, &n->dead, n->state);
    n->notices.period = 100;
    hx_notices_open(&n->notices, PORT, 0);
    hx_notices_open(&n->notices, OTHER_PORT, 0);
}

/* All that is kept, read from what another port sends: its digest, and the dead links it makes. */
static void validate(struct node *n)
{
    struct node peer;
    struct hx_notice_frame f;
    start(&peer);
    hx_notices_open(&n->notices, OTHER_PORT, 300);
    for (unsigned frames = 0; n->notices.waiting[OTHER_PORT] > 0; frames++) {
        require(frames <= n->g.nodes);
        hx_notices_next(&n->notices, OTHER_PORT, &f, 300);
        require(f.count >= 1 && f.count <= HX_NOTICES);
        hx_notices_take(&peer.notices, PORT, &f, 300);
    }
    require(n->notices.state[NODE].dead == 4); /* no other node says what its links are */
    require(peer.notices.digest == n->notices.digest && n->notices.digest != 0);
    require(peer.dead.count == n->dead.count);
    require(memcmp(peer.dead.accelerator, n->dead.accelerator, n->g.accelerators) == 0);
    require(memcmp(peer.dead.tree, n->dead.tree, (n->g.nodes - n->g.accelerators) * sizeof *n->dead.tree) == 0);
    free(peer.links);
    free(peer.state);
}

static void keep(const struct hx_notice_frame *f)
{
    struct node n;
    start(&n);
    require(hx_notices_say(&n.notices, NODE, 4, 0));
    for (uint64_t now = 100; now < 300; now += 100)
        hx_notices_take(&n.notices, PORT, f, now);
    struct hx_notice_frame answer;
    while (n.notices.waiting[PORT] > 0)
        hx_notices_next(&n.notices, PORT, &answer, 300);
    validate(&n);
    free(n.links);
    free(n.state);
}

static int try_notice(const uint8_t *bytes, size_t size)
{
    struct hx_notice_frame n;
    int error = hx_notice_decode(&n, bytes, size);
    if (error != HX_OK)
        return error;
    uint8_t again[HX_NOTICE_FRAME_BYTES];
    require(hx_notice_encode(again, &n) <= size && hx_notice_encode(again, &n) == hx_notice_frame_bytes(n.count));
    require(memcmp(again, bytes, hx_notice_encode(again, &n)) == 0);
    keep(&n);
    return HX_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_data(data, size);
    (void)try_credit(data, size);
    (void)try_notice(data, size);
    uint8_t sealed[HX_NOTICE_FRAME_BYTES] = {0};
    if (size < HX_CREDIT_FRAME_BYTES)
        return 0;
    memcpy(sealed, data, size < sizeof sealed ? size : sizeof sealed);
    support_set_credit_crc(sealed);
    require(try_credit(sealed, sizeof sealed) != HX_E_CHECKSUM);
    support_set_notice_crc(sealed);
    require(try_notice(sealed, sizeof sealed) != HX_E_CHECKSUM);
    return 0;
}
