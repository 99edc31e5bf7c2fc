/* auth_tag.h - authentication tag of frames on a cable with a key: a number used once in a session, and a keyed hash.
 *
 *   offset size            behind the last byte of a data frame's payload, or of a credit frame
 *        0    8  number   of tagged frames of the sender: 1, 2, 3, ...
 *        8    8  hash     64-bit SipHash-2-4 by the key over: 8 bytes nonce of the sender, 8 bytes nonce of the
 *                         receiver, 8 bytes number, and the frame from its destination MAC to its last byte
 *
 * The three hashed words, and those within SipHash, are little-endian. In the frame, number and hash are in network
 * byte order. The nonces are those of the session (credit.h): both ends know them, a credit frame carries them, a data
 * frame does not. So a tag is valid for one session, one direction and one cable, and several cables may share a key.
 * Numbers continue over sessions.
 *
 * 64 bits are enough: each guess costs a frame. A 400 Gb/s cable carries 2^64 of the shortest frames in a thousand
 * years, and a successful guess forges one frame.
 *
 * Numbers stop replays within a session. The receiver keeps the newest number and which of the HX_REPLAY_WINDOW numbers
 * up to it arrived: each is valid once, in any order within the window; older ones are invalid.
 *
 * A tag proves the sender of a frame. It does not hide the payload.
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

/* Returns the key made of 16 secret bytes. */
struct hx_auth_key hx_auth_key_of(const uint8_t bytes[HX_AUTH_KEY_BYTES]);

/* Session and direction of a frame. */
struct hx_auth_direction {
    uint64_t from, to; /* nonces of sender and receiver */
};

/* Writes the tag behind a frame of `bytes` bytes; there must be room for HX_AUTH_TAG_BYTES. */
void hx_auth_tag_write(const struct hx_auth_key *key, struct hx_auth_direction direction, uint64_t number,
                       uint8_t *frame, size_t bytes);

/* Returns true if the HX_AUTH_TAG_BYTES behind the frame are its tag. *number is the tag's number, meaningful only
 * then. */
bool hx_auth_tag_is_valid(const struct hx_auth_key *key, struct hx_auth_direction direction, const uint8_t *frame,
                          size_t bytes, uint64_t *number);

/* Numbers of valid tags of a session. Invariant: bit 0 of seen is set. */
struct hx_replay_window {
    uint64_t newest;
    uint64_t seen; /* bit n: newest - n arrived */
};

/* Starts the window at a session's first number. */
void hx_replay_window_begin(struct hx_replay_window *w, uint64_t number);
/* Adds a number. Returns false if it arrived earlier, or is older than the window. */
bool hx_replay_window_take(struct hx_replay_window *w, uint64_t number);

#include "hxmesh/end.h"

#endif
