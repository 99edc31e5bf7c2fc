/* auth_tag.c - authentication tags of frames (include/hxmesh/auth_tag.h). */
#include "hxmesh/auth_tag.h"
#include "bytes.h"
#include "siphash.h"

enum { WORD = 8, AT_HASH = 8, WORDS_BEFORE = 3 /* two nonces and the number */ };

/* In a form that compilers turn into one load. */
static inline uint64_t little64(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

static uint64_t hash(const struct hx_auth_key *key, struct hx_auth_direction direction, uint64_t number,
                     const uint8_t *frame, size_t bytes)
{
    struct hx_sip s = hx_sip_begin(key->word);
    uint64_t rest = 0;
    size_t at = 0;
    hx_sip_word(&s, direction.from);
    hx_sip_word(&s, direction.to);
    hx_sip_word(&s, number);
    for (; at + WORD <= bytes; at += WORD)
        hx_sip_word(&s, little64(frame + at));
    for (unsigned shift = 0; at < bytes; at++, shift += 8)
        rest |= (uint64_t)frame[at] << shift;
    return hx_sip_end(&s, rest, (size_t)WORDS_BEFORE * WORD + bytes);
}

struct hx_auth_key hx_auth_key_of(const uint8_t bytes[HX_AUTH_KEY_BYTES])
{
    return (struct hx_auth_key){{little64(bytes), little64(bytes + WORD)}};
}

void hx_auth_tag_write(const struct hx_auth_key *key, struct hx_auth_direction direction, uint64_t number,
                       uint8_t *frame, size_t bytes)
{
    hx_put64(frame + bytes, number);
    hx_put64(frame + bytes + AT_HASH, hash(key, direction, number, frame, bytes));
}

bool hx_auth_tag_is_valid(const struct hx_auth_key *key, struct hx_auth_direction direction, const uint8_t *frame,
                          size_t bytes, uint64_t *number)
{
    *number = hx_get64(frame + bytes);
    return hx_get64(frame + bytes + AT_HASH) == hash(key, direction, *number, frame, bytes);
}

void hx_replay_window_begin(struct hx_replay_window *w, uint64_t number)
{
    *w = (struct hx_replay_window){.newest = number, .seen = 1};
}

bool hx_replay_window_take(struct hx_replay_window *w, uint64_t number)
{
    if (number > w->newest) {
        uint64_t ahead = number - w->newest;
        w->seen = (ahead < HX_REPLAY_WINDOW ? w->seen << ahead : 0) | 1;
        w->newest = number;
        return true;
    }
    uint64_t behind = w->newest - number;
    if (behind >= HX_REPLAY_WINDOW || w->seen >> behind & 1)
        return false;
    w->seen |= (uint64_t)1 << behind;
    return true;
}
