/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ingress log: all that reached a live fabric from outside, as a pcapng file that Wireshark
 * opens. Frames are packets, each attached host is an interface; the rest are custom blocks
 * ("weft" behind the enterprise number of RFC 5612). The exact instant, in picoseconds, stands in a
 * block before the stimuli that act then; a packet's own time, in nanoseconds, is for people.
 *   begin  version, flags, names of the attached hosts
 *   at     the instant of all that follows
 *   stim   a stimulus that is no frame
 *   lost   so many are missing here
 *   end    the instant at which the run ended; how many stimuli there are in all, and how many lost
 * A log without its end is one of a run that was killed; one with losses repeats nothing. Written
 * by a recorder's thread behind a bounded ring: putting takes no lock, makes no system call, never
 * waits.
 */
#ifndef WEFT_CAP_INGRESS_LOG_H
#define WEFT_CAP_INGRESS_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "fabric/stimulus.h"

enum { WF_INGRESS_LOG_VERSION = 1, WF_INGRESS_LOG_EDGES = 1024 };

struct wf_ingress_log;

struct wf_ingress_log_conf {
    const char *const *edges; /* names of the attached hosts, in the order of their numbers */
    uint32_t n_edges;
    int64_t epoch_s;     /* when fabric time 0 was, in seconds since 1970 */
    bool cut;            /* leave payload bytes out, keep what the ICRC was */
    const char *comment; /* NULL: none */
    size_t ring_bytes;   /* 0: the default */
};

struct wf_ingress_log_sum {
    uint64_t stimuli, frames; /* put */
    uint64_t lost;            /* of the stimuli */
};

int wf_ingress_log_create(struct wf_ingress_log **out, const char *path,
                          const struct wf_ingress_log_conf *conf, struct wf_err *err);
struct wf_stimulus_sink *wf_ingress_log_sink(struct wf_ingress_log *l);
/* True once when the file can't be written any more. */
bool wf_ingress_log_take_error(struct wf_ingress_log *l, struct wf_err *err);
/* The run has ended at this instant. Writes what is left, closes, frees (l may be NULL). -errno
 * and *err when the file is not whole; then it has no end. */
int wf_ingress_log_close(struct wf_ingress_log *l, uint64_t end_ps, struct wf_ingress_log_sum *sum,
                         struct wf_err *err);

/* --- reading ---------------------------------------------------------------------------------- */

struct wf_ingress_reader;

struct wf_ingress_head {
    bool cut;
    uint32_t n_edges;
    const char **edges; /* live as long as the reader */
};

struct wf_ingress_tail {
    bool ended;      /* there is an end */
    uint64_t end_ps; /* without one: of the last stimulus */
    uint64_t stimuli, lost;
};

int wf_ingress_open(struct wf_ingress_reader **out, const char *path, struct wf_err *err);
/* The same for an open stream, which the reader then owns also when it fails. */
int wf_ingress_open_stream(struct wf_ingress_reader **out, FILE *f, const char *name,
                           struct wf_err *err);
const struct wf_ingress_head *wf_ingress_head(const struct wf_ingress_reader *r);
/* 1: *st is the next stimulus, what it points to valid until the next call; 0: the end of the log,
 * or of a killed run's file; -errno and *err: it is no log, or broken. */
int wf_ingress_next(struct wf_ingress_reader *r, struct wf_stimulus *st, struct wf_err *err);
/* What is known after wf_ingress_next has given 0. */
struct wf_ingress_tail wf_ingress_tail(const struct wf_ingress_reader *r);
void wf_ingress_close(struct wf_ingress_reader *r);

#endif
