/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft show: look into a running instance, as a table or as the JSON that its socket gave.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd.h"
#include "ctl/client.h"

static const char usage[] =
    "usage: weft show [WHAT] [-i INSTANCE] [--at PATTERN] [--json]\n"
    "\n"
    "Looks into a running instance (weft run --live, weft lab up). WHAT is one of\n"
    "  status      time, digest, lateness, packets (the default)\n"
    "  hosts       attached hosts, where they are, whether they are up\n"
    "  ports       traffic, marks, pauses and drops of each port\n"
    "  flows       what each flow has posted and delivered\n"
    "  drops       dropped frames by port and reason\n"
    "  edges       what attached hosts sent and took, stalls, ICRC verdicts\n"
    "  queues, groups, priorities   egress queues, ingress priority groups, 802.1p priorities\n"
    "  faults, links\n"
    "\n"
    "  -i NAME        the instance, when several run\n"
    "  --at PATTERN   only what fits, such as 'leaf0:*' or '*.q3'\n"
    "  --json         one JSON object\n"
    "\n"
    "Exit status: 0, 2 wrong usage, 3 no such instance.\n";

struct column {
    const char *key, *title;
};

struct view {
    const char *name;
    struct column columns[12]; /* ends with a NULL key */
};

static const struct view views[] = {
    {"hosts",
     {{"name", "host"},
      {"type", "type"},
      {"where", "where"},
      {"up", "up"},
      {"mac", "mac"},
      {"mtu_bytes", "mtu"}}},
    {"ports",
     {{"name", "port"},
      {"peer", "peer"},
      {"up", "up"},
      {"rx_frames", "rx frames"},
      {"tx_frames", "tx frames"},
      {"tx_bytes", "tx bytes"},
      {"waiting_bytes", "waiting"},
      {"ecn_marked_frames", "marked"},
      {"pfc_rx_frames", "pfc rx"},
      {"pfc_tx_frames", "pfc tx"},
      {"drop_frames", "dropped"}}},
    {"flows",
     {{"name", "flow"},
      {"posted_bytes", "posted"},
      {"delivered_bytes", "delivered"},
      {"completed_messages", "messages"},
      {"retransmitted_packets", "again"},
      {"naks_received", "naks"},
      {"ce_received_packets", "marked"},
      {"completion_ps", "completed in"}}},
    {"drops",
     {{"name", "port"}, {"reason", "reason"}, {"frames", "frames"}, {"meaning", "meaning"}}},
    {"edges",
     {{"name", "host"},
      {"in_frames", "sent"},
      {"out_frames", "took"},
      {"stall_events", "stalls"},
      {"backpressure_ps", "held back"},
      {"icrc_ok_packets", "icrc ok"},
      {"icrc_bad_packets", "bad"},
      {"out_icrc_ok_packets", "out ok"},
      {"out_icrc_bad_packets", "bad"},
      {"out_ce_frames", "marked"},
      {"nak_frames", "naks"}}},
    {"queues",
     {{"name", "queue"},
      {"queue_bytes", "bytes"},
      {"queue_max_bytes", "max bytes"},
      {"tx_frames", "tx frames"},
      {"tx_bytes", "tx bytes"},
      {"ecn_marked_frames", "marked"},
      {"drop_frames", "dropped"}}},
    {"groups",
     {{"name", "group"},
      {"pg_bytes", "bytes"},
      {"pg_max_bytes", "max bytes"},
      {"headroom_max_bytes", "headroom max"},
      {"rx_frames", "rx frames"},
      {"drop_frames", "dropped"}}},
    {"priorities",
     {{"name", "priority"},
      {"rx_frames", "rx frames"},
      {"tx_frames", "tx frames"},
      {"pfc_xoff_rx_frames", "xoff rx"},
      {"pfc_xon_rx_frames", "xon rx"},
      {"paused_ps", "paused"},
      {"pfc_xoff_tx_frames", "xoff tx"},
      {"pfc_xon_tx_frames", "xon tx"},
      {"pausing_ps", "kept peer paused"}}},
    {"faults",
     {{"name", "port"},
      {"action", "action"},
      {"class", "class"},
      {"every", "every"},
      {"limit", "limit"},
      {"matched_frames", "matched"},
      {"hit_frames", "hit"}}},
    {"links",
     {{"name", "link"},
      {"up", "up"},
      {"rate_bps", "rate"},
      {"delay_ps", "delay"},
      {"mtu_bytes", "mtu"}}},
};

/* A value for people: times and rates with units, counts to the last digit. */
static const char *cell(const json_t *row, const char *key, char *buf, size_t len)
{
    const json_t *v = json_object_get(row, key);
    size_t n = strlen(key);

    if (json_is_boolean(v))
        return json_is_true(v) ? "yes" : "no";
    if (json_is_string(v))
        return json_string_value(v);
    if (!json_is_integer(v))
        return "0"; /* small objects leave out what is zero */
    if (n > 3 && !strcmp(key + n - 3, "_ps"))
        return wf_time_short((uint64_t)json_integer_value(v), buf, len);
    if (n > 4 && !strcmp(key + n - 4, "_bps"))
        return wf_rate_short((uint64_t)json_integer_value(v), buf, len);
    snprintf(buf, len, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    return buf;
}

static bool is_text(const char *key)
{
    static const char *const text[] = {"name",  "peer", "reason", "meaning", "type",
                                       "where", "mac",  "action", "class",   "up"};

    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        if (!strcmp(key, text[i]))
            return true;
    return false;
}

static void print_table(const struct view *v, const json_t *rows)
{
    int width[12] = {0};
    char buf[64];
    size_t i;
    json_t *r;

    for (int c = 0; c < 12 && v->columns[c].key; c++) {
        width[c] = (int)strlen(v->columns[c].title);
        json_array_foreach (rows, i, r) {
            int n = (int)strlen(cell(r, v->columns[c].key, buf, sizeof(buf)));

            width[c] = n > width[c] ? n : width[c];
        }
    }
    for (int c = 0; c < 12 && v->columns[c].key; c++)
        printf(is_text(v->columns[c].key) ? "%s%-*s" : "%s%*s", c ? "  " : "", width[c],
               v->columns[c].title);
    putchar('\n');
    json_array_foreach (rows, i, r) {
        for (int c = 0; c < 12 && v->columns[c].key; c++)
            printf(is_text(v->columns[c].key) ? "%s%-*s" : "%s%*s", c ? "  " : "", width[c],
                   cell(r, v->columns[c].key, buf, sizeof(buf)));
        putchar('\n');
    }
}

static void print_status(json_t *m)
{
    char buf[64];
    const char *key;
    json_t *v, *frames = json_object_get(m, "frames");

    json_object_foreach (m, key, v)
        if (!json_is_object(v) && strcmp(key, "v") && strcmp(key, "id") && strcmp(key, "schema"))
            printf("%-18s %s\n", key, cell(m, key, buf, sizeof(buf)));
    json_object_foreach (frames, key, v)
        printf("%-18s %s\n", key, cell(frames, key, buf, sizeof(buf)));
}

static int print(const char *what, json_t *m)
{
    const json_t *rows = json_object_get(m, strcmp(what, "hosts") ? "rows" : "hosts");

    if (!strcmp(what, "status")) {
        print_status(m);
        return WF_EXIT_PASS;
    }
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (!strcmp(what, views[i].name)) {
            if (json_array_size(rows))
                print_table(&views[i], rows);
            else
                printf("no %s\n", what);
        }
    return WF_EXIT_PASS;
}

static int show(const char *instance, const char *what, const char *at, bool as_json)
{
    bool own = !strcmp(what, "status") || !strcmp(what, "hosts");
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    json_t *m;
    int rc = wf_client_connect(&c, instance, &in, &err);

    if (rc)
        return wf_cmd_fail("show", rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT, &err);
    m = wf_client_call(&c, own ? what : "show",
                       own ? NULL : json_pack("{s:s, s:s*}", "what", what, "at", at), &rc, &err);
    wf_client_close(&c);
    if (!m)
        return wf_cmd_fail("show", rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT, &err);
    json_object_del(m, "v");
    json_object_del(m, "id");
    if (as_json) {
        json_dumpf(m, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
        putchar('\n');
    } else {
        print(what, m);
    }
    json_decref(m);
    return WF_EXIT_PASS;
}

int wf_cmd_show(int argc, char **argv)
{
    static const struct option options[] = {{"at", required_argument, NULL, 'a'},
                                            {"instance", required_argument, NULL, 'i'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *instance = NULL, *at = NULL;
    bool as_json = false;
    int c;

    while ((c = getopt_long(argc, argv, "i:h", options, NULL)) != -1)
        switch (c) {
        case 'a':
            at = optarg;
            break;
        case 'i':
            instance = optarg;
            break;
        case 'j':
            as_json = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return WF_EXIT_PASS;
        default:
            fputs("`weft show --help` says more\n", stderr);
            return WF_EXIT_USAGE;
        }
    if (argc - optind > 1) {
        fprintf(stderr, "weft show: one view at a time; `weft show --help` says more\n");
        return WF_EXIT_USAGE;
    }
    return show(instance, optind < argc ? argv[optind] : "status", at, as_json);
}
