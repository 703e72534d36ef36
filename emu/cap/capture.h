/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture points: taps at ports of a running fabric that write pcapng files, one interface a port,
 * named as the port is. A packet's comment says what happened to it there, in key=value words:
 *
 *   queue, prio     egress queue, and whom a pause of the receiver stops (802.1p priority)
 *   depth_bytes     bytes ahead of it when it was queued
 *   waited, paused  from queueing to the first bit; of that, how long its class was paused
 *   pg, pg_bytes, pg_limit_bytes, pool_bytes   while decisions are recorded (why_log.h): what the
 *                   switch's buffer held when it came, before it
 *   ecn_bytes, ecn_chance, ecn_draw   likewise: the length that counted for ECN, and the draw
 *   marked=1        the fabric has set CE by then
 *   damaged=1       its FCS is wrong
 *   drop=REASON     it ended here; seen again as a record of its own behind the one of its arrival
 *
 * A record's time is when the port saw the frame: the first bit sent; received, the last bit (at a
 * cut-through switch the end of the headers). Frames have no FCS; a virtual payload is made real,
 * with its right ICRC, unless the snaplen cuts it off.
 *
 * A thread writes the records, in the order of time and, at one instant, of the interfaces (see
 * recorder.h): the file does not depend on how many lcores there are. A slow disk makes a run in
 * virtual time wait; in real time it never stops the fabric, and what does not fit is lost.
 */
#ifndef WEFT_CAP_CAPTURE_H
#define WEFT_CAP_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/key.h"
#include "cap/pcapng.h"
#include "net/port.h"

enum wf_capture_direction { WF_CAPTURE_BOTH, WF_CAPTURE_RX, WF_CAPTURE_TX };
enum wf_capture_match {
    WF_CAPTURE_ANY,
    WF_CAPTURE_ROCE,
    WF_CAPTURE_ROCE_DATA, /* RoCE packets that carry payload */
    WF_CAPTURE_ROCE_ACK,  /* ACK and NAK */
    WF_CAPTURE_CNP,
    WF_CAPTURE_CONTROL, /* PFC and pause frames */
};
enum wf_capture_time { WF_CAPTURE_NS, WF_CAPTURE_PS };

/* One entry of a scenario's `captures:`. */
struct wf_capture_cfg {
    const char *at;   /* pattern of port names */
    const char *file; /* entries with the same file share it */
    int direction;    /* enum wf_capture_direction */
    int match;        /* enum wf_capture_match */
    int time;         /* enum wf_capture_time */
    bool drops;
    uint64_t snaplen; /* 0: whole frames */
};

extern const struct wf_keyset wf_capture_keys;

struct wf_captures_conf {
    bool live;           /* never wait for the disk: count what is lost */
    int64_t epoch_s;     /* what fabric time 0 is in seconds since 1970; 0 in virtual time */
    const char *comment; /* of the files: scenario and seed */
    size_t ring_bytes;   /* of one lcore; 0 for the default, 8 MiB a file */
    /* The lcores that the ports' nodes are on; n_lcs 0: one, which need not be named. */
    const struct wf_lcore *lcs;
    unsigned n_lcs;
    /* As in recorder.h: how far each of them has come. Needed for several. */
    uint64_t (*published_ps)(void *arg, unsigned lcore);
    void *published_arg;
};

struct wf_capture_totals {
    uint64_t packets, lost;
    unsigned files, failed;
};

struct wf_captures; /* all files of a run */

int wf_captures_new(struct wf_captures **out, const struct wf_captures_conf *conf,
                    struct wf_err *err);
/* Capture at this port from now on. Opens the file (a fifo waits for its reader). Between turns. */
int wf_captures_add(struct wf_captures *c, const struct wf_capture_cfg *cfg, struct wf_port *port,
                    struct wf_err *err);
/* True once for each file that has failed: print it. The run goes on. */
bool wf_captures_take_error(struct wf_captures *c, struct wf_err *err);
struct wf_capture_totals wf_captures_totals(const struct wf_captures *c);
/* Name of the i-th file and its counts; false beyond the last. For the summary. */
bool wf_captures_file(const struct wf_captures *c, unsigned i, const char **path,
                      struct wf_pcapng_counts *counts);
/* Take the taps off and bring everything to the files, which stay open for the summary. Call before
 * the fabric is freed. */
void wf_captures_stop(struct wf_captures *c);
void wf_captures_free(struct wf_captures *c); /* may be NULL */

#endif
