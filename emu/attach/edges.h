/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All attachments of a live fabric. Order of use: wf_edges_init; wf_edges_opts into the options of
 * wf_fabric_build; wf_edges_open; its poller into the run; wf_edges_close before wf_fabric_free.
 * A recorded run has no devices: wf_edges_repeat instead of wf_edges_open, and no poller.
 */
#ifndef WEFT_ATTACH_EDGES_H
#define WEFT_ATTACH_EDGES_H

#include "attach/edge.h"
#include "fabric/run.h"
#include "fabric/stimulus.h"

struct wf_flap;

struct wf_edges {
    struct wf_poller poller; /* first */
    struct wf_fabric *f;
    struct wf_edge *edges[64];
    uint32_t n;
    const char *run_dir; /* for sockets without a path; may be NULL */
    /* What the user should know: a peer came or went, an MTU that does not fit. May be NULL. */
    void (*say)(void *arg, const char *text);
    void *arg;
    bool opening;                 /* the state in which the run begins is no event of it */
    struct wf_stimulus_sink *log; /* all that comes from outside is told to it; NULL: nobody */
    uint64_t interval_ns, due_ns, look_ns;
    struct wf_flap *flaps; /* flap.h */
};

enum { WF_EDGES_MAX = 64 };

void wf_edges_init(struct wf_edges *es, const char *run_dir,
                   void (*say)(void *arg, const char *text), void *arg);
/* Hosts with an attachment become edges; the frames that they need are added. */
void wf_edges_opts(struct wf_edges *es, const struct wf_desc *d, struct wf_fabric_opts *opts);
/* The fabric is there: what acts by command may. Before wf_edges_open, which does it too. */
void wf_edges_bind(struct wf_edges *es, struct wf_fabric *f);
/* Plug in all devices. On an error none is left behind. */
int wf_edges_open(struct wf_edges *es, struct wf_fabric *f, struct wf_err *err);
/* Instead of devices a recording: edges act only by wf_ingress_repeat. */
int wf_edges_repeat(struct wf_edges *es, struct wf_fabric *f, struct wf_err *err);
void wf_edges_close(struct wf_edges *es);
/* The edge of a host, or NULL. */
struct wf_edge *wf_edges_find(struct wf_edges *es, const char *host);
void wf_edges_say(struct wf_edges *es, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
