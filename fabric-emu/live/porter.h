/* porter.h - the supervisor's end of the door of a fabric, where programs ask for the attachments of hosts (program/door.h). */
#ifndef PORTER_H
#define PORTER_H

#include "fabric-emu/workload/programs.h"
#include "host/error.h"

#include <sys/un.h>

struct porter {
    int door; /* readable when somebody asks; -1: nobody is there */
    struct sockaddr_un name;
};

/* Opens the door of a fabric whose arena this process holds: what one of that name has left is replaced. */
bool porter_open(struct porter *p, const char *fabric, struct hx_problem *problem);
void porter_close(struct porter *p);

/* Answers those who ask. */
void porter_answer(const struct porter *p, const struct programs *programs);

/* Whether a door of that fabric is there, and its owner dead or alive. */
bool porter_has_door(const char *fabric);

/* Removes the door of that fabric, if its owner has died. Whether it did. */
bool porter_remove_dead(const char *fabric);

/* Removes the doors of this user's whose owners have died; calls `found` for each door with whether it did. Returns how many. */
int porter_clean(void (*found)(const char *name, bool removed, size_t bytes));

#endif
