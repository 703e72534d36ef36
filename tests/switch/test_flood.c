/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flooding: MAC addresses that age out or whose port goes down while ARP entries live, to whom a
 * frame is flooded then, and lossless classes that are not to be flooded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#define US WF_PS_PER_US

enum { HOSTS = 3, AGE = 100 };

static struct wf_arena arena;
static struct wf_desc desc;

static struct wf_fabric *start(int forwarding, uint64_t age_ps, int flood_lossless)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "flood",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 2, 2, HOSTS);
    for (uint32_t i = 0; i < desc.n_switches; i++) {
        struct wf_switch_cfg *c = &desc.switches[i].cfg;

        c->forwarding = forwarding;
        c->mac_age_ps = age_ps;
        c->flood_lossless = flood_lossless;
        c->port.pg[3].lossless = true;
    }
    wf_desc_address(&desc, &arena);
    return wft_build(&desc);
}

static void send(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len, hdr = wft_roce(f, from, to, dscp, 2, 1, 256, buf, &len);

    wft_send(f, from, wf_fabric_now_ps(f), dscp / 8u, buf, hdr, len);
}

/* Who got a frame since the last time, as a mask. */
static unsigned heard(struct wf_fabric *f)
{
    unsigned mask = 0;

    for (uint32_t i = 0; i < desc.n_hosts; i++) {
        mask |= wft_probe(f, i)->n_seen ? 1u << i : 0;
        wft_probe(f, i)->n_seen = 0;
    }
    return mask;
}

static void end(struct wf_fabric *f)
{
    wft_run(f, WF_TIME_NEVER);
    wft_check(f);
    wf_fabric_free(f);
}

static uint64_t drops(struct wf_fabric *f, enum wf_reason why)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < desc.n_switches; i++)
        for (uint16_t p = 0; p < wf_fabric_switch(f, i)->n_ports; p++)
            n += wf_fabric_switch(f, i)->ports[p].drops[why];
    return n;
}

/* Hosts 0 to 2 are leaf 0's, 3 to 5 leaf 1's. A routed leaf floods what is for a host of its own
 * that has been silent, to its hosts and to the spines, which have no use for it. */
static void a_routed_leaf_floods_for_a_silent_host(void **state)
{
    struct wf_fabric *f = start(WF_FORWARD_ROUTED, AGE * US, WF_FLOOD_LOSSLESS_FORWARD);

    send(f, 0, 3, 26);
    wft_run(f, 90 * US);
    assert_int_equal(heard(f), 1 << 3); /* as fresh as ARP at the start */
    wft_run(f, 101 * US);
    send(f, 0, 3, 26);
    wft_run(f, 150 * US);
    assert_int_equal(heard(f), 1 << 3 | 1 << 4 | 1 << 5);
    assert_int_equal(drops(f, WF_DROP_NOT_ROUTABLE), 1); /* at the spine that it did not come by */
    send(f, 3, 4, 0); /* 3 is heard of, and 4 is not known to leaf 1 either */
    wft_run(f, 200 * US);
    assert_int_equal(heard(f), 1 << 4 | 1 << 5);
    send(f, 0, 3, 26);
    wft_run(f, 245 * US);
    assert_int_equal(heard(f), 1 << 3);
    end(f);
}

/* The age itself, to the picosecond: known while it is not older than that. */
static void an_address_is_known_for_its_age(void **state)
{
    for (int late = 0; late < 2; late++) {
        struct wf_fabric *f;
        uint64_t arrives;

        f = start(WF_FORWARD_ROUTED, WF_KEY_AUTO, WF_FLOOD_LOSSLESS_FORWARD);
        send(f, 1, 0, 26);
        wft_run(f, WF_TIME_NEVER); /* its last bit comes to the leaf a link before the host's */
        arrives = wft_probe(f, 0)->seen[0].t_ps - 1000 * WF_PS_PER_NS -
                  (wft_probe(f, 0)->seen[0].t_ps - wft_probe(f, 0)->seen[0].first_ps);
        end(f);
        f = start(WF_FORWARD_ROUTED, arrives - (uint64_t)late, WF_FLOOD_LOSSLESS_FORWARD);
        send(f, 1, 0, 26);
        wft_run(f, 50 * US);
        assert_int_equal(heard(f), late ? 1 << 0 | 1 << 2 : 1 << 0);
        end(f);
    }
}

/* A port that goes down takes its address along at once, and the link alone does not bring it
 * back. */
static void a_dead_port_is_forgotten(void **state)
{
    struct wf_fabric *f = start(WF_FORWARD_ROUTED, AGE * WF_PS_PER_S, WF_FLOOD_LOSSLESS_FORWARD);
    struct wf_link *link = wf_fabric_switch(f, 1)->ports[0].link;

    wf_fabric_link_set(f, link, false);
    send(f, 0, 3, 26);
    wft_run(f, 50 * US);
    assert_int_equal(heard(f), 1 << 4 | 1 << 5);
    wf_fabric_link_set(f, link, true);
    send(f, 0, 3, 26);
    wft_run(f, 100 * US);
    assert_int_equal(heard(f), 1 << 3 | 1 << 4 | 1 << 5);
    send(f, 3, 0, 26);
    wft_run(f, 150 * US);
    assert_int_equal(heard(f), 1 << 0);
    send(f, 0, 3, 26);
    wft_run(f, 200 * US);
    assert_int_equal(heard(f), 1 << 3);
    end(f);
}

/* In one broadcast domain it floods along the tree, to everybody but the sender. */
static void a_bridge_floods_for_a_silent_host(void **state)
{
    struct wf_fabric *f = start(WF_FORWARD_L2, AGE * US, WF_FLOOD_LOSSLESS_FORWARD);

    send(f, 3, 0, 26); /* nobody is known at the start */
    wft_run(f, 50 * US);
    assert_int_equal(heard(f), 0x37);
    send(f, 0, 3, 26);
    wft_run(f, 101 * US);
    assert_int_equal(heard(f), 1 << 3);
    wft_run(f, 160 * US);
    send(f, 0, 3, 26); /* it was last heard of just after the start */
    wft_run(f, 190 * US);
    assert_int_equal(heard(f), 0x3e);
    send(f, 3, 0, 26); /* 0 was heard of on the way there */
    wft_run(f, 220 * US);
    assert_int_equal(heard(f), 1 << 0);
    send(f, 0, 3, 26);
    wft_run(f, 250 * US);
    assert_int_equal(heard(f), 1 << 3);
    end(f);
}

/* Addresses that a bridge has learned itself age as well. */
static void what_was_learned_ages(void **state)
{
    for (int age = 0; age < 2; age++) {
        struct wf_fabric *f =
            start(WF_FORWARD_L2, age ? AGE * US : WF_KEY_AUTO, WF_FLOOD_LOSSLESS_FORWARD);
        uint8_t buf[WF_ROCE_HDR_MAX], mac[6] = {2, 9, 9, 9, 9, 9};
        uint32_t len, hdr = wft_roce(f, 2, 1, 0, 2, 1, 256, buf, &len);

        memcpy(buf + 6, mac, 6); /* a second address behind host 2 */
        wft_send(f, 2, 0, 0, buf, hdr, len);
        for (int late = 0; late < 2; late++) {
            wft_run(f, late ? 200 * US : 50 * US);
            heard(f);
            hdr = wft_roce(f, 0, 1, 0, 2, 1, 256, buf, &len);
            memcpy(buf, mac, 6);
            wft_send(f, 0, wf_fabric_now_ps(f), 0, buf, hdr, len);
            wft_run(f, wf_fabric_now_ps(f) + 40 * US);
            assert_int_equal(heard(f), late && age ? 0x3e : 1 << 2);
        }
        end(f);
    }
}

/* Told so, a switch drops what it would flood in a lossless group, and nothing else. */
static void lossless_packets_need_not_flood(void **state)
{
    for (int l2 = 0; l2 < 2; l2++) {
        struct wf_fabric *f =
            start(l2 ? WF_FORWARD_L2 : WF_FORWARD_ROUTED, AGE * US, WF_FLOOD_LOSSLESS_DROP);

        send(f, 3, 0, 0); /* an l2 switch learns from it */
        wft_run(f, 50 * US);
        heard(f);
        send(f, 0, 3, 26);
        wft_run(f, 101 * US);
        assert_int_equal(heard(f), 1 << 3);
        wft_run(f, 160 * US);
        send(f, 0, 3, 26);
        wft_run(f, 190 * US);
        assert_int_equal(heard(f), 0);
        assert_int_equal(drops(f, WF_DROP_FLOOD_LOSSLESS), 1);
        assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS), 0);
        send(f, 0, 3, 0); /* class 0 is lossy */
        wft_run(f, 220 * US);
        assert_true(heard(f) & 1 << 4);
        assert_int_equal(drops(f, WF_DROP_FLOOD_LOSSLESS), 1);
        end(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_routed_leaf_floods_for_a_silent_host),
        cmocka_unit_test(an_address_is_known_for_its_age),
        cmocka_unit_test(a_dead_port_is_forgotten),
        cmocka_unit_test(a_bridge_floods_for_a_silent_host),
        cmocka_unit_test(what_was_learned_ages),
        cmocka_unit_test(lossless_packets_need_not_flood),
    };

    wft_eal(96);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
