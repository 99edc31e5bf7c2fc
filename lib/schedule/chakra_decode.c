/* chakra_decode.c - reads nodes from the messages of a Chakra trace; chakra.c has the grammar. */
#include "schedule/chakra.h"
#include "schedule/chakra_stream.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct chakra_text text_of(const struct protobuf_field *f)
{
    return (struct chakra_text){(const char *)f->bytes, f->length};
}

static bool is_text(struct chakra_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static int64_t whole(double value)
{
    return isnan(value) ? 0 : (int64_t)fmax(-9e18, fmin(9e18, trunc(value)));
}

/* The value of an attribute as a number, by the field that it is in; what is no number is 0. */
static int64_t number_of(const struct protobuf_field *f)
{
    const uint32_t low = (uint32_t)f->value;
    double real;
    float small;
    memcpy(&real, &f->value, sizeof real);
    memcpy(&small, &low, sizeof small);
    switch (f->number) {
    case 3:
        return whole(real);
    case 5:
        return whole((double)small);
    case 15:
    case 17:
        return protobuf_zigzag(f->value);
    case 23:
        return (int32_t)f->value;
    case 13:
    case 21:
        return f->value > INT64_MAX ? INT64_MAX : (int64_t)f->value;
    default:
        return (int64_t)f->value;
    }
}

/* Whether a list of bools, packed or not, has a false. */
static bool has_false(const struct protobuf_field *list)
{
    struct protobuf p = protobuf_inside(list);
    struct protobuf_field f;
    bool found = false;
    while (protobuf_next(&p, &f)) {
        struct protobuf packed = protobuf_inside(&f);
        uint64_t value;
        found = found || (f.number == 1 && f.type == PROTOBUF_VARINT && !f.value);
        while (f.number == 1 && protobuf_varint(&packed, &value))
            found = found || !value;
    }
    return found;
}

static bool read_attribute(const struct protobuf_field *attribute, struct chakra_node *node)
{
    struct protobuf p = protobuf_inside(attribute);
    struct protobuf_field f;
    struct protobuf_field value = {.number = 0};
    struct chakra_text name = {"", 0};
    while (protobuf_next(&p, &f)) {
        if (f.number == 1 && f.type == PROTOBUF_BYTES)
            name = text_of(&f);
        else if (f.number > 2)
            value = f;
    }
    if (is_text(name, "is_cpu_op"))
        node->is_cpu = value.value != 0;
    else if (is_text(name, "involved_dim"))
        node->is_partial = has_false(&value);
    else if (is_text(name, "pg_name"))
        node->group = text_of(&value);
    for (unsigned i = 0; i < CHAKRA_NUMBERS && value.number; i++) {
        if (!is_text(name, chakra_number_names[i]))
            continue;
        node->number[i] = number_of(&value);
        node->has |= 1U << i;
    }
    return !p.failed;
}

static bool read_dependencies(struct chakra_rank *r, const struct protobuf_field *f, bool is_control)
{
    struct protobuf packed = protobuf_inside(f);
    uint64_t id;
    if (f->type == PROTOBUF_VARINT)
        chakra_depend(r, f->value, is_control);
    while (protobuf_varint(&packed, &id))
        chakra_depend(r, id, is_control);
    return !packed.failed;
}

static bool read_inputs(const struct protobuf_field *inputs, struct chakra_node *node)
{
    struct protobuf p = protobuf_inside(inputs);
    struct protobuf_field f;
    while (protobuf_next(&p, &f)) {
        if (f.number == 1)
            node->values = text_of(&f);
    }
    return !p.failed;
}

static bool read_field(struct chakra_rank *r, const struct protobuf_field *f, struct chakra_node *node)
{
    switch (f->number) {
    case 1:
        node->id = f->value;
        return true;
    case 2:
        node->name = text_of(f);
        return true;
    case 3:
        node->type = (int64_t)f->value;
        return true;
    case 4:
    case 5:
        return read_dependencies(r, f, f->number == 4);
    case 7:
        node->micros = f->value;
        return true;
    case 8:
        return read_inputs(f, node);
    case 10:
        return read_attribute(f, node);
    default:
        return true;
    }
}

static bool read_node(struct chakra_rank *r, struct protobuf *message, uint64_t place)
{
    struct chakra_node node = {.place = place};
    struct protobuf_field f;
    bool good = true;
    while (good && protobuf_next(message, &f))
        good = read_field(r, &f, &node);
    if (good && !message->failed)
        return chakra_take(r, &node);
    return hx_fail(r->trace->problem, HX_EXIT_CONFIG, r->path, "byte %" PRIu64 ": is no node of a Chakra trace", place);
}

bool chakra_decode(struct chakra_rank *r, struct chakra_stream *s)
{
    bool is_first = true;
    for (;;) {
        uint64_t place = s->at;
        struct protobuf message;
        struct protobuf_field f;
        bool is_end;
        if (!chakra_stream_message(s, &message, &is_end))
            return false;
        if (is_end)
            return !is_first || chakra_stream_fail_end(s, "a Chakra trace");
        if (!is_first && !read_node(r, &message, place))
            return false;
        while (is_first && protobuf_next(&message, &f))
            ;
        if (message.failed)
            return chakra_stream_fail(s, place, "expected the GlobalMetadata of a Chakra trace");
        is_first = false;
    }
}
