/* SPDX-License-Identifier: BSD-3-Clause */
/* A team of lcores: who runs them, how a call of wf_team_run() begins and ends. See team.h. */
#include "sim/team.h"

#include <errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "sim/team_priv.h"

enum {
    SPINS = 64,         /* idle steps of a thread that has a core to itself */
    DENSE = 128,        /* events of an lcore in a window for which threads are worth it */
    SPARSE = 24,        /* and for which they are not */
    SWEEPS = 32,        /* windows of the caller alone after which it judges */
    LOOK_STEPS = 64,    /* of the caller among threads, between looks at the clock */
    JUDGE_NS = 5000000, /* how long threads are at work before they are judged */
    CALL_NS = 50000000, /* of threads at work, before a caller with a budget looks around */
};

/* ---- built ---- */

static unsigned cores(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

static void make_members(struct wf_team *t)
{
    uint32_t n = t->cfg.n;

    t->members = WF_ARENA_ARRAY(&t->arena, struct wf_member, n);
    t->boxes = WF_ARENA_ARRAY(&t->arena, struct wf_mailbox, n * n);
    t->lookahead = WF_ARENA_ARRAY(&t->arena, uint64_t, n * n);
    t->distance = WF_ARENA_ARRAY(&t->arena, uint64_t, n * n);
    t->sends = WF_ARENA_ARRAY(&t->arena, bool, n *n);
    for (uint32_t i = 0; i < n; i++) {
        struct wf_member *m = &t->members[i];

        m->team = t;
        m->index = i;
        m->lc = &t->cfg.lcs[i];
        for (uint32_t j = 0; j < n; j++) {
            t->lookahead[i * n + j] = WF_TIME_NEVER;
            if (i != j)
                wf_mailbox_init(&t->boxes[i * n + j], &t->arena, t->cfg.mailbox_slots,
                                t->cfg.node_off);
        }
    }
}

int wf_team_new(struct wf_team **out, const struct wf_team_cfg *cfg)
{
    struct wf_team *t = aligned_alloc(64, (sizeof(*t) + 63) / 64 * 64);
    unsigned n_cores = cores();

    if (!t)
        return -ENOMEM;
    memset(t, 0, sizeof(*t));
    t->cfg = *cfg;
    if (!t->cfg.mailbox_slots)
        t->cfg.mailbox_slots = WF_MAILBOX_SLOTS;
    t->threads_ok = n_cores > 1;
    t->spins = n_cores < cfg->n ? 0 : SPINS;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    make_members(t);
    wf_team_ready(t);
    *out = t;
    return 0;
}

struct wf_mailbox *wf_team_mailbox(struct wf_team *t, uint32_t from, uint32_t to)
{
    return &t->boxes[from * t->cfg.n + to];
}

void wf_team_lookahead(struct wf_team *t, uint32_t from, uint32_t to, uint64_t ps)
{
    WF_ASSERT(from != to && ps);
    t->lookahead[from * t->cfg.n + to] = ps;
    t->sends[from * t->cfg.n + to] = ps != WF_TIME_NEVER;
}

uint64_t wf_team_lookahead_ps(const struct wf_team *t, uint32_t from, uint32_t to)
{
    return t->lookahead[from * t->cfg.n + to];
}

/* Shortest sums of lookaheads; of an lcore to itself, over another one. */
void wf_team_ready(struct wf_team *t)
{
    uint32_t n = t->cfg.n;

    memcpy(t->distance, t->lookahead, sizeof(*t->distance) * n * n);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) {
                uint64_t way = wf_team_after(t->distance[i * n + k], t->distance[k * n + j]);

                if (way < t->distance[i * n + j])
                    t->distance[i * n + j] = way;
            }
}

/* ---- threads ---- */

static void phase(struct wf_member *m)
{
    struct wf_team *t = m->team;
    unsigned idle = 0;

    while (!atomic_load_explicit(&t->over, memory_order_acquire)) {
        uint64_t halt = atomic_load_explicit(&t->halt, memory_order_acquire);
        uint64_t until = atomic_load_explicit(&t->until_ps, memory_order_relaxed);

        if (halt) {
            until = m->limit_ps;
            if (atomic_load_explicit(&m->frozen, memory_order_relaxed) != halt) {
                atomic_store_explicit(&m->frozen_at_ps, until, memory_order_relaxed);
                atomic_store_explicit(&m->frozen, halt, memory_order_release);
            }
        }
        if (wf_member_step(m, until))
            idle = 0;
        else if (idle++ >= t->spins)
            sched_yield();
        else
            rte_pause();
    }
}

static int work(void *arg)
{
    struct wf_member *m = arg;
    struct wf_team *t = m->team;

    for (uint64_t seen = 0;;) {
        pthread_mutex_lock(&t->lock);
        while (t->phase == seen && !t->quit)
            pthread_cond_wait(&t->wake, &t->lock);
        seen = t->phase;
        if (t->quit) {
            pthread_mutex_unlock(&t->lock);
            return 0;
        }
        pthread_mutex_unlock(&t->lock);
        phase(m);
        atomic_fetch_add_explicit(&t->left, 1, memory_order_acq_rel);
    }
}

static void *work_thread(void *arg)
{
    work(arg);
    return NULL;
}

/* An lcore of EAL that waits, or 0. */
static unsigned eal_lcore(unsigned after)
{
    unsigned id = rte_get_next_lcore(after ? after : (unsigned)-1, 1, 0);

    while (id < RTE_MAX_LCORE && rte_eal_get_lcore_state(id) != WAIT)
        id = rte_get_next_lcore(id, 1, 0);
    return id < RTE_MAX_LCORE ? id : 0;
}

/* Signals stay with the caller's thread. */
static bool start_thread(struct wf_member *m, unsigned eal)
{
    sigset_t all, was;

    m->eal_lcore = eal;
    if (eal && !rte_eal_remote_launch(work, m, eal))
        return true;
    m->eal_lcore = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &was);
    m->has_thread = !pthread_create(&m->thread, NULL, work_thread, m);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return m->has_thread;
}

/* False: not all of them could be started; the caller goes on alone. */
static bool start_threads(struct wf_team *t)
{
    unsigned eal = 0;

    for (uint32_t i = 1; i < t->cfg.n; i++) {
        struct wf_member *m = &t->members[i];

        if (m->has_thread || m->eal_lcore)
            continue;
        if (rte_lcore_count() >= t->cfg.n)
            eal = eal_lcore(eal);
        if (!start_thread(m, eal))
            return false;
    }
    return true;
}

void wf_team_free(struct wf_team *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->quit = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    for (uint32_t i = 1; i < t->cfg.n; i++) {
        if (t->members[i].has_thread)
            pthread_join(t->members[i].thread, NULL);
        if (t->members[i].eal_lcore)
            rte_eal_wait_lcore(t->members[i].eal_lcore);
    }
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    wf_arena_free(&t->arena);
    free(t);
}

/* ---- a call ---- */

static bool all_reached(const struct wf_team *t, uint64_t until_ps)
{
    for (uint32_t i = 0; i < t->cfg.n; i++)
        if (atomic_load_explicit(&t->members[i].reached_ps, memory_order_acquire) != until_ps)
            return false;
    return true;
}

static uint64_t farthest(const struct wf_team *t)
{
    uint64_t far = 0;

    for (uint32_t i = 0; i < t->cfg.n; i++)
        far = t->members[i].limit_ps > far ? t->members[i].limit_ps : far;
    return far;
}

struct load {
    uint64_t events, windows;
};

static struct load load_of(const struct wf_team *t)
{
    struct load l = {0, 0};

    for (uint32_t i = 0; i < t->cfg.n; i++) {
        l.events += atomic_load_explicit(&t->members[i].events, memory_order_relaxed);
        l.windows += atomic_load_explicit(&t->members[i].ran_windows, memory_order_relaxed);
    }
    return l;
}

/* The caller runs all lcores. Returns where it ends; *crowded: threads would help. */
static uint64_t run_alone(struct wf_team *t, uint64_t until_ps, uint64_t budget, bool *crowded)
{
    struct load from = load_of(t);
    uint64_t left = budget ? budget : UINT64_MAX;
    unsigned sweeps = 0;

    *crowded = false;
    while (!all_reached(t, until_ps)) {
        bool any = false;
        struct load now;

        for (uint32_t i = 0; i < t->cfg.n; i++)
            any |= wf_member_step(&t->members[i], until_ps);
        WF_ASSERT(any);
        if (++sweeps % SWEEPS)
            continue;
        now = load_of(t);
        *crowded = t->cfg.mode == WF_TEAM_AUTO && t->threads_ok &&
                   now.events - from.events > DENSE * (now.windows - from.windows);
        if (*crowded || now.events - from.events >= left)
            until_ps = farthest(t); /* and go on up to there */
        left -= now.events - from.events < left ? now.events - from.events : left;
        from = now;
    }
    return until_ps;
}

/* Everybody goes as far as the farthest is now, and no further. Returns that instant. */
static uint64_t halt(struct wf_team *t)
{
    struct wf_member *me = &t->members[0];
    uint64_t far = me->limit_ps;

    atomic_store_explicit(&t->halt, ++t->n_halts, memory_order_release);
    for (uint32_t i = 1; i < t->cfg.n; i++) {
        struct wf_member *m = &t->members[i];
        uint64_t at;

        while (atomic_load_explicit(&m->frozen, memory_order_acquire) != t->n_halts)
            if (!wf_member_step(me, me->limit_ps))
                sched_yield();
        at = atomic_load_explicit(&m->frozen_at_ps, memory_order_relaxed);
        far = at > far ? at : far;
    }
    atomic_store_explicit(&t->until_ps, far, memory_order_relaxed);
    atomic_store_explicit(&t->halt, 0, memory_order_release);
    return far;
}

/* One thread an lcore, the caller's the first. *crowded: they are worth it. */
static uint64_t run_threads(struct wf_team *t, uint64_t until_ps, bool bounded, bool *crowded)
{
    struct wf_member *me = &t->members[0];
    uint64_t start_ns = wf_wall_ns(), judged_ns = start_ns;
    struct load from = load_of(t);
    unsigned steps = 0, idle = 0;
    bool halted = false;

    while (!all_reached(t, until_ps)) {
        bool enough = false;

        if (wf_member_step(me, until_ps))
            idle = 0;
        else if (idle++ >= t->spins)
            sched_yield();
        if (++steps % LOOK_STEPS == 0) {
            uint64_t now_ns = wf_wall_ns();

            enough |= bounded && now_ns - start_ns > CALL_NS;
            if (now_ns - judged_ns > JUDGE_NS) {
                struct load now = load_of(t);

                *crowded = now.events - from.events > SPARSE * (now.windows - from.windows);
                enough |= !*crowded && t->cfg.mode == WF_TEAM_AUTO;
                judged_ns = now_ns;
                from = now;
            }
        }
        if (enough && !halted) {
            until_ps = halt(t);
            halted = true;
        }
    }
    return until_ps;
}

static uint64_t run_phase(struct wf_team *t, uint64_t until_ps, bool bounded, bool *crowded)
{
    uint64_t reached;

    t->stats.phases++;
    atomic_store_explicit(&t->until_ps, until_ps, memory_order_relaxed);
    atomic_store_explicit(&t->over, false, memory_order_relaxed);
    atomic_store_explicit(&t->left, 0, memory_order_relaxed);
    pthread_mutex_lock(&t->lock);
    t->phase++;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    reached = run_threads(t, until_ps, bounded, crowded);
    atomic_store_explicit(&t->over, true, memory_order_release);
    while (atomic_load_explicit(&t->left, memory_order_acquire) != t->cfg.n - 1)
        sched_yield();
    return reached;
}

/* All stand at start_ps; what the caller has changed since the last call is known to all. */
static void begin(struct wf_team *t, uint64_t start_ps)
{
    t->stats.calls++;
    for (uint32_t i = 0; i < t->cfg.n; i++) {
        struct wf_member *m = &t->members[i];

        m->limit_ps = start_ps;
        m->flushing = false;
        atomic_store_explicit(&m->reached_ps, start_ps, memory_order_relaxed);
        for (uint32_t j = 0; j < t->cfg.n; j++)
            atomic_store_explicit(&t->boxes[i * t->cfg.n + j].promise_ps, start_ps,
                                  memory_order_relaxed);
        wf_member_publish(m);
    }
}

/* Nobody runs: what is under way goes to where it belongs. */
static void empty_mailboxes(struct wf_team *t)
{
    for (uint32_t i = 0; i < t->cfg.n; i++)
        for (uint32_t j = 0; j < t->cfg.n; j++)
            if (t->sends[i * t->cfg.n + j])
                t->boxes[i * t->cfg.n + j].ops->drain(&t->boxes[i * t->cfg.n + j], &t->cfg.lcs[j]);
}

uint64_t wf_team_run(struct wf_team *t, uint64_t until_ps, uint64_t budget)
{
    uint64_t reached = t->cfg.lcs[0].now_ps;
    uint64_t start_ns = wf_wall_ns();
    bool crowded = t->threaded;

    begin(t, reached);
    while (reached < until_ps) {
        bool threads = t->cfg.mode == WF_TEAM_THREADS ||
                       (t->cfg.mode == WF_TEAM_AUTO && crowded && t->threads_ok);
        bool was = crowded;

        if (threads && start_threads(t))
            reached = run_phase(t, until_ps, budget, &crowded);
        else
            reached = run_alone(t, until_ps, budget, &crowded);
        if (was == crowded || (budget && wf_wall_ns() - start_ns > CALL_NS))
            break;
    }
    t->threaded = crowded;
    empty_mailboxes(t);
    return reached;
}

uint64_t wf_team_published_ps(const struct wf_team *t, uint32_t lcore)
{
    return atomic_load_explicit(&t->members[lcore].reached_ps, memory_order_acquire);
}

struct wf_team_stats wf_team_stats(const struct wf_team *t)
{
    struct wf_team_stats s = t->stats;

    for (uint32_t i = 0; i < t->cfg.n; i++) {
        s.windows += t->members[i].windows;
        s.promises += t->members[i].promises;
        s.jumps += t->members[i].jumps;
    }
    for (uint32_t i = 0; i < t->cfg.n * t->cfg.n; i++) {
        s.messages += t->boxes[i].sent;
        s.overflowed += t->boxes[i].overflowed;
    }
    return s;
}
