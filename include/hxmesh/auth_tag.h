/* auth_tag.h - what each frame of a cable with a key ends with: a number that never comes again in a session, and a hash
 * that nobody can make without the key.
 *
 *   offset size           behind the last byte of a data frame's payload, or of a credit frame
 *        0    8  number   of the frames that its sender sealed: 1, 2, 3, ...
 *        8    8  hash     SipHash-2-4 of 64 bits, by the key, of: 8 bytes the sender's nonce, 8 bytes its receiver's, 8 bytes
 *                         the number, and the frame from the first byte of its destination MAC to its last
 *
 * The words before the frame, and the hash's own, are little-endian as SipHash has them; number and hash stand in the
 * frame in network byte order. The nonces are those of the session (credit.h): a data frame's are not in it, both ends
 * know them; a credit frame's are the two that it says. So a frame is good for one session, one direction and one
 * cable, and a key may be that of many cables. Numbers go on over sessions.
 *
 * Why a hash of 64 bits: it can be tried only by sending frames, one try a frame. A 400 Gb/s cable carries 2^64 of the
 * shortest in a thousand years, and one that is taken is one frame. 128 bits would cost 8 bytes more of each frame and
 * close nothing else.
 *
 * Why numbers: within a session a frame that was recorded bears a true hash. The receiver keeps the newest number and
 * which of the HX_REPLAY_WINDOW up to it came: each is good once, in any order within the window, and older ones never.
 *
 * It says who made a frame, and hides nothing: payload can be read on the cable.
 *
 * Pure functions on the caller's memory. */
#ifndef HXMESH_AUTH_TAG_H
#define HXMESH_AUTH_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum {
    HX_AUTH_TAG_BYTES = 16,
    HX_AUTH_KEY_BYTES = 16,
    HX_REPLAY_WINDOW = 64 /* numbers, the newest included */
};

struct hx_auth_key {
    uint64_t word[2];
};

/* Of 16 bytes that nobody can guess. */
struct hx_auth_key hx_auth_key_of(const uint8_t bytes[HX_AUTH_KEY_BYTES]);

/* The session and the direction that a frame is of. */
struct hx_auth_direction {
    uint64_t from, to; /* nonces of its sender and its receiver */
};

/* Writes number and hash behind a frame of so many bytes, where there is room for HX_AUTH_TAG_BYTES. */
void hx_auth_tag_write(const struct hx_auth_key *key, struct hx_auth_direction direction, uint64_t number,
                       uint8_t *frame, size_t bytes);

/* Whether what stands behind the frame, HX_AUTH_TAG_BYTES, is its seal. *number: what it says, to be looked at if so. */
bool hx_auth_tag_is_valid(const struct hx_auth_key *key, struct hx_auth_direction direction, const uint8_t *frame,
                          size_t bytes, uint64_t *number);

/* Numbers of true seals that came in a session. Invariant: bit 0 of seen is set, as newest came. */
struct hx_replay_window {
    uint64_t newest;
    uint64_t seen; /* bit n: newest - n came */
};

/* The first of a session came. */
void hx_replay_window_begin(struct hx_replay_window *w, uint64_t number);
/* false: it came before, or is so old that this is not known. */
bool hx_replay_window_take(struct hx_replay_window *w, uint64_t number);

#include "hxmesh/end.h"

#endif
