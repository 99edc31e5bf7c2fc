/* crc.c - what CRCs took (crc.h). */
#include "crc.h"

struct shm_crc shm_crc;
