/* test_send_set.c - sets of sends: membership and the next in turn, against a plain array. */
#include "send_set.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { TURNS = 20000 };

struct plain {
    bool in[HX_MAX_SENDS];
    unsigned size;
};

static unsigned next_of(const struct plain *p, unsigned from)
{
    for (unsigned n = 0; n < p->size; n++) {
        if (p->in[(from + n) % p->size])
            return (from + n) % p->size;
    }
    return p->size;
}

static void in_and_next(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 63, 64, 65, 1000, 4095, 4096};
    uint64_t seed = 7;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t word[HX_MAX_SENDS / 64] = {0};
        struct hx_send_set set = {.word = word};
        static struct plain plain;
        plain = (struct plain){.size = sizes[i]};
        for (unsigned turn = 0; turn < TURNS; turn++) {
            uint64_t random = seeded_next(&seed);
            unsigned send = (unsigned)(random >> 33) % plain.size;
            bool in = random >> 62 == 0; /* few members, so that words are sometimes empty */
            plain.in[send] = in;
            hx_send_set_put(&set, send, in);
            assert_int_equal(hx_send_set_has(&set, send), in);
            unsigned from = (unsigned)(random >> 20) % plain.size;
            unsigned next = next_of(&plain, from);
            assert_int_equal(set.filled != 0, next != plain.size);
            if (set.filled)
                assert_int_equal(hx_send_set_next(&set, from), next);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_and_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
