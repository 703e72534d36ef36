/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much one frame costs that crosses one link: windowed RC WRITEs with ACKs in virtual time, on
 * one core, on fat trees of 100 Gb/s links of 1 us, delivered bytes asserted. CPU time is the
 * thread's own, set-up and run apart; prints "figure NANOSECONDS" of the run per link-hop.
 * Pools are touched when they are made, so page faults of the run are few; they are printed too.
 * With LCORES the figure is the wall time of the run in milliseconds, and the digest is printed.
 *   bench_engine NAME [LCORES]   (a row of the table below; WEFT_BENCH_SMALL=1: a tenth of the
 * bytes)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "fabric/run.h"

#include "setup.h"

enum pattern { INCAST, PERMUTATION, RING };

static const struct scenario {
    const char *name;
    enum pattern pattern;
    uint32_t k; /* of the fat tree: k^3 / 4 hosts */
    uint32_t mtu;
    uint64_t bytes; /* of a flow */
} scenarios[] = {
    {"incast", INCAST, 8, 1024, 1000000},       {"perm16", PERMUTATION, 4, 1024, 500000},
    {"perm128", PERMUTATION, 8, 1024, 200000},  {"perm128-4096", PERMUTATION, 8, 4096, 200000},
    {"perm1024", PERMUTATION, 16, 1024, 20000}, {"ring128", RING, 8, 1024, 200000},
    {"lcores", PERMUTATION, 16, 1024, 200000},
};

enum { INCAST_SENDERS = 16, SMALL = 10 };

static struct wf_arena arena;
static struct wf_desc desc;

static struct wf_arena arena;
static struct wf_desc desc = {.name = "bench",
                              .seed = 1,
                              .duration_ps = WF_KEY_AUTO,
                              .time_limit_ps = WF_PS_PER_S,
                              .time_scale = 1};

static void fat_tree(uint32_t k)
{
    struct wf_fat_tree t = {.k = k, .pods = k, .hosts_per_edge = k / 2};

    desc = wfb_desc;
    wf_desc_fat_tree(&desc, &arena, &t);
    wf_desc_address(&desc, &arena);
    for (uint32_t i = 0; i < desc.n_links; i++)
        desc.links[i].cfg.delay_ps = WF_PS_PER_US;
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.port.pg[3].lossless = true;
}

static void flow(uint32_t from, uint32_t to, const struct scenario *s, bool small)
{
    struct wf_desc_flow *f = &desc.flows[desc.n_flows++];

    f->name = wf_arena_printf(&arena, "f%u", from);
    f->from = from;
    f->to = to;
    wf_keyset_defaults(&wf_flow_keys, &f->cfg);
    f->cfg.size_bytes = small ? s->bytes / SMALL : s->bytes;
    f->cfg.path_mtu = s->mtu;
}

static void describe(const struct scenario *s, bool small)
{
    uint32_t n;

    fat_tree(s->k);
    n = desc.n_hosts;
    desc.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, n);
    if (s->pattern == INCAST)
        for (uint32_t i = 1; i <= INCAST_SENDERS; i++)
            flow(i * (n / (INCAST_SENDERS + 1)), 0, s, small);
    else
        for (uint32_t h = 0; h < n; h++)
            flow(h, (h + (s->pattern == RING ? 1 : n / 2 + 3)) % n, s, small);
}

static long faults(void)
{
    struct rusage u;

    getrusage(RUSAGE_THREAD, &u);
    return u.ru_minflt;
}

static int measure(struct wf_fabric *f, uint64_t setup_ns, bool wall)
{
    uint64_t start, ns, hops, want = 0, start_ns = wf_wall_ns();
    long first = faults();
    struct wf_err err;
    struct wf_run r;

    if (wf_run_init(&r, f))
        return 3;
    start = wfb_cpu_ns();
    if (wf_run_loop(&r) != WF_RUN_DONE)
        return 4;
    ns = wfb_cpu_ns() - start;
    start_ns = wf_wall_ns() - start_ns;
    first = faults() - first;
    wf_fabric_settle(f);
    for (uint32_t i = 0; i < desc.n_flows; i++)
        want += desc.flows[i].cfg.size_bytes;
    if (wfb_delivered(f) != want || wf_fabric_check(f, &err)) {
        fprintf(stderr, "bench_engine: %llu of %llu bytes\n", (unsigned long long)wfb_delivered(f),
                (unsigned long long)want);
        return 4;
    }
    hops = wf_fabric_ctr(f, WF_FABRIC_LINK_HOPS);
    printf("link_hops %llu\nevents_per_hop %.3f\nsetup_cpu_s %.4f\nrun_cpu_s %.4f\n"
           "page_faults_in_run %ld\nsimulated_us %.3f\n",
           (unsigned long long)hops, (double)wf_fabric_events(f) / (double)hops,
           (double)setup_ns / 1e9, (double)ns / 1e9, first,
           (double)wf_fabric_last_event_ps(f) / 1e6);
    if (wall)
        printf("lcores %u\ndigest %016llx\n", f->n_lcs, (unsigned long long)wf_fabric_digest(f).h);
    printf("figure %.2f\n", wall ? (double)start_ns / 1e6 : (double)ns / (double)hops);
    wf_run_fini(&r);
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "", *small = getenv("WEFT_BENCH_SMALL");
    struct wf_fabric_opts opts = {.lcores = argc > 2 ? (uint32_t)atoi(argv[2]) : 1};
    const struct scenario *s = NULL;
    struct wf_fabric *f;
    struct wf_err err;
    uint64_t start;
    int rc;

    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        if (!strcmp(scenarios[i].name, name))
            s = &scenarios[i];
    if (!s) {
        fprintf(stderr,
                "usage: bench_engine NAME [LCORES], a row of the table in bench_engine.c\n");
        return 2;
    }
    wfb_eal(1024, argc > 2);
    start = wfb_cpu_ns();
    describe(s, small && !strcmp(small, "1"));
    if (wf_fabric_build(&f, &desc, &opts, &err)) {
        fprintf(stderr, "bench_engine: %s\n", err.msg);
        return 3;
    }
    rc = measure(f, wfb_cpu_ns() - start, argc > 2);
    wf_fabric_free(f);
    wf_arena_free(&arena);
    return rc;
}
