/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft check: what is wrong with scenarios, without running them; where every value comes from;
 * the reference of all keys.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "fabric/partition.h"
#include "lab/config.h"
#include "scen/scenario.h"

/* Sections that are not scen's own. */
static const struct wf_keyset *const more[] = {&wf_lab_keys, NULL};

static void usage(FILE *to)
{
    fputs(
        "usage: weft check [--explain] [--live] [--set KEY=VALUE]... SCENARIO...\n"
        "       weft check --reference | --defaults | --counters\n\n"
        "Says all that is wrong with scenario files, each with its place; exits with 2 when there\n"
        "are errors. \"-\" reads the standard input.\n\n"
        "  --explain     print every effective value and where it comes from\n"
        "  --set K=V     another value than the scenario's, as for weft run\n"
        "  --canonical   print the text that a scenario's hash in manifests is the SHA-256 of\n"
        "  --lcores N    print how the fabric is split onto N cores, and what bounds them\n"
        "  --live        attachments to the outside are in order (weft run --live)\n"
        "  --virtual     they are not (weft run)\n"
        "  --reference   print the reference of scenario files as markdown\n"
        "  --defaults    print all defaults and their sources as markdown\n",
        to);
}

struct options {
    bool explain, live, virtual, canonical;
    struct wf_cmd_sets sets;
    uint32_t lcores; /* 0: not asked */
};

static void summary(const struct wf_scenario *s)
{
    const struct wf_desc *d = &s->desc;

    printf("%s: %s: in order: %u switches, %u hosts, %u links, %u flows, %zu expectations\n",
           s->path, s->opts.name, d->n_switches, d->n_hosts, d->n_links, d->n_flows, s->expects.n);
}

static void print_partition(const struct wf_scenario *s, uint32_t lcores)
{
    struct wf_arena arena = {0};
    struct wf_partition p;

    wf_partition(&p, &s->desc, lcores, &arena);
    wf_partition_print(&p, &s->desc, stdout);
    wf_arena_free(&arena);
}

static int check(const char *path, const struct options *o)
{
    struct wf_scenario s;
    int rc = wf_scenario_load_set(&s, path, o->sets.items, o->sets.n);

    if (s.root)
        for (size_t i = 0; more[i]; i++)
            wf_scenario_extra(&s, more[i]);
    if (!rc && (o->live || o->virtual))
        wf_scenario_check_mode(&s, o->live);
    rc = s.diags.errors ? -1 : 0;
    wf_diags_print(&s.diags, stderr);
    if (o->canonical)
        wf_scenario_canonical(&s, stdout);
    else if (o->explain)
        wf_scenario_explain(&s, stdout);
    else if (!rc)
        summary(&s);
    if (!rc && o->lcores)
        print_partition(&s, o->lcores);
    wf_scenario_free(&s);
    return rc ? WF_EXIT_USAGE : WF_EXIT_PASS;
}

static int unknown(const char *arg)
{
    static const char *const names[] = {"--explain",   "--live",     "--virtual", "--reference",
                                        "--defaults",  "--counters", "--help",    "--set",
                                        "--canonical", "--lcores"};
    struct wf_err err;

    wf_err_set(&err, 22, "unknown option '%s'", arg);
    wf_err_suggest(&err, arg, names, sizeof(names) / sizeof(names[0]));
    return wf_cmd_fail("check", WF_EXIT_USAGE, &err);
}

/* Options that need no file; -1: none of them. */
static int alone(const char *arg)
{
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h"))
        usage(stdout);
    else if (!strcmp(arg, "--reference"))
        wf_scen_reference(stdout, more);
    else if (!strcmp(arg, "--defaults"))
        wf_scen_defaults(stdout, more);
    else if (!strcmp(arg, "--counters"))
        wf_scen_counters(stdout);
    else
        return -1;
    return WF_EXIT_PASS;
}

int wf_cmd_check(int argc, char **argv)
{
    struct options o = {0};
    int files = 0, rc = WF_EXIT_PASS;
    struct wf_err err;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            argv[++files] = argv[i];
            continue;
        }
        if (!strcmp(argv[i], "--explain"))
            o.explain = true;
        else if (!strcmp(argv[i], "--live"))
            o.live = true;
        else if (!strcmp(argv[i], "--virtual"))
            o.virtual = true;
        else if (!strcmp(argv[i], "--canonical"))
            o.canonical = true;
        else if (!strcmp(argv[i], "--lcores")) {
            if (wf_cmd_lcores(argv[i + 1] ? argv[i + 1] : "", &o.lcores, &err))
                return wf_cmd_fail("check", WF_EXIT_USAGE, &err);
            i++;
        } else if (!strcmp(argv[i], "--set")) {
            if (wf_cmd_set_add(&o.sets, argv[i + 1] ? argv[i + 1] : "", &err))
                return wf_cmd_fail("check", WF_EXIT_USAGE, &err);
            i += argv[i + 1] != NULL;
        } else if (alone(argv[i]) == WF_EXIT_PASS)
            return WF_EXIT_PASS;
        else
            return unknown(argv[i]);
    }
    if (!files) {
        usage(stderr);
        return WF_EXIT_USAGE;
    }
    for (int i = 1; i <= files; i++) {
        int one = check(argv[i], &o);

        rc = rc ? rc : one;
    }
    return rc;
}
