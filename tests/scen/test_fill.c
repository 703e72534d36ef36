/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of filling structs by key tables: values, origins, and the message for each mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scen/fill.h"

struct group {
    bool lossless;
    uint64_t xoff_bytes;
};
struct ecn {
    uint64_t kmin_bytes;
    uint32_t pmax_ppm;
};
struct box {
    int mode;
    uint32_t hops;
    uint64_t latency_ps, rate_bps, seed;
    const char *label;
    uint8_t mac[6];
    struct wf_ip_prefix ip;
    uint32_t prios;
    uint8_t tc[64];
    struct wf_fraction loss;
    struct ecn ecn;
    struct group pg[8];
};

static const char *const modes[] = {"store_and_forward", "cut_through", NULL};
static const struct wf_key group_keys[] = {
    {"lossless", WF_KEY_BOOL, offsetof(struct group, lossless), "false", .doc = "pause it"},
    {"xoff", WF_KEY_BYTES, offsetof(struct group, xoff_bytes), "64KiB", 1, 1 << 20, .doc = "x",
     .source = "assumed"},
};
static const struct wf_keyset group_set = {"pg", "a group", group_keys,          2,
                                           NULL, 0,         sizeof(struct group)};
static const struct wf_key ecn_keys[] = {
    {"kmin", WF_KEY_BYTES, offsetof(struct ecn, kmin_bytes), "150kB", .doc = "k"},
    {"pmax", WF_KEY_PERCENT, offsetof(struct ecn, pmax_ppm), "10%", .doc = "p"},
};
static const struct wf_keyset ecn_set = {"ecn", "marks", ecn_keys, 2, NULL, 0, sizeof(struct ecn)};
static const struct wf_key box_keys[] = {
    {"mode", WF_KEY_ENUM, offsetof(struct box, mode), "cut_through", .names = modes, .doc = "m"},
    {"hops", WF_KEY_UINT, offsetof(struct box, hops), "4", 1, 64, .doc = "h"},
    {"latency", WF_KEY_TIME, offsetof(struct box, latency_ps), "500ns", .doc = "l"},
    {"rate", WF_KEY_RATE, offsetof(struct box, rate_bps), NULL, .doc = "line rate"},
    {"seed", WF_KEY_UINT64, offsetof(struct box, seed), "1", .doc = "s"},
    {"label", WF_KEY_STRING, offsetof(struct box, label), "", .doc = "s"},
    {"mac", WF_KEY_MAC, offsetof(struct box, mac), "", .doc = "s"},
    {"ip", WF_KEY_IP, offsetof(struct box, ip), "", .doc = "s"},
    {"prios", WF_KEY_MASK, offsetof(struct box, prios), "", .max = 7, .doc = "s"},
    {"tc", WF_KEY_MAP, offsetof(struct box, tc), "", .max = 7, .count = 64, .doc = "s"},
    {"loss", WF_KEY_FRACTION, offsetof(struct box, loss), "0", .doc = "s"},
};
static const struct wf_key_sub box_subs[] = {
    {"ecn", &ecn_set, offsetof(struct box, ecn), 0, "marking"},
    {"pg", &group_set, offsetof(struct box, pg), 8, "groups"},
};
static const struct wf_keyset box_set = {"switch", "a box", box_keys,          11,
                                         box_subs, 2,       sizeof(struct box)};

struct fixture {
    struct wf_arena a;
    struct wf_diags d;
    struct wf_origins o;
    struct box box;
};

static void setup(struct fixture *x)
{
    memset(x, 0, sizeof(*x));
    x->d.arena = &x->a;
    wf_keyset_defaults(&box_set, &x->box);
}

static const struct wf_yaml_node *fill(struct fixture *x, const char *profile, const char *text)
{
    struct wf_fill f = {&x->d, &x->o, profile};
    const struct wf_yaml_node *root;
    struct wf_err err;

    assert_int_equal(
        wf_yaml_parse(&x->a, profile ? "p.yaml" : "t.yaml", text, strlen(text), &root, &err), 0);
    wf_fill(&f, &box_set, &x->box, root, NULL);
    return root;
}

static void teardown(struct fixture *x)
{
    wf_origins_free(&x->o);
    wf_arena_free(&x->a);
}

static void every_type_is_filled(void **state)
{
    struct fixture x;

    (void)state;
    setup(&x);
    fill(&x, NULL,
         "mode: store_and_forward\nhops: 7\nlatency: 1.5us\nrate: 100Gbps\nseed: 0xffffffffffff\n"
         "label: ''\nmac: 02:00:00:00:00:01\nip: 10.0.0.1/24\nprios: [3, 5-6]\n"
         "tc: {26: 3, \"0-7\": 1, \"62,63\": 2}\nloss: 1/97\necn: {kmin: 1MB}\n"
         "pg: {\"*\": {xoff: 1kB}, 3: {lossless: true}, 4-5: {xoff: 2kB}}\n");
    assert_int_equal(x.d.errors, 0);
    assert_int_equal(x.box.mode, 0);
    assert_int_equal(x.box.hops, 7);
    assert_int_equal(x.box.latency_ps, 1500000);
    assert_int_equal(x.box.rate_bps, 100000000000ull);
    assert_int_equal(x.box.seed, 0xffffffffffffull);
    assert_string_equal(x.box.label, "");
    assert_int_equal(x.box.mac[5], 1);
    assert_int_equal(x.box.ip.len, 24);
    assert_int_equal(x.box.prios, 0x68);
    assert_int_equal(x.box.tc[26], 3);
    assert_int_equal(x.box.tc[7], 1);
    assert_int_equal(x.box.tc[8], 0);
    assert_int_equal(x.box.tc[63], 2);
    assert_int_equal(x.box.loss.den, 97);
    assert_int_equal(x.box.ecn.kmin_bytes, 1000000);
    assert_int_equal(x.box.ecn.pmax_ppm, 100000);
    assert_true(x.box.pg[3].lossless);
    assert_false(x.box.pg[4].lossless);
    assert_int_equal(x.box.pg[3].xoff_bytes, 1000);
    assert_int_equal(x.box.pg[5].xoff_bytes, 2000);
    assert_int_equal(x.box.pg[7].xoff_bytes, 1000);
    teardown(&x);
}

static void each_mistake_has_its_message(void **state)
{
    static const struct {
        const char *text, *expect;
    } cases[] = {
        {"latncy: 1us\n",
         "t.yaml:1:1: error: unknown key 'latncy' in switch; did you mean 'latency'?\n"},
        {"xyzzy: 1us\n", "t.yaml:1:1: error: unknown key 'xyzzy' in switch\n"},
        {"latency: 100\n", "t.yaml:1:10: error: latency: '100' has no unit, expected a time with "
                           "one of ps, ns, us, ms, s\n"},
        {"latency:\n", "t.yaml:1:9: error: latency: expected a value, found nothing\n"},
        {"latency: [1us]\n", "t.yaml:1:10: error: latency: expected a value, found a list\n"},
        {"hops: 65\n", "t.yaml:1:7: error: '65' for hops is out of range, expected 1 to 64\n"},
        {"mode: cut_trough\n",
         "t.yaml:1:7: error: mode: 'cut_trough' is not one of store_and_forward, cut_through; did "
         "you mean 'cut_through'?\n"},
        {"ip: 10.0.0.256\n", "t.yaml:1:5: error: ip: '10.0.0.256' is not an IP address, expected "
                             "such as 10.0.0.1/24\n"},
        {"prios: 3\n", "t.yaml:1:8: error: prios: expected a list such as [3, 4], found a value\n"},
        {"prios: [3, 8]\n", "t.yaml:1:12: error: prios: '8' is out of range, expected 0 to 7\n"},
        {"tc: {64: 3}\n", "t.yaml:1:6: error: tc: '64' is out of range, expected 0 to 63\n"},
        {"tc: {9-3: 3}\n", "t.yaml:1:6: error: tc: '9-3' runs backwards\n"},
        {"tc: {6: 8}\n", "t.yaml:1:9: error: tc: '8' is out of range, expected 0 to 7\n"},
        {"ecn: 3\n", "t.yaml:1:6: error: ecn: expected a mapping, found a value\n"},
        {"pg: {lossless: true}\n",
         "t.yaml:1:6: error: pg: 'lossless' is not a number or a range, expected such as 3, 0-7 or "
         "\"*\"\n"},
        {"pg: {8: {}}\n", "t.yaml:1:6: error: pg: '8' is out of range, expected 0 to 7\n"},
        {"pg: {\"*\": {xof: 1kB}}\n",
         "t.yaml:1:12: error: unknown key 'xof' in pg; did you mean 'xoff'?\n"},
        {"[a]\n", "t.yaml:1:1: error: switch: expected a mapping, found a list\n"},
        {"hops: 0\nseed: -1\n", "t.yaml:1:7: error: '0' for hops is out of range, expected 1 to "
                                "64\nt.yaml:2:7: error: seed: '-1' is not a whole number\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture x;
        char out[2048] = "";
        FILE *f = fmemopen(out, sizeof(out), "w");

        setup(&x);
        fill(&x, NULL, cases[i].text);
        assert_true(x.d.errors > 0);
        wf_diags_print(&x.d, f);
        fclose(f);
        assert_string_equal(out, cases[i].expect);
        teardown(&x);
    }
}

static void what_is_required_is_missed(void **state)
{
    struct fixture x;
    struct wf_fill f = {&x.d, &x.o, NULL};
    const struct wf_yaml_node *root;

    (void)state;
    setup(&x);
    root = fill(&x, NULL, "hops: 3\n");
    wf_fill_required(&f, &box_set, &x.box, root);
    assert_int_equal(x.d.errors, 1);
    assert_string_equal(x.d.items[0]->err.msg, "'rate' is missing in switch: line rate");
    root = fill(&x, NULL, "rate: 1Gbps\n");
    wf_fill_required(&f, &box_set, &x.box, root);
    assert_int_equal(x.d.errors, 1);
    teardown(&x);
}

/* The last one who set a value is its origin; what nobody set is a default with its source. */
static void origins_are_explained(void **state)
{
    struct fixture x;
    char *text = NULL;
    size_t len;
    FILE *f;

    (void)state;
    setup(&x);
    fill(&x, "generic", "hops: 3\nlatency: 1us\ntc: {26: 3}\npg: {3: {lossless: true}}\n");
    fill(&x, NULL, "hops: 5\ntc: {48: 6}\n");
    f = open_memstream(&text, &len);
    wf_fill_explain(f, &box_set, &x.box, &x.o, "  ");
    fclose(f);
    assert_non_null(strstr(text, "\n  hops = 5  # t.yaml:1:7\n"));
    assert_non_null(strstr(text, "\n  latency = 1us  # profile generic, p.yaml:2:10\n"));
    assert_non_null(strstr(text, "  mode = cut_through  # default\n"));
    assert_non_null(strstr(text, "\n  tc = {0-25: 0, 26: 3, 27-47: 0, 48: 6, 49-63: 0}  # profile "
                                 "generic, p.yaml:3:10; t.yaml:2:10\n"));
    assert_non_null(strstr(text, "\n  pg.0-2,4-7.lossless = false  # default\n"
                                 "  pg.0-2,4-7.xoff = 64KiB  # default: assumed\n"
                                 "  pg.3.lossless = true  # profile generic, p.yaml:4:20\n"));
    free(text);
    teardown(&x);
}

static void a_message_is_kept_once(void **state)
{
    struct fixture x;
    struct wf_fill f;
    const struct wf_yaml_node *root;

    (void)state;
    setup(&x);
    f = (struct wf_fill){&x.d, &x.o, NULL};
    root = fill(&x, NULL, "hops: 99\n");
    wf_fill(&f, &box_set, &x.box, root, NULL);
    assert_int_equal(x.d.errors, 1);
    for (int i = 0; i < 300; i++)
        wf_diag_error(&x.d, NULL, "mistake %d", i);
    assert_int_equal(x.d.errors, 301);
    assert_int_equal(x.d.n, WF_DIAGS_MAX);
    teardown(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_filled),
        cmocka_unit_test(each_mistake_has_its_message),
        cmocka_unit_test(what_is_required_is_missed),
        cmocka_unit_test(origins_are_explained),
        cmocka_unit_test(a_message_is_kept_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
