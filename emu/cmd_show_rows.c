/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The views of weft show as tables, and the JSON that a finished run has left as a source of them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cmd_show.h"
#include "ctl/commands.h"
#include "ctl/names.h"
#include "scen/match.h"

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
    {"endpoints",
     {{"name", "host"},
      {"cm_connected_events", "connected"},
      {"cm_disconnected_events", "ended"},
      {"cm_rejected_events", "rejected"},
      {"rx_messages", "requests"},
      {"rx_bytes", "bytes"},
      {"right_bytes", "right"},
      {"wrong_bytes", "wrong"},
      {"naks_sent", "naks"},
      {"duplicates_received", "again"}}},
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
    {"watermarks",
     {{"name", "object"},
      {"user_shared_max_bytes", "shared"},
      {"user_headroom_max_bytes", "headroom"},
      {"user_queue_max_bytes", "queue"},
      {"user_pool_max_bytes", "pool"},
      {"shared_max_bytes", "shared ever"},
      {"headroom_max_bytes", "headroom ever"},
      {"queue_max_bytes", "queue ever"},
      {"pool_max_bytes", "pool ever"}}},
    {"watchdogs",
     {{"name", "watchdog"},
      {"storm_active_events", "storm now"},
      {"storm_detected_events", "storms"},
      {"storm_restored_events", "over"},
      {"storm_tx_ok_frames", "tx ok"},
      {"storm_tx_drop_frames", "tx dropped"},
      {"storm_rx_ok_frames", "rx ok"},
      {"storm_rx_drop_frames", "rx dropped"}}},
    {"faults",
     {{"name", "port"},
      {"dir", "dir"},
      {"action", "action"},
      {"class", "class"},
      {"every", "every"},
      {"limit", "limit"},
      {"matched_frames", "matched"},
      {"hit_frames", "hit"},
      {"lacking_frames", "lacking"}}},
    {"links",
     {{"name", "link"},
      {"up", "up"},
      {"rate_bps", "rate"},
      {"delay_ps", "delay"},
      {"mtu_bytes", "mtu"}}},
    {"lldp",
     {{"name", "port"},
      {"system", "neighbour"},
      {"chassis", "chassis"},
      {"port", "its port"},
      {"ttl_s", "ttl (s)"},
      {"heard_ps", "heard at"},
      {"tx_frames", "sent"},
      {"rx_frames", "received"},
      {"rx_error_frames", "malformed"},
      {"ageout_events", "aged"}}},
    {"dcbx",
     {{"name", "port"},
      {"peer", "peer"},
      {"own_pfc", "own pfc"},
      {"peer_pfc", "peer's pfc"},
      {"operational_pfc", "operational"},
      {"own_roce", "own roce"},
      {"peer_roce", "peer's roce"},
      {"why", "malformed"},
      {"differs", "differs"}}},
};

static bool is_text(const char *key)
{
    static const char *const text[] = {"name",     "peer",      "reason",   "meaning",
                                       "type",     "where",     "mac",      "action",
                                       "class",    "up",        "system",   "chassis",
                                       "port",     "own_pfc",   "peer_pfc", "operational_pfc",
                                       "own_roce", "peer_roce", "why",      "differs"};

    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        if (!strcmp(key, text[i]))
            return true;
    return false;
}

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
        return is_text(key) ? "-" : "0"; /* small objects leave out what is zero */
    if (n > 3 && !strcmp(key + n - 3, "_ps"))
        return wf_time_short((uint64_t)json_integer_value(v), buf, len);
    if (n > 4 && !strcmp(key + n - 4, "_bps"))
        return wf_rate_short((uint64_t)json_integer_value(v), buf, len);
    snprintf(buf, len, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    return buf;
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

void wf_show_print(const char *what, const json_t *rows)
{
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (!strcmp(what, views[i].name)) {
            if (json_array_size(rows))
                print_table(&views[i], rows);
            else
                printf("no %s\n", what);
        }
}

void wf_show_print_status(const json_t *m)
{
    const json_t *frames = json_object_get(m, "frames");
    char buf[64];
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *)m, key, v)
        if (!json_is_object(v) && strcmp(key, "v") && strcmp(key, "id") && strcmp(key, "schema"))
            printf("%-18s %s\n", key, cell(m, key, buf, sizeof(buf)));
    json_object_foreach ((json_t *)frames, key, v)
        printf("%-18s %s\n", key, cell(frames, key, buf, sizeof(buf)));
}

/* ---- of a finished run ---- */

/* Which list of a result holds the rows of a view. */
static const struct {
    const char *view, *list;
} lists[] = {{"ports", "ports"},
             {"flows", "flows"},
             {"drops", "drops"},
             {"edges", "hosts"},
             {"endpoints", "endpoints"},
             {"queues", "queues"},
             {"groups", "priority_groups"},
             {"priorities", "priorities"},
             {"watchdogs", "pfc_watchdogs"},
             {"lldp", "lldp"},
             {"dcbx", "dcbx"}};

json_t *wf_show_load(const char *path, struct wf_err *err)
{
    json_error_t e;
    FILE *f = !strcmp(path, "-") ? stdin : fopen(path, "re");
    json_t *m = f ? json_loadf(f, 0, &e) : NULL;
    bool unread = !f || ferror(f);
    int code = errno;
    const char *schema = json_string_value(json_object_get(m, "schema"));

    if (f && f != stdin)
        fclose(f);
    if (unread)
        wf_err_set(err, EINVAL, "%s: cannot be read: %s", path, strerror(code));
    else if (!m)
        wf_err_at(err, EINVAL, path, e.line, e.column, "no JSON: %s", e.text);
    else if (schema && !strcmp(schema, "weft.runs/1"))
        wf_err_set(err, EINVAL, "%s holds several runs: expected the result of one", path);
    else if (!schema || strcmp(schema, "weft.run/1"))
        wf_err_set(err, EINVAL, "%s is no result of weft run --json", path);
    else
        return m;
    json_decref(m);
    return NULL;
}

/* A row of drops is named after its port, and says what the reason means. */
static json_t *drop_row(const json_t *r)
{
    const char *why = json_string_value(json_object_get(r, "reason"));
    json_t *row = json_copy((json_t *)r);

    json_object_set(row, "name", json_object_get(r, "port"));
    json_object_del(row, "port");
    for (int i = 1; why && i < WF_DROP_COUNT; i++)
        if (!strcmp(why, wf_reason_name((enum wf_reason)i)))
            json_object_set_new(row, "meaning", json_string(wf_reason_meaning((enum wf_reason)i)));
    return row;
}

/* A finished run has the persistent watermarks; nobody has cleared the user's since. */
static void add_watermarks(json_t *rows, const json_t *list, const char *from, const char *key)
{
    json_t *r;
    size_t i;

    json_array_foreach (list, i, r) {
        const json_t *v = json_object_get(r, from);
        json_t *row = json_pack("{s:O}", "name", json_object_get(r, "name"));
        char user[64];

        snprintf(user, sizeof(user), "user_%s", key);
        if (v) {
            json_object_set(row, user, (json_t *)v);
            json_object_set(row, key, (json_t *)v);
            json_array_append(rows, row);
        }
        json_decref(row);
    }
}

static json_t *watermarks_of(const json_t *result)
{
    static const char *const from[][3] = {
        {"priority_groups", "shared_max_bytes", "shared_max_bytes"},
        {"priority_groups", "headroom_max_bytes", "headroom_max_bytes"},
        {"pools", "pool_max_bytes", "pool_max_bytes"},
        {"pools", "headroom_max_bytes", "headroom_max_bytes"},
        {"queues", "queue_max_bytes", "queue_max_bytes"},
        {"egress_queues", "shared_max_bytes", "queue_max_bytes"}};
    json_t *rows = json_array(), *index = json_object(), *all = json_array(), *r;
    const char *name;
    size_t i;

    for (i = 0; i < sizeof(from) / sizeof(from[0]); i++)
        add_watermarks(rows, json_object_get(result, from[i][0]), from[i][1], from[i][2]);
    json_array_foreach (rows, i, r) { /* one row an object; the later one holds */
        name = json_string_value(json_object_get(r, "name"));
        if (json_object_get(index, name))
            json_object_update(json_object_get(index, name), r);
        else
            json_object_set(index, name, r);
    }
    json_object_foreach (index, name, r)
        json_array_append(all, r);
    json_decref(index);
    json_decref(rows);
    return all;
}

json_t *wf_show_of_result(const json_t *result, const char *what, const char *at,
                          struct wf_err *err)
{
    const char *names[sizeof(lists) / sizeof(lists[0]) + 1];
    json_t *made = !strcmp(what, "watermarks") ? watermarks_of(result) : NULL;
    const json_t *all = made;
    bool known = made;
    json_t *rows, *r;
    size_t i;

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        names[i] = lists[i].view;
        if (!strcmp(what, lists[i].view)) {
            all = json_object_get(result, lists[i].list);
            known = all || !strcmp(what, "lldp") || !strcmp(what, "dcbx"); /* there when on */
        }
    }
    names[i++] = "watermarks";
    if (!known) {
        wf_ctl_not_one_of("view of a finished run", what, names, i, err);
        return NULL;
    }
    rows = json_array();
    json_array_foreach (all, i, r) {
        json_t *row = strcmp(what, "drops") ? json_incref(r) : drop_row(r);
        const char *name = json_string_value(json_object_get(row, "name"));

        if (name && (!at || wf_match(at, name)))
            json_array_append(rows, row);
        json_decref(row);
    }
    if (at && !json_array_size(rows)) {
        wf_ctl_nothing_fits(what, at, all, err);
        json_decref(rows);
        rows = NULL;
    }
    json_decref(made);
    return rows;
}
