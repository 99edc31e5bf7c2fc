/* expression.c - compiles and evaluates expressions (expression.h). */
#include "schedule/expression.h"
#include "base/error.h"
#include "base/value.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum code {
    CONSTANT,
    NAME,
    NEGATE,
    NOT,
    LOG2,
    OR,
    AND,
    EQUAL,
    UNEQUAL,
    LESS_OR_EQUAL,
    GREATER_OR_EQUAL,
    LESS,
    GREATER,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    MIN,
    MAX,
    POWER,
    XOR
};

enum level { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVELS };

/* Longer signs first. */
static const struct binary {
    const char *sign;
    enum level level;
    enum code code;
} binaries[] = {{"or", LEVEL_OR, OR},
                {"and", LEVEL_AND, AND},
                {"==", LEVEL_COMPARE, EQUAL},
                {"!=", LEVEL_COMPARE, UNEQUAL},
                {"<=", LEVEL_COMPARE, LESS_OR_EQUAL},
                {">=", LEVEL_COMPARE, GREATER_OR_EQUAL},
                {"<", LEVEL_COMPARE, LESS},
                {">", LEVEL_COMPARE, GREATER},
                {"+", LEVEL_SUM, ADD},
                {"-", LEVEL_SUM, SUBTRACT},
                {"*", LEVEL_PRODUCT, MULTIPLY},
                {"/", LEVEL_PRODUCT, DIVIDE},
                {"%", LEVEL_PRODUCT, REMAINDER},
                {NULL, LEVELS, CONSTANT}};

static const struct function {
    const char *name;
    enum code code;
    unsigned arguments;
} functions[] = {{"min", MIN, 2}, {"max", MAX, 2},   {"power", POWER, 2},
                 {"xor", XOR, 2}, {"log2", LOG2, 1}, {NULL, CONSTANT, 0}};

static const char *const reserved[] = {"or", "and", "not", "any", "all", NULL};

static const char *const type_words[] = {
    [EXPRESSION_NUMBER] = "a number", [EXPRESSION_TIME] = "a time", [EXPRESSION_CONDITION] = "a condition"};

struct compiler {
    const char *text;
    size_t at;
    const struct expression_scope *scope;
    struct expression *e;
    size_t room; /* of e->step */
    struct expression_error *error;
};

__attribute__((format(printf, 3, 4))) static bool refuse(struct expression_error *error, size_t at, const char *format,
                                                         ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->what, sizeof error->what, format, arguments);
    va_end(arguments);
    error->at = at;
    return false;
}

static void emit(struct compiler *c, enum code code, int64_t value, size_t at)
{
    c->e->step = hx_grow(c->e->step, c->e->steps, &c->room, sizeof *c->e->step);
    c->e->step[c->e->steps++] = (struct expression_step){.value = value, .code = (uint8_t)code, .at = (uint8_t)at};
}

/* ---- words ---- */

static bool begins_word(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (begins_word(text[0]) && (isalnum((unsigned char)text[length]) || text[length] == '_'))
        length++;
    return length;
}

static bool is_word(const char *text, const char *word)
{
    size_t length = word_length(text);
    return length == strlen(word) && strncmp(text, word, length) == 0;
}

static void skip_blanks(struct compiler *c)
{
    c->at += strspn(c->text + c->at, " ");
}

static bool is_reserved(const char *text)
{
    for (unsigned i = 0; reserved[i]; i++) {
        if (is_word(text, reserved[i]))
            return true;
    }
    return false;
}

bool expression_is_name(const char *text, const char **why)
{
    size_t length = word_length(text);
    *why = "has a meaning of its own: choose another name";
    for (const struct function *f = functions; f->name; f++) {
        if (strcmp(text, f->name) == 0)
            return false;
    }
    if (is_reserved(text))
        return false;
    *why = "is no name: a letter, then letters, digits and '_'";
    return length > 0 && !text[length];
}

/* ---- numbers ---- */

/* Reads a time at the start of a text without blanks. Returns false if its unit is none of a time. */
static bool read_time(const char *text, int64_t *ps)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    const char *unit = text + strspn(text, "0123456789.");
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++) {
        double value = strcmp(unit, units[i].name) == 0 ? strtod(text, NULL) * units[i].ps : 0;
        if (strcmp(unit, units[i].name) == 0 && value < 0x1p62) {
            *ps = llround(value);
            return true;
        }
    }
    return false;
}

/* A '.' belongs to a number only before a digit: "0..7" begins with 0. */
static size_t number_length(const char *text)
{
    size_t length = 0;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hexadecimal)
        length = 2 + strspn(text + 2, "0123456789abcdefABCDEF");
    else
        length = strspn(text, "0123456789");
    if (text[length] == '.' && isdigit((unsigned char)text[length + 1]))
        length += 1 + strspn(text + length + 1, "0123456789");
    return length;
}

static bool compile_number(struct compiler *c, enum expression_type *type)
{
    char token[80];
    const char *text = c->text + c->at;
    size_t length = number_length(text);
    const char *unit = text + length + strspn(text + length, " ");
    size_t unit_length = is_word(unit, "or") || is_word(unit, "and") ? 0 : word_length(unit);
    int64_t ps = 0;
    uint64_t number = 0;
    (void)snprintf(token, sizeof token, "%.*s%.*s", (int)length, text, (int)unit_length, unit);
    *type = unit_length && read_time(token, &ps) ? EXPRESSION_TIME : EXPRESSION_NUMBER;
    char why[HX_WHY_TEXT];
    const char *wrong = *type == EXPRESSION_TIME ? NULL : hx_value_bytes(token, 0, INT64_MAX, &number, why);
    if (wrong && strstr(wrong, "is not a size"))
        return refuse(c->error, c->at, "'%.60s' is no number, size or time (write for example 8, 64KiB or 10us)",
                      token);
    if (wrong)
        return refuse(c->error, c->at, "%.150s", wrong);
    emit(c, CONSTANT, *type == EXPRESSION_TIME ? ps : (int64_t)number, c->at);
    c->at += unit_length ? (size_t)(unit - text) + unit_length : length;
    return true;
}

/* ---- operands ---- */

static bool compile_level(struct compiler *c, enum level level, enum expression_type *type);

static bool expect(struct compiler *c, char sign)
{
    skip_blanks(c);
    if (c->text[c->at] != sign)
        return refuse(c->error, c->at, "'%c' is expected here", sign);
    c->at++;
    return true;
}

/* Types of the arguments agree as those of a sum do. */
static bool compile_function(struct compiler *c, const struct function *f, enum expression_type *type)
{
    size_t start = c->at;
    enum expression_type other = EXPRESSION_NUMBER;
    c->at += strlen(f->name);
    if (!expect(c, '(') || !compile_level(c, LEVEL_OR, type))
        return false;
    if (f->arguments == 2 && (!expect(c, ',') || !compile_level(c, LEVEL_OR, &other)))
        return false;
    bool may_be_times = f->code == MIN || f->code == MAX;
    bool are_times = *type == EXPRESSION_TIME && other == EXPRESSION_TIME;
    if ((*type == EXPRESSION_TIME || other == EXPRESSION_TIME) && !(may_be_times && are_times))
        return refuse(c->error, start, may_be_times ? "%s() of a time and a number" : "%s() of a time", f->name);
    *type = are_times ? EXPRESSION_TIME : EXPRESSION_NUMBER;
    emit(c, f->code, 0, start);
    return expect(c, ')');
}

static bool refuse_name(struct compiler *c)
{
    char hint[HX_HINT_TEXT];
    const char *words[128];
    unsigned count = 0;
    char word[64];
    const char *text = c->text + c->at;
    (void)snprintf(word, sizeof word, "%.*s", (int)word_length(text), text);
    for (unsigned i = 0; i < c->scope->names && count < 100; i++)
        words[count++] = c->scope->name[i].name;
    for (const struct function *f = functions; f->name; f++)
        words[count++] = f->name;
    words[count] = NULL;
    return refuse(c->error, c->at, "unknown name '%s'%s", word, hx_did_you_mean(hint, word, words));
}

static bool compile_name(struct compiler *c, enum expression_type *type)
{
    const char *text = c->text + c->at;
    for (const struct function *f = functions; f->name; f++) {
        if (is_word(text, f->name))
            return compile_function(c, f, type);
    }
    for (unsigned i = 0; i < c->scope->names; i++) {
        const struct expression_name *n = &c->scope->name[i];
        if (!is_word(text, n->name))
            continue;
        emit(c, NAME, i, c->at);
        c->e->uses |= n->uses;
        *type = n->type;
        c->at += strlen(n->name);
        return true;
    }
    return refuse_name(c);
}

static bool compile_operand(struct compiler *c, enum expression_type *type)
{
    skip_blanks(c);
    size_t start = c->at;
    char first = c->text[start];
    if (first == '(') {
        c->at++;
        return compile_level(c, LEVEL_OR, type) && expect(c, ')');
    }
    if (first == '-') {
        c->at++;
        if (!compile_operand(c, type))
            return false;
        *type = *type == EXPRESSION_CONDITION ? EXPRESSION_NUMBER : *type;
        emit(c, NEGATE, 0, start);
        return true;
    }
    if (isdigit((unsigned char)first))
        return compile_number(c, type);
    if (begins_word(first) && !is_reserved(c->text + start))
        return compile_name(c, type);
    return refuse(c->error, start, "a number, a name or '(' is expected here");
}

/* ---- operators ---- */

static const struct binary *binary_here(const struct compiler *c, enum level level)
{
    const char *text = c->text + c->at;
    const struct binary *o = binaries;
    for (; o->sign; o++) {
        if (begins_word(o->sign[0]) ? is_word(text, o->sign) : strncmp(text, o->sign, strlen(o->sign)) == 0)
            break;
    }
    return o->sign && o->level == level ? o : NULL;
}

static bool combine_product(enum code code, enum expression_type *left, bool left_is_time, bool right_is_time)
{
    bool is_time = code == MULTIPLY ? left_is_time || right_is_time : left_is_time && !right_is_time;
    *left = is_time ? EXPRESSION_TIME : EXPRESSION_NUMBER;
    return code == MULTIPLY ? !(left_is_time && right_is_time) : left_is_time || !right_is_time;
}

/* Whether an operator applies to these types. Sets *left to the result's. */
static bool combine(const struct binary *o, enum expression_type *left, enum expression_type right)
{
    bool left_is_time = *left == EXPRESSION_TIME;
    bool right_is_time = right == EXPRESSION_TIME;
    bool are_conditions = *left == EXPRESSION_CONDITION && right == EXPRESSION_CONDITION;
    if (o->level < LEVEL_COMPARE)
        return are_conditions;
    if (o->code == MULTIPLY || o->code == DIVIDE)
        return combine_product(o->code, left, left_is_time, right_is_time);
    bool agree = left_is_time == right_is_time;
    if (o->level == LEVEL_COMPARE) {
        agree = *left == right && !are_conditions;
        *left = EXPRESSION_CONDITION;
    } else {
        *left = left_is_time ? EXPRESSION_TIME : EXPRESSION_NUMBER;
    }
    return agree;
}

static bool compile_not(struct compiler *c, enum expression_type *type)
{
    size_t start = c->at;
    c->at += strlen("not");
    if (!compile_level(c, LEVEL_COMPARE, type))
        return false;
    if (*type != EXPRESSION_CONDITION)
        return refuse(c->error, start, "'not' of %s (a condition has a comparison: rank == 0)", type_words[*type]);
    emit(c, NOT, 0, start);
    return true;
}

static bool refuse_types(struct compiler *c, size_t at, const struct binary *o, enum expression_type left,
                         enum expression_type right)
{
    const char *how = " (a time has a unit: 15.9 ms, 10us)";
    if (o->level < LEVEL_COMPARE)
        how = " (a condition has a comparison: rank == 0)";
    else if (o->level == LEVEL_COMPARE && (left == EXPRESSION_CONDITION || right == EXPRESSION_CONDITION))
        how = " (join conditions by 'and' or 'or')";
    else if (left == EXPRESSION_TIME && right == EXPRESSION_TIME)
        how = "";
    return refuse(c->error, at, "'%s' of %s and %s%s", o->sign, type_words[left], type_words[right], how);
}

static bool compile_level(struct compiler *c, enum level level, enum expression_type *type)
{
    skip_blanks(c);
    if (level == LEVELS)
        return compile_operand(c, type);
    if (level == LEVEL_COMPARE && is_word(c->text + c->at, "not"))
        return compile_not(c, type);
    if (!compile_level(c, level + 1, type))
        return false;
    for (;;) {
        skip_blanks(c);
        const struct binary *o = binary_here(c, level);
        enum expression_type right = EXPRESSION_NUMBER;
        enum expression_type left = *type;
        size_t start = c->at;
        if (!o)
            return true;
        c->at += strlen(o->sign);
        if (!compile_level(c, level + 1, &right))
            return false;
        if (!combine(o, type, right))
            return refuse_types(c, start, o, left, right);
        emit(c, o->code, 0, start);
    }
}

bool expression_compile(struct expression *e, const char *text, const struct expression_scope *scope, size_t *end,
                        struct expression_error *error)
{
    struct compiler c = {.text = text, .scope = scope, .e = e, .error = error};
    *e = (struct expression){.steps = 0};
    *end = 0;
    if (strlen(text) > EXPRESSION_LONGEST)
        return refuse(error, 0, "an expression of more than %d characters", EXPRESSION_LONGEST);
    if (!compile_level(&c, LEVEL_OR, &e->type))
        return false;
    skip_blanks(&c);
    *end = c.at;
    return true;
}

void expression_free(struct expression *e)
{
    free(e->step);
    *e = (struct expression){.steps = 0};
}

/* ---- values ---- */

/* Quotient that is rounded down. b: not 0. Returns true on overflow, as compilers' builtins do. */
static bool divide(int64_t a, int64_t b, int64_t *result)
{
    if (b == -1)
        return __builtin_sub_overflow(0, a, result);
    *result = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return false;
}

static int64_t remainder_of(int64_t a, int64_t b)
{
    int64_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* exponent: 0 and up. Returns true on overflow. */
static bool power(int64_t base, int64_t exponent, int64_t *result)
{
    *result = 1;
    for (;;) {
        if (exponent & 1 && __builtin_mul_overflow(*result, base, result))
            return true;
        exponent >>= 1;
        if (!exponent)
            return false;
        if (__builtin_mul_overflow(base, base, &base))
            return true;
    }
}

static const char *undefined(enum code code, int64_t a, int64_t b)
{
    if ((code == DIVIDE || code == REMAINDER) && b == 0)
        return "division by 0";
    if (code == POWER && b < 0)
        return "power() with a negative exponent";
    if (code == LOG2 && a < 1)
        return "log2() of a number below 1";
    return NULL;
}

/* Returns true if the result exceeds 64 bits. */
static bool calculate(enum code code, int64_t a, int64_t b, int64_t *result)
{
    switch (code) {
    case NEGATE:
        return __builtin_sub_overflow(0, a, result);
    case ADD:
        return __builtin_add_overflow(a, b, result);
    case SUBTRACT:
        return __builtin_sub_overflow(a, b, result);
    case MULTIPLY:
        return __builtin_mul_overflow(a, b, result);
    case DIVIDE:
        return divide(a, b, result);
    case POWER:
        return power(a, b, result);
    case REMAINDER:
        *result = remainder_of(a, b);
        return false;
    case NOT:
        *result = !a;
        return false;
    case LOG2:
        *result = 63 - __builtin_clzll((unsigned long long)a);
        return false;
    case MIN:
        *result = a < b ? a : b;
        return false;
    case MAX:
        *result = a > b ? a : b;
        return false;
    case XOR:
        *result = a ^ b;
        return false;
    default:
        break;
    }
    *result = code == OR                 ? a || b
              : code == AND              ? a && b
              : code == EQUAL            ? a == b
              : code == UNEQUAL          ? a != b
              : code == LESS_OR_EQUAL    ? a <= b
              : code == GREATER_OR_EQUAL ? a >= b
              : code == LESS             ? a < b
                                         : a > b;
    return false;
}

bool expression_value(const struct expression *e, const int64_t *values, int64_t *result,
                      struct expression_error *error)
{
    int64_t stack[EXPRESSION_LONGEST / 2 + 1] = {0}; /* a character stands between two operands */
    unsigned depth = 0;
    for (const struct expression_step *s = e->step; s < e->step + e->steps; s++) {
        enum code code = s->code;
        if (code == CONSTANT || code == NAME) {
            stack[depth++] = code == CONSTANT ? s->value : values[s->value];
            continue;
        }
        int64_t b = code >= OR ? stack[--depth] : 0;
        int64_t *top = &stack[depth - 1];
        const char *why = undefined(code, *top, b);
        if (why)
            return refuse(error, s->at, "%s", why);
        if (calculate(code, *top, b, top))
            return refuse(error, s->at, "the result exceeds 64 bits");
    }
    *result = stack[0];
    return true;
}
