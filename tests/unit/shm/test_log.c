/* test_log.c - the log of a fabric in the background: lines with their time, in a file of bounded size; and notices
 * to a service manager. */
#include "fabric-emu/live/log.h"
#include "fabric-emu/live/notify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { DATE = 21 }; /* "2026-11-27T14:15:25Z " */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)strcpy(folder, "/tmp/test_log.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[96];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT(cert-env33-c): the folder's name is ours */
}

static const char *in_folder(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void opens(struct log *l)
{
    struct hx_problem problem;
    assert_true(log_open(l, in_folder("a.log"), &problem));
}

static void writes(struct log *l, const char *text)
{
    log_write(l, text, strlen(text));
}

static long size_of(const char *name)
{
    struct stat is;
    return stat(in_folder(name), &is) == 0 ? (long)is.st_size : -1;
}

/* Reads a line and returns it without its time. */
static const char *next_line(FILE *in)
{
    static char line[256];
    struct tm time;
    assert_non_null(fgets(line, sizeof line, in));
    assert_ptr_equal(strptime(line, "%Y-%m-%dT%H:%M:%SZ ", &time), line + DATE);
    return line + DATE;
}

static void each_line_has_one_time(void **state)
{
    (void)state;
    struct log l;
    opens(&l);
    writes(&l, "first\nsecond, ");
    writes(&l, "in two parts\n");
    log_close(&l);
    opens(&l); /* appends */
    writes(&l, "third\n");
    log_close(&l);
    writes(&l, "to nobody\n");
    FILE *in = fopen(in_folder("a.log"), "r");
    assert_non_null(in);
    assert_string_equal(next_line(in), "first\n");
    assert_string_equal(next_line(in), "second, in two parts\n");
    assert_string_equal(next_line(in), "third\n");
    assert_int_equal(fgetc(in), EOF);
    (void)fclose(in);
}

static void the_log_stays_small(void **state)
{
    (void)state;
    char line[1001];
    struct log l;
    memset(line, 'x', sizeof line);
    line[999] = '\n';
    line[1000] = '\0';
    opens(&l);
    for (int lines = 0; lines < 4000; lines++)
        writes(&l, line);
    log_close(&l);
    assert_in_range(size_of("a.log"), 1000, LOG_BYTES + 1100);
    assert_in_range(size_of("a.log.1"), LOG_BYTES, LOG_BYTES + 1100);
    assert_int_equal(size_of("a.log.1.1"), -1);
}

static void the_user_chooses_its_place(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct hx_problem problem;
    struct stat is;
    assert_int_equal(setenv("XDG_STATE_HOME", in_folder("state"), 1), 0);
    assert_true(log_place(path, "lab", &problem));
    assert_string_equal(path, in_folder("state/hxmesh/lab.log"));
    assert_int_equal(stat(in_folder("state/hxmesh"), &is), 0);
    assert_int_equal(is.st_mode & 0777, 0700);
    assert_int_equal(setenv("XDG_STATE_HOME", "relative", 1), 0); /* must be ignored */
    assert_int_equal(setenv("HOME", folder, 1), 0);
    assert_true(log_place(path, "lab", &problem));
    assert_string_equal(path, in_folder(".local/state/hxmesh/lab.log"));
    assert_int_equal(unsetenv("HOME"), 0);
    assert_false(log_place(path, "lab", &problem));
    assert_string_equal(problem.where, "HOME");
}

static void a_service_manager_is_notified(void **state)
{
    (void)state;
    char text[32] = "";
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s/notify", folder);
    assert_int_equal(bind(fd, (const struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    notify("READY=1");
    assert_int_equal(setenv("NOTIFY_SOCKET", "no path", 1), 0);
    notify("READY=1");
    assert_int_equal(recv(fd, text, sizeof text, 0), -1);
    assert_int_equal(setenv("NOTIFY_SOCKET", name.sun_path, 1), 0);
    notify("READY=1");
    assert_int_equal(recv(fd, text, sizeof text, 0), 7);
    assert_string_equal(text, "READY=1");
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    assert_int_equal(close(fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_line_has_one_time, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_log_stays_small, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_user_chooses_its_place, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_service_manager_is_notified, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
