/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `cc:` section's errors: a value out of its key's range is refused where it stands, for every
 * key of every law; what names no law is said once, whoever uses it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cc/laws.h"
#include "scen/scenario.h"

#define HEAD                                                                                       \
    "weft: 1\nname: t\ntopology: {kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 4}\n"

/* Beyond every key's range, and of a form that its type knows. */
static const char *const beyond[] = {
    [WF_CC_UINT] = "4000000000", [WF_CC_TIME] = "3000s",   [WF_CC_RATE] = "900000Gbps",
    [WF_CC_BYTES] = "9000000GB", [WF_CC_PERCENT] = "101%", [WF_CC_FRACTION] = "4294967295",
    [WF_CC_BOOL] = "maybe",
};

static void refused_where_it_stands(void **state)
{
    unsigned n = 0;

    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++)
        for (size_t i = 0; i < (*l)->n_keys; i++, n++) {
            const struct wf_cc_key *k = &(*l)->keys[i];
            const struct wf_err *e;
            struct wf_scenario s;
            char text[512], at[320];
            int len =
                snprintf(text, sizeof(text), HEAD "cc:\n  x: {law: %s, %s: ", (*l)->name, k->name);
            int col = 1 + len - (int)(strrchr(text, '\n') + 1 - text);

            snprintf(text + len, sizeof(text) - (size_t)len,
                     "%s}\nworkload: [{name: a, from: h0, to: h1, cc: x, path_mtu: 2048}]\n",
                     beyond[k->type]);
            assert_int_not_equal(wf_scenario_parse(&s, "t.yaml", text, strlen(text)), 0);
            if (s.diags.errors != 1)
                wf_diags_print(&s.diags, stderr);
            assert_int_equal(s.diags.errors, 1);
            e = &s.diags.items[0]->err;
            snprintf(at, sizeof(at), "%s:%d:%d", e->file, e->line, e->col);
            snprintf(text, sizeof(text), "t.yaml:5:%d", col);
            assert_string_equal(at, text);
            assert_non_null(strstr(e->msg, k->name));
            assert_non_null(strstr(e->msg, beyond[k->type]));
            wf_scenario_free(&s);
        }
    assert_true(n > 30);
}

static void said_once(void **state)
{
    static const struct {
        const char *cc, *msg;
        unsigned line, col;
    } rows[] = {
        {"x: {timer: 100us}", "cc.x: it names no law and 'x' is none, expected such as", 4, 6},
        {"x: {law: dcqn}", "there is no congestion control 'dcqn'", 4, 15},
        {"x: 3", "expected a mapping such as {law: dcqcn}", 4, 9},
        {"x: {law: ./nowhere.so}", "control './nowhere.so' can't be loaded", 4, 15},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_scenario s;
        char text[512];

        snprintf(text, sizeof(text),
                 HEAD "cc: {%s}\nhosts: {h2: {nic: {cc: x}}}\n"
                      "workload: [{name: a, from: h0, to: h1, cc: x}, {name: b, from: h2, to: h1}, "
                      "{name: c, from: h3, to: h1, cc: x}]\n",
                 rows[i].cc);
        assert_int_not_equal(wf_scenario_parse(&s, "t.yaml", text, strlen(text)), 0);
        if (s.diags.errors != 1)
            wf_diags_print(&s.diags, stderr);
        assert_int_equal(s.diags.errors, 1);
        assert_non_null(strstr(s.diags.items[0]->err.msg, rows[i].msg));
        assert_int_equal(s.diags.items[0]->err.line, rows[i].line);
        assert_int_equal(s.diags.items[0]->err.col, rows[i].col);
        wf_scenario_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_where_it_stands),
        cmocka_unit_test(said_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
