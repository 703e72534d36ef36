/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of patterns over names of nodes, ports, queues and links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scen/match.h"

static void names_match(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool match;
    } cases[] = {
        {"leaf0", "leaf0", true},
        {"leaf0", "leaf01", false},
        {"*", "leaf0:p3", true},
        {"*", "leaf0:p3.q3", false},
        {"leaf*", "leaf0:p3", true},
        {"leaf*", "leaf0:p3.q3", false},
        {"leaf*.q*", "leaf0:p3.q3", true},
        {"leaf*:p*.q3", "leaf12:p10.q3", true},
        {"h?", "h1", true},
        {"h?", "h12", false},
        {"h[1-8]", "h8", true},
        {"h[1-8]", "h12", false},
        {"h[1-16]", "h12", true},
        {"h[1,4-6]", "h5", true},
        {"h[1,4-6]", "h3", false},
        {"h[1-8]", "h", false},
        {"*[2-3]", "h2", true},
        {"*[2-3]", "h12", false},
        {"*p[0-3].q?", "a:p3.q7", true},
        {"flow.*", "flow.a", true},
        {"a*b*c", "axxbyyc", true},
        {"a*b*c", "axxbyyd", false},
        {"", "", true},
        {"*", "", true},
        {"?", ".", false},
        {"[", "1", false},
        {"[1", "1", false},
        {"h[99999999999999999999]", "h1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (wf_match(cases[i].pattern, cases[i].name) != cases[i].match)
            fail_msg("'%s' against '%s' is not %d", cases[i].pattern, cases[i].name,
                     cases[i].match);
}

/* Many stars against a long name end quickly. */
static void stars_do_not_explode(void **state)
{
    char pattern[512], name[4096];

    (void)state;
    for (int i = 0; i < 250; i++)
        memcpy(pattern + 2 * i, "*a", 2);
    pattern[500] = 'b';
    pattern[501] = 0;
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    assert_false(wf_match(pattern, name));
}

static void patterns_are_checked(void **state)
{
    static const char *const bad[] = {"", "h[", "h[]", "h[a-b]", "h[1-", "h[3-1]", "h]", "h[1,]"};
    struct wf_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_true(wf_match_check(bad[i], &err) < 0);
    assert_int_equal(wf_match_check("leaf*-spine[0-3]:p?", &err), 0);
}

static void links_match_in_both_directions(void **state)
{
    (void)state;
    assert_true(wf_match_link("*", "leaf0", 4, "spine1", 0));
    assert_true(wf_match_link("leaf*-spine*", "leaf0", 4, "spine1", 0));
    assert_true(wf_match_link("spine1-leaf0", "leaf0", 4, "spine1", 0));
    assert_true(wf_match_link("leaf[0-1]-spine[1-2]", "leaf0", 4, "spine1", 0));
    assert_true(wf_match_link("leaf0:p4-spine1:p0", "leaf0", 4, "spine1", 0));
    assert_true(wf_match_link("spine1:p0-leaf0", "leaf0", 4, "spine1", 0));
    assert_false(wf_match_link("leaf0:p3-spine1:p0", "leaf0", 4, "spine1", 0));
    assert_false(wf_match_link("leaf*-leaf*", "leaf0", 4, "spine1", 0));
    assert_true(wf_match_link("leaf0", "leaf0", 4, "spine1", 0));
    assert_true(wf_match_link("spine1:*", "leaf0", 4, "spine1", 0));
    assert_false(wf_match_link("leaf0:p3", "leaf0", 4, "spine1", 0));
    assert_false(wf_match_link("leaf1", "leaf0", 4, "spine1", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_match),
        cmocka_unit_test(stars_do_not_explode),
        cmocka_unit_test(patterns_are_checked),
        cmocka_unit_test(links_match_in_both_directions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
