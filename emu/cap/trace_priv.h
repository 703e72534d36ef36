/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of traces share. */
#ifndef WEFT_CAP_TRACE_PRIV_H
#define WEFT_CAP_TRACE_PRIV_H

#include "cap/recorder.h"
#include "cap/trace.h"
#include "eth/pfc.h"

/* What a record says. */
enum wf_row_kind {
    WF_ROW_CHANGE, /* a: the value from now on; no row when it is the last row's */
    WF_ROW_ALWAYS, /* the same, with a row in any case */
    WF_ROW_HOLD,   /* 1 from a until b, as far as is known now */
    WF_ROW_PLAN,   /* within the writer: a is the value, unless the hold changed since */
};
struct wf_row {
    uint64_t a, b;
    uint32_t kind; /* enum wf_row_kind */
    uint32_t generation;
};

/* What the writer knows of a series. */
struct wf_trace_csv_series {
    const char *object, *name;
    uint64_t last; /* value of its last row */
    uint32_t generation;
    bool begun;
};

struct wf_trace_csv;

int wf_trace_csv_open(struct wf_trace_csv **out, const char *path, const char *comment,
                      struct wf_err *err);
/* The series by their keys. Before the first row. */
void wf_trace_csv_series(struct wf_trace_csv *c, struct wf_trace_csv_series *series);
/* A record of series `key`, in the order of (time, key). */
void wf_trace_csv_row(struct wf_trace_csv *c, struct wf_recorder *rec, uint64_t t_ps, uint64_t key,
                      const struct wf_row *row);
/* Hand over what is complete; all: also the row that a record of this instant could still change.
 */
void wf_trace_csv_flush(struct wf_trace_csv *c, bool all);
bool wf_trace_csv_take_error(struct wf_trace_csv *c, struct wf_err *err);
uint64_t wf_trace_csv_rows(const struct wf_trace_csv *c, uint64_t *lost);
void wf_trace_csv_close(struct wf_trace_csv *c); /* may be NULL */

struct wf_trace_file {
    struct wf_trace_file *next;
    const char *path;
    struct wf_trace_csv *csv;
    struct wf_recorder *rec;
    struct wf_trace_csv_series *series;
    uint32_t n;
};

/* A series, and where its value is. */
struct wf_trace_one {
    struct wf_trace_one *next;
    const char *object, *name;
    struct wf_series def;
    struct wf_trace_file *file;
    uint32_t key; /* in its file */
    const struct wf_trace_cfg *cfg;
    struct wf_node *node; /* whose events change it; NULL: the whole fabric's */
    struct wf_port *port; /* NULL: no port's */
    const uint64_t *value;
    const struct wf_pfc_port *pfc; /* of a pause */
    unsigned prio;
    uint64_t base, seen, seen_until; /* rates: at the interval's begin and end; as last told */
};

/* The series of one entry that are sampled together. */
struct wf_sampler {
    struct wf_stops stops; /* first */
    struct wf_sampler *next;
    struct wf_traces *set;
    const struct wf_trace_cfg *cfg;
    struct wf_trace_one **v;
    uint32_t n;
    uint64_t from_ps, last_ps; /* the last interval */
    bool whole;                /* the fabric's own counters are among them */
};

/* The series of one node that are told on change: counters, which are many, lie side by side; then
 * pauses. */
struct wf_trace_spot {
    const uint64_t *value;
    uint64_t seen;
    struct wf_trace_one *one;
};
struct wf_trace_group {
    struct wf_trace_spot *spots;
    struct wf_trace_one **pauses;
    uint32_t n_spots, n_pauses;
};

/* Whom an event of this entity may have changed: itself, or with an arrival its peer. */
struct wf_concerned {
    struct wf_trace_group *own, *peer;
};

struct wf_traces {
    struct wf_watch watch; /* first */
    struct wf_traces_conf conf;
    struct wf_arena arena;
    struct wf_trace_file *files, **last_file;
    struct wf_trace_one *all, **last;
    uint32_t n;
    struct wf_sampler *samplers;
    struct wf_trace_group *groups; /* by node */
    struct wf_concerned *by_entity;
    bool watching;
    struct wf_stops behind; /* what others than events changed: looked at behind them */
    struct wf_poller poller;
    struct wf_run *run;
    uint32_t at_node; /* where the last object's node was found */
};

/* A record of the series for its file. */
void wf_trace_put(const struct wf_traces *t, const struct wf_trace_one *o, uint64_t t_ps,
                  enum wf_row_kind kind, uint64_t a, uint64_t b);
/* The value as it is; before: as it was before the events of this instant. */
uint64_t wf_trace_value(const struct wf_trace_one *o, uint64_t now, bool before);
void wf_trace_start_sampler(struct wf_traces *t, struct wf_sampler *s);
void wf_trace_sample(struct wf_sampler *s, struct wf_fabric *f, bool before);
/* The groups of nodes; sets t->watching when there is anything to watch. */
void wf_trace_fill_groups(struct wf_traces *t);
void wf_trace_watch(struct wf_traces *t, struct wf_run *run);
void wf_trace_check_all(const struct wf_traces *t, const struct wf_fabric *f);

#endif
