/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside a team: its members, and one step of a member. For sim/team*.c and their tests only. */
#ifndef WEFT_SIM_TEAM_PRIV_H
#define WEFT_SIM_TEAM_PRIV_H

#include <pthread.h>

#include "sim/team.h"

enum { WF_TEAM_SLICE = 2048 }; /* events of one step, about: others get news of it in between */

/* One lcore and whoever runs it. */
struct wf_member {
    struct wf_team *team;
    struct wf_lcore *lc;
    uint32_t index;
    bool flushing; /* it has run up to limit_ps, and not all that it sent has found room */
    uint64_t limit_ps;
    uint64_t windows, promises, jumps;
    pthread_t thread;
    bool has_thread;
    unsigned eal_lcore; /* 0: a plain thread */

    /* Read by the others. What is between two changes of seq (odd: it is at work) is of one
     * moment: with nothing under way it can send only what it does at next_ps or later. */
    _Alignas(64) _Atomic uint64_t seq;
    _Atomic uint64_t next_ps, sent, received;
    _Atomic uint64_t reached_ps; /* all events before it have run, and it is promised */
    _Atomic uint64_t events, ran_windows;
    _Atomic uint64_t frozen, frozen_at_ps; /* the halt that it has heard of, and its limit then */
};

struct wf_team {
    struct wf_team_cfg cfg;
    struct wf_arena arena;
    struct wf_member *members;
    struct wf_mailbox *boxes; /* [from * n + to] */
    uint64_t *lookahead, *distance;
    bool *sends; /* [from * n + to]: its lookahead is not WF_TIME_NEVER */
    struct wf_team_stats stats;
    bool threads_ok; /* there is more than one core to run on */
    unsigned spins;  /* idle steps before a thread gives its core away */
    bool threaded;   /* the last call ended with the threads at work */
    uint64_t n_halts;

    pthread_mutex_t lock; /* of the two behind it */
    pthread_cond_t wake;
    uint64_t phase;
    bool quit;

    /* Read by all while they run; changed by the caller's thread. */
    _Alignas(64) _Atomic uint64_t until_ps;
    _Atomic uint64_t halt;              /* not 0: nobody goes further until it is 0 again */
    _Atomic bool over;                  /* the phase is */
    _Alignas(64) _Atomic uint32_t left; /* threads that have left the phase */
};

static inline uint64_t wf_team_after(uint64_t t_ps, uint64_t span_ps)
{
    return t_ps < WF_TIME_NEVER - span_ps ? t_ps + span_ps : WF_TIME_NEVER;
}

/* One step of a member, not beyond until_ps. False: there was nothing to do. */
bool wf_member_step(struct wf_member *m, uint64_t until_ps);
void wf_member_publish(struct wf_member *m);

#endif
