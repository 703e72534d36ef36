/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trace costs: a permutation of 128 hosts on a k=8 fat tree, run without and with one by
 * turns in the same process. CPU time is the whole process's, so the thread that writes counts; the
 * file is /dev/null. Prints "figure PERCENT" of the CPU time without it.
 *   bench_trace one|queues|rates|off
 *     one     the bytes of one queue, on change
 *     queues  the bytes of all 640 queues of a priority, on change
 *     rates   what each of the 640 queues sends, every 10 us
 *     off     no trace, against no trace: how far the figure can be trusted
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cap/trace.h"

#include "setup.h"

enum { K = 8, FLOW_BYTES = 1000000, ROUNDS = 5 };

static struct wf_arena arena;
static struct wf_desc desc;

static void describe(void)
{
    struct wf_fat_tree t = {.k = K, .pods = K, .hosts_per_edge = K / 2};
    uint32_t hosts = K * K * K / 4;

    desc = wfb_desc;
    wf_desc_fat_tree(&desc, &arena, &t);
    wf_desc_address(&desc, &arena);
    desc.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, hosts);
    for (uint32_t h = 0; h < hosts; h++) {
        struct wf_desc_flow *f = &desc.flows[desc.n_flows++];

        f->name = wf_arena_printf(&arena, "f%u", h);
        f->from = h;
        f->to = (h + hosts / 2 + 3) % hosts;
        wf_keyset_defaults(&wf_flow_keys, &f->cfg);
        f->cfg.size_bytes = FLOW_BYTES;
    }
}

static struct wf_traces *trace(struct wf_fabric *f, struct wf_run *r,
                               const struct wf_trace_cfg *cfg, const char *series, unsigned most)
{
    const struct wf_traces_conf conf = {.f = f};
    struct wf_ctr_walk w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_queue));
    struct wf_traces *t;
    struct wf_err err;

    if (wf_traces_new(&t, &conf, &err))
        exit(3);
    while (most && wf_ctr_next(&w)) {
        if (w.index != 3)
            continue;
        most--;
        if (wf_traces_add(t, cfg, &w, series, &err))
            exit(3);
    }
    if (wf_traces_start(t, r, &err))
        exit(3);
    return t;
}

static double cpu_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double one_run(const struct wf_trace_cfg *cfg, const char *series, unsigned most)
{
    struct wf_fabric_opts opts = {0};
    struct wf_traces *t = NULL;
    struct wf_fabric *f;
    struct wf_err err;
    struct wf_run r;
    double start;

    if (wf_fabric_build(&f, &desc, &opts, &err) || wf_run_init(&r, f))
        exit(3);
    start = cpu_s();
    if (most)
        t = trace(f, &r, cfg, series, most);
    if (wf_run_loop(&r) != WF_RUN_DONE)
        exit(4);
    if (t) {
        wf_traces_stop(t);
        printf("rows %llu\n", (unsigned long long)wf_traces_totals(t).rows);
        wf_traces_free(t);
    }
    start = cpu_s() - start;
    wf_run_fini(&r);
    wf_fabric_free(f);
    return start;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool rates = !strcmp(what, "rates");
    struct wf_trace_cfg cfg = {.on = rates ? WF_TRACE_SAMPLE : WF_TRACE_CHANGE,
                               .every_ps = 10 * WF_PS_PER_US,
                               .file = "/dev/null"};
    unsigned most = !strcmp(what, "one") ? 1 : !strcmp(what, "off") ? 0 : 100000;
    double off = 0, on = 0;

    if (most == 100000 && !rates && strcmp(what, "queues") != 0) {
        fprintf(stderr, "usage: bench_trace one|queues|rates|off\n");
        return 2;
    }
    wfb_eal(1024, false);
    describe();
    for (int i = 0; i < ROUNDS; i++) {
        off += one_run(NULL, NULL, 0);
        on += one_run(&cfg, rates ? "tx_bps" : "queue_bytes", most);
    }
    wf_arena_free(&arena);
    printf("off_s %.3f\non_s %.3f\nfigure %.1f\n", off, on, 100 * on / off);
    return 0;
}
