/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/switch.h"

#include <string.h>

#include "base/assert.h"
#include "eth/ets.h"
#include "switch/age.h"
#include "switch/classify.h"
#include "switch/lb.h"
#include "switch/watchdog.h"
#include "wire/edit.h"

static void attach_sched(struct wf_port *port, const struct wf_switch_port_cfg *c,
                         struct wf_arena *arena)
{
    struct wf_ets_cfg ets = {.max = c->max};

    for (unsigned i = 0; i < WF_QUEUES; i++) {
        const struct wf_queue_cfg *q = &c->queue[i];

        ets.queue[i] = (struct wf_ets_queue_cfg){
            .strict = q->sched == WF_SCHED_STRICT,
            .by_frames = q->sched == WF_SCHED_WRR,
            .weight = q->weight,
            .group = q->group,
            .min = q->min,
            .max = q->max,
        };
    }
    for (unsigned g = 0; g < WF_ETS_GROUPS; g++)
        ets.group_weight[g] = c->group[g].weight;
    wf_ets_attach(port, &ets, arena);
}

static void init_port(struct wf_switch *sw, struct wf_port *port, struct wf_arena *arena)
{
    const struct wf_port_class *k = wf_switch_class(sw, port);
    const struct wf_switch_port_cfg *c = k->cfg;

    port->class = k;
    port->marks_out = k->marks[WF_MARK_DEQUEUE];
    attach_sched(port, c, arena);
    wf_pfc_attach(port, &c->pfc, c->pfc_priority_to_queue, arena);
    for (unsigned i = 0; i < WF_PGS; i++) {
        struct wf_pg *pg = &sw->pg[port->index][i];

        pg->lossless = c->pg[i].lossless;
        if (pg->lossless)
            pg->blames = WF_ARENA_NEW(arena, struct wf_blames);
        pg->prio = c->pg_to_pfc_priority[i];
        pg->pool = (uint8_t)c->pg[i].pool;
        pg->dynamic = sw->cfg.ingress_pool[pg->pool].mode == WF_POOL_DYNAMIC;
        WF_ASSERT(wf_alpha_shift(&c->pg[i].alpha, &pg->shift));
    }
    wf_watchdog_attach(sw, port, arena);
}

/* The port is faster than before: what is still coming in may have to wait a little more. */
static void feed_queues(struct wf_switch *sw, struct wf_port *port)
{
    for (unsigned q = 0; q < WF_QUEUES; q++) {
        struct wf_pkt *last = NULL;

        for (struct wf_fifo_node *n = port->q[q].fifo.head; n; n = n->next) {
            struct wf_pkt *pkt = WF_CONTAINER_OF(n, struct wf_pkt, q);

            wf_max_u64(&pkt->ready_ps, wf_switch_fed_ps(sw, port, pkt));
            if (last)
                last->next_ready_ps = pkt->ready_ps;
            last = pkt;
        }
    }
}

void wf_switch_link_known(struct wf_node *node, struct wf_port *port)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    wf_switch_buffer_link(sw, port);
    if (sw->node.cut_through)
        feed_queues(sw, port);
}

/* The class of a port whose configuration is its own: that of a port before it, or a new one. */
static struct wf_port_class *class_for(struct wf_switch *sw, const struct wf_switch_port_cfg *c,
                                       uint16_t port, struct wf_arena *arena)
{
    struct wf_port_class *k;

    for (uint16_t i = 0; i < port; i++)
        if (sw->class_of[i]->cfg == c || !memcmp(sw->class_of[i]->cfg, c, sizeof(*c)))
            return sw->class_of[i];
    k = WF_ARENA_NEW(arena, struct wf_port_class);
    wf_port_class_init(k, c, arena);
    return k;
}

static bool any_trims(const struct wf_switch *sw)
{
    bool any = false;

    for (unsigned i = 0; i < sw->node.n_ports; i++)
        for (unsigned q = 0; q < WF_QUEUES; q++)
            any |=
                wf_switch_class(sw, &sw->node.ports[i])->cfg->queue[q].discard == WF_DISCARD_TRIM;
    return any;
}

static void make_classes(struct wf_switch *sw, struct wf_arena *arena)
{
    wf_port_class_init(&sw->class, &sw->cfg.port, arena);
    if (!sw->port_cfg)
        return;
    sw->class_of = WF_ARENA_ARRAY(arena, struct wf_port_class *, sw->node.n_ports);
    for (uint16_t i = 0; i < sw->node.n_ports; i++)
        sw->class_of[i] = sw->port_cfg[i] ? class_for(sw, sw->port_cfg[i], i, arena) : &sw->class;
}

static void note_edits(struct wf_switch *sw, const struct wf_port_class *k)
{
    sw->vlans |= k->vlan != NULL;
    sw->edits |= k->vlan || k->cfg->rewrite != WF_REWRITE_NONE;
    sw->marks_in |= k->marks[WF_MARK_ENQUEUE] != 0;
}

static bool any_average(const struct wf_switch *sw)
{
    bool any = sw->class.averages;

    for (uint16_t i = 0; sw->class_of && i < sw->node.n_ports; i++)
        any = any || sw->class_of[i]->averages;
    return any;
}

void wf_switch_settle(struct wf_node *node)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    for (unsigned i = 0; sw->watchdog && i < node->n_ports; i++)
        if (sw->watchdog[i])
            wf_watchdog_settle(sw->watchdog[i]);
}

void wf_switch_ready(struct wf_node *node, struct wf_arena *arena)
{
    struct wf_switch *sw = (struct wf_switch *)node;

    node->cut_through = sw->cfg.mode == WF_MODE_CUT_THROUGH;
    sw->at = &sw->graph->nodes[sw->sw];
    sw->mac_word = wf_edit_mac_word(node->mac);
    sw->l2 = sw->cfg.forwarding == WF_FORWARD_L2;
    sw->buffer_bytes = sw->cfg.buffer_bytes;
    sw->cell_bytes = (uint32_t)sw->cfg.cell_bytes;
    sw->latency_ps = sw->cfg.latency_ps;
    wf_prng_init(&sw->prng, node->net->seed, node->name);
    sw->pg = wf_arena_alloc_line(arena, sizeof(*sw->pg) * node->n_ports);
    if (sw->l2)
        sw->fdb = WF_ARENA_ARRAY(arena, struct wf_fdb_entry, WF_FDB_SLOTS);
    make_classes(sw, arena);
    note_edits(sw, &sw->class);
    for (uint16_t i = 0; sw->class_of && i < node->n_ports; i++)
        note_edits(sw, sw->class_of[i]);
    if (any_average(sw))
        sw->avg = wf_arena_alloc(arena, sizeof(*sw->avg) * node->n_ports);
    sw->trims = any_trims(sw);
    wf_lb_ready(sw, arena);
    wf_age_ready(sw, arena);
    sw->routes = !sw->l2 && !sw->ends && !sw->age;
    for (unsigned i = 0; i < node->n_ports; i++)
        init_port(sw, &node->ports[i], arena);
    wf_switch_buffer_ready(sw, arena);
}
