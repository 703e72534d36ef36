/* SPDX-License-Identifier: BSD-3-Clause */
/* See sonic.h. */
#include "ctl/sonic_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cap/json.h"
#include "ctl/names.h"
#include "ctl/server.h"
#include "scen/match.h"

/* A view of one number for each port and index, or one of a pair of them. */
struct matrix {
    const char *view, *title, *corner, *column; /* "PG": PG0 ... PG7 */
    const char *rows, *part;                    /* whose rows: "leaf0:p3.pg0" */
    const char *keys[5];                        /* their sum; ends with NULL */
};

static const struct matrix matrices[] = {
    {"pfc counters",
     "",
     "Port Rx",
     "PFC",
     "priorities",
     "prio",
     {"pfc_xoff_rx_frames", "pfc_refresh_rx_frames", "pfc_xon_rx_frames", "pfc_ignored_rx_frames"}},
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
     "watermarks",
     "pg",
     {"user_shared_max_bytes"}},
    {"priority-group watermark headroom",
     "Ingress headroom per PG:",
     "Port",
     "PG",
     "watermarks",
     "pg",
     {"user_headroom_max_bytes"}},
    {"queue watermark unicast",
     "Egress shared pool occupancy per unicast queue:",
     "Port",
     "UC",
     "watermarks",
     "q",
     {"user_queue_max_bytes"}},
    {"priority-group persistent-watermark shared",
     "Ingress shared pool occupancy per PG:",
     "Port",
     "PG",
     "watermarks",
     "pg",
     {"shared_max_bytes"}},
    {"priority-group persistent-watermark headroom",
     "Ingress headroom per PG:",
     "Port",
     "PG",
     "watermarks",
     "pg",
     {"headroom_max_bytes"}},
    {"queue persistent-watermark unicast",
     "Egress shared pool occupancy per unicast queue:",
     "Port",
     "UC",
     "watermarks",
     "q",
     {"queue_max_bytes"}},
};

const char *const wf_sonic_views[] = {"interfaces counters",
                                      "interfaces counters trim",
                                      "pfc counters",
                                      "pfcwd stats",
                                      "priority-group drop counters",
                                      "priority-group watermark shared",
                                      "priority-group watermark headroom",
                                      "priority-group persistent-watermark shared",
                                      "priority-group persistent-watermark headroom",
                                      "queue counters",
                                      "queue counters trim",
                                      "queue watermark unicast",
                                      "queue persistent-watermark unicast",
                                      "buffer_pool watermark",
                                      "buffer_pool persistent-watermark",
                                      "headroom-pool watermark",
                                      "headroom-pool persistent-watermark",
                                      NULL};

uint64_t wf_sonic_number(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);
    uint64_t n = 0;

    if (json_is_string(v)) /* from 2^53 on */
        sscanf(json_string_value(v), "%" SCNu64, &n);
    return json_is_integer(v) ? (uint64_t)json_integer_value(v) : n;
}

const char *wf_sonic_name(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "name"));

    return name ? name : "";
}

/* Rows by their names. */
json_t *wf_sonic_by_name(struct wf_sonic_source *src, const char *view, struct wf_err *err)
{
    json_t *rows = src->rows(src->arg, view, err), *index, *r;
    size_t i;

    if (!rows)
        return NULL;
    index = json_object();
    json_array_foreach (rows, i, r)
        json_object_set(index, wf_sonic_name(r), r);
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
        if (at ? wf_match(at, wf_sonic_name(r)) : !kind || !strcmp(kind, "switch"))
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

json_t *wf_sonic_table(const char *title, json_t *columns, json_t *rows)
{
    return json_pack("{s:s, s:o, s:o}", "title", title, "columns", columns, "rows", rows);
}

static json_t *matrix(const struct matrix *m, const json_t *ports, const json_t *index)
{
    json_t *columns = json_array(), *rows = json_array(), *p;
    char column[32], name[192];
    size_t i;

    json_array_append_new(columns, json_string(m->corner));
    for (unsigned n = 0; n < WF_SONIC_PARTS; n++)
        json_array_append_new(columns, json_sprintf("%s%u", m->column, n));
    json_array_foreach (ports, i, p) {
        json_t *row = json_object();

        json_object_set(row, m->corner, json_object_get(p, "name"));
        for (unsigned n = 0; n < WF_SONIC_PARTS; n++) {
            uint64_t sum = 0;

            snprintf(name, sizeof(name), "%s.%s%u", wf_sonic_name(p), m->part, n);
            snprintf(column, sizeof(column), "%s%u", m->column, n);
            for (unsigned k = 0; m->keys[k]; k++)
                sum += wf_sonic_number(json_object_get(index, name), m->keys[k]);
            json_object_set_new(row, column, wf_json_u64(sum));
        }
        json_array_append_new(rows, row);
    }
    return wf_sonic_table(m->title, columns, rows);
}

static int matrix_tables(const char *view, struct wf_sonic_source *src, const json_t *ports,
                         json_t *tables, struct wf_err *err)
{
    for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
        const struct matrix *m = &matrices[i];
        json_t *index;

        if (strcmp(m->view, view))
            continue;
        index = wf_sonic_by_name(src, m->rows, err);
        if (!index)
            return -EIO;
        json_array_append_new(tables, matrix(m, ports, index));
        json_decref(index);
    }
    return 0;
}

static int make(const char *view, struct wf_sonic_source *src, const char *at, const json_t *ports,
                json_t *tables, struct wf_err *err)
{
    if (!strcmp(view, "queue counters"))
        return wf_sonic_queues(src, ports, false, tables, err);
    if (!strcmp(view, "queue counters trim"))
        return wf_sonic_queues(src, ports, true, tables, err);
    if (!strcmp(view, "interfaces counters"))
        return wf_sonic_interfaces(src, ports, tables, err);
    if (!strcmp(view, "interfaces counters trim"))
        return wf_sonic_interface_trims(ports, tables);
    if (strstr(view, "pool "))
        return wf_sonic_pools(view, src, at, tables, err);
    if (!strcmp(view, "pfcwd stats"))
        return wf_sonic_watchdogs(src, ports, tables, err);
    return matrix_tables(view, src, ports, tables, err);
}

json_t *wf_sonic_tables(const char *view, struct wf_sonic_source *src, const char *at,
                        struct wf_err *err)
{
    /* pools are the switch's, and named after it */
    json_t *ports = strstr(view, "pool ") ? json_array() : ports_of(src, at, err), *tables;
    int rc;

    if (!ports)
        return NULL;
    tables = json_array();
    rc = make(view, src, at, ports, tables, err);
    json_decref(ports);
    if (!rc)
        return tables;
    json_decref(tables);
    return NULL;
}
