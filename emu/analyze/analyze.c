/* SPDX-License-Identifier: BSD-3-Clause */
/* Records in, streams and findings out. See analyze.h. */
#include "analyze/analyze.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/run.h"
#include "analyze/sight.h"

enum { RATE_SLOT_PS = 100000000 }; /* 100 us */

static void evicted(void *arg, struct wf_an_stream *s)
{
    struct wf_analyze *a = arg;

    wf_an_stream_end(a, s);
    a->evicted_packets += s->packets;
    a->evicted_again += s->req.again_packets;
}

int wf_an_init(struct wf_analyze *a, const struct wf_an_conf *conf)
{
    *a = (struct wf_analyze){.conf = *conf};
    if (!a->conf.max_streams)
        a->conf.max_streams = 32768;
    if (!a->conf.max_findings)
        a->conf.max_findings = 100000;
    if (!a->conf.ring_bytes)
        a->conf.ring_bytes = 128ull << 20;
    if (!a->conf.stall_ps)
        a->conf.stall_ps = 1000000000;
    a->findings.max = a->conf.max_findings;
    a->points = calloc(WF_AN_POINTS, sizeof(*a->points));
    if (!a->points || wf_an_table_init(&a->table, a->conf.max_streams, a->conf.ring_bytes) < 0) {
        wf_an_free(a);
        return -ENOMEM;
    }
    wf_an_pair_init(a);
    a->table.evict = evicted;
    a->table.arg = a;
    return 0;
}

void wf_an_free(struct wf_analyze *a)
{
    wf_an_table_free(&a->table);
    wf_an_findings_free(&a->findings);
    wf_an_pacing_free(&a->pacing);
    free(a->points);
    a->points = NULL;
}

uint16_t wf_an_point_of(struct wf_analyze *a, const char *name)
{
    for (unsigned i = 0; i < a->n_points; i++)
        if (!strcmp(a->points[i].name, name))
            return (uint16_t)i;
    if (a->n_points == WF_AN_POINTS)
        return WF_AN_POINTS - 1;
    snprintf(a->points[a->n_points].name, sizeof(a->points[0].name), "%s", name);
    return (uint16_t)a->n_points++;
}

/* ---- findings ---- */

struct wf_an_finding wf_an_new(const struct wf_an_stream *s, enum wf_an_what what,
                               enum wf_an_verdict verdict, uint32_t psn, int64_t t_ps)
{
    struct wf_an_finding f = {.what = (uint8_t)what,
                              .verdict = (uint8_t)verdict,
                              .psn = psn,
                              .t_ps = t_ps,
                              .packets = 1,
                              .recovery_ps = -1,
                              .stream = s->serial,
                              .seen_ps = WF_AN_NO_TIME,
                              .again_ps = WF_AN_NO_TIME,
                              .point = s->primary};

    return f;
}

void wf_an_tell(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_finding *f)
{
    struct wf_an_finding g = *f;

    g.index = wf_an_index(&a->table, s);
    wf_an_locate(a, s, &g);
    if (g.verdict != WF_AN_NO_LOSS)
        s->losses[g.verdict] += g.packets;
    wf_an_found(&a->findings, &g);
}

void wf_an_stream_end(struct wf_analyze *a, struct wf_an_stream *s)
{
    struct wf_an_requests *r = &s->req;

    if (r->run.open)
        wf_an_run_end(a, s, r->cur == r->run.back_to);
    if (r->nak.pending)
        wf_an_nak_unmet(a, s);
    while (r->n_holes)
        wf_an_give_up(a, s, &r->holes[0]);
    while (s->resp.n_holes)
        wf_an_read_given_up(a, s, &s->resp.holes[0], false);
}

/* ---- packets ---- */

static void key_of(const struct wf_an_pkt *p, struct wf_an_key *key)
{
    memset(key, 0, sizeof(*key));
    key->src = p->src;
    key->dst = p->dst;
    key->dqpn = p->dqpn;
    key->family = p->family;
    key->v1 = p->v1;
}

/* What every packet tells. */
static void note(struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    const struct wf_opcode *op = &wf_opcodes[p->opcode];

    if (!s->packets) {
        s->first_t_ps = p->t_ps;
        s->first_ref = p->ref;
        s->primary = p->point;
        s->sport = p->sport;
        s->dscp = p->dscp;
        s->service = op->service;
        s->vid = p->vid;
        s->n_tags = p->n_tags;
        s->pcp = p->pcp;
        s->tunnel = p->tunnel;
    }
    s->packets++;
    s->bytes += p->wire_len;
    s->last_t_ps = p->t_ps;
    s->last_ref = p->ref;
    s->port_changed |= s->sport != p->sport;
    s->icrc[p->icrc]++;
    if (op->service == WF_SERVICE_CNP)
        return;
    if (s->service == WF_SERVICE_CNP) {
        s->service = op->service;
        s->dscp = p->dscp;
    }
    s->ecn[p->ecn & 3]++;
    s->tos_changed |= s->dscp != p->dscp;
    if (p->payload_len > s->max_payload)
        s->max_payload = p->payload_len;
    if (op->flags & (WF_OPF_FIRST | WF_OPF_MIDDLE) && !(op->flags & WF_OPF_LAST) &&
        p->payload_len > s->full_payload)
        s->full_payload = p->payload_len;
}

static void cnp(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    struct wf_an_stream *x = wf_an_peer(s);

    if (s->last_cnp_t_ps != WF_AN_NO_TIME)
        wf_an_stat_add(&s->cnp_gap, p->t_ps - s->last_cnp_t_ps);
    s->last_cnp_t_ps = p->t_ps;
    s->cnps++;
    wf_an_pace(&a->pacing, p, a->conf.nic);
    if (x && !x->rate.armed && x->rate.slot && x->rate.before) {
        x->rate.armed = true;
        x->rate.armed_slot = p->t_ps / RATE_SLOT_PS;
        x->rate.armed_before = x->rate.before;
    }
}

/* Bytes of requests in slots of time: how fast a sender was before a CNP, and after it. */
static void rate(struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    int64_t slot = p->t_ps / RATE_SLOT_PS;

    if (slot != s->rate.slot) {
        s->rate.before = slot == s->rate.slot + 1 ? s->rate.bytes : 0;
        /* the second whole slot behind a CNP shows what it did */
        if (s->rate.armed && slot >= s->rate.armed_slot + 3) {
            double after = slot == s->rate.armed_slot + 3 ? (double)s->rate.before : 0;

            s->rate.ratio_sum += after / (double)s->rate.armed_before;
            s->rate.reactions++;
            s->rate.armed = false;
        }
        s->rate.slot = slot;
        s->rate.bytes = 0;
    }
    s->rate.bytes += p->payload_len;
}

static void roce(struct wf_analyze *a, const struct wf_an_pkt *p)
{
    const struct wf_opcode *op = &wf_opcodes[p->opcode];
    struct wf_an_stream *s;
    struct wf_an_key key;

    key_of(p, &key);
    s = wf_an_stream_of(&a->table, &key);
    if (!s) {
        a->no_memory = true;
        return;
    }
    if (!wf_an_judges(a, s, p))
        return;
    note(s, p);
    if (!op->name)
        return;
    wf_pairing_packet(&a->table.pairing, &s->half, p->opcode, p->psn, p->sport);
    if (op->service == WF_SERVICE_CNP) {
        cnp(a, s, p);
    } else if (op->service == WF_SERVICE_UD) {
        if (p->dqpn == 1)
            wf_an_cm_take(a, p);
        s->req.packets++;
        s->req.new_bytes += p->payload_len;
    } else if (op->service != WF_SERVICE_RD) {
        if (op->flags & WF_OPF_RESPONSE) {
            wf_an_answer(a, s, p);
        } else {
            rate(s, p);
            wf_an_request(a, s, p);
        }
    }
}

static void count(struct wf_an_point *pt, const struct wf_cap_rec *rec,
                  const struct wf_an_peeled *f)
{
    pt->frames++;
    pt->untimed += !rec->timed;
    if (rec->cap_bytes < rec->len_bytes || f->cut_by_mirror) {
        if (!pt->snapped++ || rec->cap_bytes < pt->snap_min)
            pt->snap_min = rec->cap_bytes;
    }
    if (f->around.tunnel)
        pt->tunnels[f->around.tunnel]++;
    pt->tagged += f->around.n_tags != 0;
}

/* A record that weft writes for a frame that ended at the port: it was seen before. */
static bool drop_record(const struct wf_cap_rec *rec)
{
    const char *at = rec->comment ? strstr(rec->comment, "drop=") : NULL;

    return at && (at == rec->comment || at[-1] == ' ');
}

static void control(struct wf_an_point *pt, const struct wf_cap_rec *rec,
                    const struct wf_an_peeled *f, const struct wf_parsed *parsed, int64_t t_ps)
{
    struct wf_pfc pfc;

    pt->control++;
    if (wf_mac_control_get(f->frame, f->cap_bytes, parsed, &pfc) != WF_MAC_CONTROL_IS_BAD)
        wf_an_pause_take(pt, &pfc, rec->dir, t_ps);
}

static void time_of(struct wf_analyze *a, struct wf_an_point *pt, int64_t t_ps)
{
    if (pt->frames && t_ps < pt->last_t_ps)
        pt->backwards++;
    pt->last_t_ps = t_ps;
    if (!a->frames++ || t_ps > a->last_t_ps)
        a->last_t_ps = t_ps;
    if (a->frames == 1 || t_ps < a->first_t_ps)
        a->first_t_ps = t_ps;
}

void wf_an_take(struct wf_analyze *a, const struct wf_cap_rec *rec, unsigned file, uint16_t point,
                int64_t t_ps)
{
    struct wf_an_point *pt = &a->points[point];
    struct wf_parsed parsed;
    struct wf_an_pkt p;

    time_of(a, pt, t_ps);
    if (!wf_an_peel(rec, &a->peeled)) {
        pt->frames++;
        pt->not_peeled++;
        return;
    }
    count(pt, rec, &a->peeled);
    if (drop_record(rec)) {
        pt->drop_records++;
        return;
    }
    switch (wf_an_packet(&a->peeled, &parsed, &p)) {
    case WF_AN_ROCE:
        p.ref = (struct wf_an_ref){.file = file, .number = rec->number};
        p.t_ps = t_ps;
        p.point = point;
        p.dir = (uint8_t)rec->dir;
        pt->rocev1 += p.v1;
        pt->rocev2 += !p.v1;
        roce(a, &p);
        return;
    case WF_AN_CUT_BTH:
        pt->cut++;
        return;
    case WF_AN_BAD:
        pt->bad++;
        return;
    case WF_AN_CONTROL:
        control(pt, rec, &a->peeled, &parsed, t_ps);
        return;
    case WF_AN_OTHER:
        pt->others++;
    }
}

/* A capture that says it has lost nothing leaves only the network. */
static void convict(struct wf_analyze *a)
{
    struct wf_an_findings *l = &a->findings;

    for (size_t i = 0; i < l->n; i++) {
        struct wf_an_finding *f = &l->items[i];
        const struct wf_an_point *pt = &a->points[f->point];
        struct wf_an_stream *s = wf_an_at(&a->table, f->index);

        if (f->what != WF_AN_LOSS || f->verdict != WF_AN_UNTOLD || !pt->drops_told || pt->drops)
            continue;
        l->totals[f->what][WF_AN_UNTOLD]--;
        l->totals[f->what][WF_AN_NETWORK]++;
        l->packets[f->what][WF_AN_UNTOLD] -= f->packets;
        l->packets[f->what][WF_AN_NETWORK] += f->packets;
        f->verdict = WF_AN_NETWORK;
        if (!f->where)
            f->where = WF_AN_BEFORE;
        snprintf(f->note, sizeof(f->note),
                 "missing here, and the capture says it has lost nothing");
        if (s && s->serial == f->stream) {
            s->losses[WF_AN_UNTOLD] -= f->packets;
            s->losses[WF_AN_NETWORK] += f->packets;
        }
    }
}

void wf_an_end(struct wf_analyze *a)
{
    wf_an_pair_rest(a);
    for (uint32_t i = 0; i < a->table.n; i++)
        wf_an_stream_end(a, a->table.streams[i]);
    convict(a);
}
