/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/tidy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "scen/csv.h"
#include "scen/stats.h"

enum fold { SUM, MAX };

/* A metric that folds one counter over the holders of one list. */
static const struct {
    const char *name, *list, *counter;
    enum fold fold;
    const char *meaning;
} folds[] = {
    {"delivered_bytes", "flows", "delivered_bytes", SUM, "payload placed in order, all flows"},
    {"retransmitted_packets", "flows", "retransmitted_packets", SUM, "data packets sent again"},
    {"timeouts", "flows", "timeouts", SUM, "local ACK timeouts"},
    {"naks", "flows", "naks_received", SUM, "PSN sequence NAKs"},
    {"ce_packets", "flows", "ce_received_packets", SUM, "data packets that came with CE"},
    {"ecn_marked_frames", "queues", "ecn_marked_frames", SUM, "frames marked in all queues"},
    {"queue_max_bytes", "queues", "queue_max_bytes", MAX, "longest that any queue has been"},
    {"pfc_xoff_frames", "priorities", "pfc_xoff_tx_frames", SUM, "XOFFs sent by all ports"},
    {"paused_ps", "priorities", "paused_ps", SUM, "time that priorities were stopped, all ports"},
    {"drop_frames", "drops", "frames", SUM, "frames dropped, all reasons"},
};

static const struct {
    const char *name, *meaning;
} others[] = {
    {"last_event_ps", "when the last thing happened"},
    {"flows", "flows of the workload that are judged"},
    {"flows_completed", "flows that have completed"},
    {"completion_mean_ps", "completion time of the flows that completed: mean"},
    {"completion_p50_ps", "its median, by nearest rank"},
    {"completion_p99_ps", "its 99th percentile"},
    {"completion_max_ps", "the longest"},
    {"slowdown_mean", "completion time over ideal time of the path: mean"},
    {"slowdown_p50", "its median"},
    {"slowdown_p99", "its 99th percentile"},
    {"slowdown_max", "the largest"},
    {"goodput_bps", "delivered payload by the time from the first start to the last completion"},
    {"link_hop_frames", "frames that crossed a link"},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
_Static_assert(COUNT(folds) + COUNT(others) <= WF_TIDY_METRICS_MAX, "room for all metrics");

double wf_tidy_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);

    if (json_is_string(v))
        return (double)strtoull(json_string_value(v), NULL, 10);
    return json_is_number(v) ? json_number_value(v) : 0;
}

const char *wf_tidy_meaning(const char *metric)
{
    for (size_t i = 0; i < COUNT(folds); i++)
        if (!strcmp(folds[i].name, metric))
            return folds[i].meaning;
    for (size_t i = 0; i < COUNT(others); i++)
        if (!strcmp(others[i].name, metric))
            return others[i].meaning;
    return NULL;
}

static double fold(const json_t *list, const char *counter, enum fold how)
{
    double v = 0;
    const json_t *o;
    size_t i;

    json_array_foreach (list, i, o) {
        double x = wf_tidy_number(o, counter);

        v = how == SUM ? v + x : fmax(v, x);
    }
    return v;
}

/* Where metrics go. */
struct sink {
    struct wf_tidy_metric *out;
    size_t n;
};

static void put(struct sink *s, const char *name, double v)
{
    WF_ASSERT(s->n < WF_TIDY_METRICS_MAX);
    s->out[s->n++] = (struct wf_tidy_metric){name, v};
}

/* mean, p50, p99, max under four names that follow one another in `others`. */
static void spread(struct sink *s, size_t first, double *v, size_t n)
{
    struct wf_stats st;

    if (!n)
        return;
    wf_stats(v, n, &st);
    put(s, others[first].name, st.mean);
    put(s, others[first + 1].name, wf_stats_rank(v, n, 50));
    put(s, others[first + 2].name, wf_stats_rank(v, n, 99));
    put(s, others[first + 3].name, st.max);
}

bool wf_tidy_judged(const json_t *flow)
{
    return !json_is_false(json_object_get(flow, "judged"));
}

static void flow_metrics(struct sink *s, const json_t *flows)
{
    size_t n = json_array_size(flows), done = 0, i;
    double *times = calloc(n + 1, sizeof(*times)), *slow = calloc(n + 1, sizeof(*slow));
    double first = INFINITY, last = 0;
    size_t slows = 0, judged = 0;
    const json_t *f;

    WF_ASSERT(times && slow);
    json_array_foreach (flows, i, f) {
        double t = wf_tidy_number(f, "completion_ps"), ideal = wf_tidy_number(f, "ideal_ps");
        double start = wf_tidy_number(f, "start_ps");

        first = fmin(first, start);
        if (t)
            last = fmax(last, start + t);
        if (!wf_tidy_judged(f))
            continue;
        judged++;
        if (!t)
            continue;
        times[done++] = t;
        if (ideal)
            slow[slows++] = t / ideal;
    }
    put(s, "flows", (double)judged);
    put(s, "flows_completed", (double)done);
    spread(s, 3, times, done);
    spread(s, 7, slow, slows);
    if (done)
        put(s, "goodput_bps", fold(flows, "delivered_bytes", SUM) * 8e12 / (last - first));
    free(times);
    free(slow);
}

size_t wf_tidy_metrics(const json_t *run, struct wf_tidy_metric *out)
{
    struct sink s = {.out = out};

    put(&s, "last_event_ps", wf_tidy_number(run, "last_event_ps"));
    flow_metrics(&s, json_object_get(run, "flows"));
    put(&s, "link_hop_frames", wf_tidy_number(json_object_get(run, "fabric"), "link_hop_frames"));
    for (size_t i = 0; i < COUNT(folds); i++)
        put(&s, folds[i].name,
            fold(json_object_get(run, folds[i].list), folds[i].counter, folds[i].fold));
    return s.n;
}

static const char *const flow_cells[] = {
    "posted_bytes", "posted_messages",       "start_ps",           "completion_ps",
    "ideal_ps",     "retransmitted_packets", "ce_received_packets"};

void wf_tidy_flow_header(FILE *out)
{
    fputs(",flow,size_bytes,messages,start_ps,completion_ps,ideal_ps,retransmitted_packets,"
          "ce_packets,slowdown",
          out);
}

void wf_tidy_flow(const json_t *flow, FILE *out)
{
    const char *name = json_string_value(json_object_get(flow, "name"));
    double t = wf_tidy_number(flow, "completion_ps"), ideal = wf_tidy_number(flow, "ideal_ps");

    fputc(',', out);
    wf_csv_put(out, name ? name : "");
    for (size_t i = 0; i < COUNT(flow_cells); i++) {
        double v = wf_tidy_number(flow, flow_cells[i]);
        bool never =
            !v && (!strcmp(flow_cells[i], "completion_ps") || !strcmp(flow_cells[i], "ideal_ps"));

        fputc(',', out);
        wf_csv_put_number(out, never ? NAN : v);
    }
    fputc(',', out);
    wf_csv_put_number(out, t && ideal ? t / ideal : NAN);
}
