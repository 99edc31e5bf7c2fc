/* testpmd.c - runs dpdk-testpmd for a few seconds and reads its statistics (testpmd.h). */
#include "testpmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double testpmd_rate(const char *mode, unsigned bytes)
{
    char folder[] = "/tmp/hxmesh-bench-XXXXXX";
    if (!mkdtemp(folder))
        return 0;
    char command[1024];
    (void)snprintf(
        command, sizeof command,
        "command -v dpdk-testpmd >/dev/null && (sleep 4; echo) | XDG_RUNTIME_DIR=%s timeout 20 dpdk-testpmd "
        "--no-huge -m 512 --no-pci --no-telemetry --no-shconf -l 0,1 --main-lcore 0 --vdev=net_null0,size=%u "
        "--vdev=net_null1,size=%u -- --forward-mode=%s --auto-start --nb-cores=1 --stats-period 1 "
        "--total-num-mbufs=8192 2>/dev/null; rm -rf %s",
        folder, bytes, bytes, mode, folder);
    FILE *out = popen(command, "r"); // NOLINT(cert-env33-c): the command is constant but for a folder of our own
    double last[2] = {0, 0};
    char line[256];
    while (out && fgets(line, sizeof line, out)) {
        const char *rate = strstr(line, "Tx-pps:");
        if (rate) {
            last[0] = last[1];
            last[1] = strtod(rate + strlen("Tx-pps:"), NULL);
        }
    }
    if (out)
        (void)pclose(out);
    return last[0] + last[1];
}
