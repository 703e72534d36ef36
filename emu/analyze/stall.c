/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Silences of a sender that repeats nothing afterwards, and their reason: the priority was paused
 * (802.1Qbb), it waited for an ACK, or it had nothing to send. Those that end with a repetition
 * (RNR, timeout) are run.c's.
 */
#include "analyze/analyze.h"
#include "analyze/pause.h"

const char *const wf_an_stall_names[WF_AN_STALLS] = {"rnr",         "ack_timeout", "pause",
                                                     "waiting_ack", "idle",        "cannot_tell"};

/* ---- pauses that a capture point has seen ---- */

static int64_t quanta_ps(const struct wf_an_point *pt, uint16_t quanta)
{
    /* a link of unknown speed counts as one of 10 Gb/s */
    uint64_t bps = pt->speed_bps ? pt->speed_bps : 10000000000ull;

    return (int64_t)((unsigned __int128)quanta * WF_QUANTUM_BITS * WF_PS_PER_S / bps);
}

void wf_an_pause_take(struct wf_an_point *pt, const struct wf_pfc *f, enum wf_cap_dir dir,
                      int64_t t_ps)
{
    pt->pause_frames++;
    for (int prio = 0; prio < 8; prio++) {
        struct wf_an_pause *q = &pt->pauses[dir == WF_CAP_DIR_OUT][prio];

        if (!(f->vector & 1 << prio))
            continue;
        q->sum_ps = wf_an_paused_ps(q, t_ps);
        q->from_ps = t_ps;
        q->until_ps = t_ps + quanta_ps(pt, f->quanta[prio]);
    }
}

int64_t wf_an_paused_ps(const struct wf_an_pause *q, int64_t t_ps)
{
    int64_t end = t_ps < q->until_ps ? t_ps : q->until_ps;

    return q->sum_ps + (end > q->from_ps ? end - q->from_ps : 0);
}

/* A pause that stops these packets goes against their direction. */
static int64_t paused_for(const struct wf_an_point *pt, const struct wf_an_stream *s,
                          const struct wf_an_pkt *p)
{
    unsigned prio = s->n_tags ? s->pcp : s->dscp >> 3;
    int64_t out = wf_an_paused_ps(&pt->pauses[1][prio], p->t_ps);
    int64_t in = wf_an_paused_ps(&pt->pauses[0][prio], p->t_ps);

    if (p->dir == WF_CAP_DIR_IN)
        return out;
    if (p->dir == WF_CAP_DIR_OUT)
        return in;
    return in > out ? in : out;
}

/* ---- silences ---- */

static enum wf_an_stall_why why(const struct wf_an_stream *s, const struct wf_an_pkt *p,
                                int64_t quiet_ps, int64_t paused_ps)
{
    const struct wf_an_requests *r = &s->req;

    if (paused_ps > quiet_ps / 2)
        return WF_AN_STALL_PAUSE;
    if (!r->acked_known)
        return WF_AN_STALL_UNTOLD;
    if (r->acked_t_ps > r->last_t_ps && p->t_ps - r->acked_t_ps < quiet_ps / 8)
        return WF_AN_STALL_ACK;
    return wf_an_diff(r->acked, r->max) >= 0 ? WF_AN_STALL_IDLE : WF_AN_STALL_UNTOLD;
}

static void tell(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p,
                 enum wf_an_stall_why reason, int64_t quiet_ps)
{
    struct wf_an_finding f = wf_an_new(s, WF_AN_STALL, WF_AN_NO_LOSS, p->psn, s->req.last_t_ps);

    f.recovery_ps = quiet_ps;
    f.refs[0] = s->req.last_ref;
    f.refs[2] = p->ref;
    snprintf(f.note, sizeof(f.note), "%.3f ms without a request: %s", (double)quiet_ps / 1e9,
             reason == WF_AN_STALL_PAUSE ? "its priority was paused"
                                         : "it waited for an ACK, which came late");
    wf_an_tell(a, s, &f);
}

void wf_an_silence(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_requests *r = &s->req;
    const struct wf_an_point *pt = &a->points[p->point];
    int64_t paused = pt->pause_frames ? paused_for(pt, s, p) : 0, before = r->paused_ps, quiet;
    enum wf_an_stall_why reason;

    r->paused_ps = paused;
    if (!r->packets)
        return;
    quiet = p->t_ps - r->last_t_ps;
    if (quiet < a->conf.stall_ps || wf_an_diff(p->psn, r->cur) < 0)
        return;
    reason = why(s, p, quiet, paused - before);
    s->stalls[reason]++;
    wf_an_add(&s->stalled_ps[reason], quiet);
    if (reason == WF_AN_STALL_PAUSE || reason == WF_AN_STALL_ACK)
        tell(a, s, p, reason, quiet);
}
