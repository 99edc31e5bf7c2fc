/* absent.c - functions that the provider lacks; they return -FI_ENOSYS (provider.h). */
#include "provider.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>

/* NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define ABSENT(type, name, parameters)                                                                                 \
    type name parameters                                                                                               \
    {                                                                                                                  \
        return -FI_ENOSYS;                                                                                             \
    }

ABSENT(int, hxfi_no_bind, (struct fid * fid, struct fid *other, uint64_t flags))
ABSENT(int, hxfi_no_control, (struct fid * fid, int command, void *argument))
ABSENT(int, hxfi_no_ops_open, (struct fid * fid, const char *name, uint64_t flags, void **ops, void *context))

ABSENT(int, hxfi_no_insert_service,
       (struct fid_av * av, const char *node, const char *service, fi_addr_t *to, uint64_t flags, void *context))
ABSENT(int, hxfi_no_insert_many,
       (struct fid_av * av, const char *node, size_t nodes, const char *service, size_t services, fi_addr_t *to,
        uint64_t flags, void *context))
ABSENT(int, hxfi_no_signal, (struct fid_cq * queue))
ABSENT(ssize_t, hxfi_no_event_written,
       (struct fid_eq * queue, uint32_t event, const void *from, size_t bytes, uint64_t flags))

/* ---- remote memory ---- */

ABSENT(static ssize_t, no_read,
       (struct fid_ep * ep, void *to, size_t bytes, void *desc, fi_addr_t peer, uint64_t at, uint64_t key,
        void *context))
ABSENT(static ssize_t, no_readv,
       (struct fid_ep * ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t peer, uint64_t at,
        uint64_t key, void *context))
ABSENT(static ssize_t, no_rma_message, (struct fid_ep * ep, const struct fi_msg_rma *message, uint64_t flags))
ABSENT(static ssize_t, no_write,
       (struct fid_ep * ep, const void *from, size_t bytes, void *desc, fi_addr_t peer, uint64_t at, uint64_t key,
        void *context))
ABSENT(static ssize_t, no_inject,
       (struct fid_ep * ep, const void *from, size_t bytes, fi_addr_t peer, uint64_t at, uint64_t key))
ABSENT(static ssize_t, no_write_data,
       (struct fid_ep * ep, const void *from, size_t bytes, void *desc, uint64_t data, fi_addr_t peer, uint64_t at,
        uint64_t key, void *context))
ABSENT(static ssize_t, no_inject_data,
       (struct fid_ep * ep, const void *from, size_t bytes, uint64_t data, fi_addr_t peer, uint64_t at, uint64_t key))

struct fi_ops_rma hxfi_no_rma = {.size = sizeof hxfi_no_rma,
                                 .read = no_read,
                                 .readv = no_readv,
                                 .readmsg = no_rma_message,
                                 .write = no_write,
                                 .writev = no_readv,
                                 .writemsg = no_rma_message,
                                 .inject = no_inject,
                                 .writedata = no_write_data,
                                 .injectdata = no_inject_data};

/* ---- atomics ---- */

ABSENT(static ssize_t, no_atomic,
       (struct fid_ep * ep, const void *from, size_t count, void *desc, fi_addr_t peer, uint64_t at, uint64_t key,
        enum fi_datatype type, enum fi_op op, void *context))
ABSENT(static ssize_t, no_atomicv,
       (struct fid_ep * ep, const struct fi_ioc *iov, void **desc, size_t count, fi_addr_t peer, uint64_t at,
        uint64_t key, enum fi_datatype type, enum fi_op op, void *context))
ABSENT(static ssize_t, no_atomic_message, (struct fid_ep * ep, const struct fi_msg_atomic *message, uint64_t flags))
ABSENT(static ssize_t, no_atomic_inject,
       (struct fid_ep * ep, const void *from, size_t count, fi_addr_t peer, uint64_t at, uint64_t key,
        enum fi_datatype type, enum fi_op op))
ABSENT(static ssize_t, no_fetch,
       (struct fid_ep * ep, const void *from, size_t count, void *desc, void *result, void *result_desc, fi_addr_t peer,
        uint64_t at, uint64_t key, enum fi_datatype type, enum fi_op op, void *context))
ABSENT(static ssize_t, no_fetchv,
       (struct fid_ep * ep, const struct fi_ioc *iov, void **desc, size_t count, struct fi_ioc *result,
        void **result_desc, size_t results, fi_addr_t peer, uint64_t at, uint64_t key, enum fi_datatype type,
        enum fi_op op, void *context))
ABSENT(static ssize_t, no_fetch_message,
       (struct fid_ep * ep, const struct fi_msg_atomic *message, struct fi_ioc *result, void **result_desc,
        size_t results, uint64_t flags))
ABSENT(static ssize_t, no_compare,
       (struct fid_ep * ep, const void *from, size_t count, void *desc, const void *compare, void *compare_desc,
        void *result, void *result_desc, fi_addr_t peer, uint64_t at, uint64_t key, enum fi_datatype type,
        enum fi_op op, void *context))
ABSENT(static ssize_t, no_comparev,
       (struct fid_ep * ep, const struct fi_ioc *iov, void **desc, size_t count, const struct fi_ioc *compare,
        void **compare_desc, size_t compares, struct fi_ioc *result, void **result_desc, size_t results, fi_addr_t peer,
        uint64_t at, uint64_t key, enum fi_datatype type, enum fi_op op, void *context))
ABSENT(static ssize_t, no_compare_message,
       (struct fid_ep * ep, const struct fi_msg_atomic *message, const struct fi_ioc *compare, void **compare_desc,
        size_t compares, struct fi_ioc *result, void **result_desc, size_t results, uint64_t flags))
ABSENT(static int, not_valid, (struct fid_ep * ep, enum fi_datatype type, enum fi_op op, size_t *count))

struct fi_ops_atomic hxfi_no_atomic = {.size = sizeof hxfi_no_atomic,
                                       .write = no_atomic,
                                       .writev = no_atomicv,
                                       .writemsg = no_atomic_message,
                                       .inject = no_atomic_inject,
                                       .readwrite = no_fetch,
                                       .readwritev = no_fetchv,
                                       .readwritemsg = no_fetch_message,
                                       .compwrite = no_compare,
                                       .compwritev = no_comparev,
                                       .compwritemsg = no_compare_message,
                                       .writevalid = not_valid,
                                       .readwritevalid = not_valid,
                                       .compwritevalid = not_valid};

/* ---- collectives ---- */

ABSENT(static ssize_t, no_barrier, (struct fid_ep * ep, fi_addr_t group, void *context))
ABSENT(static ssize_t, no_barrier_flags, (struct fid_ep * ep, fi_addr_t group, uint64_t flags, void *context))
ABSENT(static ssize_t, no_broadcast,
       (struct fid_ep * ep, void *data, size_t count, void *desc, fi_addr_t group, fi_addr_t root,
        enum fi_datatype type, uint64_t flags, void *context))
ABSENT(static ssize_t, no_exchange,
       (struct fid_ep * ep, const void *from, size_t count, void *desc, void *result, void *result_desc,
        fi_addr_t group, enum fi_datatype type, uint64_t flags, void *context))
ABSENT(static ssize_t, no_exchange_at_root,
       (struct fid_ep * ep, const void *from, size_t count, void *desc, void *result, void *result_desc,
        fi_addr_t group, fi_addr_t root, enum fi_datatype type, uint64_t flags, void *context))
ABSENT(static ssize_t, no_reduction,
       (struct fid_ep * ep, const void *from, size_t count, void *desc, void *result, void *result_desc,
        fi_addr_t group, enum fi_datatype type, enum fi_op op, uint64_t flags, void *context))
ABSENT(static ssize_t, no_reduction_at_root,
       (struct fid_ep * ep, const void *from, size_t count, void *desc, void *result, void *result_desc,
        fi_addr_t group, fi_addr_t root, enum fi_datatype type, enum fi_op op, uint64_t flags, void *context))
ABSENT(static ssize_t, no_collective_message,
       (struct fid_ep * ep, const struct fi_msg_collective *message, struct fi_ioc *result, void **result_desc,
        size_t results, uint64_t flags))

struct fi_ops_collective hxfi_no_collectives = {.size = sizeof hxfi_no_collectives,
                                                .barrier = no_barrier,
                                                .barrier2 = no_barrier_flags,
                                                .broadcast = no_broadcast,
                                                .alltoall = no_exchange,
                                                .allreduce = no_reduction,
                                                .allgather = no_exchange,
                                                .reduce_scatter = no_reduction,
                                                .reduce = no_reduction_at_root,
                                                .scatter = no_exchange_at_root,
                                                .gather = no_exchange_at_root,
                                                .msg = no_collective_message};

/* ---- absent functions of domains and endpoints ---- */

ABSENT(int, hxfi_no_scalable, (struct fid_domain * domain, struct fi_info *info, struct fid_ep **ep, void *context))
ABSENT(int, hxfi_no_counter,
       (struct fid_domain * domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr, void *context))
ABSENT(int, hxfi_no_poll, (struct fid_domain * domain, struct fi_poll_attr *attr, struct fid_poll **set))
ABSENT(int, hxfi_no_shared_sends,
       (struct fid_domain * domain, struct fi_tx_attr *attr, struct fid_stx **stx, void *context))
ABSENT(int, hxfi_no_shared_receives,
       (struct fid_domain * domain, struct fi_rx_attr *attr, struct fid_ep **ep, void *context))
ABSENT(int, hxfi_no_atomic_query,
       (struct fid_domain * domain, enum fi_datatype type, enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags))
ABSENT(int, hxfi_no_collective,
       (struct fid_domain * domain, enum fi_collective_op op, struct fi_collective_attr *attr, uint64_t flags))
ABSENT(int, hxfi_no_passive, (struct fid_fabric * fabric, struct fi_info *info, struct fid_pep **pep, void *context))
ABSENT(int, hxfi_no_try_wait, (struct fid_fabric * fabric, struct fid **fids, int count))
ABSENT(int, hxfi_no_wait, (struct fid_fabric * fabric, struct fi_wait_attr *attr, struct fid_wait **set))
ABSENT(int, hxfi_no_send_context,
       (struct fid_ep * ep, int index, struct fi_tx_attr *attr, struct fid_ep **to, void *context))
ABSENT(int, hxfi_no_receive_context,
       (struct fid_ep * ep, int index, struct fi_rx_attr *attr, struct fid_ep **to, void *context))
ABSENT(ssize_t, hxfi_no_room_known, (struct fid_ep * ep))
ABSENT(int, hxfi_no_set_option, (fid_t fid, int level, int name, const void *value, size_t bytes))
ABSENT(int, hxfi_no_set_name, (fid_t fid, void *address, size_t bytes))
ABSENT(int, hxfi_no_peer, (struct fid_ep * ep, void *address, size_t *bytes))
ABSENT(int, hxfi_no_connect, (struct fid_ep * ep, const void *address, const void *data, size_t bytes))
ABSENT(int, hxfi_no_accept, (struct fid_ep * ep, const void *data, size_t bytes))
ABSENT(int, hxfi_no_shutdown, (struct fid_ep * ep, uint64_t flags))
ABSENT(int, hxfi_no_join, (struct fid_ep * ep, const void *address, uint64_t flags, struct fid_mc **mc, void *context))

/* NOLINTEND(misc-unused-parameters) */
