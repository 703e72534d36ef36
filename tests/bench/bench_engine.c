/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much one frame costs that crosses one link: windowed RC WRITEs with ACKs in virtual time, on
 * one core, delivered bytes asserted. Prints "figure NANOSECONDS".
 *   bench_engine incast|permutation
 */
#include <rte_eal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/run.h"

static struct wf_arena arena;
static struct wf_desc desc = {.name = "bench",
                              .seed = 1,
                              .duration_ps = WF_KEY_AUTO,
                              .time_limit_ps = WF_PS_PER_S,
                              .time_scale = 1};

static void eal(void)
{
    static char prefix[32];
    char *argv[] = {
        "bench",    "--no-huge", "--no-shconf",   "--no-pci", "--no-telemetry",      "-m", "1024",
        "--lcores", "0@0",       "--file-prefix", prefix,     "--log-level=*:error", NULL};

    snprintf(prefix, sizeof(prefix), "wfb%d", (int)getpid());
    if (rte_eal_init(sizeof(argv) / sizeof(argv[0]) - 1, argv) < 0)
        exit(3);
}

static void flow(uint32_t from, uint32_t to, uint64_t bytes)
{
    struct wf_desc_flow *f = &desc.flows[desc.n_flows++];

    f->name = wf_arena_printf(&arena, "f%u", from);
    f->from = from;
    f->to = to;
    wf_keyset_defaults(&wf_flow_keys, &f->cfg);
    f->cfg.size_bytes = bytes;
    f->cfg.path_mtu = 1024;
}

static void describe(const char *what)
{
    bool incast = !strcmp(what, "incast");
    uint32_t hosts = incast ? 17 : 128;

    if (incast)
        wf_desc_leaf_spine(&desc, &arena, 1, 0, hosts);
    else
        wf_desc_leaf_spine(&desc, &arena, 16, 8, hosts / 16);
    wf_desc_address(&desc, &arena);
    for (uint32_t i = 0; i < desc.n_links; i++)
        desc.links[i].cfg.delay_ps = WF_PS_PER_US;
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.pg[3].lossless = true;
    desc.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, hosts);
    for (uint32_t h = incast ? 1 : 0; h < hosts; h++)
        flow(h, incast ? 0 : (h + hosts / 2 + 3) % hosts, incast ? 1000000 : 200000);
}

static uint64_t delivered(const struct wf_fabric *f)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < f->n_objs; i++)
        if (f->objs[i].table == &wf_ctrs_flow)
            bytes += f->objs[i].values[WF_FLOW_BYTES];
    return bytes;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "permutation";
    struct wf_fabric_opts opts = {0};
    struct wf_fabric *f;
    struct wf_err err;
    struct wf_run r;
    uint64_t start, ns, hops, want = 0;

    eal();
    describe(what);
    for (uint32_t i = 0; i < desc.n_flows; i++)
        want += desc.flows[i].cfg.size_bytes;
    if (wf_fabric_build(&f, &desc, &opts, &err) || wf_run_init(&r, f)) {
        fprintf(stderr, "bench_engine: %s\n", err.msg);
        return 3;
    }
    start = wf_wall_ns();
    if (wf_run_loop(&r) != WF_RUN_DONE)
        return 4;
    ns = wf_wall_ns() - start;
    hops = f->net.ctr[WF_FABRIC_LINK_HOPS];
    wf_fabric_settle(f);
    if (delivered(f) != want || wf_fabric_check(f, &err)) {
        fprintf(stderr, "bench_engine: %llu of %llu bytes\n", (unsigned long long)delivered(f),
                (unsigned long long)want);
        return 4;
    }
    printf("link_hops %llu\nevents %llu\ncpu_ns %llu\nfigure %.2f\n", (unsigned long long)hops,
           (unsigned long long)f->lc->events, (unsigned long long)ns, (double)ns / (double)hops);
    wf_run_fini(&r);
    wf_fabric_free(f);
    return 0;
}
