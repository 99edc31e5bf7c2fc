/* attach_server.h - the supervisor's end of the attach socket, where programs ask for attachments of hosts
 * (program/attach_socket.h).
 *
 * Closing a descriptor that a program passed may block: a socket lingers, a user's file system hangs. So a child
 * answers the pending requests and exits, which closes them all. It is killed if it takes too long. */
#ifndef ATTACH_SERVER_H
#define ATTACH_SERVER_H

#include "base/error.h"
#include "workload/programs.h"

#include <sys/types.h>
#include <sys/un.h>

struct attach_server {
    int attach_socket; /* readable when a program asks; -1: closed */
    pid_t child;       /* answers requests; 0: none */
    uint64_t kill_at;  /* ns: deadline of the child */
    struct sockaddr_un name;
};

/* Opens the socket of a fabric; this process must hold its arena. Replaces a leftover of the same name. */
bool attach_server_open(struct attach_server *p, const char *fabric, struct hx_problem *problem);
void attach_server_close(struct attach_server *p);

/* Descriptor to poll for requests; -1 while a child answers. */
int attach_server_poll_fd(const struct attach_server *p);

/* Forks a child that answers pending requests, unless one runs. Kills a child past its deadline: call it
 * periodically. */
void attach_server_answer(struct attach_server *p, const struct programs *programs);

/* Returns whether the ended child `pid` was the server's. Call it for each child of this process that ends. */
bool attach_server_ended(struct attach_server *p, pid_t pid);

/* Whether that fabric has an attach socket, even of a dead owner. */
bool attach_server_has_socket(const char *fabric);

/* Removes that fabric's attach socket if its owner is dead. Returns whether it did. */
bool attach_server_remove_dead(const char *fabric);

/* Removes this user's attach sockets without a live owner. Calls `found` for each socket. Returns how many it
 * removed. */
int attach_server_clean(void (*found)(const char *name, bool removed, size_t bytes));

#endif
