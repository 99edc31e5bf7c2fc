/* beside.h - programs of hxmesh in the folder of this one. */
#ifndef HXMESH_BASE_BESIDE_H
#define HXMESH_BASE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of a file in this program's folder, existing or not. Returns false if this program's path is unknown
 * or the result too long. */
bool beside_path(const char *name, char *path, size_t bytes);

/* Executes hxmesh-NAME from this program's folder; returns if there is none. */
void beside_run(const char *name, char **argv);

#endif
