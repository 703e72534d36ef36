/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the switches' features cost: the same workload through scenarios that differ in what their
 * switches do, in turns within one process, virtual time, one core. The first is the measure: for
 * each scenario the CPU time of its runs per link-hop, and "figure" is the last one's in percent of
 * the first one's. The scenarios' own expectations are not asked; that all flows deliver all is.
 *   bench_switch PLAIN.yaml OTHER.yaml...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cap/why_log.h"
#include "fabric/run.h"
#include "scen/scenario.h"
#include "scen/why.h"

#include "setup.h"

enum { ROUNDS = 5, SCENARIOS_MAX = 4 };

struct subject {
    struct wf_scenario scen;
    const char *path;
    uint64_t best_ns, hops, want;
};

static void load(struct subject *s, const char *path)
{
    s->path = path;
    s->best_ns = UINT64_MAX;
    if (wf_scenario_load(&s->scen, path)) {
        wf_diags_print(&s->scen.diags, stderr);
        exit(2);
    }
    for (uint32_t i = 0; i < s->scen.desc.n_flows; i++)
        s->want += s->scen.desc.flows[i].cfg.size_bytes;
}

/* What the scenario says of weft why; NULL: nothing. */
static struct wf_why_log *record(struct subject *s, struct wf_fabric *f)
{
    struct wf_why_log_conf conf = {.f = f};
    struct wf_why_log *log = NULL;
    struct wf_err err;

    if (s->scen.why && wf_scenario_why(&s->scen, &f->arena, &conf, &log, &err)) {
        fprintf(stderr, "bench_switch: %s: %s\n", s->path, err.msg);
        exit(3);
    }
    return log;
}

static void one_run(struct subject *s)
{
    struct wf_fabric_opts opts = {0};
    struct wf_why_log *log;
    struct wf_fabric *f;
    struct wf_err err;
    struct wf_run r;
    uint64_t ns;

    if (wf_fabric_build(&f, &s->scen.desc, &opts, &err) || wf_run_init(&r, f)) {
        fprintf(stderr, "bench_switch: %s: %s\n", s->path, err.msg);
        exit(3);
    }
    log = record(s, f);
    ns = wfb_cpu_ns();
    if (wf_run_loop(&r) != WF_RUN_DONE)
        exit(4);
    ns = wfb_cpu_ns() - ns;
    wf_fabric_settle(f);
    if (wfb_delivered(f) != s->want || wf_fabric_check(f, &err)) {
        fprintf(stderr, "bench_switch: %s: %llu of %llu bytes\n", s->path,
                (unsigned long long)wfb_delivered(f), (unsigned long long)s->want);
        exit(4);
    }
    if (ns < s->best_ns)
        s->best_ns = ns;
    s->hops = wf_fabric_ctr(f, WF_FABRIC_LINK_HOPS);
    wf_run_fini(&r);
    wf_why_log_free(log);
    wf_fabric_free(f);
}

static double per_hop(const struct subject *s)
{
    return (double)s->best_ns / (double)s->hops;
}

int main(int argc, char **argv)
{
    static struct subject subjects[SCENARIOS_MAX];
    int n = argc - 1;

    if (n < 2 || n > SCENARIOS_MAX) {
        fprintf(stderr, "usage: bench_switch PLAIN.yaml OTHER.yaml...\n");
        return 2;
    }
    for (int i = 0; i < n; i++)
        load(&subjects[i], argv[i + 1]);
    wfb_eal(1024, false);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < n; i++)
            one_run(&subjects[i]);
    for (int i = 0; i < n; i++) {
        printf("%s: %.1f ns/link-hop, %llu link-hops, %.1f %% of the first\n", subjects[i].path,
               per_hop(&subjects[i]), (unsigned long long)subjects[i].hops,
               100 * per_hop(&subjects[i]) / per_hop(&subjects[0]));
    }
    printf("figure %.1f\n", 100 * per_hop(&subjects[n - 1]) / per_hop(&subjects[0]));
    for (int i = 0; i < n; i++)
        wf_scenario_free(&subjects[i].scen);
    return 0;
}
