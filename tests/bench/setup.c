/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup.h"

#include <rte_eal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "fabric/run.h"

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

struct wf_fabric *wfb_build(const char *bench, const struct wf_desc *d)
{
    struct wf_fabric_opts opts = {0};
    struct wf_fabric *f;
    struct wf_err err;

    if (!wf_fabric_build(&f, d, &opts, &err))
        return f;
    fprintf(stderr, "%s: %s\n", bench, err.msg);
    exit(3);
}

int wfb_run(const char *bench, struct wf_fabric *f, uint64_t bytes, struct wfb_took *took)
{
    struct wf_err err;
    struct wf_run r;
    uint64_t start;

    if (wf_run_init(&r, f))
        return 3;
    start = wfb_cpu_ns();
    if (wf_run_loop(&r) != WF_RUN_DONE)
        return 4;
    took->ns = wfb_cpu_ns() - start;
    wf_fabric_settle(f);
    if (wfb_delivered(f) != bytes || wf_fabric_check(f, &err)) {
        fprintf(stderr, "%s: %llu of %llu bytes\n", bench, (unsigned long long)wfb_delivered(f),
                (unsigned long long)bytes);
        return 4;
    }
    took->hops = wf_fabric_ctr(f, WF_FABRIC_LINK_HOPS);
    wf_run_fini(&r);
    return 0;
}
