/* attack - puts frames on interfaces among the real ones, for command line tests: an attacker with access to a cable.
 *
 *     attack KIND RATE INTERFACE...     until SIGTERM, RATE frames a second on all together, fewer under other load;
 *                                       prints the number of sent frames
 *
 * KIND of frames:
 *     forged-tag   packets for another job's accelerator with that job's tag, with this cable's accelerator as source
 *     foreign-job  packets of another job from and to its own accelerators, which do not belong on this cable
 *     malformed    invalid frames: each error that a decoder refuses, in turn, and random bytes
 *     forged       packets of the cable's own job, with all fields right, and credit frames with recorded nonces
 *     replay       earlier frames of the same interface, both directions, from the first on, repeatedly
 *
 * The fabric is two jobs of two boards: 5 in the northern boards of a 2x2 Hx2Mesh, 6 in the southern. Needs
 * CAP_NET_RAW. */
#include "hxmesh/frame.h"
#include "tests/support/support_random.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_INTERFACES = 16, RECORDED = 1024, LARGEST = 9000, OWN_JOB = 5, OTHER_JOB = 6, FIRST_OTHER_ROW = 2 };

struct recorded {
    uint32_t bytes;
    uint8_t frame[LARGEST];
};

struct interface {
    int socket;
    unsigned recorded, next;
    struct recorded *record; /* [RECORDED] */
};

static struct {
    struct interface interface[MOST_INTERFACES];
    unsigned interfaces;
    uint64_t seed, sent;
} t;

/* ---- interfaces ---- */

static int open_interface(const char *name)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
    const struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
    if (fd < 0 || at.sll_ifindex == 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) != 0) {
        fprintf(stderr, "attack: %s: %s\n", name, strerror(errno));
        exit(4);
    }
    return fd;
}

/* Takes the frames that passed. */
static void listen_at(struct interface *i)
{
    while (i->recorded < RECORDED) {
        struct recorded *r = &i->record[i->recorded];
        ssize_t bytes = recv(i->socket, r->frame, LARGEST, 0);
        if (bytes <= 0)
            return;
        r->bytes = (uint32_t)bytes;
        i->recorded += hx_frame_ethertype(r->frame, r->bytes) == HX_ETHERTYPE_DATA ||
                       hx_frame_ethertype(r->frame, r->bytes) == HX_ETHERTYPE_CONTROL;
    }
}

static void put(const struct interface *i, const uint8_t *frame, uint32_t bytes)
{
    t.sent += send(i->socket, frame, bytes, 0) == (ssize_t)bytes;
}

/* ---- frames ---- */

static uint32_t below(uint32_t bound)
{
    return seeded_below(&t.seed, bound);
}

static uint32_t make_packet(uint8_t *frame, unsigned job, unsigned from_row, unsigned to_row)
{
    struct hx_header h = {.vc = (uint8_t)below(3),
                          .credit_vc = HX_NO_CREDIT,
                          .kind = HX_DATA,
                          .job = (uint16_t)job,
                          .dst_addr_hi = (uint16_t)below(4),
                          .dst_addr_lo = (uint16_t)(to_row + below(2)),
                          .src_addr_hi = (uint16_t)below(4),
                          .src_addr_lo = (uint16_t)(from_row + below(2)),
                          .message = below(10),
                          .message_packets = 1,
                          .length = (uint16_t)below(200),
                          .epoch = 1 + below(1000)};
    hx_frame_encode(frame, &h);
    memset(frame + HX_HEADER_BYTES, 0x5A, h.length);
    hx_frame_set_crc(frame, hx_frame_crc(frame, h.length));
    return HX_HEADER_BYTES + (uint32_t)h.length;
}

static uint32_t make_malformed(uint8_t *frame)
{
    static const uint8_t spoil[] = {HX_AT_DST_MAC, HX_AT_SRC_MAC + 1, HX_AT_VERSION,     HX_AT_VC,     HX_AT_CREDIT_VC,
                                    HX_AT_KIND,    HX_AT_PLANE,       HX_AT_DST_ADDR_HI, HX_AT_OFFSET, HX_AT_LENGTH};
    uint32_t bytes = make_packet(frame, OWN_JOB, 0, 0);
    unsigned how = below(sizeof spoil + 3);
    if (how < sizeof spoil)
        frame[spoil[how]] ^= 0x40;
    else if (how == sizeof spoil) /* cut short */
        bytes = HX_AT_VERSION + 1 + below(HX_HEADER_BYTES - HX_AT_VERSION - 1);
    else if (how == sizeof spoil + 1) /* a credit frame with a wrong checksum */
        frame[HX_AT_ETHERTYPE + 1] = HX_ETHERTYPE_CONTROL & 0xFF;
    else /* only the EtherType is right, so that the frame is received */
        for (uint32_t at = HX_AT_VERSION; at < bytes; at++)
            frame[at] = (uint8_t)below(256);
    return bytes;
}

/* A packet of the cable's own job; or the next recorded credit frame, with other counts. */
static uint32_t make_forged(struct interface *i, uint8_t *frame)
{
    struct hx_credit_frame c;
    const struct recorded *r = i->recorded ? &i->record[i->next++ % i->recorded] : NULL;
    if (!r || hx_credit_decode(&c, r->frame, r->bytes) != 0)
        return make_packet(frame, OWN_JOB, 0, 0);
    c.limit[below(c.vcs)] += 1 + below(1000);
    c.sent[below(c.vcs)] += 1 + below(1000);
    return hx_credit_encode(frame, &c);
}

static uint32_t make_replayed(struct interface *i, uint8_t *frame)
{
    if (i->recorded < RECORDED)
        return 0;
    const struct recorded *r = &i->record[i->next++ % RECORDED];
    memcpy(frame, r->frame, r->bytes);
    return r->bytes;
}

static uint32_t make(const char *kind, struct interface *i, uint8_t *frame)
{
    if (strcmp(kind, "forged-tag") == 0)
        return make_packet(frame, OTHER_JOB, 0, FIRST_OTHER_ROW);
    if (strcmp(kind, "foreign-job") == 0)
        return make_packet(frame, OTHER_JOB, FIRST_OTHER_ROW, FIRST_OTHER_ROW);
    if (strcmp(kind, "malformed") == 0)
        return make_malformed(frame);
    if (strcmp(kind, "forged") == 0)
        return make_forged(i, frame);
    if (strcmp(kind, "replay") == 0)
        return make_replayed(i, frame);
    fprintf(stderr, "attack: '%s' is no kind of attack\n", kind);
    exit(2);
}

/* ---- the rate ---- */

static volatile sig_atomic_t told_to_end;

static void on_term(int signal)
{
    (void)signal;
    told_to_end = 1;
}

static void pause_ns(long ns)
{
    const struct timespec wait = {.tv_nsec = ns};
    (void)nanosleep(&wait, NULL);
}

/* A burst every ten milliseconds. */
static void attack(const char *kind, uint64_t rate)
{
    static uint8_t frame[LARGEST];
    const uint64_t burst = rate / 100 ? rate / 100 : 1;
    unsigned next = 0;
    for (; !told_to_end; pause_ns(10000000)) {
        for (unsigned n = 0; n < t.interfaces; n++)
            listen_at(&t.interface[n]);
        for (uint64_t n = 0; n < burst; n++, next = next + 1 == t.interfaces ? 0 : next + 1) {
            struct interface *i = &t.interface[next];
            uint32_t bytes = make(kind, i, frame);
            if (bytes)
                put(i, frame, bytes);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc - 3 > MOST_INTERFACES) {
        fprintf(stderr, "usage: attack KIND RATE INTERFACE...\n");
        return 2;
    }
    t.seed = seeded_by(1);
    t.interfaces = (unsigned)argc - 3;
    for (unsigned n = 0; n < t.interfaces; n++) {
        t.interface[n].socket = open_interface(argv[3 + n]);
        t.interface[n].record = calloc(RECORDED, sizeof *t.interface[n].record);
    }
    (void)signal(SIGTERM, on_term);
    attack(argv[1], strtoull(argv[2], NULL, 10));
    printf("%llu\n", (unsigned long long)t.sent);
    return 0;
}
