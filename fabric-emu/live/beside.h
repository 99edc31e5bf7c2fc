/* beside.h - programs of hxmesh that stand beside this one. */
#ifndef BESIDE_H
#define BESIDE_H

/* Becomes hxmesh-NAME, if there is one beside this program; returns if not. */
void beside_run(const char *name, char **argv);

#endif
