/* running.h - which fabrics run on this machine, for programs that are told a name or none. */
#ifndef HXMESH_BASE_RUNNING_H
#define HXMESH_BASE_RUNNING_H

#include "base/error.h"

enum { HX_RUNNING_NAME = 128 };

/* Puts the name of the only one that runs into *name. is_one: whether an object of this name is one that is looked for.
 * false: there is none, or several: `where` is what chooses ("--name"). */
bool hx_running_only(char name[HX_RUNNING_NAME], bool (*is_one)(const char *name), const char *where,
                     struct hx_problem *problem);

/* Says why shm_arena_attach or shm_arena_read refused a name; false. */
bool hx_running_refuse(const char *name, int error, struct hx_problem *problem);

/* The fabric that a command line names, by --name or by its operand (NULL: not given); NULL: neither does. Dies with
 * HX_EXIT_USAGE where both do and differ. */
const char *hx_running_said(const char *option, const char *operand);

#endif
