/* virtio_net.c - the driver (virtio_net.h). */
#include "virtio_net.h"
#include "board.h"
#include "hal/bare/bare.h"

#include <stdatomic.h>

/* ---- registers ---- */

/* Offsets in words. */
enum {
    MAGIC = 0x000 / 4,
    VERSION = 0x004 / 4,
    DEVICE = 0x008 / 4,
    OFFERS_CHOOSE = 0x014 / 4,
    OFFERS = 0x010 / 4,
    TAKES_CHOOSE = 0x024 / 4,
    TAKES = 0x020 / 4,
    QUEUE_CHOOSE = 0x030 / 4,
    QUEUE_MOST = 0x034 / 4,
    QUEUE_SLOTS = 0x038 / 4,
    QUEUE_READY = 0x044 / 4,
    QUEUE_NOTIFY = 0x050 / 4,
    INTERRUPT = 0x060 / 4,
    INTERRUPT_TAKEN = 0x064 / 4,
    STATUS = 0x070 / 4,
    QUEUE_DESCRIPTORS = 0x080 / 4,
    QUEUE_OFFERED = 0x090 / 4,
    QUEUE_USED = 0x0a0 / 4
};

enum { MAGIC_VALUE = 0x74726976, VERSION_VALUE = 2, NETWORK = 1 };
enum { ACKNOWLEDGED = 1, DRIVER = 2, DRIVER_OK = 4, FEATURES_OK = 8 };
enum { FEATURE_VERSION_1 = 1 /* bit in the second feature word */, NO_INTERRUPT = 1, NO_NOTIFY = 1, DEVICE_WRITES = 2 };
enum { QUEUE_IN = 0, QUEUE_OUT = 1 };

static void set_address(volatile uint32_t *registers, unsigned at, const volatile void *of)
{
    registers[at] = (uint32_t)(uintptr_t)of;
    registers[at + 1] = (uint32_t)((uint64_t)(uintptr_t)of >> 32);
}

/* ---- queues ---- */

static void start_queue(struct virtio_net *d, unsigned number, struct virtio_queue *q)
{
    volatile uint32_t *r = d->registers;
    r[QUEUE_CHOOSE] = number;
    if (r[QUEUE_MOST] < VIRTIO_SLOTS)
        bare_die("a virtio queue has %u slots, %u are needed", r[QUEUE_MOST], VIRTIO_SLOTS);
    r[QUEUE_SLOTS] = VIRTIO_SLOTS;
    set_address(r, QUEUE_DESCRIPTORS, q->descriptor);
    set_address(r, QUEUE_OFFERED, &q->offered);
    set_address(r, QUEUE_USED, &q->used);
    q->offered.flags = NO_INTERRUPT;
    r[QUEUE_READY] = 1;
}

static void offer(struct virtio_queue *q, unsigned slot)
{
    q->offered.ring[q->staged++ % VIRTIO_SLOTS] = (uint16_t)slot;
}

static bool has_come_back(const struct virtio_queue *q)
{
    bool any = *(const volatile uint16_t *)&q->used.index != q->seen;
    atomic_thread_fence(memory_order_acquire);
    return any;
}

/* Returns the slot that the device gave back first, and its bytes. */
static unsigned slot_back(const struct virtio_queue *q, uint32_t *bytes)
{
    uint32_t slot = q->used.ring[q->seen % VIRTIO_SLOTS].id;
    *bytes = q->used.ring[q->seen % VIRTIO_SLOTS].bytes;
    if (slot >= VIRTIO_SLOTS)
        bare_die("a virtio device gives back slot %u of %u", slot, VIRTIO_SLOTS);
    return slot;
}

static void flush_queue(struct virtio_net *d, unsigned number, struct virtio_queue *q)
{
    if (q->offered.index == q->staged)
        return;
    atomic_thread_fence(memory_order_release);
    *(volatile uint16_t *)&q->offered.index = q->staged;
    atomic_thread_fence(memory_order_seq_cst);
    if (*(volatile uint16_t *)&q->used.flags & NO_NOTIFY)
        return;
    /* C's fences order memory only; the device must see the offered slots before its register is written. */
    __asm__ volatile("fence w, o" ::: "memory");
    d->registers[QUEUE_NOTIFY] = number;
}

/* ---- life ---- */

static void agree(volatile uint32_t *r)
{
    r[STATUS] = 0;
    r[STATUS] = ACKNOWLEDGED;
    r[STATUS] = ACKNOWLEDGED | DRIVER;
    r[OFFERS_CHOOSE] = 1;
    if (!(r[OFFERS] & FEATURE_VERSION_1))
        bare_die("a legacy virtio device (set virtio-mmio.force-legacy=false)");
    r[TAKES_CHOOSE] = 0;
    r[TAKES] = 0;
    r[TAKES_CHOOSE] = 1;
    r[TAKES] = FEATURE_VERSION_1;
    r[STATUS] = ACKNOWLEDGED | DRIVER | FEATURES_OK;
    if (!(r[STATUS] & FEATURES_OK))
        bare_die("a virtio network device requires features that this driver lacks");
}

bool virtio_net_start(struct virtio_net *d, unsigned place)
{
    volatile uint32_t *r = (volatile uint32_t *)board_virtio(place);
    if (!r || r[MAGIC] != MAGIC_VALUE || r[DEVICE] != NETWORK)
        return false;
    if (r[VERSION] != VERSION_VALUE)
        bare_die("virtio-mmio of version %u, %u is needed (virtio-mmio.force-legacy=false)", r[VERSION], VERSION_VALUE);
    d->registers = r;
    agree(r);
    start_queue(d, QUEUE_IN, &d->in);
    start_queue(d, QUEUE_OUT, &d->out);
    for (unsigned slot = 0; slot < VIRTIO_SLOTS; slot++) {
        d->in.descriptor[slot] = (struct virtio_descriptor){.address = (uintptr_t)&d->in_frame[slot],
                                                            .bytes = VIRTIO_NET_HEADER + HX_MAX_FRAME,
                                                            .flags = DEVICE_WRITES};
        d->out.descriptor[slot].address = (uintptr_t)&d->out_frame[slot];
        d->idle[d->idle_count++] = (uint16_t)slot;
        offer(&d->in, slot);
    }
    r[STATUS] = ACKNOWLEDGED | DRIVER | FEATURES_OK | DRIVER_OK;
    board_virtio_wakes(place);
    virtio_net_flush(d);
    return true;
}

/* ---- frames in ---- */

const uint8_t *virtio_net_arrived(struct virtio_net *d, uint32_t *bytes)
{
    if (!has_come_back(&d->in))
        return NULL;
    uint32_t with_header;
    unsigned slot = slot_back(&d->in, &with_header);
    if (with_header < VIRTIO_NET_HEADER || with_header > sizeof d->in_frame[slot])
        bare_die("a virtio device wrote %u bytes into a buffer of %zu", with_header, sizeof d->in_frame[slot]);
    *bytes = with_header - VIRTIO_NET_HEADER;
    return d->in_frame[slot].frame;
}

void virtio_net_taken(struct virtio_net *d)
{
    uint32_t bytes;
    offer(&d->in, slot_back(&d->in, &bytes));
    d->in.seen++;
}

bool virtio_net_arm(struct virtio_net *d)
{
    *(volatile uint16_t *)&d->in.offered.flags = 0;
    atomic_thread_fence(memory_order_seq_cst);
    return !has_come_back(&d->in);
}

void virtio_net_disarm(struct virtio_net *d)
{
    *(volatile uint16_t *)&d->in.offered.flags = NO_INTERRUPT;
    d->registers[INTERRUPT_TAKEN] = d->registers[INTERRUPT];
}

/* ---- frames out ---- */

uint8_t *virtio_net_place(struct virtio_net *d)
{
    for (; has_come_back(&d->out); d->out.seen++) {
        uint32_t bytes;
        unsigned slot = slot_back(&d->out, &bytes);
        if (d->idle_count == VIRTIO_SLOTS)
            bare_die("a virtio device gives back slot %u that it had not", slot);
        d->idle[d->idle_count++] = (uint16_t)slot;
    }
    return d->idle_count ? d->out_frame[d->idle[d->idle_count - 1]].frame : NULL;
}

void virtio_net_send(struct virtio_net *d, uint32_t bytes)
{
    unsigned slot = d->idle[--d->idle_count];
    d->out.descriptor[slot].bytes = VIRTIO_NET_HEADER + bytes;
    offer(&d->out, slot);
}

void virtio_net_flush(struct virtio_net *d)
{
    flush_queue(d, QUEUE_IN, &d->in);
    flush_queue(d, QUEUE_OUT, &d->out);
}
