/* readers.h - the formats of schedules, each in a file of its own (formats.h). */
#ifndef SCHEDULE_READERS_H
#define SCHEDULE_READERS_H

#include <stdbool.h>
#include <stddef.h>

struct schedule_format;

extern const struct schedule_format schedule_chakra;
extern const struct schedule_format schedule_goal;
extern const struct schedule_format schedule_goal_binary;
extern const struct schedule_format schedule_kineto;
extern const struct schedule_format schedule_layers;
extern const struct schedule_format schedule_model;
extern const struct schedule_format schedule_mpi;
extern const struct schedule_format schedule_msccl;
extern const struct schedule_format schedule_mscclpp;
extern const struct schedule_format schedule_yaml;

/* The first file of a Chakra trace that is named by its prefix: writes PREFIX.0.et. Returns false if there is none. */
bool chakra_first_file(const char *prefix, char *path, size_t bytes);

#endif
