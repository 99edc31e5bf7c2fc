/* spec_write.c - writes names and jobs of a fabric file (spec_write.h). */
#include "spec/yaml/spec_write.h"
#include "base/value.h"
#include "spec/jobs.h"

#include <inttypes.h>

/* Writes a quoted string: a name may have characters that mean something in YAML. Control characters are refused when
 * it is read. */
static void write_text(const char *key, const char *text, FILE *out)
{
    (void)fprintf(out, "%s: \"", key);
    for (const char *letter = text; *letter; letter++)
        (void)fprintf(out, *letter == '"' || *letter == '\\' ? "\\%c" : "%c", *letter);
    (void)fprintf(out, "\"\n");
}

void hx_spec_write_names(const struct hx_spec *spec, FILE *out)
{
    write_text("fabric", spec->fabric, out);
    write_text("name", spec->name, out);
}

/* Whether to write the grid: a grid that follows from a size is refused unless the traffic is a collective. */
static bool has_own_grid(const struct hx_job *job)
{
    bool collective = job->settings.given & HX_GIVEN_PATTERN && job->settings.pattern >= HX_COLLECTIVES;
    return job->grid[0] && (collective || job->given & HX_GIVEN_GRID);
}

void hx_job_write(const struct hx_job *job, FILE *out)
{
    const struct hx_settings *s = &job->settings;
    char text[HX_VALUE_TEXT];
    (void)fprintf(out, "  - tag: %u\n", job->tag);
    if (job->name[0])
        write_text("    name", job->name, out);
    if (has_own_grid(job))
        (void)fprintf(out, "    grid: %ux%u\n", job->grid[0], job->grid[1]);
    if (job->start_ns)
        (void)fprintf(out, "    start: %s\n", hx_value_write_duration(text, job->start_ns));
    if (s->given & HX_GIVEN_PATTERN)
        (void)fprintf(out, "    traffic: %s\n", hx_pattern_names[s->pattern]);
    if (s->given & HX_GIVEN_MESSAGE)
        (void)fprintf(out, "    message: %s\n", hx_value_write_bytes(text, s->message));
    if (s->given & HX_GIVEN_COUNT)
        (void)fprintf(out, "    count: %" PRIu64 "\n", s->count);
    if (s->given & HX_GIVEN_ALGORITHM)
        (void)fprintf(out, "    algorithm: %s\n", hx_algorithm_names[s->algorithm]);
    if (s->given & HX_GIVEN_LARGEST)
        (void)fprintf(out, "    largest: %s\n", s->largest ? "true" : "false");
}
