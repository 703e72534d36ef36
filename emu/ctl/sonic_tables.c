/* SPDX-License-Identifier: BSD-3-Clause */
/* SONiC's views that are more than a number for each port and index: see sonic.h. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/names.h"
#include "cap/json.h"
#include "ctl/server.h"
#include "ctl/sonic_priv.h"
#include "scen/match.h"

static json_t *words(const char *const *names)
{
    json_t *list = json_array();

    for (; *names; names++)
        json_array_append_new(list, json_string(*names));
    return list;
}

/* Columns of numbers behind those that say what it is of, and where they come from. */
struct numbers {
    const char *column[8], *key[8];
};

static void put_numbers(json_t *row, const struct numbers *n, const json_t *from)
{
    for (unsigned k = 0; n->column[k]; k++)
        json_object_set_new(row, n->column[k], wf_json_u64(wf_sonic_number(from, n->key[k])));
}

static json_t *columns_of(const char *a, const char *b, const struct numbers *n)
{
    json_t *columns = words((const char *const[]){a, b, NULL});

    for (unsigned k = 0; n->column[k]; k++)
        json_array_append_new(columns, json_string(n->column[k]));
    return columns;
}

/* A table for each port, a row for each queue. */
int wf_sonic_queues(struct wf_sonic_source *src, const json_t *ports, bool trim, json_t *tables,
                    struct wf_err *err)
{
    static const struct numbers all = {{"Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"},
                                       {"tx_frames", "tx_bytes", "drop_frames", "drop_bytes"}};
    static const struct numbers trimmed = {{"Trim/pkts", "TrimSent/pkts", "TrimDrop/pkts"},
                                           {"trim_frames", "trim_tx_frames", "trim_drop_frames"}};
    const struct numbers *n = trim ? &trimmed : &all;
    json_t *index = wf_sonic_by_name(src, "queues", err), *p;
    char name[192];
    size_t i;

    if (!index)
        return -EIO;
    json_array_foreach (ports, i, p) {
        json_t *rows = json_array();

        for (unsigned q = 0; q < WF_SONIC_PARTS; q++) {
            json_t *row = json_object();

            snprintf(name, sizeof(name), "%s.q%u", wf_sonic_name(p), q);
            json_object_set(row, "Port", json_object_get(p, "name"));
            json_object_set_new(row, "TxQ", json_sprintf("UC%u", q));
            put_numbers(row, n, json_object_get(index, name));
            json_array_append_new(rows, row);
        }
        json_array_append_new(tables, wf_sonic_table("", columns_of("Port", "TxQ", n), rows));
    }
    json_decref(index);
    return 0;
}

/* "detected/restored" and the like. */
static json_t *pair(const json_t *wd, const char *a, const char *b)
{
    return json_sprintf("%" PRIu64 "/%" PRIu64, wf_sonic_number(wd, a), wf_sonic_number(wd, b));
}

static json_t *watchdog_row(const char *port, unsigned prio, const json_t *wd)
{
    json_t *row = json_object();

    json_object_set_new(row, "QUEUE", json_sprintf("%s:%u", port, prio));
    json_object_set_new(
        row, "STATUS",
        json_string(wf_sonic_number(wd, "storm_active_events") ? "stormed" : "operational"));
    json_object_set_new(row, "STORM DETECTED/RESTORED",
                        pair(wd, "storm_detected_events", "storm_restored_events"));
    json_object_set_new(row, "TX OK/DROP", pair(wd, "storm_tx_ok_frames", "storm_tx_drop_frames"));
    json_object_set_new(row, "RX OK/DROP", pair(wd, "storm_rx_ok_frames", "storm_rx_drop_frames"));
    json_object_set_new(row, "TX LAST OK/DROP",
                        pair(wd, "storm_last_tx_ok_frames", "storm_last_tx_drop_frames"));
    json_object_set_new(row, "RX LAST OK/DROP",
                        pair(wd, "storm_last_rx_ok_frames", "storm_last_rx_drop_frames"));
    return row;
}

/* Only of queues that have seen a storm, as SONiC does. */
int wf_sonic_watchdogs(struct wf_sonic_source *src, const json_t *ports, json_t *tables,
                       struct wf_err *err)
{
    static const char *const columns[] = {
        "QUEUE",      "STATUS",          "STORM DETECTED/RESTORED", "TX OK/DROP",
        "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP",         NULL};
    json_t *index = wf_sonic_by_name(src, "watchdogs", err), *rows, *p;
    char name[192];
    size_t i;

    if (!index)
        return -EIO;
    rows = json_array();
    json_array_foreach (ports, i, p)
        for (unsigned prio = 0; prio < WF_SONIC_PARTS; prio++) {
            const json_t *wd;

            snprintf(name, sizeof(name), "%s.pfcwd%u", wf_sonic_name(p), prio);
            wd = json_object_get(index, name);
            if (wf_sonic_number(wd, "storm_detected_events"))
                json_array_append_new(rows, watchdog_row(wf_sonic_name(p), prio, wd));
        }
    json_decref(index);
    json_array_append_new(tables, wf_sonic_table("", words(columns), rows));
    return 0;
}

/* What of a port's drops SONiC counts where: errors of the wire, in, out; by reasons. */
struct port_drops {
    uint64_t rx_err, rx_drp, tx_drp;
};

static struct port_drops drops_of(const json_t *drops, const json_t *queues, const char *port)
{
    static const char *const errors[] = {"fcs", "malformed"};
    static const char *const out[] = {"link_down", "edge_stalled", "edge_too_long", "pfcwd_flush"};
    /* its egress queue has counted it, at another port */
    static const char *const queue[] = {"egress_full", "egress_pool", "wred"};
    static const char *const wire[] = {"link_loss", "injected"};
    struct port_drops sum = {0};
    char name[192];
    json_t *r;
    size_t i;

    json_array_foreach (drops, i, r) {
        const char *why = json_string_value(json_object_get(r, "reason"));
        uint64_t n = wf_sonic_number(r, "frames");

        if (!why || strcmp(wf_sonic_name(r), port))
            continue;
        if (wf_ctl_one_of(why, errors, sizeof(errors) / sizeof(errors[0])))
            sum.rx_err += n;
        else if (wf_ctl_one_of(why, out, sizeof(out) / sizeof(out[0])))
            sum.tx_drp += n;
        else if (!wf_ctl_one_of(why, wire, sizeof(wire) / sizeof(wire[0])) &&
                 !wf_ctl_one_of(why, queue, sizeof(queue) / sizeof(queue[0])))
            sum.rx_drp += n;
    }
    for (unsigned q = 0; q < WF_SONIC_PARTS; q++) {
        snprintf(name, sizeof(name), "%s.q%u", port, q);
        sum.tx_drp += wf_sonic_number(json_object_get(queues, name), "drop_frames");
    }
    return sum;
}

/* Bytes a second over the run, and how much of the port's rate that is in percent. */
static void put_rate(json_t *row, const json_t *port, const char *bps, const char *util,
                     const char *key, uint64_t time_ps)
{
    double rate = time_ps ? (double)wf_sonic_number(port, key) * 1e12 / (double)time_ps : 0;
    double most = (double)wf_sonic_number(port, "rate_bps") / 8;

    json_object_set_new(row, bps, json_real(rate));
    json_object_set_new(row, util, most > 0 ? json_real(rate / most * 100) : json_null());
}

static json_t *interface_row(const json_t *p, const json_t *drops, const json_t *queues,
                             uint64_t time_ps)
{
    struct port_drops d = drops_of(drops, queues, wf_sonic_name(p));
    const json_t *up = json_object_get(p, "up");
    json_t *row = json_object();

    json_object_set(row, "IFACE", json_object_get(p, "name"));
    json_object_set_new(row, "STATE", up ? json_string(json_is_true(up) ? "U" : "D") : json_null());
    json_object_set_new(row, "RX_OK", wf_json_u64(wf_sonic_number(p, "rx_frames")));
    put_rate(row, p, "RX_BPS", "RX_UTIL", "rx_bytes", time_ps);
    json_object_set_new(row, "RX_ERR", wf_json_u64(d.rx_err));
    json_object_set_new(row, "RX_DRP", wf_json_u64(d.rx_drp));
    json_object_set_new(row, "RX_OVR", json_null());
    json_object_set_new(row, "TX_OK", wf_json_u64(wf_sonic_number(p, "tx_frames")));
    put_rate(row, p, "TX_BPS", "TX_UTIL", "tx_bytes", time_ps);
    json_object_set_new(row, "TX_ERR", wf_json_u64(0));
    json_object_set_new(row, "TX_DRP", wf_json_u64(d.tx_drp));
    json_object_set_new(row, "TX_OVR", json_null());
    return row;
}

int wf_sonic_interface_trims(const json_t *ports, json_t *tables)
{
    static const struct numbers n = {{"TRIM_PKTS", "TRIM_TX_PKTS", "TRIM_DRP_PKTS"},
                                     {"trim_frames", "trim_tx_frames", "trim_drop_frames"}};
    json_t *rows = json_array(), *p;
    size_t i;

    json_array_foreach (ports, i, p) {
        const json_t *up = json_object_get(p, "up");
        json_t *row = json_object();

        json_object_set(row, "IFACE", json_object_get(p, "name"));
        json_object_set_new(row, "STATE",
                            up ? json_string(json_is_true(up) ? "U" : "D") : json_null());
        put_numbers(row, &n, p);
        json_array_append_new(rows, row);
    }
    json_array_append_new(tables, wf_sonic_table("", columns_of("IFACE", "STATE", &n), rows));
    return 0;
}

int wf_sonic_interfaces(struct wf_sonic_source *src, const json_t *ports, json_t *tables,
                        struct wf_err *err)
{
    static const char *const columns[] = {"IFACE",   "STATE",  "RX_OK",  "RX_BPS", "RX_UTIL",
                                          "RX_ERR",  "RX_DRP", "RX_OVR", "TX_OK",  "TX_BPS",
                                          "TX_UTIL", "TX_ERR", "TX_DRP", "TX_OVR", NULL};
    json_t *drops = src->rows(src->arg, "drops", err), *queues, *rows, *p;
    size_t i;

    queues = drops ? wf_sonic_by_name(src, "queues", err) : NULL;
    if (!queues) {
        json_decref(drops);
        return -EIO;
    }
    rows = json_array();
    json_array_foreach (ports, i, p)
        json_array_append_new(rows, interface_row(p, drops, queues, src->time_ps));
    json_decref(queues);
    json_decref(drops);
    json_array_append_new(tables, wf_sonic_table("", words(columns), rows));
    return 0;
}

/* "leaf0.ipool0" of the ingress, "leaf0.epool0" of the egress. */
static bool is_pool(const char *name, bool headroom)
{
    const char *dot = strrchr(name, '.');

    return dot && (!strncmp(dot, ".ipool", 6) || (!headroom && !strncmp(dot, ".epool", 6)));
}

int wf_sonic_pools(const char *view, struct wf_sonic_source *src, const char *at, json_t *tables,
                   struct wf_err *err)
{
    static const char *const columns[] = {"Pool", "Bytes", NULL};
    bool headroom = !strncmp(view, "headroom", 8), persistent = strstr(view, "persistent") != NULL;
    const char *key = headroom ? "user_headroom_max_bytes" : "user_pool_max_bytes";
    json_t *all = src->rows(src->arg, "watermarks", err), *rows, *r;
    size_t i;

    if (!all)
        return -EIO;
    rows = json_array();
    json_array_foreach (all, i, r) {
        const char *name = wf_sonic_name(r);

        if (!is_pool(name, headroom) || (at && !wf_match(at, name)))
            continue;
        json_array_append_new(
            rows, json_pack("{s:s, s:o}", "Pool", name, "Bytes",
                            wf_json_u64(wf_sonic_number(r, key + (persistent ? 5 : 0)))));
    }
    json_decref(all);
    json_array_append_new(tables, wf_sonic_table(headroom ? "Headroom pool maximum occupancy:"
                                                          : "Shared pool maximum occupancy:",
                                                 words(columns), rows));
    return 0;
}
