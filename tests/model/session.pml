/* session.pml - two ends of a cable (include/hxmesh/credit.h): credits of one VC, sessions, restarts. For spin;
 * mk/model.sh runs it.
 *
 *     end 0 -- data, credit frames --> end 1     a wire keeps its order, and may lose anything
 *           <-- credit frames, data --           this data takes no buffer; only its grant counts
 *
 * Each event is one step: a frame is sent, taken, lost, repeated, delayed or forged; a packet leaves; an end restarts.
 * The steps of an end follow firmware/credit.c. Counts are modulo 256 and cross zero.
 *
 * Properties, for any steps:
 *     no stale grant     a piggybacked grant is accepted only in its own session
 *     no overrun         data of a session finds room in the buffer (except forged or repeated data)
 *     no refusal         nor is it refused because its session is not known there yet
 *     no stranger        two ends that have met stay so until one of them restarts
 *     whole again        from every state, ROUNDS good credit frames in each direction restore all credit
 *
 * Bounds: LOSSES, REPLAYS (of any one recorded credit frame: late, repeated, reflected), RESTARTS, FORGERIES,
 * DOUBLES and SENDS in all. Breaking a rule shows that it is needed: BREAK_SESSION (an open end accepts data and
 * grants, and sends limits), BREAK_LIMIT (an open end sends limits), BREAK_NAMES (counts of any session are
 * accepted), BREAK_NONCE (a question ends an open end's session), BREAK_RECONCILE (nothing is written off),
 * BREAK_HELD (a new session forgets the buffer's content), BREAK_FULL (a full buffer's limit of 0 is sent). */

#ifndef BUFFER
#define BUFFER 2
#endif
#ifndef WIRE
#define WIRE 2
#endif
#ifndef SENDS
#define SENDS 3
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef REPLAYS
#define REPLAYS 1
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef FORGERIES
#define FORGERIES 0
#endif
#ifndef DOUBLES
#define DOUBLES 0
#endif
#define ROUNDS 4
#define STRANGER 200 /* a nonce of neither end */

#define MOD(x) ((x) & 255)
#ifdef BREAK_SESSION
#define BELIEVES(w) e[w].open
#else
#define BELIEVES(w) e[w].heard
#endif
#if defined(BREAK_SESSION) || defined(BREAK_LIMIT)
#define TELLS(w) true
#else
#define TELLS(w) e[w].heard
#endif
#define NO_LIMIT 255
#ifdef BREAK_FULL
#define LIMIT_TOLD(w) true
#else
#define LIMIT_TOLD(w) MOD(e[w].freed + BUFFER) != 0
#endif

#define DATA 0
#define CREDIT 1

typedef frame {
    byte kind;
    byte nonce; /* of the sender; data has none on the wire, only for the check here */
    byte peer;
    byte limit;
    byte sent
}

typedef end {
    byte nonce;
    byte next;
    byte peer;
    byte asks;
    bit open;
    bit heard;
    bit answer;
    byte sent;  /* sender: used at end 0 */
    byte limit;
    byte received; /* receiver: used at end 1 */
    byte freed
}

end e[2];
chan to[2] = [WIRE] of { frame }; /* wire to an end */
byte held;                        /* blocks in the buffer of end 1 */
byte drawn;                       /* last nonce: 1 .. drawn */
bit met;                          /* both ends have each other's session, and none has restarted since */
byte sends, losses, replays, restarts, forgeries, doubles;
frame kept; /* the recorded frame; kind DATA: none */
frame f;       /* frame of the current step */
frame nothing; /* all zero */
byte fresh;
byte round;

#define MET (e[0].open && e[1].open && e[0].peer == e[1].nonce && e[1].peer == e[0].nonce)
#define ROOM MOD(e[0].limit - e[0].sent)

inline begin(w, n)
{
    e[w].nonce = n;
    e[w].next = 0;
    e[w].peer = 0;
    e[w].asks = 0;
    e[w].open = 0;
    e[w].heard = 0;
    e[w].answer = 1;
    e[w].sent = 0;
    e[w].limit = 0;
#ifdef BREAK_HELD
    e[w].freed = 0;
#else
    e[w].freed = MOD(e[w].freed - e[w].received);
#endif
    e[w].received = 0
}

/* With the session of f. */
inline open_with(w)
{
    e[w].peer = f.nonce;
    e[w].asks = 0;
    e[w].open = 1;
    e[w].answer = 1
}

#define SAYS_COUNTS(w) (e[w].open && (e[w].answer || e[w].asks == 0))

#define COPY(a, b) a.kind = b.kind; a.nonce = b.nonce; a.peer = b.peer; a.limit = b.limit; a.sent = b.sent

/* hx_credit_link_frame() into f, and hx_credit_link_notified(). */
inline tell(w)
{
    f.kind = CREDIT;
    f.nonce = e[w].nonce;
    f.peer = e[w].peer;
    f.limit = 0;
    f.sent = 0;
    if
    :: SAYS_COUNTS(w) ->
        if
        :: TELLS(w) && LIMIT_TOLD(w) -> f.limit = MOD(e[w].freed + BUFFER)
        :: else -> f.limit = NO_LIMIT
        fi;
        f.sent = e[w].sent;
        e[w].answer = 0
    :: else ->
        if
        :: e[w].open -> f.nonce = e[w].next
        :: else -> skip
        fi;
        f.peer = e[w].asks;
        e[w].answer = e[w].open;
        e[w].asks = 0
    fi
}

/* hx_credit_grant() of f. */
inline grant(w)
{
    if
    :: MOD(f.limit - e[w].sent) <= BUFFER && MOD(f.limit - e[w].sent) > MOD(e[w].limit - e[w].sent) -> e[w].limit = f.limit
    :: else -> skip
    fi
}

inline take_counts(w)
{
    if
    :: f.limit != 0 ->
        if
        :: !e[w].heard -> e[w].heard = 1; e[w].answer = 1
        :: else -> skip
        fi
    :: else -> skip
    fi;
    if
    :: w == 0 -> grant(0)
    :: else ->
#ifndef BREAK_RECONCILE
        e[w].freed = MOD(e[w].freed + f.sent - e[w].received);
        e[w].received = f.sent
#endif
    fi
}

/* hx_credit_link_take() of f. */
inline take(w)
{
    if
    :: e[w].next == 0 -> drawn++; e[w].next = drawn
    :: else -> skip
    fi;
    if
    :: f.nonce == e[w].nonce || f.nonce == e[w].next -> skip
    :: else ->
        if
#ifdef BREAK_NONCE
        :: e[w].open && f.nonce != e[w].peer ->
#else
        :: e[w].open && f.nonce != e[w].peer && f.peer == e[w].next ->
#endif
            assert(!met); /* no stranger */
            fresh = e[w].next;
            begin(w, fresh);
            open_with(w)
        :: !e[w].open && f.peer == e[w].nonce -> open_with(w)
        :: else ->
            if
            :: f.nonce != e[w].peer && (f.peer == e[w].nonce || f.peer == 0) ->
                e[w].asks = f.nonce;
                e[w].answer = (e[w].answer || !e[w].open)
            :: else -> skip
            fi
        fi;
        if
#ifdef BREAK_NAMES
        :: e[w].open -> take_counts(w)
#else
        :: f.nonce == e[w].peer && f.peer == e[w].nonce -> take_counts(w)
#endif
        :: else -> skip
        fi
    fi
}

/* Data f arrives: hx_credit_link_grant() at end 0, hx_credit_link_arrive() at end 1. */
inline arrive(w)
{
    if
    :: w == 0 && BELIEVES(0) ->
        assert(f.nonce == STRANGER || (f.nonce == e[0].peer && f.peer == e[0].nonce)); /* no stale grant */
        grant(0)
    :: w == 1 && BELIEVES(1) ->
        assert(held < BUFFER || forgeries + doubles > 0); /* no overrun */
        if
        :: held < BUFFER -> held++; e[1].received = MOD(e[1].received + 1)
        :: else -> skip
        fi
    :: else -> assert(w == 0 || forgeries > 0 || f.nonce != e[1].peer || f.peer != e[1].nonce) /* no refusal */
    fi
}

inline hear(w)
{
    if
    :: f.kind == CREDIT -> take(w)
    :: else -> arrive(w)
    fi
}

/* Records f at the end of a wire, so late and repeated frames are never early. */
inline record()
{
    if
    :: replays < REPLAYS && f.kind == CREDIT -> COPY(kept, f)
    :: true -> skip
    fi
}

/* After a step: clears its temporary values, which would distinguish states. */
inline done()
{
    met = (met || MET);
    COPY(f, nothing);
    fresh = 0
}

/* Credit frames in both directions, none of them lost. */
inline exchange()
{
    round = 0;
    do
    :: round < ROUNDS ->
        tell(0);
        hear(1);
        tell(1);
        hear(0);
        round++
    :: round == ROUNDS -> break
    od
}

/* No more faults: everything in flight arrives, and both ends accept each other with any buffer content; then the
 * buffer empties. */
inline settle()
{
    do
    :: len(to[0]) > 0 -> to[0]?f; hear(0)
    :: len(to[0]) == 0 && len(to[1]) > 0 -> to[1]?f; hear(1)
    :: len(to[0]) == 0 && len(to[1]) == 0 -> break
    od;
    exchange();
    assert(MET && e[0].heard && e[1].heard); /* heard though the buffer is full */
    do
    :: held > 0 -> held--; e[1].freed = MOD(e[1].freed + 1)
    :: held == 0 -> break
    od;
    exchange();
    assert(ROOM == BUFFER && e[1].received == e[0].sent && e[1].freed == e[1].received) /* whole again */
}

active proctype cable()
{
    byte w;
    d_step {
        begin(0, 1);
        begin(1, 2);
        drawn = 2
    }
    do
    :: atomic { /* an end sends credit */
        if
        :: w = 0
        :: w = 1
        fi;
        if
        :: len(to[1 - w]) < WIRE ->
            tell(w);
            to[1 - w]!f
        :: else -> skip
        fi;
        done();
        w = 0
    }
    :: atomic { sends < SENDS && ROOM > 0 && len(to[1]) < WIRE -> /* end 0 sends a packet */
        sends++;
        e[0].sent = MOD(e[0].sent + 1);
        to[1]!DATA, e[0].nonce, e[0].peer, 0, 0
    }
    :: atomic { BELIEVES(1) && len(to[0]) < WIRE -> /* end 1 sends one with a grant: it has room by counts */
        to[0]!DATA, e[1].nonce, e[1].peer, MOD(e[1].freed + BUFFER), 0
    }
    :: atomic { len(to[0]) > 0 -> to[0]?f; record(); hear(0); done() }
    :: atomic { len(to[1]) > 0 -> to[1]?f; record(); hear(1); done() }
    :: atomic { held > 0 -> held--; e[1].freed = MOD(e[1].freed + 1) }
    :: atomic { losses < LOSSES && len(to[0]) > 0 -> to[0]?f; losses++; record(); done() }
    :: atomic { losses < LOSSES && len(to[1]) > 0 -> to[1]?f; losses++; record(); done() }
    :: atomic { doubles < DOUBLES && len(to[1]) > 0 -> to[1]?<f>; doubles++; hear(1); done() }
    :: atomic { replays < REPLAYS && kept.kind == CREDIT ->
        replays++;
        COPY(f, kept);
        if
        :: true -> hear(0)
        :: true -> hear(1)
        fi;
        done()
    }
    :: atomic { forgeries < FORGERIES ->
        forgeries++;
        f.nonce = STRANGER;
        if
        :: f.kind = DATA
        :: f.kind = CREDIT
        fi;
        if
        :: f.peer = 0
        :: f.peer = STRANGER
        fi;
        if
        :: f.limit = 1
        :: f.limit = BUFFER
        :: f.limit = 130
        fi;
        f.sent = f.limit;
        if
        :: true -> hear(0)
        :: true -> hear(1)
        fi;
        done()
    }
    :: atomic { restarts < RESTARTS -> /* an end restarts, with or without its memory and buffer content */
        restarts++;
        met = 0;
        drawn++;
        if
        :: begin(0, drawn)
        :: begin(1, drawn)
        :: held = 0; e[1].received = 0; e[1].freed = 0; begin(1, drawn)
        fi
    }
    :: d_step { true; settle() } -> break
    od
}
