/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft qos mlnx: what mlnx_qos would set in a NIC, as lines of a scenario. A model host has one
 * queue for each flow and no scheduler: ETS, and the map of priorities to traffic classes, are
 * named as ignored.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "cmd_opt.h"
#include "cmd_qos.h"

/* What was given. */
struct mlnx {
    int pfc[8];
    unsigned n_pfc;
    struct {
        unsigned dscp, prio;
    } dscp[64];
    unsigned n_dscp;
    const char *ignored[8];
    unsigned n_ignored;
};

static void ignore(struct mlnx *m, const char *why)
{
    for (unsigned i = 0; i < m->n_ignored; i++)
        if (m->ignored[i] == why)
            return;
    m->ignored[m->n_ignored++] = why;
}

/* Numbers from 0 to max with commas between, at most eight. */
static int numbers(const struct wf_opt *opt, const char *text, int max, int out[8], unsigned *n,
                   struct wf_err *err)
{
    const char *s = text;

    for (*n = 0; *n < 8; s++) {
        char *end;
        long v = strtol(s, &end, 10);

        if (*s < '0' || *s > '9' || v > max || (*end && *end != ','))
            break;
        out[(*n)++] = (int)v;
        s = end;
        if (!*end)
            return 0;
    }
    return wf_err_set(err, EINVAL,
                      "--%s '%.60s': expected up to eight numbers from 0 to %d, such as "
                      "0,0,0,1",
                      opt->name, text, max);
}

static int take_tsa(void *options, const struct wf_opt *opt, const char *text, struct wf_err *err)
{
    const char *s = text;

    (void)opt;
    ignore(options, "--tsa: a model host does not schedule by traffic class");
    for (unsigned n = 0; n < 8; n++) {
        size_t len = strcspn(s, ",");

        if (!((len == 3 && !strncmp(s, "ets", 3)) || (len == 6 && !strncmp(s, "strict", 6)) ||
              (len == 6 && !strncmp(s, "vendor", 6))))
            break;
        if (!s[len])
            return 0;
        s += len + 1;
    }
    return wf_err_set(err, EINVAL, "--tsa '%.60s': expected up to eight of ets, strict, vendor",
                      text);
}

static int take_tcbw(void *options, const struct wf_opt *opt, const char *text, struct wf_err *err)
{
    int v[8], sum = 0, rc;
    unsigned n;

    ignore(options, "--tcbw: a model host does not schedule by traffic class");
    rc = numbers(opt, text, 100, v, &n, err);
    for (unsigned i = 0; !rc && i < n; i++)
        sum += v[i];
    if (!rc && sum != 100 && sum != 0)
        rc = wf_err_set(err, EINVAL, "--tcbw '%.60s': the sum is %d, expected 100", text, sum);
    return rc;
}

static int take_dscp(void *options, const struct wf_opt *opt, const char *text, struct wf_err *err)
{
    struct mlnx *m = options;
    unsigned dscp, prio;
    int end = 0;

    (void)opt;
    if (sscanf(text, "set,%2u,%1u%n", &dscp, &prio, &end) != 2 || text[end] || dscp > 63 ||
        prio > 7)
        return wf_err_set(err, EINVAL, "--dscp2prio '%.60s': expected such as set,26,3", text);
    for (unsigned i = 0; i < m->n_dscp; i++)
        if (m->dscp[i].dscp == dscp) {
            m->dscp[i].prio = prio;
            return 0;
        }
    m->dscp[m->n_dscp].dscp = dscp;
    m->dscp[m->n_dscp++].prio = prio;
    return 0;
}

static int take_trust(void *options, const struct wf_opt *opt, const char *text, struct wf_err *err)
{
    static const char *const words[] = {"dscp", "pcp"};
    int i = wf_opt_word(opt, text, words, 2, err);

    if (i == 1)
        ignore(options, "--trust pcp: a model host takes the priority from the DSCP");
    return i < 0 ? i : 0;
}

static int take_pfc(void *options, const struct wf_opt *opt, const char *text, struct wf_err *err)
{
    struct mlnx *m = options;

    return numbers(opt, text, 1, m->pfc, &m->n_pfc, err);
}

static int take_prio_tc(void *options, const struct wf_opt *opt, const char *text,
                        struct wf_err *err)
{
    int v[8];
    unsigned n;

    ignore(options, "--prio_tc: a model host has a queue for each priority");
    return numbers(opt, text, 7, v, &n, err);
}

static const struct wf_opt opts[] = {
    {.name = "trust",
     .letter = 't',
     .kind = WF_OPT_CALL,
     .value = "dscp|pcp",
     .take = take_trust,
     .help = "what the priority is taken from"},
    {.name = "pfc",
     .letter = 'f',
     .kind = WF_OPT_CALL,
     .value = "LIST",
     .take = take_pfc,
     .help = "1 for each priority with PFC, such as 0,0,0,1"},
    {.name = "dscp2prio",
     .kind = WF_OPT_CALL,
     .value = "set,DSCP,PRIO",
     .take = take_dscp,
     .help = "the priority of a DSCP; may be given again"},
    {.name = "prio_tc",
     .letter = 'p',
     .kind = WF_OPT_CALL,
     .value = "LIST",
     .take = take_prio_tc,
     .help = "checked and named as ignored, as are the next two"},
    {.name = "tsa",
     .letter = 's',
     .kind = WF_OPT_CALL,
     .value = "LIST",
     .take = take_tsa,
     .help = "ets, strict or vendor for each traffic class"},
    {.name = "tcbw",
     .kind = WF_OPT_CALL,
     .value = "LIST",
     .take = take_tcbw,
     .help = "per cent for each traffic class, 100 in all"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head = "usage: weft qos mlnx HOST [OPTION]...\n\n"
            "A host's lines of a scenario, from the words of mlnx_qos.\n\n",
    .opts = opts,
};

static void print(const char *host, const struct mlnx *m)
{
    const char *sep = "";
    int any = 0;

    printf("hosts:\n  \"%s\":\n", host);
    for (unsigned i = 0; i < m->n_pfc; i++)
        any = any || m->pfc[i];
    if (any) {
        printf("    pfc: {priorities: [");
        for (unsigned i = 0; i < m->n_pfc; i++)
            if (m->pfc[i]) {
                printf("%s%u", sep, i);
                sep = ", ";
            }
        printf("]}\n");
    } else if (m->n_pfc) {
        printf("    flow_control: none\n");
    }
    if (m->n_dscp)
        printf("    dscp_to_priority: {");
    for (unsigned i = 0; i < m->n_dscp; i++)
        printf("%s%u: %u", i ? ", " : "", m->dscp[i].dscp, m->dscp[i].prio);
    if (m->n_dscp)
        printf("}\n");
    else
        printf("    dscp_to_priority: {0-7: 0}  # all as they are: DSCP / 8\n");
    for (unsigned i = 0; i < m->n_ignored; i++)
        printf("    # ignored: %s\n", m->ignored[i]);
}

int wf_cmd_qos_mlnx(int argc, char **argv)
{
    struct mlnx m = {.n_pfc = 0};
    struct wf_err err;
    int n, rc = wf_opt_parse(&page, &m, argc, argv, &n, &err);

    if (rc > 0)
        return WF_EXIT_PASS;
    if (!rc && n != 1)
        rc = wf_err_set(&err, EINVAL, "expected one host: weft qos mlnx HOST [OPTION]...");
    if (!rc && argv[1][strspn(argv[1], "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*?[],-")])
        rc = wf_err_set(&err, EINVAL, "'%.60s' is no host's name, nor a pattern", argv[1]);
    if (rc)
        return wf_cmd_fail("qos", WF_EXIT_USAGE, &err);
    print(argv[1], &m);
    return WF_EXIT_PASS;
}
