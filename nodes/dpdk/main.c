/* main.c - the program hxmesh-dpdk: one node of a fabric on poll-mode cores. */
#include "base/error.h"
#include "base/json.h"
#include "config.h"
#include "control.h"
#include "core.h"
#include "local.h"
#include "metrics_server.h"
#include "node_report.h"
#include "telemetry.h"
#include "trial.h"
#include "unmap.h"

#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pdump.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char details[] =
    "Arguments before -- are EAL's: devices (-a, --vdev), lcores (-l), memory (-m). "
    "Without huge pages and without privileges: --no-huge -m 512 --no-pci --no-shconf.\n\n"
    "hxmesh-dpdk -l 0,1 --no-huge -m 512 --no-pci --vdev net_memif0,role=client,socket=e.sock,socket-abstract=no -- "
    "--fabric \"2x1 Hx1Mesh\" --node a0,0/p0 --ports E=net_memif0,local=endpoint\n\n"
    "SIGTERM drains, reports and ends; a second one ends at once. SIGHUP reads the node file again. Exit code: 0 done, "
    "1 lost or corrupted data, "
    "130 ended by a signal.";

struct arguments {
    struct node_values values;
    struct reload_source source;
    const char *config;
    const char *metrics;
    bool check;
    struct hx_common common;
};

/* Index of the program's own "--"; 0: none, so no arguments for EAL. */
static int own_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return 0;
}

static void parse(int argc, char **argv, struct arguments *a, struct node_config *config)
{
    const struct hx_option options[] = {{HX_STRING("config", "FILE", &a->config, "node file; examples/dpdk has some")},
                                        {HX_FLAG("check", &a->check,
                                                 "open and start every device, say what each is and what is wrong, and "
                                                 "end: no packet is sent")},
                                        {HX_STRING("metrics", "[ADDRESS:]PORT", &a->metrics,
                                                   "serve counts at http://ADDRESS:PORT/metrics, as Prometheus reads "
                                                   "them; ADDRESS without: 127.0.0.1")},
                                        NODE_OPTIONS(&a->values),
                                        HX_OPTIONS_END};
    const struct hx_command command = {.program = "hxmesh-dpdk",
                                       .operands = "[EAL arguments] --",
                                       .summary = "Runs one node of a HammingMesh, an accelerator's switch or a "
                                                  "network's, on poll-mode cores over any DPDK device.",
                                       .details = details,
                                       .file_keys = node_file_print_keys,
                                       .options = options};
    a->values = node_default_values;
    a->values.settings = hx_default_settings;
    a->values.settings.given = 0;
    (void)hx_options_parse(&command, argc, argv, &a->common);
    hx_output_check(a->common.json);
    a->source = (struct reload_source){a->config, a->values};
    node_config_load(config, a->config, &a->values);
    hx_options_check(&command, &a->common, node_run(&config->values.settings));
}

/* Devices and telemetry create their listening sockets here, for this user only. */
static void start_eal(int argc, char **argv)
{
    mode_t before = umask(S_IRWXG | S_IRWXO);
    int used = rte_eal_init(argc, argv);
    (void)umask(before);
    if (used < 0)
        hx_die(HX_EXIT_ENVIRONMENT, "EAL",
               "does not start: %s (its own lines say more; without huge pages: --no-huge -m 512)",
               rte_strerror(rte_errno));
}

/* Starts the cores of other lcores, then runs the main lcore's here. */
static void run_cores(struct node *n)
{
    struct core *own = NULL;
    if (!unmap_open(n->cores))
        hx_die(HX_EXIT_ENVIRONMENT, "EAL", "no memory for %u cores", n->cores);
    for (unsigned i = 0; i < n->cores; i++) {
        if (n->core[i]->lcore == rte_get_main_lcore())
            own = n->core[i];
        else if (rte_eal_remote_launch(core_run, n->core[i], n->core[i]->lcore) != 0)
            hx_die(HX_EXIT_ENVIRONMENT, "EAL", "lcore %u cannot be started", n->core[i]->lcore);
    }
    if (own)
        (void)core_run(own);
    rte_eal_mp_wait_lcore();
}

static int run(struct node *n, const struct arguments *a)
{
    struct control control;
    pthread_t thread;
    control_open(&control, n, &a->source, a->common.quiet);
    struct metrics_server *server = a->metrics ? metrics_server_open(a->metrics, n) : NULL;
    if (rte_ctrl_thread_create(&thread, "hx-control", NULL, control_run, &control) != 0)
        hx_die(HX_EXIT_ENVIRONMENT, "EAL", "no thread for control");
    run_cores(n);
    (void)pthread_join(thread, NULL);
    metrics_server_close(server);
    if (a->common.json)
        hx_json_write(report_json(&control), a->common.json);
    else
        report_print(&control);
    if (!report_is_good(&control))
        return HX_EXIT_FAILED;
    return control.interrupted ? HX_EXIT_INTERRUPTED : HX_EXIT_DONE;
}

/* No rte_eal_cleanup(): it frees memory that EAL's interrupt thread may still use for a memif (DPDK 22.11). Only memory
 * is left, which the process frees. */
static int end(struct node *n, struct node_config *config, int code)
{
    node_close(n);
    node_config_free(config);
    hx_output_close(stdout, "-");
    return code;
}

int main(int argc, char **argv)
{
    static struct arguments arguments;
    static struct node_config config;
    static struct node node;
    control_block_signals();
    int own = own_arguments(argc, argv);
    parse(argc - own, argv + own, &arguments, &config);
    if (own)
        argv[own] = NULL;
    start_eal(own ? own : 1, argv);
    config.trial = arguments.check;
    node_open(&node, &config);
    if (arguments.check)
        return end(&node, &config, trial_run(&node));
    if (!telemetry_open(&node))
        hx_warn("EAL", "runs without telemetry");
    bool captures = rte_pdump_init() == 0;
    if (!captures)
        hx_warn("EAL", "packets cannot be captured: %s", rte_strerror(rte_errno));
    int code = run(&node, &arguments);
    if (captures)
        (void)rte_pdump_uninit();
    return end(&node, &config, code);
}
