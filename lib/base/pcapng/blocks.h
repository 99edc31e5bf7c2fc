/* blocks.h - numbers of pcapng blocks and options, for writer and reader. */
#ifndef HXMESH_BASE_PCAPNG_BLOCKS_H
#define HXMESH_BASE_PCAPNG_BLOCKS_H

#define HX_PCAPNG_BYTE_ORDER 0x1A2B3C4DU

enum hx_pcapng_block {
    HX_PCAPNG_INTERFACE = 1,
    HX_PCAPNG_OLD_PACKET = 2,
    HX_PCAPNG_SIMPLE = 3,
    HX_PCAPNG_STATISTICS = 5,
    HX_PCAPNG_ENHANCED = 6,
    HX_PCAPNG_SECTION = 0x0A0D0D0A
};

enum hx_pcapng_option {
    HX_PCAPNG_END = 0,
    HX_PCAPNG_COMMENT = 1,
    /* of a section */
    HX_PCAPNG_HARDWARE = 2,
    HX_PCAPNG_OS = 3,
    HX_PCAPNG_APPLICATION = 4,
    /* of an interface */
    HX_PCAPNG_NAME = 2,
    HX_PCAPNG_DESCRIPTION = 3,
    HX_PCAPNG_SPEED = 8,
    HX_PCAPNG_RESOLUTION = 9,
    HX_PCAPNG_FILTER = 11,
    HX_PCAPNG_OFFSET = 14,
    /* of a packet */
    HX_PCAPNG_FLAGS = 2,
    HX_PCAPNG_DROPPED = 4,
    HX_PCAPNG_ID = 5,
    HX_PCAPNG_QUEUE = 6,
    /* of statistics */
    HX_PCAPNG_START = 2,
    HX_PCAPNG_STOP = 3,
    HX_PCAPNG_IFRECV = 4,
    HX_PCAPNG_IFDROP = 5,
    HX_PCAPNG_FILTERACCEPT = 6,
    HX_PCAPNG_OSDROP = 7
};

#endif
