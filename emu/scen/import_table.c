/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of CONFIG_DB: which ports there are, which rows belong to each, what is not read. */
#include <stdlib.h>
#include <string.h>

#include "net/link.h"
#include "scen/import_priv.h"

#define METRES_PER_S 198000000ull /* what SONiC's headroom calculation takes */

/* Tables that are read, and the fields of their rows; NULL: the fields are data. */
static const struct {
    const char *name, *fields[14];
} tables[] = {
    {"PORT", {"speed", "mtu", "admin_status"}},
    {"CABLE_LENGTH", {NULL}},
    {"BUFFER_POOL", {"type", "mode", "size", "xoff"}},
    {"BUFFER_PROFILE",
     {"pool", "size", "dynamic_th", "static_th", "xoff", "xon", "xon_offset", "headroom_type",
      "packet_discard_action"}},
    {"BUFFER_PG", {"profile"}},
    {"BUFFER_QUEUE", {"profile"}},
    {"PORT_QOS_MAP",
     {"dscp_to_tc_map", "dot1p_to_tc_map", "tc_to_pg_map", "tc_to_queue_map", "pfc_to_pg_map",
      "pfc_to_queue_map", "pfc_enable", "pfcwd_sw_enable"}},
    {"DSCP_TO_TC_MAP", {NULL}},
    {"DOT1P_TO_TC_MAP", {NULL}},
    {"TC_TO_QUEUE_MAP", {NULL}},
    {"TC_TO_PRIORITY_GROUP_MAP", {NULL}},
    {"MAP_PFC_PRIORITY_TO_QUEUE", {NULL}},
    {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", {NULL}},
    {"WRED_PROFILE",
     {"ecn", "wred_green_enable", "green_min_threshold", "green_max_threshold",
      "green_drop_probability"}},
    {"SCHEDULER", {"type", "weight", "meter_type", "cir", "cbs", "pir", "pbs"}},
    {"QUEUE", {"scheduler", "wred_profile"}},
    {"PFC_WD", {"action", "detection_time", "restoration_time", "POLL_INTERVAL"}},
};

enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

static void unknown_fields(struct wf_importing *in, size_t t, const char *key, json_t *row)
{
    const char *field;
    json_t *v;

    json_object_foreach (row, field, v) {
        size_t i = 0;

        while (tables[t].fields[i] && strcmp(tables[t].fields[i], field))
            i++;
        if (!tables[t].fields[i])
            wf_import_note(in, WF_IMPORT_IGNORED, (struct wf_import_at){tables[t].name, key, field},
                           "%s", "");
    }
}

void wf_import_unknown(struct wf_importing *in)
{
    const char *table, *key;
    json_t *rows, *row;

    json_object_foreach (in->root, table, rows) {
        size_t t = 0;

        while (t < N_TABLES && strcmp(tables[t].name, table))
            t++;
        if (t == N_TABLES) {
            wf_import_note(in, WF_IMPORT_IGNORED, (struct wf_import_at){table, NULL, NULL}, "%s",
                           "");
            continue;
        }
        json_object_foreach (rows, key, row) {
            if (!json_is_object(row))
                wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){table, key, NULL},
                               "expected an object");
            else if (tables[t].fields[0])
                unknown_fields(in, t, key, row);
        }
    }
}

/* The number at the end of a name: Ethernet12. */
static uint64_t number_of(const char *name)
{
    size_t n = strlen(name);

    while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return strtoull(name + n, NULL, 10);
}

static int by_number(const void *a, const void *b)
{
    const struct wf_import_port *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void read_port(struct wf_importing *in, struct wf_import_port *p, json_t *row)
{
    const char *status =
        wf_import_text(in, row, (struct wf_import_at){"PORT", p->name, "admin_status"});
    struct wf_import_at speed = {"PORT", p->name, "speed"};
    int64_t v;

    p->up = status && !strcmp(status, "up");
    p->mtu = 9100;
    if (!p->up) {
        wf_import_note(in, WF_IMPORT_IGNORED, (struct wf_import_at){"PORT", p->name, NULL},
                       "the port is not up");
        return;
    }
    if (wf_import_int(in, row, speed, 1, WF_LINK_RATE_MAX_BPS / 1000000, &v))
        p->rate_bps = (uint64_t)v * 1000000;
    else if (!json_object_get(row, "speed"))
        wf_import_note(in, WF_IMPORT_ERROR, speed, "is missing: a port that is up needs its speed");
    if (wf_import_int(in, row, (struct wf_import_at){"PORT", p->name, "mtu"}, 68, 9600, &v))
        p->mtu = (uint64_t)v;
}

/* "40m" */
static void read_cable(struct wf_importing *in, struct wf_import_port *p, json_t *row,
                       struct wf_import_at at)
{
    const char *s = wf_import_text(in, row, at);
    char *end = NULL;
    unsigned long long m;

    if (!s)
        return;
    m = strtoull(s, &end, 10);
    if (s[0] < '0' || s[0] > '9' || strcmp(end, "m") || m > 100000) {
        wf_import_note(in, WF_IMPORT_ERROR, at, "'%s': expected metres up to 100000, such as 40m",
                       wf_import_clean(&in->im->arena, s));
        return;
    }
    p->delay_ps = m * 1000000000000ull / METRES_PER_S;
    if (!m && p->up)
        wf_import_note(in, WF_IMPORT_DIFFERS, at,
                       "no cable, for which SONiC makes no lossless buffers: taken as 0 metres");
}

static struct wf_import_port *find(struct wf_importing *in, const char *name)
{
    json_t *i = json_object_get(in->index, name);

    return i ? &in->ports[json_integer_value(i)] : NULL;
}

static void read_cables(struct wf_importing *in)
{
    const char *key, *port;
    json_t *row, *v;

    json_object_foreach (wf_import_table(in, "CABLE_LENGTH"), key, row)
        json_object_foreach (row, port, v) {
            struct wf_import_at at = {"CABLE_LENGTH", key, port};
            struct wf_import_port *p = find(in, port);

            if (p)
                read_cable(in, p, row, at);
            else
                wf_import_note(in, WF_IMPORT_ERROR, at, "PORT has no such port");
        }
    for (size_t i = 0; i < in->n_ports; i++)
        if (in->ports[i].delay_ps == UINT64_MAX) {
            in->ports[i].delay_ps = 0;
            if (in->ports[i].up)
                wf_import_note(in, WF_IMPORT_DIFFERS,
                               (struct wf_import_at){"CABLE_LENGTH", NULL, in->ports[i].name},
                               "is not given: taken as 0 metres");
        }
}

void wf_import_ports(struct wf_importing *in)
{
    json_t *table = wf_import_table(in, "PORT"), *row;
    const char *name;

    if (json_object_size(table) > WF_IMPORT_PORTS) {
        wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){"PORT", NULL, NULL},
                       "has %zu ports, more than %d", json_object_size(table), WF_IMPORT_PORTS);
        return;
    }
    in->ports = WF_ARENA_ARRAY(&in->im->arena, struct wf_import_port, WF_IMPORT_PORTS);
    json_object_foreach (table, name, row) {
        struct wf_import_port *p = &in->ports[in->n_ports++];

        *p = (struct wf_import_port){
            .name = name, .number = number_of(name), .delay_ps = UINT64_MAX};
        read_port(in, p, row);
    }
    qsort(in->ports, in->n_ports, sizeof(*in->ports), by_number);
    for (size_t i = 0; i < in->n_ports; i++)
        json_object_set_new(in->index, in->ports[i].name, json_integer((json_int_t)i));
    read_cables(in);
}

static void give(struct wf_importing *in, struct wf_import_row *slot, struct wf_import_row row,
                 const char *table)
{
    if (slot->json && slot->json != row.json)
        wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){table, row.key, NULL},
                       "speaks of what %s has said already",
                       wf_import_clean(&in->im->arena, slot->key));
    *slot = row;
}

/* Where a port keeps the rows of a table: an array of n of them, or one when n is 1. */
struct slots {
    const char *table;
    size_t off;
    unsigned n;
};

static void give_port(struct wf_importing *in, const struct slots *s, struct wf_import_row row,
                      const char *port, uint32_t bits)
{
    struct wf_import_port *p = find(in, port);
    struct wf_import_row *slot;

    if (!p) {
        wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){s->table, row.key, NULL},
                       "PORT has no '%s'", wf_import_clean(&in->im->arena, port));
        return;
    }
    slot = (struct wf_import_row *)((char *)p + s->off);
    for (unsigned i = 0; i < s->n; i++)
        if (bits & 1u << i)
            give(in, &slot[i], row, s->table);
}

/* The part of a key behind the bar, for tables whose rows speak of groups or queues. */
static bool indices(struct wf_importing *in, const struct slots *s, const char *key,
                    const char *bar, uint32_t *bits)
{
    struct wf_import_at at = {s->table, key, NULL};

    *bits = 1;
    if (s->n == 1)
        return true;
    if (!bar) {
        wf_import_note(in, WF_IMPORT_ERROR, at, "expected a key such as Ethernet0|3-4");
        return false;
    }
    if (!wf_import_bits(in, at, bar + 1, 32, bits))
        return false;
    if (*bits >> s->n && !strcmp(s->table, "BUFFER_PG"))
        wf_import_note(in, WF_IMPORT_ERROR, at, "there are no priority groups beyond 7");
    else if (*bits >> s->n)
        wf_import_note(in, WF_IMPORT_IGNORED, at, "queues beyond 7");
    return true;
}

static void read_rows(struct wf_importing *in, const struct slots *s)
{
    const char *key;
    json_t *row;

    json_object_foreach (wf_import_table(in, s->table), key, row) {
        const char *bar = s->n > 1 ? strchr(key, '|') : NULL;
        char *names, *save = NULL;
        uint32_t bits;

        if (!json_is_object(row) || !strcmp(key, "GLOBAL") || !strcmp(key, "global") ||
            !indices(in, s, key, bar, &bits))
            continue;
        names = wf_arena_printf(&in->im->arena, "%.*s", (int)(bar ? bar - key : (long)strlen(key)),
                                key);
        for (char *n = strtok_r(names, ",", &save); n; n = strtok_r(NULL, ",", &save))
            give_port(in, s, (struct wf_import_row){key, row}, n, bits);
    }
}

void wf_import_rows(struct wf_importing *in)
{
    static const struct slots all[] = {
        {"PORT_QOS_MAP", offsetof(struct wf_import_port, qos), 1},
        {"PFC_WD", offsetof(struct wf_import_port, watchdog), 1},
        {"BUFFER_PG", offsetof(struct wf_import_port, pg), WF_PGS},
        {"BUFFER_QUEUE", offsetof(struct wf_import_port, buffer_queue), WF_QUEUES},
        {"QUEUE", offsetof(struct wf_import_port, queue), WF_QUEUES},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        read_rows(in, &all[i]);
}

static void add_pool(struct wf_importing *in, struct wf_import_pool *pools, unsigned *n,
                     const char *name, json_t *row)
{
    if (*n == WF_POOLS) {
        wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){"BUFFER_POOL", name, NULL},
                       "there are more than %d pools of its type", WF_POOLS);
        return;
    }
    pools[(*n)++] = (struct wf_import_pool){name, row};
}

void wf_import_pools(struct wf_importing *in)
{
    const char *name;
    json_t *row;

    json_object_foreach (wf_import_table(in, "BUFFER_POOL"), name, row) {
        struct wf_import_at at = {"BUFFER_POOL", name, "type"};
        const char *type = wf_import_text(in, row, at);
        bool both = type && !strcmp(type, "both");

        if (both || (type && !strcmp(type, "ingress")))
            add_pool(in, in->ingress, &in->n_ingress, name, row);
        if (both || (type && !strcmp(type, "egress")))
            add_pool(in, in->egress, &in->n_egress, name, row);
        else if (!both && (!type || strcmp(type, "ingress")))
            wf_import_note(in, WF_IMPORT_ERROR, at, "'%s': expected ingress, egress or both",
                           type ? wf_import_clean(&in->im->arena, type) : "");
    }
}
