/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps of one port that contradict each other, whatever the traffic: a pause that stops another
 * queue than the one in which its priority's traffic waits, as it would on a real switch; early
 * drops of what is lossless; VLANs that are none.
 */
#include "scen/scen_priv.h"

enum { TOLD_MAX = 32 };

/* One complaint for each place of the file. */
struct told {
    const struct wf_origin *at[TOLD_MAX];
    unsigned tc[TOLD_MAX], n;
};

static bool told_already(struct told *t, const struct wf_origin *o, unsigned tc)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->tc[i] == tc && wf_origin_same(t->at[i], o))
            return true;
    if (t->n < TOLD_MAX) {
        t->at[t->n] = o;
        t->tc[t->n++] = tc;
    }
    return false;
}

/* The first of these fields that somebody set. */
static const void *set_one(const struct wf_scenario *s, const void *const fields[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (wf_origins_find(&s->origins, fields[i]))
            return fields[i];
    return fields[0];
}

static void check_class(struct wf_scenario *s, const struct wf_switch_port_cfg *c, unsigned tc,
                        const char *where, struct told *told)
{
    unsigned pg = c->tc_to_pg[tc], prio = c->pg_to_pfc_priority[pg], queue = c->tc_to_queue[tc];
    const void *const fields[] = {&c->pfc_priority_to_queue[prio], &c->tc_to_queue[tc],
                                  &c->pg_to_pfc_priority[pg], &c->tc_to_pg[tc]};
    const void *field = set_one(s, fields, 4);

    if (!c->pg[pg].lossless)
        return;
    if (c->pfc_priority_to_queue[prio] != queue &&
        !told_already(told, wf_origins_find(&s->origins, field), tc))
        wf_scen_complain(s, true, field, NULL,
                         "a pause of priority %u stops queue %u of %s, but traffic class %u, whose "
                         "pauses have that priority, waits in queue %u: the wrong queue stops",
                         prio, c->pfc_priority_to_queue[prio], where, tc, queue);
    if (c->queue[queue].ecn.drop &&
        !told_already(told, wf_origins_find(&s->origins, &c->queue[queue].ecn.drop), 8 + tc))
        wf_scen_complain(s, true, &c->queue[queue].ecn.drop, NULL,
                         "wred_drop of queue %u drops nothing of traffic class %u, which is "
                         "lossless",
                         queue, tc);
}

static void check_vlan(struct wf_scenario *s, const struct wf_switch_port_cfg *c, struct told *told)
{
    const struct wf_vlan_cfg *v = &c->vlan;
    const void *const fields[] = {&v->allowed, &v->pvid, &v->mode};
    const void *field = set_one(s, fields, 3);
    struct wf_vlan_set set;
    struct wf_err err;

    if (v->mode == WF_VLAN_NONE || told_already(told, wf_origins_find(&s->origins, field), 16))
        return;
    if (wf_vlan_set_parse(v, &set, &err))
        wf_scen_complain(s, false, field, NULL, "%s", err.msg);
    else if (v->svi && !wf_vlan_has(&set, v->svi))
        wf_scen_complain(s, false, &v->svi, NULL, "svi: VLAN %u is none that the port carries",
                         v->svi);
}

static void check_port(struct wf_scenario *s, const struct wf_switch_port_cfg *c, const char *where,
                       struct told *told)
{
    for (unsigned tc = 0; tc < 8; tc++)
        check_class(s, c, tc, where, told);
    check_vlan(s, c, told);
}

void wf_scen_check_maps(struct wf_scenario *s)
{
    struct told told = {.n = 0};

    for (uint32_t i = 0; i < s->desc.n_switches; i++)
        check_port(s, &s->desc.switches[i].cfg.port, s->desc.switches[i].name, &told);
    for (uint32_t i = 0; i < s->desc.n_links; i++)
        for (int end = 0; end < 2; end++)
            if (s->desc.links[i].port_cfg[end])
                check_port(s, s->desc.links[i].port_cfg[end], wf_scen_port(s, i, end), &told);
}
