/* test_progress.c - the progress line of long work: one line, no wider than the terminal. */
#include "base/progress.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_TEXT = 1024 };
static const char note[] =
    ", 1.234 ms simulated, 12.3 M packet-hops/s, and more than any terminal of that width can show";

/* Text on a terminal of `columns` (0: unknown), without the line's end. */
static void shown_on_terminal(unsigned columns, double share, char text[MOST_TEXT])
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    const struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = 24};
    assert_true(end >= 0 && ioctl(end, TIOCSWINSZ, &size) == 0);
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0 && dup2(end, STDERR_FILENO) >= 0);
    struct hx_progress p = hx_progress_start("run", false);
    p.start -= 10;
    p.last -= 10;
    hx_progress_show(&p, share, note);
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    ssize_t n = read(terminal, text, MOST_TEXT - 1);
    assert_true(n > 4);
    text[n] = '\0';
    assert_int_equal(text[0], '\r');
    assert_string_equal(text + n - 3, "\033[K");
    text[n - 3] = '\0';
    memmove(text, text + 1, (size_t)n - 3);
    (void)close(before);
    (void)close(end);
    (void)close(terminal);
}

static void one_line_at_any_width(void **state)
{
    (void)state;
    char text[MOST_TEXT];
    shown_on_terminal(80, 0.5, text);
    assert_int_equal(strlen(text), 79);
    assert_non_null(strstr(text, "] "));
    assert_non_null(strstr(text, " 50 %, about 10 s left"));
    shown_on_terminal(40, 0.5, text);
    assert_int_equal(strlen(text), 39);
    shown_on_terminal(200, 0.5, text);
    assert_non_null(strstr(text, note));
    assert_int_equal(setenv("COLUMNS", "50", 1), 0);
    shown_on_terminal(0, 0.5, text);
    assert_int_equal(strlen(text), 49);
    assert_int_equal(unsetenv("COLUMNS"), 0);
    shown_on_terminal(0, 0.5, text);
    assert_int_equal(strlen(text), 79);
}

static void no_estimate_before_the_first_progress(void **state)
{
    (void)state;
    char text[MOST_TEXT];
    shown_on_terminal(200, 0, text);
    assert_non_null(strstr(text, "0 %, 1.234 ms simulated"));
    assert_null(strstr(text, "left"));
}

int main(void)
{
    (void)setenv("TERM", "xterm", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_at_any_width),
        cmocka_unit_test(no_estimate_before_the_first_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
