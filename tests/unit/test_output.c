/* test_output.c - what a program leaves behind if its stdout has no reader. */
#include "base/output.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES = 20000 }; /* more than the buffer of stdout */
#define FILE_NAME "partial.csv"

/* Writes to a pipe without a reader while a file is incomplete. */
static void write_in_vain(const char *path)
{
    int ends[2];
    FILE *out;
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0)
        _exit(99);
    (void)close(ends[0]);
    (void)close(ends[1]);
    hx_output_guard();
    out = hx_output_open(path);
    (void)fputs("a line\n", out);
    (void)fflush(out);
    for (unsigned i = 0; i < BYTES; i++)
        (void)putchar('x');
    exit(0);
}

/* Returns how the child ended. */
static int run_in_vain(const char *folder, void (*of_pipe)(int))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGPIPE, of_pipe);
        if (chdir(folder) != 0 || !freopen("said", "w", stderr))
            _exit(99);
        write_in_vain(FILE_NAME);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void no_file_and_no_message_is_left(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_output.XXXXXX";
    char name[64];
    assert_non_null(mkdtemp(folder));
    int status = run_in_vain(folder, SIG_DFL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
    status = run_in_vain(folder, SIG_IGN);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    (void)snprintf(name, sizeof name, "%s/said", folder);
    FILE *said = fopen(name, "r");
    assert_non_null(said);
    assert_int_equal(fgetc(said), EOF);
    (void)fclose(said);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_and_no_message_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
