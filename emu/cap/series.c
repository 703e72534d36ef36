/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of series, and the keys of `trace:`. See series.h. */
#include "cap/series.h"

#include <string.h>

#define ROW(field) offsetof(struct wf_trace_cfg, field)

static const char *const on_names[] = {"sample", "change", NULL};

static const struct wf_key trace_rows[] = {
    {"at", WF_KEY_NAMES, ROW(at), NULL,
     .doc = "Objects, by name or pattern: ports \"leaf0:p*\", queues \"leaf*:p0.q3\", priorities "
            "\"h0:p0.prio3\", priority groups \"leaf0:p[1-4].pg3\", flows \"flow.*\", attached "
            "hosts \"h0\", and \"fabric\"."},
    {"what", WF_KEY_NAMES, ROW(what), NULL,
     .doc = "Series of those objects that have them: any counter, queue_bytes, pg_bytes, "
            "ecn_marked_frames ...; rates, tx_bps of tx_bytes, tx_frames_per_s; of a priority "
            "paused and pausing, 1 from the begin to the end of a pause received or sent."},
    {"on", WF_KEY_ENUM, ROW(on), "sample", .names = on_names,
     .doc = "A row at each sample, or one for each change with its time."},
    {"every", WF_KEY_TIME, ROW(every_ps), "auto", 1000, 0, .may_auto = true,
     .doc = "Time between two samples; needed with on: sample."},
    {"file", WF_KEY_STRING, ROW(file), NULL,
     .doc = "CSV file to write, a fifo, or \"-\" for standard output; entries may share one."},
};

const struct wf_keyset wf_trace_keys = {
    .name = "trace",
    .doc = "Values over time, and into which file.",
    .keys = trace_rows,
    .n_keys = sizeof(trace_rows) / sizeof(trace_rows[0]),
    .size = sizeof(struct wf_trace_cfg),
};

static bool ends(const char *name, const char *end, size_t *stem)
{
    size_t n = strlen(name), m = strlen(end);

    *stem = n - m;
    return n > m && !strcmp(name + n - m, end);
}

/* The row whose name is stem + end; of the kind `kind` when that is not 0. */
static bool find_row(const struct wf_ctr_table *t, const char *name, size_t stem, const char *end,
                     size_t *row)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *r = t->rows[i].name;

        if (r && strlen(r) == stem + strlen(end) && !strncmp(r, name, stem) &&
            !strcmp(r + stem, end)) {
            *row = i;
            return true;
        }
    }
    return false;
}

static bool is_time(const struct wf_ctr_desc *d)
{
    size_t stem;

    return ends(d->name, "_ps", &stem);
}

static bool has_rate(const struct wf_ctr_desc *d)
{
    return d->name && d->kind == 'C' && !is_time(d);
}

bool wf_series_find(const struct wf_ctr_table *t, const char *name, struct wf_series *out)
{
    size_t stem;

    *out = (struct wf_series){.scale = 1};
    if (find_row(t, name, strlen(name), "", &out->row))
        return true;
    out->kind = WF_SERIES_RATE;
    if (ends(name, "_bps", &stem) && find_row(t, name, stem, "_bytes", &out->row)) {
        out->scale = 8;
        return has_rate(&t->rows[out->row]);
    }
    if (ends(name, "_per_s", &stem) && find_row(t, name, stem, "", &out->row)) {
        size_t bytes;

        return has_rate(&t->rows[out->row]) && !ends(t->rows[out->row].name, "_bytes", &bytes);
    }
    if (t != &wf_ctrs_prio)
        return false;
    out->kind = !strcmp(name, "paused") ? WF_SERIES_PAUSED : WF_SERIES_PAUSING;
    return out->kind == WF_SERIES_PAUSED || !strcmp(name, "pausing");
}

const char *wf_series_only_sampled(const struct wf_ctr_table *t, const struct wf_series *s)
{
    if (s->kind == WF_SERIES_RATE)
        return "a rate is over an interval";
    if (s->kind != WF_SERIES_VALUE)
        return NULL;
    if (t == &wf_ctrs_flow || t == &wf_ctrs_fabric)
        return "counters of flows and of the whole fabric are put together when they are sampled";
    if (is_time(&t->rows[s->row]) && t->rows[s->row].kind == 'C')
        return "it grows with time itself";
    return NULL;
}

static void add(const char **names, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(names[i], name))
            return;
    names[(*n)++] = name;
}

size_t wf_series_names(struct wf_arena *a, const char ***out)
{
    size_t most = 2, n = 0, stem;

    for (size_t t = 0; wf_ctr_tables[t]; t++)
        most += 2 * wf_ctr_tables[t]->n;
    *out = WF_ARENA_ARRAY(a, const char *, most);
    for (size_t t = 0; wf_ctr_tables[t]; t++)
        for (size_t i = 0; i < wf_ctr_tables[t]->n; i++) {
            const struct wf_ctr_desc *d = &wf_ctr_tables[t]->rows[i];

            if (d->name)
                add(*out, &n, d->name);
            if (has_rate(d) && ends(d->name, "_bytes", &stem))
                add(*out, &n, wf_arena_printf(a, "%.*s_bps", (int)stem, d->name));
            else if (has_rate(d))
                add(*out, &n, wf_arena_printf(a, "%s_per_s", d->name));
        }
    add(*out, &n, "paused");
    add(*out, &n, "pausing");
    return n;
}
