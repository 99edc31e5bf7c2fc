/* support_capture_harm.h - what links do to the packets of a model's capture, and recorders to what they saw. */
#ifndef HXMESH_TESTS_SUPPORT_CAPTURE_HARM_H
#define HXMESH_TESTS_SUPPORT_CAPTURE_HARM_H

#include "tests/support/support_capture.h"

/* Of a data frame: what tells packets apart, and where payload begins. */
enum { SIM_KEY_AT = 24, SIM_KEY_BYTES = 40, SIM_HEADER_BYTES = 64 };

bool sim_is_sight(const struct sim_record *r, const uint8_t *key);
/* Of a packet with payload, by a cable. */
bool sim_is_arrival(const struct sim_capture *c, const struct sim_record *r);
/* The first of them from a record on; there must be one. */
size_t sim_find_arrival(const struct sim_capture *c, size_t from);

/* To the packet of record `at`, there and wherever it is seen later: it is not, has a bit turned, or is doubled. */
void sim_lose(struct sim_capture *c, size_t at);
void sim_turn_bit(struct sim_capture *c, size_t at, size_t byte);
void sim_repeat(struct sim_capture *c, size_t at);

/* To records: one is missing, stands there twice, all of an interface are missing, all stand there once more so much
 * later. */
void sim_take_out(struct sim_capture *c, size_t at);
void sim_insert_copy(struct sim_capture *c, size_t at);
void sim_forget_interface(struct sim_capture *c, unsigned interface);
void sim_repeat_all(struct sim_capture *c, uint64_t later_ns);

#endif
