/* crc.c - time spent on CRCs (crc.h). */
#include "crc.h"

struct shm_crc shm_crc;
