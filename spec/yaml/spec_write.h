/* spec_write.h - writes what a fabric file, *.hxm.yaml, says of the fabric's names and of its jobs, as
 * spec/yaml/spec_file.c reads it. */
#ifndef HXMESH_SPEC_YAML_SPEC_WRITE_H
#define HXMESH_SPEC_YAML_SPEC_WRITE_H

#include "spec/spec.h"

#include <stdio.h>

/* The lines of `fabric` and `name`. */
void hx_spec_write_names(const struct hx_spec *spec, FILE *out);

/* An entry of `jobs` with all that the job says of itself but where it stands: a line of `boards` or `hosts` is to
 * follow, four spaces in. */
void hx_job_write(const struct hx_job *job, FILE *out);

#endif
