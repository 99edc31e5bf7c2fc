/* faulty.h - a link that is down, or loses, corrupts, duplicates, reorders, delays or throttles packets.
 *
 *     sender --> link `from` --> faulty link, stepped by the receiver's worker --> link `to` --> receiver
 *
 * A healthy link has no faulty link and no cost: sender and receiver share `from`. Insertion moves the receiver's
 * window into `to`; positions keep their numbers and the sender notices nothing. Removal waits until `to` is empty.
 *
 * A packet in `from` is on the cable. One redo step (redo.h) moves it to `to` or frees its buffer, so it always has one
 * owner. A lost credit frame leaves the tail of `from`; the packets taken are marked `gone`. Credit frames carry
 * totals, so the next one makes up for a lost one.
 *
 * Invariant of each VC of `from`: tail <= taken <= head; tail .. taken-1 is gone, the rest is not. */
#ifndef SHM_FAULTY_H
#define SHM_FAULTY_H

#include "base/link_fault.h"
#include "hal_port.h"

/* Probabilities, 0 .. HX_FAULT_WHOLE. All 0: healthy. */
struct shm_condition {
    uint16_t down;   /* 1: packets on the cable and new ones are lost */
    uint16_t closed; /* 1: the sender sends none, as planned; packets on the cable arrive. No faulty link needs it. */
    uint32_t loss, corrupt, duplicate, reorder;
    uint32_t credit_loss; /* of credit frames */
    uint64_t delay_ns;
    uint64_t bytes_a_second; /* 0: unlimited */
};

struct shm_faulty {
    struct shm_worker *worker;
    struct shm_link *from, *to;
    struct shm_condition condition;
    struct hx_fault_cost *cost; /* totals */
    unsigned vcs, size;
    uint32_t peer;    /* worker of the sender */
    bool checked;     /* the receiver checks CRCs */
    bool leaving;     /* takes no more packets; removed once `to` is empty */
    uint64_t head;    /* lanes: head of `to` */
    uint64_t tail;    /* lanes: tail of `from`, as published to the sender */
    uint64_t taken;   /* lanes: position in `from` up to which packets are taken */
    uint64_t stamped; /* lanes: position in `from` up to which came_ns is valid */
    uint64_t dice;
    uint64_t free_at;   /* ns: end of the transmission on the cable */
    uint64_t credit_at; /* ns: when to repeat credit after a lost credit frame */
    uint64_t came_ns[HX_VCS][SHM_MAX_SLOTS];
};

/* Inserts a faulty link: `rx` then reads from `to`, which is empty. The caller sets worker, from, to, count, vcs, size,
 * checked and dice (a seed). It is a redo step of its own. */
void shm_faulty_begin(struct shm_faulty *f, struct shm_rx *rx);

/* Removes the faulty link if it is empty; `rx` and `in` then continue in `from`. Returns false if it is not empty. */
bool shm_faulty_end(struct shm_faulty *f, struct shm_rx *rx, struct hx_input *in);

/* Moves the packets that are due. Returns how many arrived or were lost, plus one if credit was published. */
unsigned shm_faulty_step(struct shm_faulty *f);

/* True if packets are on the cable. */
bool shm_faulty_holds(const struct shm_faulty *f);

#endif
