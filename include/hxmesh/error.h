/* error.h - the one error style of the firmware: a negative number, zero is success.
 *
 * Host programs turn these into one line on stderr and an exit code (base/error.h). */
#ifndef HXMESH_ERROR_H
#define HXMESH_ERROR_H

#include "hxmesh/begin.h"

enum hx_error {
    HX_OK = 0,
    HX_E_RANGE = -1,       /* a size or coordinate outside its documented range */
    HX_E_CAPACITY = -2,    /* more than the fixed memory handed over at start can hold */
    HX_E_SHORT = -3,       /* a frame shorter than its header or its length field says */
    HX_E_ETHERTYPE = -4,   /* a frame that is neither hxmesh data nor hxmesh control */
    HX_E_VERSION = -5,     /* a frame of another version of the wire format */
    HX_E_RESERVED = -6,    /* a reserved bit that is not zero */
    HX_E_FIELD = -7,       /* a field outside its range (VC, kind, plane, length) */
    HX_E_CHECKSUM = -8,    /* CRC-32C does not match */
    HX_E_BUSY = -9,        /* every slot for this is taken: try again after the next event */
    HX_E_UNREACHABLE = -10 /* no minimal path is left to the destination */
};

#include "hxmesh/end.h"

#endif
