/* beside.h - programs of hxmesh that stand beside this one. */
#ifndef HXMESH_HOST_BESIDE_H
#define HXMESH_HOST_BESIDE_H

/* Becomes hxmesh-NAME, if there is one beside this program; returns if not. */
void beside_run(const char *name, char **argv);

#endif
