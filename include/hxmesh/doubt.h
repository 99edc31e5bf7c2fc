/* doubt.h - what one end of a cable believes of what comes by it.
 *
 * By the rules of credit.h, a frame that names a later session, or counts that cannot be true, begin a session, and a
 * session costs all that is under way. That is right where a cable only loses frames. Where anything may come (frames
 * that were kept and sent again, this end's own, made-up ones), each such frame would stop the traffic. So an end
 * waits until it has heard it several times, and nothing to the contrary meanwhile:
 *
 *     another session            HX_DOUBT_FRAMES in a row that name the same one. Who has begun one says so again and
 *                                again, and at once when answered
 *     counts that cannot be      HX_DOUBT_FRAMES in a row
 *     data beyond the grant      dropped, and HX_DOUBT_OVERRUNS of it before the next frame whose counts can be
 *
 * Counts that can be are taken at once. What came twice is taken back: a credit frame comes behind all data sent before
 * it, so what was received beyond its count was never sent. If it was the frame that lied, high or low, the next true
 * one sets the counts right again; what was taken back may then be written off beside a whole buffer. So frames of
 * any content cost no session and no credit where a true one comes between them, and packets at most: those that a
 * grant that was a lie has the peer drop.
 *
 * These are the ways out of a wrong idea of the sessions:
 *
 *     the frame names this end's own number       it came back from a loop in the cabling, or clocks gave both ends one
 *                                                 number. It says nothing about a peer. A link that is not open takes
 *                                                 another number, by steps that two ends do not keep in time, and one
 *                                                 that is open does after HX_DOUBT_OWN in a row and none of the peer's
 *     the peer knows a later session of this end  while the link is not open: this end's clock has gone back, and it
 *                                                 goes on from there
 *     HX_DOUBT_STUCK frames speak to this session of this end, from one of the peer that is said to be over
 *                                                 and none of the peer's: that number was a lie, or the peer's clock
 *                                                 has gone back. It is left, and the frame's is the peer's
 *
 * So two ends that were told anything find each other again when only true frames come.
 *
 * For links by cable. In memory that both ends trust, credit.h alone is enough. Not thread safe; one owner. */
#ifndef HXMESH_DOUBT_H
#define HXMESH_DOUBT_H

#include "hxmesh/credit.h"

enum {
    HX_DOUBT_FRAMES = 3,
    HX_DOUBT_OVERRUNS = 16, /* packets */
    HX_DOUBT_STUCK = 8,     /* frames */
    HX_DOUBT_OWN = 255      /* frames: more than this end sends from one of the peer's to the next */
};

/* What was heard and is not believed yet. All zero when the link comes up; a session that begins here clears it. */
struct hx_doubt {
    uint32_t session;       /* that another frame named */
    uint8_t frames;         /* that named it, one after another */
    uint8_t incredible;     /* frames of the present sessions, one after another, whose counts cannot be */
    uint8_t overruns;       /* packets beyond the grant since a frame whose counts can be */
    uint8_t stuck;          /* frames in a row that speak to this session, from one that is said to be over */
    uint8_t own;            /* frames of this end's own number, and none of the peer's between */
    uint32_t back[HX_VCS];  /* blocks taken back since the counts of both ends last agreed */
    uint32_t wrote[HX_VCS]; /* blocks that the last frame had written off */
};

enum hx_belief {
    HX_BELIEVED, /* taken by the rules of credit.h, which ignore old ones */
    HX_DOUBTED,  /* not believed, or not yet */
    HX_REFLECTED /* this end's own number */
};

/* A credit frame came: hx_credit_link_take with caution. `random`: any number that the peer does not draw too. A
 * session has begun if the link's session or peer_session is another one afterwards: what is yet to go is void then. */
enum hx_belief hx_doubt_take(struct hx_doubt *d, struct hx_credit_link *l, const struct hx_credit_frame *f,
                             uint32_t random);

/* A packet came: hx_credit_link_arrive with caution. False: it must be dropped, as an overrun, and a session has begun
 * if the link's session is another one afterwards. */
bool hx_doubt_arrive(struct hx_doubt *d, struct hx_credit_link *l, unsigned vc, uint32_t blocks);

#endif
