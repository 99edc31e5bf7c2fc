/* memory.h - how much memory this process holds beside what it shares. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

uint64_t memory_private_bytes(void);

#endif
