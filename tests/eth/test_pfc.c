/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC at a port, both ways, between probe hosts: what is sent stands in the counters, how many
 * frames can be under way, how long a pause is. All times are fabric time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eth/headroom.h"
#include "eth/pfc.h"
#include "support.h"
#include "wire/edit.h"
#include "wire/pfc.h"

#define US WF_PS_PER_US
#define NS WF_PS_PER_NS
#define MS WF_PS_PER_MS

static struct wf_arena arena;
static struct wf_desc desc;

static struct wf_desc *one_leaf(uint32_t hosts)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 1, 0, hosts);
    wf_desc_address(&desc, &arena);
    return &desc;
}

static struct wf_port *leaf_port(struct wf_fabric *f, uint32_t host)
{
    return &wf_fabric_switch(f, 0)->ports[host];
}

/* Send n RoCE frames back to back. */
static void burst(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp, uint32_t payload,
                  uint32_t n)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t hdr = wft_roce(f, from, to, dscp, WF_ECN_ECT0, i, payload, buf, &len);

        wft_send(f, from, wf_fabric_now_ps(f), dscp / 8u, buf, hdr, len);
    }
}

/* What was decided while a frame waited stands in that frame: three decisions, one XON on the wire,
 * and the counters say what the peer has heard. */
static void counters_say_what_the_wire_says(void **state)
{
    struct wf_fabric *f = wft_build(one_leaf(2));
    struct wf_port *port = leaf_port(f, 1);
    struct wft_probe *h = wft_probe(f, 1);

    burst(f, 0, 1, 10, 4096, 3);
    wft_run(f, 1800 * NS); /* in the middle of a frame to host 1 */
    assert_true(port->busy_until_ps > 1900 * NS);
    wf_pfc_xoff(port, 3);
    wf_pfc_xon(port, 3);
    wf_pfc_xoff(port, 4);
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 0);
    assert_int_equal(port->prio_ctr[4][WF_PRIO_XOFF_TX], 0);
    wft_run(f, 5 * US);
    assert_int_equal(h->n_control, 1);
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 1);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XOFF_TX], 0);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XON_TX], 1);
    assert_int_equal(port->prio_ctr[4][WF_PRIO_XOFF_TX], 1);
    wft_run(f, 300 * US); /* a refresh after 168 us */
    assert_int_equal(port->prio_ctr[4][WF_PRIO_REFRESH_TX], 1);
    wf_fabric_free(f);
}

/* A frame that a link took down with it was never sent. */
static void what_a_link_took_is_not_counted(void **state)
{
    struct wf_fabric *f = wft_build(one_leaf(2));
    struct wf_port *port = leaf_port(f, 1);

    burst(f, 0, 1, 10, 4096, 3);
    wft_run(f, 1800 * NS);
    wf_pfc_xoff(port, 3);
    wf_fabric_link_set(f, port->link, false);
    wft_run(f, 5 * US);
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 0);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XOFF_TX], 0);
    wf_fabric_free(f);
}

/* 10 ms of 400 Gb/s, refreshed each 1.28 us: 7812 refreshes would be under way on each of eight
 * links, 4096 are allowed. And each 3.84 us: 2604. More than a pool that does not know of them. */
static void refreshes_on_long_links_find_packets(void **state)
{
    static const uint32_t quanta[] = {2000, 6000};
    static const uint32_t most[] = {4097 * 8, 2605 * 8};

    for (unsigned k = 0; k < 2; k++) {
        struct wf_fabric *f;
        uint64_t under_way;

        one_leaf(8);
        desc.switches[0].cfg.port.pfc.quanta = quanta[k];
        for (unsigned i = 0; i < 8; i++) {
            desc.links[i].cfg.rate_bps = 400000000000ull;
            desc.links[i].cfg.delay_ps = 10 * MS;
        }
        f = wft_build(&desc);
        for (unsigned i = 0; i < 8; i++)
            wf_pfc_xoff(leaf_port(f, i), 3);
        wft_run(f, 15 * MS);
        assert_false(wf_fabric_out_of_buffers(f));
        under_way = wf_fabric_in_flight(f);
        assert_in_range(under_way, most[k] - 16, most[k] + 8);
        for (unsigned i = 0; i < 8; i++)
            wf_pfc_xon(leaf_port(f, i), 3);
        wft_run(f, WF_TIME_NEVER);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* Nor when the rate is raised later, foreseen or not. */
static void a_raised_rate_empties_no_pool(void **state)
{
    for (unsigned foreseen = 0; foreseen < 2; foreseen++) {
        struct wf_desc_step steps[8];
        struct wf_fabric *f;

        one_leaf(8);
        desc.switches[0].cfg.port.pfc.quanta = 6000;
        for (unsigned i = 0; i < 8; i++) {
            desc.links[i].cfg.rate_bps = 10000000000ull;
            desc.links[i].cfg.delay_ps = 10 * MS;
            steps[i] = (struct wf_desc_step){.at_ps = 10 * US,
                                             .action = WF_DO_LINK_RATE,
                                             .link = i,
                                             .rate_bps = 400000000000ull};
        }
        desc.steps = steps;
        desc.n_steps = foreseen ? 8 : 0;
        f = wft_build(&desc);
        for (unsigned i = 0; i < 8; i++)
            wf_pfc_xoff(leaf_port(f, i), 3);
        wft_run(f, 10 * US);
        for (unsigned i = 0; i < 8 && !foreseen; i++)
            wf_fabric_link_rate(f, leaf_port(f, i)->link, 400000000000ull);
        wft_run(f, 15 * MS);
        assert_false(wf_fabric_out_of_buffers(f));
        if (foreseen) /* as often as half of the quanta asks for */
            assert_in_range(wf_fabric_in_flight(f), 2604 * 8, 2606 * 8);
        else
            assert_in_range(wf_fabric_in_flight(f), 64 * 8, 68 * 8);
        wf_fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_say_what_the_wire_says),
        cmocka_unit_test(what_a_link_took_is_not_counted),
        cmocka_unit_test(refreshes_on_long_links_find_packets),
        cmocka_unit_test(a_raised_rate_empties_no_pool),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
