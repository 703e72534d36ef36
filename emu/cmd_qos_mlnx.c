/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft qos mlnx: what mlnx_qos would set in a NIC, as lines of a scenario. A model host has one
 * queue for each flow and no scheduler: ETS, and the map of priorities to traffic classes, are
 * named as ignored.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
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

/* Numbers from 0 to max with commas between, at most eight. */
static int numbers(const char *option, const char *text, int max, int out[8], unsigned *n,
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
                      "%s '%.60s': expected up to eight numbers from 0 to %d, such as "
                      "0,0,0,1",
                      option, text, max);
}

static int tsa(const char *text, struct wf_err *err)
{
    const char *s = text;

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

static int tcbw(const char *text, struct wf_err *err)
{
    int v[8], sum = 0, rc;
    unsigned n;

    rc = numbers("--tcbw", text, 100, v, &n, err);
    for (unsigned i = 0; !rc && i < n; i++)
        sum += v[i];
    if (!rc && sum != 100 && sum != 0)
        rc = wf_err_set(err, EINVAL, "--tcbw '%.60s': the sum is %d, expected 100", text, sum);
    return rc;
}

static int dscp2prio(struct mlnx *m, const char *text, struct wf_err *err)
{
    unsigned dscp, prio;
    int end = 0;

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

static void ignore(struct mlnx *m, const char *why)
{
    for (unsigned i = 0; i < m->n_ignored; i++)
        if (m->ignored[i] == why)
            return;
    m->ignored[m->n_ignored++] = why;
}

static int trust(struct mlnx *m, const char *text, struct wf_err *err)
{
    if (!strcmp(text, "pcp"))
        ignore(m, "--trust pcp: a model host takes the priority from the DSCP");
    else if (strcmp(text, "dscp"))
        return wf_err_set(err, EINVAL, "--trust '%.60s': expected dscp or pcp", text);
    return 0;
}

static int option(struct mlnx *m, int c, const char *text, struct wf_err *err)
{
    int v[8];
    unsigned n;

    switch (c) {
    case 't':
        return trust(m, text, err);
    case 'f':
        return numbers("--pfc", text, 1, m->pfc, &m->n_pfc, err);
    case 'd':
        return dscp2prio(m, text, err);
    case 'p':
        ignore(m, "--prio_tc: a model host has a queue for each priority");
        return numbers("--prio_tc", text, 7, v, &n, err);
    case 's':
        ignore(m, "--tsa: a model host does not schedule by traffic class");
        return tsa(text, err);
    default:
        ignore(m, "--tcbw: a model host does not schedule by traffic class");
        return tcbw(text, err);
    }
}

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
    static const struct option options[] = {{"trust", required_argument, NULL, 't'},
                                            {"pfc", required_argument, NULL, 'f'},
                                            {"dscp2prio", required_argument, NULL, 'd'},
                                            {"prio_tc", required_argument, NULL, 'p'},
                                            {"tsa", required_argument, NULL, 's'},
                                            {"tcbw", required_argument, NULL, 'w'},
                                            {NULL, 0, NULL, 0}};
    struct mlnx m = {.n_pfc = 0};
    struct wf_err err;
    int c, rc = 0;

    opterr = 0;
    while (!rc && (c = getopt_long(argc, argv, "t:f:p:s:", options, NULL)) != -1)
        rc = c == '?' ? wf_cmd_unknown(argv[optind - 1], options, &err)
                      : option(&m, c, optarg, &err);
    if (!rc && argc - optind != 1)
        rc = wf_err_set(&err, EINVAL, "expected one host: weft qos mlnx HOST [OPTION]...");
    if (!rc && argv[optind][strspn(argv[optind], "abcdefghijklmnopqrstuvwxyz"
                                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*?[],-")])
        rc = wf_err_set(&err, EINVAL, "'%.60s' is no host's name, nor a pattern", argv[optind]);
    if (rc)
        return wf_cmd_fail("qos", WF_EXIT_USAGE, &err);
    print(argv[optind], &m);
    return WF_EXIT_PASS;
}
