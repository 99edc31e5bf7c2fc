/* table.c - common options, and texts of an option (table.h). */
#include "base/options/table.h"
#include "base/color.h"
#include "base/value.h"

#include <inttypes.h>
#include <string.h>

void hx_common_options(const struct hx_command *command, struct hx_common *common,
                       struct hx_option table[HX_COMMON_OPTIONS + 1])
{
    unsigned n = 0;
    table[n++] = (struct hx_option){.kind = HX_OPTION_HEADING, .help = "Common"};
    if (!command->no_json)
        table[n++] = (struct hx_option){.name = "json",
                                        .kind = HX_OPTION_STRING,
                                        .argument = "FILE",
                                        .to.string = &common->json,
                                        .help = "write the result as JSON to FILE; - is stdout"};
    table[n++] = (struct hx_option){
        .name = "quiet", .letter = 'q', .kind = HX_OPTION_FLAG, .to.flag = &common->quiet, .help = "show no progress"};
    if (command->called) {
        table[n] = (struct hx_option){.kind = HX_OPTION_END};
        return;
    }
    table[n++] = (struct hx_option){.name = "color",
                                    .kind = HX_OPTION_CHOICE,
                                    .argument = "WHEN",
                                    .to.choice = &common->color,
                                    .choices = hx_color_names,
                                    .help = "colour what is printed; auto: on a terminal, unless NO_COLOR is set"};
    table[n++] =
        (struct hx_option){.name = "help", .letter = 'h', .kind = HX_OPTION_HELP, .help = "print this and exit"};
    table[n++] = (struct hx_option){
        .name = "version", .letter = 'V', .kind = HX_OPTION_VERSION, .help = "print the version and exit"};
    table[n] = (struct hx_option){.kind = HX_OPTION_END};
}

const char *hx_option_argument(const struct hx_option *option)
{
    static const char *const by_kind[] = {
        [HX_OPTION_HEADING] = "",          [HX_OPTION_FLAG] = "",       [HX_OPTION_STRING] = "TEXT",
        [HX_OPTION_LIST] = "TEXT",         [HX_OPTION_NUMBER] = "N",    [HX_OPTION_BYTES] = "SIZE",
        [HX_OPTION_DURATION] = "TIME",     [HX_OPTION_REAL] = "X",      [HX_OPTION_COORDINATE] = "HI,LO",
        [HX_OPTION_COORDINATES] = "HI,LO", [HX_OPTION_CHOICE] = "WORD", [HX_OPTION_HELP] = "",
        [HX_OPTION_VERSION] = "",          [HX_OPTION_END] = ""};
    return option->argument ? option->argument : by_kind[option->kind];
}

/* Prints a number in the format of its kind. */
static const char *written(const struct hx_option *o, uint64_t number, char text[HX_VALUE_TEXT])
{
    if (o->kind == HX_OPTION_BYTES)
        return hx_value_write_bytes(text, number);
    if (o->kind == HX_OPTION_DURATION)
        return hx_value_write_duration(text, number);
    snprintf(text, HX_VALUE_TEXT, "%" PRIu64, number);
    return text;
}

static const char *quoted(const char *value, char *text)
{
    const char *quote = strpbrk(value, " '") ? "\"" : "";
    snprintf(text, HX_OPTION_TEXT, "%s%s%s", quote, value, quote);
    return text;
}

const char *hx_option_default(const struct hx_option *o, char *text)
{
    if (o->otherwise)
        return o->otherwise[0] ? o->otherwise : NULL;
    switch (o->kind) {
    case HX_OPTION_FLAG:
        return *o->to.flag ? "on" : o->negatable ? "off" : NULL;
    case HX_OPTION_STRING:
        return *o->to.string ? quoted(*o->to.string, text) : NULL;
    case HX_OPTION_NUMBER:
    case HX_OPTION_BYTES:
    case HX_OPTION_DURATION:
        return written(o, o->default_value ? *o->default_value : *o->to.number, text);
    case HX_OPTION_REAL:
        snprintf(text, HX_OPTION_TEXT, "%g", *o->to.real);
        return text;
    case HX_OPTION_COORDINATE:
        snprintf(text, HX_OPTION_TEXT, "%u,%u", o->to.coordinate->addr_hi, o->to.coordinate->addr_lo);
        return text;
    case HX_OPTION_CHOICE:
        return o->choices[*o->to.choice];
    default:
        return NULL;
    }
}

const char *hx_option_range(const struct hx_option *o, char *text)
{
    char low[HX_VALUE_TEXT];
    char high[HX_VALUE_TEXT];
    bool is_number = o->kind == HX_OPTION_NUMBER || o->kind == HX_OPTION_BYTES || o->kind == HX_OPTION_DURATION;
    if (o->kind == HX_OPTION_REAL)
        snprintf(text, HX_OPTION_TEXT, "%g to %g", o->real_low, o->real_high);
    else if (is_number && o->high < INT64_MAX)
        snprintf(text, HX_OPTION_TEXT, "%s to %s", written(o, o->low, low), written(o, o->high, high));
    else
        return NULL;
    return text;
}

const char *hx_option_limits(const struct hx_option *o, char *text)
{
    char range_text[HX_OPTION_TEXT];
    char default_text[HX_OPTION_TEXT];
    const char *range = hx_option_range(o, range_text);
    const char *default_value = hx_option_default(o, default_text);
    text[0] = '\0';
    if (range || default_value)
        snprintf(text, HX_OPTION_TEXT, " (%.100s%s%s%.180s)", range ? range : "", range && default_value ? "; " : "",
                 default_value ? "default " : "", default_value ? default_value : "");
    return text;
}

const char *hx_usage_of(const struct hx_command *command, char *text)
{
    const char *operands = command->operands;
    if (!operands || command->hides_operands)
        snprintf(text, HX_OPTION_TEXT, "[options]");
    else if (strstr(operands, " -- "))
        snprintf(text, HX_OPTION_TEXT, "[options] %s", operands);
    else
        snprintf(text, HX_OPTION_TEXT, "%s [options]", operands);
    return text;
}

const char *hx_option_choices(const struct hx_option *o, char *text)
{
    text[0] = '\0';
    for (unsigned i = 0; o->kind == HX_OPTION_CHOICE && o->choices[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, HX_OPTION_TEXT - used, "%s%s", i ? ", " : "", o->choices[i]);
    }
    return text;
}
