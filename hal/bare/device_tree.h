/* device_tree.h - reads the flattened device tree that a boot loader, or QEMU, hands to an image (Devicetree
 * Specification 0.4, chapter 5): where the board has its memory and devices, and how fast its timer is.
 *
 * What it reads it does not believe: a tree that contradicts itself or leads out of its bytes is refused when it is
 * opened. Nothing is copied: the bytes must stay as long as the tree is asked. Freestanding; no state but the
 * caller's. */
#ifndef HAL_BARE_DEVICE_TREE_H
#define HAL_BARE_DEVICE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Invariant: both blocks lie in the bytes that were given, and structure is whole items up to an end. */
struct device_tree {
    const uint8_t *structure, *strings;
    uint32_t structure_bytes, strings_bytes;
};

struct device_range {
    uint64_t address, bytes;
    uint32_t interrupt; /* the first word of the node's "interrupts"; 0: it has none */
};

/* `most`: bytes there are at `at`, at the least. NULL: it is a tree; else what is wrong with it, as "ends within a
 * node". */
const char *device_tree_open(struct device_tree *t, const void *at, size_t most);

/* Of nodes whose `property` is a list of strings with `value` in it, the one whose first range ("reg", in addresses of
 * its parent) is the lowest that begins at `least` or above. false: none. Trees have no order; this way they are walked
 * by address. */
bool device_tree_next(const struct device_tree *t, const char *property, const char *value, uint64_t least,
                      struct device_range *found);

/* The first property of that name that is one 32-bit number. false: none. */
bool device_tree_number(const struct device_tree *t, const char *property, uint32_t *number);

#endif
