/* owned.c - memory of one fabric of a library (owned.h). */
#include "owned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_reallocarray(void *block, size_t count, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t most);
void __real_free(void *block);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t bytes);

static _Thread_local struct owned *owner; /* NULL: outside of the library's calls */

/* ---- sets of addresses ---- */

static size_t place_of(const struct owned_set *s, uintptr_t address)
{
    size_t at = (size_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (s->slots - 1);
    while (s->address[at] && s->address[at] != address)
        at = (at + 1) & (s->slots - 1);
    return at;
}

static void put(struct owned_set *s, uintptr_t address, uint64_t bytes)
{
    const size_t at = place_of(s, address);
    s->used += s->address[at] == 0;
    s->address[at] = address;
    s->bytes[at] = bytes;
}

/* Without memory for more the block is not owned: it stays with the process. */
static void add(struct owned_set *s, const void *block, uint64_t bytes)
{
    enum { FIRST = 1024 };
    if (!block)
        return;
    if (2 * (s->used + 1) > s->slots) {
        const struct owned_set old = *s;
        struct owned_set larger = {.slots = old.slots ? 2 * old.slots : FIRST};
        larger.address = __real_calloc(larger.slots, sizeof *larger.address);
        larger.bytes = __real_calloc(larger.slots, sizeof *larger.bytes);
        if (!larger.address || !larger.bytes) {
            __real_free(larger.address);
            __real_free(larger.bytes);
            return;
        }
        for (size_t i = 0; i < old.slots; i++)
            if (old.address[i])
                put(&larger, old.address[i], old.bytes[i]);
        __real_free(old.address);
        __real_free(old.bytes);
        *s = larger;
    }
    put(s, (uintptr_t)block, bytes);
}

/* Returns whether it was there. Those behind it move up, so that all are found. */
static bool take(struct owned_set *s, const void *block)
{
    if (!s->slots)
        return false;
    size_t empty = place_of(s, (uintptr_t)block);
    if (!s->address[empty])
        return false;
    s->address[empty] = 0;
    s->used--;
    for (size_t at = (empty + 1) & (s->slots - 1); s->address[at]; at = (at + 1) & (s->slots - 1)) {
        const uintptr_t address = s->address[at];
        s->address[at] = 0;
        const size_t to = place_of(s, address);
        s->address[to] = address;
        s->bytes[to] = s->bytes[at];
    }
    return true;
}

static void free_set(struct owned_set *s)
{
    __real_free(s->address);
    __real_free(s->bytes);
    *s = (struct owned_set){.slots = 0};
}

/* ---- calls of the library's code ---- */

static void *owned_block(void *block)
{
    if (owner)
        add(&owner->blocks, block, 0);
    return block;
}

void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return owned_block(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return owned_block(__real_calloc(count, bytes));
}

/* A block that came from another library stays with the process. */
static void *moved(void *larger, const void *block, bool own)
{
    if (own)
        add(&owner->blocks, larger ? larger : block, 0);
    return larger;
}

void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes)
{
    const bool own = owner && (!block || take(&owner->blocks, block));
    return moved(__real_realloc(block, bytes), block, own);
}

void *__wrap_reallocarray(void *block, size_t count, size_t bytes);
void *__wrap_reallocarray(void *block, size_t count, size_t bytes)
{
    const bool own = owner && (!block || take(&owner->blocks, block));
    return moved(__real_reallocarray(block, count, bytes), block, own);
}

char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return owned_block(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t most);
char *__wrap_strndup(const char *text, size_t most)
{
    return owned_block(__real_strndup(text, most));
}

void __wrap_free(void *block);
void __wrap_free(void *block)
{
    if (owner && block)
        (void)take(&owner->blocks, block);
    __real_free(block);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *mapped = __real_mmap(at, bytes, protection, flags, fd, offset);
    if (owner && mapped != MAP_FAILED)
        add(&owner->mappings, mapped, bytes);
    return mapped;
}

int __wrap_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes)
{
    if (owner)
        (void)take(&owner->mappings, at);
    return __real_munmap(at, bytes);
}

/* ---- entering and leaving ---- */

static int died(const struct hx_problem *p)
{
    owner->problem = *p;
    longjmp(owner->back, 1);
}

static void said(const struct hx_problem *p)
{
    struct owned *o = owner;
    char line[HX_PROBLEM_TEXT];
    const size_t more = strlen(hx_problem_text(line, p)) + sizeof "\n";
    char *text = __real_realloc(o->said, o->said_bytes + more);
    if (!text)
        return;
    o->said = text;
    o->said_bytes += (size_t)snprintf(text + o->said_bytes, more, "%s\n", line);
}

void owned_enter(struct owned *o)
{
    owner = o;
    hx_error_hand_over(died);
    hx_error_say_to(said);
}

void owned_leave(void)
{
    owner = NULL;
    hx_error_hand_over(NULL);
    hx_error_say_to(NULL);
}

void owned_free(struct owned *o)
{
    for (size_t i = 0; i < o->blocks.slots; i++)
        __real_free((void *)o->blocks.address[i]);
    for (size_t i = 0; i < o->mappings.slots; i++)
        if (o->mappings.address[i])
            (void)__real_munmap((void *)o->mappings.address[i], o->mappings.bytes[i]);
    free_set(&o->blocks);
    free_set(&o->mappings);
    __real_free(o->said);
    o->said = NULL;
}
