/* support_arena.c - helpers of arena tests (support_arena.h). */
#include "tests/support/support_arena.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

char arena_name[64];
char arena_path[128];
static unsigned open_before;

unsigned arena_open_descriptors(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count;
}

int arena_choose_name(void **state)
{
    (void)state;
    static unsigned number;
    (void)snprintf(arena_name, sizeof arena_name, "arena-%ld-%u", (long)getpid(), number++);
    (void)snprintf(arena_path, sizeof arena_path, "/dev/shm/" SHM_PREFIX "%s", arena_name);
    open_before = arena_open_descriptors();
    return 0;
}

static bool is_mapped(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        found = found || strstr(line, arena_name);
    (void)fclose(maps);
    return found;
}

int arena_validate_closed(void **state)
{
    (void)state;
    assert_int_equal(arena_open_descriptors(), open_before);
    assert_false(is_mapped());
    return 0;
}

bool arena_is_there(void)
{
    return access(arena_path, F_OK) == 0;
}

void arena_make_file(mode_t mode)
{
    int fd = open(arena_path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && fchmod(fd, mode) == 0 && ftruncate(fd, 77) == 0);
    (void)close(fd);
}

int arena_in_a_process(void (*life)(void))
{
    (void)fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        life();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

enum { MAY_NOT = 77 };
static void (*life_in_own_shm)(void);
static char size_of_shm[32];

static void live_in_own_shm(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, size_of_shm) != 0)
        _exit(MAY_NOT);
    life_in_own_shm();
}

int arena_in_own_shm(void (*life)(void), const char *bytes)
{
    life_in_own_shm = life;
    (void)snprintf(size_of_shm, sizeof size_of_shm, "size=%s", bytes ? bytes : "0");
    int status = arena_in_a_process(live_in_own_shm);
    if (WIFEXITED(status) && WEXITSTATUS(status) == MAY_NOT) {
        print_message("skipped: this user may not give a process a /dev/shm of its own\n");
        skip();
    }
    return status;
}
