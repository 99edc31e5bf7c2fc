/* spec_write.h - writes the names and the jobs of a fabric file, *.hxm.yaml, as spec/yaml/spec_file.c reads them. */
#ifndef HXMESH_SPEC_YAML_SPEC_WRITE_H
#define HXMESH_SPEC_YAML_SPEC_WRITE_H

#include "spec/spec.h"

#include <stdio.h>

void hx_spec_write_names(const struct hx_spec *spec, FILE *out);

/* Writes an entry of `jobs` without its place. The caller adds a line of `boards` or `hosts`, indented by four
 * spaces. */
void hx_job_write(const struct hx_job *job, FILE *out);

#endif
