/* beside.h - programs of hxmesh that stand beside this one. */
#ifndef HXMESH_BASE_BESIDE_H
#define HXMESH_BASE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of what stands beside this program by that name, whether it is there or not; false: this program's
 * own is not known, or it would be too long. */
bool beside_path(const char *name, char *path, size_t bytes);

/* Becomes hxmesh-NAME, if there is one beside this program; returns if not. */
void beside_run(const char *name, char **argv);

#endif
