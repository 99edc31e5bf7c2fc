/* memif_control.c - a memif's control socket: connection, memory, disconnection (memif.h). */
#include "memif.h"
#include "memif_layout.h"
#include "passing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void close_if_open(int fd)
{
    if (fd >= 0)
        passing_close(fd);
}

/* ---- messages ---- */

static bool send_message(int fd, const struct memif_message *message)
{
    return send(fd, message, sizeof *message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *message;
}

static bool send_type(int fd, enum memif_message_type type)
{
    const struct memif_message message = {.type = (uint16_t)type};
    return send_message(fd, &message);
}

static void refuse(int fd, const char *why)
{
    struct memif_message message = {.type = MEMIF_DISCONNECT};
    (void)snprintf(message.disconnect.why, sizeof message.disconnect.why, "%s", why);
    (void)send_message(fd, &message);
}

static bool send_hello(int fd)
{
    struct memif_message message = {.type = MEMIF_HELLO,
                                    .hello = {.name = "hxmesh",
                                              .least_version = MEMIF_VERSION,
                                              .most_version = MEMIF_VERSION,
                                              .last_region = MEMIF_REGIONS - 1,
                                              .most_log2_size = MEMIF_MOST_LOG2_SIZE}};
    return send_message(fd, &message);
}

/* Receives a message and its descriptor *passed (-1: none). Returns 1; 0: none is pending; -1: end of the socket, or an
 * invalid message. */
static int receive_message(int fd, struct memif_message *message, int *passed)
{
    ssize_t bytes = passing_receive(fd, message, sizeof *message, passed, MSG_DONTWAIT);
    if (bytes < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return bytes == (ssize_t)sizeof *message ? 1 : -1;
}

/* ---- requests of the client: each returns NULL, or the fault ---- */

static const char *take_init(const struct memif_server *s, const struct memif_init *init)
{
    if (init->version != MEMIF_VERSION)
        return "another version of memif";
    if (init->mode != MEMIF_MODE_ETHERNET)
        return "only Ethernet mode is served";
    return s->memory.regions ? "INIT out of place" : NULL;
}

/* Takes *fd over on success. */
static const char *take_region(struct memif_memory *m, const struct memif_add_region *add, int *fd)
{
    if (*fd < 0 || add->index != m->regions || m->regions == MEMIF_REGIONS)
        return "region without memory or out of order";
    if (!memif_region_is_sealed(*fd))
        return "region can shrink: F_SEAL_SHRINK is missing (zero-copy is not served)";
    if (!memif_region_is_sound(*fd, add->size))
        return "region is larger than its memory";
    m->region[m->regions].fd = *fd;
    m->region[m->regions++].size = add->size;
    *fd = -1;
    return NULL;
}

static const char *take_ring(struct memif_server *s, const struct memif_add_ring *add)
{
    struct memif_memory *m = &s->memory;
    unsigned direction = add->flags & MEMIF_RING_TO_SERVER ? MEMIF_IN : MEMIF_OUT;
    if (add->index != 0 || s->has_ring[direction])
        return "only one ring in each direction is served";
    if (add->log2_size > MEMIF_MOST_LOG2_SIZE || add->region >= m->regions)
        return "ring is too large or in no region";
    uint64_t bytes = sizeof(struct memif_ring) + ((uint64_t)sizeof(struct memif_descriptor) << add->log2_size);
    uint64_t size = m->region[add->region].size;
    if (add->offset % sizeof(uint64_t) || bytes > size || add->offset > size - bytes)
        return "ring is outside its region";
    m->ring[direction].region = add->region;
    m->ring[direction].mask = (uint16_t)((1U << add->log2_size) - 1);
    m->ring[direction].offset = add->offset;
    s->has_ring[direction] = true;
    return NULL;
}

static const char *take_connect(struct memif_server *s)
{
    if (!s->has_ring[MEMIF_IN] || !s->has_ring[MEMIF_OUT])
        return "a ring is missing";
    s->memory.opener = (int32_t)getpid();
    s->state = MEMIF_IS_CONNECTED;
    return NULL;
}

static const char *take_message(struct memif_server *s, const struct memif_message *message, int *fd)
{
    enum memif_message_type answer = MEMIF_ACK;
    const char *wrong = NULL;
    if (s->state == MEMIF_IS_CONNECTED)
        return message->type == MEMIF_DISCONNECT ? "as requested" : "message out of place";
    switch (message->type) {
    case MEMIF_INIT:
        wrong = take_init(s, &message->init);
        break;
    case MEMIF_ADD_REGION:
        wrong = take_region(&s->memory, &message->add_region, fd);
        break;
    case MEMIF_ADD_RING:
        wrong = take_ring(s, &message->add_ring);
        break;
    case MEMIF_CONNECT:
        wrong = take_connect(s);
        answer = MEMIF_CONNECTED;
        break;
    default:
        return "message out of place";
    }
    return wrong || send_type(s->socket, answer) ? wrong : "answer cannot be sent";
}

/* ---- life ---- */

static bool is_offered(const struct memif_offer *offer)
{
    return atomic_load_explicit(&offer->serial, memory_order_relaxed) & 1U;
}

static void change_offer(struct memif_offer *offer)
{
    atomic_fetch_add_explicit(&offer->serial, 1, memory_order_release);
}

void memif_end(struct memif_server *s, struct memif_offer *offer, const char *why)
{
    if (s->state == MEMIF_ALONE)
        return;
    if (is_offered(offer))
        change_offer(offer);
    if (why)
        refuse(s->socket, why);
    (void)close(s->socket);
    for (unsigned i = 0; i < s->memory.regions; i++)
        (void)close(s->memory.region[i].fd);
    *s = (struct memif_server){.state = MEMIF_ALONE, .why = why};
}

static void follow_connection(struct memif_server *s, struct memif_offer *offer)
{
    struct memif_message message;
    int fd;
    int received = 1;
    while (s->state != MEMIF_ALONE && (received = receive_message(s->socket, &message, &fd)) > 0) {
        const char *wrong = take_message(s, &message, &fd);
        close_if_open(fd);
        if (wrong)
            memif_end(s, offer, wrong);
    }
    if (received < 0) {
        close_if_open(fd);
        memif_end(s, offer, NULL);
    }
}

static void make_offer(const struct memif_server *s, struct memif_offer *offer)
{
    offer->memory = s->memory;
    change_offer(offer);
}

static bool is_refused(const struct memif_offer *offer)
{
    return is_offered(offer) && atomic_load(&offer->refused) == atomic_load(&offer->serial);
}

/* A client that stops within its handshake must not block others. */
static bool takes_too_long(const struct memif_server *s, uint64_t now)
{
    return s->state == MEMIF_GREETED && now - s->greeted_ns > MEMIF_HANDSHAKE_NS;
}

void memif_serve(struct memif_server *s, struct memif_offer *offer, int listener, uint64_t now)
{
    struct sockaddr_storage client;
    socklen_t bytes = sizeof client;
    follow_connection(s, offer);
    if (takes_too_long(s, now))
        memif_end(s, offer, "the handshake timed out");
    if (is_refused(offer))
        memif_end(s, offer, "a ring or a buffer is outside its region");
    if (s->state == MEMIF_IS_CONNECTED && !is_offered(offer))
        make_offer(s, offer);
    int fd = accept4(listener, (struct sockaddr *)&client, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && s->state != MEMIF_ALONE) {
        refuse(fd, "another client is connected");
        (void)close(fd);
    } else if (fd >= 0 && !send_hello(fd)) {
        (void)close(fd);
    } else if (fd >= 0) {
        *s = (struct memif_server){.state = MEMIF_GREETED, .socket = fd, .greeted_ns = now, .why = s->why};
    }
}
