/* inline.h - functions whose callers tell them by a constant which of two they are, or that only prefetch, which has no effect
 * that the compiler must keep of a call. */
#ifndef VIRTUAL_INLINE_H
#define VIRTUAL_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
