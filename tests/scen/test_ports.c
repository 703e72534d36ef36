/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the `ports:` section: what a port has of its own, what it shares, and the messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scen/scenario.h"

#define HEAD "weft: 1\ntopology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"

static struct wf_scenario scen;

static int parse(const char *text, const char *const *sets, size_t n_sets)
{
    struct wf_scen_text file = {"t.yaml", text, strlen(text)};

    return wf_scenario_load_texts(&scen, &file, 1, sets, n_sets);
}

static char *messages(void)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    wf_diags_print(&scen.diags, f);
    fclose(f);
    return text;
}

static void load(const char *text, const char *const *sets, size_t n_sets)
{
    if (parse(text, sets, n_sets))
        fail_msg("%s", messages());
}

/* The configuration of a switch's port; links: h0..h3, then leaf0-spine0 ... leaf1-spine1. */
static const struct wf_switch_port_cfg *of(const char *port)
{
    for (uint32_t i = 0; i < 2 * scen.desc.n_links; i++)
        if (!strcmp(scen.ports[i], port))
            return wf_desc_port_cfg(&scen.desc, i / 2, (int)(i % 2));
    fail_msg("no port %s", port);
    return NULL;
}

static void a_port_goes_before_its_switch(void **state)
{
    (void)state;
    load(HEAD "ports:\n"
              "  'leaf0:p[0-1]': {trust: pcp, pg: {3: {lossless: true, xoff: 50kB}}}\n"
              "  leaf0:p1: {dscp_to_tc: {46: 5}, pg: {3: {xoff: 60kB}}}\n"
              "switches: {'*': {pg: {3: {xoff: 70kB, limit: 1MB}}, tc_to_pg: {1: 2}}}\n",
         NULL, 0);
    assert_int_equal(of("leaf0:p0")->trust, WF_TRUST_PCP);
    assert_int_equal(of("leaf0:p0")->pg[3].xoff_bytes, 50000);
    assert_int_equal(of("leaf0:p0")->pg[3].limit_bytes, 1000000); /* the switch's, as it stands */
    assert_int_equal(of("leaf0:p0")->tc_to_pg[1], 2);
    assert_int_equal(of("leaf0:p0")->dscp_to_tc[46], 5); /* the default: 46 / 8 */
    assert_int_equal(of("leaf0:p1")->pg[3].xoff_bytes, 60000);
    assert_true(of("leaf0:p1")->pg[3].lossless);
    for (int i = 0; i < 2; i++) {
        const struct wf_switch_port_cfg *other = of(i ? "leaf0:p2" : "leaf1:p0");

        assert_int_equal(other->trust, WF_TRUST_DSCP);
        assert_int_equal(other->pg[3].xoff_bytes, 70000);
        assert_false(other->pg[3].lossless);
    }
    wf_scenario_free(&scen);
}

static void ports_that_the_same_entries_match_share(void **state)
{
    (void)state;
    load(HEAD "ports: {'*:p[0-2]': {trust: pcp}, leaf1*: {pfc: {quanta: 100}}, 'leaf*:p0': {}}\n",
         NULL, 0);
    assert_ptr_equal(of("leaf0:p1"), of("leaf0:p2"));
    assert_ptr_not_equal(of("leaf0:p0"), of("leaf0:p1"));
    assert_ptr_equal(of("leaf1:p1"), of("leaf1:p2"));
    assert_ptr_not_equal(of("leaf1:p1"), of("leaf0:p1"));
    assert_ptr_equal(of("leaf0:p3"), &scen.desc.switches[0].cfg.port);
    assert_int_equal(of("leaf1:p3")->trust, WF_TRUST_DSCP);
    assert_int_equal(of("leaf1:p3")->pfc.quanta, 100);
    assert_int_equal(of("leaf1:p0")->pfc.quanta, 100);
    assert_int_equal(of("leaf1:p0")->trust, WF_TRUST_PCP);
    wf_scenario_free(&scen);
}

static void set_and_explain_know_ports(void **state)
{
    const char *sets[] = {"ports.leaf0:p0.pg.3.limit=3MB", "switches.*.pg.3.xon=1kB"};
    char *text = NULL, *port;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    (void)state;
    load(HEAD "switches: {'*': {pg: {3: {xoff: 70kB}}}}\nports: {leaf0:p0: {trust: pcp}}\n", sets,
         2);
    assert_int_equal(of("leaf0:p0")->pg[3].limit_bytes, 3000000);
    assert_int_equal(of("leaf0:p0")->pg[3].xon_bytes, 1000);
    wf_scenario_explain(&scen, f);
    fclose(f);
    port = strstr(text, "\nport leaf0:p0:\n");
    assert_non_null(port);
    assert_non_null(strstr(port, "\n  trust = pcp  # t.yaml:4:27\n"));
    assert_non_null(strstr(port, "\n  pg.3.xoff = 70kB  # t.yaml:3:33\n")); /* its switch's place */
    assert_non_null(strstr(port, "limit = 3MB  # --set ports.leaf0:p0.pg.3.limit=3MB\n"));
    assert_null(strstr(text, "\nport leaf0:p1"));
    free(text);
    wf_scenario_free(&scen);
}

static void mistakes_have_their_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"ports: {leaf0:p9: {trust: pcp}}",
         "t.yaml:3:9: error: 'leaf0:p9' matches no port of a switch"},
        {"ports: {'h0:p0': {trust: pcp}}",
         "t.yaml:3:9: error: 'h0:p0' matches no port of a switch"},
        {"ports: {leaf0: {trust: pcp}}", "t.yaml:3:9: error: 'leaf0' matches no port"},
        {"ports: {leaf0:p0: {trsut: pcp}}",
         "t.yaml:3:20: error: unknown key 'trsut' in port; did you mean 'trust'?"},
        {"ports: {leaf0:p0: {latency: 1us}}", "t.yaml:3:20: error: unknown key 'latency' in port"},
        {"ports: {leaf0:p0: {pg: {8: {}}}}", "t.yaml:3:25: error: pg: '8' is out of range"},
        {"ports: {leaf0:p7: {pg: {3: {xof: 1kB}}}}",
         "t.yaml:3:29: error: unknown key 'xof' in pg; did you mean 'xoff'?"},
        {"ports: [leaf0:p0]", "t.yaml:3:8: error: ports: expected a mapping"},
        {"ports: {leaf0:p0: {queue: {3: {ecn: true, kmin: 2MB, kmax: 1MB}}}}",
         "t.yaml:3:49: error: kmin of queue 3 is 2MB, above kmax, 1MB"},
        {"ports: {leaf0:p2: {pg: {3: {lossless: true, headroom: 10kB}}}}",
         "t.yaml:3:55: error: headroom of lossless pg 3 is 10kB, but "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512], *m;

        snprintf(text, sizeof(text), HEAD "%s\n", cases[i].text);
        assert_int_not_equal(parse(text, NULL, 0), 0);
        m = messages();
        if (!strstr(m, cases[i].message))
            fail_msg("expected %s\nfound %s", cases[i].message, m);
        free(m);
        wf_scenario_free(&scen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_goes_before_its_switch),
        cmocka_unit_test(ports_that_the_same_entries_match_share),
        cmocka_unit_test(set_and_explain_know_ports),
        cmocka_unit_test(mistakes_have_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
