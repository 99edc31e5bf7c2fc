/* test_key.c - the file with a cable's key: what is accepted, and each refusal (base/key.h). */
#include "base/key.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HEX "000102030405060708090a0B0C0d0e0F"

static const char *key_file(const char *text, mode_t mode)
{
    (void)unlink(file_path("key")); /* only root writes into a file without permission */
    const char *path = file_write_text("key", text);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void test_digits_are_read(void **state)
{
    static const char *const texts[] = {HEX, HEX "\n", "  " HEX "\r\n\n", "\t" HEX " "};
    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hx_auth_key key = {{0}};
        struct hx_problem problem;
        assert_true(hx_key_read(&key, key_file(texts[i], i % 2 ? 0600 : 0400), &problem));
        assert_true(key.word[0] == UINT64_C(0x0706050403020100) && key.word[1] == UINT64_C(0x0f0e0d0c0b0a0908));
    }
}

static void assert_refused(const char *path, int code, const char *says)
{
    struct hx_auth_key key;
    struct hx_problem problem = {0};
    assert_false(hx_key_read(&key, path, &problem));
    assert_int_equal(problem.exit_code, code);
    assert_string_equal(problem.where, path);
    if (!strstr(problem.what, says))
        fail_msg("\"%s\", not \"%s\"", problem.what, says);
    assert_null(strstr(problem.what, "0a0b")); /* the error shows nothing of the key */
}

static void test_a_key_that_others_can_read_is_refused(void **state)
{
    static const mode_t modes[] = {0644, 0640, 0604, 0620, 0602, 0610, 0677};
    (void)state;
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        char says[64];
        (void)snprintf(says, sizeof says, "its mode is %04o (chmod 600 ", (unsigned)modes[i]);
        assert_refused(key_file(HEX, modes[i]), HX_EXIT_CONFIG, says);
    }
}

static void test_another_users_key_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a file to another user */
    const char *path = key_file(HEX, 0600);
    assert_int_equal(chown(path, 65534, 65534), 0);
    struct hx_auth_key key;
    struct hx_problem problem;
    assert_false(hx_key_read(&key, path, &problem)); /* the other user would know the key */
    assert_non_null(strstr(problem.what, "belongs to another user"));
    assert_int_equal(unlink(path), 0);
}

static void test_an_invalid_key_is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "000102030405060708090a0b0c0d0e0",
                                        HEX "0",
                                        HEX " " HEX,
                                        HEX "\n#",
                                        "000102030405060708090a0b0c0d0e0g",
                                        "0x0102030405060708090a0b0c0d0e0f",
                                        "-00102030405060708090a0b0c0d0e0f"};
    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_refused(key_file(texts[i], 0600), HX_EXIT_CONFIG, "holds no key: 32 hexadecimal digits");
    const char *path = file_path("nowhere");
    assert_refused(path, HX_EXIT_CONFIG, "cannot be read: No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(path, HX_EXIT_CONFIG, "is no file");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* without a writer, and without a wait for one */
    assert_refused(path, HX_EXIT_CONFIG, "is no file");
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits_are_read),
        cmocka_unit_test(test_a_key_that_others_can_read_is_refused),
        cmocka_unit_test(test_another_users_key_is_refused),
        cmocka_unit_test(test_an_invalid_key_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
