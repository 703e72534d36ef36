/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft check: what is wrong with scenarios, without running them; where every value comes from;
 * the reference of all keys.
 */
#include <stddef.h>
#include <stdio.h>

#include "cmd.h"
#include "cmd_opt.h"
#include "fabric/partition.h"
#include "lab/config.h"
#include "scen/scenario.h"

/* Sections that are not scen's own. */
static const struct wf_keyset *const more[] = {&wf_lab_keys, NULL};

struct options {
    bool explain, live, virtual, canonical, reference, defaults, counters;
    struct wf_cmd_sets sets;
    uint32_t lcores; /* 0: not asked */
};

#define FIELD(name) .off = offsetof(struct options, name)

static const struct wf_opt opts[] = {
    {.name = "explain",
     .kind = WF_OPT_FLAG,
     FIELD(explain),
     .help = "print every effective value and where it comes from"},
    {.name = "set",
     .kind = WF_OPT_SET,
     FIELD(sets),
     .value = "KEY=VALUE",
     .help = "another value than the scenario's, as for weft run"},
    {.name = "canonical",
     .kind = WF_OPT_FLAG,
     FIELD(canonical),
     .help = "print the text that a scenario's hash in manifests is the SHA-256 of"},
    {.name = "lcores",
     .kind = WF_OPT_UINT,
     FIELD(lcores),
     .min = 1,
     .max = WF_LCORES_MAX,
     .value = "N",
     .help = "print how the fabric is split onto N cores, and what bounds them"},
    {.name = "live",
     .kind = WF_OPT_FLAG,
     FIELD(live),
     .help = "attachments to the outside are in order (weft run --live)"},
    {.name = "virtual", .kind = WF_OPT_FLAG, FIELD(virtual), .help = "they are not (weft run)"},
    {.name = "reference",
     .kind = WF_OPT_FLAG,
     FIELD(reference),
     .help = "print the reference of scenario files as markdown"},
    {.name = "defaults",
     .kind = WF_OPT_FLAG,
     FIELD(defaults),
     .help = "print all defaults and their sources as markdown"},
    {.name = "counters",
     .kind = WF_OPT_FLAG,
     FIELD(counters),
     .help = "print all counters and their other names as markdown"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft check [--explain] [--live] [--set KEY=VALUE]... SCENARIO...\n"
        "       weft check --reference | --defaults | --counters\n\n"
        "Says all that is wrong with scenario files, each with its place; exits with 2 when there\n"
        "are errors. \"-\" reads the standard input.\n\n",
    .opts = opts,
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
    if (o->canonical && s.root)
        wf_scenario_canonical(&s, stdout);
    else if (o->explain && s.root)
        wf_scenario_explain(&s, stdout);
    else if (!rc)
        summary(&s);
    if (!rc && o->lcores)
        print_partition(&s, o->lcores);
    wf_scenario_free(&s);
    return rc ? WF_EXIT_USAGE : WF_EXIT_PASS;
}

/* What needs no file. */
static bool print_docs(const struct options *o)
{
    if (o->reference)
        wf_scen_reference(stdout, more);
    if (o->defaults)
        wf_scen_defaults(stdout, more);
    if (o->counters)
        wf_scen_counters(stdout);
    return o->reference || o->defaults || o->counters;
}

int wf_cmd_check(int argc, char **argv)
{
    struct options o = {0};
    int n, rc = WF_EXIT_PASS;
    struct wf_err err;
    int parsed = wf_opt_parse(&page, &o, argc, argv, &n, &err);

    if (parsed)
        return parsed > 0 ? WF_EXIT_PASS : wf_cmd_fail("check", WF_EXIT_USAGE, &err);
    if (print_docs(&o) && !n)
        return WF_EXIT_PASS;
    if (!n) {
        wf_err_set(&err, 22, "no scenario given, see weft check --help");
        return wf_cmd_fail("check", WF_EXIT_USAGE, &err);
    }
    for (int i = 1; i <= n; i++) {
        int one = check(argv[i], &o);

        rc = rc ? rc : one;
    }
    return rc;
}
