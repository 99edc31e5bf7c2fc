/* exec_mpi.c - Open MPI ranks on the hosts of a fabric (exec.h).
 *
 * mpirun runs on the first host and starts its daemons on the others by `hxmesh exec` in place of ssh. Ranks use TCP
 * over the hosts' interfaces, or messages through libfabric. Each host has its own name, so no rank assumes shared
 * memory. */
#include "base/beside.h"
#include "base/error.h"
#include "base/processor.h"
#include "exec.h"
#include "host_names.h"
#include "netns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PATH = 4096 };

/* A command line that grows. */
struct words {
    char **word;
    size_t used, room;
};

static void add(struct words *w, const char *word)
{
    w->word = hx_grow(w->word, w->used, &w->room, sizeof *w->word);
    w->word[w->used] = word ? strdup(word) : NULL;
    if (word && !w->word[w->used])
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a command line");
    w->used++;
}

static void set(struct words *w, const char *parameter, const char *value)
{
    add(w, "--mca");
    add(w, parameter);
    add(w, value);
}

static uint64_t count_hosts(const struct attached *a)
{
    uint64_t hosts = 0;
    for (uint32_t host = 0; host < a->graph.hosts; host++)
        hosts += exec_has(a, host);
    return hosts;
}

/* Returns "a0-0:2,a1-0:2": the first hosts, at most one a rank, with slots for all ranks. For free(). */
static char *places(const struct attached *a, uint64_t ranks)
{
    char *text = NULL;
    size_t bytes;
    uint64_t hosts = count_hosts(a);
    uint64_t used = hosts < ranks ? hosts : ranks;
    uint64_t slots = hosts ? (ranks + hosts - 1) / hosts : 0;
    FILE *out = open_memstream(&text, &bytes);
    const char *between = "";
    for (uint32_t host = 0; out && used > 0; host++) {
        char name[HX_NAME_BYTES];
        if (!exec_has(a, host))
            continue;
        fprintf(out, "%s%s:%llu", between, host_own_name(name, &a->graph, host), (unsigned long long)slots);
        between = ",";
        used--;
    }
    if (!out || fclose(out) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, NULL, "no memory for a list of hosts");
    return text;
}

/* mpirun splits the agent at blanks. */
static void print_agent(char *agent, size_t bytes, const struct attached *a)
{
    char self[MOST_PATH];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    if (length <= 0 || strchr(self, ' ') || strchr(a->name, ' '))
        hx_die(HX_EXIT_ENVIRONMENT, self, "mpirun cannot call a program, or a fabric, with a blank in its name");
    (void)snprintf(agent, bytes, "%s exec --quiet --shell --name %s --", self, a->name);
}

/* Waiting ranks spin. With more ranks and workers than cores, a waiting rank yields its core. */
static void set_idle(struct words *w, const struct attached *a, uint64_t ranks)
{
    if (ranks + a->metrics->workers <= hx_processor_cores())
        return;
    set(w, "mpi_yield_when_idle", "1");
    add(w, "-x");
    add(w, "HXMESH_IDLE=sleep");
}

static void set_tcp(struct words *w)
{
    set(w, "pml", "ob1");
    set(w, "btl", "self,tcp");
    set(w, "btl_tcp_if_include", NETNS_INTERFACE);
}

/* The environment on each host names the host of its rank. */
static void set_messages(struct words *w)
{
    set(w, "pml", "cm");
    set(w, "mtl", "ofi");
    set(w, "mtl_ofi_provider_include", "hxmesh");
}

char **exec_mpi_command(const struct attached *a, const struct exec_plan *plan)
{
    struct words w = {.used = 0};
    char agent[MOST_PATH + 256];
    char ranks[24];
    if (plan->over == EXEC_OVER_MESSAGES && plan->ranks > count_hosts(a))
        hx_die(HX_EXIT_USAGE, "--mpi",
               "%llu ranks are more than the hosts of %s, and a host has messages for one "
               "(choose fewer, or --over ip)",
               (unsigned long long)plan->ranks, a->name);
    char *hosts = places(a, plan->ranks);
    print_agent(agent, sizeof agent, a);
    (void)snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)plan->ranks);
    add(&w, "mpirun");
    add(&w, "--allow-run-as-root"); /* a user appears as root on a host */
    add(&w, "--np");
    add(&w, ranks);
    add(&w, "--host");
    add(&w, hosts);
    add(&w, "--map-by");
    add(&w, "node");
    add(&w, "--bind-to");
    add(&w, "none"); /* all hosts share this machine's processors */
    set(&w, "plm_rsh_agent", agent);
    set(&w, "plm_rsh_no_tree_spawn", "1");
    set(&w, "oob_tcp_if_include", NETNS_INTERFACE);
    set_idle(&w, a, plan->ranks);
    if (plan->over == EXEC_OVER_MESSAGES)
        set_messages(&w);
    else
        set_tcp(&w);
    for (char **word = plan->command; *word; word++)
        add(&w, *word);
    add(&w, NULL);
    free(hosts);
    return w.word;
}
