/* redo.pml - the redo record (hal/shm/redo.h) and its users: a worker's step (hal/shm/hal_port.h), and the supervisor
 * that recovers a dead worker (fabric-emu/live/recover.c). Workers are killed before every store, and others see stores
 * in any order that a weak memory allows. For spin; mk/model.sh runs it.
 *
 *     ring 1 --> worker 0: takes a free buffer, puts it on the link --> ring 0 (the link) --> worker 1: sends it home --> ring 1
 *
 * A step reads what the other published, writes a slot that no head has published yet, notes the new head and tail in
 * its record, sets the count, stores the head, then the tail, and clears the count. A worker is killed between any two
 * stores. The supervisor completes its record. For worker 1 it sends home the packets on the link. Then it restarts the
 * worker from memory. Positions are modulo 8: runs have no end.
 *
 * Memory. A worker's stores enter its own queue, and leave it in any order, with two exceptions. No store passes
 * another to the same word, and a release store passes no older one. A plain store may overtake a release store, as on
 * aarch64. Loads acquire: later loads stay later. A killed process has stored all that it executed: the supervisor
 * starts once its queue is empty.
 *
 * Properties:
 *     never in none     at any time each buffer is seen in a ring
 *     one place         while no worker is in a step or dead, in one only
 *
 * KILLS bounds the number of kills. Breaking a rule shows that it is needed: BREAK_RECORD (no record), BREAK_ORDER
 * (tails before heads), BREAK_RELEASE (heads are plain stores), BREAK_ACQUIRE (a slot may be read before its head),
 * BREAK_COUNT (a step's entries may be written before the last one's count is cleared), BREAK_DRAIN (packets on the
 * link to the dead worker are not sent home). */

#ifndef KILLS
#define KILLS 1
#endif
#define BUFFERS 2
#define QUEUE 8
#define MOD(x) ((x) & 7)

/* Words of shared memory. Of ring r: its head and 4 slots, written by worker r; its tail, written by the other. */
#define HEAD(r) (r)
#define TAIL(r) (2 + (r))
#define SLOT(r, at) (4 + 4 * (r) + ((at) & 3))
#define COUNT(w) (12 + 3 * (w)) /* of worker w's record */
#define NEW_HEAD(w) (13 + 3 * (w))
#define NEW_TAIL(w) (14 + 3 * (w))
#define WORDS 18
#define ROOM(r) (2 + 2 * (r)) /* slots in use: the link may be full, the ring that leads home never is */

#define PLAIN 0
#define RELEASE 1
#ifdef BREAK_RELEASE
#define HEADS PLAIN
#else
#define HEADS RELEASE
#endif

/* Stores of a worker that are not visible to all. */
typedef queue {
    byte word[QUEUE];
    byte value[QUEUE];
    bit release[QUEUE];
    byte count
}

byte memory[WORDS];
queue q[2];
byte at[2];          /* next store of a worker's step; 0: none */
byte head[2], tail[2], buffer[2]; /* of worker w: of the ring it fills, the ring it empties; the buffer it moves */
bit owes[2];         /* the count of its last step must still be cleared */
bit dead[2];
byte kills, doing; /* the supervisor's next store */
byte i, j, seen; /* within one step */
bit free;

#define IN(w) (1 - (w)) /* the ring it empties */

/* A worker can store: executable while its queue has room. */
#define CAN(w) (!dead[w] && q[w].count < QUEUE)

inline put(w, a, v, how)
{
    q[w].word[q[w].count] = a;
    q[w].value[q[w].count] = v;
    q[w].release[q[w].count] = how;
    q[w].count++
}

/* Entry i of a queue becomes visible. */
inline let_out(w)
{
    memory[q[w].word[i]] = q[w].value[i];
    q[w].count--;
    do
    :: i < q[w].count ->
        q[w].word[i] = q[w].word[i + 1];
        q[w].value[i] = q[w].value[i + 1];
        q[w].release[i] = q[w].release[i + 1];
        i++
    :: i >= q[w].count -> break
    od;
    q[w].word[i] = 0;
    q[w].value[i] = 0;
    q[w].release[i] = 0
}

/* Counts into `seen` the places of a buffer in the rings. */
inline look_for(b)
{
    seen = 0;
    j = 0;
    do
    :: j < 2 ->
        i = memory[TAIL(j)];
        do
        :: i != memory[HEAD(j)] ->
            if
            :: memory[SLOT(j, i)] == b -> seen++
            :: else -> skip
            fi;
            i = MOD(i + 1)
        :: i == memory[HEAD(j)] -> break
        od;
        j++
    :: j == 2 -> break
    od
}

#define QUIET (at[0] + at[1] + q[0].count + q[1].count + dead[0] + dead[1] == 0)

/* Check after every step. */
inline check()
{
    look_for(1);
    assert(seen >= 1); /* never in none */
    assert(seen == 1 || !QUIET); /* one place */
    look_for(2);
    assert(seen >= 1); /* never in none */
    assert(seen == 1 || !QUIET); /* one place */
    i = 0;
    j = 0;
    seen = 0;
    free = 0
}

/* A worker's step, store by store. */
#define STEP(w) \
    :: atomic { !dead[w] && at[w] == 0 && MOD(head[w] - memory[TAIL(w)]) < ROOM(w) && LOOKS(w) -> \
        buffer[w] = memory[SLOT(IN(w), tail[w])]; at[w] = 1; d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 1 && READY(w) -> put(w, SLOT(w, head[w]), buffer[w], PLAIN); \
        head[w] = MOD(head[w] + 1); tail[w] = MOD(tail[w] + 1); at[w] = FIRST; d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 2 -> put(w, NEW_HEAD(w), head[w], PLAIN); at[w] = 3; d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 3 -> put(w, NEW_TAIL(w), tail[w], PLAIN); at[w] = 4; d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 4 && owes[w] -> put(w, COUNT(w), 0, RELEASE); owes[w] = 0; d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 4 && !owes[w] -> put(w, COUNT(w), 2, RELEASE); at[w] = 5; d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 5 -> put(w, EARLIER(w), RELEASE_EARLIER); at[w] = 6; d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 6 -> put(w, LATER(w), RELEASE); at[w] = LAST; owes[w] = (LAST == 0); d_step { check() } } \
    :: atomic { CAN(w) && at[w] == 7 -> put(w, COUNT(w), 0, RELEASE); at[w] = 0; buffer[w] = 0; d_step { check() } }

#ifdef BREAK_ACQUIRE
#define LOOKS(w) true
#define READY(w) (memory[HEAD(IN(w))] != tail[w])
#else
#define LOOKS(w) (memory[HEAD(IN(w))] != tail[w])
#define READY(w) true
#endif
#ifdef BREAK_ORDER
#define EARLIER(w) TAIL(IN(w)), tail[w]
#define LATER(w) HEAD(w), head[w]
#define RELEASE_EARLIER RELEASE
#else
#define EARLIER(w) HEAD(w), head[w]
#define LATER(w) TAIL(IN(w)), tail[w]
#define RELEASE_EARLIER HEADS
#endif
#ifdef BREAK_RECORD
#define FIRST 5
#else
#define FIRST 2
#endif
#if defined(BREAK_RECORD) || defined(BREAK_COUNT)
#define LAST 0
#else
#define LAST 7
#endif

/* Any entry of its queue that may become visible does. */
#define SHOW(w) \
    :: atomic { q[w].count > 0 -> \
        i = 0; \
        do \
        :: i + 1 < q[w].count -> i++ \
        :: break \
        od; \
        free = (i == 0 || q[w].release[i] == 0); \
        j = 0; \
        do \
        :: j < i -> free = (free && q[w].word[j] != q[w].word[i]); j++ \
        :: j == i -> break \
        od; \
        if \
        :: free -> let_out(w) \
        :: !free -> skip \
        fi; \
        d_step { check() } }

#define KILL(w) \
    :: atomic { kills < KILLS && !dead[w] -> \
        kills++; \
        do \
        :: q[w].count > 0 -> i = 0; let_out(w) \
        :: q[w].count == 0 -> break \
        od; \
        dead[w] = 1; at[w] = 0; head[w] = 0; tail[w] = 0; buffer[w] = 0; owes[w] = 0; \
        d_step { check() } }

/* The supervisor acts for worker w, one after the other: its own stores are released. */
#define RECOVER(w) \
    :: atomic { dead[w] && doing == 0 -> doing = 1 + 10 * w } \
    :: atomic { doing == 1 + 10 * w -> \
        if \
        :: memory[COUNT(w)] != 0 -> memory[HEAD(w)] = memory[NEW_HEAD(w)] \
        :: else -> skip \
        fi; \
        doing = 2 + 10 * w; d_step { check() } } \
    :: atomic { doing == 2 + 10 * w -> \
        if \
        :: memory[COUNT(w)] != 0 -> memory[TAIL(IN(w))] = memory[NEW_TAIL(w)] \
        :: else -> skip \
        fi; \
        doing = 3 + 10 * w; d_step { check() } } \
    :: atomic { doing == 3 + 10 * w -> \
        memory[COUNT(w)] = 0; \
        if \
        :: w == 1 -> doing = 14; tail[w] = memory[TAIL(0)]; buffer[w] = memory[HEAD(0)] \
        :: w == 0 -> doing = 6 \
        fi; \
        d_step { check() } } \
    :: atomic { doing == 6 + 10 * w -> \
        doing = 0; \
        head[w] = memory[HEAD(w)]; \
        tail[w] = memory[TAIL(IN(w))]; \
        buffer[w] = 0; \
        dead[w] = 0; \
        d_step { check() } }

/* Packets on the link to worker 1, up to a head that was read once, go home, buffer by buffer; then its tail moves. */
#define DRAIN \
    :: atomic { doing == 14 && tail[1] != buffer[1] -> \
        MAYBE_SEND_HOME \
        tail[1] = MOD(tail[1] + 1); \
        d_step { check() } } \
    :: atomic { doing == 14 && tail[1] == buffer[1] -> memory[TAIL(0)] = tail[1]; doing = 16; d_step { check() } }

#ifdef BREAK_DRAIN
#define MAYBE_SEND_HOME
#else
#define MAYBE_SEND_HOME \
    memory[SLOT(1, memory[HEAD(1)])] = memory[SLOT(0, tail[1])]; \
    memory[HEAD(1)] = MOD(memory[HEAD(1)] + 1);
#endif

active proctype machine()
{
    d_step { /* all buffers are free: in the ring that leads home */
        memory[SLOT(1, 0)] = 1;
        memory[SLOT(1, 1)] = 2;
        memory[HEAD(1)] = BUFFERS;
        head[1] = BUFFERS
    }
    do
    STEP(0)
    STEP(1)
    SHOW(0)
    SHOW(1)
    KILL(0)
    KILL(1)
    RECOVER(0)
    RECOVER(1)
    DRAIN
    od
}
