/* values.c - values by options, and the mapping `traffic` (host/yaml/values.h). */
#include "host/yaml/values.h"

#include <string.h>

const cyaml_schema_field_t hx_yaml_traffic_fields[] = {HX_YAML_TEXT("pattern", struct hx_yaml_traffic, pattern),
                                                       HX_YAML_TEXT("algorithm", struct hx_yaml_traffic, algorithm),
                                                       HX_YAML_TEXT("message", struct hx_yaml_traffic, message),
                                                       HX_YAML_TEXT("count", struct hx_yaml_traffic, count),
                                                       HX_YAML_TEXT("shifts", struct hx_yaml_traffic, shifts),
                                                       HX_YAML_TEXT("duration", struct hx_yaml_traffic, duration),
                                                       HX_YAML_TEXT("rate", struct hx_yaml_traffic, rate),
                                                       HX_YAML_TEXT("seed", struct hx_yaml_traffic, seed),
                                                       HX_YAML_TEXT("verify", struct hx_yaml_traffic, verify),
                                                       HX_YAML_TEXT("target", struct hx_yaml_traffic, target),
                                                       HX_YAML_TEXT("hotspot", struct hx_yaml_traffic, hotspot),
                                                       HX_YAML_TEXT("warm_up", struct hx_yaml_traffic, warm_up),
                                                       CYAML_FIELD_END};

static const struct hx_option *option_of(const struct hx_option *options, const struct hx_yaml_value *value)
{
    while (!options->name || strcmp(options->name, value->option) != 0)
        options++;
    return options;
}

bool hx_yaml_apply(const struct hx_yaml_marks *marks, const struct hx_option *options,
                   const struct hx_yaml_value *values, unsigned count, struct hx_problem *problem)
{
    for (unsigned i = 0; i < count; i++) {
        const char *wrong = values[i].text ? hx_option_apply(option_of(options, &values[i]), values[i].text) : NULL;
        if (wrong)
            return hx_yaml_fail(marks, values[i].path, problem, "%s: %s", values[i].path, wrong);
    }
    return true;
}

bool hx_yaml_check(const struct hx_yaml_marks *marks, const struct hx_option *options,
                   const struct hx_yaml_value *values, unsigned count, uint64_t run, struct hx_problem *problem)
{
    for (unsigned i = 0; i < count; i++) {
        const struct hx_option *o = option_of(options, &values[i]);
        const char *wrong = values[i].text ? hx_applies_wrong(o, run, HX_APPLIES_KEYS) : NULL;
        if (wrong)
            return hx_yaml_fail_key(marks, values[i].path, problem, "%s: %s", values[i].path, wrong);
    }
    return true;
}
