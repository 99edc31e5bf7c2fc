/* yaml.h - reads the YAML format from memory, for tests; readers.h has the format. */
#ifndef SCHEDULE_YAML_H
#define SCHEDULE_YAML_H

#include "schedule/formats.h"

/* Returns a filled builder, or NULL and sets *problem. most: statements that may be carried out, over all ranks. */
struct schedule_builder *schedule_yaml_parse(const char *path, const char *text, size_t bytes,
                                             const struct schedule_read_options *options, uint64_t most,
                                             struct hx_problem *problem);

/* Whether the first word of a text, behind comments and "---", is this key (NULL: any): small letters and a colon. */
bool schedule_begins_with_key(const uint8_t *begin, size_t bytes, const char *key);

#endif
