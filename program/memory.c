/* memory.c - layout of the attachment's memory, and hx_program_alloc() (parts.h). */
#include "program/parts.h"

#include <fcntl.h>
#include <stdlib.h>

enum { LINE = 64 };

/* ---- layout ---- */

static uint64_t control_at(const struct hx_program *p)
{
    return (uint64_t)p->at.hosts * ATTACHMENT_SHORT * ATTACHMENT_SHORT_BYTES;
}

static uint64_t landings_at(const struct hx_program *p)
{
    return control_at(p) + (uint64_t)p->at.hosts * ATTACHMENT_CONTROL * ATTACHMENT_CONTROL_BYTES;
}

static uint64_t bounces_at(const struct hx_program *p)
{
    return landings_at(p) + (uint64_t)ATTACHMENT_LANDINGS * ATTACHMENT_PART_BYTES;
}

static uint64_t bounce_parts_at(const struct hx_program *p)
{
    return bounces_at(p) + (uint64_t)ATTACHMENT_BOUNCES * ATTACHMENT_SHORT_BYTES;
}

static uint64_t heap_at(const struct hx_program *p)
{
    return bounce_parts_at(p) + (uint64_t)ATTACHMENT_BOUNCE_PARTS * ATTACHMENT_PART_BYTES;
}

uint8_t *memory_slot(const struct hx_program *p, uint32_t peer, enum channel_name channel, unsigned slot)
{
    if (channel == CHANNEL_SHORT)
        return p->at.memory + ((uint64_t)peer * ATTACHMENT_SHORT + slot) * ATTACHMENT_SHORT_BYTES;
    return p->at.memory + control_at(p) + ((uint64_t)peer * ATTACHMENT_CONTROL + slot) * ATTACHMENT_CONTROL_BYTES;
}

uint8_t *memory_landing(const struct hx_program *p, unsigned number)
{
    return p->at.memory + landings_at(p) + (uint64_t)number * ATTACHMENT_PART_BYTES;
}

uint8_t *memory_bounce(const struct hx_program *p, unsigned number)
{
    return p->at.memory + bounces_at(p) + (uint64_t)number * ATTACHMENT_SHORT_BYTES;
}

uint8_t *memory_bounce_part(const struct hx_program *p, unsigned number)
{
    return p->at.memory + bounce_parts_at(p) + (uint64_t)number * ATTACHMENT_PART_BYTES;
}

bool memory_is_ours(const struct hx_program *p, const void *data, uint64_t bytes)
{
    uintptr_t at = (uintptr_t)data;
    uintptr_t begin = (uintptr_t)p->at.memory;
    return at >= begin && at - begin <= p->at.memory_bytes && bytes <= p->at.memory_bytes - (at - begin);
}

int memory_take(uint64_t *free_ones)
{
    if (!*free_ones)
        return -1;
    int first = __builtin_ctzll(*free_ones);
    *free_ones &= *free_ones - 1;
    return first;
}

/* ---- heap: a list of blocks in use, in order of offset ---- */

struct block {
    struct block *next;
    uint64_t offset, bytes; /* in the heap */
};

/* Finds the first gap that is large enough: the block before it (NULL: none) and its offset. Returns false if there is
 * none. */
static bool find_gap(struct hx_program *p, uint64_t bytes, struct block **before, uint64_t *offset)
{
    *before = NULL;
    *offset = 0;
    for (struct block *b = p->blocks; b && b->offset - *offset < bytes; b = b->next) {
        *offset = b->offset + b->bytes;
        *before = b;
    }
    return bytes <= ATTACHMENT_HEAP_BYTES && *offset <= ATTACHMENT_HEAP_BYTES - bytes;
}

/* Reserves the pages here, so that a full machine refuses here and not at a write. */
void *hx_program_alloc(struct hx_program *p, size_t bytes)
{
    struct block *before;
    uint64_t offset;
    uint64_t rounded = bytes ? (bytes + LINE - 1) / LINE * LINE : LINE;
    if (rounded < bytes || !find_gap(p, rounded, &before, &offset))
        return NULL;
    uint8_t *at = p->at.memory + heap_at(p) + offset;
    struct block *block = malloc(sizeof *block);
    if (!block || posix_fallocate(p->at.fd, at - (uint8_t *)p->at.head, (off_t)rounded) != 0) {
        free(block);
        return NULL;
    }
    struct block **link = before ? &before->next : &p->blocks;
    *block = (struct block){.next = *link, .offset = offset, .bytes = rounded};
    *link = block;
    return at;
}

/* cppcheck-suppress constParameter ; its target is freed, as by free() */
void hx_program_free(struct hx_program *p, void *data)
{
    for (struct block **link = &p->blocks; data && *link; link = &(*link)->next) {
        struct block *block = *link;
        if (p->at.memory + heap_at(p) + block->offset != data)
            continue;
        *link = block->next;
        free(block);
        return;
    }
}

void memory_free_all(struct hx_program *p)
{
    while (p->blocks) {
        struct block *next = p->blocks->next;
        free(p->blocks);
        p->blocks = next;
    }
}
