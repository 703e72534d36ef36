/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watermarks of a live fabric: the user's, which can be cleared in sonic-clear's words, and the
 * persistent ones, which are counters of the run and cannot.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/commands.h"
#include "cap/json.h"
#include "ctl/names.h"
#include "scen/match.h"
#include "switch/watermark.h"

/* Both of a kind. */
static void put(json_t *r, const struct wf_switch *sw, enum wf_watermark kind, unsigned port,
                unsigned i, const char *key)
{
    char user[64];

    snprintf(user, sizeof(user), "user_%s", key);
    json_object_set_new(r, user, wf_json_u64(wf_switch_watermark(sw, kind, port, i, false)));
    json_object_set_new(r, key, wf_json_u64(wf_switch_watermark(sw, kind, port, i, true)));
}

static json_t *row(json_t *rows, const char *at, const char *of, const char *part, unsigned i)
{
    char name[WF_CTR_NAME_MAX];
    json_t *r;

    snprintf(name, sizeof(name), "%s.%s%u", of, part, i);
    if (at && !wf_match(at, name))
        return NULL;
    r = json_pack("{s:s}", "name", name);
    json_array_append_new(rows, r);
    return r;
}

static void of_port(json_t *rows, const char *at, const struct wf_switch *sw, unsigned port)
{
    const struct wf_port *p = &sw->node.ports[port];
    json_t *r;

    for (unsigned i = 0; i < WF_PGS; i++)
        if (sw->pg[port][i].ctr[WF_PG_RX_FRAMES] && (r = row(rows, at, p->name, "pg", i))) {
            put(r, sw, WF_WATERMARK_PG_SHARED, port, i, "shared_max_bytes");
            put(r, sw, WF_WATERMARK_PG_HEADROOM, port, i, "headroom_max_bytes");
        }
    for (unsigned i = 0; i < WF_QUEUES; i++)
        if (p->q[i].ctr[WF_QUEUE_ENQ_FRAMES] && (r = row(rows, at, p->name, "q", i)))
            put(r, sw, WF_WATERMARK_QUEUE, port, i, "queue_max_bytes");
}

static void of_pools(json_t *rows, const char *at, const struct wf_switch *sw)
{
    json_t *r;

    for (unsigned i = 0; i < WF_POOLS; i++) {
        if (sw->ipool[i].ctr[WF_POOL_MAX_BYTES] && (r = row(rows, at, sw->node.name, "ipool", i))) {
            put(r, sw, WF_WATERMARK_POOL, 0, i, "pool_max_bytes");
            put(r, sw, WF_WATERMARK_POOL_HEADROOM, 0, i, "headroom_max_bytes");
        }
        if (sw->epool[i].ctr[WF_POOL_MAX_BYTES] && (r = row(rows, at, sw->node.name, "epool", i)))
            put(r, sw, WF_WATERMARK_EGRESS_POOL, 0, i, "pool_max_bytes");
    }
}

json_t *wf_ctl_watermarks(struct wf_fabric *f, const char *at)
{
    json_t *rows = json_array();

    for (uint32_t n = 0; n < f->n_nodes; n++) {
        const struct wf_switch *sw = (const struct wf_switch *)f->nodes[n];

        if (sw->node.ops != &wf_switch_ops)
            continue;
        for (unsigned p = 0; p < sw->node.n_ports; p++)
            of_port(rows, at, sw, p);
        of_pools(rows, at, sw);
    }
    return rows;
}

static const struct {
    const char *what;
    unsigned kinds;
} clears[] = {
    {"priority-group watermark shared", 1u << WF_WATERMARK_PG_SHARED},
    {"priority-group watermark headroom", 1u << WF_WATERMARK_PG_HEADROOM},
    {"queue watermark unicast", 1u << WF_WATERMARK_QUEUE},
    {"buffer_pool watermark", 1u << WF_WATERMARK_POOL | 1u << WF_WATERMARK_EGRESS_POOL},
    {"headroom-pool watermark", 1u << WF_WATERMARK_POOL_HEADROOM},
};
const char *const wf_ctl_clears[] = {
    "priority-group watermark shared", "priority-group watermark headroom",
    "queue watermark unicast",         "buffer_pool watermark",
    "headroom-pool watermark",         NULL};

int wf_ctl_clear(struct wf_fabric *f, const char *what, const char *at, struct wf_err *err)
{
    const size_t n_clears = sizeof(clears) / sizeof(clears[0]);
    json_t *names = json_array();
    size_t c = 0, n = 0;
    int rc = 0;

    while (c < n_clears && strcmp(clears[c].what, what))
        c++;
    if (c == n_clears)
        rc = wf_ctl_not_one_of("thing to clear", what, wf_ctl_clears, n_clears, err);
    for (uint32_t i = 0; i < f->n_nodes && !rc; i++) {
        struct wf_node *node = f->nodes[i];

        if (node->ops != &wf_switch_ops)
            continue;
        json_array_append_new(names, json_string(node->name));
        if (at && !wf_match(at, node->name))
            continue;
        wf_switch_watermarks_clear((struct wf_switch *)node, &f->arena, clears[c].kinds, false);
        n++;
    }
    if (!rc && !n)
        rc = wf_ctl_nothing_fits("switches", at ? at : "", names, err);
    json_decref(names);
    return rc;
}
