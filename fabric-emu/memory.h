/* memory.h - memory of this process and of the machine, from the kernel. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

uint64_t memory_private_bytes(void);
/* Processes killed because memory ran out, since the machine started. */
uint64_t memory_oom_kills(void);
/* Dies with one line if less than `bytes` is available; `less`: what would need less. */
void memory_check(const char *who, uint64_t bytes, const char *less);

#endif
