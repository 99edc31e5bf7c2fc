/* origin.h - date and machine of a measurement. */
#ifndef HXMESH_TOOLS_ORIGIN_H
#define HXMESH_TOOLS_ORIGIN_H

struct origin {
    char date[32];     /* UTC, as 2026-11-22T10:00:00Z */
    char machine[128]; /* processor model */
};

struct origin origin_now(void);

#endif
