/* key.h - the file with the key of a cable (hxmesh/auth_tag.h): 32 hexadecimal digits, and only space around them.
 *
 *     (umask 077; od -An -N16 -tx8 /dev/urandom | tr -d ' ' >FILE) */
#ifndef HXMESH_BASE_KEY_H
#define HXMESH_BASE_KEY_H

#include "base/error.h"
#include "hxmesh/auth_tag.h"

#include <stdbool.h>

/* Reads a key. Returns false and sets *problem, with the file and a remedy, if it is missing, not a regular file of
 * this user (or root), accessible to others, or not a key. Messages never contain its text. */
bool hx_key_read(struct hx_auth_key *key, const char *path, struct hx_problem *problem);

#endif
