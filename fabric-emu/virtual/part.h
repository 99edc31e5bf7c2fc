/* part.h - an accelerator's part in a collective under the virtual clock: the program, and its vector if it is checked. */
#ifndef PART_H
#define PART_H

#include "driver.h"

/* NULL: the accelerator has no job. */
struct part *part_new(struct driver *d);

/* Hands over what may go, and looks whether the end is reached. */
void part_begin(struct part *p);
void part_take_event(struct part *p, const struct hx_event *event);

void part_fill(const struct part *p, uint32_t tag, uint32_t packet, uint8_t *to, unsigned bytes);
void part_place(struct part *p, const struct hx_header *h, const uint8_t *payload);

/* Done, or ended because a message was given up. */
bool part_is_over(const struct part *p);

#endif
