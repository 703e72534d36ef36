/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft diff: what differs between two results.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cap/json.h"
#include "cmd.h"
#include "cmd_opt.h"
#include "scen/diff.h"

struct options {
    bool json;
};

static const struct wf_opt opts[] = {
    {.name = "json",
     .kind = WF_OPT_FLAG,
     .off = offsetof(struct options, json),
     .help = "one JSON object (weft.diff/1)"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft diff [--json] A B\n"
        "\n"
        "Says what differs between two results and nothing else: files of weft run --json and "
        "weft\n"
        "replay --json, recordings of weft run --record, tables (CSV), or folders of weft sweep.\n"
        "Values that are numbers come with the relative change. What depends on the machine and\n"
        "its clock is left out.\n"
        "\n",
    .opts = opts,
    .tail = "\nExit status: 0 they are the same, 1 they differ, 2 bad input.\n",
};

static const char *value_text(const json_t *v, char *buf, size_t len)
{
    size_t n;

    if (json_is_null(v))
        return "nothing";
    if (json_is_string(v))
        return json_string_value(v)[0] ? json_string_value(v) : "nothing";
    n = json_dumpb(v, buf, len - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
    buf[n < len - 1 ? n : len - 1] = 0;
    return buf;
}

static void print_changes(const json_t *changes, const char *indent)
{
    char a[1024], b[1024];
    const json_t *c;
    size_t i;

    json_array_foreach (changes, i, c) {
        const json_t *relative = json_object_get(c, "relative");

        printf("%s%s: %s -> %s", indent, json_string_value(json_object_get(c, "what")),
               value_text(json_object_get(c, "a"), a, sizeof(a)),
               value_text(json_object_get(c, "b"), b, sizeof(b)));
        if (relative)
            printf(" (%+.3g%%)", 100 * json_real_value(relative));
        putchar('\n');
    }
}

static void print_text(const json_t *changes, const json_t *context)
{
    size_t n = json_array_size(changes);

    if (!n)
        return;
    print_changes(changes, "");
    printf("%zu difference%s\n", n, n == 1 ? "" : "s");
    if (json_array_size(context)) {
        printf("not made alike:\n");
        print_changes(context, "  ");
    }
}

static int diff(const char *path_a, const char *path_b, bool as_json)
{
    struct wf_diff_side a, b = {0};
    json_t *changes = NULL, *context = NULL, *all;
    struct wf_err err;
    bool same;
    int rc = wf_diff_read(&a, path_a, &err);

    if (!rc)
        rc = wf_diff_read(&b, path_b, &err);
    if (!rc)
        rc = wf_diff_match(&a, &b, &err);
    if (!rc) {
        changes = wf_diff(a.values, b.values);
        context = wf_diff(a.context, b.context);
    }
    wf_diff_free(&a);
    wf_diff_free(&b);
    if (rc)
        return wf_cmd_fail("diff", WF_EXIT_USAGE, &err);
    same = !json_array_size(changes);
    all = json_pack("{s:s, s:s, s:s, s:b, s:o, s:o}", "schema", "weft.diff/1", "a", path_a, "b",
                    path_b, "same", (int)same, "changes", changes, "context", context);
    if (as_json) {
        json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        putchar('\n');
    } else {
        wf_json_plain(all);
        print_text(changes, context);
    }
    json_decref(all);
    return same ? WF_EXIT_PASS : WF_EXIT_EXPECTATION;
}

int wf_cmd_diff(int argc, char **argv)
{
    struct options o = {0};
    struct wf_err err;
    int n, rc = wf_opt_parse(&page, &o, argc, argv, &n, &err);

    if (rc > 0)
        return WF_EXIT_PASS;
    if (!rc && n != 2)
        rc = wf_err_set(&err, EINVAL, "expected two results, found %d; see weft diff --help", n);
    return rc ? wf_cmd_fail("diff", WF_EXIT_USAGE, &err) : diff(argv[1], argv[2], o.json);
}
