/* kit_user.h - an endpoint's owner for the conformance kit, on a platform with hal/user.h. */
#ifndef HAL_KIT_USER_H
#define HAL_KIT_USER_H

#include "conformance/conformance_port.h"
#include "hal/user.h"

static void kit_user_fill(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    conformance_read_payload(of, s, packet, to, bytes);
}

static void kit_user_place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    conformance_write_payload(of, h, payload);
}

static void kit_user_event(void *of, const struct hx_event *e)
{
    conformance_event(of, e);
}

static inline struct hal_user kit_user(struct hal_endpoint *of)
{
    return (struct hal_user){.fill = kit_user_fill, .place = kit_user_place, .event = kit_user_event, .of = of};
}

#endif
