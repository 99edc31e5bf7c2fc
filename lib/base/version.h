/* version.h - the version of hxmesh. */
#ifndef HXMESH_BASE_VERSION_H
#define HXMESH_BASE_VERSION_H

#define HXMESH_VERSION "0.2.0"

#endif
