/* memory.h - memory, as the kernel tells. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

/* What this process holds beside what it shares. */
uint64_t memory_private_bytes(void);
/* Processes that the kernel has killed because memory ran out, since the machine started. */
uint64_t memory_oom_kills(void);
/* What this process and its children may still take: of the machine, and of the control groups they are in. */
uint64_t memory_available(void);
/* Dies with one line if that is less than `bytes`; `less`: what would do with less. */
void memory_check(const char *who, uint64_t bytes, const char *less);

#endif
