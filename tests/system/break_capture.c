/* break_capture - copies a capture of a run and breaks one frame in it, for command line tests.
 *
 *     break_capture FROM TO vc|hops|detour|lost
 *     break_capture FROM TO only
 *
 * The frame is data that leaves a router in the middle of the capture: its VC or its hops go up by one, it moves to
 * the next interface, or it is missing from there on. Prints the frame's number, for a lost one that of its last
 * record. `only` removes a frame that is the only one to leave by its port, and prints that port. Blocks have the byte
 * order of this machine. */
#include "base/pcapng/blocks.h"
#include "hxmesh/frame.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKET = 28, VC_AT = 15, HOPS_AT = 16, MOST_PORTS = 4096, KEY_AT = 24, KEY = 40, OUT = 2 };

static uint8_t *bytes;
static size_t size;

static uint32_t word(size_t at)
{
    uint32_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static bool is_frame(size_t block)
{
    return word(block) == HX_PCAPNG_ENHANCED;
}

/* Offset of a block's option, with the first one at `at`; 0: not found. */
static size_t option(size_t block, size_t at, uint16_t wanted)
{
    for (size_t end = block + word(block + 4) - 4; at + 4 <= end;) {
        uint16_t kind;
        uint16_t length;
        memcpy(&kind, bytes + at, 2);
        memcpy(&length, bytes + at + 2, 2);
        if (kind == wanted)
            return at;
        if (kind == HX_PCAPNG_END)
            break;
        at += 4 + ((length + 3U) & ~3U);
    }
    return 0;
}

static bool goes_out(size_t block)
{
    size_t flags = option(block, block + PACKET + ((word(block + 20) + 3) & ~3U), HX_PCAPNG_FLAGS);
    return flags && (word(flags + 4) & 3) == OUT;
}

/* Whether the port is a router's: hosts' names begin with 'a' and a digit. */
static bool is_routers(size_t interface)
{
    size_t name = option(interface, interface + 16, HX_PCAPNG_NAME);
    return name && !(bytes[name + 4] == 'a' && bytes[name + 5] >= '0' && bytes[name + 5] <= '9');
}

struct found {
    size_t block;
    uint64_t frame, before; /* before: the last record of the same packet */
};

static struct found find(void)
{
    bool router[MOST_PORTS] = {false};
    uint32_t ports = 0;
    struct found found = {0};
    uint64_t frame = 0;
    for (size_t at = 0; at < size && !found.block; at += word(at + 4)) {
        if (word(at) == HX_PCAPNG_INTERFACE && ports < MOST_PORTS)
            router[ports++] = is_routers(at);
        frame += is_frame(at);
        bool forward = is_frame(at) && bytes[at + PACKET + KEY_AT + 4] == HX_DATA;
        if (at > size / 2 && forward && goes_out(at) && router[word(at + 8)] && router[word(at + 8) + 1])
            found = (struct found){.block = at, .frame = frame};
    }
    frame = 0;
    for (size_t at = 0; at < found.block; at += word(at + 4)) {
        frame += is_frame(at);
        if (is_frame(at) && memcmp(bytes + at + PACKET + KEY_AT, bytes + found.block + PACKET + KEY_AT, KEY) == 0)
            found.before = frame;
    }
    return found;
}

/* Writes all but the later records of the packet. */
static void write_without(FILE *to, const struct found *found)
{
    const uint8_t *key = bytes + found->block + PACKET + KEY_AT;
    for (size_t at = 0; at < size; at += word(at + 4))
        if (at < found->block || !is_frame(at) || memcmp(bytes + at + PACKET + KEY_AT, key, KEY) != 0)
            (void)fwrite(bytes + at, 1, word(at + 4), to);
}

/* Name of a port by its interface's block. */
static void print_name(size_t interface)
{
    size_t name = option(interface, interface + 16, HX_PCAPNG_NAME);
    uint16_t length;
    memcpy(&length, bytes + name + 2, 2);
    printf("%.*s\n", (int)length, (const char *)bytes + name + 4);
}

/* Writes all but the first frame that is the only one to leave by its port. Returns false if there is none. */
static bool write_without_only(FILE *to)
{
    static size_t interface[MOST_PORTS];
    static unsigned left[MOST_PORTS] = {0};
    uint32_t ports = 0;
    bool removed = false;
    for (size_t at = 0; at < size; at += word(at + 4)) {
        if (word(at) == HX_PCAPNG_INTERFACE && ports < MOST_PORTS)
            interface[ports++] = at;
        if (is_frame(at) && goes_out(at))
            left[word(at + 8)]++;
    }
    for (size_t at = 0; at < size; at += word(at + 4)) {
        bool only = !removed && is_frame(at) && goes_out(at) && left[word(at + 8)] == 1;
        removed |= only;
        if (only)
            print_name(interface[word(at + 8)]);
        else
            (void)fwrite(bytes + at, 1, word(at + 4), to);
    }
    return removed;
}

static bool take_in(const char *name)
{
    FILE *from = fopen(name, "rb");
    if (!from || fseek(from, 0, SEEK_END) != 0)
        return false;
    size = (size_t)ftell(from);
    rewind(from);
    bytes = malloc(size);
    bool good = bytes && fread(bytes, 1, size, from) == size;
    (void)fclose(from);
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 4 || !take_in(argv[1]))
        return 2;
    if (strcmp(argv[3], "only") == 0) {
        FILE *to = fopen(argv[2], "wb");
        bool removed = to && write_without_only(to);
        free(bytes);
        return removed && fclose(to) == 0 ? 0 : 2;
    }
    struct found found = find();
    if (!found.block)
        return 2;
    bool lost = strcmp(argv[3], "lost") == 0;
    uint32_t interface = word(found.block + 8) + 1;
    if (strcmp(argv[3], "vc") == 0)
        bytes[found.block + PACKET + VC_AT]++;
    else if (strcmp(argv[3], "hops") == 0)
        bytes[found.block + PACKET + HOPS_AT]++;
    else if (strcmp(argv[3], "detour") == 0)
        memcpy(bytes + found.block + 8, &interface, sizeof interface);
    else if (!lost)
        return 2;
    FILE *to = fopen(argv[2], "wb");
    if (!to)
        return 2;
    if (lost)
        write_without(to, &found);
    else
        (void)fwrite(bytes, 1, size, to);
    printf("%" PRIu64 "\n", lost ? found.before : found.frame);
    free(bytes);
    return fclose(to) == 0 ? 0 : 2;
}
