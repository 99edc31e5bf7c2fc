/* create.h - opens a file that is to be written from its beginning.
 *
 * A FIFO that nobody reads is waited for, with one line on stderr, so that a signal is answered meanwhile: open(2)
 * would sleep on, in a program that has its signals blocked for ever. */
#ifndef HXMESH_BASE_CREATE_H
#define HXMESH_BASE_CREATE_H

/* A descriptor, or -errno. -EINTR: a signal asked to end while nobody read. */
int hx_create(const char *path);

#endif
