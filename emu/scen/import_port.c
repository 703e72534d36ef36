/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port's part of the scenario: PORT_QOS_MAP with its maps, PFC, the watchdog, groups and queues.
 * Without a map, and for what a map does not list, SAI's default holds: all goes to 0; but
 * priorities and groups of the same number belong together.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "scen/import_priv.h"

/* The maps of a port, and what PFC makes of them. */
struct maps {
    uint8_t dscp[64], pcp[8], pg[8], queue[8], pfc_queue[8], group_pfc[8];
    uint32_t pfc_enable, pausing; /* priorities; groups that pause one of them */
    bool trust_pcp;
};

void wf_import_put_map(const uint8_t *values, unsigned n, FILE *to)
{
    for (unsigned i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && values[last + 1] == values[i];)
            last++;
        fprintf(to, i ? ", %u" : "{%u", i);
        if (last > i)
            fprintf(to, "-%u", last);
        fprintf(to, ": %u", values[i]);
    }
    fputc('}', to);
}

const char *wf_import_set(struct wf_arena *a, const uint32_t *like, size_t n, uint32_t what)
{
    char *text = NULL, *out;
    size_t len = 0, ranges = 0, count = 0;
    FILE *to = open_memstream(&text, &len);

    WF_ASSERT(to);
    for (size_t i = 0, last; i < n; i = last + 1) {
        last = i;
        if (like[i] != what)
            continue;
        while (last + 1 < n && like[last + 1] == what)
            last++;
        fprintf(to, ranges++ ? ",%zu" : "%zu", i);
        if (last > i)
            fprintf(to, "-%zu", last);
        count += last - i + 1;
    }
    fclose(to);
    out = count == 1 ? wf_arena_strdup(a, text) : wf_arena_printf(a, "[%s]", text);
    free(text);
    return out;
}

/* A map's entries into values[0..n); false: the port has no such map. */
static bool read_map(struct wf_importing *in, const struct wf_import_port *p, const char *field,
                     const char *table, uint8_t *values, unsigned n, uint32_t *listed,
                     const char **name)
{
    struct wf_import_row row = wf_import_ref(
        in, p->qos.json, (struct wf_import_at){"PORT_QOS_MAP", p->qos.key, field}, table);
    const char *from;
    json_t *v;

    *listed = 0;
    *name = row.json ? wf_import_clean(&in->im->arena, row.key) : "none";
    json_object_foreach (row.json, from, v) {
        struct wf_import_at at = {table, row.key, from};
        char *end;
        unsigned long i = strtoul(from, &end, 10);
        int64_t to;

        if (from[0] < '0' || from[0] > '9' || *end || i >= n)
            wf_import_note(in, WF_IMPORT_ERROR, at, "expected a key from 0 to %u", n - 1);
        else if (wf_import_int(in, row.json, at, 0, 7, &to)) {
            values[i] = (uint8_t)to;
            *listed |= n <= 32 ? 1u << i : 0;
        }
    }
    return row.json != NULL;
}

static void put_map(const char *key, const uint8_t *values, unsigned n, const char *table,
                    const char *name, FILE *to)
{
    fprintf(to, "    %s: ", key);
    wf_import_put_map(values, n, to);
    fprintf(to, "  # %s.%s\n", table, name);
}

static void put_trust(struct wf_importing *in, const struct wf_import_port *p, struct maps *m,
                      FILE *to)
{
    const char *dscp, *pcp;
    uint32_t listed;
    bool by_dscp = read_map(in, p, "dscp_to_tc_map", "DSCP_TO_TC_MAP", m->dscp, 64, &listed, &dscp);
    bool by_pcp = read_map(in, p, "dot1p_to_tc_map", "DOT1P_TO_TC_MAP", m->pcp, 8, &listed, &pcp);

    m->trust_pcp = by_pcp && !by_dscp;
    if (by_pcp && by_dscp)
        wf_import_note(in, WF_IMPORT_DIFFERS,
                       (struct wf_import_at){"PORT_QOS_MAP", p->qos.key, "dot1p_to_tc_map"},
                       "the port has a map of DSCP too: PCP is not trusted");
    fprintf(to, "    trust: %s\n", m->trust_pcp ? "pcp" : "dscp");
    put_map("dscp_to_tc", m->dscp, 64, "DSCP_TO_TC_MAP", dscp, to);
    if (by_pcp)
        put_map("pcp_to_tc", m->pcp, 8, "DOT1P_TO_TC_MAP", pcp, to);
}

/* Which group pauses which priority: the inverse of the map. */
static void put_groups_pfc(struct wf_importing *in, const struct wf_import_port *p, struct maps *m,
                           FILE *to)
{
    uint8_t to_pg[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t listed;
    const char *name;

    if (!read_map(in, p, "pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", to_pg, 8, &listed,
                  &name))
        listed = 0xff;
    for (unsigned i = 0; i < 8; i++)
        m->group_pfc[i] = (uint8_t)i;
    for (unsigned prio = 8; prio-- > 0;) {
        uint32_t bit = 1u << to_pg[prio];

        if (!(listed & m->pfc_enable & 1u << prio))
            continue;
        if (m->pausing & bit)
            wf_import_note(in, WF_IMPORT_DIFFERS,
                           (struct wf_import_at){"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", name, NULL},
                           "several priorities have pg %u: it pauses the lowest of them only",
                           to_pg[prio]);
        m->pausing |= bit;
        m->group_pfc[to_pg[prio]] = (uint8_t)prio;
    }
    put_map("pg_to_pfc_priority", m->group_pfc, 8, "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", name, to);
}

static void put_maps(struct wf_importing *in, const struct wf_import_port *p, struct maps *m,
                     FILE *to)
{
    const char *name;
    uint32_t listed;

    put_trust(in, p, m, to);
    read_map(in, p, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", m->pg, 8, &listed, &name);
    put_map("tc_to_pg", m->pg, 8, "TC_TO_PRIORITY_GROUP_MAP", name, to);
    read_map(in, p, "tc_to_queue_map", "TC_TO_QUEUE_MAP", m->queue, 8, &listed, &name);
    put_map("tc_to_queue", m->queue, 8, "TC_TO_QUEUE_MAP", name, to);
    for (unsigned i = 0; i < 8; i++)
        m->pfc_queue[i] = (uint8_t)i;
    read_map(in, p, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", m->pfc_queue, 8, &listed,
             &name);
    put_map("pfc_priority_to_queue", m->pfc_queue, 8, "MAP_PFC_PRIORITY_TO_QUEUE", name, to);
    put_groups_pfc(in, p, m, to);
}

static uint32_t read_bits(struct wf_importing *in, const struct wf_import_port *p,
                          const char *field)
{
    struct wf_import_at at = {"PORT_QOS_MAP", p->qos.key, field};
    const char *s = wf_import_text(in, p->qos.json, at);
    uint32_t bits = 0;

    if (s && s[0])
        wf_import_bits(in, at, s, 8, &bits);
    return bits;
}

static void put_pfc(uint32_t enabled, FILE *to)
{
    const char *sep = "";

    if (!enabled) {
        fprintf(to, "    flow_control: none  # PORT_QOS_MAP: no pfc_enable\n");
        return;
    }
    fprintf(to, "    pfc: {priorities: [");
    for (unsigned i = 0; i < 8; i++)
        if (enabled & 1u << i) {
            fprintf(to, "%s%u", sep, i);
            sep = ", ";
        }
    fprintf(to, "]}  # PORT_QOS_MAP: pfc_enable\n");
}

static int64_t milliseconds(struct wf_importing *in, const struct wf_import_port *p,
                            const char *field, int64_t otherwise)
{
    struct wf_import_at at = {"PFC_WD", p->watchdog.key, field};
    int64_t v;

    if (wf_import_int(in, p->watchdog.json, at, 1, 100000, &v))
        return v;
    if (!json_object_get(p->watchdog.json, field))
        wf_import_note(in, WF_IMPORT_DIFFERS, at, "is not given: %" PRId64 " ms", otherwise);
    return otherwise;
}

static int64_t poll_interval(struct wf_importing *in, int64_t most)
{
    json_t *global = json_object_get(json_object_get(in->root, "PFC_WD"), "GLOBAL");
    struct wf_import_at at = {"PFC_WD", "GLOBAL", "POLL_INTERVAL"};
    int64_t v = 200; /* SONiC's default */

    wf_import_int(in, global, at, 1, 100000, &v);
    if (v <= most)
        return v;
    wf_import_note(in, WF_IMPORT_DIFFERS, at,
                   "%" PRId64 " ms are longer than a port's detection or restoration: %" PRId64
                   " ms there",
                   v, most);
    return most;
}

static void put_watchdog(struct wf_importing *in, const struct wf_import_port *p, uint32_t pfc,
                         FILE *to)
{
    struct wf_import_at at = {"PFC_WD", p->watchdog.key, "action"};
    const char *action = wf_import_text(in, p->watchdog.json, at);
    int64_t detect, restore;

    if (json_object_get(p->qos.json, "pfcwd_sw_enable") &&
        read_bits(in, p, "pfcwd_sw_enable") != pfc)
        wf_import_note(
            in, WF_IMPORT_DIFFERS,
            (struct wf_import_at){"PORT_QOS_MAP", p->qos.key, "pfcwd_sw_enable"},
            "is not what pfc_enable is: weft's watchdog sees to all lossless priorities");
    if (!p->watchdog.json)
        return;
    if (!action ||
        (strcmp(action, "drop") && strcmp(action, "forward") && strcmp(action, "alert"))) {
        wf_import_note(in, WF_IMPORT_ERROR, at, "'%s': expected drop, forward or alert",
                       action ? wf_import_clean(&in->im->arena, action) : "");
        return;
    }
    detect = milliseconds(in, p, "detection_time", 200);
    restore = milliseconds(in, p, "restoration_time", 2 * detect > 100000 ? 100000 : 2 * detect);
    fprintf(to, "    watchdog: {action: %s, detect: %" PRId64 "ms, restore: %" PRId64 "ms, ",
            action, detect, restore);
    fprintf(to, "poll: %" PRId64 "ms}  # PFC_WD\n",
            poll_interval(in, detect < restore ? detect : restore));
}

/* Lines of eight groups or queues, equal neighbours in one. */
static void put_eight(const char *what, const char *const lines[8], FILE *to)
{
    bool any = false;

    for (unsigned i = 0, last; i < 8; i = last + 1) {
        for (last = i; last < 7 && !strcmp(lines[last + 1], lines[i]);)
            last++;
        if (!lines[i][0])
            continue;
        if (!any)
            fprintf(to, "    %s:\n", what);
        any = true;
        fprintf(to, "      %u", i);
        if (last > i)
            fprintf(to, "-%u", last);
        fprintf(to, ": %s\n", lines[i]);
    }
}

static void put_groups(struct wf_importing *in, struct wf_import_port *p, const struct maps *m,
                       FILE *to)
{
    const char *lines[8];
    uint32_t lossless = 0;

    for (unsigned g = 0; g < WF_PGS; g++) {
        char *text = NULL;
        size_t len;
        FILE *f = open_memstream(&text, &len);

        WF_ASSERT(f);
        lossless |= (uint32_t)wf_import_pg(in, p, g, m->pausing >> g & 1, f) << g;
        fclose(f);
        lines[g] = wf_arena_strdup(&in->im->arena, text);
        free(text);
        if (m->pausing >> g & 1 && !(lossless >> g & 1) && p->qos.json)
            wf_import_note(in, WF_IMPORT_DIFFERS,
                           (struct wf_import_at){"PORT_QOS_MAP", p->qos.key, "pfc_enable"},
                           "pg %u has no lossless profile in BUFFER_PG: it is lossy", g);
    }
    put_eight("pg", lines, to);
    p->lossless_dscp = -1;
    for (int d = 63; d >= 0; d--) {
        unsigned g = m->pg[m->dscp[d]];

        p->dscp_to_pfc[d] = m->group_pfc[g];
        if (lossless >> g & 1 && !m->trust_pcp)
            p->lossless_dscp = d;
    }
}

static void put_queues(struct wf_importing *in, struct wf_import_port *p, FILE *to)
{
    const char *lines[8];

    for (unsigned q = 0; q < WF_QUEUES; q++) {
        char *text = NULL;
        size_t len;
        FILE *f = open_memstream(&text, &len);

        WF_ASSERT(f);
        wf_import_queue(in, p, q, f);
        fclose(f);
        lines[q] = wf_arena_strdup(&in->im->arena, text);
        free(text);
    }
    put_eight("queue", lines, to);
}

void wf_import_port(struct wf_importing *in, struct wf_import_port *p)
{
    struct maps m = {.pausing = 0};
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    WF_ASSERT(to);
    if (!p->qos.json)
        wf_import_note(in, WF_IMPORT_DIFFERS, (struct wf_import_at){"PORT_QOS_MAP", NULL, p->name},
                       "is not there: all packets have TC 0, there is no PFC");
    m.pfc_enable = read_bits(in, p, "pfc_enable");
    put_maps(in, p, &m, to);
    put_pfc(m.pfc_enable, to);
    put_watchdog(in, p, m.pfc_enable, to);
    put_groups(in, p, &m, to);
    put_queues(in, p, to);
    fclose(to);
    p->block = wf_arena_strdup(&in->im->arena, text);
    free(text);
}
