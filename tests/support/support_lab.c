/* support_lab.c - memory and seeds of a test (tests/support/support_lab.h). */
#include "tests/support/support_lab.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct block {
    struct block *next;
    _Alignas(16) uint8_t bytes[];
};

static struct block *in_use;
uint64_t lab_seed;

void *lab_memory(size_t bytes)
{
    /* Most of the memory is never touched: it must come from the kernel, zeroed page by page as it is used. */
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 16);
    struct block *b = calloc(1, sizeof *b + bytes);
    assert_non_null(b);
    b->next = in_use;
    in_use = b;
    return b->bytes;
}

static void free_all(void)
{
    while (in_use) {
        struct block *next = in_use->next;
        free(in_use);
        in_use = next;
    }
}

int lab_free(void **state)
{
    free_all();
    if (state && lab_seed)
        print_message("failed in the run that HX_SEED=%llu makes the first\n", (unsigned long long)lab_seed);
    if (state)
        lab_seed = 0;
    return 0;
}
