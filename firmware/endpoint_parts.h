/* endpoint_parts.h - what the endpoint's sending (endpoint.c) and receiving (endpoint_receive.c) sides ask of each
 * other. Ranks are indices of ep->peer. */
#ifndef HX_ENDPOINT_PARTS_H
#define HX_ENDPOINT_PARTS_H

#include "hxmesh/endpoint.h"

/* Receiving side: consumes every arrival; returns how many. */
unsigned hx_endpoint_consume(struct hx_endpoint *ep);
/* Header and payload of the acknowledgement for slot `which`, and marks the slot as taken off the list. false: there is
 * nothing to acknowledge, the peer has restarted since. */
bool hx_endpoint_write_ack(struct hx_endpoint *ep, uint32_t which, struct hx_header *h, uint8_t *payload);

/* Sending side. */
void hx_endpoint_inject(struct hx_endpoint *ep, unsigned plane, uint32_t buffer, struct hx_header *h);
void hx_endpoint_end_send(struct hx_endpoint *ep, struct hx_send *s, enum hx_event_type type, int error);
void hx_endpoint_take_ack(struct hx_endpoint *ep, const struct hx_header *h, uint32_t rank, const uint8_t *payload);
void hx_endpoint_take_unreachable(struct hx_endpoint *ep, const struct hx_header *h, uint32_t rank);
/* The peer has restarted: everything it had not finished goes out again. */
void hx_endpoint_restart_sends(struct hx_endpoint *ep, uint32_t rank);

#endif
