/* version.h - the one place that says which hxmesh this is. */
#ifndef HXMESH_BASE_VERSION_H
#define HXMESH_BASE_VERSION_H

#define HXMESH_VERSION "0.1.0"

#endif
