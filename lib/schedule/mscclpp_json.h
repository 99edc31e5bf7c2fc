/* mscclpp_json.h - checked values of an MSCCL++ plan, and the place of its reader. */
#ifndef SCHEDULE_MSCCLPP_JSON_H
#define SCHEDULE_MSCCLPP_JSON_H

#include "schedule/mscclpp_file.h"

#include <jansson.h>

enum { MSCCLPP_MEMORY, MSCCLPP_PORT, MSCCLPP_SWITCH, MSCCLPP_CHANNEL_TYPES };
extern const char *const mscclpp_channel_types[MSCCLPP_CHANNEL_TYPES + 1]; /* "memory", ...; ends with NULL */
extern const char *const mscclpp_buffers[MSCCL_BUFFERS + 1];               /* "i", "o", "s", NULL */

struct mscclpp_channel {
    uint32_t peer, order; /* among the channels of this type to the peer */
};

/* Growing list of numbers. */
struct mscclpp_list {
    uint32_t *at;
    size_t count, room;
};

struct mscclpp_reader {
    struct mscclpp_file *file;
    const char *path;
    struct hx_problem *problem;
    uint32_t gpu, block, op; /* where it is */
    uint64_t pipelines;
    struct mscclpp_channel *channel[MSCCLPP_CHANNEL_TYPES]; /* of the gpu */
    size_t channels[MSCCLPP_CHANNEL_TYPES], channels_room[MSCCLPP_CHANNEL_TYPES];
    struct mscclpp_remote {
        uint32_t gpu, buffer;
    } * remote; /* of the gpu */
    size_t remotes, remotes_room;
    struct mscclpp_list own_channel[MSCCLPP_CHANNEL_TYPES]; /* of the thread block */
    struct mscclpp_list own_remote[MSCCLPP_CHANNEL_TYPES];
};

/* Reports what is wrong where the reader is. Returns false. */
__attribute__((format(printf, 2, 3))) bool mscclpp_fail(struct mscclpp_reader *r, const char *format, ...);

/* Each takes the value of an object's key. They return false after mscclpp_fail(). Numbers: 0 .. high. */
bool mscclpp_take(struct mscclpp_reader *r, const json_t *object, const char *key, uint32_t high, uint32_t *number);
bool mscclpp_take_word(struct mscclpp_reader *r, const json_t *object, const char *key, const char *const *words,
                       const char *expected, uint32_t *index);
bool mscclpp_take_type(struct mscclpp_reader *r, const json_t *object, const char *key, uint32_t *type);
/* An absent array that is optional is NULL, which jansson takes for an empty one. */
bool mscclpp_take_array(struct mscclpp_reader *r, const json_t *object, const char *key, bool optional,
                        const json_t **array);
/* Appends the numbers of an optional array. */
bool mscclpp_take_list(struct mscclpp_reader *r, const json_t *object, const char *key, uint32_t high,
                       struct mscclpp_list *list);

/* Adds the steps, messages and events of an operation of the current thread block (mscclpp_operations.c). within: of a
 * pipeline. */
bool mscclpp_do_operation(struct mscclpp_reader *r, const json_t *json, bool within);

#endif
