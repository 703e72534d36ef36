/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup.h"

#include <rte_eal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

const struct wf_desc wfb_desc = {.name = "bench",
                                 .seed = 1,
                                 .duration_ps = WF_KEY_AUTO,
                                 .time_limit_ps = WF_PS_PER_S,
                                 .time_scale = 1};

void wfb_eal(unsigned mbytes, bool several)
{
    static char prefix[32], mem[16], map[32] = "0@0";
    char *argv[] = {
        "bench",    "--no-huge", "--no-shconf",   "--no-pci", "--no-telemetry",      "-m", mem,
        "--lcores", map,         "--file-prefix", prefix,     "--log-level=*:error", NULL};

    snprintf(prefix, sizeof(prefix), "wfb%d", (int)getpid());
    snprintf(mem, sizeof(mem), "%u", mbytes);
    if (several)
        snprintf(map, sizeof(map), "0@(0-%ld)", sysconf(_SC_NPROCESSORS_ONLN) - 1);
    if (rte_eal_init(sizeof(argv) / sizeof(argv[0]) - 1, argv) < 0)
        exit(3);
}

uint64_t wfb_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t wfb_delivered(const struct wf_fabric *f)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_flow));
    uint64_t bytes = 0;

    while (wf_ctr_next(&w))
        bytes += w.values[WF_FLOW_BYTES];
    return bytes;
}
