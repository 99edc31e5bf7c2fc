/* msccl.c - reads MSCCL algorithms: XML, as msccl-tools writes and MSCCL's executor reads it.
 *
 *     algo  = <algo ngpus=N nchunksperloop=C coll=NAME [proto=Simple|LL|LL128] [inplace=0|1] [outofplace=0|1]
 *              [minBytes=B] [maxBytes=B] ...>
 *             { gpu } </algo>
 *     gpu   = <gpu id=N i_chunks=N o_chunks=N s_chunks=N> { copy | tb } </gpu>
 *     copy  = <copy i_off=N o_off=N/>
 *     tb    = <tb id=N send=GPU|-1 recv=GPU|-1 chan=N> { step } </tb>
 *     step  = <step s=N type=TYPE srcbuf=i|o|s srcoff=N dstbuf=i|o|s dstoff=N cnt=N depid=TB|-1 deps=STEP|-1
 *              [hasdep=0|1]/>
 *
 * Attributes may come in any order; others are ignored. Every gpu 0 .. ngpus - 1 is there once. Ids of thread blocks
 * and numbers of steps count from 0 in the file's order. A step happens after the one before it in its thread block,
 * and after step `deps` of thread block `depid` of its gpu.
 *
 *     s     sends its source                           schedule: send
 *     r     receives into its destination                        receive
 *     rcs   receives, and sends it on                            receive, send
 *     rrs   sends the sum of what it receives and its source     receive, send
 *     rrc   receives, adds its source, stores                    receive
 *     rrcs  the same, and sends the sum                          receive, send
 *     re    adds its source to its destination                   compute, 0 ps
 *     cpy   copies its source to its destination                 compute, 0 ps
 *     nop   only waits                                           compute, 0 ps
 *
 * A message has cnt chunks; protocols LL and LL128 add flags (msccl_file.h). Its tag is the channel: the sends and
 * receives of a pair of gpus on one channel match in order, and only one thread block at each end uses a channel of a
 * pair. A chunk is the vector's bytes (--message, the looped buffer: the collective's vector as schedule.h counts it)
 * divided by nchunksperloop, rounded up. MSCCL's executor cuts long chunks into pieces and loops over them; here, a
 * chunk is one piece. <copy> copies a chunk of the input to the output after all steps of the gpu.
 *
 * A file is a schedule only if its sums are right: msccl_verify.h. */
#include "base/input.h"
#include "base/text.h"
#include "schedule/msccl_file.h"
#include "schedule/msccl_promise.h"
#include "schedule/readers.h"

#include <expat.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 /* bytes read at once */, MOST_CHANNEL = 1 << 20 };

const char *const msccl_type_names[MSCCL_TYPES + 1] = {"s", "r", "rcs", "rrs", "rrc", "rrcs", "re", "cpy", "nop", NULL};

enum level { OUTSIDE, IN_ALGO, IN_GPU, IN_BLOCK };

struct reader {
    XML_Parser xml;
    struct msccl_file *file;
    struct hx_problem *problem;
    enum level level;
    unsigned unknown; /* depth within an element that this reader does not know */
    uint64_t ignored; /* such elements */
    bool failed;
    uint32_t gpu; /* the current one */
    bool *seen;   /* [file->gpus] */
    size_t first_copy, copies, copies_room;
    struct copy {
        uint32_t gpu, line, input, output;
    } * copy;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reader *r, const char *format, ...)
{
    va_list arguments;
    if (r->failed)
        return false;
    r->failed = true;
    va_start(arguments, format);
    hx_fail_at_list(r->problem, r->file->path, (unsigned)XML_GetCurrentLineNumber(r->xml),
                    (unsigned)XML_GetCurrentColumnNumber(r->xml) + 1, format, arguments);
    va_end(arguments);
    (void)XML_StopParser(r->xml, XML_FALSE);
    return false;
}

/* ---- attributes ---- */

static const char *find(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2) {
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    }
    return NULL;
}

/* A number low .. high. */
static bool take_number(struct reader *r, const XML_Char **attributes, const char *name, int64_t low, int64_t high,
                        int64_t *value)
{
    const char *text = find(attributes, name);
    char *end = NULL;
    *value = 0;
    if (!text)
        return fail(r, "expected the attribute %s", name);
    *value = strtoll(text, &end, 10);
    if (end == text || *end || *value < low || *value > high)
        return fail(r, "%s=\"%.40s\": expected a number from %" PRId64 " to %" PRId64, name, text, low, high);
    return true;
}

static bool take_or(struct reader *r, const XML_Char **attributes, const char *name, int64_t high, int64_t otherwise,
                    int64_t *value)
{
    *value = otherwise;
    return !find(attributes, name) || take_number(r, attributes, name, 0, high, value);
}

static bool take_word(struct reader *r, const XML_Char **attributes, const char *name, const char *const *words,
                      const char *expected, uint8_t *index)
{
    const char *text = find(attributes, name);
    *index = 0;
    if (!text)
        return fail(r, "expected the attribute %s", name);
    for (uint8_t i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return true;
        }
    }
    return fail(r, "%s=\"%.40s\": expected %s", name, text, expected);
}

/* ---- elements ---- */

static const char *const protocols[MSCCL_PROTOCOLS + 1] = {"Simple", "LL", "LL128", NULL};

static void begin_algo(struct reader *r, const XML_Char **attributes)
{
    struct msccl_file *file = r->file;
    const char *collective = find(attributes, "coll");
    int64_t gpus;
    int64_t chunks;
    int64_t in_place;
    int64_t out_of_place;
    int64_t least;
    int64_t most;
    if (!take_number(r, attributes, "ngpus", 1, SCHEDULE_MOST_RANKS, &gpus) ||
        !take_number(r, attributes, "nchunksperloop", 1, MSCCL_MOST_CELLS, &chunks) ||
        !take_or(r, attributes, "inplace", 1, 0, &in_place) ||
        !take_or(r, attributes, "outofplace", 1, !in_place, &out_of_place) ||
        !take_or(r, attributes, "minBytes", INT64_MAX, 0, &least) ||
        !take_or(r, attributes, "maxBytes", INT64_MAX, 0, &most) ||
        (find(attributes, "proto") &&
         !take_word(r, attributes, "proto", protocols, "Simple, LL or LL128", &file->protocol)))
        return;
    if (!collective) {
        (void)fail(r, "expected the attribute coll");
        return;
    }
    (void)msccl_find_promise(hx_text_copy(file->collective, sizeof file->collective, collective), &file->promise);
    file->gpus = (uint32_t)gpus;
    file->chunks = (uint32_t)chunks;
    file->in_place = in_place;
    file->out_of_place = out_of_place || !in_place;
    file->least = (uint64_t)least;
    file->most = (uint64_t)most;
    file->gpu = hx_allocate(file->gpus, sizeof *file->gpu);
    file->first_block = hx_allocate(file->gpus, sizeof *file->first_block);
    file->gpu_blocks = hx_allocate(file->gpus, sizeof *file->gpu_blocks);
    r->seen = hx_allocate(file->gpus, sizeof *r->seen);
}

static void begin_gpu(struct reader *r, const XML_Char **attributes)
{
    static const char *const names[MSCCL_BUFFERS] = {"i_chunks", "o_chunks", "s_chunks"};
    int64_t id;
    int64_t chunks;
    if (!take_number(r, attributes, "id", 0, r->file->gpus - 1, &id))
        return;
    if (r->seen[id]) {
        (void)fail(r, "gpu %" PRId64 " is there twice (give each an id of its own)", id);
        return;
    }
    r->seen[id] = true;
    r->gpu = (uint32_t)id;
    r->file->first_block[id] = (uint32_t)r->file->blocks;
    for (unsigned i = 0; i < MSCCL_BUFFERS; i++) {
        if (!take_number(r, attributes, names[i], 0, MSCCL_MOST_CELLS, &chunks))
            return;
        r->file->gpu[id].chunks[i] = (uint32_t)chunks;
    }
}

static void add_block(struct reader *r, const struct msccl_file_block *block)
{
    struct msccl_file *file = r->file;
    file->block = hx_grow(file->block, file->blocks, &file->blocks_room, sizeof *file->block);
    file->block[file->blocks] = *block;
    file->block[file->blocks].first = (uint32_t)file->steps;
    file->blocks++;
}

/* Id of the current gpu's next block. */
static uint32_t next_block(const struct reader *r)
{
    return (uint32_t)r->file->blocks - r->file->first_block[r->gpu];
}

static void begin_block(struct reader *r, const XML_Char **attributes)
{
    int64_t id;
    int64_t to;
    int64_t from;
    int64_t channel;
    const int64_t last = (int64_t)r->file->gpus - 1;
    if (!take_number(r, attributes, "id", 0, INT_MAX, &id) || !take_number(r, attributes, "send", -1, last, &to) ||
        !take_number(r, attributes, "recv", -1, last, &from) ||
        !take_number(r, attributes, "chan", -1, MOST_CHANNEL, &channel))
        return;
    if (id != next_block(r))
        (void)fail(r, "id=\"%" PRId64 "\": expected thread block %" PRIu32 " (ids count from 0)", id, next_block(r));
    else if (to == r->gpu || from == r->gpu)
        (void)fail(r, "a thread block of gpu %" PRIu32 " sends to it or receives from it (another gpu is wanted)",
                   r->gpu);
    else
        add_block(r, &(struct msccl_file_block){.line = (uint32_t)XML_GetCurrentLineNumber(r->xml),
                                                .gpu = r->gpu,
                                                .id = (uint32_t)id,
                                                .to = (int32_t)to,
                                                .from = (int32_t)from,
                                                .channel = channel < 0 ? 0 : (uint32_t)channel});
}

/* Whether a range of chunks is within its buffer. */
static bool check_range(struct reader *r, unsigned buffer, uint32_t first, uint32_t count)
{
    static const char *const names[MSCCL_BUFFERS] = {"i", "o", "s"};
    uint32_t chunks = r->file->gpu[r->gpu].chunks[buffer];
    if (first == UINT32_MAX)
        return fail(r, "offset -1: expected a chunk of buffer %s", names[buffer]);
    if (first <= chunks && count <= chunks - first)
        return true;
    return fail(r, "chunks %s%" PRIu32 " to %s%" PRIu32 ": gpu %" PRIu32 " has %s_chunks=\"%" PRIu32 "\"",
                names[buffer], first, names[buffer], first + count - 1, r->gpu, names[buffer], chunks);
}

static bool check_step(struct reader *r, const struct msccl_file_step *s)
{
    const struct msccl_file_block *block = &r->file->block[r->file->blocks - 1];
    const enum msccl_type type = s->type;
    if (type != MSCCL_NOTHING && s->count == 0)
        return fail(r, "cnt=\"0\": expected 1 or more chunks");
    if (msccl_sends(type) && block->to < 0)
        return fail(r, "type=\"%s\" sends, but its thread block has send=\"-1\"", msccl_type_names[type]);
    if (msccl_receives(type) && block->from < 0)
        return fail(r, "type=\"%s\" receives, but its thread block has recv=\"-1\"", msccl_type_names[type]);
    if ((s->depend_block < 0) != (s->depend_step < 0))
        return fail(r, "expected depid and deps to be both -1, or neither");
    return (!msccl_reads(type) || check_range(r, s->source_buffer, s->source, s->count)) &&
           (!msccl_writes(type) || check_range(r, s->destination_buffer, s->destination, s->count));
}

static bool take_step(struct reader *r, const XML_Char **attributes, struct msccl_file_step *s)
{
    static const char *const buffers[] = {"i", "o", "s", NULL};
    int64_t source;
    int64_t destination;
    int64_t count;
    int64_t block;
    int64_t step;
    int64_t signals;
    if (!take_word(r, attributes, "type", msccl_type_names, "s, r, rcs, rrs, rrc, rrcs, re, cpy or nop", &s->type) ||
        !take_word(r, attributes, "srcbuf", buffers, "i, o or s", &s->source_buffer) ||
        !take_number(r, attributes, "srcoff", -1, MSCCL_MOST_CELLS, &source) ||
        !take_word(r, attributes, "dstbuf", buffers, "i, o or s", &s->destination_buffer) ||
        !take_number(r, attributes, "dstoff", -1, MSCCL_MOST_CELLS, &destination) ||
        !take_number(r, attributes, "cnt", 0, MSCCL_MOST_CELLS, &count) ||
        !take_number(r, attributes, "depid", -1, INT_MAX, &block) ||
        !take_number(r, attributes, "deps", -1, INT_MAX, &step) || !take_or(r, attributes, "hasdep", 1, 1, &signals))
        return false;
    s->source = (uint32_t)source; /* -1 is outside of every buffer */
    s->destination = (uint32_t)destination;
    s->count = (uint32_t)count;
    s->depend_block = (int32_t)block;
    s->depend_step = (int32_t)step;
    s->signals = signals;
    return true;
}

static void add_step(struct reader *r, const struct msccl_file_step *s)
{
    struct msccl_file *file = r->file;
    if (file->steps == MSCCL_MOST_STEPS) {
        (void)fail(r, "expected at most %d steps", MSCCL_MOST_STEPS);
        return;
    }
    file->step = hx_grow(file->step, file->steps, &file->steps_room, sizeof *file->step);
    file->step[file->steps++] = *s;
    file->block[file->blocks - 1].steps++;
}

static void begin_step(struct reader *r, const XML_Char **attributes)
{
    struct msccl_file_step s = {.line = (uint32_t)XML_GetCurrentLineNumber(r->xml)};
    int64_t number;
    uint32_t expected = r->file->block[r->file->blocks - 1].steps;
    if (!take_number(r, attributes, "s", 0, INT_MAX, &number))
        return;
    if (number != expected)
        (void)fail(r, "s=\"%" PRId64 "\": expected step %" PRIu32 " (steps count from 0)", number, expected);
    else if (take_step(r, attributes, &s) && check_step(r, &s))
        add_step(r, &s);
}

static void begin_copy(struct reader *r, const XML_Char **attributes)
{
    int64_t input;
    int64_t output;
    if (!take_number(r, attributes, "i_off", 0, MSCCL_MOST_CELLS, &input) ||
        !take_number(r, attributes, "o_off", 0, MSCCL_MOST_CELLS, &output) ||
        !check_range(r, MSCCL_INPUT, (uint32_t)input, 1) || !check_range(r, MSCCL_OUTPUT, (uint32_t)output, 1))
        return;
    r->copy = hx_grow(r->copy, r->copies, &r->copies_room, sizeof *r->copy);
    r->copy[r->copies++] = (struct copy){.gpu = r->gpu,
                                         .line = (uint32_t)XML_GetCurrentLineNumber(r->xml),
                                         .input = (uint32_t)input,
                                         .output = (uint32_t)output};
}

/* A last thread block of the gpu with its <copy> elements. */
static void add_copies(struct reader *r)
{
    add_block(r, &(struct msccl_file_block){
                     .line = r->copy[r->first_copy].line, .gpu = r->gpu, .id = next_block(r), .copies = true});
    for (; r->first_copy < r->copies && !r->failed; r->first_copy++) {
        const struct copy *c = &r->copy[r->first_copy];
        add_step(r, &(struct msccl_file_step){.line = c->line,
                                              .source = c->input,
                                              .destination = c->output,
                                              .count = 1,
                                              .depend_block = -1,
                                              .depend_step = -1,
                                              .type = MSCCL_LOCAL_COPY,
                                              .source_buffer = MSCCL_INPUT,
                                              .destination_buffer = MSCCL_OUTPUT});
    }
}

static void XMLCALL begin_element(void *context, const XML_Char *name, const XML_Char **attributes)
{
    static const struct element {
        const char *name;
        enum level outer, inner;
        void (*begin)(struct reader *r, const XML_Char **attributes);
    } elements[] = {{"algo", OUTSIDE, IN_ALGO, begin_algo},
                    {"gpu", IN_ALGO, IN_GPU, begin_gpu},
                    {"tb", IN_GPU, IN_BLOCK, begin_block},
                    {"copy", IN_GPU, IN_GPU, begin_copy},
                    {"step", IN_BLOCK, IN_BLOCK, begin_step}};
    struct reader *r = context;
    if (r->failed)
        return;
    for (size_t i = 0; i < sizeof elements / sizeof *elements && r->unknown == 0; i++) {
        if (elements[i].outer == r->level && strcmp(elements[i].name, name) == 0) {
            elements[i].begin(r, attributes);
            /* What is within a copy or step is unknown. */
            r->unknown = elements[i].inner == elements[i].outer;
            r->level = elements[i].inner;
            return;
        }
    }
    if (r->level == OUTSIDE)
        (void)fail(r, "expected <algo>, not <%.40s>", name);
    r->ignored++;
    r->unknown++;
}

static void XMLCALL end_element(void *context, const XML_Char *name)
{
    struct reader *r = context;
    (void)name;
    if (r->failed)
        return;
    if (r->unknown) {
        r->unknown--;
        return;
    }
    if (r->level == IN_GPU) {
        if (r->first_copy < r->copies)
            add_copies(r);
        r->file->gpu_blocks[r->gpu] = next_block(r);
    }
    r->level--;
}

static void XMLCALL begin_doctype(void *context, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                                  int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    (void)fail(context, "expected no document type (delete <!DOCTYPE ...>)");
}

/* ---- the file ---- */

static void fail_xml(struct reader *r)
{
    (void)fail(r, "%s: expected XML, whole up to </algo>", XML_ErrorString(XML_GetErrorCode(r->xml)));
}

static bool parse(struct reader *r)
{
    FILE *in = hx_input_open(r->file->path, r->problem);
    if (!in)
        return false;
    for (bool last = false; !last && !r->failed;) {
        void *buffer = XML_GetBuffer(r->xml, CHUNK);
        size_t bytes = buffer ? fread(buffer, 1, CHUNK, in) : 0;
        last = bytes < CHUNK;
        if (!buffer || XML_ParseBuffer(r->xml, (int)bytes, last) != XML_STATUS_OK)
            fail_xml(r);
    }
    (void)fclose(in);
    return !r->failed;
}

/* Checks what only the whole file shows. */
static bool finish(struct reader *r)
{
    for (uint32_t i = 0; i < r->file->gpus; i++) {
        if (!r->seen[i])
            return hx_fail(r->problem, HX_EXIT_CONFIG, r->file->path,
                           "lacks gpu %" PRIu32 " of ngpus=\"%" PRIu32 "\" (describe every gpu)", i, r->file->gpus);
    }
    return true;
}

static bool read_file(const char *path, struct msccl_file *file, struct schedule_notes *notes,
                      struct hx_problem *problem)
{
    struct reader r = {.file = file, .problem = problem, .xml = XML_ParserCreate(NULL)};
    *file = (struct msccl_file){.path = path};
    if (!r.xml)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, path, "cannot be read: no memory for XML");
    XML_SetUserData(r.xml, &r);
    XML_SetElementHandler(r.xml, begin_element, end_element);
    XML_SetStartDoctypeDeclHandler(r.xml, begin_doctype);
    bool good = parse(&r) && finish(&r);
    if (good && r.ignored) {
        notes->skipped += r.ignored;
        (void)snprintf(notes->what, sizeof notes->what, "%" PRIu64 " unknown elements", r.ignored);
    }
    XML_ParserFree(r.xml);
    HX_FREE(r.seen, r.copy);
    return good;
}

static uint32_t most_count(const struct msccl_file *file)
{
    uint32_t most = 1;
    for (size_t i = 0; i < file->steps; i++)
        most = file->step[i].count > most ? file->step[i].count : most;
    return most;
}

/* Checks the longest message with its flags, and notes that there are some. */
static bool take_protocol(const struct msccl_file *file, uint64_t bytes, struct schedule_notes *notes,
                          struct hx_problem *problem)
{
    const enum msccl_protocol protocol = (enum msccl_protocol)file->protocol;
    const uint64_t longest = msccl_sent(protocol, bytes * most_count(file));
    if (longest > SCHEDULE_MOST_BYTES)
        return hx_fail(problem, HX_EXIT_CONFIG, file->path,
                       "has a message of %" PRIu64 " bytes with its flags (proto %s), %" PRIu64 " bytes are possible",
                       longest, protocols[protocol], (uint64_t)SCHEDULE_MOST_BYTES);
    if (protocol != MSCCL_SIMPLE)
        msccl_note(notes, "proto %s: flags add %s to each message", protocols[protocol],
                   protocol == MSCCL_LL ? "as many bytes" : "a fifteenth of its bytes");
    return true;
}

static struct schedule_builder *read(const char *path, const struct schedule_read_options *options,
                                     struct schedule_notes *notes, struct hx_problem *problem)
{
    struct schedule_builder *b = NULL;
    struct msccl_file file;
    uint64_t bytes = 0;
    if (read_file(path, &file, notes, problem))
        bytes = msccl_chunk_bytes(path, options, file.least, file.most, file.chunks, most_count(&file), notes, problem);
    if (bytes && file.promise == MSCCL_PROMISES)
        msccl_note(notes, "collective '%s' is unknown, so its output is not proven", file.collective);
    if (bytes && take_protocol(&file, bytes, notes, problem) && msccl_prove(&file, notes, problem))
        b = msccl_schedule(&file, bytes);
    HX_FREE(file.gpu, file.first_block, file.gpu_blocks, file.block, file.step);
    return b;
}

/* The first element is <algo>, behind comments. */
static bool is(const uint8_t *begin, size_t bytes)
{
    static const char element[] = "<algo";
    size_t at = 0;
    if (bytes >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0)
        at = 3;
    while (at < bytes && strchr(" \t\r\n", begin[at]) && begin[at])
        at++;
    if (at == bytes || begin[at] != '<')
        return false;
    const uint8_t *found = memmem(begin, bytes, element, sizeof element - 1);
    const uint8_t *behind = found ? found + sizeof element - 1 : NULL;
    return behind && (behind == begin + bytes || strchr(" \t\r\n>/", *behind));
}

const struct schedule_format schedule_msccl = {
    .name = "msccl", .what = "MSCCL algorithm of a collective, XML; its sums are proven", .is = is, .read = read};
