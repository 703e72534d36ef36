/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team of lcores runs one fabric, conservatively: none runs an event before it is sure that no
 * other lcore can still send it an earlier one. Lcore j promises that nothing it sends from now on
 * was caused before promise_j, and what it sends to i arrives lookahead(j, i) later at the
 * earliest; so i runs all events before
 *
 *     min(until, min over j of (promise_j + lookahead(j, i)))      with promise_j read first,
 *                                                                  then j's mailbox drained
 * and then promises as much itself. In silence promises would creep on by a lookahead at a time.
 * So every lcore also publishes when its next event is and how many it has sent and received; an
 * lcore that can't go on collects these twice, and when nothing has changed and nothing is under
 * way, then i may run all events before min over j of (next_j + distance(j, i)), where a distance
 * is the shortest sum of lookaheads, that of an lcore to itself the shortest way there and back.
 *
 * Between two calls of wf_team_run() all lcores stand at one instant and nothing is in a mailbox:
 * the caller may look at everything and change it. Within a call there is no barrier. It is run by
 * the caller's thread alone, lcore after lcore, while there is little to do, and otherwise by a
 * thread for each lcore, which sleep when they have nothing to run; a DPDK lcore each, if EAL has
 * enough that wait, else a plain thread. What is run where and when changes no result.
 */
#ifndef WEFT_SIM_TEAM_H
#define WEFT_SIM_TEAM_H

#include "sim/lcore.h"
#include "sim/mailbox.h"

enum wf_team_mode {
    WF_TEAM_AUTO,
    WF_TEAM_ALONE,   /* the caller's thread runs all lcores */
    WF_TEAM_THREADS, /* a thread each, however little there is to do */
};

struct wf_team;

/* What happened so far; for tests and those who want to know why it is slow. */
struct wf_team_stats {
    uint64_t calls;      /* of wf_team_run() */
    uint64_t windows;    /* times that an lcore ran events up to a new limit */
    uint64_t promises;   /* times that it had none to run, and promised more */
    uint64_t jumps;      /* times that it jumped over silence */
    uint64_t phases;     /* times that the threads were woken */
    uint64_t messages;   /* events that changed lcores */
    uint64_t overflowed; /* of those: found the mailbox full */
};

struct wf_team_cfg {
    struct wf_lcore *lcs;
    uint32_t n;
    enum wf_team_mode mode;
    uint32_t mailbox_slots; /* 0: the default */
    ptrdiff_t node_off;     /* see mailbox.h */
    bool no_jumps;          /* as if no lcore could see what the others publish */
};

/* Lookaheads are all WF_TIME_NEVER: no lcore sends to another. 0 or -errno. */
int wf_team_new(struct wf_team **out, const struct wf_team_cfg *cfg);
/* Ends the threads. Events that are under way are left alone. t may be NULL. */
void wf_team_free(struct wf_team *t);
/* Between calls: what j sends to i arrives at least ps (not 0) later; WF_TIME_NEVER: it can't send.
 * Then wf_team_ready(). */
void wf_team_lookahead(struct wf_team *t, uint32_t from, uint32_t to, uint64_t ps);
uint64_t wf_team_lookahead_ps(const struct wf_team *t, uint32_t from, uint32_t to);
void wf_team_ready(struct wf_team *t);
struct wf_mailbox *wf_team_mailbox(struct wf_team *t, uint32_t from, uint32_t to);
/* Run all events before until_ps. Returns the instant before which all have run: that, or an
 * earlier one when about `budget` events have run, or threads for too long for a caller that wants
 * to look around; 0: it has no wish to. Fabric time of the lcores is that of their last events. */
uint64_t wf_team_run(struct wf_team *t, uint64_t until_ps, uint64_t budget);
/* From any thread: all events of the lcore before it have run. */
uint64_t wf_team_published_ps(const struct wf_team *t, uint32_t lcore);
struct wf_team_stats wf_team_stats(const struct wf_team *t);

#endif
