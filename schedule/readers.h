/* readers.h - all formats of schedules, for the table (formats.c). */
#ifndef SCHEDULE_READERS_H
#define SCHEDULE_READERS_H

#include "schedule/formats.h"

extern const struct schedule_format schedule_yaml;

#endif
