/* error.h - errors of the firmware: a negative number; zero is success.
 *
 * Host programs turn them into one line on stderr and an exit code (base/error.h). */
#ifndef HXMESH_ERROR_H
#define HXMESH_ERROR_H

#include "hxmesh/begin.h"

enum hx_error {
    HX_OK = 0,
    HX_E_RANGE = -1,       /* a size or coordinate outside its documented range */
    HX_E_CAPACITY = -2,    /* fixed memory is too small */
    HX_E_SHORT = -3,       /* frame shorter than its header or length field */
    HX_E_ETHERTYPE = -4,   /* EtherType is neither data nor control */
    HX_E_VERSION = -5,     /* another version of the wire format */
    HX_E_RESERVED = -6,    /* reserved bit is not zero */
    HX_E_FIELD = -7,       /* field outside its range (VC, kind, plane, length) */
    HX_E_CHECKSUM = -8,    /* CRC-32C does not match */
    HX_E_BUSY = -9,        /* all slots are in use: try again after the next event */
    HX_E_UNREACHABLE = -10 /* no minimal path to the destination */
};

#include "hxmesh/end.h"

#endif
