/* support_lab.c - memory and seeds of a test (support_lab.h). */
#include "tests/support/support_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 1 << 16, ALIGNED = 16 };

struct block {
    struct block *next;
    uint8_t *map; /* large memory only */
    size_t mapped;
    _Alignas(ALIGNED) uint8_t bytes[];
};

static struct block *in_use;
uint64_t lab_seed;

static struct block *new_block(size_t bytes)
{
    struct block *b = calloc(1, sizeof *b + bytes);
    assert_non_null(b);
    b->next = in_use;
    in_use = b;
    return b;
}

/* Large memory is mapped: most of it stays untouched, the kernel zeroes pages at first use, and a sanitizer keeps no
 * records. Inaccessible pages surround it, and the memory ends at the second of them. */
static void *large(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (bytes + page - 1) / page * page;
    struct block *b = new_block(0);
    uint8_t *map = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(map != MAP_FAILED);
    b->map = map;
    b->mapped = whole + 2 * page;
    assert_int_equal(mprotect(map + page, whole, PROT_READ | PROT_WRITE), 0);
    return map + page + (whole - bytes) / ALIGNED * ALIGNED;
}

void *lab_memory(size_t bytes)
{
    return bytes < LARGE ? new_block(bytes)->bytes : large(bytes);
}

static void free_all(void)
{
    while (in_use) {
        struct block *next = in_use->next;
        if (in_use->map)
            (void)munmap(in_use->map, in_use->mapped);
        free(in_use);
        in_use = next;
    }
}

int lab_free(void **state)
{
    free_all();
    if (state && lab_seed)
        print_message("failed; HX_SEED=%llu begins with this run\n", (unsigned long long)lab_seed);
    if (state)
        lab_seed = 0;
    return 0;
}
