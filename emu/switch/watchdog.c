/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/watchdog.h"

#include "base/assert.h"
#include "switch/why.h"

#define ROW(field) offsetof(struct wf_watchdog_cfg, field)

static const char *const action_names[] = {"off", "drop", "forward", "alert", NULL};

static const struct wf_key rows[] = {
    {"action", WF_KEY_ENUM, ROW(action), "off", .names = action_names,
     .doc = "What is done during a storm: drop flushes and drops, forward ignores PFC, alert only "
            "counts; off: there is no watchdog."},
    {"detect", WF_KEY_TIME, ROW(detect_ps), "200ms", WF_PS_PER_NS, 100 * WF_PS_PER_S,
     .doc = "A priority that is kept paused for so long is in a storm.", .source = "SONiC"},
    {"restore", WF_KEY_TIME, ROW(restore_ps), "200ms", WF_PS_PER_NS, 100 * WF_PS_PER_S,
     .doc = "A storm is over when no PFC frame for the priority has come for so long.",
     .source = "SONiC"},
    {"poll", WF_KEY_TIME, ROW(poll_ps), "200ms", WF_PS_PER_NS, 100 * WF_PS_PER_S,
     .doc = "Time between two looks; no longer than detect and restore.", .source = "SONiC"},
};

const struct wf_keyset wf_watchdog_keys = {
    .name = "watchdog",
    .doc = "The PFC watchdog of a port.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_watchdog_cfg),
};

static uint64_t now_ps(const struct wf_watchdog *wd)
{
    return wf_now(wd->port);
}

static unsigned queue_of(const struct wf_watchdog *wd, unsigned prio)
{
    return wf_pfc_of(wd->port)->queue_of_prio[prio];
}

/* Groups of the port that pause this priority. */
static uint8_t groups_of(const struct wf_watchdog *wd, unsigned prio)
{
    uint8_t groups = 0;

    for (unsigned g = 0; g < WF_PGS; g++)
        if (wd->sw->pg[wd->port->index][g].prio == prio)
            groups |= (uint8_t)(1u << g);
    return groups;
}

static uint64_t tx_frames(const struct wf_watchdog *wd, unsigned prio)
{
    return wd->port->q[queue_of(wd, prio)].ctr[WF_QUEUE_TX_FRAMES];
}

static uint64_t rx_frames(const struct wf_watchdog *wd, unsigned prio)
{
    uint8_t groups = groups_of(wd, prio);
    uint64_t n = 0;

    for (unsigned g = 0; g < WF_PGS; g++)
        if (groups & 1u << g)
            n += wd->sw->pg[wd->port->index][g].ctr[WF_PG_RX_FRAMES];
    return n;
}

/* What passed during the storm that lasts, from the counters of queue and groups. */
static void count_passed(struct wf_watchdog *wd, unsigned prio)
{
    struct wf_wd_prio *w = &wd->prio[prio];

    w->ctr[WF_PFCWD_TX_OK_LAST] = tx_frames(wd, prio) - w->tx_mark;
    w->ctr[WF_PFCWD_RX_OK_LAST] = rx_frames(wd, prio) - w->rx_mark;
    w->ctr[WF_PFCWD_TX_OK] = w->tx_before + w->ctr[WF_PFCWD_TX_OK_LAST];
    w->ctr[WF_PFCWD_RX_OK] = w->rx_before + w->ctr[WF_PFCWD_RX_OK_LAST];
}

void wf_watchdog_settle(struct wf_watchdog *wd)
{
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (wd->prio[prio].storm)
            count_passed(wd, prio);
}

static void count_drop(struct wf_wd_prio *w, enum wf_ctr_PFCWD of, enum wf_ctr_PFCWD of_last,
                       uint64_t n)
{
    w->ctr[of] += n;
    w->ctr[of_last] += n;
}

/* Which queues and groups drop now follows from the storms that last. */
static void update_drops(struct wf_watchdog *wd)
{
    bool had = wd->drop_queues | wd->drop_groups;

    wd->drop_queues = wd->drop_groups = 0;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        if (!wd->prio[prio].storm || wd->cfg->action != WF_WD_DROP)
            continue;
        wd->drop_queues |= (uint8_t)(1u << queue_of(wd, prio));
        wd->drop_groups |= groups_of(wd, prio);
    }
    wd->sw->dropping_ports += !!wd->drop_queues - had;
}

static void storm_begins(struct wf_watchdog *wd, unsigned prio)
{
    struct wf_wd_prio *w = &wd->prio[prio];
    uint8_t groups = groups_of(wd, prio);

    w->storm = true;
    w->ctr[WF_PFCWD_DETECTED]++;
    w->ctr[WF_PFCWD_STORMED] = 1;
    w->ctr[WF_PFCWD_TX_DROP_LAST] = w->ctr[WF_PFCWD_RX_DROP_LAST] = 0;
    w->tx_before = w->ctr[WF_PFCWD_TX_OK];
    w->rx_before = w->ctr[WF_PFCWD_RX_OK];
    w->tx_mark = tx_frames(wd, prio);
    w->rx_mark = rx_frames(wd, prio);
    count_passed(wd, prio);
    wf_switch_why_watchdog(wd->port, prio, queue_of(wd, prio), action_names[wd->cfg->action], true);
    if (wd->cfg->action == WF_WD_FORWARD)
        wf_pfc_ignore(wd->port, prio, true);
    if (wd->cfg->action != WF_WD_DROP)
        return;
    update_drops(wd);
    for (unsigned g = 0; g < WF_PGS; g++)
        if (groups & 1u << g)
            wf_switch_unpause(wd->sw, wd->port, g);
    count_drop(w, WF_PFCWD_TX_DROP, WF_PFCWD_TX_DROP_LAST,
               wf_port_flush(wd->port, queue_of(wd, prio), WF_DROP_PFCWD_FLUSH));
}

static void storm_ends(struct wf_watchdog *wd, unsigned prio)
{
    struct wf_wd_prio *w = &wd->prio[prio];

    count_passed(wd, prio);
    w->storm = false;
    w->ctr[WF_PFCWD_RESTORED]++;
    w->ctr[WF_PFCWD_STORMED] = 0;
    wf_switch_why_watchdog(wd->port, prio, queue_of(wd, prio), action_names[wd->cfg->action],
                           false);
    if (wd->cfg->action == WF_WD_FORWARD)
        wf_pfc_ignore(wd->port, prio, false);
    update_drops(wd);
}

/* Use up what is left of a time: true when it is over. */
static bool elapsed(struct wf_watchdog *wd, struct wf_wd_prio *w)
{
    if (w->left_ps <= wd->cfg->poll_ps)
        return true;
    w->left_ps -= wd->cfg->poll_ps;
    return false;
}

/* An alert is over as soon as the priority is no longer stuck: nothing was done about it. */
static bool is_over(struct wf_watchdog *wd, struct wf_wd_prio *w, bool stuck, uint64_t rx)
{
    if (wd->cfg->action == WF_WD_ALERT)
        return !stuck;
    if (rx == w->rx)
        return elapsed(wd, w);
    w->left_ps = wd->cfg->restore_ps;
    return false;
}

/* Returns whether the next poll may find something. */
static bool look_at(struct wf_watchdog *wd, unsigned prio)
{
    struct wf_wd_prio *w = &wd->prio[prio];
    const uint64_t *c = wd->port->prio_ctr[prio];
    bool paused = wf_pfc_of(wd->port)->pausing >> prio & 1;
    bool stuck = paused && w->paused && c[WF_PRIO_ON2OFF_RX] == w->on2off;
    uint64_t rx = c[WF_PRIO_XOFF_RX] + c[WF_PRIO_REFRESH_RX] + c[WF_PRIO_XON_RX];

    if (w->storm) {
        if (is_over(wd, w, stuck, rx)) {
            storm_ends(wd, prio);
            w->left_ps = wd->cfg->detect_ps;
        }
    } else if (!stuck) {
        w->left_ps = wd->cfg->detect_ps;
    } else if (elapsed(wd, w)) {
        storm_begins(wd, prio);
        w->left_ps = wd->cfg->restore_ps;
    }
    w->paused = paused;
    w->on2off = c[WF_PRIO_ON2OFF_RX];
    w->rx = rx;
    return paused || w->storm;
}

static void poll(struct wf_lcore *lc, struct wf_event *ev);

static void poll_later(struct wf_watchdog *wd)
{
    uint64_t every = wd->cfg->poll_ps;

    if (!wf_event_pending(&wd->poll))
        wf_lcore_schedule(wd->sw->node.net->lc, &wd->poll, (now_ps(wd) / every + 1) * every,
                          wf_event_key(wd->port->entity, WF_EV_TIMER, wd->port->seq++), poll);
}

static void poll(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_watchdog *wd = WF_CONTAINER_OF(ev, struct wf_watchdog, poll);
    bool again = false;

    wd->port->ll_ops->settle(wd->port); /* pauses that ran out */
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (wd->watched & 1u << prio)
            again |= look_at(wd, prio);
    if (again)
        poll_later(wd);
}

static void on_pause(struct wf_port *port, unsigned prio)
{
    struct wf_watchdog *wd = ((struct wf_switch *)port->node)->watchdog[port->index];

    if (wd->watched & 1u << prio)
        poll_later(wd);
}

void wf_watchdog_attach(struct wf_switch *sw, struct wf_port *port, struct wf_arena *arena)
{
    const struct wf_switch_port_cfg *c = wf_switch_class(sw, port)->cfg;
    struct wf_watchdog *wd;

    if (c->watchdog.action == WF_WD_OFF)
        return;
    if (!sw->watchdog)
        sw->watchdog = WF_ARENA_ARRAY(arena, struct wf_watchdog *, sw->node.n_ports);
    wd = sw->watchdog[port->index] = WF_ARENA_NEW(arena, struct wf_watchdog);
    wd->sw = sw;
    wd->port = port;
    wd->cfg = &c->watchdog;
    for (unsigned g = 0; g < WF_PGS; g++)
        if (c->pg[g].lossless)
            wd->watched |= (uint8_t)(1u << c->pg_to_pfc_priority[g]);
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        wd->prio[prio].left_ps = c->watchdog.detect_ps;
    wf_pfc_of(port)->on_pause = on_pause;
}

static struct wf_watchdog *of(const struct wf_switch *sw, const struct wf_port *port)
{
    return sw->watchdog[port->index];
}

/* The storm that makes a queue drop; two priorities may stop one queue, the lower one counts. */
static struct wf_wd_prio *storm_of_queue(struct wf_watchdog *wd, unsigned queue)
{
    unsigned prio = 0;

    while (prio < WF_PRIOS && (!wd->prio[prio].storm || queue_of(wd, prio) != queue))
        prio++;
    WF_ASSERT(prio < WF_PRIOS);
    return &wd->prio[prio];
}

enum wf_reason wf_switch_watchdog_out(struct wf_switch *sw, const struct wf_visit *v)
{
    struct wf_watchdog *out = of(sw, v->out);

    if (!out || !(out->drop_queues >> v->pkt->queue & 1))
        return WF_DROP_NONE;
    count_drop(storm_of_queue(out, v->pkt->queue), WF_PFCWD_TX_DROP, WF_PFCWD_TX_DROP_LAST, 1);
    return WF_DROP_PFCWD_EGRESS;
}

enum wf_step wf_switch_watchdog(struct wf_switch *sw, struct wf_visit *v)
{
    struct wf_watchdog *in = of(sw, v->in);
    enum wf_reason why;

    if (in && in->drop_groups >> v->pkt->pg & 1) {
        count_drop(&in->prio[v->pkt->prio], WF_PFCWD_RX_DROP, WF_PFCWD_RX_DROP_LAST, 1);
        return wf_switch_drop(v, WF_DROP_PFCWD_INGRESS);
    }
    why = wf_switch_watchdog_out(sw, v);
    return why ? wf_switch_drop(v, why) : WF_NEXT;
}
