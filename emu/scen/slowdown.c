/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/slowdown.h"

#include <math.h>
#include <stdlib.h>

#include "cap/json.h"
#include "host/host.h"
#include "scen/scen_priv.h"
#include "scen/stats.h"

enum { FLOWS_TOLD = 10 };

const double wf_slow_ranks[WF_SLOW_RANKS] = {50, 95, 99, 99.9};

static const uint64_t limits[WF_SLOW_BUCKETS] = {1000,    10000,    100000,
                                                 1000000, 10000000, UINT64_MAX};

unsigned wf_slow_bucket(uint64_t bytes)
{
    unsigned b = 0;

    while (bytes > limits[b])
        b++;
    return b;
}

uint64_t wf_slow_limit(unsigned bucket)
{
    return limits[bucket];
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The slowdowns of a workload's judged flows in one bucket, or in all; returns how many. */
static uint32_t collect(const struct wf_fabric *f, const struct wf_scen_work *w, int bucket,
                        double *v)
{
    uint32_t n = 0;

    for (uint32_t i = w->first_flow; i < w->first_flow + w->n_flows; i++) {
        const struct wf_flow_cfg *c = &f->desc->flows[i].cfg;
        const uint64_t *ctr = wf_host_flow_ctr(f->flows[i]);
        uint64_t t = ctr[WF_FLOW_COMPLETION_PS], ideal = ctr[WF_FLOW_IDEAL_PS];

        if (c->unjudged || !ideal ||
            (bucket >= 0 && wf_slow_bucket(c->size_bytes * c->count) != (unsigned)bucket))
            continue;
        v[n++] = t ? (double)t / (double)ideal : INFINITY;
    }
    return n;
}

static void sum_up(struct wf_slow_row *r, double *v, uint32_t n)
{
    double sum = 0;

    qsort(v, n, sizeof(*v), by_value);
    r->flows = n;
    for (; r->completed < n && isfinite(v[r->completed]); r->completed++)
        sum += v[r->completed];
    r->mean = r->completed ? sum / r->completed : NAN;
    for (unsigned i = 0; i < WF_SLOW_RANKS; i++)
        r->ranks[i] = wf_stats_rank(v, n, wf_slow_ranks[i]);
    r->max = v[n - 1];
}

uint32_t wf_slow_rows(const struct wf_scenario *s, const struct wf_fabric *f,
                      struct wf_arena *arena, struct wf_slow_row **out)
{
    double *v = WF_ARENA_ARRAY(arena, double, f->desc->n_flows + 1);
    uint32_t n = 0;

    *out = WF_ARENA_ARRAY(arena, struct wf_slow_row, s->n_work * (WF_SLOW_BUCKETS + 1) + 1);
    for (uint32_t k = 0; k < s->n_work; k++)
        for (int b = -1; b < WF_SLOW_BUCKETS; b++) {
            uint32_t flows = collect(f, &s->work[k], b, v);

            if (!flows)
                continue;
            (*out)[n] = (struct wf_slow_row){.work = s->work[k].name, .bucket = b};
            sum_up(&(*out)[n++], v, flows);
        }
    return n;
}

static void put(double v, FILE *out)
{
    if (isfinite(v))
        fprintf(out, " %8.4g", v);
    else
        fprintf(out, " %8s", isnan(v) ? "-" : "never");
}

static void text_row(const struct wf_slow_row *r, FILE *out)
{
    char b[32], size[48];

    if (r->bucket < 0)
        snprintf(size, sizeof(size), "all");
    else if (limits[r->bucket] == UINT64_MAX)
        snprintf(size, sizeof(size), "above");
    else
        snprintf(size, sizeof(size), "up to %s", wf_bytes_text(limits[r->bucket], b, sizeof(b)));
    fprintf(out, "  %-14s %-12s %8u %8u", r->bucket < 0 ? r->work : "", size, r->flows,
            r->completed);
    put(r->mean, out);
    for (unsigned i = 0; i < WF_SLOW_RANKS; i++)
        put(r->ranks[i], out);
    put(r->max, out);
    fputc('\n', out);
}

void wf_slow_text(const struct wf_scenario *s, const struct wf_fabric *f, FILE *out)
{
    struct wf_arena arena = {0};
    struct wf_slow_row *rows;
    uint32_t n = wf_slow_rows(s, f, &arena, &rows), unjudged = 0;
    bool told = false, wanted = false;

    for (uint32_t i = 0; i < n; i++) {
        if (rows[i].bucket < 0)
            wanted = rows[i].flows >= FLOWS_TOLD;
        if (!wanted)
            continue;
        if (!told)
            fprintf(
                out,
                "\n  slowdown: completion time over the ideal one of the flow's own path, where "
                "nobody else is\n  %-14s %-12s %8s %8s %8s %8s %8s %8s %8s %8s\n",
                "workload", "size", "flows", "done", "mean", "p50", "p95", "p99", "p99.9", "max");
        told = true;
        text_row(&rows[i], out);
    }
    for (uint32_t i = 0; i < f->desc->n_flows; i++)
        unjudged += f->desc->flows[i].cfg.unjudged;
    if (unjudged)
        fprintf(out, "  %u flows of warm-up and after cut-off are not judged\n", unjudged);
    wf_arena_free(&arena);
}

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *wf_slow_json(const struct wf_scenario *s, const struct wf_fabric *f)
{
    static const char *const names[] = {"p50", "p95", "p99", "p99_9"};
    struct wf_arena arena = {0};
    struct wf_slow_row *rows;
    uint32_t n = wf_slow_rows(s, f, &arena, &rows);
    json_t *list = json_array();

    for (uint32_t i = 0; i < n; i++) {
        const struct wf_slow_row *r = &rows[i];
        json_t *j = json_pack("{s:s, s:i, s:i, s:o, s:o}", "workload", r->work, "flows",
                              (int)r->flows, "completed", (int)r->completed, "mean",
                              number(r->mean), "max", number(r->max));

        if (r->bucket >= 0)
            json_object_set_new(j, "size_above_bytes",
                                wf_json_u64(r->bucket ? limits[r->bucket - 1] : 0));
        if (r->bucket >= 0 && limits[r->bucket] != UINT64_MAX)
            json_object_set_new(j, "size_max_bytes", wf_json_u64(limits[r->bucket]));
        for (unsigned k = 0; k < WF_SLOW_RANKS; k++)
            json_object_set_new(j, names[k], number(r->ranks[k]));
        json_array_append_new(list, j);
    }
    wf_arena_free(&arena);
    return list;
}
