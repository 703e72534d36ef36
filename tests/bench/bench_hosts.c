/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hosts cost: ten permutations of 1,000 hosts at once, 10,000 connections (20,000 queue pairs,
 * ten that send and ten that receive at each host) over 25 leaves and 8 spines of 100 Gb/s, one
 * core, virtual time, delivered bytes asserted. Either without congestion control or with DCQCN,
 * switches marking. Bytes a queue pair are those of the fabric with flows less those without,
 * halved. Prints "figure NANOSECONDS" of the run per link-hop.   bench_hosts none|dcqcn
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/run.h"
#include "scen/scenario.h"

#include "setup.h"

enum { FLOWS = 10, EAL_MB = 64 };

static int load(struct wf_scenario *s, const char *cc)
{
    char text[4096];
    int n = snprintf(text, sizeof(text),
                     "weft: 1\n"
                     "topology: {kind: leaf_spine, leaves: 25, spines: 8, hosts_per_leaf: 40}\n"
                     "hosts: {'*': {nic: {cc: %s}}}\n"
                     "switches: {'*': {pg: {3: {lossless: true}}, queue: {3: {ecn: true, "
                     "kmin: 100kB, kmax: 400kB, pmax: 20%%}}}}\n"
                     "workload:\n",
                     cc);

    for (int i = 0; i < FLOWS; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      "  - {name: p%d, kind: permutation, from: 'h*', size: 128KiB, "
                      "window: 64KiB, path_mtu: 4096}\n",
                      i);
    if (!wf_scenario_parse(s, "bench", text, (size_t)n))
        return 0;
    wf_diags_print(&s->diags, stderr);
    return 2;
}

static int measure(struct wf_fabric *f, uint64_t bytes)
{
    struct wfb_took took;
    int rc = wfb_run("bench_hosts", f, bytes, &took);

    if (rc)
        return rc;
    printf("link_hops %llu\nrun_cpu_s %.3f\nsimulated_us %.3f\nfigure %.2f\n",
           (unsigned long long)took.hops, (double)took.ns / 1e9,
           (double)wf_fabric_last_event_ps(f) / 1e6, (double)took.ns / (double)took.hops);
    return 0;
}

int main(int argc, char **argv)
{
    const char *cc = argc == 2 ? argv[1] : "";
    struct wf_fabric_opts opts = {0};
    uint64_t bytes = 0, with, without, start = wfb_cpu_ns();
    struct wf_scenario s;
    struct wf_desc empty;
    struct wf_fabric *f;
    int rc;

    if (strcmp(cc, "none") && strcmp(cc, "dcqcn")) {
        fprintf(stderr, "usage: bench_hosts none|dcqcn\n");
        return 2;
    }
    rc = load(&s, cc);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < s.desc.n_flows; i++)
        bytes += s.desc.flows[i].cfg.size_bytes;
    wfb_eal((unsigned)(wf_fabric_memory(&s.desc, &opts) >> 20) + EAL_MB, false);
    f = wfb_build("bench_hosts", &s.desc);
    with = f->arena.bytes;
    printf("hosts %u\nflows %u\nqueue_pairs %u\nsetup_cpu_s %.3f\n", s.desc.n_hosts, s.desc.n_flows,
           2 * s.desc.n_flows, (double)(wfb_cpu_ns() - start) / 1e9);
    rc = measure(f, bytes);
    wf_fabric_free(f);
    empty = s.desc;
    empty.n_flows = 0;
    f = wfb_build("bench_hosts", &empty);
    without = f->arena.bytes;
    wf_fabric_free(f);
    printf("bytes_per_qp %.0f\n", (double)(with - without) / 2 / s.desc.n_flows);
    wf_scenario_free(&s);
    return rc;
}
