/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The record of decisions (net/why.h) of a run, as a file for `weft why`: a line of JSON that says
 * what it is of (weft.why/1: seed, scenario, flows with their queue pairs and first PSNs), then one
 * line a decision, in the order of time, at one instant of nodes, and of one node as they were
 * taken. The last `last` of them are kept, in memory, and written at the end of the run. They go
 * through a recorder (recorder.h), so the file does not depend on the number of lcores.
 */
#ifndef WEFT_CAP_WHY_LOG_H
#define WEFT_CAP_WHY_LOG_H

#include "base/key.h"
#include "fabric/fabric.h"
#include "net/why.h"

struct wf_why_cfg {
    struct wf_names at;    /* patterns of ports */
    struct wf_names flows; /* patterns of flows; none: every packet */
    uint32_t last;
    const char *file;
};

extern const struct wf_keyset wf_why_keys;

/* A flow, as the file names it. */
struct wf_why_flow {
    const char *name, *from, *to;
    uint32_t hash, dqpn, first_psn;
};

struct wf_why_log_conf {
    struct wf_fabric *f;
    bool live; /* never wait for memory: count what is lost */
    const char *scenario;
    uint32_t last;                   /* decisions kept */
    const uint8_t *ports;            /* bit by entity: which are recorded */
    const struct wf_why_flow *flows; /* all of the run */
    uint32_t n_flows;
    const uint32_t *hashes; /* ascending, of those whose packets are recorded; NULL: all packets */
    uint32_t n_hashes;
    size_t ring_bytes; /* as in recorder.h */
    uint64_t (*published_ps)(void *arg, unsigned lcore);
    void *published_arg;
};

struct wf_why_log;

/* Record from now on; what conf points to stays. */
int wf_why_log_new(struct wf_why_log **out, const struct wf_why_log_conf *conf, struct wf_err *err);
/* The run is over: no more is recorded, and the file is written. 0 or -errno and *err. */
int wf_why_log_end(struct wf_why_log *l, const char *path, struct wf_err *err);
/* Decisions that were taken and could not be kept up with (live). */
uint64_t wf_why_log_lost(const struct wf_why_log *l);
void wf_why_log_free(struct wf_why_log *l); /* may be NULL */

/* A record as a line of the file. */
void wf_why_write(const struct wf_fabric *f, const struct wf_why_rec *r, FILE *out);

#endif
