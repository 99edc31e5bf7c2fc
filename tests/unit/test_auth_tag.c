/* test_auth_tag.c - authentication tags of frames (include/hxmesh/auth_tag.h): the hash is SipHash-2-4 as OpenSSL
 * computes it, over all bytes that it covers, and each number is accepted once. */
#include "hxmesh/auth_tag.h"
#include "tests/support/support_random.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 9000, BEFORE = 24, RUNS = 3000 };

static uint64_t seed;

static int set_seed(void **state)
{
    (void)state;
    seed = seeded_by(1);
    print_message("seed %llu\n", (unsigned long long)seed);
    return 0;
}

/* ---- an oracle ---- */

static uint64_t openssl_siphash(const uint8_t key[HX_AUTH_KEY_BYTES], const uint8_t *text, size_t bytes)
{
    size_t size = 8;
    uint8_t hash[8] = {0};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                     OSSL_PARAM_construct_end()};
    assert_true(EVP_MAC_init(context, key, HX_AUTH_KEY_BYTES, parameters) && EVP_MAC_update(context, text, bytes) &&
                EVP_MAC_final(context, hash, &size, sizeof hash));
    assert_int_equal(size, sizeof hash);
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
    uint64_t value = 0;
    for (unsigned i = 0; i < sizeof hash; i++) /* the hash is a little-endian number */
        value |= (uint64_t)hash[i] << (8 * i);
    return value;
}

static void put_little(uint8_t *at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_big(const uint8_t *at)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}

struct authenticated {
    uint8_t key_bytes[HX_AUTH_KEY_BYTES];
    struct hx_auth_key key;
    struct hx_auth_direction direction;
    uint64_t number;
    size_t bytes;
    uint8_t frame[MOST + HX_AUTH_TAG_BYTES];
};

static void draw(struct authenticated *s, size_t bytes)
{
    for (unsigned i = 0; i < HX_AUTH_KEY_BYTES; i++)
        s->key_bytes[i] = (uint8_t)seeded_next(&seed);
    s->key = hx_auth_key_of(s->key_bytes);
    s->direction = (struct hx_auth_direction){seeded_next(&seed), seeded_next(&seed)};
    s->number = seeded_next(&seed);
    s->bytes = bytes;
    for (size_t i = 0; i < bytes; i++)
        s->frame[i] = (uint8_t)seeded_next(&seed);
    hx_auth_tag_write(&s->key, s->direction, s->number, s->frame, bytes);
}

static bool is_true(const struct authenticated *s)
{
    uint64_t number;
    return hx_auth_tag_is_valid(&s->key, s->direction, s->frame, s->bytes, &number);
}

static void the_hash_is_siphash_of_nonces_number_and_frame(void **state)
{
    (void)state;
    static struct authenticated s;
    static uint8_t text[BEFORE + MOST];
    for (unsigned run = 0; run < RUNS; run++) {
        draw(&s, run < 100 ? run : seeded_below(&seed, MOST + 1));
        put_little(text, s.direction.from);
        put_little(text + 8, s.direction.to);
        put_little(text + 16, s.number);
        memcpy(text + BEFORE, s.frame, s.bytes);
        assert_true(get_big(s.frame + s.bytes) == s.number);
        assert_true(get_big(s.frame + s.bytes + 8) == openssl_siphash(s.key_bytes, text, BEFORE + s.bytes));
        uint64_t number = 0;
        assert_true(hx_auth_tag_is_valid(&s.key, s.direction, s.frame, s.bytes, &number));
        assert_true(number == s.number);
    }
}

/* Any bit of frame, number, hash, key and nonces; the direction; a byte more or less. */
static void any_change_breaks_the_tag(void **state)
{
    (void)state;
    static struct authenticated s;
    for (unsigned run = 0; run < RUNS; run++) {
        draw(&s, 1 + seeded_below(&seed, 300));
        struct authenticated changed = s;
        unsigned bit = (unsigned)seeded_below(&seed, 64);
        switch (run % 7) {
        case 0:
        case 1:
            changed.frame[seeded_below(&seed, (uint32_t)s.bytes + HX_AUTH_TAG_BYTES)] ^= (uint8_t)(1U << bit % 8);
            break;
        case 2:
            changed.key.word[run & 1] ^= (uint64_t)1 << bit;
            break;
        case 3:
            changed.direction.from ^= (uint64_t)1 << bit;
            break;
        case 4:
            changed.direction.to ^= (uint64_t)1 << bit;
            break;
        case 5:
            changed.direction = (struct hx_auth_direction){s.direction.to, s.direction.from};
            break;
        default: /* the tag of a frame that is shorter by one byte stands one byte earlier */
            changed.bytes--;
            memmove(changed.frame + changed.bytes, s.frame + s.bytes, HX_AUTH_TAG_BYTES);
        }
        assert_true(is_true(&s));
        assert_false(is_true(&changed));
    }
}

/* ---- the window ---- */

/* Compared with a list of all numbers: each is accepted at most once, and none that is a window behind the newest. */
static void a_number_is_accepted_once_within_the_window(void **state)
{
    (void)state;
    enum { NUMBERS = 1000, TRIES = 200000 };
    for (unsigned jump = 1; jump <= 200; jump = 3 * jump + 1) {
        static bool came[NUMBERS * 200 + TRIES];
        memset(came, 0, sizeof came);
        struct hx_replay_window w;
        uint64_t newest = 500;
        hx_replay_window_begin(&w, newest);
        came[newest] = true;
        for (unsigned n = 0; n < TRIES && newest < NUMBERS * 150; n++) {
            uint64_t number = newest + 1 + seeded_below(&seed, jump) - seeded_below(&seed, 100 + jump);
            bool fits = number > newest || (newest - number < HX_REPLAY_WINDOW && !came[number]);
            assert_int_equal(hx_replay_window_take(&w, number), fits);
            came[number] = came[number] || fits;
            newest = number > newest ? number : newest;
            assert_true(w.newest == newest && w.seen & 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_hash_is_siphash_of_nonces_number_and_frame, set_seed),
        cmocka_unit_test_setup(any_change_breaks_the_tag, set_seed),
        cmocka_unit_test_setup(a_number_is_accepted_once_within_the_window, set_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
