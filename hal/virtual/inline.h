/* inline.h - what is to be inlined and what not: functions whose callers tell them by a constant which of two they are,
 * or that only prefetch, which has no effect that the compiler must keep of a call; and such as are called seldom from
 * where each instruction counts: there not even their registers are to be saved. */
#ifndef VIRTUAL_INLINE_H
#define VIRTUAL_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define SELDOM        __attribute__((noinline))

#endif
