/* faulty.h - a link that is cut, or loses, corrupts, doubles, reorders, delays or throttles what it carries.
 *
 *     sender --> link `from` --> faulty link, stepped by the receiver's worker --> link `to` --> receiver
 *
 * A link that is well has no faulty link and pays nothing for it: sender and receiver meet in `from`. Where one is put
 * in between, the receiver's window moves into `to` with its positions as they stand; the sender notices nothing. It is
 * taken out again when `to` is empty.
 *
 * A packet in `from` is on the cable. What becomes of it is one redo step (redo.h): into `to`, or home, so that it has
 * one owner at any time. A credit frame that is lost leaves the tail of `from` where it was: what was taken is marked
 * `gone`, and the next frame, which says how far the link has come in all, makes up for it.
 *
 * Invariant of each VC of `from`: tail <= taken <= head; all of tail .. taken-1 is gone, nothing else is. */
#ifndef SHM_FAULTY_H
#define SHM_FAULTY_H

#include "base/link_fault.h"
#include "hal_port.h"

/* Shares are parts of HX_FAULT_WHOLE, 0 .. HX_FAULT_WHOLE. All 0: the link is well. */
struct shm_condition {
    uint32_t down; /* 1: nothing that is on the cable, or comes to it, arrives */
    uint32_t loss, corrupt, duplicate, reorder;
    uint32_t credit_loss; /* of the frames that tell credit */
    uint64_t delay_ns;
    uint64_t bytes_a_second; /* 0: as fast as it goes */
};

struct shm_faulty {
    struct shm_worker *worker;
    struct shm_link *from, *to;
    struct shm_condition condition;
    struct hx_fault_cost *cost; /* what it did; only grows */
    unsigned vcs, size;
    uint32_t peer;    /* worker of the sender */
    bool checked;     /* whether who receives looks at the CRC of frames */
    bool leaving;     /* takes nothing more, to be taken out when `to` is empty */
    uint64_t head;    /* lanes: of `to` */
    uint64_t tail;    /* lanes: of `from`, as the sender knows it */
    uint64_t taken;   /* lanes: of `from`, as it is */
    uint64_t stamped; /* lanes: of `from`, up to which came_ns says when */
    uint64_t dice;
    uint64_t free_at; /* ns: when the cable has carried what it carries */
    uint64_t tell_at; /* ns: when the next credit frame is due that makes up for one that was lost */
    uint64_t came_ns[HX_VCS][SHM_MAX_SLOTS];
};

/* Puts it in between: `rx`, which looks at the cable, looks at `to` from now on. `to` is empty. The caller has filled
 * in worker, from, to, count, vcs, size, checked and dice (a seed); a step of its own. */
void shm_faulty_begin(struct shm_faulty *f, struct shm_rx *rx);

/* Takes it out if nothing is in it; the window of `rx` and `in` then begins where the cable stands. false: not yet. */
bool shm_faulty_end(struct shm_faulty *f, struct shm_rx *rx, struct hx_input *in);

/* Carries what is due. Returns packets that arrived, were lost, or were told to be gone. */
unsigned shm_faulty_step(struct shm_faulty *f);

/* Whether something is on the cable that a later step carries. */
bool shm_faulty_holds(const struct shm_faulty *f);

#endif
