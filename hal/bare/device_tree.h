/* device_tree.h - reads the flattened device tree that a boot loader, or QEMU, hands to an image (Devicetree
 * Specification 0.4, chapter 5): memory, devices, frequency of the timer.
 *
 * device_tree_open() refuses a tree that is inconsistent or leads out of its bytes. The bytes are not copied and must
 * stay. Freestanding; no state but the caller's. */
#ifndef HAL_BARE_DEVICE_TREE_H
#define HAL_BARE_DEVICE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Invariant: both blocks lie within the given bytes, and structure is whole items up to an end. */
struct device_tree {
    const uint8_t *structure, *strings;
    uint32_t structure_bytes, strings_bytes;
};

struct device_range {
    uint64_t address, bytes;
    uint32_t interrupt; /* first cell of the node's "interrupts"; 0: none */
};

/* Opens a tree. `most`: readable bytes at `at`. Returns NULL, or the fault, such as "ends within a node". */
const char *device_tree_open(struct device_tree *t, const void *at, size_t most);

/* Finds the node with `value` in its string list `property` and the lowest first range ("reg", in its parent's
 * addresses) at or above `least`. Returns false if there is none. So callers walk nodes by address. */
bool device_tree_next(const struct device_tree *t, const char *property, const char *value, uint64_t least,
                      struct device_range *found);

/* Finds the first property of that name that is one 32-bit number. Returns false if there is none. */
bool device_tree_number(const struct device_tree *t, const char *property, uint32_t *number);

#endif
