/* inline.h - attributes for inlining.
 *
 * ALWAYS_INLINE: functions specialised by a constant argument, and functions that only prefetch. A compiler may drop
 * calls of the latter. `NOINLINE`: rarely called from hot code, which must not save registers for them. */
#ifndef VIRTUAL_INLINE_H
#define VIRTUAL_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NOINLINE      __attribute__((noinline))

#endif
