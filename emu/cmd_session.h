/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric as weft run, lab and replay have it: built from a scenario, with its captures, series
 * and decisions, its expectations, and live with attachments and a control socket. What they do
 * alike is here once.
 */
#ifndef WEFT_CMD_SESSION_H
#define WEFT_CMD_SESSION_H

#include "attach/edges.h"
#include "cap/capture.h"
#include "cap/replay.h"
#include "cap/trace.h"
#include "cap/why_log.h"
#include "cmd.h"
#include "cmd_record.h"
#include "ctl/commands.h"
#include "ctl/instance.h"
#include "scen/report.h"

struct wf_session {
    const char *command;      /* "run", for messages */
    const char *command_line; /* for the captures' manifest; may be NULL */
    struct wf_scenario *scen;
    bool live, no_capture, no_trace, no_why;
    const char *trace; /* one file for all series, in the place of the scenario's; or NULL */
    const char *why;   /* the file for decisions, in the place of the scenario's; or NULL */
    uint32_t lcores;   /* to run on; 0: one */
    const struct wf_instance *instance; /* live: where sockets lie; NULL: no control socket */
    struct wf_fabric *f;
    struct wf_run loop;
    struct wf_edges edges;
    struct wf_captures *captures;
    struct wf_traces *traces;
    struct wf_why_log *why_log;
    const char *why_written;       /* the file of decisions, after the end; NULL: none */
    struct wf_deadlocks deadlocks; /* that looks have found */
    bool capture_failed;           /* a file could not be written to its end */
    struct wf_record *record;      /* the run is recorded; NULL: not */
    struct wf_repeat *repeat;      /* it is a recorded one; NULL: not */
    struct wf_replay *replay;      /* its hosts send a capture; NULL: not */
    bool endless; /* it ends when somebody says so, whatever the scenario's duration */
    struct wf_ctl *ctl;
    struct wf_ctl_fabric ctl_fabric;
};

/* Bytes for EAL, before it is there. */
uint64_t wf_session_memory(const struct wf_session *s);
/* Whether an attachment may be a device of the PCI bus. */
bool wf_session_wants_pci(const struct wf_session *s);
/* Build the fabric, bind the expectations, open captures and attachments; the loop is ready but for
 * pollers of others, and wf_session_trace() behind them. WF_EXIT_PASS, or the exit code and *err.
 * Close it in either case. */
enum wf_exit wf_session_open(struct wf_session *s, struct wf_err *err);
/* The control socket, with what a fabric answers; more groups may be added. Put the caller's own
 * pollers into the loop before. 0 or -errno. */
int wf_session_control(struct wf_session *s, struct wf_err *err);
/* Write series from now on. The loop has all its pollers. 0 or -errno. */
int wf_session_trace(struct wf_session *s, struct wf_err *err);
/* Captures, series and decisions are complete, and written as far as it went. */
void wf_session_end_files(struct wf_session *s);
/* The same; their names and losses go into the report. */
void wf_session_list_files(struct wf_session *s, struct wf_report *rep);
void wf_session_close(struct wf_session *s);

#endif
