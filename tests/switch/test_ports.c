/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of a switch whose ports differ: each obeys its own configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eth/pfc.h"
#include "support.h"
#include "wire/edit.h"

static struct wf_arena arena;
static struct wf_desc desc;
static struct wf_switch_port_cfg own[3]; /* of ports 0 to 2 */

/* One switch, hosts 0 to 2 on its ports 0 to 2, each port with a configuration of its own. */
static void make(void)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 1, 0, 3);
    wf_desc_address(&desc, &arena);
    for (int i = 0; i < 3; i++) {
        own[i] = desc.switches[0].cfg.port;
        desc.links[i].port_cfg[1] = &own[i];
    }
}

static void burst(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp, uint32_t n)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t hdr = wft_roce(f, from, to, dscp, WF_ECN_ECT0, i, 1024, buf, &len);

        wft_send(f, from, wf_fabric_now_ps(f), dscp / 8u, buf, hdr, len);
    }
}

/* Two into one: the group of port 0 is lossless and pauses, that of port 1 drops at its limit. */
static void one_group_is_lossless_and_the_other_is_not(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;

    (void)state;
    make();
    own[0].pg[3].lossless = true;
    own[0].pg[3].xoff_bytes = 20000;
    own[1].pg[3].limit_bytes = 30000;
    f = wft_build(&desc);
    sw = (struct wf_switch *)wf_fabric_switch(f, 0);
    burst(f, 0, 2, 26, 1000);
    burst(f, 1, 2, 26, 1000);
    wft_run(f, WF_TIME_NEVER);
    assert_true(sw->node.ports[0].prio_ctr[3][WF_PRIO_XOFF_TX] > 0);
    assert_int_equal(sw->node.ports[0].ctr[WF_PORT_DROP_FRAMES], 0);
    assert_int_equal(sw->node.ports[1].prio_ctr[3][WF_PRIO_XOFF_TX], 0);
    assert_true(sw->node.ports[1].drops[WF_DROP_INGRESS_FULL] > 0);
    assert_in_range(sw->pg[1][3].ctr[WF_PG_MAX_BYTES], 30000 - 1086 + 1, 30000);
    wft_check(f);
    wf_fabric_free(f);
}

/* Port 0 trusts DSCP, port 1 the tag that these frames don't have. */
static void each_port_has_its_trust_and_maps(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;

    (void)state;
    make();
    own[0].dscp_to_tc[26] = 5;
    own[1].trust = WF_TRUST_PCP;
    own[1].pcp_to_tc[0] = 2;
    f = wft_build(&desc);
    sw = (struct wf_switch *)wf_fabric_switch(f, 0);
    burst(f, 0, 2, 26, 10);
    burst(f, 1, 2, 26, 20);
    burst(f, 2, 1, 26, 30);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(sw->pg[0][5].ctr[WF_PG_RX_FRAMES], 10);
    assert_int_equal(sw->pg[1][2].ctr[WF_PG_RX_FRAMES], 20);
    assert_int_equal(sw->pg[2][3].ctr[WF_PG_RX_FRAMES], 30);
    assert_int_equal(sw->node.ports[2].q[5].ctr[WF_QUEUE_TX_FRAMES], 10);
    assert_int_equal(sw->node.ports[2].q[2].ctr[WF_QUEUE_TX_FRAMES], 20);
    wft_check(f);
    wf_fabric_free(f);
}

/* The queue is the business of the port that it hangs on, with its own limit and marks. */
static void the_queue_is_the_egress_ports(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;

    (void)state;
    make();
    own[2].tc_to_queue[3] = 6;
    own[2].queue[6].limit_bytes = 50000;
    own[2].queue[6].ecn = (struct wf_ecn_cfg){true, 0, 1, 1000000};
    own[0].tc_to_queue[3] = own[1].tc_to_queue[3] = 1;
    f = wft_build(&desc);
    sw = (struct wf_switch *)wf_fabric_switch(f, 0);
    burst(f, 0, 2, 26, 200);
    burst(f, 1, 2, 26, 200);
    burst(f, 2, 0, 26, 50);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(sw->node.ports[2].q[6].ctr[WF_QUEUE_TX_FRAMES] +
                         sw->node.ports[2].q[6].ctr[WF_QUEUE_DROP_FRAMES],
                     400);
    assert_in_range(sw->node.ports[2].q[6].ctr[WF_QUEUE_MAX_BYTES], 50000 - 1086 + 1, 50000);
    assert_true(sw->node.ports[2].q[6].ctr[WF_QUEUE_MARKED_FRAMES] > 0);
    assert_int_equal(sw->node.ports[0].q[1].ctr[WF_QUEUE_TX_FRAMES], 50);
    assert_int_equal(sw->node.ports[0].q[1].ctr[WF_QUEUE_MARKED_FRAMES], 0);
    wft_check(f);
    wf_fabric_free(f);
}

/* Ports that say the same have one class, whoever wrote it down twice. */
static void equal_configurations_are_one_class(void **state)
{
    struct wf_fabric *f;
    struct wf_switch *sw;

    (void)state;
    make();
    own[0].trust = own[1].trust = WF_TRUST_PCP;
    desc.links[2].port_cfg[1] = NULL;
    f = wft_build(&desc);
    sw = (struct wf_switch *)wf_fabric_switch(f, 0);
    assert_ptr_equal(wf_switch_class(sw, &sw->node.ports[0]),
                     wf_switch_class(sw, &sw->node.ports[1]));
    assert_ptr_equal(wf_switch_class(sw, &sw->node.ports[2]), &sw->class);
    assert_false(wf_switch_class(sw, &sw->node.ports[0])->trust_dscp);
    wf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_group_is_lossless_and_the_other_is_not),
        cmocka_unit_test(each_port_has_its_trust_and_maps),
        cmocka_unit_test(the_queue_is_the_egress_ports),
        cmocka_unit_test(equal_configurations_are_one_class),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
