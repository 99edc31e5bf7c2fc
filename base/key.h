/* key.h - the file that holds the key of a cable (hxmesh/auth_tag.h): 32 hexadecimal digits, and nothing else but space
 * around them.
 *
 *     (umask 077; od -An -N16 -tx8 /dev/urandom | tr -d ' ' >FILE) */
#ifndef HXMESH_BASE_KEY_H
#define HXMESH_BASE_KEY_H

#include "base/error.h"
#include "hxmesh/auth_tag.h"

#include <stdbool.h>

/* false, with the file and what to do: there is none, it is not a regular file of this user (or root's), others may
 * read or write it, or it holds something else. Its text is in no message. */
bool hx_key_read(struct hx_auth_key *key, const char *path, struct hx_problem *problem);

#endif
