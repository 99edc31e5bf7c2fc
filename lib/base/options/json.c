/* json.c - writes option values by name (json.h). */
#include "base/options/json.h"
#include "base/json.h"
#include "base/options/applies.h"

static json_t *coordinates(const struct hx_coordinates *values)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < values->count; i++)
        (void)json_array_append_new(list, json_pack("[i, i]", (int)values->at[i].addr_hi, (int)values->at[i].addr_lo));
    return list;
}

static json_t *texts(const struct hx_option_list *values)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < values->count; i++)
        (void)json_array_append_new(list, hx_json_text(values->item[i]));
    return list;
}

static json_t *value_of(const struct hx_option *o)
{
    char text[HX_VALUE_TEXT];
    switch (o->kind) {
    case HX_OPTION_FLAG:
        return json_boolean(*o->to.flag);
    case HX_OPTION_STRING:
        return *o->to.string ? hx_json_text(*o->to.string) : NULL;
    case HX_OPTION_LIST:
        return texts(o->to.list);
    case HX_OPTION_NUMBER:
    case HX_OPTION_BYTES:
        return json_integer((json_int_t)*o->to.number);
    case HX_OPTION_DURATION:
        return json_string(hx_value_write_duration(text, *o->to.number));
    case HX_OPTION_REAL:
        return json_real(*o->to.real);
    case HX_OPTION_COORDINATE:
        return json_pack("[i, i]", (int)o->to.coordinate->addr_hi, (int)o->to.coordinate->addr_lo);
    case HX_OPTION_COORDINATES:
        return coordinates(o->to.coordinates);
    case HX_OPTION_CHOICE:
        return hx_json_text(hx_option_is_file(o, *o->to.choice) ? *o->file : o->choices[*o->to.choice]);
    default:
        return NULL;
    }
}

void hx_options_json(const struct hx_option *options, uint64_t run, json_t *into)
{
    for (const struct hx_option *o = options; o->kind != HX_OPTION_END; o++) {
        json_t *value = hx_applies(o->applies, run) ? value_of(o) : NULL;
        if (value)
            (void)json_object_set_new(into, o->name, value);
    }
}
