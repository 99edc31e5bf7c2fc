/* replay.c - sends frames into a feed (feed.h) or to an interface (replay.h). */
#include "replay.h"
#include "fabric-emu/capture/memory.h"
#include "taps.h"
#include "topology/name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TAKE_MS = 2000 };

/* ---- port ---- */

static bool offer(struct replay_target *t, const char *port, struct hx_problem *problem)
{
    int owner = 0;
    int slot = slot_take(t->fabric.control, t->fabric.arena.fd, SLOT_FEED, SLOT_FEED, t->memory, &owner);
    if (slot == -EBUSY)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, t->fabric.name, "process %d replays into this fabric already",
                       owner);
    if (slot < 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, t->fabric.name, "cannot reach this fabric: %s", strerror(-slot));
    t->taken = true;
    for (unsigned ms = 0; ms < TAKE_MS; ms++) {
        if (atomic_load(&t->feed->state) == FEED_TAKEN)
            return true;
        if (attach_has_ended(&t->fabric))
            break;
        (void)poll(NULL, 0, 1);
    }
    return hx_fail(problem, HX_EXIT_ENVIRONMENT, port,
                   "no switch of this fabric sends to this port (a failed board, or another machine)");
}

bool replay_open_port(struct replay_target *t, const char *name, const char *port, struct hx_problem *problem)
{
    unsigned plane;
    unsigned number;
    uint32_t node;
    *t = (struct replay_target){.memory = -1, .socket = -1};
    if (!attach_open(&t->fabric, name, problem))
        return false;
    const struct hx_fabric *g = &t->fabric.graph;
    bool good = hx_port_parse(port, g, &plane, &node, &number) &&
                (hx_fabric_far(g, node, number).node != HX_NOWHERE || (node < g->hosts && number == HX_LOCAL));
    if (!good) {
        (void)hx_fail(problem, HX_EXIT_USAGE, "--port", "'%s': this fabric has no such port (as a0,0/p0/E, row0/p0/1)",
                      port);
    } else if ((t->feed = capture_share(sizeof *t->feed, "hxmesh-feed", &t->memory)) == NULL) {
        good = hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "no memory for a replay: %s", strerror(errno));
    } else {
        t->feed->magic = FEED_MAGIC;
        t->feed->version = FEED_VERSION;
        t->feed->plane = plane;
        t->feed->node = node;
        t->feed->port = number;
        good = offer(t, port, problem);
    }
    if (!good)
        replay_close(t);
    return good;
}

static enum replay_result send_to_port(struct replay_target *t, const uint8_t *frame, uint32_t bytes)
{
    if (bytes > HX_MAX_FRAME)
        return REPLAY_TOO_LONG;
    uint64_t head = atomic_load_explicit(&t->feed->head, memory_order_relaxed);
    if (head - atomic_load_explicit(&t->feed->tail, memory_order_acquire) >= FEED_SLOTS)
        return REPLAY_BUSY;
    struct feed_slot *slot = &t->feed->slot[head % FEED_SLOTS];
    slot->bytes = bytes;
    memcpy(slot->frame, frame, bytes);
    atomic_store_explicit(&t->feed->head, head + 1, memory_order_release);
    return REPLAY_SENT;
}

/* ---- interface ---- */

bool replay_open_interface(struct replay_target *t, const char *interface, struct hx_problem *problem)
{
    *t = (struct replay_target){.memory = -1};
    t->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (t->socket < 0)
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, interface, "raw frames cannot be sent: %s (CAP_NET_RAW is needed)",
                       strerror(errno));
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(interface)};
    if (address.sll_ifindex == 0 || bind(t->socket, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        replay_close(t);
        return hx_fail(problem, HX_EXIT_ENVIRONMENT, interface, "cannot be sent on: %s", strerror(error));
    }
    return true;
}

static enum replay_result send_on_interface(struct replay_target *t, const uint8_t *frame, uint32_t bytes)
{
    if (send(t->socket, frame, bytes, MSG_DONTWAIT) == (ssize_t)bytes)
        return REPLAY_SENT;
    if (errno == EMSGSIZE)
        return REPLAY_TOO_LONG;
    return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? REPLAY_BUSY : REPLAY_BROKEN;
}

/* ---- both ---- */

enum replay_result replay_send(struct replay_target *t, const uint8_t *frame, uint32_t bytes)
{
    return t->feed ? send_to_port(t, frame, bytes) : send_on_interface(t, frame, bytes);
}

bool replay_is_settled(const struct replay_target *t)
{
    return !t->feed || atomic_load(&t->feed->tail) == atomic_load(&t->feed->head);
}

bool replay_has_ended(const struct replay_target *t)
{
    return t->feed && attach_has_ended(&t->fabric);
}

void replay_close(struct replay_target *t)
{
    if (t->taken)
        slot_release(t->fabric.control, t->fabric.arena.fd, SLOT_FEED);
    if (t->feed)
        (void)munmap(t->feed, sizeof *t->feed);
    if (t->memory >= 0)
        (void)close(t->memory);
    if (t->socket >= 0)
        (void)close(t->socket);
    if (t->fabric.head)
        attach_close(&t->fabric);
    *t = (struct replay_target){.memory = -1, .socket = -1};
}
