/* support_capture_harm.h - faults of links and recorders in a capture of the model. */
#ifndef HXMESH_TESTS_SUPPORT_CAPTURE_HARM_H
#define HXMESH_TESTS_SUPPORT_CAPTURE_HARM_H

#include "tests/support/support_capture.h"

/* In a data frame: the bytes that identify a packet, and the offset of payload. */
enum { SIM_KEY_AT = 24, SIM_KEY_BYTES = 40, SIM_HEADER_BYTES = 64 };

bool sim_is_record_of(const struct sim_record *r, const uint8_t *key);
/* Whether the record is the arrival of a packet with payload by a cable. */
bool sim_is_arrival(const struct sim_capture *c, const struct sim_record *r);
/* First such arrival from a record on; fails the test if there is none. */
size_t sim_find_arrival(const struct sim_capture *c, size_t from);

/* Loses, corrupts or doubles the packet of record `at`, in this and all later records of it. */
void sim_lose(struct sim_capture *c, size_t at);
void sim_turn_bit(struct sim_capture *c, size_t at, size_t byte);
void sim_repeat(struct sim_capture *c, size_t at);

/* Removes a record, repeats it, removes all records of an interface, or repeats all of them at a later time. */
void sim_take_out(struct sim_capture *c, size_t at);
void sim_insert_copy(struct sim_capture *c, size_t at);
void sim_forget_interface(struct sim_capture *c, unsigned interface);
void sim_repeat_all(struct sim_capture *c, uint64_t later_ns);

#endif
