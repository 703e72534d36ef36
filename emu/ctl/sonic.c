/* SPDX-License-Identifier: BSD-3-Clause */
/* See sonic.h. */
#include "ctl/sonic.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl/names.h"
#include "ctl/server.h"
#include "scen/match.h"

/* A view of one number for each port and index, or one of a pair of them. */
struct matrix {
    const char *view, *title, *corner, *column; /* "PG": PG0 ... PG7 */
    const char *rows, *part;                    /* whose rows: "leaf0:p3.pg0" */
    const char *keys[3];                        /* their sum; ends with NULL */
};

static const struct matrix matrices[] = {
    {"pfc counters",
     "",
     "Port Rx",
     "PFC",
     "priorities",
     "prio",
     {"pfc_xoff_rx_frames", "pfc_refresh_rx_frames", "pfc_xon_rx_frames"}},
    {"pfc counters",
     "",
     "Port Tx",
     "PFC",
     "priorities",
     "prio",
     {"pfc_xoff_tx_frames", "pfc_refresh_tx_frames", "pfc_xon_tx_frames"}},
    {"priority-group drop counters",
     "Ingress PG dropped packets:",
     "Port",
     "PG",
     "groups",
     "pg",
     {"drop_frames"}},
    {"priority-group watermark shared",
     "Ingress shared pool occupancy per PG:",
     "Port",
     "PG",
     "groups",
     "pg",
     {"pg_max_bytes"}},
    {"priority-group watermark headroom",
     "Ingress headroom per PG:",
     "Port",
     "PG",
     "groups",
     "pg",
     {"headroom_max_bytes"}},
    {"queue watermark unicast",
     "Egress shared pool occupancy per unicast queue:",
     "Port",
     "UC",
     "queues",
     "q",
     {"queue_max_bytes"}},
};

const char *const wf_sonic_views[] = {"interfaces counters",
                                      "pfc counters",
                                      "priority-group drop counters",
                                      "priority-group watermark shared",
                                      "priority-group watermark headroom",
                                      "queue counters",
                                      "queue watermark unicast",
                                      NULL};

enum { PARTS = 8 };

static uint64_t number(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);
    uint64_t n = 0;

    if (json_is_string(v)) /* from 2^53 on */
        sscanf(json_string_value(v), "%" SCNu64, &n);
    return json_is_integer(v) ? (uint64_t)json_integer_value(v) : n;
}

static const char *name_of(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "name"));

    return name ? name : "";
}

/* Rows by their names. */
static json_t *by_name(struct wf_sonic_source *src, const char *view, struct wf_err *err)
{
    json_t *rows = src->rows(src->arg, view, err), *index, *r;
    size_t i;

    if (!rows)
        return NULL;
    index = json_object();
    json_array_foreach (rows, i, r)
        json_object_set(index, name_of(r), r);
    json_decref(rows);
    return index;
}

/* The rows of the ports that are wanted: those of switches, or those that fit. */
static json_t *ports_of(struct wf_sonic_source *src, const char *at, struct wf_err *err)
{
    json_t *all = src->rows(src->arg, "ports", err), *some = json_array(), *r;
    const char *kind;
    size_t i;

    json_array_foreach (all, i, r) {
        kind = json_string_value(json_object_get(r, "kind"));
        if (at ? wf_match(at, name_of(r)) : !kind || !strcmp(kind, "switch"))
            json_array_append(some, r);
    }
    if (all && at && !json_array_size(some)) {
        wf_ctl_nothing_fits("ports", at, all, err);
        json_decref(some);
        some = NULL;
    }
    if (!all) {
        json_decref(some);
        some = NULL;
    }
    json_decref(all);
    return some;
}

static json_t *table(const char *title, json_t *columns, json_t *rows)
{
    return json_pack("{s:s, s:o, s:o}", "title", title, "columns", columns, "rows", rows);
}

static json_t *matrix(const struct matrix *m, const json_t *ports, const json_t *index)
{
    json_t *columns = json_array(), *rows = json_array(), *p;
    char column[32], name[192];
    size_t i;

    json_array_append_new(columns, json_string(m->corner));
    for (unsigned n = 0; n < PARTS; n++)
        json_array_append_new(columns, json_sprintf("%s%u", m->column, n));
    json_array_foreach (ports, i, p) {
        json_t *row = json_object();

        json_object_set(row, m->corner, json_object_get(p, "name"));
        for (unsigned n = 0; n < PARTS; n++) {
            uint64_t sum = 0;

            snprintf(name, sizeof(name), "%s.%s%u", name_of(p), m->part, n);
            snprintf(column, sizeof(column), "%s%u", m->column, n);
            for (unsigned k = 0; k < 3 && m->keys[k]; k++)
                sum += number(json_object_get(index, name), m->keys[k]);
            json_object_set_new(row, column, wf_ctl_u64(sum));
        }
        json_array_append_new(rows, row);
    }
    return table(m->title, columns, rows);
}

static int matrix_tables(const char *view, struct wf_sonic_source *src, const json_t *ports,
                         json_t *tables, struct wf_err *err)
{
    for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
        const struct matrix *m = &matrices[i];
        json_t *index;

        if (strcmp(m->view, view))
            continue;
        index = by_name(src, m->rows, err);
        if (!index)
            return -EIO;
        json_array_append_new(tables, matrix(m, ports, index));
        json_decref(index);
    }
    return 0;
}

static json_t *words(const char *const *names)
{
    json_t *list = json_array();

    for (; *names; names++)
        json_array_append_new(list, json_string(*names));
    return list;
}

/* A table for each port, a row for each queue. */
static int queue_tables(struct wf_sonic_source *src, const json_t *ports, json_t *tables,
                        struct wf_err *err)
{
    static const char *const columns[] = {
        "Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes", NULL};
    static const char *const keys[] = {"tx_frames", "tx_bytes", "drop_frames", "drop_bytes"};
    json_t *index = by_name(src, "queues", err), *p;
    char name[192];
    size_t i;

    if (!index)
        return -EIO;
    json_array_foreach (ports, i, p) {
        json_t *rows = json_array();

        for (unsigned n = 0; n < PARTS; n++) {
            json_t *row = json_object();

            snprintf(name, sizeof(name), "%s.q%u", name_of(p), n);
            json_object_set(row, columns[0], json_object_get(p, "name"));
            json_object_set_new(row, columns[1], json_sprintf("UC%u", n));
            for (unsigned k = 0; k < 4; k++)
                json_object_set_new(row, columns[2 + k],
                                    wf_ctl_u64(number(json_object_get(index, name), keys[k])));
            json_array_append_new(rows, row);
        }
        json_array_append_new(tables, table("", words(columns), rows));
    }
    json_decref(index);
    return 0;
}

/* What of a port's drops SONiC counts where: errors of the wire, in, out; by reasons. */
struct port_drops {
    uint64_t rx_err, rx_drp, tx_drp;
};

static struct port_drops drops_of(const json_t *drops, const char *port)
{
    static const char *const errors[] = {"fcs", "malformed"};
    static const char *const out[] = {"link_down", "edge_stalled", "edge_too_long"};
    static const char *const wire[] = {"link_loss", "injected"};
    struct port_drops sum = {0};
    json_t *r;
    size_t i;

    json_array_foreach (drops, i, r) {
        const char *why = json_string_value(json_object_get(r, "reason"));
        uint64_t n = number(r, "frames");

        if (!why || strcmp(name_of(r), port))
            continue;
        if (wf_ctl_one_of(why, errors, sizeof(errors) / sizeof(errors[0])))
            sum.rx_err += n;
        else if (wf_ctl_one_of(why, out, sizeof(out) / sizeof(out[0])))
            sum.tx_drp += n;
        else if (!wf_ctl_one_of(why, wire, sizeof(wire) / sizeof(wire[0])))
            sum.rx_drp += n;
    }
    return sum;
}

/* Bytes a second over the run, and how much of the port's rate that is in percent. */
static void put_rate(json_t *row, const json_t *port, const char *bps, const char *util,
                     const char *key, uint64_t time_ps)
{
    double rate = time_ps ? (double)number(port, key) * 1e12 / (double)time_ps : 0;
    double most = (double)number(port, "rate_bps") / 8;

    json_object_set_new(row, bps, json_real(rate));
    json_object_set_new(row, util, most > 0 ? json_real(rate / most * 100) : json_null());
}

static json_t *interface_row(const json_t *p, const json_t *drops, uint64_t time_ps)
{
    struct port_drops d = drops_of(drops, name_of(p));
    const json_t *up = json_object_get(p, "up");
    json_t *row = json_object();

    json_object_set(row, "IFACE", json_object_get(p, "name"));
    json_object_set_new(row, "STATE", up ? json_string(json_is_true(up) ? "U" : "D") : json_null());
    json_object_set_new(row, "RX_OK", wf_ctl_u64(number(p, "rx_frames")));
    put_rate(row, p, "RX_BPS", "RX_UTIL", "rx_bytes", time_ps);
    json_object_set_new(row, "RX_ERR", wf_ctl_u64(d.rx_err));
    json_object_set_new(row, "RX_DRP", wf_ctl_u64(d.rx_drp));
    json_object_set_new(row, "RX_OVR", json_null());
    json_object_set_new(row, "TX_OK", wf_ctl_u64(number(p, "tx_frames")));
    put_rate(row, p, "TX_BPS", "TX_UTIL", "tx_bytes", time_ps);
    json_object_set_new(row, "TX_ERR", wf_ctl_u64(0));
    json_object_set_new(row, "TX_DRP", wf_ctl_u64(d.tx_drp));
    json_object_set_new(row, "TX_OVR", json_null());
    return row;
}

static int interface_tables(struct wf_sonic_source *src, const json_t *ports, json_t *tables,
                            struct wf_err *err)
{
    static const char *const columns[] = {"IFACE",   "STATE",  "RX_OK",  "RX_BPS", "RX_UTIL",
                                          "RX_ERR",  "RX_DRP", "RX_OVR", "TX_OK",  "TX_BPS",
                                          "TX_UTIL", "TX_ERR", "TX_DRP", "TX_OVR", NULL};
    json_t *drops = src->rows(src->arg, "drops", err), *rows, *p;
    size_t i;

    if (!drops)
        return -EIO;
    rows = json_array();
    json_array_foreach (ports, i, p)
        json_array_append_new(rows, interface_row(p, drops, src->time_ps));
    json_decref(drops);
    json_array_append_new(tables, table("", words(columns), rows));
    return 0;
}

json_t *wf_sonic_tables(const char *view, struct wf_sonic_source *src, const char *at,
                        struct wf_err *err)
{
    json_t *ports = ports_of(src, at, err), *tables;
    int rc;

    if (!ports)
        return NULL;
    tables = json_array();
    rc = !strcmp(view, "queue counters")        ? queue_tables(src, ports, tables, err)
         : !strcmp(view, "interfaces counters") ? interface_tables(src, ports, tables, err)
                                                : matrix_tables(view, src, ports, tables, err);
    json_decref(ports);
    if (!rc)
        return tables;
    json_decref(tables);
    return NULL;
}
