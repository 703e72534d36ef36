/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority groups and queues of a port: BUFFER_PROFILE, SCHEDULER, WRED_PROFILE. A profile's size
 * holds its headroom on chips whose buffers are carved by group (size >= xoff + xon), and does not
 * on others: what is above is reserved in either case.
 */
#include <inttypes.h>
#include <string.h>

#include "eth/headroom.h"
#include "net/link.h"
#include "scen/import_priv.h"

#define BYTES_MAX (1ll << 40)

/* A profile, its pool and what bounds a share in it. */
struct profile {
    struct wf_import_row row;
    struct wf_import_at at;
    unsigned pool;
    bool dynamic;
};

static const char *comment(struct wf_importing *in, const char *table, struct wf_import_row row)
{
    if (!row.json)
        return "";
    return wf_arena_printf(&in->im->arena, " %s.%s", table,
                           wf_import_clean(&in->im->arena, row.key));
}

static struct wf_import_at field(const struct profile *p, const char *name)
{
    return (struct wf_import_at){"BUFFER_PROFILE", p->row.key, name};
}

static bool bytes_of(struct wf_importing *in, const struct profile *p, const char *name, int64_t *v)
{
    *v = 0;
    return wf_import_int(in, p->row.json, field(p, name), 0, BYTES_MAX, v);
}

static bool find_pool(struct wf_importing *in, struct profile *p, bool ingress)
{
    const struct wf_import_pool *pools = ingress ? in->ingress : in->egress;
    unsigned n = ingress ? in->n_ingress : in->n_egress;
    struct wf_import_at at = field(p, "pool");
    struct wf_import_row pool = wf_import_ref(in, p->row.json, at, "BUFFER_POOL");
    const char *mode;

    if (!pool.json) {
        if (!json_object_get(p->row.json, "pool"))
            wf_import_note(in, WF_IMPORT_ERROR, at, "is missing");
        return false;
    }
    for (p->pool = 0; p->pool < n && pools[p->pool].json != pool.json;)
        p->pool++;
    if (p->pool == n) {
        wf_import_note(in, WF_IMPORT_ERROR, at, "'%s' is no %s pool",
                       wf_import_clean(&in->im->arena, pool.key), ingress ? "ingress" : "egress");
        return false;
    }
    mode = wf_import_text(in, pool.json, (struct wf_import_at){"BUFFER_POOL", pool.key, "mode"});
    p->dynamic = mode && !strcmp(mode, "dynamic");
    return true;
}

/* The share of a pool; limit_key: what bounds it in a static one. */
static void put_share(struct wf_importing *in, const struct profile *p, const char *limit_key,
                      FILE *to)
{
    const char *wrong = p->dynamic ? "static_th" : "dynamic_th";
    int64_t v;

    if (json_object_get(p->row.json, wrong))
        wf_import_note(in, WF_IMPORT_DIFFERS, field(p, wrong),
                       "does not fit the mode of its pool, %s, and is left out",
                       p->dynamic ? "dynamic" : "static");
    if (p->dynamic) {
        if (!wf_import_int(in, p->row.json, field(p, "dynamic_th"), -16, 16, &v)) {
            wf_import_note(in, WF_IMPORT_DIFFERS, field(p, "dynamic_th"),
                           "is not given: alpha is 1");
            return;
        }
        if (v < 0)
            fprintf(to, ", alpha: 1/%u", 1u << -v);
        else
            fprintf(to, ", alpha: %u", 1u << v);
    } else if (bytes_of(in, p, "static_th", &v)) {
        fprintf(to, ", %s: %" PRId64 "B", limit_key, v);
    } else {
        wf_import_note(in, WF_IMPORT_DIFFERS, field(p, "static_th"),
                       "is not given: the share has weft's default");
    }
}

/* What a group needs beyond XOFF, by weft's own calculation. */
static uint64_t bound(const struct wf_import_port *port)
{
    const struct wf_switch_cfg sw = {.cell_bytes = 1};
    const struct wf_link_cfg link = {
        .rate_bps = port->rate_bps, .delay_ps = port->delay_ps, .mtu = (uint32_t)port->mtu};
    struct wf_pg_bounds b;

    if (!port->rate_bps) /* told already */
        return 0;
    wf_pg_bounds(&sw, &link, wf_pfc_response_ps(port->rate_bps), &b);
    return b.headroom;
}

static void put_lossless(struct wf_importing *in, struct wf_import_port *port,
                         const struct profile *p, FILE *to)
{
    int64_t xoff, xon, offset, size;
    bool given = bytes_of(in, p, "xoff", &xoff);
    bool has_xon = bytes_of(in, p, "xon", &xon);

    if (bytes_of(in, p, "size", &size))
        fprintf(to, ", reserved: %" PRId64 "B", given && size >= xoff + xon ? size - xoff : size);
    if (given && size >= xoff + xon && xoff)
        wf_import_note(in, WF_IMPORT_DIFFERS, field(p, "size"),
                       "is taken to hold the headroom: reserved is size less xoff");
    put_share(in, p, "xoff", to);
    if (given)
        fprintf(to, ", headroom: %" PRId64 "B", xoff);
    if (has_xon)
        fprintf(to, ", xon: %" PRId64 "B", xon);
    if (bytes_of(in, p, "xon_offset", &offset))
        fprintf(to, ", xon_offset: %" PRId64 "B", offset);
    port->headroom[p->pool] += given ? (uint64_t)xoff : bound(port);
}

static void put_lossy(struct wf_importing *in, const struct profile *p, FILE *to)
{
    int64_t size;

    if (bytes_of(in, p, "size", &size) && size)
        fprintf(to, ", reserved: %" PRId64 "B", size);
    put_share(in, p, "limit", to);
}

static bool is_lossless(struct wf_importing *in, const struct profile *p)
{
    const char *type = wf_import_text(in, p->row.json, field(p, "headroom_type"));

    return json_object_get(p->row.json, "xoff") || (type && !strcmp(type, "dynamic"));
}

/* The profile NULL: SONiC calculates one. */
static bool calculated(struct wf_importing *in, struct wf_import_row row, const char *table)
{
    struct wf_import_at at = {table, row.key, "profile"};
    const char *s = wf_import_text(in, row.json, at);

    if (!s || strcmp(s, "NULL"))
        return false;
    wf_import_note(in, WF_IMPORT_DIFFERS, at,
                   "NULL: SONiC calculates the profile, weft the headroom; the rest has weft's "
                   "defaults");
    return true;
}

static bool find_profile(struct wf_importing *in, struct wf_import_row row, const char *table,
                         bool ingress, struct profile *p)
{
    struct wf_import_at at = {table, row.key, "profile"};

    p->row = wf_import_ref(in, row.json, at, "BUFFER_PROFILE");
    if (!p->row.json && !json_object_get(row.json, "profile"))
        wf_import_note(in, WF_IMPORT_ERROR, at, "is missing");
    return p->row.json && find_pool(in, p, ingress);
}

bool wf_import_pg(struct wf_importing *in, struct wf_import_port *port, unsigned g, bool pausing,
                  FILE *to)
{
    struct wf_import_row row = port->pg[g];
    struct profile p = {.pool = 0};
    bool lossless;

    if (!row.json)
        return false;
    if (calculated(in, row, "BUFFER_PG")) {
        fprintf(to, "{lossless: %s}  # BUFFER_PG: NULL", pausing ? "true" : "false");
        port->headroom[0] += pausing ? bound(port) : 0;
        return pausing;
    }
    if (!find_profile(in, row, "BUFFER_PG", true, &p))
        return false;
    lossless = is_lossless(in, &p) && pausing;
    if (is_lossless(in, &p) && !pausing)
        wf_import_note(in, WF_IMPORT_DIFFERS, (struct wf_import_at){"BUFFER_PG", row.key, NULL},
                       "pg %u has headroom, but no priority in pfc_enable: it is lossy", g);
    fprintf(to, "{lossless: %s, pool: %u", lossless ? "true" : "false", p.pool);
    if (lossless)
        put_lossless(in, port, &p, to);
    else
        put_lossy(in, &p, to);
    fprintf(to, "}  #%s", comment(in, "BUFFER_PROFILE", p.row));
    return lossless;
}

static void put_buffer(struct wf_importing *in, struct wf_import_row row, FILE *to,
                       struct profile *p)
{
    const char *action;

    if (!row.json || calculated(in, row, "BUFFER_QUEUE") ||
        !find_profile(in, row, "BUFFER_QUEUE", false, p))
        return;
    fprintf(to, ", pool: %u", p->pool);
    put_lossy(in, p, to);
    action = wf_import_text(in, p->row.json, field(p, "packet_discard_action"));
    if (action && !strcmp(action, "trim"))
        fprintf(to, ", packet_discard_action: trim");
    else if (action && strcmp(action, "drop"))
        wf_import_note(in, WF_IMPORT_ERROR, field(p, "packet_discard_action"),
                       "'%s': expected drop or trim", wf_import_clean(&in->im->arena, action));
}

/* Rates in bytes a second. */
static void put_rates(struct wf_importing *in, struct wf_import_row s, FILE *to)
{
    static const struct {
        const char *theirs, *ours;
        bool rate;
    } all[] = {{"cir", "min_rate", true},
               {"cbs", "min_burst", false},
               {"pir", "max_rate", true},
               {"pbs", "max_burst", false}};
    struct wf_import_at meter = {"SCHEDULER", s.key, "meter_type"};
    const char *unit = wf_import_text(in, s.json, meter);
    int64_t v;

    if (unit && !strcmp(unit, "packets")) {
        wf_import_note(in, WF_IMPORT_DIFFERS, meter,
                       "rates in packets can't be expressed and are left out");
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        struct wf_import_at at = {"SCHEDULER", s.key, all[i].theirs};
        int64_t max = all[i].rate ? (int64_t)(WF_LINK_RATE_MAX_BPS / 8) : BYTES_MAX;

        if (!wf_import_int(in, s.json, at, 0, max, &v) || !v)
            continue;
        if (all[i].rate)
            fprintf(to, ", %s: %" PRId64 "bps", all[i].ours, 8 * v);
        else
            fprintf(to, ", %s: %" PRId64 "B", all[i].ours, v);
        if (all[i].rate)
            wf_import_note(in, WF_IMPORT_DIFFERS, at, "weft counts preamble and gap too");
    }
}

/* The beginning of the queue's mapping. */
static void put_scheduler(struct wf_importing *in, struct wf_import_row s, FILE *to)
{
    struct wf_import_at at = {"SCHEDULER", s.key, "type"};
    const char *type = s.json ? wf_import_text(in, s.json, at) : NULL;
    int64_t weight = 1;

    if (type && !strcmp(type, "STRICT")) {
        fprintf(to, "{sched: strict");
    } else {
        if (type && strcmp(type, "DWRR") && strcmp(type, "WRR"))
            wf_import_note(in, WF_IMPORT_ERROR, at, "'%s': expected STRICT, DWRR or WRR",
                           wf_import_clean(&in->im->arena, type));
        if (s.json)
            wf_import_int(in, s.json, (struct wf_import_at){"SCHEDULER", s.key, "weight"}, 1, 1000,
                          &weight);
        fprintf(to, "{sched: %s, weight: %" PRId64, type && !strcmp(type, "WRR") ? "wrr" : "dwrr",
                weight);
    }
    if (s.json)
        put_rates(in, s, to);
}

static void put_thresholds(struct wf_importing *in, struct wf_import_row w, FILE *to)
{
    struct wf_import_at lo = {"WRED_PROFILE", w.key, "green_min_threshold"};
    struct wf_import_at hi = {"WRED_PROFILE", w.key, "green_max_threshold"};
    int64_t kmin = 0, kmax = 0, p = 100;
    bool both = wf_import_int(in, w.json, lo, 0, BYTES_MAX, &kmin);

    both = wf_import_int(in, w.json, hi, 0, BYTES_MAX, &kmax) && both;
    wf_import_int(in, w.json,
                  (struct wf_import_at){"WRED_PROFILE", w.key, "green_drop_probability"}, 0, 100,
                  &p);
    if (!both && (!json_object_get(w.json, lo.field) || !json_object_get(w.json, hi.field)))
        wf_import_note(in, WF_IMPORT_ERROR, lo, "both thresholds of green are needed");
    else if (both && kmin > kmax)
        wf_import_note(in, WF_IMPORT_ERROR, lo,
                       "%" PRId64 " is above green_max_threshold, %" PRId64, kmin, kmax);
    fprintf(to, ", kmin: %" PRId64 "B, kmax: %" PRId64 "B, pmax: %" PRId64 "%%", kmin, kmax, p);
}

static void put_wred(struct wf_importing *in, struct wf_import_row w, FILE *to)
{
    static const char *const words[] = {"ecn_none",       "ecn_green",        "ecn_yellow",
                                        "ecn_red",        "ecn_green_yellow", "ecn_green_red",
                                        "ecn_yellow_red", "ecn_all"};
    struct wf_import_at at = {"WRED_PROFILE", w.key, "ecn"};
    const char *ecn = wf_import_text(in, w.json, at);
    const char *green = wf_import_text(
        in, w.json, (struct wf_import_at){"WRED_PROFILE", w.key, "wred_green_enable"});
    bool mark = ecn && (strstr(ecn, "green") || !strcmp(ecn, "ecn_all"));
    bool drop = green && !strcmp(green, "true");
    size_t i = 0;

    while (ecn && i < 8 && strcmp(words[i], ecn))
        i++;
    if (i == 8)
        wf_import_note(in, WF_IMPORT_ERROR, at, "'%s': expected ecn_none, ecn_green, ecn_all ...",
                       wf_import_clean(&in->im->arena, ecn));
    if (mark)
        fprintf(to, ", ecn: true");
    if (drop)
        fprintf(to, ", wred_drop: true");
    if (mark || drop)
        put_thresholds(in, w, to);
}

void wf_import_queue(struct wf_importing *in, struct wf_import_port *port, unsigned q, FILE *to)
{
    struct wf_import_row row = port->queue[q], s = {NULL, NULL}, w = {NULL, NULL};
    struct profile p = {.pool = 0};
    const char *c;

    if (row.json) {
        s = wf_import_ref(in, row.json, (struct wf_import_at){"QUEUE", row.key, "scheduler"},
                          "SCHEDULER");
        w = wf_import_ref(in, row.json, (struct wf_import_at){"QUEUE", row.key, "wred_profile"},
                          "WRED_PROFILE");
    }
    put_scheduler(in, s, to);
    if (w.json)
        put_wred(in, w, to);
    put_buffer(in, port->buffer_queue[q], to, &p);
    c = wf_arena_printf(&in->im->arena, "%s%s%s", comment(in, "SCHEDULER", s),
                        comment(in, "WRED_PROFILE", w), comment(in, "BUFFER_PROFILE", p.row));
    fprintf(to, "}  #%s", c[0] ? c : " neither scheduler nor profile");
}
