/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How large a fabric may get: a permutation of small windowed flows over all hosts of a three-tier
 * fat tree, on one core, delivered bytes asserted. Set-up is everything from the description to the
 * fabric that could run, EAL and the first touch of the packet pools included; memory is the
 * process's own peak. Bytes a port and a host are those of fabrics without flows. Prints "figure
 * NANOSECONDS" of the run per link-hop. bench_scale K PODS [BYTES]   (hosts: PODS * K^2 / 4; 64 32
 * are 32,768 of them)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/run.h"

#include "setup.h"

enum { WINDOW = 16384, MTU = 4096, EAL_MB = 48 };

static struct wf_arena arena;
static struct wf_desc desc;

/* A row of /proc/self/status in bytes: "VmHWM", "VmRSS". */
static uint64_t memory(const char *row)
{
    char line[256];
    uint64_t kb = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, row, strlen(row)))
            kb = strtoull(line + strlen(row) + 1, NULL, 10);
    if (f)
        fclose(f);
    return kb * 1024;
}

static void describe(uint32_t k, uint32_t pods, uint32_t hosts_per_edge)
{
    desc = wfb_desc;
    wf_desc_fat_tree(&desc, &arena, &(struct wf_fat_tree){k, pods, hosts_per_edge});
    wf_desc_address(&desc, &arena);
    for (uint32_t i = 0; i < desc.n_links; i++)
        desc.links[i].cfg.delay_ps = WF_PS_PER_US;
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.port.pg[3].lossless = true;
}

/* One cycle through all hosts, drawn from the seed. */
static void permute(uint64_t bytes)
{
    uint32_t n = desc.n_hosts, *to = WF_ARENA_ARRAY(&arena, uint32_t, n);
    struct wf_prng prng;

    wf_prng_init(&prng, desc.seed, "permutation");
    for (uint32_t i = 0; i < n; i++)
        to[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) {
        uint32_t j = (uint32_t)wf_prng_below(&prng, i), t = to[i];

        to[i] = to[j];
        to[j] = t;
    }
    desc.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, n);
    for (; desc.n_flows < n; desc.n_flows++) {
        struct wf_desc_flow *f = &desc.flows[desc.n_flows];

        f->name = wf_arena_printf(&arena, "f%u", desc.n_flows);
        f->from = desc.n_flows;
        f->to = to[desc.n_flows];
        wf_keyset_defaults(&wf_flow_keys, &f->cfg);
        f->cfg.size_bytes = bytes;
        f->cfg.window_bytes = WINDOW;
        f->cfg.path_mtu = MTU;
    }
}

/* A link in the middle goes down and comes up again: what the routes cost. */
static void flap(struct wf_fabric *f)
{
    struct wf_graph *g = &f->graph;
    uint32_t node = g->n_dsts; /* the first switch without hosts */
    uint64_t start = wfb_cpu_ns(), down;

    wf_graph_link(g, node, 0, false);
    down = wfb_cpu_ns();
    wf_graph_link(g, node, 0, true);
    printf("link_down_ms %.2f\nlink_up_ms %.2f\n", (double)(down - start) / 1e6,
           (double)(wfb_cpu_ns() - down) / 1e6);
}

/* Bytes of a fabric's own memory, its packet pools apart, with so many hosts an edge. */
static uint64_t fabric_bytes(uint32_t k, uint32_t pods, uint32_t hosts_per_edge)
{
    struct wf_fabric *f;
    uint64_t bytes;

    desc.n_flows = 0;
    describe(k, pods, hosts_per_edge);
    f = wfb_build("bench_scale", &desc);
    bytes = f->arena.bytes;
    wf_fabric_free(f);
    return bytes;
}

/* From fabrics without flows that differ in one host an edge: what a host costs, with its link and
 * the port at its edge; and of what is left a port between switches, with its share of all else. */
static void idle_sizes(uint32_t k, uint32_t pods, uint64_t with_flows)
{
    uint64_t all = fabric_bytes(k, pods, k / 2), hosts = desc.n_hosts;
    uint64_t fewer = fabric_bytes(k, pods, k / 2 - 1), less = hosts - desc.n_hosts;
    uint64_t host = (all - fewer) / less, ports = 2ull * (desc.n_links - desc.n_hosts);

    printf("bytes_per_host %llu\nbytes_per_idle_port %llu\nbytes_per_flow %llu\n",
           (unsigned long long)host, (unsigned long long)((fewer - host * desc.n_hosts) / ports),
           (unsigned long long)((with_flows - all) / hosts));
}

static int measure(struct wf_fabric *f, uint64_t bytes)
{
    struct wfb_took took;
    int rc = wfb_run("bench_scale", f, bytes * desc.n_flows, &took);

    if (rc)
        return rc;
    printf("link_hops %llu\nrun_cpu_s %.3f\nsimulated_us %.3f\npeak_mb %.0f\nfigure %.2f\n",
           (unsigned long long)took.hops, (double)took.ns / 1e9,
           (double)wf_fabric_last_event_ps(f) / 1e6, (double)memory("VmHWM") / 1e6,
           (double)took.ns / (double)took.hops);
    return 0;
}

int main(int argc, char **argv)
{
    uint32_t k = argc > 2 ? (uint32_t)atoi(argv[1]) : 0, pods = k ? (uint32_t)atoi(argv[2]) : 0;
    uint64_t bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 65536, start = wfb_cpu_ns();
    uint64_t wall = wf_wall_ns();
    struct wf_fabric_opts opts = {0};
    struct wf_fabric *f;
    uint64_t setup, with_flows;
    int rc;

    if (k < 2 || k % 2 || !pods || pods > k || !bytes) {
        fprintf(stderr, "usage: bench_scale K PODS [BYTES], K even, PODS at most K\n");
        return 2;
    }
    describe(k, pods, k / 2);
    permute(bytes);
    wfb_eal((unsigned)(wf_fabric_memory(&desc, &opts) >> 20) + EAL_MB, false);
    f = wfb_build("bench_scale", &desc);
    setup = wfb_cpu_ns() - start;
    printf("hosts %u\nswitches %u\nlinks %u\npools_mb %.0f\nfabric_mb %.0f\nsetup_cpu_s %.3f\n"
           "setup_s %.3f\n",
           desc.n_hosts, desc.n_switches, desc.n_links,
           (double)wf_fabric_memory(&desc, &opts) / 1e6, (double)f->arena.bytes / 1e6,
           (double)setup / 1e9, (double)(wf_wall_ns() - wall) / 1e9);
    with_flows = f->arena.bytes;
    rc = measure(f, bytes);
    flap(f);
    wf_fabric_free(f);
    if (!rc && k > 2)
        idle_sizes(k, pods, with_flows);
    wf_arena_free(&arena);
    return rc;
}
