/* testpmd.c - keeps a dpdk-testpmd at its prompt, and reads its output (testpmd.h). */
#include "tests/bench/testpmd.h"
#include "tests/bench/measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 4, TEXT = 300 };

struct testpmd {
    pid_t pid;
    FILE *in, *out;
    char folder[32];      /* its runtime folder, to be removed */
    char schedstat[TEXT]; /* file with its lcore's processor time */
};

/* ---- the process ---- */

/* Its output goes to a pipe and must still be line-buffered. */
static void become_testpmd(const char *driver, const char *options, const struct testpmd *t, int in, int out)
{
    char command[2 * TEXT];
    char devices[TEXT] = "";
    size_t used = 0;
    for (unsigned port = 0; port < PORTS; port++) {
        used += (size_t)snprintf(devices + used, sizeof devices - used, " --vdev=%s%u", driver, port);
        if (strcmp(driver, "net_null") == 0)
            used += (size_t)snprintf(devices + used, sizeof devices - used, ",size=64");
    }
    (void)snprintf(command, sizeof command,
                   "exec stdbuf -oL dpdk-testpmd --no-huge -m 256 --no-pci --no-telemetry --no-shconf "
                   "--log-level critical --lcores '%s' --main-lcore 0%s -- -i --nb-cores=1 "
                   "--total-num-mbufs=8191 %s 2>/dev/null",
                   sysconf(_SC_NPROCESSORS_ONLN) < 2 ? "0@0,1@0" : "0@(0-1),1@(0-1)", devices, options);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && dup2(in, 0) == 0 && dup2(out, 1) == 1 &&
        setenv("RUNTIME_DIRECTORY", t->folder, 1) == 0)
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static bool start_process(struct testpmd *t, const char *driver, const char *options)
{
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0)
        return false;
    if (pipe2(out, O_CLOEXEC) != 0) {
        (void)close(in[0]);
        (void)close(in[1]);
        return false;
    }
    t->pid = fork();
    if (t->pid == 0)
        become_testpmd(driver, options, t, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    t->in = fdopen(in[1], "w");
    t->out = fdopen(out[0], "r");
    return t->pid > 0 && t->in && t->out;
}

/* Reads up to a line that contains `text`, left in `line`. False: the process has ended. */
static bool read_to(struct testpmd *t, const char *text, char line[TEXT])
{
    while (fgets(line, TEXT, t->out))
        if (strstr(line, text))
            return true;
    return false;
}

static void say(struct testpmd *t, const char *format, const char *word)
{
    (void)fprintf(t->in, format, word);
    (void)fflush(t->in);
}

/* ---- its time ---- */

static bool is_worker(const char *folder, const char *task)
{
    char path[TEXT];
    char name[32] = "";
    (void)snprintf(path, sizeof path, "%s/%.16s/comm", folder, task);
    FILE *f = fopen(path, "r");
    if (f)
        (void)!fgets(name, sizeof name, f);
    if (f)
        (void)fclose(f);
    return strstr(name, "worker") != NULL;
}

/* The lcore that forwards is the thread called a worker. */
static bool find_worker(struct testpmd *t)
{
    char folder[64];
    (void)snprintf(folder, sizeof folder, "/proc/%d/task", (int)t->pid);
    DIR *tasks = opendir(folder);
    for (const struct dirent *task = tasks ? readdir(tasks) : NULL; task; task = readdir(tasks)) {
        if (is_worker(folder, task->d_name))
            (void)snprintf(t->schedstat, sizeof t->schedstat, "%s/%.16s/schedstat", folder, task->d_name);
    }
    if (tasks)
        (void)closedir(tasks);
    return t->schedstat[0] != 0;
}

static uint64_t worker_ns(const struct testpmd *t)
{
    char line[TEXT] = "";
    FILE *f = fopen(t->schedstat, "r");
    if (f)
        (void)!fgets(line, sizeof line, f);
    if (f)
        (void)fclose(f);
    return strtoull(line, NULL, 10);
}

/* ---- life ---- */

struct testpmd *testpmd_open(const char *driver, const char *options)
{
    char line[TEXT];
    struct testpmd *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    (void)snprintf(t->folder, sizeof t->folder, "/tmp/hxmesh-bench-XXXXXX");
    if (mkdtemp(t->folder) && start_process(t, driver, options) && read_to(t, "Done", line) && find_worker(t))
        return t;
    testpmd_close(t);
    return NULL;
}

void testpmd_close(struct testpmd *t)
{
    if (!t)
        return;
    if (t->in)
        (void)fclose(t->in);
    if (t->out)
        (void)fclose(t->out);
    if (t->pid > 0) {
        (void)kill(t->pid, SIGKILL);
        (void)waitpid(t->pid, NULL, 0);
    }
    measure_remove_runtime(t->folder);
    free(t);
}

double testpmd_run(struct testpmd *t, const char *mode, unsigned milliseconds)
{
    char line[TEXT];
    const struct timespec wait = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    say(t, "set fwd %s\n", mode);
    if (!read_to(t, "packet forwarding mode", line))
        return 0;
    uint64_t before = worker_ns(t);
    say(t, "start tx_first %s\n", "1"); /* a ring device has only the packets put into it */
    if (!read_to(t, "packets/burst", line))
        return 0;
    (void)nanosleep(&wait, NULL);
    say(t, "stop%s\n", "");
    if (!read_to(t, "Accumulated", line) || !read_to(t, "TX-packets:", line))
        return 0;
    double packets = strtod(strchr(line, ':') + 1, NULL);
    return packets > 0 ? (double)(worker_ns(t) - before) / packets : 0;
}

double testpmd_rate(const char *mode)
{
    struct testpmd *t = testpmd_open("net_null", "");
    double ns = t ? testpmd_run(t, mode, 300) : 0;
    testpmd_close(t);
    return ns > 0 ? 1e9 / ns : 0;
}
