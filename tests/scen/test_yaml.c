/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the YAML loader: places of nodes, and each way in which a file can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scen/yaml.h"

static int parse(struct wf_arena *a, const char *text, const struct wf_yaml_node **root,
                 struct wf_err *err)
{
    memset(err, 0, sizeof(*err));
    return wf_yaml_parse(a, "t.yaml", text, strlen(text), root, err);
}

static void nodes_know_their_place(void **state)
{
    struct wf_arena a = {0};
    struct wf_err err;
    const struct wf_yaml_node *root, *n;

    (void)state;
    assert_int_equal(parse(&a,
                           "weft: 1\nlinks:\n  a-b: {rate: 1Gbps,\n        mtu: '9'}\n"
                           "list: [x, [y]]\nempty:\nquoted: \"\"\n",
                           &root, &err),
                     0);
    assert_int_equal(root->kind, WF_YAML_MAPPING);
    assert_int_equal(root->n, 5);
    n = wf_yaml_get(wf_yaml_get(wf_yaml_get(root, "links"), "a-b"), "mtu");
    assert_string_equal(n->text, "9");
    assert_true(n->quoted);
    assert_int_equal(n->line, 4);
    assert_int_equal(n->col, 14);
    assert_string_equal(n->file, "t.yaml");
    n = wf_yaml_get(root, "list");
    assert_int_equal(n->kind, WF_YAML_SEQUENCE);
    assert_int_equal(n->items[1].kind, WF_YAML_SEQUENCE);
    assert_int_equal(n->items[1].items[0].col, 12);
    assert_string_equal(wf_yaml_what(wf_yaml_get(root, "empty")), "nothing");
    assert_string_equal(wf_yaml_what(wf_yaml_get(root, "quoted")), "a value");
    assert_null(wf_yaml_get(root, "absent"));
    wf_arena_free(&a);
}

static void aliases_are_resolved(void **state)
{
    struct wf_arena a = {0};
    struct wf_err err;
    const struct wf_yaml_node *root;

    (void)state;
    assert_int_equal(parse(&a, "a: &x {k: 1}\nb: *x\n", &root, &err), 0);
    assert_string_equal(wf_yaml_get(wf_yaml_get(root, "b"), "k")->text, "1");
    assert_int_equal(wf_yaml_get(wf_yaml_get(root, "b"), "k")->line, 1);
    wf_arena_free(&a);
}

static void mistakes_are_placed(void **state)
{
    static const struct {
        const char *text, *expect;
    } cases[] = {
        {"", "t.yaml:1:1: the file is empty"},
        {"# nothing\n", "t.yaml:1:1: the file is empty"},
        {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: the key 'a' stands twice, first in line 1"},
        {"a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document in the file, expected one"},
        {"a: [1, 2\nb: 3\n", "t.yaml:2:2: YAML syntax: did not find expected ',' or ']' "
                             "(while parsing a flow sequence that began in line 1)"},
        {"a: b: c\n", "t.yaml:1:5: YAML syntax: mapping values are not allowed in this context"},
        {"a: *nowhere\n", "t.yaml:1:4: YAML syntax: found undefined alias"},
        {"a: !!int 3\n", "t.yaml:1:4: tags are not supported"},
        {"a: &x {b: 1}\nc:\n  <<: *x\n", "t.yaml:3:3: merge keys (<<) are not supported"},
        {"? [a]\n: 1\n", "t.yaml:1:3: a key must be a plain word"},
        {"%TAG ! x\n---\na: 1\n", "t.yaml:1:1: directives (%) are not supported"},
        {"a: &x [*x]\n", "t.yaml:1:4: an alias that contains itself"},
        {"a: \"\\0\"\n", "t.yaml:1:4: a NUL character in a value"},
        {"a: ok\nb: \xff\xfe\n", "t.yaml:2:4: not valid UTF-8 text: invalid leading UTF-8 octet"},
    };
    char buf[1200];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wf_arena a = {0};
        struct wf_err err;
        const struct wf_yaml_node *root;

        assert_true(parse(&a, cases[i].text, &root, &err) < 0);
        assert_null(root);
        assert_string_equal(wf_err_text(&err, buf, sizeof(buf)), cases[i].expect);
        wf_arena_free(&a);
    }
}

static void expect_refused(const char *text, const char *part)
{
    struct wf_arena a = {0};
    struct wf_err err;
    const struct wf_yaml_node *root;

    assert_true(parse(&a, text, &root, &err) < 0);
    if (!strstr(err.msg, part))
        fail_msg("'%s' does not contain '%s'", err.msg, part);
    wf_arena_free(&a);
}

/* Aliases that multiply, deep nesting, endless size: an error, in bounded time and memory. */
static void bombs_are_refused(void **state)
{
    struct wf_arena a = {0};
    struct wf_err err;
    const struct wf_yaml_node *root;
    char laughs[2048] = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n", deep[256];
    char *big = malloc(WF_YAML_BYTES_MAX + 2);

    (void)state;
    for (int i = 1; i < 12; i++)
        snprintf(laughs + strlen(laughs), sizeof(laughs) - strlen(laughs),
                 "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    expect_refused(laughs, "more than 200000 values");
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = 0;
    expect_refused(deep, "nested deeper than 32 levels");
    memset(big, 'x', WF_YAML_BYTES_MAX + 1);
    assert_true(wf_yaml_parse(&a, "t.yaml", big, WF_YAML_BYTES_MAX + 1, &root, &err) < 0);
    assert_non_null(strstr(err.msg, "larger than 4 MiB"));
    memset(big, '[', 1 << 20);
    assert_true(wf_yaml_parse(&a, "t.yaml", big, 1 << 20, &root, &err) < 0);
    free(big);
    wf_arena_free(&a);
}

static void files_that_cannot_be_read(void **state)
{
    struct wf_arena a = {0};
    struct wf_err err;
    const struct wf_yaml_node *root;
    char buf[1200];

    (void)state;
    assert_true(wf_yaml_load(&a, "no-such-file.yaml", &root, &err) < 0);
    assert_string_equal(wf_err_text(&err, buf, sizeof(buf)),
                        "no-such-file.yaml: cannot be read: No such file or directory");
    assert_true(wf_yaml_load(&a, "/", &root, &err) < 0);
    assert_string_equal(wf_err_text(&err, buf, sizeof(buf)), "/: cannot be read: Is a directory");
    assert_true(wf_yaml_load(&a, "/dev/zero", &root, &err) < 0);
    wf_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_know_their_place),    cmocka_unit_test(aliases_are_resolved),
        cmocka_unit_test(mistakes_are_placed),       cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(files_that_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
