/* SPDX-License-Identifier: BSD-3-Clause */
/* Two model hosts that meet by the connection manager: what tests of endpoints begin with. */
#ifndef WEFT_TESTS_HOST_MEET_H
#define WEFT_TESTS_HOST_MEET_H

#include <stdio.h>
#include <string.h>

#include "support.h"

#include "host/offer.h"
#include "xport/work.h"

enum { PORT = 7174 };

static struct {
    struct wf_arena arena;
    struct wf_desc d;
    struct wf_fabric *f;
} s;

/* Two leaves with a host each, h1 listens. */
static int start(void **state)
{
    (void)state;
    memset(&s, 0, sizeof(s));
    s.d.seed = 3;
    s.d.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&s.d, &s.arena, 2, 1, 1);
    s.d.flows = WF_ARENA_ARRAY(&s.arena, struct wf_desc_flow, 8);
    s.d.hosts[1].cfg.listen.port = PORT;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    wf_fabric_free(s.f);
    wf_arena_free(&s.arena);
    return 0;
}

static struct wf_flow_cfg *flow(uint16_t port, uint64_t size, uint32_t count)
{
    struct wf_desc_flow *w = &s.d.flows[s.d.n_flows];

    *w = (struct wf_desc_flow){
        .name = wf_arena_printf(&s.arena, "f%u", s.d.n_flows++), .from = 0, .to = 1};
    wf_keyset_defaults(&wf_flow_keys, &w->cfg);
    w->cfg.connect = port;
    w->cfg.size_bytes = size;
    w->cfg.count = count;
    w->cfg.path_mtu = 1024;
    return &w->cfg;
}

static void run(void)
{
    struct wf_fabric_opts opts = {0};
    struct wf_err err = {0};

    wf_desc_address(&s.d, &s.arena);
    if (wf_fabric_build(&s.f, &s.d, &opts, &err))
        fail_msg("%s", err.msg);
    wft_run(s.f, WF_TIME_NEVER);
    wf_fabric_settle(s.f);
    wft_check(s.f);
}

static uint64_t *counters(const char *name, const struct wf_ctr_table *table)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(s.f, wf_ctr_table_bit(table));

    while (wf_ctr_next(&w))
        if (!strcmp(w.holder, name))
            return w.values;
    fail_msg("no counters of %s", name);
    return NULL;
}

#define FLOW(c)     counters("flow.f0", &wf_ctrs_flow)[WF_FLOW_##c]
#define ENDPOINT(c) counters("h1", &wf_ctrs_endpoint)[WF_ENDPOINT_##c]

#endif
