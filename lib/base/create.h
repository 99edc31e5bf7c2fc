/* create.h - opens a file to write it from its beginning.
 *
 * It waits for a reader of a FIFO, with one line on stderr, and answers signals meanwhile. open(2) would sleep forever
 * in a program with blocked signals. */
#ifndef HXMESH_BASE_CREATE_H
#define HXMESH_BASE_CREATE_H

/* Returns a descriptor or -errno; -EINTR: an ending signal came before a reader. */
int hx_create(const char *path);

#endif
