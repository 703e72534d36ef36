/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of whole scenarios: what a file turns into, and the message for each kind of mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "cap/capture.h"
#include "lab/config.h"
#include "scen/scenario.h"
#include "support.h"

#define WRONG_QUEUE                                                                                \
    "t.yaml:3:71: warning: a pause of priority 4 stops queue 4 of leaf0, but traffic class 3, "    \
    "whose pauses have that priority, waits in queue 3: the wrong queue stops\n"
#define HEAD "weft: 1\ntopology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"

static int parse(struct wf_scenario *s, const char *text)
{
    return wf_scenario_parse(s, "t.yaml", text, strlen(text));
}

static char *messages(struct wf_scenario *s)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    wf_diags_print(&s->diags, f);
    fclose(f);
    return text;
}

static void load(struct wf_scenario *s, const char *text)
{
    int rc = parse(s, text);
    char *m = messages(s);

    if (rc)
        fail_msg("%s", m);
    free(m);
}

static void options_reach_the_description(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, HEAD "seed: 7\nduration: 10ms\ntime_scale: 8\nlossless: best_effort\nclock: slip\n"
                  "repeat: {seeds: 3}\nlateness_bound: 2ms\n");
    assert_string_equal(s.desc.name, "t");
    assert_int_equal(s.desc.seed, 7);
    assert_int_equal(s.desc.duration_ps, 10 * WF_PS_PER_MS);
    assert_int_equal(s.desc.time_limit_ps, 10 * WF_PS_PER_S);
    assert_int_equal(s.desc.time_scale, 8);
    assert_int_equal(s.desc.lateness_bound_ps, 2 * WF_PS_PER_MS);
    assert_true(s.desc.best_effort);
    assert_true(s.desc.clock_slip);
    assert_int_equal(s.opts.repeat.seeds, 3);
    assert_int_equal(wf_scenario_sample_ps(&s), 10 * WF_PS_PER_US);
    wf_scenario_free(&s);
}

static void later_and_matching_entries_win(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, HEAD "links:\n  '*': {rate: 10Gbps, delay: 1us}\n  leaf*-spine*: {rate: 40Gbps}\n"
                  "  spine1-leaf0: {mtu: 1500}\n  'h1:*': {delay: 2us}\n"
                  "switches:\n  '*': {latency: 1us}\n  leaf*: {pg: {3: {lossless: true}}}\n"
                  "  leaf1: {latency: 2us, dscp_to_tc: {46: 5}}\n"
                  "hosts: {'h[1-2]': {mtu: 9000}}\n");
    /* links: h0..h3, then leaf0-spine0, leaf0-spine1, leaf1-spine0, leaf1-spine1 */
    assert_int_equal(s.desc.links[0].cfg.rate_bps, 10000000000ull);
    assert_int_equal(s.desc.links[0].cfg.delay_ps, WF_PS_PER_US);
    assert_int_equal(s.desc.links[1].cfg.delay_ps, 2 * WF_PS_PER_US);
    assert_int_equal(s.desc.links[4].cfg.rate_bps, 40000000000ull);
    assert_int_equal(s.desc.links[4].cfg.mtu, 9216);
    assert_int_equal(s.desc.links[5].cfg.mtu, 1500);
    assert_int_equal(s.desc.switches[0].cfg.latency_ps, WF_PS_PER_US);
    assert_int_equal(s.desc.switches[1].cfg.latency_ps, 2 * WF_PS_PER_US);
    assert_true(s.desc.switches[1].cfg.port.pg[3].lossless);
    assert_false(s.desc.switches[2].cfg.port.pg[3].lossless);
    assert_int_equal(s.desc.switches[1].cfg.port.dscp_to_tc[46], 5);
    assert_int_equal(s.desc.switches[1].cfg.port.dscp_to_tc[26], 3);
    assert_int_equal(s.desc.hosts[0].cfg.mtu, 4200);
    assert_int_equal(s.desc.hosts[2].cfg.mtu, 9000);
    wf_scenario_free(&s);
}

/* 1.98e8 m/s, where no delay is given, whichever file says it. */
static void cables_give_delays(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, HEAD
         "links: {'*': {cable: 40m}, h1: {cable: 300m}, h2: {delay: 1us}, h3: {cable: 5cm}}\n");
    assert_int_equal(s.desc.links[0].cfg.delay_ps, 202020);
    assert_int_equal(s.desc.links[1].cfg.delay_ps, 1515152);
    assert_int_equal(s.desc.links[2].cfg.delay_ps, WF_PS_PER_US);
    assert_int_equal(s.desc.links[3].cfg.delay_ps, 253);
    wf_scenario_free(&s);
    assert_int_not_equal(parse(&s, HEAD "links: {'*': {cable: 40}}\n"), 0);
    assert_string_equal(s.diags.items[0]->err.msg,
                        "cable: '40' has no unit, expected a length with one of mm, cm, m, km");
    wf_scenario_free(&s);
}

static void explicit_topologyys_count_ports_up(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, "weft: 1\ntopology:\n  kind: explicit\n  switches: [a, b]\n  hosts: [x, y]\n"
             "  links: [[a, b], [x, a], [b, y], [a, b]]\n");
    assert_int_equal(s.desc.n_links, 4);
    assert_string_equal(s.links[0], "a:p0-b:p0");
    assert_string_equal(s.links[1], "x:p0-a:p1");
    assert_string_equal(s.links[2], "b:p1-y:p0");
    assert_string_equal(s.links[3], "a:p2-b:p2");
    wf_scenario_free(&s);
}

static void workloads_become_flows(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, HEAD "workload:\n  - {name: one, from: h0, to: h3, size: 1kB, count: 3}\n"
                  "  - {name: in, kind: incast, from: 'h*', to: h1, start: 5us}\n"
                  "  - {name: all, kind: all_to_all, from: [h3, 'h[0-1]']}\n"
                  "  - {name: perm, kind: permutation, from: 'h*'}\n");
    assert_int_equal(s.desc.n_flows, 1 + 3 + 6 + 4);
    assert_string_equal(s.desc.flows[0].name, "one");
    assert_int_equal(s.desc.flows[0].cfg.size_bytes, 1000);
    assert_int_equal(s.desc.flows[0].cfg.count, 3);
    assert_string_equal(s.desc.flows[1].name, "in:h0-h1");
    assert_string_equal(s.desc.flows[2].name, "in:h2-h1");
    assert_int_equal(s.desc.flows[2].cfg.start_ps, 5 * WF_PS_PER_US);
    assert_string_equal(s.desc.flows[4].name, "all:h3-h0");
    assert_string_equal(s.desc.flows[9].name, "all:h1-h0");
    wf_scenario_free(&s);
}

/* Every host sends once and receives once, nobody to itself; another seed is another permutation,
 * and the first one comes back with the first seed. */
static void permutations_are_drawn_from_the_seed(void **state)
{
    struct wf_scenario s;
    uint32_t first[12], same = 0;

    (void)state;
    load(&s, "weft: 1\ntopology: {leaves: 3, spines: 1, hosts_per_leaf: 4}\n"
             "workload: [{name: p, kind: permutation, from: 'h*'}]\n");
    for (uint64_t seed = 1; seed < 50; seed++) {
        uint32_t got = 0;

        wf_scenario_seed(&s, seed);
        assert_int_equal(s.desc.n_flows, 12);
        for (uint32_t i = 0; i < 12; i++) {
            assert_int_equal(s.desc.flows[i].from, i);
            assert_int_not_equal(s.desc.flows[i].to, i);
            got |= 1u << s.desc.flows[i].to;
            if (seed == 1)
                first[i] = s.desc.flows[i].to;
            same += s.desc.flows[i].to == first[i];
        }
        assert_int_equal(got, 0xfff);
    }
    assert_true(same < 200);
    wf_scenario_seed(&s, 1);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(s.desc.flows[i].to, first[i]);
    wf_scenario_free(&s);
}

static void timelines_are_sorted(void **state)
{
    struct wf_scenario s;

    (void)state;
    load(&s, HEAD "timeline:\n  - {at: 2ms, do: link_up, link: 'leaf0-spine*'}\n"
                  "  - {at: 1ms, do: link_down, link: 'leaf0:p2-spine0:p0'}\n"
                  "  - {at: 1ms, do: inject_ce, where: 'h*:p0', every: 97, match: roce_ack, "
                  "limit: 5}\n"
                  "  - {at: 0, do: inject_corrupt, where: 'leaf0:p0'}\n");
    assert_int_equal(s.desc.n_steps, 1 + 1 + 4 + 2);
    assert_int_equal(s.desc.steps[0].fault.action, WF_FAULT_CORRUPT);
    assert_string_equal(s.desc.steps[0].where, "leaf0:p0");
    assert_int_equal(s.desc.steps[1].action, WF_DO_LINK_DOWN);
    assert_int_equal(s.desc.steps[1].link, 4);
    assert_int_equal(s.desc.steps[2].fault.every, 97);
    assert_int_equal(s.desc.steps[2].fault.limit, 5);
    assert_int_equal(s.desc.steps[2].fault.match, WF_FAULT_ROCE_ACK);
    assert_string_equal(s.desc.steps[5].where, "h3:p0");
    assert_int_equal(s.desc.steps[7].link, 5);
    wf_scenario_free(&s);
}

static void captures_and_modes(void **state)
{
    struct wf_scenario s;
    char *m;

    (void)state;
    load(&s, HEAD "capture: [{at: 'leaf0:p*', file: x.pcapng, snaplen: 128B}]\n"
                  "hosts: {h1: {attach: {type: vhost_user}}}\n");
    assert_int_equal(s.n_captures, 1);
    assert_int_equal(s.captures[0].snaplen, 128);
    assert_int_equal(wf_scenario_check_mode(&s, true), 0);
    assert_true(wf_scenario_check_mode(&s, false) < 0);
    m = messages(&s);
    assert_string_equal(m, "t.yaml:4:29: error: h1 is attached to the outside, which needs a live "
                           "run (--live)\n");
    free(m);
    wf_scenario_free(&s);
}

struct mistake {
    const char *text, *expect;
};

static const struct mistake mistakes[] = {
    /* the frame */
    {"name: x\n", "t.yaml:1:1: error: no 'weft: 1', with which a scenario begins\n"},
    {"weft: 2\n", "t.yaml:1:7: error: version '2' of the format is unknown, expected weft: 1\n"},
    {"- a\n", "t.yaml:1:1: error: a scenario is a mapping that begins with 'weft: 1', found a "
              "list\n"},
    {"weft: 1\n", "t.yaml:1:1: error: no 'topology', expected such as topology: {kind: leaf_spine, "
                  "leaves: 2, spines: 2, hosts_per_leaf: 4}\n"},
    {HEAD "topologyy: 1\n", "t.yaml:3:1: error: unknown key 'topologyy' in scenario; did you mean "
                            "'topology'?\n"},
    {HEAD "seed: many\n", "t.yaml:3:7: error: seed: 'many' is not a whole number\n"},
    {HEAD "duration: 10\n", "t.yaml:3:11: error: duration: '10' has no unit, expected a time with "
                            "one of ps, ns, us, ms, s\n"},
    {HEAD "lossless: yes\n", "t.yaml:3:11: error: lossless: 'yes' is not one of strict, "
                             "best_effort\n"},
    {HEAD "repeat: {seeds: 0}\n",
     "t.yaml:3:17: error: '0' for seeds is out of range, expected 1 to 10000\n"},
    /* topology */
    {"weft: 1\ntopology: {kind: fat_tre}\n", "t.yaml:2:18: error: kind: 'fat_tre' is not one of "
                                             "leaf_spine, fat_tree, explicit, ring, file; did you "
                                             "mean 'fat_tree'?\n"},
    {"weft: 1\ntopology: {kind: fat_tree, k: 5}\n",
     "t.yaml:2:31: error: k: a fat tree of 5-port switches, expected an even number: half of them "
     "lead down and half up\n"},
    {"weft: 1\ntopology: {kind: fat_tree, k: 4, pods: 6}\n",
     "t.yaml:2:40: error: pods: 6 pods, but cores of 4 ports join at most 4\n"},
    {"weft: 1\ntopology: {kind: fat_tree, k: 128}\n",
     "t.yaml:2:11: error: 544768 nodes and 1572864 links are too many, expected at most 131072 and "
     "262144\n"},
    {"weft: 1\ntopology: {kind: fat_tree, k: 4, leaves: 2}\n",
     "t.yaml:2:42: error: 'leaves' goes with topology kind leaf_spine, this is fat_tree\n"},
    {"weft: 1\ntopology: {kind: fat_tree, k: 130}\n",
     "t.yaml:2:31: error: '130' for k is out of range, expected 2 to 128\n"},
    {"weft: 1\ntopology: {leaves: 2, spines: 0}\n",
     "t.yaml:2:11: error: 2 leaves without a spine between them\n"},
    {"weft: 1\ntopology: {leaves: 1000, hosts_per_leaf: 1000}\n",
     "t.yaml:2:11: error: 1001002 nodes and 1002000 links are too many, expected at most 131072 "
     "and 262144\n"},
    {"weft: 1\ntopology: {leaves: 2, hosts: [a]}\n",
     "t.yaml:2:30: error: 'hosts' goes with topology kind explicit, this is leaf_spine\n"},
    {"weft: 1\ntopology: {kind: explicit, switches: [s, 1x], hosts: [h, s], links: [[h, s]]}\n",
     "t.yaml:2:42: error: '1x' is no name of a node: letters, digits and '_', no digit first, at "
     "most 32\nt.yaml:2:58: error: the name 's' stands twice\n"},
    {"weft: 1\ntopology: {kind: explicit, switches: [s0], hosts: [h, g], links: [[h, s1], [s0], "
     "[s0, s0], [h, g]]}\n",
     "t.yaml:2:71: error: no switch or host has the name 's1'; did you mean 's0'?\n"
     "t.yaml:2:76: error: expected a link such as [h0, leaf0], found a list of another length\n"
     "t.yaml:2:82: error: 's0' linked to itself\n"
     "t.yaml:2:92: error: 'h' and 'g' are both hosts, expected a switch between them\n"},
    {"weft: 1\ntopology: {kind: explicit, switches: [s], hosts: [h, g], links: [[h, s], [h, s]]}\n",
     "t.yaml:2:51: error: host 'h' has 2 links, expected one\n"
     "t.yaml:2:54: error: host 'g' has 0 links, expected one\n"},
    {"weft: 1\ntopology: {kind: explicit, switches: [s]}\n",
     "t.yaml:2:11: error: expected a list of 1 to 262144 links such as [[h0, leaf0]]\n"},
    /* nodes */
    {HEAD "links: {leaf0-spine7: {rate: 1Gbps}}\n",
     "t.yaml:3:9: error: 'leaf0-spine7' matches no link; did you mean 'leaf0-spine0'?\n"},
    {HEAD "links: {'leaf0:p9': {rates: 1Gbps}}\n",
     "t.yaml:3:9: error: 'leaf0:p9' matches no link\n"
     "t.yaml:3:22: error: unknown key 'rates' in link; did you mean 'rate'?\n"},
    {HEAD "links: {'*': {rate: 100Gb}}\n",
     "t.yaml:3:21: error: rate: '100Gb' has the unknown unit 'Gb', expected one of bps, kbps, "
     "Mbps, Gbps, Tbps\n"},
    {HEAD "links: [x]\n",
     "t.yaml:3:8: error: links: expected a mapping from names, found a list\n"},
    {HEAD "switches: {'leaf[0-': {}}\n",
     "t.yaml:3:12: error: bad range in 'leaf[0-', expected such as h[1-8]\n"},
    {HEAD "switches: {leef0: {latency: 1us}}\n",
     "t.yaml:3:12: error: 'leef0' matches no switch; did you mean 'leaf0'?\n"},
    {HEAD "switches: {'*': {pg: {3: {losless: true}}}}\n",
     "t.yaml:3:27: error: unknown key 'losless' in pg; did you mean 'lossless'?\n"},
    {HEAD "switches: {'*': {dscp_to_tc: {26: 8}}}\n",
     "t.yaml:3:35: error: dscp_to_tc: '8' is out of range, expected 0 to 7\n"},
    {HEAD "hosts: {h9: {mtu: 1500}}\n",
     "t.yaml:3:9: error: 'h9' matches no host; did you mean 'h0'?\n"},
    /* losslessness */
    {HEAD "switches: {'*': {pg: {3: {lossless: true, headroom: 10kB}}}}\n",
     "t.yaml:3:53: error: headroom of lossless pg 3 is 10kB, but 65.546kB can still arrive at "
     "leaf0:p0 (12 ports) after XOFF: 2 x delay x rate, the peer's response and the frames under "
     "way\n"},
    {HEAD "lossless: best_effort\nswitches: {leaf0: {pg: {3: {lossless: true, headroom: 0}}}}\n",
     "t.yaml:4:55: warning: headroom of lossless pg 3 is 0, but 65.546kB can still arrive at "
     "leaf0:p0 (4 ports) after XOFF: 2 x delay x rate, the peer's response and the frames under "
     "way\n"},
    {HEAD "switches: {leaf0: {pg: {3: {lossless: true, xoff: 10kB, xon: 20kB}}}}\n",
     "t.yaml:3:62: error: xon of pg 3 is 20kB, above xoff, 10kB\n"},
    {HEAD "switches: {leaf0: {pg: {3: {lossless: true}}}}\nhosts: {h0: {pfc: {enable: false}}}\n",
     "t.yaml:4:28: error: pg 3 of leaf0:p0 is lossless, but its peer does not obey PFC\n"},
    {HEAD "switches: {leaf0: {buffer: 1MB, pg: {3: {lossless: true}}}}\n", ""},
    {HEAD "switches: {leaf0: {buffer: 200kB, pg: {3: {lossless: true}}}}\n",
     "t.yaml:3:28: error: leaf0 needs 262.184kB for the headroom of its lossless groups and 0 for "
     "its pools, its buffer has 200kB: full, it drops before XOFF goes out\n"},
    {HEAD "lossless: best_effort\n"
          "switches: {'*': {buffer: 200kB, pg: {3: {lossless: true}}}}\n",
     "t.yaml:4:26: warning: leaf0 needs 262.184kB for the headroom of its lossless groups and 0 "
     "for its pools, its buffer has 200kB: full, it drops before XOFF goes out\n"},
    {HEAD "switches: {leaf0: {ingress_pool: {0: {size: 100kB}}, pg: {3: {reserved: 40kB}}}}\n",
     "t.yaml:3:45: error: the groups of ingress pool 0 reserve 160kB at the ports of leaf0, it has "
     "100kB\n"},
    {HEAD "switches: {leaf0: {egress_pool: {0: {size: 100kB}}, queue: {3: {reserved: 40kB}}}}\n",
     "t.yaml:3:44: error: the queues of egress pool 0 reserve 160kB at the ports of leaf0, it has "
     "100kB\n"},
    {HEAD "switches: {leaf0: {ingress_pool: {0: {headroom_pool: 20kB}}, pg: {3: {lossless: "
          "true}}}}\n",
     "t.yaml:3:54: error: headroom_pool of ingress pool 0 is 20kB, but 65.546kB can still arrive "
     "at one port of leaf0 after XOFF\n"},
    {HEAD "switches: {leaf0: {ingress_pool: {0: {headroom_pool: 140kB}}, pg: {3: {lossless: "
          "true}}}}\n",
     "t.yaml:3:54: warning: headroom_pool of ingress pool 0 is 140kB, the 4 lossless groups of "
     "leaf0 can need 262.184kB together: it survives 2 of them pausing at once\n"},
    {HEAD "switches: {leaf0: {pg: {3: {alpha: 3/4}}, ingress_pool: {0: {mode: dynamic}}}}\n",
     "t.yaml:3:36: error: alpha of pg 3 is 3/4, expected a power of two from 1/65536 to 65536, "
     "such as 1/8, 1 or 4\n"},
    {HEAD "switches: {leaf0: {pg: {3: {alpha: 1/4}}, queue: {2: {alpha: 4}}}}\n",
     "t.yaml:3:36: warning: alpha of pg 3 does nothing: its pool is static, limit counts\n"
     "t.yaml:3:62: warning: alpha of queue 2 does nothing: its pool is static, limit counts\n"},
    {HEAD "switches: {leaf0: {pg: {3: {lossless: true, xoff: 1MB}}, ingress_pool: {0: {mode: "
          "dynamic}}}}\n",
     "t.yaml:3:51: warning: xoff of pg 3 does nothing: its pool is dynamic, alpha counts\n"},
    {HEAD "switches: {leaf0: {cell: 256B, pg: {3: {lossless: true, headroom: 80kB}}}}\n",
     "t.yaml:3:67: warning: headroom of lossless pg 3 is 80kB, but 162.56kB can still arrive at "
     "leaf0:p0 (4 ports) after XOFF when frames are small and waste most of their cells: 2 x "
     "delay x rate, the peer's response and the frames under way\n"},
    {HEAD "switches: {leaf0: {queue: {3: {ecn: true, kmin: 2MB}}}}\n",
     "t.yaml:3:49: error: kmin of queue 3 is 2MB, above kmax, 1.5MB\n"},
    {HEAD "switches: {leaf0: {pfc: {quanta: 292}, pg: {3: {lossless: true}}}}\n",
     "t.yaml:3:34: error: a pause of 292 quanta can run out before its refresh gets through, "
     "expected at least 293 with the frames of these links: loss\n"},
    {HEAD "switches: {leaf0: {pg: {3: {lossless: true}}, pg_to_pfc_priority: {3: 4}}}\n"
          "hosts: {h0: {dscp_to_priority: {26: 4}}}\n"
          "workload: [{name: f, from: h0, to: h2}]\n",
     WRONG_QUEUE
     "t.yaml:5:12: error: DSCP 26 waits in queue 3 of spine0, but leaf0 pauses priority 4 for it, "
     "which stops queue 4: loss\n"
     "t.yaml:5:12: error: DSCP 26 waits in queue 3 of spine1, but leaf0 pauses priority 4 for it, "
     "which stops queue 4: loss\n"},
    {HEAD "switches: {leaf0: {trust: pcp, pg: {0: {lossless: true}}}}\n"
          "workload: [{name: f, from: h0, to: h1}]\n",
     "t.yaml:4:12: error: DSCP 26 is priority 3 at h0, but the leaf pauses priority 0 for it: "
     "loss\n"},
    {HEAD "switches: {leaf0: {pg: {3: {lossless: true}}, pg_to_pfc_priority: {3: 4}}}\n"
          "workload: [{name: f, from: h0, to: h1}]\n",
     WRONG_QUEUE
     "t.yaml:3:71: error: DSCP 26 is priority 3 at h0, but the leaf pauses priority 4 for it: "
     "loss\n"},
    {HEAD "switches: {leaf0: {pg: {3: {lossless: true}}}}\n"
          "hosts: {h1: {dscp_to_priority: {26: 4}}}\n"
          "workload: [{name: f, from: h0, to: h1}]\n",
     "t.yaml:5:12: error: DSCP 26 is priority 4 at h1, but the leaf pauses priority 3 for it: "
     "loss\n"},
    /* what the spine makes of DSCP 26 waits in queue 3 there, and is priority 4 at the leaves */
    {HEAD "switches: {'*': {pg: {'*': {lossless: true}}}, spine0: {rewrite: dscp, tc_to_dscp: {3: "
          "34}}}\n"
          "workload: [{name: f, from: h0, to: h2}]\n",
     "t.yaml:3:88: error: DSCP 26 waits in queue 3 of spine0 and leaves as DSCP 34, but leaf0 "
     "pauses priority 4 for it, which stops queue 4: loss\n"
     "t.yaml:3:88: error: DSCP 26 waits in queue 3 of spine0 and leaves as DSCP 34, but leaf1 "
     "pauses priority 4 for it, which stops queue 4: loss\n"},
    /* of what the leaves make of it, every switch agrees; by what the spines would, nobody goes */
    {HEAD "switches: {'*': {pg: {'*': {lossless: true}}, rewrite: dscp}, 'leaf*': {tc_to_dscp: {3: "
          "25}}, 'spine*': {tc_to_dscp: {4: 25}}}\n"
          "workload: [{name: f, from: h0, to: h2}]\n",
     ""},
    /* the second switch rewrites only what the first one has made: two hops on */
    {HEAD "switches: {'*': {pg: {4: {lossless: true}}}, leaf0: {rewrite: both, tc_to_dscp: {3: "
          "10}}, 'spine*': {rewrite: dscp, tc_to_dscp: {1: 32, 3: 25}}}\n"
          "workload: [{name: f, from: h0, to: h2}]\n",
     "t.yaml:3:133: error: DSCP 10 waits in queue 1 of spine0 and leaves as DSCP 32, but leaf0 "
     "pauses priority 4 for it, which stops queue 4: loss\n"
     "t.yaml:3:133: error: DSCP 10 waits in queue 1 of spine1 and leaves as DSCP 32, but leaf0 "
     "pauses priority 4 for it, which stops queue 4: loss\n"
     "t.yaml:3:133: error: DSCP 10 waits in queue 1 of spine0 and leaves as DSCP 32, but leaf1 "
     "pauses priority 4 for it, which stops queue 4: loss\n"
     "t.yaml:3:133: error: DSCP 10 waits in queue 1 of spine1 and leaves as DSCP 32, but leaf1 "
     "pauses priority 4 for it, which stops queue 4: loss\n"},
    /* hosts */
    {HEAD "hosts: {h0: {mac: '02:00:00:00:00:02'}}\n",
     "t.yaml:3:19: error: h0 and h1 have the same MAC address\n"},
    {HEAD "hosts: {h0: {mac: '03:00:00:00:00:02'}}\n",
     "t.yaml:3:19: error: mac: a group address is no host's\n"},
    {HEAD "hosts: {'h[0-1]': {ip: 10.9.0.1/16, gateway: 10.9.0.9}}\n",
     "t.yaml:3:24: error: h0 and h1 have the same IPv4 address\n"},
    {HEAD "hosts: {h0: {ip: 'fe80::1/64'}}\n",
     "t.yaml:3:18: error: ip: expected an IPv4 address\n"
     "t.yaml:3:18: warning: h0 has an ip but no gateway: it reaches its own subnet only\n"},
    {HEAD "hosts: {h0: {attach: {type: af_packet}}, h1: {attach: {type: ethdev}}}\n",
     "t.yaml:3:29: error: h0: af_packet needs 'iface'\n"
     "t.yaml:3:62: error: h1: ethdev needs 'devargs'\n"},
    {HEAD "hosts: {h0: {place: {guest: g, netns: n}}}\n",
     "t.yaml:3:39: error: h0: both guest and netns, expected one\n"},
    /* workload */
    {HEAD "workload: {name: f}\n", "t.yaml:3:11: error: workload: expected a list, found a "
                                   "mapping\n"},
    {HEAD "workload: [{from: h0, to: h1}]\n",
     "t.yaml:3:12: error: 'name' is missing in workload: Its flows are flow.NAME, or "
     "flow.NAME:FROM-TO when there are several; of a poisson one, a file and an incast of several "
     "rounds flow.NAME:FROM-TO:N.\n"},
    {HEAD "workload: [{name: f, from: h0, to: h7}]\n",
     "t.yaml:3:36: error: 'h7' matches no host; did you mean 'h0'?\n"},
    {HEAD "workload: [{name: f, from: h0}]\n", "t.yaml:3:12: error: 'to' is missing in workload\n"},
    {HEAD "workload: [{name: f, from: 'h*', to: h1}]\n",
     "t.yaml:3:28: error: a flow comes from one host, 'h*' matches 4\n"},
    /* a list has no text of its own */
    {HEAD "workload: [{name: f, from: [h0, h1], to: h2}]\n",
     "t.yaml:3:28: error: a flow comes from one host, these are 2\n"},
    {HEAD "workload: [{name: f, kind: incast, from: 'h*', to: 'h*'}]\n",
     "t.yaml:3:52: error: incast goes to one host, this matches 4\n"},
    {HEAD "workload: [{name: f, from: h1, to: h1}]\n",
     "t.yaml:3:36: error: a flow from 'h1' to itself\n"},
    {HEAD "workload: [{name: f, kind: permutation, from: h1}]\n",
     "t.yaml:3:47: error: permutation needs at least two hosts\n"},
    {HEAD "workload: [{name: f, kind: all_to_all, from: h*, to: h1}]\n",
     "t.yaml:3:54: error: 'to' does not go with all_to_all, which is among the hosts of `from`\n"},
    {HEAD "workload: [{name: f, from: h0, to: h1, sizze: 1MB}]\n",
     "t.yaml:3:40: error: unknown key 'sizze' in workload; did you mean 'size'?\n"},
    {HEAD "workload: [{name: f, from: h0, to: h1, path_mtu: 1000}]\n",
     "t.yaml:3:50: error: path_mtu: '1000' is not 256, 512, 1024, 2048 or 4096\n"},
    {HEAD "workload: [{name: f, from: h0, to: h1}, {name: f, from: h1, to: h0}]\n",
     "t.yaml:3:48: error: the name 'f' stands twice\n"},
    {HEAD "workload: [{name: f.g, from: h0, to: h1}]\n",
     "t.yaml:3:19: error: 'f.g' is no name: letters, digits and '_', no digit first, at most 32\n"},
    {HEAD "hosts: {h0: {mtu: 1500}}\nworkload: [{name: f, from: h0, to: h1}]\n",
     "t.yaml:4:12: error: path_mtu 4096 makes packets of up to 4180 bytes, h0 takes 1500 (mtu)\n"},
    {HEAD "links: {leaf0-spine0: {mtu: 1500}}\nworkload: [{name: f, from: h0, to: h1}]\n",
     "t.yaml:4:12: warning: path_mtu 4096 makes packets of up to 4180 bytes, but there are links "
     "that take 1500 (mtu): dropped there\n"},
    {HEAD "hosts: {h0: {attach: {type: vhost_user}}}\nworkload: [{name: f, from: h0, to: h1}]\n",
     "t.yaml:4:12: error: h0 is attached: weft has no flows of its own there\n"},
    {"weft: 1\ntopology: {kind: explicit, switches: [a, b], hosts: [x, y], links: [[x, a], [y, "
     "b]]}\nworkload: [{name: f, from: x, to: y}]\n",
     "t.yaml:3:12: error: there is no way from x to y\n"},
    /* timeline and captures */
    {HEAD "timeline: [{do: link_down, link: leaf0-spine0}]\n",
     "t.yaml:3:12: error: 'at' is missing in timeline: When, in fabric time.\n"},
    {HEAD "timeline: [{at: 1ms, do: link_dwn, link: leaf0-spine0}]\n",
     "t.yaml:3:26: error: do: 'link_dwn' is not one of link_down, link_up, link_rate, link_flap, "
     "inject_drop, "
     "inject_ce, inject_corrupt, pfc, pause; did you mean 'link_down'?\n"},
    {HEAD "timeline: [{at: 1ms, do: pause, where: leaf0:p0, priorities: [3]}]\n",
     "t.yaml:3:62: error: 'priorities' does not go with pause\n"},
    {HEAD "timeline: [{at: 1ms, do: link_down, link: leaf0-leaf1}]\n",
     "t.yaml:3:43: error: 'leaf0-leaf1' matches no link\n"},
    {HEAD "timeline: [{at: 1ms, do: link_down}]\n",
     "t.yaml:3:12: error: 'link' is missing in timeline: link_down needs one\n"},
    {HEAD "timeline: [{at: 1ms, do: inject_drop, where: 'leaf0:p9'}]\n",
     "t.yaml:3:46: error: 'leaf0:p9' matches no port; did you mean 'leaf0:p0'?\n"},
    {HEAD "timeline: [{at: 1ms, do: link_rate, link: leaf0-spine0}]\n",
     "t.yaml:3:12: error: 'rate' is missing in timeline: link_rate needs one\n"},
    {HEAD "timeline: [{at: 1ms, do: link_rate, link: leaf0-spine0, rate: 1bps}]\n",
     "t.yaml:3:63: error: rate: '1bps' is less than a link has, expected at least 1kbps\n"},
    {HEAD "timeline: [{at: 1ms, do: link_up, link: leaf0-spine0, rate: 1Gbps}]\n",
     "t.yaml:3:61: error: 'rate' does not go with link_up\n"},
    {HEAD "timeline: [{at: 1ms, do: link_down, link: leaf0-spine0, every: 3}]\n",
     "t.yaml:3:64: error: 'every' does not go with link_down\n"},
    {HEAD "duration: 1ms\ntimeline: [{at: 2ms, do: link_down, link: leaf0-spine0}]\n",
     "t.yaml:4:12: warning: never happens: the run ends before\n"},
    {HEAD "capture: [{at: 'leaf0:p9', file: x}]\n",
     "t.yaml:3:16: error: 'leaf0:p9' matches no port; did you mean 'leaf0:p0'?\n"},
    {HEAD "capture: [{at: 'leaf0:p0'}]\n",
     "t.yaml:3:11: error: 'file' is missing in capture: pcapng file to write, a fifo, or \"-\" for "
     "standard output; entries may share one\n"},
    /* expectations and profiles */
    {HEAD "expect: ['leaf0:p7.rx_frames == 1']\n",
     "t.yaml:3:10: error: 'leaf0:p7.rx_frames' matches nothing; did you mean 'leaf0:p0'?\n"},
    {HEAD "expect: ['leaf0:p0.rx_frame == 1']\n",
     "t.yaml:3:20: error: no counter has the name 'rx_frame'; did you mean 'rx_frames'?\n"},
    {HEAD "expect: [{that: sum(leaf*.rx_frames) < 1, over_runs: p90}]\n",
     "t.yaml:3:10: error: over_runs without several runs, expected such as repeat: {seeds: 20}\n"},
    {HEAD "profile: nowhere\n",
     "t.yaml:3:10: error: no profile 'nowhere': looked for profiles/nowhere.yaml beside the "
     "scenario, and for scenarios/profiles/nowhere.yaml above it\n"},
    {HEAD "profile: ./no/such\n",
     "././no/such: error: cannot be read: No such file or directory\n"},
};

static void each_mistake_has_its_message(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct wf_scenario s;
        char *m;

        parse(&s, mistakes[i].text);
        m = messages(&s);
        if (strcmp(m, mistakes[i].expect)) {
            print_error("--- %s\nsays:\n%sand not:\n%s", mistakes[i].text, m, mistakes[i].expect);
            wrong++;
        }
        free(m);
        wf_scenario_free(&s);
    }
    assert_int_equal(wrong, 0);
}

/* n switches in a row with a host each, as a file would list them. */
static char *long_row(uint32_t n)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    fprintf(f, "weft: 1\ntopology:\n  kind: explicit\n  switches: [");
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%ss%u", i ? ", " : "", i);
    fprintf(f, "]\n  hosts: [");
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%sh%u", i ? ", " : "", i);
    fprintf(f, "]\n  links:\n");
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "  - [h%u, s%u]\n", i, i);
    for (uint32_t i = 1; i < n; i++)
        fprintf(f, "  - [s%u, s%u]\n", i - 1, i);
    fclose(f);
    return text;
}

/* What would need too much memory is a mistake; names and patterns over many nodes are not. */
static void large_graphs_are_bounded(void **state)
{
    char *ok = long_row(2000), *large = long_row(8300), *m;
    struct wf_scenario s;

    (void)state;
    load(&s, ok);
    assert_int_equal(s.desc.n_links, 3999);
    assert_string_equal(s.links[3998], "s1998:p2-s1999:p1");
    wf_scenario_free(&s);
    assert_true(parse(&s, large) < 0);
    m = messages(&s);
    assert_non_null(strstr(m, "t.yaml:3:3: error: 8300 switches, 8300 of them with hosts, are too "
                              "many routes"));
    free(m);
    wf_scenario_free(&s);
    free(ok);
    free(large);
}

/* A scenario of 32,768 hosts: each flow's ends, and an expectation over millions of counters. */
static void thousands_of_hosts_are_loaded(void **state)
{
    struct wf_scenario s;
    uint8_t *got;

    (void)state;
    load(&s, "weft: 1\ntopology: {kind: fat_tree, k: 64, pods: 32}\n"
             "links: {'agg*-core*': {delay: 2us}}\n"
             "workload: [{name: p, kind: permutation, from: 'h*'}]\n"
             "expect: ['sum(core*:p*.prio3.rx_bytes) == 0', 'flow.p* completes']\n");
    assert_int_equal(s.desc.n_flows, 32768);
    got = calloc(s.desc.n_hosts, 1);
    for (uint32_t i = 0; i < s.desc.n_flows; i++)
        got[s.desc.flows[i].to]++;
    for (uint32_t i = 0; i < s.desc.n_hosts; i++)
        assert_int_equal(got[i], 1);
    assert_int_equal(s.desc.links[98303].cfg.delay_ps, 2 * WF_PS_PER_US);
    assert_int_equal(s.desc.links[65535].cfg.delay_ps, 500000);
    assert_string_equal(s.links[98303], "agg1023:p63-core1023:p31");
    free(got);
    wf_scenario_free(&s);
}

/* All mistakes of a file are told, not only the first. */
static void all_mistakes_are_told(void **state)
{
    struct wf_scenario s;

    (void)state;
    assert_true(parse(&s, HEAD "sed: 1\nlinks: {'*': {rate: 1}}\nswitches: {x: {}}\n"
                               "workload: [{name: f}]\ntimeline: [{}]\nexpect: [x]\n") < 0);
    assert_int_equal(s.diags.errors, 8);
    wf_scenario_free(&s);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void profiles_come_before_the_file(void **state)
{
    char dir[] = "/tmp/weft-scen-XXXXXX", path[64], profile[64], folder[64];
    struct wf_scenario s;
    char *text = NULL;
    size_t len;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(folder, sizeof(folder), "mkdir %s/profiles", dir);
    assert_int_equal(system(folder), 0);
    snprintf(path, sizeof(path), "%s/s.yaml", dir);
    snprintf(profile, sizeof(profile), "%s/profiles/box.yaml", dir);
    write_file(profile, "weft: 1\nswitches: {'*': {latency: 3us, buffer: 16MB}, torus*: {}}\n");
    write_file(path, HEAD "profile: box\nswitches: {leaf0: {latency: 4us}}\n");
    assert_int_equal(wf_scenario_load(&s, path), 0);
    assert_int_equal(s.desc.switches[0].cfg.latency_ps, 4 * WF_PS_PER_US);
    assert_int_equal(s.desc.switches[1].cfg.latency_ps, 3 * WF_PS_PER_US);
    f = open_memstream(&text, &len);
    wf_scenario_explain(&s, f);
    fclose(f);
    assert_non_null(strstr(text, "  buffer = 16MB  # profile box, "));
    assert_non_null(strstr(text, "s.yaml:4:29\n"));
    free(text);
    wf_scenario_free(&s);
    write_file(profile, "weft: 1\nswitches: {'*': {latncy: 3us}}\nworkload: []\n");
    assert_true(wf_scenario_load(&s, path) < 0);
    assert_int_equal(s.diags.errors, 2);
    assert_non_null(strstr(s.diags.items[1]->err.file, "profiles/box.yaml"));
    wf_scenario_free(&s);
    snprintf(folder, sizeof(folder), "rm -r %s", dir);
    assert_int_equal(system(folder), 0);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Table and name of all holders of a walk, sorted. */
static size_t names_of(struct wf_ctr_walk w, char ***out)
{
    char name[WF_CTR_NAME_MAX];
    size_t n = 0;

    *out = malloc(sizeof(**out));
    while (wf_ctr_next(&w)) {
        *out = realloc(*out, (n + 1) * sizeof(**out));
        assert_true(asprintf(&(*out)[n++], "%s %s", w.table->scope, wf_ctr_name(&w, name)) > 0);
        for (size_t i = 0; i < w.table->n; i++)
            assert_true(w.values[i] == 0 || w.table == &wf_ctrs_flow); /* their ideal_ps */
    }
    qsort(*out, n, sizeof(**out), by_text);
    return n;
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* What `weft check` believes of a fabric's counters is what the fabric has. */
static void counters_are_named_as_the_fabric_does(void **state)
{
    struct wf_fabric_opts opts = {0};
    struct wf_scenario s;
    struct wf_fabric *f;
    struct wf_err err;

    (void)state;
    load(&s, HEAD "workload: [{name: f, kind: all_to_all, from: 'h*'}]\n");
    wft_eal(256);
    assert_int_equal(wf_fabric_build(&f, &s.desc, &opts, &err), 0);
    for (unsigned tables = 1; tables; tables <<= 1) { /* one after the other, then all at once */
        unsigned wanted = tables >> 31 ? (unsigned)WF_CTR_ALL_TABLES : tables;
        char **want, **have;
        size_t n = names_of(wf_scenario_ctrs(&s, wanted), &want);

        assert_int_equal(names_of(wf_fabric_ctrs(f, wanted), &have), n);
        assert_true(wanted != (unsigned)WF_CTR_ALL_TABLES || n > 300);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(have[i], want[i]);
        free_names(want, n);
        free_names(have, n);
    }
    wf_fabric_free(f);
    wf_scenario_free(&s);
}

static char *read_doc(const char *name)
{
    const char *root = getenv("WEFT_SOURCE");
    char path[512], *text = NULL;
    size_t len = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/docs/%s", root ? root : ".", name);
    f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing", path);
    if (getdelim(&text, &len, 0, f) < 0)
        fail_msg("%s is empty", path);
    fclose(f);
    return text;
}

static const struct wf_keyset *const more[] = {&wf_lab_keys, NULL};

static void print_reference(FILE *out)
{
    wf_scen_reference(out, more);
}

static void print_defaults(FILE *out)
{
    wf_scen_defaults(out, more);
}

static void up_to_date(const char *doc, void (*print)(FILE *out), const char *option)
{
    char *now = NULL, *was = read_doc(doc);
    size_t len;
    FILE *f = open_memstream(&now, &len);

    print(f);
    fclose(f);
    if (strcmp(now, was))
        fail_msg("docs/%s is not what the tables say: weft check %s > docs/%s", doc, option, doc);
    free(now);
    free(was);
}

static void references_are_up_to_date(void **state)
{
    (void)state;
    up_to_date("scenario-reference.md", print_reference, "--reference");
    up_to_date("DEFAULTS.md", print_defaults, "--defaults");
    up_to_date("COUNTERS.md", wf_scen_counters, "--counters");
}

/* The profiles that come with weft are in order, on more than one topology. */
static void profiles_are_in_order(void **state)
{
    static const char *const names[] = {"spectrum-roce", "sonic-azure", "td3", "hpcc-paper",
                                        "dcqcn-paper"};
    const char *root = getenv("WEFT_SOURCE");
    char name[512], text[512];

    (void)state;
    snprintf(name, sizeof(name), "%s/scenarios/x.yaml", root ? root : ".");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (int spines = 1; spines < 4; spines++) {
            struct wf_scenario s;
            int n = snprintf(text, sizeof(text),
                             "weft: 1\nprofile: %s\ntopology: {spines: %d, hosts_per_leaf: 1}\n",
                             names[i], spines);

            assert_int_equal(wf_scenario_parse(&s, name, text, (size_t)n), 0);
            assert_true(s.desc.switches[0].cfg.port.pg[3].lossless);
            assert_string_equal(s.profiles[0], names[i]);
            wf_scenario_free(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_reach_the_description),
        cmocka_unit_test(later_and_matching_entries_win),
        cmocka_unit_test(cables_give_delays),
        cmocka_unit_test(explicit_topologyys_count_ports_up),
        cmocka_unit_test(workloads_become_flows),
        cmocka_unit_test(permutations_are_drawn_from_the_seed),
        cmocka_unit_test(timelines_are_sorted),
        cmocka_unit_test(captures_and_modes),
        cmocka_unit_test(each_mistake_has_its_message),
        cmocka_unit_test(large_graphs_are_bounded),
        cmocka_unit_test(thousands_of_hosts_are_loaded),
        cmocka_unit_test(all_mistakes_are_told),
        cmocka_unit_test(profiles_come_before_the_file),
        cmocka_unit_test(references_are_up_to_date),
        cmocka_unit_test(profiles_are_in_order),
        cmocka_unit_test(counters_are_named_as_the_fabric_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
