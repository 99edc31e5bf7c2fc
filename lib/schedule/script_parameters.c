/* script_parameters.c - names with values, which a file gives and options replace (script.h). */
#include "schedule/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool script_expect_mapping(const struct script *s, const struct hx_yaml_item *item, const char *what)
{
    return item->shape == HX_YAML_MAPPING || script_fail(s, item, 0, "a mapping of names to %s is expected here", what);
}

static bool add_name(struct script *s, const struct hx_yaml_item *item, enum expression_type type, unsigned uses)
{
    const char *name = hx_yaml_word(item);
    const char *why;
    bool is_name = expression_is_name(name, &why);
    for (unsigned i = 0; is_name && i < s->first_parameter; i++) {
        is_name = strcmp(name, s->name[i].name) != 0;
        why = "has a meaning of its own: choose another name";
    }
    if (!is_name)
        return hx_yaml_fail_key(&s->tree, item, s->problem, "'%s' %s", name, why);
    s->name[s->scope.names++] = (struct expression_name){name, type, uses};
    return true;
}

/* Gives parameters the values of --set. */
static bool replace_values(struct script *s, const struct hx_yaml_item *mapping, const char *what,
                           const struct hx_option_list *set)
{
    const char *words[SCRIPT_MOST_NAMES];
    char hint[HX_HINT_TEXT];
    char name[64];
    unsigned count = 0;
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item))
        words[count++] = hx_yaml_word(item);
    words[count] = NULL;
    for (unsigned i = 0; i < set->count; i++) {
        const char *value = strchr(set->item[i], '=');
        if (!value)
            return hx_fail(s->problem, HX_EXIT_USAGE, "--set", "'%s' is not NAME=VALUE", set->item[i]);
        (void)snprintf(name, sizeof name, "%.*s", (int)(value - set->item[i]), set->item[i]);
        const struct hx_yaml_item *item = script_key(mapping, name);
        if (!item || !item->text)
            return hx_fail(s->problem, HX_EXIT_USAGE, "--set", "the file has no %s '%s'%s", what, name,
                           hx_did_you_mean(hint, name, words));
        struct hx_yaml_item *own = &s->tree.items[item - s->tree.items];
        size_t bytes = strlen(value);
        free(own->text);
        own->text = memcpy(hx_allocate(bytes, 1), value + 1, bytes);
    }
    return true;
}

/* After a parameter's value was refused: names the option that gave it, if one did. */
static bool blame_option(const struct script *s, const struct hx_yaml_item *item, const struct hx_option_list *set)
{
    const char *name = hx_yaml_word(item);
    size_t length = strlen(name);
    for (unsigned i = 0; i < set->count; i++) {
        char what[sizeof s->problem->what];
        if (strncmp(set->item[i], name, length) != 0 || set->item[i][length] != '=')
            continue;
        (void)snprintf(what, sizeof what, "%s", s->problem->what);
        return hx_fail(s->problem, HX_EXIT_USAGE, "--set", "'%s': %s", set->item[i], what);
    }
    return false;
}

bool script_parameters_read(struct script *s, const struct hx_yaml_item *mapping, const char *word,
                            const struct hx_option_list *set)
{
    s->first_parameter = s->scope.names;
    if (!mapping)
        return !set->count || hx_fail(s->problem, HX_EXIT_USAGE, "--set", "the file has no %ss", word);
    if (!script_expect_mapping(s, mapping, "values"))
        return false;
    if (!replace_values(s, mapping, word, set))
        return false;
    s->parameter = hx_allocate(mapping->entries + 1, sizeof *s->parameter);
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item)) {
        struct script_value *v = &s->parameter[s->parameters++];
        if (!script_value_read_any(s, item, v))
            return blame_option(s, item, set);
        if (!add_name(s, item, v->e.type, v->e.uses))
            return false;
    }
    return true;
}

void script_parameters_free(struct script *s)
{
    for (unsigned i = 0; i < s->parameters; i++)
        script_value_free(&s->parameter[i]);
    free(s->parameter);
}
