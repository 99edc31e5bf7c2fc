/* running.h - finds the running fabric for programs that get a name or none. */
#ifndef HXMESH_BASE_RUNNING_H
#define HXMESH_BASE_RUNNING_H

#include "base/error.h"

enum { HX_RUNNING_NAME = 128 };

/* Sets *name to the only running fabric. is_one: whether a name counts. Returns false and sets *problem if there is
 * none, or several: `where` names the option that chooses ("--name"). */
bool hx_running_only(char name[HX_RUNNING_NAME], bool (*is_one)(const char *name), const char *where,
                     struct hx_problem *problem);

/* Sets *problem to why shm_arena_attach or shm_arena_read refused a name. Returns false. */
bool hx_running_refuse(const char *name, int error, struct hx_problem *problem);

/* Returns the fabric that the command line names, by --name or its operand (NULL: not given); NULL: neither. Dies with
 * HX_EXIT_USAGE if both differ. */
const char *hx_running_said(const char *option, const char *operand);

#endif
