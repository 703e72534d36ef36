/* SPDX-License-Identifier: BSD-3-Clause */
/* One step of one lcore of a team: how far may it go, what came in, run, promise. See team.h. */
#include "base/units.h"
#include "sim/team_priv.h"

static struct wf_mailbox *box(const struct wf_member *m, uint32_t from, uint32_t to)
{
    return &m->team->boxes[from * m->team->cfg.n + to];
}

static bool receives(const struct wf_member *m, uint32_t from)
{
    return m->team->sends[from * m->team->cfg.n + m->index];
}

static bool sends(const struct wf_member *m, uint32_t to)
{
    return m->team->sends[m->index * m->team->cfg.n + to];
}

/* Before that, nothing can come in that is not in the mailboxes already. */
static uint64_t promised(const struct wf_member *m, uint64_t until_ps)
{
    const struct wf_team *t = m->team;
    uint64_t limit = until_ps;

    for (uint32_t j = 0; j < t->cfg.n; j++)
        if (receives(m, j)) {
            struct wf_mailbox *b = box(m, j, m->index);
            uint64_t at = wf_team_after(b->ops->promise(b), t->lookahead[j * t->cfg.n + m->index]);

            limit = at < limit ? at : limit;
        }
    return limit;
}

static bool has_mail(const struct wf_member *m)
{
    for (uint32_t j = 0; j < m->team->cfg.n; j++)
        if (receives(m, j) && box(m, j, m->index)->ops->waiting(box(m, j, m->index)))
            return true;
    return false;
}

static void drain(struct wf_member *m)
{
    for (uint32_t j = 0; j < m->team->cfg.n; j++)
        if (receives(m, j))
            box(m, j, m->index)->ops->drain(box(m, j, m->index), m->lc);
}

static bool flush(struct wf_member *m)
{
    bool all = true;

    for (uint32_t j = 0; j < m->team->cfg.n; j++)
        if (sends(m, j))
            all &= box(m, m->index, j)->ops->flush(box(m, m->index, j), m->limit_ps);
    return all;
}

static uint64_t total_sent(const struct wf_member *m)
{
    uint64_t n = 0;

    for (uint32_t j = 0; j < m->team->cfg.n; j++)
        n += box(m, m->index, j)->sent;
    return n;
}

static uint64_t total_received(const struct wf_member *m)
{
    uint64_t n = 0;

    for (uint32_t j = 0; j < m->team->cfg.n; j++)
        n += box(m, j, m->index)->received;
    return n;
}

static void at_work(struct wf_member *m)
{
    uint64_t seq = atomic_load_explicit(&m->seq, memory_order_relaxed);

    atomic_store_explicit(&m->seq, seq + 1, memory_order_relaxed);
}

void wf_member_publish(struct wf_member *m)
{
    uint64_t seq = atomic_load_explicit(&m->seq, memory_order_relaxed);

    atomic_store_explicit(&m->next_ps, wf_wheel_next_ps(&m->lc->wheel), memory_order_release);
    atomic_store_explicit(&m->sent, total_sent(m), memory_order_release);
    atomic_store_explicit(&m->received, total_received(m), memory_order_release);
    atomic_store_explicit(&m->events, m->lc->events, memory_order_relaxed);
    atomic_store_explicit(&m->ran_windows, m->windows, memory_order_relaxed);
    atomic_store_explicit(&m->seq, (seq | 1) + 1, memory_order_release);
}

/* Everybody's next event, at one moment at which nothing was under way: before what follows from
 * them nothing can come in here. 0 when there was no such moment. next_ps is this member's. */
static uint64_t silence(const struct wf_member *m, uint64_t next_ps)
{
    const struct wf_team *t = m->team;
    uint64_t n = t->cfg.n, sent = total_sent(m), received = total_received(m), seqs = 0;
    uint64_t bound = wf_team_after(next_ps, t->distance[m->index * n + m->index]);

    for (uint32_t j = 0; j < n; j++) {
        struct wf_member *o = &t->members[j];
        uint64_t seq, at;

        if (o == m)
            continue;
        seq = atomic_load_explicit(&o->seq, memory_order_acquire);
        if (seq & 1)
            return 0;
        seqs += seq; /* they only grow: the sum is the same when each is */
        at = wf_team_after(atomic_load_explicit(&o->next_ps, memory_order_acquire),
                           t->distance[j * n + m->index]);
        sent += atomic_load_explicit(&o->sent, memory_order_acquire);
        received += atomic_load_explicit(&o->received, memory_order_acquire);
        bound = at < bound ? at : bound;
    }
    for (uint32_t j = 0; j < n; j++)
        if (j != m->index)
            seqs -= atomic_load_explicit(&t->members[j].seq, memory_order_acquire);
    return seqs || sent != received ? 0 : bound;
}

/* Nothing to run and nothing came: at least the others hear how far this lcore is. */
static bool promise_more(struct wf_member *m, uint64_t limit_ps)
{
    if (limit_ps <= m->limit_ps)
        return false;
    m->limit_ps = limit_ps;
    m->promises++;
    m->flushing = !flush(m);
    if (!m->flushing)
        atomic_store_explicit(&m->reached_ps, limit_ps, memory_order_release);
    return true;
}

static void run(struct wf_member *m, uint64_t limit_ps)
{
    uint64_t before = m->lc->events;

    m->limit_ps = wf_lcore_run(m->lc, limit_ps, WF_TEAM_SLICE);
    m->windows += m->lc->events != before;
    m->flushing = true;
}

bool wf_member_step(struct wf_member *m, uint64_t until_ps)
{
    uint64_t limit = promised(m, until_ps); /* before looking for mail */
    bool mail = has_mail(m), done = mail || !m->flushing;

    if (limit < m->limit_ps)
        limit = m->limit_ps;
    if (!mail && !m->flushing) {
        uint64_t next = wf_wheel_next_ps(&m->lc->wheel);

        if (next >= limit && limit < until_ps && !m->team->cfg.no_jumps) {
            uint64_t jump = silence(m, next);

            jump = jump < until_ps ? jump : until_ps;
            m->jumps += jump > limit;
            limit = jump > limit ? jump : limit;
        }
        if (next >= limit)
            return promise_more(m, limit);
    }
    at_work(m);
    if (mail)
        drain(m);
    if (!m->flushing)
        run(m, limit);
    if (flush(m)) {
        done = true;
        m->flushing = false;
        atomic_store_explicit(&m->reached_ps, m->limit_ps, memory_order_release);
    }
    wf_member_publish(m);
    return done; /* no mail, and still no room for what it sent: others have to run */
}
