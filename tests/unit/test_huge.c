/* test_huge.c - memory in huge pages: its alignment, and that its content stays. */
#include "base/huge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES (2 * HX_HUGE_PAGE)

static uint8_t *map_object(int object)
{
    uint8_t *at = mmap(hx_huge_place(BYTES), BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, object, 0);
    assert_true(at != MAP_FAILED);
    return at;
}

static void a_place_is_aligned_to_a_huge_page(void **state)
{
    (void)state;
    assert_non_null(hx_huge_place(1));
    assert_int_equal((uintptr_t)hx_huge_place(BYTES) % HX_HUGE_PAGE, 0);
    assert_null(hx_huge_place(SIZE_MAX / 2));
}

/* With or without huge pages on this machine, and for every mapping of the object. */
static void gathered_memory_keeps_its_content(void **state)
{
    (void)state;
    int object = memfd_create("gathered", MFD_CLOEXEC);
    assert_true(object >= 0);
    assert_int_equal(ftruncate(object, (off_t)BYTES), 0);
    uint8_t *mine = map_object(object);
    uint8_t *other = map_object(object);
    for (size_t i = 0; i < BYTES; i++)
        mine[i] = (uint8_t)(i * 7 >> 5);
    hx_huge_gather(mine);
    other[5] ^= 1;
    mine[5] ^= 1;
    for (size_t i = 0; i < BYTES; i++) {
        if (mine[i] != (uint8_t)(i * 7 >> 5) || other[i] != mine[i])
            fail_msg("byte %zu", i);
    }
    assert_int_equal(munmap(mine, BYTES), 0);
    assert_int_equal(munmap(other, BYTES), 0);
    assert_int_equal(close(object), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_place_is_aligned_to_a_huge_page),
                                       cmocka_unit_test(gathered_memory_keeps_its_content)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
