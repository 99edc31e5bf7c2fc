/* attach_server.h - the supervisor's end of the door of a fabric, where programs ask for the attachments of hosts
 * (program/attach_socket.h).
 *
 * Closing what somebody passes may take as long as he likes: a socket lingers, a file system of his own does not
 * answer. So a child of the supervisor takes the questions that are there, answers them, and ends, which closes all
 * that came. It is killed after a while, which ends such a wait. */
#ifndef ATTACH_SERVER_H
#define ATTACH_SERVER_H

#include "base/error.h"
#include "workload/programs.h"

#include <sys/types.h>
#include <sys/un.h>

struct attach_server {
    int attach_socket; /* readable when a program asks; -1: the socket is closed */
    pid_t child;       /* that answers; 0: none */
    uint64_t kill_at;  /* ns, when it is killed */
    struct sockaddr_un name;
};

/* Opens the door of a fabric whose arena this process holds: what one of that name has left is replaced. */
bool attach_server_open(struct attach_server *p, const char *fabric, struct hx_problem *problem);
void attach_server_close(struct attach_server *p);

/* What to poll until somebody is to be answered: the door, or -1 while a child answers. */
int attach_server_poll_fd(const struct attach_server *p);

/* Has those who ask answered, if no child does it already. To be called now and then, too: it ends a child that takes
 * too long. */
void attach_server_answer(struct attach_server *p, const struct programs *programs);

/* Whether it was that child which has ended. To be asked of each child of this process. */
bool attach_server_ended(struct attach_server *p, pid_t pid);

/* Whether a door of that fabric is there, and its owner dead or alive. */
bool attach_server_has_socket(const char *fabric);

/* Removes the door of that fabric, if its owner has died. Whether it did. */
bool attach_server_remove_dead(const char *fabric);

/* Removes the doors of this user's whose owners have died; calls `found` for each door with whether it did. Returns how
 * many. */
int attach_server_clean(void (*found)(const char *name, bool removed, size_t bytes));

#endif
