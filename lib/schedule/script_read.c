/* script_read.c - reads the statements of a script (script.h). */
#include "schedule/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMPUTE = 1 << SCRIPT_COMPUTE,
    SEND = 1 << SCRIPT_SEND,
    RECEIVE = 1 << SCRIPT_RECEIVE,
    COLLECTIVE = 1 << SCRIPT_COLLECTIVE,
    BLOCK = 1 << SCRIPT_BLOCK,
    EACH = COMPUTE | SEND | RECEIVE | COLLECTIVE | BLOCK,
    MOST_WORDS = 32
};

/* The first eight say which kind a statement is. */
static const struct key {
    const char *word;
    unsigned kinds;
} keys[] = {{"compute", COMPUTE},
            {"send", SEND},
            {"receive", RECEIVE},
            {"collective", COLLECTIVE},
            {"repeat", BLOCK},
            {"for", BLOCK},
            {"do", BLOCK},
            {"together", BLOCK},
            {"to", SEND},
            {"from", RECEIVE},
            {"tag", SEND | RECEIVE},
            {"stream", COMPUTE | SEND | RECEIVE},
            {"group", COLLECTIVE},
            {"bytes", COLLECTIVE},
            {"algorithm", COLLECTIVE},
            {"root", COLLECTIVE},
            {"shares", COLLECTIVE},
            {"ranks", EACH},
            {"name", EACH},
            {"purpose", EACH},
            {"after", EACH},
            {"after_start", EACH},
            {NULL, 0}};
enum { KIND_KEYS = 8 };

/* ---- keys ---- */

const struct hx_yaml_item *script_key(const struct hx_yaml_item *mapping, const char *word)
{
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item)) {
        if (strcmp(hx_yaml_word(item), word) == 0)
            return item;
    }
    return NULL;
}

bool script_check_keys(const struct script *s, const struct hx_yaml_item *mapping, const char *const *words)
{
    char hint[HX_HINT_TEXT];
    for (const struct hx_yaml_item *item = hx_yaml_first(mapping); item; item = hx_yaml_next(mapping, item)) {
        const char *word = hx_yaml_word(item);
        unsigned i = 0;
        while (words[i] && strcmp(words[i], word) != 0)
            i++;
        if (!words[i])
            return hx_yaml_fail_key(&s->tree, item, s->problem, "unknown key '%s'%s", word,
                                    strchr(word, ')') ? " (quote an expression that has a comma)"
                                                      : hx_did_you_mean(hint, word, words));
    }
    return true;
}

/* Finds the key that says what a statement is, and refuses those of other kinds. */
static bool check_keys(const struct script *s, const struct hx_yaml_item *item, const struct key **kind)
{
    const char *words[MOST_WORDS];
    const struct key *k = keys;
    for (unsigned i = 0; i <= sizeof keys / sizeof *keys - 1; i++)
        words[i] = keys[i].word;
    if (item->shape != HX_YAML_MAPPING)
        return script_fail(s, item, 0, "an operation is expected here, for example {compute: 10us}");
    if (!script_check_keys(s, item, words))
        return false;
    while (k < keys + KIND_KEYS && !script_key(item, k->word))
        k++;
    if (k == keys + KIND_KEYS)
        return script_fail(s, item, 0,
                           "one of these keys is missing: compute, send, receive, collective, do, together");
    *kind = k;
    for (; k->word; k++) {
        const struct hx_yaml_item *other = (k->kinds & (*kind)->kinds) ? NULL : script_key(item, k->word);
        if (other)
            return hx_yaml_fail_key(&s->tree, other, s->problem, "key '%s' does not belong to '%s'", k->word,
                                    (*kind)->word);
    }
    return true;
}

const struct hx_yaml_item *script_need(const struct script *s, const struct hx_yaml_item *item, const char *word)
{
    const struct hx_yaml_item *value = script_key(item, word);
    if (!value)
        (void)script_fail(s, item, 0, "key '%s' is missing", word);
    return value;
}

static bool read_number(struct script *s, const struct hx_yaml_item *item, const char *word, struct script_value *v)
{
    const struct hx_yaml_item *value = script_key(item, word);
    return !value || script_value_read(s, value, EXPRESSION_NUMBER, v);
}

/* A number, or "any". */
static bool read_number_or_any(struct script *s, const struct hx_yaml_item *item, const char *word,
                               struct script_value *v, bool *any)
{
    const struct hx_yaml_item *value = script_key(item, word);
    *any = value && value->text && strcmp(value->text, "any") == 0;
    return *any || read_number(s, item, word, v);
}

bool script_choice(const struct script *s, const struct hx_yaml_item *item, const char *const *words, unsigned *choice)
{
    char hint[HX_HINT_TEXT];
    if (!script_expect_value(s, item))
        return false;
    for (*choice = 0; words[*choice]; (*choice)++) {
        if (strcmp(item->text, words[*choice]) == 0)
            return true;
    }
    char list[256] = "";
    for (unsigned i = 0; words[i]; i++)
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", words[i]);
    return *hx_did_you_mean(hint, item->text, words)
               ? script_fail(s, item, 0, "unknown word '%.60s'%s", item->text, hint)
               : script_fail(s, item, 0, "unknown word '%.60s' (one of %s)", item->text, list);
}

/* ---- operations ---- */

static bool read_compute(struct script *s, struct script_statement *st)
{
    return script_value_read(s, script_key(st->item, "compute"), EXPRESSION_TIME, &st->amount) &&
           read_number(s, st->item, "stream", &st->stream);
}

static bool read_send(struct script *s, struct script_statement *st)
{
    return script_need(s, st->item, "to") && read_number(s, st->item, "send", &st->amount) &&
           read_number(s, st->item, "to", &st->peer) && read_number(s, st->item, "tag", &st->tag) &&
           read_number(s, st->item, "stream", &st->stream);
}

static bool read_receive(struct script *s, struct script_statement *st)
{
    return script_need(s, st->item, "from") && read_number(s, st->item, "receive", &st->amount) &&
           read_number_or_any(s, st->item, "from", &st->peer, &st->any_peer) &&
           read_number_or_any(s, st->item, "tag", &st->tag, &st->any_tag) &&
           read_number(s, st->item, "stream", &st->stream);
}

static bool find_group(struct script *s, const struct hx_yaml_item *item, struct script_group **group)
{
    char hint[HX_HINT_TEXT];
    const char *words[SCRIPT_MOST_NAMES];
    words[0] = "all";
    for (unsigned i = 0; i < s->groups; i++)
        words[i + 1] = hx_yaml_word(s->group[i].item);
    words[s->groups + 1] = NULL;
    for (unsigned i = 0; words[i]; i++) {
        *group = i ? &s->group[i - 1] : &s->all;
        if (strcmp(words[i], item->text) == 0)
            return true;
    }
    return script_fail(s, item, 0, "unknown group '%.60s'%s", item->text, hx_did_you_mean(hint, item->text, words));
}

static bool read_group(struct script *s, struct script_statement *st)
{
    const struct hx_yaml_item *group = script_key(st->item, "group");
    const char *why;
    st->group = &s->all;
    if (!group)
        return true;
    if (group->text && (strcmp(group->text, "all") == 0 || expression_is_name(group->text, &why)))
        return find_group(s, group, &st->group);
    st->group = &st->own_group;
    return script_group_read(s, group, st->group);
}

static bool has_root(enum hx_collective_kind kind)
{
    return kind == HX_BROADCAST || kind == HX_REDUCE || kind == HX_GATHER || kind == HX_SCATTER;
}

static bool read_collective(struct script *s, struct script_statement *st)
{
    const struct hx_yaml_item *bytes = script_key(st->item, "bytes");
    const struct hx_yaml_item *root = script_key(st->item, "root");
    const struct hx_yaml_item *algorithm = script_key(st->item, "algorithm");
    const struct hx_yaml_item *shares = script_key(st->item, "shares");
    unsigned kind;
    if (!script_choice(s, script_key(st->item, "collective"), hx_collective_kind_names, &kind))
        return false;
    st->collective = kind;
    if (kind == HX_BARRIER && bytes)
        return hx_yaml_fail_key(&s->tree, bytes, s->problem, "a barrier has no bytes");
    if (root && !has_root(kind))
        return hx_yaml_fail_key(&s->tree, root, s->problem, "%s has no root", hx_collective_kind_names[kind]);
    if (shares && kind != HX_COLLECTIVE_ALL_TO_ALL)
        return hx_yaml_fail_key(&s->tree, shares, s->problem, "%s has no shares: only an all-to-all has",
                                hx_collective_kind_names[kind]);
    return (kind == HX_BARRIER || script_need(s, st->item, "bytes")) &&
           (!algorithm || script_choice(s, algorithm, hx_algorithm_names, &st->algorithm)) &&
           (!shares || script_shares_read(s, shares, &st->shares)) && read_group(s, st) &&
           read_number(s, st->item, "bytes", &st->amount) && read_number(s, st->item, "root", &st->root);
}

/* ---- blocks ---- */

/* Reads {variable: values} and adds the variable to the scope. */
static bool read_loop(struct script *s, struct script_statement *st, const struct hx_yaml_item *loop)
{
    const struct hx_yaml_item *values = loop->shape == HX_YAML_MAPPING ? hx_yaml_first(loop) : NULL;
    const char *why;
    if (!values || hx_yaml_next(loop, values))
        return script_fail(s, loop, 0, "a variable and its values are expected here: {i: 0..3}");
    const char *name = hx_yaml_word(values);
    if (!expression_is_name(name, &why))
        return hx_yaml_fail_key(&s->tree, values, s->problem, "'%s' %s", name, why);
    for (unsigned i = 0; i < s->scope.names; i++) {
        if (strcmp(s->name[i].name, name) == 0)
            return hx_yaml_fail_key(&s->tree, values, s->problem, "'%s' is a name already: choose another", name);
    }
    if (s->scope.names == SCRIPT_MOST_NAMES)
        return hx_yaml_fail_key(&s->tree, values, s->problem, "more than %d names", SCRIPT_MOST_NAMES);
    if (!script_set_read(s, values, false, &st->loop))
        return false;
    st->variable = s->scope.names++;
    s->name[st->variable] = (struct expression_name){name, EXPRESSION_NUMBER, EXPRESSION_OF_LOOP};
    return true;
}

static bool read_block(struct script *s, struct script_statement *st)
{
    const struct hx_yaml_item *loop = script_key(st->item, "for");
    const struct hx_yaml_item *together = script_key(st->item, "together");
    const struct hx_yaml_item *body = together ? together : script_key(st->item, "do");
    const struct hx_yaml_item *repeat = script_key(st->item, "repeat");
    st->together = together != NULL;
    if (!body)
        return script_fail(s, st->item, 0, "key 'do' or 'together' is missing");
    if (together && script_key(st->item, "do"))
        return hx_yaml_fail_key(&s->tree, together, s->problem, "give 'do' or 'together', not both");
    if (loop && repeat)
        return hx_yaml_fail_key(&s->tree, repeat, s->problem, "give 'for' or 'repeat', not both");
    if (!read_number(s, st->item, "repeat", &st->amount) || (loop && !read_loop(s, st, loop)))
        return false;
    bool good = script_list_read(s, body, &st->body);
    s->scope.names -= loop != NULL;
    return good;
}

/* ---- statements ---- */

/* A word: letters, digits, '-', '_'. */
static bool read_purpose(struct script *s, struct script_statement *st)
{
    enum { LONGEST = 40 };
    st->purpose = script_key(st->item, "purpose");
    if (!st->purpose)
        return true;
    if (!script_expect_value(s, st->purpose))
        return false;
    const char *text = st->purpose->text;
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    return (length > 0 && length <= LONGEST && !text[length]) ||
           script_fail(s, st->purpose, 0, "'%.60s' is no purpose: one word of letters, digits, '-' and '_', up to %d",
                       text, LONGEST);
}

static bool read_order(struct script *s, struct script_statement *st)
{
    const struct hx_yaml_item *ranks = script_key(st->item, "ranks");
    const struct hx_yaml_item *name = script_key(st->item, "name");
    const struct hx_yaml_item *after = script_key(st->item, "after");
    const struct hx_yaml_item *after_start = script_key(st->item, "after_start");
    st->unordered = after || after_start;
    return (!ranks || script_set_read(s, ranks, true, &st->ranks)) &&
           (!name || script_label_read(s, name, &st->name)) && (!after || script_labels_read(s, after, &st->after)) &&
           (!after_start || script_labels_read(s, after_start, &st->after_start));
}

static bool read_statement(struct script *s, const struct hx_yaml_item *item, struct script_statement *st)
{
    static bool (*const read[SCRIPT_KINDS])(struct script *, struct script_statement *) = {
        [SCRIPT_COMPUTE] = read_compute,       [SCRIPT_SEND] = read_send,   [SCRIPT_RECEIVE] = read_receive,
        [SCRIPT_COLLECTIVE] = read_collective, [SCRIPT_BLOCK] = read_block,
    };
    const struct key *key;
    st->item = item;
    if (!check_keys(s, item, &key))
        return false;
    st->kind = (enum script_kind)__builtin_ctz(key->kinds);
    return read_order(s, st) && read_purpose(s, st) && read[st->kind](s, st);
}

bool script_list_read(struct script *s, const struct hx_yaml_item *item, struct script_list *list)
{
    if (item->shape != HX_YAML_LIST)
        return script_fail(s, item, 0, "a list of operations is expected here");
    list->statement = hx_allocate(item->entries + 1, sizeof *list->statement);
    for (const struct hx_yaml_item *entry = hx_yaml_first(item); entry; entry = hx_yaml_next(item, entry)) {
        if (!read_statement(s, entry, &list->statement[list->statements++]))
            return false;
    }
    return true;
}

void script_list_free(struct script_list *list)
{
    for (unsigned i = 0; i < list->statements; i++) {
        struct script_statement *st = &list->statement[i];
        script_set_free(&st->ranks);
        script_set_free(&st->loop);
        script_label_free(&st->name);
        script_labels_free(&st->after);
        script_labels_free(&st->after_start);
        script_group_free(&st->own_group);
        script_shares_free(&st->shares);
        script_value_free(&st->amount);
        script_value_free(&st->peer);
        script_value_free(&st->tag);
        script_value_free(&st->stream);
        script_value_free(&st->root);
        script_list_free(&st->body);
    }
    free(list->statement);
}
