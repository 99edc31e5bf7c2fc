/* user.h - hal_read_payload(), hal_write_payload() and hal_event() as calls of functions that an endpoint's owner sets;
 * for a platform with endpoint owners of several kinds. */
#ifndef HAL_USER_H
#define HAL_USER_H

#include "hxmesh/hal.h"

/* Any may be NULL. Called from within hx_endpoint_step(). */
struct hal_user {
    void (*fill)(void *of, const struct hx_send *, uint32_t packet, uint8_t *to, unsigned bytes);
    void (*place)(void *of, const struct hx_header *, const uint8_t *payload);
    void (*event)(void *of, const struct hx_event *);
    void *of;
};

/* The platform defines it: returns the functions of an endpoint's owner. */
static inline const struct hal_user *hal_user(const struct hal_endpoint *h);

static inline void hal_read_payload(struct hal_endpoint *h, const struct hx_send *s, uint32_t packet, uint8_t *to,
                                    unsigned bytes)
{
    const struct hal_user *u = hal_user(h);
    if (u->fill)
        u->fill(u->of, s, packet, to, bytes);
}

static inline void hal_write_payload(struct hal_endpoint *h, const struct hx_header *header, const uint8_t *payload)
{
    const struct hal_user *u = hal_user(h);
    if (u->place)
        u->place(u->of, header, payload);
}

static inline void hal_event(struct hal_endpoint *h, const struct hx_event *event)
{
    const struct hal_user *u = hal_user(h);
    if (u->event)
        u->event(u->of, event);
}

#endif
