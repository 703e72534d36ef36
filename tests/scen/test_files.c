/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies and flows in the formats of other simulators and in weft's own: what they become, and
 * the message for each kind of bad line.
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
#include "scen/scenario.h"

#define STAR                                                                                       \
    "5 1 4\n4\n0 4 100Gbps 0.001ms 0\n1 4 25Gbps 10ns 0.001\n2 4 1Gbps 1us 0\n3 4 1Gbps 1us 0\n"
#define STAR_SCEN  "weft: 1\ntopology: {kind: file, path: topo}\n"
#define TREE_SCEN  "weft: 1\ntopology: {kind: file, format: htsim, path: topo}\n"
#define HPCC_FLOWS STAR_SCEN "workload: [{name: f, kind: file, format: hpcc, path: flows}]\n"
#define CM_FLOWS   STAR_SCEN "workload: [{name: f, kind: file, format: htsim, path: flows}]\n"
#define CSV_FLOWS  STAR_SCEN "workload: [{name: f, kind: file, path: flows, size: 7kB}]\n"
#define TREE                                                                                       \
    "# two pods\nNodes 8\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\n"   \
    "Radix_Up 2\nDownlink_Latency_ns 500\n\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\n"       \
    "Radix_Up 4\nSwitch_Latency_ns 300\n\nTier 2\nDownlink_speed_Gbps 50\nRadix_Down 4\nBundle "   \
    "2\n"

static int parse(struct wf_scenario *s, const char *text, const char *topo, const char *flows)
{
    const struct wf_scen_text texts[] = {{"t.yaml", text, strlen(text)},
                                         {"topo", topo, strlen(topo)},
                                         {"flows", flows, strlen(flows)}};

    return wf_scenario_load_texts(s, texts, 3, NULL, 0);
}

static void load(struct wf_scenario *s, const char *text, const char *topo, const char *flows)
{
    if (parse(s, text, topo, flows)) {
        wf_diags_print(&s->diags, stderr);
        fail();
    }
}

static void hpcc_topology(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, STAR_SCEN "links: {h2: {rate: 2Gbps}}\n", STAR, "");
    assert_int_equal(s.desc.n_hosts, 4);
    assert_int_equal(s.desc.n_switches, 1);
    assert_string_equal(s.desc.switches[0].name, "sw4");
    assert_int_equal(s.desc.links[0].cfg.rate_bps, 100000000000);
    assert_int_equal(s.desc.links[0].cfg.delay_ps, WF_PS_PER_US);
    assert_int_equal(s.desc.links[1].cfg.delay_ps, 10000);
    assert_int_equal(s.desc.links[1].cfg.loss.num, s.desc.links[1].cfg.loss.den / 1000);
    assert_int_equal(s.desc.links[2].cfg.rate_bps, 2000000000); /* the scenario's word counts */
    assert_int_equal(s.desc.links[2].cfg.loss.num, 0);
    wf_scenario_free(&s);
}

/* Eight hosts, two pods of two tors and two aggs, two cores an agg position, bundles of two. */
static void htsim_topology(void **state)
{
    unsigned bundle = 0, cores[8] = {0};
    struct wf_scenario s;

    (void)state;
    load(&s, TREE_SCEN, TREE, "");
    assert_int_equal(s.desc.n_hosts, 8);
    assert_int_equal(s.desc.n_switches, 4 + 4 + 4);
    assert_int_equal(s.desc.n_links, 8 + 4 * 2 + 4 * 4);
    assert_string_equal(s.desc.switches[4].name, "agg0");
    assert_int_equal(s.desc.switches[4].cfg.latency_ps, 300000);
    assert_int_equal(s.desc.links[0].cfg.rate_bps, 200000000000);
    assert_int_equal(s.desc.links[0].cfg.delay_ps, 500000);
    assert_int_equal(s.desc.links[5].b.index, 2);
    for (uint32_t i = 16; i < s.desc.n_links; i++) {
        const struct wf_desc_link *l = &s.desc.links[i];

        assert_int_equal(l->cfg.rate_bps, 50000000000);
        assert_int_equal((l->a.index - 4) % 2, (l->b.index - 8) % 2);
        bundle += l->a.index == 4 && l->b.index == 8;
        cores[l->b.index - 8]++;
    }
    assert_int_equal(bundle, 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(cores[i], 4);
    wf_scenario_free(&s);
}

static void flows_of_files(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, HPCC_FLOWS, STAR, "2\n0 1 3 100 1000 2.000001\n2 1 4 100 5 0.5\nmore words\n");
    assert_int_equal(s.desc.n_flows, 2);
    assert_string_equal(s.desc.flows[0].name, "f:h0-h1:0");
    assert_int_equal(s.desc.flows[0].cfg.start_ps, 2 * WF_PS_PER_S + WF_PS_PER_US);
    assert_int_equal(s.desc.flows[0].cfg.dscp, 26);
    assert_int_equal(s.desc.flows[1].cfg.dscp, 34);
    wf_scenario_free(&s);
    load(
        &s, CM_FLOWS, STAR,
        "Nodes 4\nConnections 2\n0->3 id 1 start 5000000 size 77\n3->0 start 0 size 2000 prio 1\n");
    assert_int_equal(s.desc.n_flows, 2);
    assert_int_equal(s.desc.flows[0].cfg.start_ps, 5 * WF_PS_PER_US);
    assert_int_equal(s.desc.flows[0].to, 3);
    assert_int_equal(s.desc.flows[1].cfg.size_bytes, 2000);
    wf_scenario_free(&s);
    load(&s, CSV_FLOWS, STAR, "to,from,start,size,dscp\nh1, h0,3us,1kB,5\nh2,h0,,,\n");
    assert_int_equal(s.desc.flows[0].to, 1);
    assert_int_equal(s.desc.flows[0].cfg.start_ps, 3 * WF_PS_PER_US);
    assert_int_equal(s.desc.flows[0].cfg.dscp, 5);
    assert_int_equal(s.desc.flows[1].cfg.size_bytes, 7000);
    assert_int_equal(s.desc.flows[1].cfg.dscp, 26);
    wf_scenario_free(&s);
}

/* The first flow at `start`, the others as far behind it as in the file; another seed reads no
 * file. */
static void flows_of_another_day(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s,
         STAR_SCEN "workload: [{name: f, kind: file, format: hpcc, path: flows, align: first, "
                   "start: 1ms, start_jitter: 1ns}]\n",
         STAR, "2\n0 1 3 100 1000 2.00001\n2 1 4 100 5 2\n");
    wf_scenario_seed(&s, 5);
    assert_in_range(s.desc.flows[1].cfg.start_ps, WF_PS_PER_MS, WF_PS_PER_MS + 1000);
    assert_in_range(s.desc.flows[0].cfg.start_ps, WF_PS_PER_MS + 10 * WF_PS_PER_US,
                    WF_PS_PER_MS + 10 * WF_PS_PER_US + 1000);
    wf_scenario_free(&s);
}

/* A file's bytes are in the hash of the scenario. */
static void files_are_hashed(void **state)
{
    struct wf_scenario a, b, c;

    (void)state;
    load(&a, STAR_SCEN, STAR, "");
    load(&b, STAR_SCEN, STAR "\n", "");
    load(&c, STAR_SCEN, STAR, "not asked for");
    assert_string_not_equal(a.sha256, b.sha256);
    assert_string_equal(a.sha256, c.sha256);
    wf_scenario_free(&a);
    wf_scenario_free(&b);
    wf_scenario_free(&c);
}

static const struct {
    const char *text, *topo, *flows, *msg;
} bad[] = {
    {STAR_SCEN, "", "", "topo:1:1: expected the number of nodes, found the end of the file"},
    {STAR_SCEN, "5 1\n", "", "topo:1:4: expected the number of links, found the end of the line"},
    {STAR_SCEN, "5 1 4\n5\n", "", "topo:2:1: expected a switch, the number of a node, found '5'"},
    {STAR_SCEN, "5 2 4\n4 4\n", "", "topo:2:3: expected each switch once, found '4'"},
    {STAR_SCEN, "5 1 4\n4 3\n", "",
     "topo:2:3: expected no more switches than were said, found '3'"},
    {STAR_SCEN, "5 1 4\n4\n0 4 100Gps 1us 0\n", "",
     "topo:3:5: '100Gps' has the unknown unit 'Gps', expected one of bps, kbps, Mbps, Gbps, Tbps"},
    {STAR_SCEN, "5 1 4\n4\n0 4 100Gbps 1us 0\n0 4 100Gbps 1us 0\n", "",
     "topo:4:1: expected one link of each host, found '0'"},
    {STAR_SCEN, "5 1 4\n4\n0 1 100Gbps 1us 0\n", "",
     "topo:3:3: expected a switch at an end of each link, and two nodes, found '1'"},
    {STAR_SCEN, "5 1 4\n4\n0 4 100Gbps 1us 2\n", "",
     "topo:3:17: expected a share of frames lost, from 0 to 1, found '2'"},
    {STAR_SCEN, "5 1 4\n4\n0 4 100Gbps 1us 0\n", "",
     "topo:4:1: expected as many links as were said, found the end of the file"},
    {STAR_SCEN, "5 1 1\n4\n0 4 100Gbps 1us 0\n", "", "topo:3:1: node 1 is a host without a link"},
    {TREE_SCEN, "Nodes 8\nTiers 4\n", "",
     "topo:2:7: expected a number that goes with it, found '4'"},
    {TREE_SCEN, "Nodes 8\nTiers 2\nPodsize 8\nRadix_Down 2\n", "",
     "topo:4:1: expected Nodes, Tiers, Podsize or Tier, found 'Radix_Down'"},
    {TREE_SCEN, "Nodes 8\nTiers 2\nPodsize 8\nTier 2\n", "",
     "topo:4:6: expected the number of a tier, below Tiers, found '2'"},
    {TREE_SCEN, "Nodes 8\nTiers 2\nPodsize 3\n", "",
     "topo:1:1: expected Nodes, Tiers and a Podsize that divides Nodes"},
    {TREE_SCEN, "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nRadix_Down 2\nDownlink_speed_Gbps 100\n", "",
     "topo:4:1: tier 0: expected Radix_Down, Downlink_speed_Gbps and Radix_Up"},
    {TREE_SCEN,
     "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nRadix_Down 2\nRadix_Up 1\nDownlink_speed_Gbps 100\n"
     "Tier 1\nRadix_Down 3\nDownlink_speed_Gbps 100\n",
     "", "topo:8:1: tier 1: expected a Radix_Down of the switches below in a pod times Bundle"},
    {HPCC_FLOWS, STAR, "x\n", "flows:1:1: expected the number of flows, found 'x'"},
    {HPCC_FLOWS, STAR, "2\n0 1 3 100 1000 2\n",
     "flows:3:1: expected as many flows as were said, found the end of the file"},
    {HPCC_FLOWS, STAR, "1\n0 7 3 100 1000 2\n",
     "flows:2:3: expected a host, such as h0; there is no 'h7', found '7'"},
    {HPCC_FLOWS, STAR, "1\n0 0 3 100 1000 2\n",
     "flows:2:3: expected two different hosts, found '0'"},
    {HPCC_FLOWS, STAR, "1\n0 1 8 100 1000 2\n",
     "flows:2:5: expected a priority from 0 to 7, found '8'"},
    {HPCC_FLOWS, STAR, "1\n0 1 3 100 0 2\n",
     "flows:2:11: expected bytes, from 1 to 2147483648, found '0'"},
    {HPCC_FLOWS, STAR, "1\n0 1 3 100 9 -2\n",
     "flows:2:13: expected a start in seconds, found '-2'"},
    {CM_FLOWS, STAR, "0->1 start 0 size 5\n",
     "flows:1:1: expected Nodes and Connections first, found '0->1'"},
    {CM_FLOWS, STAR, "Connections 1\n0-1 start 0 size 5\n",
     "flows:2:1: expected a connection such as 3->7, found '0-1'"},
    {CM_FLOWS, STAR, "Connections 1\n0->1 trigger 3 size 5\n",
     "flows:2:6: expected start, size, id or prio (weft's flows start at their time, none triggers "
     "another), found 'trigger'"},
    {CM_FLOWS, STAR, "Connections 1\n0->1 start 3\n",
     "flows:2:13: expected size and bytes, found the end of the line"},
    {CM_FLOWS, STAR, "Connections 2\n0->1 start 3 size 4\n",
     "flows:3:1: expected as many connections as were said, found the end of the file"},
    {CM_FLOWS, STAR, "Connections 0\n0->1 start 3 size 4\n",
     "flows:2:1: expected no more connections than were said, found '0->1'"},
    {CSV_FLOWS, STAR, "from,size\n",
     "flows:1:1: expected a line with the columns from, to and others, found 'from'"},
    {CSV_FLOWS, STAR, "from,to,sizze\n",
     "flows:1:9: expected from, to or a key of a flow, found 'sizze'; did you mean 'size'?"},
    {CSV_FLOWS, STAR, "from,to,size\nh0,h1\n",
     "flows:2:6: expected as many cells as columns, found the end of the line"},
    {CSV_FLOWS, STAR, "from,to,size\nh0,h1,5\n",
     "flows:2:7: '5' has no unit, expected a size with one of B, kB, KiB, MB, MiB, GB, GiB"},
    {CSV_FLOWS, STAR, "from,to,size\nh0,h9,5kB\n",
     "flows:2:4: expected a host, such as h0; there is no 'h9', found 'h9'"},
};

static void bad_lines(void **state)
{
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct wf_scenario s;

        if (!parse(&s, bad[i].text, bad[i].topo, bad[i].flows))
            fail_msg("%zu: accepted, expected %s", i, bad[i].msg);
        assert_string_equal(wf_err_text(&s.diags.items[0]->err, text, sizeof(text)), bad[i].msg);
        wf_scenario_free(&s);
    }
}

/* Cut anywhere, and with any byte changed: refused or taken, never worse. */
static void broken_files(void **state)
{
    static const char *const files[][3] = {
        {STAR_SCEN, STAR, ""},
        {TREE_SCEN, TREE, ""},
        {HPCC_FLOWS, STAR, "2\n0 1 3 100 1000 2.000001\n2 1 4 100 5 0.5\n"},
        {CM_FLOWS, STAR, "Nodes 4\nConnections 1\n0->3 id 1 start 5000000 size 77\n"},
        {CSV_FLOWS, STAR, "to,from,start,size,dscp\nh1, h0,3us,1kB,5\nh2,h0,,,\n"},
    };
    static const char bytes[] = "0x9,\n #-\xff";

    (void)state;
    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
        for (size_t i = 0; files[k][2][0] ? files[k][2][i] : files[k][1][i]; i++)
            for (size_t b = 0; b < sizeof(bytes); b++) { /* the last one is the end */
                char *f = strdup(files[k][2][0] ? files[k][2] : files[k][1]);
                struct wf_scenario s;

                assert_non_null(f);
                f[i] = bytes[b];
                parse(&s, files[k][0], files[k][2][0] ? files[k][1] : f, f);
                wf_scenario_free(&s);
                free(f);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hpcc_topology),    cmocka_unit_test(htsim_topology),
        cmocka_unit_test(flows_of_files),   cmocka_unit_test(flows_of_another_day),
        cmocka_unit_test(files_are_hashed), cmocka_unit_test(bad_lines),
        cmocka_unit_test(broken_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
