/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What NIC profiles do to a scenario. Today's profiles have the standards' figures, so two are
 * replaced at link time by NICs that nobody makes: connectx7 is slow to obey a pause and selective,
 * e810 begins messages anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "eth/pfc.h"
#include "fabric/fabric.h"
#include "host/profile.h"
#include "scen/scen_priv.h"
#include "support.h"
#include "xport/qp.h"

#define HEAD                                                                                       \
    "weft: 1\nname: t\ntopology: {kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 4}\n"    \
    "lossless: best_effort\n"
#define NICS                                                                                       \
    "hosts: {'h[0-1]': {nic: {profile: connectx7}}, h2: {nic: {profile: e810}, pfc: {response: "   \
    "1us}}}\n"

const struct wf_nic_profile *__wrap_wf_nic_profile_of(const struct wf_nic_cfg *nic);
const struct wf_nic_profile *__real_wf_nic_profile_of(const struct wf_nic_cfg *nic);

const struct wf_nic_profile *__wrap_wf_nic_profile_of(const struct wf_nic_cfg *nic)
{
    static struct wf_nic_profile fake[2];

    for (int i = 0; i < 2; i++) {
        struct wf_nic_cfg of = {.profile = i ? WF_NIC_E810 : WF_NIC_CONNECTX7};

        fake[i] = *__real_wf_nic_profile_of(&of);
        fake[i].response_ps = i ? 7 * WF_PS_PER_US : 3 * WF_PS_PER_US;
        fake[i].response_source = "made up";
        fake[i].retransmit = i ? WF_GO_BACK_0 : WF_SELECTIVE;
        fake[i].retransmit_source = "a tale";
    }
    return nic->profile == WF_NIC_CONNECTX7 ? &fake[0]
           : nic->profile == WF_NIC_E810    ? &fake[1]
                                            : __real_wf_nic_profile_of(nic);
}

static void load(struct wf_scenario *s, const char *text)
{
    if (wf_scenario_parse(s, "t.yaml", text, strlen(text))) {
        wf_diags_print(&s->diags, stderr);
        fail();
    }
}

static char *text_of(const struct wf_scenario *s, void (*print)(const struct wf_scenario *, FILE *))
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    print(s, f);
    fclose(f);
    return text;
}

/* The profile's where the host has none; ports have it, and so the headroom of their peers. */
static void response_to_pfc(void **state)
{
    static const uint64_t us[] = {3, 3, 1};
    struct wf_pg_limits lim[4];
    struct wf_pg_bounds bounds[4];
    struct wf_scenario s;
    struct wf_fabric *f;

    (void)state;
    load(&s, HEAD NICS);
    f = wft_build_some(&s.desc, 15);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(wf_pfc_of(&wf_fabric_host(f, i)->ports[0])->response_ps,
                         us[i] * WF_PS_PER_US);
    assert_int_equal(s.desc.hosts[3].cfg.pfc.response_ps, WF_KEY_AUTO);
    wf_fabric_free(f);
    wf_scenario_free(&s);
    load(&s, HEAD NICS "switches: {'*': {pg: {3: {lossless: true}}}}\n");
    for (uint32_t i = 0; i < 4; i++)
        wf_scen_pg(&s, i, s.desc.links[i].a.is_host, 3, &lim[i], &bounds[i]);
    /* 2 us more at 100 Gbit/s */
    assert_int_equal(bounds[0].headroom - bounds[2].headroom, 25000);
    assert_true(bounds[2].headroom < bounds[0].headroom);
    wf_scenario_free(&s);
}

struct row {
    const char *workload;
    int mode;
};

/* What the sender's NIC does, selective only where the receiver's does and weft knows it; what a
 * flow names it gets. */
static void retransmission(void **state)
{
    static const struct row rows[] = {
        {"from: h0, to: h1", WF_SELECTIVE},
        {"from: h0, to: h3", WF_GO_BACK_N},
        {"from: h0, to: h2", WF_GO_BACK_N},
        {"from: h3, to: h0", WF_GO_BACK_N},
        {"from: h2, to: h3", WF_GO_BACK_0},
        {"from: h2, to: h0", WF_GO_BACK_0},
        {"from: h0, to: h1, op: read", WF_SELECTIVE},
        {"from: h0, to: h1, op: send", WF_SELECTIVE},
        {"from: h0, to: h1, op: send, service: uc", WF_GO_BACK_N},
        {"from: h2, to: h3, op: send, service: uc", WF_GO_BACK_N},
        {"from: h0, to: h1, retransmit: go_back_n", WF_GO_BACK_N},
        {"from: h0, to: h1, retransmit: go_back_0", WF_GO_BACK_0},
        {"from: h3, to: h2, retransmit: selective", WF_SELECTIVE},
    };
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_scenario s;
        const struct wf_desc_flow *f;

        snprintf(text, sizeof(text), HEAD NICS "workload: [{name: w, %s}]\n", rows[i].workload);
        load(&s, text);
        f = &s.desc.flows[0];
        assert_int_equal(wf_flow_retransmit(&f->cfg, &s.desc.hosts[f->from].cfg.nic,
                                            &s.desc.hosts[f->to].cfg.nic),
                         rows[i].mode);
        wf_scenario_free(&s);
    }
}

static uint64_t ctr(struct wf_fabric *f, const char *name, enum wf_ctr_FLOW c)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_flow));

    while (wf_ctr_next(&w))
        if (!strcmp(w.holder, name))
            return w.values[c];
    fail_msg("no %s", name);
    return 0;
}

/* With losses, what runs is what was resolved: packets are placed early between two NICs that are
 * selective, and nowhere else; their flow has a RETH in each packet, and its ideal time them. */
static void losses_show_it(void **state)
{
    struct wf_scenario s;
    struct wf_fabric *f;

    (void)state;
    load(&s, HEAD NICS "workload:\n"
                       "  - {name: a, from: h0, to: h1, size: 400kB}\n"
                       "  - {name: b, from: h1, to: h3, size: 400kB}\n"
                       "timeline: [{at: 0, do: inject_drop, where: 'leaf0:p*', every: 40, match: "
                       "roce_data}]\n");
    f = wft_build_some(&s.desc, 15);
    wft_run(f, WF_TIME_NEVER);
    wf_fabric_settle(f);
    assert_true(ctr(f, "flow.a", WF_FLOW_RETX_PACKETS) > 0);
    assert_true(ctr(f, "flow.b", WF_FLOW_RETX_PACKETS) > 0);
    assert_true(ctr(f, "flow.a", WF_FLOW_PLACED_EARLY) > 0);
    assert_int_equal(ctr(f, "flow.b", WF_FLOW_PLACED_EARLY), 0);
    assert_true(ctr(f, "flow.b", WF_FLOW_IDEAL_PS) > 0);
    assert_true(ctr(f, "flow.a", WF_FLOW_IDEAL_PS) > ctr(f, "flow.b", WF_FLOW_IDEAL_PS));
    wf_fabric_free(f);
    wf_scenario_free(&s);
}

static void it_is_told_where_from(void **state)
{
    struct wf_scenario s;
    char *text;

    (void)state;
    load(&s, HEAD NICS "workload:\n"
                       "  - {name: a, kind: incast, from: ['h0', 'h[2-3]'], to: h1}\n"
                       "  - {name: b, from: h0, to: h3, retransmit: go_back_n}\n"
                       "  - {name: c, from: h0, to: h3}\n");
    text = text_of(&s, wf_scenario_explain);
    assert_non_null(strstr(text, "  pfc.response = 3us  # NIC profile connectx7: made up\n"));
    assert_non_null(strstr(text, "  pfc.response = 1us  # t.yaml:5:"));
    assert_non_null(strstr(text, "  retransmit of 1 flow = selective  # NIC profile connectx7: a "
                                 "tale\n  retransmit of 1 flow = go_back_0  # NIC profile e810: a "
                                 "tale\n"));
    assert_non_null(strstr(text, "  retransmit of 1 flow = go_back_n  # NIC profile generic: IBA "
                                 "9.7.5\n"));
    assert_non_null(strstr(text, "  retransmit of 1 flow = go_back_n  # NIC profile connectx7: a "
                                 "tale, not for these receivers or messages\n"));
    assert_non_null(strstr(text, "  retransmit = go_back_n  # t.yaml:8:"));
    free(text);
    text = text_of(&s, wf_scen_cc_text);
    assert_string_equal(text,
                        "NICs: 1 generic, 2 connectx7, 1 e810\n"
                        "NIC profile connectx7, where a key says auto: PFC response 3us (made up), "
                        "retransmission selective (a tale)\n"
                        "NIC profile e810, where a key says auto: PFC response 7us (made up), "
                        "retransmission go_back_0 (a tale)\n");
    free(text);
    wf_scenario_free(&s);
    load(&s, HEAD "workload: [{name: a, from: h0, to: h1}]\n");
    text = text_of(&s, wf_scen_cc_text);
    assert_string_equal(text, "");
    free(text);
    wf_scenario_free(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(response_to_pfc),
        cmocka_unit_test(retransmission),
        cmocka_unit_test(losses_show_it),
        cmocka_unit_test(it_is_told_where_from),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
