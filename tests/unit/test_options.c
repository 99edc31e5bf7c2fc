/* test_options.c - a command line against its table, and errors for users. */
#include "base/error.h"
#include "base/options/command_line.h"
#include "base/options/options.h"
#include "base/version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const colours[] = {"red", "green", NULL};

static struct {
    bool flag, on;
    const char *text;
    uint64_t number, bytes, time;
    double real;
    struct hx_coordinate at;
    unsigned colour;
    uint64_t given;
} got;

static const struct hx_option options[] = {
    {.name = "flag", .letter = 'f', .kind = HX_OPTION_FLAG, .to.flag = &got.flag, .help = "a flag"},
    {.name = "on", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &got.on, .help = "on unless told not to"},
    {.name = "text",
     .kind = HX_OPTION_STRING,
     .to.string = &got.text,
     .help = "any text, explained at such length that it cannot stand in a single line of eighty letters"},
    HX_OPTIONS_HEADING("Values"),
    {.name = "number",
     .alias = "how-many",
     .letter = 'n',
     .kind = HX_OPTION_NUMBER,
     .to.number = &got.number,
     .low = 1,
     .high = 4,
     .help = "from 1 to 4",
     .given = &got.given,
     .given_bit = 4},
    {.name = "bytes", .kind = HX_OPTION_BYTES, .to.number = &got.bytes, .high = 1 << 20, .help = "a size"},
    {.name = "time", .kind = HX_OPTION_DURATION, .to.number = &got.time, .high = UINT64_MAX, .help = "a duration"},
    {.name = "real", .kind = HX_OPTION_REAL, .to.real = &got.real, .real_high = 1, .help = "a share"},
    {.name = "at", .kind = HX_OPTION_COORDINATE, .to.coordinate = &got.at, .help = "a place"},
    {.name = "colour", .kind = HX_OPTION_CHOICE, .choices = colours, .to.choice = &got.colour, .help = "a colour"},
    HX_OPTIONS_END};

static const struct hx_command command = {.program = "hxmesh try",
                                          .operands = "WHAT",
                                          .least_operands = 1,
                                          .most_operands = 1,
                                          .summary = "Tries options.",
                                          .examples = {{"hxmesh try \"a b c d\" --job 'one: 64 all-reduce 4MiB' "
                                                        "--job 'two: 48 all-to-all 64KiB place=random'",
                                                        "a long one"}},
                                          .details = "More about it.",
                                          .options = options};

enum { MOST_WORDS = 16, MOST_TEXT = 4096 };

/* Splits at spaces; "WHAT" stands for the operand. */
static int split(char *line, char **words)
{
    int count = 0;
    words[count++] = "hxmesh-try";
    char *rest;
    for (char *word = strtok_r(line, " ", &rest); word && count < MOST_WORDS; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

static struct hx_common parse(const char *line, const char **operand)
{
    static char copy[256];
    char *words[MOST_WORDS + 1];
    struct hx_common common;
    snprintf(copy, sizeof copy, "%s", line);
    int count = split(copy, words);
    memset(&got, 0, sizeof got);
    got.on = true;
    int first = hx_options_parse(&command, count, words, &common);
    assert_int_equal(first, count - 1);
    *operand = words[first];
    return common;
}

static void values_reach_their_targets(void **state)
{
    (void)state;
    const char *operand;
    struct hx_common common =
        parse("-f WHAT --text=abc -n 3 --bytes 4KiB --time 2ms --real 0.5 --at 3,4 --colour green", &operand);
    assert_string_equal(operand, "WHAT");
    assert_true(got.flag);
    assert_true(got.on);
    assert_string_equal(got.text, "abc");
    assert_int_equal(got.number, 3);
    assert_int_equal(got.bytes, 4096);
    assert_int_equal(got.time, 2000000);
    assert_true(got.real > 0.49 && got.real < 0.51);
    assert_int_equal(got.at.addr_hi, 3);
    assert_int_equal(got.at.addr_lo, 4);
    assert_int_equal(got.colour, 1);
    assert_int_equal(got.given, 4);
    assert_null(common.json);
    assert_false(common.quiet);
}

static void common_options_and_short_forms(void **state)
{
    (void)state;
    const char *operand;
    struct hx_common common = parse("--no-on --json - -q --num 2 -- WHAT", &operand);
    assert_string_equal(common.json, "-");
    assert_true(common.quiet);
    assert_false(got.on);
    assert_false(got.flag);
    assert_int_equal(got.number, 2);
    common = parse("WHAT", &operand);
    assert_null(common.json);
    assert_int_equal(got.given, 0);
}

/* Runs the parser in a child; returns its exit code and all its output. */
static int run_command(const struct hx_command *of, int count, char **words, char text[MOST_TEXT])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct hx_common common;
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        (void)hx_options_parse(of, count, words, &common);
        fflush(stdout);
        _exit(99);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t more;
    while (used < MOST_TEXT - 1 && (more = read(ends[0], text + used, MOST_TEXT - 1 - used)) > 0)
        used += (size_t)more;
    text[used] = '\0';
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int run(const char *line, char text[MOST_TEXT])
{
    char copy[256];
    char *words[MOST_WORDS + 1];
    snprintf(copy, sizeof copy, "%s", line);
    return run_command(&command, split(copy, words), words, text);
}

static void an_error_is_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *line, *expected;
    } cases[] = {
        {"WHAT --nummer 3", "--nummer: unknown option (did you mean '--number'?)"},
        {"WHAT --jsn=3", "--jsn: unknown option (did you mean '--json'?)"},
        {"WHAT --zzz", "--zzz: unknown option (try 'hxmesh try --help')"},
        {"WHAT -z", "-z: unknown option (try 'hxmesh try --help')"},
        {"WHAT --t x", "--t: could be several options (try 'hxmesh try --help')"},
        {"WHAT --flag=3", "--flag: takes no value"},
        {"WHAT --no-on=3", "--on: takes no value"},
        {"WHAT --number", "--number: needs a value (N)"},
        {"WHAT -n", "--number: needs a value (N)"},
        {"WHAT --number 10", "--number: 10 is outside 1 .. 4"},
        {"WHAT --bytes much", "--bytes: 'much' is not a size (write for example 8192, 64KiB, 1MiB or 2GiB)"},
        {"WHAT --colour gren", "--colour: unknown word 'gren' (did you mean 'green'?)"},
        {"WHAT --at 3", "--at: '3' is not an address (write for example 3,0)"},
        {"--flag", "hxmesh try: WHAT is missing (try 'hxmesh try --help')"},
        {"4x4 WHAT", "WHAT: unexpected argument (hxmesh try takes WHAT: try 'hxmesh try --help')"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[MOST_TEXT];
        char expected[256];
        snprintf(expected, sizeof expected, "hxmesh: error: %s\n", cases[i].expected);
        assert_int_equal(run(cases[i].line, text), HX_EXIT_USAGE);
        assert_string_equal(text, expected);
    }
}

static void an_alias_works_and_is_not_in_help(void **state)
{
    (void)state;
    const char *operand;
    (void)parse("WHAT --how-many 3", &operand);
    assert_int_equal(got.number, 3);
    got.number = 0; /* help prints it as the default */
    static const char *const formats[] = {"--help", "--help=man", "--help=markdown", "--help=words"};
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        char text[MOST_TEXT];
        assert_int_equal(run(formats[i], text), HX_EXIT_DONE);
        assert_null(strstr(text, "how-many"));
    }
}

static void help_names_every_option(void **state)
{
    (void)state;
    char text[MOST_TEXT];
    assert_int_equal(run("--help", text), HX_EXIT_DONE);
    static const char *const parts[] = {"usage: hxmesh try WHAT [options]\n",
                                        "Tries options.",
                                        "\nOptions:\n",
                                        "  -f, --flag ",
                                        "--[no-]on ",
                                        "--text TEXT ",
                                        "\nValues:\n",
                                        "  -n, --number N ",
                                        "--bytes SIZE ",
                                        "--time TIME ",
                                        "--real X ",
                                        "--at HI,LO ",
                                        "a colour: red, green (default red)",
                                        "\nCommon:\n",
                                        "--json FILE ",
                                        "-q, --quiet ",
                                        "--version ",
                                        "\nMore about it.\n",
                                        "\nExamples:\n",
                                        ("  hxmesh try \"a b c d\" --job 'one: 64 all-reduce 4MiB' --job \\\n"
                                         "      'two: 48 all-to-all 64KiB place=random'\n      a long one\n")};
    const char *from = text;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(from, parts[i]);
        if (!found) {
            fail_msg("--help does not say \"%s\" in its place:\n%s", parts[i], text);
            return;
        }
        from = found;
    }
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_in_range(strcspn(line, "\n"), 0, 80);
    assert_int_equal(run("--version", text), HX_EXIT_DONE);
    assert_string_equal(text, "hxmesh " HXMESH_VERSION "\n");
}

/* The target's value is the default, also if other options stand before --help. */
static void help_prints_range_and_default_from_the_table(void **state)
{
    (void)state;
    static const uint64_t preset = 3;
    bool on = true;
    bool off = false;
    const char *text = "a b";
    const char *nothing = NULL;
    uint64_t number = 0;
    uint64_t seed = 7;
    uint64_t bytes = 64 << 10;
    uint64_t time = 1500000000;
    double real = 0.25;
    struct hx_coordinate at = {1, 2};
    unsigned colour = 1;
    const struct hx_option all[] = {
        {.name = "on", .kind = HX_OPTION_FLAG, .negatable = true, .to.flag = &on, .help = "A"},
        {.name = "off", .kind = HX_OPTION_FLAG, .to.flag = &off, .help = "B"},
        {.name = "text", .kind = HX_OPTION_STRING, .to.string = &text, .help = "C"},
        {.name = "nothing", .kind = HX_OPTION_STRING, .to.string = &nothing, .help = "D"},
        {.name = "words", .kind = HX_OPTION_STRING, .to.string = &nothing, .help = "E", .otherwise = "it depends"},
        {.name = "number",
         .letter = 'n',
         .kind = HX_OPTION_NUMBER,
         .to.number = &number,
         .low = 1,
         .high = 4,
         .help = "F",
         .default_value = &preset},
        {.name = "seed", .kind = HX_OPTION_NUMBER, .to.number = &seed, .high = UINT64_MAX, .help = "G"},
        {.name = "bytes", .kind = HX_OPTION_BYTES, .to.number = &bytes, .low = 96, .high = 1 << 20, .help = "H"},
        {.name = "time", .kind = HX_OPTION_DURATION, .to.number = &time, .high = 3600000000000, .help = "I"},
        {.name = "real", .kind = HX_OPTION_REAL, .to.real = &real, .real_high = 1, .help = "J"},
        {.name = "at", .kind = HX_OPTION_COORDINATE, .to.coordinate = &at, .help = "K"},
        {.name = "colour", .kind = HX_OPTION_CHOICE, .choices = colours, .to.choice = &colour, .help = "L"},
        HX_OPTIONS_END};
    const struct hx_command with_defaults = {.program = "hxmesh try", .summary = "Tries.", .options = all};
    static const char *const parts[] = {" A (default on)\n",
                                        " B\n",
                                        " C (default \"a b\")\n",
                                        " D\n",
                                        " E (default it depends)\n",
                                        " F (1 to 4; default 3)\n",
                                        " G (default 7)\n",
                                        " H (96 to 1MiB; default 64KiB)\n",
                                        " I (0 to 1h; default 1500ms)\n",
                                        " J (0 to 1; default 0.25)\n",
                                        " K (default 1,2)\n",
                                        " L: red, green (default green)\n"};
    char help[MOST_TEXT];
    char line[] = "--seed 9 -n 2 --colour red --help";
    char *words[MOST_WORDS + 1];
    assert_int_equal(run_command(&with_defaults, split(line, words), words, help), HX_EXIT_DONE);
    const char *from = help;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(from, parts[i]);
        if (!found) {
            fail_msg("--help does not say \"%s\" in its place:\n%s", parts[i], help);
            return;
        }
        from = found;
    }
}

static void help_has_other_formats(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *parts[4];
    } formats[] = {
        {"--help=man",
         {".TH HXMESH-TRY 1 ", "hxmesh\\-try \\- Tries options\n", "\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fIN\\fR\n"}},
        {"--help=markdown", {"\n## hxmesh try\n", "| `-n` `--number` | N, 1 to 4 | 0 | from 1 to 4 |\n"}},
        {"--help=words", {"operands\tWHAT\n", "-n --number\tN\t\n", "--colour\tWORD\tred green\n", "-q --quiet\t\t\n"}},
    };
    char text[MOST_TEXT];
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        assert_int_equal(run(formats[i].line, text), HX_EXIT_DONE);
        for (unsigned part = 0; part < 4 && formats[i].parts[part]; part++)
            if (!strstr(text, formats[i].parts[part]))
                fail_msg("%s does not say \"%s\":\n%s", formats[i].line, formats[i].parts[part], text);
    }
    assert_int_equal(run("--help=roff", text), HX_EXIT_USAGE);
    assert_string_equal(text, "hxmesh: error: --help: unknown word 'roff' (one of text, man, markdown, words, keys)\n");
    assert_int_equal(run("--help=keys", text), HX_EXIT_USAGE);
    assert_string_equal(text, "hxmesh: error: --help: hxmesh try has no table of keys\n");
}

static void a_list_takes_every_use(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    struct hx_option_list list = {.count = 0};
    const struct hx_option option = {.name = "port", .kind = HX_OPTION_LIST, .to.list = &list};
    for (unsigned i = 0; i < HX_OPTION_MOST_ITEMS; i++)
        assert_null(hx_option_apply(&option, i % 2 ? "odd" : "even", why));
    assert_int_equal(list.count, HX_OPTION_MOST_ITEMS);
    assert_string_equal(list.item[0], "even");
    assert_string_equal(list.item[HX_OPTION_MOST_ITEMS - 1], "odd");
    assert_string_equal(hx_option_apply(&option, "more", why), "given too often");
}

static void nearest_words(void **state)
{
    char hint[HX_HINT_TEXT];
    (void)state;
    static const char *const words[] = {"credits", "planes", "workers", "radix", NULL};
    assert_string_equal(hx_nearest("credit", words), "credits");
    assert_string_equal(hx_nearest("CREDTIS", words), "credits");
    assert_string_equal(hx_nearest("wokers", words), "workers");
    assert_string_equal(hx_nearest("rad", words), "radix");
    assert_null(hx_nearest("xyz", words));
    assert_null(hx_nearest("", words));
    assert_null(hx_nearest("a-word-that-is-longer-than-any-that-could-be-meant-here", words));
    assert_string_equal(hx_did_you_mean(hint, "plane", words), " (did you mean 'planes'?)");
    assert_string_equal(hx_did_you_mean(hint, "xyz", words), "");
}

static void an_error_is_one_line_with_any_quoted_text(void **state)
{
    (void)state;
    struct hx_problem p;
    assert_false(hx_fail(&p, HX_EXIT_CONFIG, "a\nb", "c\r\x1b[31m%s", "d\te"));
    assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(p.where, "a?b");
    assert_string_equal(p.what, "c??[31md?e");
}

/* Each kind of option, as the arguments of another program that has it. */
static void options_become_arguments(void **state)
{
    (void)state;
    static const char *const expected[] = {"--flag", "--text",   "a b", "--list", "x=1",   "--list",
                                           "y",      "--number", "7",   "--size", "3MiB",  "--time",
                                           "1500us", "--share",  "0.1", "--word", "second"};
    static const char *const words[] = {"first", "second", NULL};
    bool flag = true, off = false;
    const char *text = "a b", *none = NULL;
    struct hx_option_list list = {{"x=1", "y"}, 2};
    uint64_t number = 7, size = 3 << 20, time = 1500000;
    double share = 0.1;
    unsigned word = 1;
    const struct hx_option each[] = {{HX_FLAG("flag", &flag, "")},
                                     {HX_FLAG("off", &off, "")},
                                     {HX_STRING("text", "T", &text, "")},
                                     {HX_STRING("none", "T", &none, "")},
                                     {HX_LIST("list", "L", &list, "")},
                                     {HX_NUMBER("number", &number, 0, 9, "")},
                                     {HX_BYTES("size", &size, 0, UINT64_MAX, "")},
                                     {HX_DURATION("time", &time, 0, UINT64_MAX, "")},
                                     {HX_REAL("share", &share, 0, 1, "")},
                                     {HX_CHOICE("word", &word, words, "")}};
    struct hx_arguments a = {.count = 0};
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
        hx_option_add(&a, &each[i]);
    assert_int_equal(a.count, sizeof expected / sizeof *expected);
    for (unsigned i = 0; i < a.count; i++)
        assert_string_equal(a.item[i], expected[i]);
    hx_arguments_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_reach_their_targets),
        cmocka_unit_test(common_options_and_short_forms),
        cmocka_unit_test(an_error_is_one_line),
        cmocka_unit_test(an_alias_works_and_is_not_in_help),
        cmocka_unit_test(help_names_every_option),
        cmocka_unit_test(help_prints_range_and_default_from_the_table),
        cmocka_unit_test(help_has_other_formats),
        cmocka_unit_test(a_list_takes_every_use),
        cmocka_unit_test(options_become_arguments),
        cmocka_unit_test(nearest_words),
        cmocka_unit_test(an_error_is_one_line_with_any_quoted_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
