/* owned.h - memory of one fabric of a library, apart from that of the rest of its process.
 *
 * The code of a run is that of a program: it ends by hx_die() in any depth, and leaves memory to the end of the
 * process. Here a call is entered with an owner. What it allocates or maps in this thread, until it is left, belongs to
 * the owner. So all of it can be given back at once, also after a call that did not come to its end. The linker leads
 * calls of malloc() and mmap(), and their like, to this file (--wrap): of the code of the library, not of other
 * libraries.
 *
 *     owned_enter(&o);
 *     if (setjmp(o.back) == 0) ...  else: hx_die() was called; o.problem says why
 *     owned_leave();
 *     owned_free(&o); */
#ifndef LIBRARY_OWNED_H
#define LIBRARY_OWNED_H

#include "base/error.h"

#include <setjmp.h>
#include <stdint.h>

/* Open addressing by address; 0: an empty slot. Invariant: at most half of the slots are in use. */
struct owned_set {
    uintptr_t *address; /* [slots] */
    uint64_t *bytes;    /* [slots]: of a mapping; NULL: not kept */
    size_t used, slots; /* slots: 0 or a power of two */
};

struct owned {
    struct owned_set blocks, mappings;
    jmp_buf back;
    struct hx_problem problem;
    char *said; /* lines of hx_warn(); NULL: none */
    size_t said_bytes;
};

/* Begins as zeros. */
void owned_enter(struct owned *o);
void owned_leave(void);
/* Gives back all that it owns. */
void owned_free(struct owned *o);

#endif
