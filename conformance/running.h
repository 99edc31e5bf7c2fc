/* running.h - which function of the port runs, so that harm is said of the one that does it.
 *
 * Where there are processes each clause is tried in one of its own: harm done there does not reach the others. What
 * that process and the one that waits for it both need to know lies in memory that they share.
 *
 * The macros below stand in front of the port's functions wherever the kit calls them. Arguments are evaluated after
 * the name is set: no call of the port stands among the arguments of another. */
#ifndef CONFORMANCE_RUNNING_H
#define CONFORMANCE_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

enum { KIT_MOST_BLAMED = 64 };

struct kit_shared {
    const char *volatile running; /* function of the port that was called last */
    const char *blamed[KIT_MOST_BLAMED];
    unsigned blamed_count;
    bool broken;    /* the clause that is tried */
    bool endless;   /* a clause did not come to an end */
    bool unsettled; /* some clause left buffers or room missing: no later one looks at it again */
};
extern struct kit_shared *kit_shared; /* whoever runs the kit provides it */

/* Whoever runs the kit gives it: ends the clause that is tried, whose memory is not to be trusted any more. */
_Noreturn void kit_abandon(void);

/* A function did harm: says so, once of each function, and that the clause is broken. */
void kit_blame(const char *function, const char *words);

static inline void kit_runs(const char *function)
{
    kit_shared->running = function;
}

/* The same for a function that gives one buffer back at most, and what is judged after it: a buffer that came back
 * twice ends the process, for the port's memory is not to be trusted any more. */
void kit_gives(const char *function);
void kit_gave(const char *function);

#define KIT_CALL(function, ...) (kit_runs(#function), function(__VA_ARGS__))
#define KIT_GIVE(function, ...) (kit_gives(#function), function(__VA_ARGS__), kit_gave(#function))

#define hal_rx_pending(...)           KIT_CALL(hal_rx_pending, __VA_ARGS__)
#define hal_tx_ready(...)             KIT_CALL(hal_tx_ready, __VA_ARGS__)
#define hal_consumed(...)             KIT_CALL(hal_consumed, __VA_ARGS__)
#define hal_arrived(...)              KIT_CALL(hal_arrived, __VA_ARGS__)
#define hal_arrival(...)              KIT_CALL(hal_arrival, __VA_ARGS__)
#define hal_tx_credits(...)           KIT_CALL(hal_tx_credits, __VA_ARGS__)
#define hal_packet_credits(...)       KIT_CALL(hal_packet_credits, __VA_ARGS__)
#define hal_output_occupancy(...)     KIT_CALL(hal_output_occupancy, __VA_ARGS__)
#define hal_buffer(...)               KIT_CALL(hal_buffer, __VA_ARGS__)
#define hal_destination(...)          KIT_CALL(hal_destination, __VA_ARGS__)
#define hal_redirect(...)             KIT_CALL(hal_redirect, __VA_ARGS__)
#define hal_transmit(...)             KIT_GIVE(hal_transmit, __VA_ARGS__)
#define hal_drop(...)                 KIT_GIVE(hal_drop, __VA_ARGS__)
#define hal_release(...)              KIT_CALL(hal_release, __VA_ARGS__)
#define hal_commit(...)               KIT_CALL(hal_commit, __VA_ARGS__)
#define hal_inject_room(...)          KIT_CALL(hal_inject_room, __VA_ARGS__)
#define hal_buffer_get(...)           KIT_CALL(hal_buffer_get, __VA_ARGS__)
#define hal_buffer_put(...)           KIT_GIVE(hal_buffer_put, __VA_ARGS__)
#define hal_frame(...)                KIT_CALL(hal_frame, __VA_ARGS__)
#define hal_inject(...)               KIT_GIVE(hal_inject, __VA_ARGS__)
#define hal_ejected(...)              KIT_CALL(hal_ejected, __VA_ARGS__)
#define hal_now(...)                  KIT_CALL(hal_now, __VA_ARGS__)
#define hal_crc32c(...)               KIT_CALL(hal_crc32c, __VA_ARGS__)
#define hal_endpoint_drop(...)        KIT_CALL(hal_endpoint_drop, __VA_ARGS__)
#define hal_endpoint_commit(...)      KIT_CALL(hal_endpoint_commit, __VA_ARGS__)
#define hx_endpoint_step(...)         KIT_CALL(hx_endpoint_step, __VA_ARGS__)
#define hx_accelerator_step(...)      KIT_CALL(hx_accelerator_step, __VA_ARGS__)
#define conformance_open(...)         KIT_CALL(conformance_open, __VA_ARGS__)
#define conformance_close(...)        KIT_CALL(conformance_close, __VA_ARGS__)
#define conformance_advance(...)      KIT_CALL(conformance_advance, __VA_ARGS__)
#define conformance_free_buffers(...) KIT_CALL(conformance_free_buffers, __VA_ARGS__)
#define conformance_drops(...)        KIT_CALL(conformance_drops, __VA_ARGS__)

#endif
