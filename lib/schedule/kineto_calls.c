/* kineto_calls.c - what a communication of a Kineto trace becomes (kineto.h).
 *
 * Sizes are "In msg nelems" and "dtype" of the event, which PyTorch 2.2 and later copies to the kernels of NCCL; else
 * "Input Dims" and "Input type", which need record_shapes=True: of gloo's event, or of the call "nccl:..." around the
 * kernel's launch. Both are what the rank gives. So an all-gather or gather of n ranks has a vector of n times that.
 *
 * An all-to-all with parts in "In split size" becomes a message to and from each rank. A collective of one rank is no
 * operation. The root is "Rank" of broadcast, reduce, gather and scatter, as PyTorch 2.2 and later has it; else
 * the first rank is taken. gloo's send, recv and scatter lack the peer and the size, and are left out, as are kernels
 * of several messages ("coalesced"). */
#include "base/text.h"
#include "schedule/kineto.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const struct {
    const char *name; /* letters only */
    enum kineto_kind kind;
    enum hx_collective_kind collective;
    bool has_root;
} kinds[] = {
    {"allreduce", KINETO_ALL_REDUCE, HX_ALL_REDUCE, false},
    {"broadcast", KINETO_BROADCAST, HX_BROADCAST, true},
    {"reducescatter", KINETO_REDUCE_SCATTER, HX_REDUCE_SCATTER, false},
    {"reduce", KINETO_REDUCE, HX_REDUCE, true},
    {"allgather", KINETO_ALL_GATHER, HX_ALL_GATHER, false},
    {"alltoall", KINETO_ALL_TO_ALL, HX_COLLECTIVE_ALL_TO_ALL, false},
    {"gather", KINETO_GATHER, HX_GATHER, true},
    {"scatter", KINETO_SCATTER, HX_SCATTER, true},
    {"barrier", KINETO_BARRIER, HX_BARRIER, false},
    {"send", KINETO_SEND, 0, false},
    {"recv", KINETO_RECEIVE, 0, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds, LONGEST_NAME = 32 };

/* The place of a name's kind in `kinds`; KINDS: none. */
static size_t find_kind(const char *name)
{
    char letters[LONGEST_NAME];
    size_t length = 0;
    const char *colon = name ? strrchr(name, ':') : NULL;
    size_t i = 0;
    for (const char *at = colon ? colon + 1 : name; at && *at && length + 1 < sizeof letters; at++) {
        if (isalpha((unsigned char)*at))
            letters[length++] = (char)tolower((unsigned char)*at);
    }
    letters[length] = '\0';
    while (i < KINDS && strncmp(letters, kinds[i].name, strlen(kinds[i].name)) != 0)
        i++;
    return i;
}

enum kineto_kind kineto_kind_of(const char *name)
{
    size_t i = find_kind(name);
    return i < KINDS ? kinds[i].kind : KINETO_NO_KIND;
}

/* ---- sizes ---- */

/* Bytes of an element, by its name in "dtype" or "Input type"; 0: unknown. */
static uint64_t type_size(const char *name)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } types[] = {{"float8", 1},
                 {"c10::float8", 1},
                 {"char", 1},
                 {"signed char", 1},
                 {"unsigned char", 1},
                 {"byte", 1},
                 {"bool", 1},
                 {"int8", 1},
                 {"uint8", 1},
                 {"c10::qint8", 1},
                 {"c10::quint8", 1},
                 {"half", 2},
                 {"c10::half", 2},
                 {"bfloat16", 2},
                 {"c10::bfloat16", 2},
                 {"short", 2},
                 {"int16", 2},
                 {"float", 4},
                 {"int", 4},
                 {"int32", 4},
                 {"c10::complex<half>", 4},
                 {"complexhalf", 4},
                 {"double", 8},
                 {"long", 8},
                 {"int64", 8},
                 {"c10::complex<float>", 8},
                 {"complexfloat", 8},
                 {"complexdouble", 16},
                 {"c10::complex<double>", 16}};
    size_t length = name ? strlen(name) : 0;
    if (length > 4 && strcmp(name + length - 4, " int") == 0)
        length -= 4;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool is_family = strstr(types[i].name, "float8") != NULL;
        size_t wanted = strlen(types[i].name);
        if (length && (is_family ? length >= wanted : length == wanted) &&
            strncasecmp(name, types[i].name, wanted) == 0)
            return types[i].bytes;
    }
    return 0;
}

struct size {
    const struct kineto_file *f;
    const struct kineto_communication *communication;
    uint64_t bytes; /* that the rank gives */
};

static bool fail(const struct size *s, const char *what)
{
    return kineto_fail(s->f, s->communication->place, s->communication->event, "%s", what);
}

static bool multiply(uint64_t *product, const json_t *number)
{
    json_int_t factor = json_integer_value(number);
    return json_is_integer(number) && factor >= 0 && !__builtin_mul_overflow(*product, (uint64_t)factor, product) &&
           *product <= SCHEDULE_MOST_BYTES;
}

/* Adds the bytes of a tensor. */
static bool add_tensor(struct size *s, const json_t *dims, const char *type)
{
    uint64_t bytes = type_size(type);
    size_t i;
    json_t *dim;
    if (!bytes)
        return kineto_fail(s->f, s->communication->place, s->communication->event,
                           "'%.40s' is no known type of elements", type ? type : "");
    json_array_foreach(dims, i, dim)
    {
        if (!multiply(&bytes, dim))
            return fail(s, "Input Dims: expected sizes of at most 4 TiB in all");
    }
    s->bytes += bytes;
    return s->bytes <= SCHEDULE_MOST_BYTES || fail(s, "Input Dims: expected sizes of at most 4 TiB in all");
}

/* Reads "Input Dims" and "Input type". */
static bool find_dims(struct size *s)
{
    const json_t *args = json_object_get(s->communication->shapes, "args");
    const json_t *dims = json_object_get(args, "Input Dims");
    const json_t *types = json_object_get(args, "Input type");
    size_t i;
    json_t *tensor;
    if (!json_array_size(dims))
        return fail(s, "has no sizes (record with record_shapes=True, for NCCL by PyTorch 2.2 or later)");
    json_array_foreach(dims, i, tensor)
    {
        const char *type = json_string_value(json_array_get(types, i));
        if (!json_is_array(tensor) || !add_tensor(s, tensor, type))
            return json_is_array(tensor) ? false : fail(s, "Input Dims: expected lists of sizes");
    }
    return true;
}

/* Reads "In msg nelems" and "dtype", or else the sizes of the inputs. */
static bool find_size(struct size *s)
{
    const json_t *args = json_object_get(s->communication->event, "args");
    const json_t *count = json_object_get(args, "In msg nelems");
    uint64_t bytes = type_size(json_string_value(json_object_get(args, "dtype")));
    if (!count)
        return find_dims(s);
    if (!bytes || !multiply(&bytes, count))
        return fail(s, "In msg nelems, dtype: expected a number of elements, and a known type");
    s->bytes = bytes;
    return true;
}

/* ---- operations ---- */

struct call {
    struct kineto_trace *t;
    const struct kineto_file *f;
    const struct kineto_communication *communication;
    const json_t *args;
    size_t kind;
    uint32_t rank, group, count;
    uint32_t *member; /* [count] */
    uint64_t bytes;
    struct kineto_operations *operations;
};

static void take(struct call *c, uint32_t number)
{
    if (!c->operations->count)
        c->operations->first = number;
    c->operations->count++;
}

/* Messages of a group have a tag of their own, and those of its all-to-alls another. */
static uint32_t tag_of(const struct call *c, bool of_parts)
{
    return c->group * 2 + of_parts;
}

static bool add_message(struct call *c)
{
    bool is_send = kinds[c->kind].kind == KINETO_SEND;
    const char *key = is_send ? "Dst Rank" : "Src Rank";
    const json_t *peer = json_object_get(c->args, key);
    uint64_t number = 0;
    size_t count = 0;
    if (json_is_string(peer) ? !kineto_numbers(peer, &number, 1, &count) : !json_is_integer(peer))
        return kineto_fail(c->f, c->communication->place, c->communication->event,
                           "%s: expected the rank of the other end", key);
    number = json_is_string(peer) ? number : (uint64_t)json_integer_value(peer);
    if (c->t->alike || number >= c->f->ranks || number == c->rank)
        return kineto_fail(c->f, c->communication->place, c->communication->event,
                           c->t->alike ? "is a message, so one file cannot stand for all ranks"
                                       : "%s: expected the rank of another end",
                           key);
    struct schedule_builder *b = c->t->builder;
    take(c, is_send ? schedule_send(b, c->rank, (uint32_t)number, c->bytes, tag_of(c, false))
                    : schedule_receive(b, c->rank, (uint32_t)number, c->bytes, tag_of(c, false)));
    return true;
}

static uint64_t sum_of(const uint64_t *part, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (part[i] > SCHEDULE_MOST_BYTES || __builtin_add_overflow(sum, part[i], &sum))
            return 0;
    }
    return sum;
}

/* Bytes of an all-to-all by its ranks, from "In split size" or "Out split size", which count rows. Returns false if
 * there are none. */
static bool find_parts(const struct call *c, const char *split, const char *elements, uint64_t *part)
{
    size_t count;
    uint64_t all = type_size(json_string_value(json_object_get(c->args, "dtype")));
    if (!kineto_numbers(json_object_get(c->args, split), part, c->count, &count) || count != c->count)
        return false;
    uint64_t rows = sum_of(part, count);
    if (!rows || !multiply(&all, json_object_get(c->args, elements)))
        return false;
    for (size_t i = 0; i < count; i++)
        part[i] = (uint64_t)((long double)all / (long double)rows * (long double)part[i] + 0.5L);
    return true;
}

static void add_parts(struct call *c, const uint64_t *sent, const uint64_t *received)
{
    struct schedule_builder *b = c->t->builder;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->member[i] != c->rank && sent[i])
            take(c, schedule_send(b, c->rank, c->member[i], sent[i], tag_of(c, true)));
        if (c->member[i] != c->rank && received[i])
            take(c, schedule_receive(b, c->rank, c->member[i], received[i], tag_of(c, true)));
    }
}

/* Adds an all-to-all with parts of its own for each rank. Returns false if it has none. */
static bool add_uneven(struct call *c)
{
    uint64_t *sent = hx_allocate(c->count, 2 * sizeof *sent);
    uint64_t *received = sent + c->count;
    bool has = kinds[c->kind].kind == KINETO_ALL_TO_ALL && !c->t->alike &&
               find_parts(c, "In split size", "In msg nelems", sent) &&
               find_parts(c, "Out split size", "Out msg nelems", received);
    if (has)
        add_parts(c, sent, received);
    free(sent);
    return has;
}

static bool find_root(struct call *c, uint32_t *root)
{
    const json_t *rank = json_object_get(c->args, "Rank");
    *root = 0;
    if (!kinds[c->kind].has_root)
        return true;
    if (!json_is_integer(rank)) {
        c->t->without_root++;
        return true;
    }
    if (json_integer_value(rank) < 0 || json_integer_value(rank) >= c->count)
        return kineto_fail(c->f, c->communication->place, c->communication->event,
                           "Rank: expected the root, 0 to %" PRIu32, c->count - 1);
    *root = (uint32_t)json_integer_value(rank);
    return true;
}

static bool add_collective(struct call *c)
{
    uint32_t root;
    enum hx_collective_kind kind = kinds[c->kind].collective;
    uint64_t each = kind == HX_ALL_GATHER || kind == HX_GATHER ? c->count : 1;
    if (!find_root(c, &root))
        return false;
    if (c->count == 1 || add_uneven(c))
        return true;
    if (c->bytes * each > SCHEDULE_MOST_BYTES)
        return kineto_fail(c->f, c->communication->place, c->communication->event, "the vector has more than 4 TiB");
    uint32_t number =
        schedule_collect(c->t->builder, c->rank, kind, c->group, kind == HX_BARRIER ? 0 : c->bytes * each, root);
    schedule_set_name(c->t->builder, c->rank, number, kinds[c->kind].name);
    take(c, number);
    return true;
}

static bool is_left_out(const struct kineto_file *f, size_t kind)
{
    if (f->side == KINETO_GPU)
        return kind == KINDS;
    return kind == KINDS || kinds[kind].kind == KINETO_SEND || kinds[kind].kind == KINETO_RECEIVE ||
           kinds[kind].kind == KINETO_SCATTER;
}

bool kineto_add_communication(struct kineto_trace *t, const struct kineto_file *f, uint32_t rank,
                              const struct kineto_communication *communication, struct kineto_operations *operations)
{
    struct size size = {.f = f, .communication = communication};
    struct call c = {.t = t, .f = f, .communication = communication, .rank = rank, .operations = operations};
    c.args = json_object_get(communication->event, "args");
    const json_t *name = json_object_get(c.args, "Collective name");
    name = name ? name : json_object_get(communication->shapes, "name");
    c.kind = find_kind(json_string_value(name));
    *operations = (struct kineto_operations){0};
    if (is_left_out(f, c.kind)) {
        if (!t->unknown++)
            (void)hx_text_copy(t->example, sizeof t->example, json_is_string(name) ? json_string_value(name) : "");
        return true;
    }
    if (kinds[c.kind].kind != KINETO_BARRIER && !find_size(&size))
        return false;
    c.bytes = size.bytes;
    c.member = kineto_group_of(t, f, rank, communication, &c.count);
    if (!c.member)
        return false;
    c.group = schedule_add_group(t->builder, c.member, c.count);
    bool good = kinds[c.kind].kind == KINETO_SEND || kinds[c.kind].kind == KINETO_RECEIVE ? add_message(&c)
                                                                                          : add_collective(&c);
    free(c.member);
    return good;
}
