/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCBX as rules: what a port says of its configuration, and what becomes of the peer's word. The
 * tables of outcomes are written out from 802.1Q clause 38, not computed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mgmt/dcbx.h"

static const uint8_t low[6] = {2, 0, 0, 0, 0, 1}, high[6] = {2, 0, 0, 0, 0, 2};

static struct wf_switch_port_cfg port_cfg(void)
{
    struct wf_switch_cfg c;

    wf_switch_cfg_defaults(&c);
    return c.port;
}

static void a_port_says_how_it_is_configured(void **state)
{
    static const uint8_t tc[8] = {0, 0, 0, 3, 0, 0, 6, 0}, bw[8] = {50, 0, 0, 50};
    struct wf_switch_port_cfg c = port_cfg();
    struct wf_dcbx d;

    (void)state;
    memcpy(c.tc_to_queue, tc, 8);
    c.queue[6].sched = WF_SCHED_STRICT;
    c.pg[3].lossless = true;
    wf_dcbx_of_port(&c, &d);
    assert_memory_equal(d.cfg.tc, tc, 8);
    assert_memory_equal(d.cfg.bw, bw, 8);
    assert_int_equal(d.cfg.tsa[0], WF_TSA_ETS);
    assert_int_equal(d.cfg.tsa[3], WF_TSA_ETS);
    assert_int_equal(d.cfg.tsa[6], WF_TSA_STRICT);
    assert_int_equal(d.cfg.willing, 0);
    assert_memory_equal(&d.rec, &d.cfg, sizeof(d.rec));
    assert_int_equal(d.pfc.enable, 1 << 3);
    assert_int_equal(d.pfc.cap, 8);
    assert_int_equal(d.n_apps, 1);
    assert_int_equal(d.apps[0].sel, 3);
    assert_int_equal(d.apps[0].protocol, 4791);
    assert_int_equal(d.apps[0].prio, 3);
}

/* Groups may pause another priority; PCP goes by its own map; nothing lossless, no RoCE entry. */
static void maps_are_followed(void **state)
{
    struct wf_switch_port_cfg c = port_cfg();
    struct wf_dcbx d;

    (void)state;
    c.trust = WF_TRUST_PCP;
    c.pcp_to_tc[5] = 2;
    c.tc_to_queue[2] = 7;
    wf_dcbx_of_port(&c, &d);
    assert_int_equal(d.cfg.tc[5], 7);
    assert_int_equal(d.pfc.enable, 0);
    assert_int_equal(d.flags & WF_DCBX_HAS_APP, 0);
    c.pg[1].lossless = c.pg[4].lossless = true;
    c.pg_to_pfc_priority[1] = 6;
    c.dcbx.app[0] = (struct wf_dcbx_app_cfg){WF_APP_DSCP, 48, 6};
    c.dcbx.roce = WF_DCBX_ROCE_PRIO + 5;
    c.dcbx.pfc_willing = true;
    c.dcbx.recommend = false;
    wf_dcbx_of_port(&c, &d);
    assert_int_equal(d.pfc.enable, 1 << 6 | 1 << 4);
    assert_int_equal(d.pfc.willing, 1);
    assert_int_equal(d.n_apps, 2);
    assert_int_equal(d.apps[0].prio, 5);
    assert_int_equal(d.apps[1].sel, 5);
    assert_int_equal(d.apps[1].protocol, 48);
    assert_int_equal(d.flags & WF_DCBX_HAS_REC, 0);
    c.pfc.enable = false;
    c.dcbx.roce = WF_DCBX_ROCE_NONE;
    wf_dcbx_of_port(&c, &d);
    assert_int_equal(d.pfc.enable, 0);
    assert_int_equal(d.n_apps, 1);
}

/* Whatever the weights, the shares are 100 in all, and off by less than one each. */
static void shares_are_a_hundred(void **state)
{
    static const uint32_t weights[][8] = {{1, 1, 1, 1, 1, 1, 1, 1},
                                          {1, 1, 1, 1000, 1, 1, 1, 1},
                                          {7, 11, 13, 17, 19, 23, 29, 31},
                                          {1, 2, 0, 0, 0, 0, 0, 0}};

    (void)state;
    for (size_t k = 0; k < sizeof(weights) / sizeof(weights[0]); k++) {
        struct wf_switch_port_cfg c = port_cfg();
        unsigned sum = 0, all = 0;
        struct wf_dcbx d;

        for (unsigned q = 0; q < 8; q++) {
            c.queue[q].weight = weights[k][q];
            all += weights[k][q];
        }
        wf_dcbx_of_port(&c, &d);
        for (unsigned q = 0; q < 8; q++) {
            double exact = 100.0 * weights[k][q] / all;

            assert_true(d.cfg.bw[q] > exact - 1 && d.cfg.bw[q] < exact + 1);
            sum += d.cfg.bw[q];
        }
        assert_int_equal(sum, 100);
    }
}

/* 802.1Q 38.4.2: who is willing, whose address is lower, whose PFC it is then. */
static void pfc_is_symmetric(void **state)
{
    static const struct {
        bool own_willing, peer_has, peer_willing, own_is_lower, peers;
    } rows[] = {
        {false, true, false, true, false}, {false, true, true, true, false},
        {false, true, true, false, false}, {true, false, false, false, false},
        {true, true, false, true, true},   {true, true, false, false, true},
        {true, true, true, true, false},   {true, true, true, false, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_dcbx own = {.flags = WF_DCBX_HAS_PFC, .pfc = {.enable = 8}};
        struct wf_dcbx peer = {.pfc = {.enable = 16}};
        struct wf_dcbx_oper o;

        own.pfc.willing = rows[i].own_willing;
        peer.flags = rows[i].peer_has ? WF_DCBX_HAS_PFC : WF_DCBX_HAS_CFG;
        peer.pfc.willing = rows[i].peer_willing;
        wf_dcbx_resolve(&own, false, rows[i].own_is_lower ? low : high, &peer,
                        rows[i].own_is_lower ? high : low, &o);
        assert_int_equal(o.pfc_of_peer, rows[i].peers);
        assert_int_equal(o.pfc.enable, rows[i].peers ? 16 : 8);
        /* and both ends agree when the other one resolves likewise */
        if (rows[i].peer_has && own.pfc.willing && peer.pfc.willing) {
            struct wf_dcbx_oper other;

            wf_dcbx_resolve(&peer, false, rows[i].own_is_lower ? high : low, &own,
                            rows[i].own_is_lower ? low : high, &other);
            assert_int_equal(other.pfc.enable, o.pfc.enable);
        }
    }
}

/* 38.4.1: only our own willing bit counts, and only a recommendation is taken. */
static void ets_is_asymmetric(void **state)
{
    struct wf_dcbx own = {.cfg = {.bw = {100}}}, peer = {.cfg = {.bw = {1}}, .rec = {.bw = {2}}};
    struct wf_dcbx_oper o;

    (void)state;
    peer.flags = WF_DCBX_HAS_CFG | WF_DCBX_HAS_REC;
    wf_dcbx_resolve(&own, false, low, &peer, high, &o);
    assert_int_equal(o.ets.bw[0], 100);
    own.cfg.willing = 1;
    wf_dcbx_resolve(&own, false, low, &peer, high, &o);
    assert_int_equal(o.ets.bw[0], 2);
    assert_true(o.ets_of_peer && o.ets.willing);
    peer.cfg.willing = 1;
    wf_dcbx_resolve(&own, false, low, &peer, high, &o);
    assert_int_equal(o.ets.bw[0], 2);
    peer.flags = WF_DCBX_HAS_CFG;
    wf_dcbx_resolve(&own, false, low, &peer, high, &o);
    assert_int_equal(o.ets.bw[0], 100);
    wf_dcbx_resolve(&own, false, low, NULL, NULL, &o);
    assert_int_equal(o.ets.bw[0], 100);
}

static void applications_are_taken_when_willing(void **state)
{
    struct wf_dcbx own = {.flags = WF_DCBX_HAS_APP, .n_apps = 1, .apps = {{3, 0, 3, 4791}}};
    struct wf_dcbx peer = {.flags = WF_DCBX_HAS_APP, .n_apps = 1, .apps = {{5, 0, 4, 4791}}};
    struct wf_dcbx_oper o;

    (void)state;
    wf_dcbx_resolve(&own, false, low, &peer, high, &o);
    assert_int_equal(o.roce, 3);
    wf_dcbx_resolve(&own, true, low, &peer, high, &o);
    assert_int_equal(o.roce, 5);
    peer.flags = WF_DCBX_HAS_PFC;
    wf_dcbx_resolve(&own, true, low, &peer, high, &o);
    assert_int_equal(o.roce, 3);
}

static void cee_is_shown_never_taken(void **state)
{
    struct wf_dcbx own = {.flags = WF_DCBX_HAS_PFC, .pfc = {.willing = 1, .enable = 8}};
    struct wf_dcbx peer = {.flags = WF_DCBX_HAS_CEE | WF_DCBX_HAS_CEE_PFC | WF_DCBX_HAS_CEE_APP,
                           .cee_pfc_hdr = {.enable = 1},
                           .cee_pfc = {.enable = 0x18},
                           .n_cee_apps = 1,
                           .cee_apps = {{4791, 0, 1, 0x1b21, 1 << 4}}};
    struct wf_dcbx_oper o;
    char text[WF_DCBX_DIFFERENCES_TEXT];

    (void)state;
    wf_dcbx_resolve(&own, true, high, &peer, low, &o);
    assert_int_equal(o.pfc.enable, 8);
    assert_int_equal(o.roce, -1);
    assert_int_equal(wf_dcbx_differences(&own, &peer), WF_DCBX_DIFF_PFC | WF_DCBX_DIFF_ROCE);
    assert_string_equal(wf_dcbx_differences_text(&own, &peer, text, sizeof(text)),
                        "PFC differs: 3 here, 3,4 at the peer; priority of UDP 4791 differs: none "
                        "here, 4 at the peer");
    peer.cee_pfc_hdr.enable = 0; /* the feature is off */
    assert_string_equal(wf_dcbx_differences_text(&own, &peer, text, sizeof(text)),
                        "PFC differs: 3 here, none at the peer; priority of UDP 4791 differs: "
                        "none here, 4 at the peer");
}

static void disagreements_are_named(void **state)
{
    struct wf_switch_port_cfg c = port_cfg();
    struct wf_dcbx own, peer;
    char text[WF_DCBX_DIFFERENCES_TEXT];

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        c.tc_to_queue[i] = i == 3 ? 3 : 0;
    c.pg[3].lossless = true;
    wf_dcbx_of_port(&c, &own);
    peer = own;
    assert_int_equal(wf_dcbx_differences(&own, &peer), 0);
    assert_int_equal(wf_dcbx_differences(&own, NULL), 0);
    peer.cfg.bw[5] = 9; /* no priority has that class */
    peer.cfg.willing = peer.pfc.willing = 1;
    peer.pfc.cap = 2;
    assert_int_equal(wf_dcbx_differences(&own, &peer), 0);
    peer.cfg.tsa[3] = WF_TSA_STRICT;
    assert_string_equal(wf_dcbx_differences_text(&own, &peer, text, sizeof(text)),
                        "ETS differs: 00030000 0:50% 3:50% here, 00030000 0:50% 3:strict at the "
                        "peer");
    peer.cfg = own.cfg;
    peer.cfg.tc[0] = 15; /* names no class: not looked up */
    assert_int_equal(wf_dcbx_differences(&own, &peer), WF_DCBX_DIFF_ETS);
    peer = own;
    peer.flags &= ~(uint32_t)WF_DCBX_HAS_APP; /* does not say: no disagreement */
    assert_int_equal(wf_dcbx_differences(&own, &peer), 0);
}

static void the_peer_is_what_it_sent(void **state)
{
    static const struct {
        uint32_t flags;
        bool ets, pfc;
        enum wf_dcbx_peer is;
        const char *name;
    } rows[] = {
        {0, false, false, WF_DCBX_SILENT, "silent"},
        {WF_DCBX_HAS_PFC, false, true, WF_DCBX_IEEE_WILLING, "ieee_willing"},
        {WF_DCBX_HAS_CFG, true, false, WF_DCBX_IEEE_WILLING, "ieee_willing"},
        {WF_DCBX_HAS_APP, false, false, WF_DCBX_IEEE_FIXED, "ieee_not_willing"},
        {WF_DCBX_HAS_CEE, false, false, WF_DCBX_CEE_ONLY, "cee"},
        {WF_DCBX_HAS_PRE_CEE, false, false, WF_DCBX_CEE_ONLY, "cee"},
        {WF_DCBX_HAS_CEE | WF_DCBX_HAS_PFC, false, true, WF_DCBX_BOTH, "ieee_and_cee"},
        {WF_DCBX_MALFORMED | WF_DCBX_HAS_PFC, false, true, WF_DCBX_BROKEN, "malformed"},
    };

    (void)state;
    assert_int_equal(wf_dcbx_peer_of(NULL), WF_DCBX_SILENT);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_dcbx d = {
            .flags = rows[i].flags, .cfg.willing = rows[i].ets, .pfc.willing = rows[i].pfc};

        assert_int_equal(wf_dcbx_peer_of(&d), rows[i].is);
        assert_string_equal(wf_dcbx_peer_name(wf_dcbx_peer_of(&d)), rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_says_how_it_is_configured),
        cmocka_unit_test(maps_are_followed),
        cmocka_unit_test(shares_are_a_hundred),
        cmocka_unit_test(pfc_is_symmetric),
        cmocka_unit_test(ets_is_asymmetric),
        cmocka_unit_test(applications_are_taken_when_willing),
        cmocka_unit_test(cee_is_shown_never_taken),
        cmocka_unit_test(disagreements_are_named),
        cmocka_unit_test(the_peer_is_what_it_sent),
    };

    return cmocka_run_group_tests_name("mgmt/dcbx", tests, NULL, NULL);
}
