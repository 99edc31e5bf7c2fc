/* provider.h - a libfabric provider on include/hxmesh/program.h: declarations shared by its files.
 *
 *     provider.c   fi_getinfo(), fabric and domain
 *     queue.c      completion queues, and an event queue that is always empty
 *     address.c    address vectors: an address is a host number
 *     endpoint.c   endpoints: opening a host, binding, naming
 *     transfer.c   send and receive calls, in all forms of libfabric
 *     match.c      matching of messages and receives, completions
 *     absent.c     absent functions, which return -FI_ENOSYS
 *
 * A domain has one endpoint, which is one host of a running fabric.
 *
 * Data flow. A send is a hx_program_send(). Its tag is the sender's, except the two highest bits: one marks a message
 * without tag, one a message with data for the receiver's completion. A message matches the first posted receive that
 * fits, in order of posting. A message without receive waits, in order of arrival; long messages wait at their sender.
 *
 * Threads: FI_THREAD_DOMAIN. Progress happens only within calls (FI_PROGRESS_MANUAL). */
#ifndef FI_PROVIDER_H
#define FI_PROVIDER_H

#include "hxmesh/program.h"

#include <stdbool.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#define HXFI_NAME      "hxmesh"
#define HXFI_UNTAGGED  (UINT64_C(1) << 63)  /* in a message's tag: it has none */
#define HXFI_WITH_DATA (UINT64_C(1) << 62)  /* in a message's tag: it has data for the completion (FI_REMOTE_CQ_DATA) */
#define HXFI_TAG       (HXFI_WITH_DATA - 1) /* bits of the program */
#define HXFI_MAGIC     UINT32_C(0x68786d00)

enum { HXFI_ANY_HOST = UINT32_MAX };

/* An address, as fi_getname() gives it. */
struct hxfi_address {
    uint32_t magic; /* HXFI_MAGIC */
    uint32_t host;
};

struct hxfi_fabric {
    struct fid_fabric fid;
};

struct hxfi_endpoint;
struct hxfi_domain {
    struct fid_domain fid;
    struct hxfi_fabric *fabric;
    struct hxfi_endpoint *endpoint; /* NULL: not enabled */
};

struct hxfi_vector {
    struct fid_av fid;
    uint32_t *host; /* [count]: by fi_addr_t */
    size_t count, room;
};

/* A completion. */
struct hxfi_entry {
    struct fi_cq_tagged_entry entry;
    fi_addr_t source;
    int error;     /* 0: success */
    size_t beyond; /* bytes beyond the buffer */
};

struct hxfi_queue {
    struct fid_cq fid;
    struct hxfi_domain *domain;
    enum fi_cq_format format;
    struct hxfi_entry *entry; /* circular, [room] */
    size_t first, count, room;
    size_t reserved; /* entries reserved for operations in flight: count + reserved <= room */
};

/* A send or receive, until it completes. */
struct hxfi_operation {
    struct hxfi_operation *next;
    void *context;
    uint64_t flags;  /* of its completion: FI_SEND or FI_RECV, FI_TAGGED or FI_MSG */
    bool reported;   /* it wants a completion */
    uint8_t *buffer; /* of a receive */
    size_t bytes;
    uint32_t host; /* sender that a receive accepts */
    uint64_t tag, ignore;
    bool claims;        /* receives the message that its context claimed by FI_PEEK */
    uint32_t note;      /* of its message */
    uint64_t is_beyond; /* bytes of a long message beyond the buffer */
};

/* A message without posted receive. */
struct hxfi_unexpected {
    struct hxfi_unexpected *next;
    uint32_t peer, ticket, note;
    bool is_long;        /* announced; else `data` is a copy */
    const void *claimed; /* context that has claimed it, NULL: none */
    uint64_t tag, bytes;
    uint8_t data[];
};

struct hxfi_endpoint {
    struct fid_ep fid;
    struct hxfi_domain *domain;
    struct hxfi_vector *vector;
    struct hxfi_queue *sends, *receives;
    bool sends_selective, receives_selective;
    bool directed;                      /* receives may name a sender */
    uint64_t send_flags, receive_flags; /* op_flags */
    struct hx_program *program;         /* NULL: not enabled */
    int broken;                         /* negative error that stopped it, or 0 */
    struct hxfi_operations *operations; /* all operations ever allocated */
    struct hxfi_operation *spare;       /* free ones */
    struct hxfi_operation *posted, **posted_end;
    struct hxfi_unexpected *unexpected, **unexpected_end;
};

/* ---- provider.c, queue.c, address.c, endpoint.c, transfer.c, operation.c ---- */

int hxfi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                 struct fi_info **info);
int hxfi_queue_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context);
int hxfi_events_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context);
int hxfi_vector_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av, void *context);
int hxfi_endpoint_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);
extern struct fi_ops_msg hxfi_msg_ops;
extern struct fi_ops_tagged hxfi_tagged_ops;

/* Begin: returns an operation, uninitialised, and reserves a queue entry for it; NULL: no memory. End: frees the
 * operation. Free: frees all memory, when the endpoint closes. */
struct hxfi_operation *hxfi_operation_begin(struct hxfi_endpoint *e, struct hxfi_queue *q);
void hxfi_operation_end(struct hxfi_endpoint *e, struct hxfi_operation *o);
void hxfi_operations_free(struct hxfi_endpoint *e);

/* Host of an address; HXFI_ANY_HOST: none, or any. */
uint32_t hxfi_host_of(const struct hxfi_vector *v, fi_addr_t address);
fi_addr_t hxfi_address_of(const struct hxfi_vector *v, uint32_t host);

/* ---- queue.c ---- */

/* Each `q` may be NULL: no queue is bound.
 * Reserves an entry. Returns false without memory. */
bool hxfi_queue_reserve(struct hxfi_queue *q);
/* Frees a reserved entry. */
void hxfi_queue_unreserve(struct hxfi_queue *q);
/* Fill a reserved entry. */
void hxfi_queue_complete(struct hxfi_queue *q, const struct hxfi_operation *o, size_t bytes, uint64_t tag,
                         fi_addr_t source);
void hxfi_queue_fail(struct hxfi_queue *q, const struct hxfi_operation *o, int error, size_t bytes, size_t beyond,
                     uint64_t tag);

/* ---- match.c ---- */

/* Handles all events. Returns 0 or a negative error: the fabric has ended. */
int hxfi_progress(struct hxfi_endpoint *e);
/* Matches a receive with a waiting message, or posts it; owns it from here on. */
void hxfi_receive(struct hxfi_endpoint *e, struct hxfi_operation *o);
/* Returns a waiting message that fits; NULL: none. claimed_by: context that claimed it; NULL: not claimed. */
struct hxfi_unexpected *hxfi_find(struct hxfi_endpoint *e, const struct hxfi_operation *o, const void *claimed_by);
int hxfi_cancel(struct hxfi_endpoint *e, const void *context);
void hxfi_forget_unexpected(struct hxfi_endpoint *e);

/* ---- absent.c: functions that return -FI_ENOSYS, and tables of them ---- */

int hxfi_no_bind(struct fid *fid, struct fid *other, uint64_t flags);
int hxfi_no_control(struct fid *fid, int command, void *argument);
int hxfi_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);
/* What libfabric calls on any object. */
#define HXFI_LIFE(close_it, bind_it, control_it)                                                                       \
    {                                                                                                                  \
        .size = sizeof(struct fi_ops), .close = (close_it), .bind = (bind_it), .control = (control_it),                \
        .ops_open = hxfi_no_ops_open                                                                                   \
    }
int hxfi_no_insert_service(struct fid_av *av, const char *node, const char *service, fi_addr_t *to, uint64_t flags,
                           void *context);
int hxfi_no_insert_many(struct fid_av *av, const char *node, size_t nodes, const char *service, size_t services,
                        fi_addr_t *to, uint64_t flags, void *context);
int hxfi_no_signal(struct fid_cq *queue);
ssize_t hxfi_no_event_written(struct fid_eq *queue, uint32_t event, const void *from, size_t bytes, uint64_t flags);
int hxfi_no_scalable(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);
int hxfi_no_counter(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr, void *context);
int hxfi_no_poll(struct fid_domain *domain, struct fi_poll_attr *attr, struct fid_poll **set);
int hxfi_no_shared_sends(struct fid_domain *domain, struct fi_tx_attr *attr, struct fid_stx **stx, void *context);
int hxfi_no_shared_receives(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep, void *context);
int hxfi_no_atomic_query(struct fid_domain *domain, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr *attr,
                         uint64_t flags);
int hxfi_no_collective(struct fid_domain *domain, enum fi_collective_op op, struct fi_collective_attr *attr,
                       uint64_t flags);
int hxfi_no_passive(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep, void *context);
int hxfi_no_try_wait(struct fid_fabric *fabric, struct fid **fids, int count);
int hxfi_no_wait(struct fid_fabric *fabric, struct fi_wait_attr *attr, struct fid_wait **set);
int hxfi_no_send_context(struct fid_ep *ep, int index, struct fi_tx_attr *attr, struct fid_ep **to, void *context);
int hxfi_no_receive_context(struct fid_ep *ep, int index, struct fi_rx_attr *attr, struct fid_ep **to, void *context);
ssize_t hxfi_no_room_known(struct fid_ep *ep);
int hxfi_no_set_option(fid_t fid, int level, int name, const void *value, size_t bytes);
int hxfi_no_set_name(fid_t fid, void *address, size_t bytes);
int hxfi_no_peer(struct fid_ep *ep, void *address, size_t *bytes);
int hxfi_no_connect(struct fid_ep *ep, const void *address, const void *data, size_t bytes);
int hxfi_no_accept(struct fid_ep *ep, const void *data, size_t bytes);
int hxfi_no_shutdown(struct fid_ep *ep, uint64_t flags);
int hxfi_no_join(struct fid_ep *ep, const void *address, uint64_t flags, struct fid_mc **mc, void *context);
extern struct fi_ops_rma hxfi_no_rma;
extern struct fi_ops_atomic hxfi_no_atomic;
extern struct fi_ops_collective hxfi_no_collectives;

#endif
