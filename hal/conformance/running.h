/* running.h - records which function of the port runs, so that harm is attributed to it.
 *
 * Where there are processes, each clause runs in its own, so that harm stays there. Parent and child share struct
 * kit_shared.
 *
 * The macros below wrap the port's functions in the kit. Arguments are evaluated after the name is set, so no call of
 * the port may be an argument of another. */
#ifndef CONFORMANCE_RUNNING_H
#define CONFORMANCE_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

enum { KIT_MOST_BLAMED = 64 };

struct kit_shared {
    const char *volatile running; /* function of the port called last */
    const char *blamed[KIT_MOST_BLAMED];
    unsigned blamed_count;
    bool broken;    /* the present clause */
    bool endless;   /* some clause did not end */
    bool unsettled; /* some clause lost buffers or credit: later ones skip that check */
};
extern struct kit_shared *kit_shared; /* provided by the kit's main program */

/* Provided by the kit's main program: ends the present clause, as its memory is corrupt. */
_Noreturn void kit_abandon(void);

/* Reports harm by a function, once for each function, and marks the clause as broken. */
void kit_blame(const char *function, const char *words);

static inline void kit_runs(const char *function)
{
    kit_shared->running = function;
}

/* The same for a function that frees at most one buffer, with the check after it: a buffer freed twice ends the
 * process, since the port's memory is corrupt. */
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
#define hal_vc_buffer(...)            KIT_CALL(hal_vc_buffer, __VA_ARGS__)
#define hal_destination(...)          KIT_CALL(hal_destination, __VA_ARGS__)
#define hal_redirect(...)             KIT_CALL(hal_redirect, __VA_ARGS__)
#define hal_transmit(...)             KIT_GIVE(hal_transmit, __VA_ARGS__)
#define hal_output_is_busy(...)       KIT_CALL(hal_output_is_busy, __VA_ARGS__)
#define hal_stall(...)                KIT_CALL(hal_stall, __VA_ARGS__)
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
#define conformance_pass(...)         KIT_CALL(conformance_pass, __VA_ARGS__)
#define conformance_free_buffers(...) KIT_CALL(conformance_free_buffers, __VA_ARGS__)
#define conformance_drops(...)        KIT_CALL(conformance_drops, __VA_ARGS__)
#define conformance_stalls(...)       KIT_CALL(conformance_stalls, __VA_ARGS__)

#endif
