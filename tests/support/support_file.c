/* support_file.c - files in a folder of the test program (support_file.h). */
#include "tests/support/support_file.h"
#include "base/error.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/Hxmesh-test-XXXXXX";
static pid_t owner; /* 0: no folder yet */

/* Removes the folder, but not in a forked child. */
static void remove_folder(void)
{
    DIR *d = owner == getpid() ? opendir(folder) : NULL;
    if (!d)
        return;
    for (const struct dirent *entry; (entry = readdir(d));)
        (void)unlinkat(dirfd(d), entry->d_name, 0);
    (void)closedir(d);
    (void)rmdir(folder);
}

const char *file_path(const char *name)
{
    static char path[2][FILE_PATH_BYTES];
    static unsigned next;
    if (!owner) {
        assert_non_null(mkdtemp(folder));
        owner = getpid();
        assert_int_equal(atexit(remove_folder), 0);
    }
    next ^= 1;
    assert_in_range(snprintf(path[next], sizeof path[next], "%s/%s", folder, name), 1, sizeof path[next] - 1);
    return path[next];
}

FILE *file_create(const char *name)
{
    FILE *out = fopen(file_path(name), "wb");
    assert_non_null(out);
    return out;
}

const char *file_write(const char *name, const void *bytes, size_t count)
{
    FILE *out = file_create(name);
    assert_int_equal(fwrite(bytes, 1, count, out), count);
    assert_int_equal(fclose(out), 0);
    return file_path(name);
}

const char *file_write_text(const char *name, const char *text)
{
    return file_write(name, text, strlen(text));
}

static struct {
    FILE *out;
    char *text;
    size_t bytes;
} written;

void file_add_text(char *text, size_t room, const char *format, ...)
{
    va_list arguments;
    const size_t used = strlen(text);
    va_start(arguments, format);
    const int more = vsnprintf(text + used, room - used, format, arguments);
    va_end(arguments);
    assert_true(more >= 0 && used + (size_t)more < room);
}

FILE *file_begin_text(void)
{
    written.out = open_memstream(&written.text, &written.bytes);
    assert_non_null(written.out);
    return written.out;
}

char *file_end_text(void)
{
    (void)fclose(written.out);
    return written.text;
}

void file_refused(const char *name, const struct file_refusal *cases, unsigned count,
                  bool (*read)(const char *text, struct hx_problem *problem))
{
    for (unsigned i = 0; i < count; i++) {
        struct hx_problem problem;
        char where[FILE_PATH_BYTES + 16];
        assert_false(read(cases[i].text, &problem));
        (void)snprintf(where, sizeof where, "%s%s", file_path(name), cases[i].where);
        assert_string_equal(problem.what, cases[i].what);
        assert_string_equal(problem.where, where);
        assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    }
}
