/* SPDX-License-Identifier: BSD-3-Clause */
/* weft.analyze/1: see docs/schema/weft.analyze.1.json. */
#include <stdlib.h>

#include "analyze/report.h"
#include "analyze/rules.h"
#include "base/version.h"
#include "cap/json.h"

static void put(json_t *o, const char *name, uint64_t v)
{
    json_object_set_new(o, name, wf_json_u64(v));
}

static void put_ps(json_t *o, const char *name, int64_t v)
{
    put(o, name, v > 0 ? (uint64_t)v : 0);
}

static json_t *stat_json(const struct wf_an_stat *s)
{
    json_t *o = json_object();

    put(o, "n", s->n);
    put_ps(o, "min_ps", s->n ? s->min_ps : 0);
    put_ps(o, "mean_ps", s->n ? s->sum_ps / (int64_t)s->n : 0);
    put_ps(o, "max_ps", s->n ? s->max_ps : 0);
    return o;
}

static json_t *lost_json(const uint64_t lost[WF_AN_VERDICTS])
{
    json_t *o = json_object();

    for (int v = 0; v < WF_AN_NO_LOSS; v++)
        put(o, wf_an_verdict_names[v], lost[v]);
    return o;
}

static json_t *point_json(const struct wf_an_point *p)
{
    json_t *o = json_pack("{ss}", "name", p->name), *t = json_object();

    put(o, "frames", p->frames);
    put(o, "rocev2", p->rocev2);
    put(o, "rocev1", p->rocev1);
    put(o, "others", p->others);
    put(o, "mac_control", p->control);
    put(o, "cut_before_bth", p->cut);
    put(o, "malformed", p->bad);
    put(o, "not_looked_into", p->not_peeled);
    put(o, "snapped", p->snapped);
    put(o, "snapped_to_bytes", p->snap_min);
    put(o, "tagged", p->tagged);
    put(o, "times_back", p->backwards);
    put(o, "untimed", p->untimed);
    put(o, "drop_records", p->drop_records);
    if (p->drops_told)
        put(o, "capture_drops", p->drops);
    for (int i = 1; i < WF_AN_TUNNELS; i++)
        if (p->tunnels[i])
            put(t, wf_an_tunnel_names[i], p->tunnels[i]);
    json_object_set_new(o, "tunnels", t);
    return o;
}

static json_t *requests_json(const struct wf_an_stream *s)
{
    const struct wf_an_requests *r = &s->req;
    json_t *o = json_object(), *again = json_object(), *ops = json_object();

    put(o, "packets", r->packets);
    put(o, "bytes", r->bytes);
    put(o, "new_packets", r->new_packets);
    put(o, "new_bytes", r->new_bytes);
    put(o, "messages", r->messages);
    put(o, "gaps", r->gaps);
    put(o, "missing", r->missing);
    put(o, "reordered", r->late);
    put(o, "duplicates", r->copies);
    put(o, "payload_changed", r->changed);
    put(o, "resent", r->again_packets);
    for (int i = 1; i < WF_AN_CAUSES; i++)
        put(again, wf_an_cause_names[i], r->again[i]);
    json_object_set_new(o, "resent_by", again);
    for (int i = 0; i < 32; i++) {
        const char *name = wf_opcodes[(s->service & 0xe0) | i].name;

        if (r->by_opcode[i] && name)
            put(ops, name, r->by_opcode[i]);
    }
    json_object_set_new(o, "opcodes", ops);
    if (r->started) {
        json_object_set_new(o, "first_psn", json_integer(r->first));
        json_object_set_new(o, "next_psn", json_integer(r->max));
    }
    return o;
}

static json_t *answers_json(const struct wf_an_answers *n)
{
    json_t *o = json_object();

    put(o, "packets", n->packets);
    put(o, "acks", n->acks);
    put(o, "sequence_naks", n->seq_naks);
    put(o, "repeated_naks", n->repeated_naks);
    put(o, "rnr_naks", n->rnr_naks);
    put(o, "error_naks", n->error_naks);
    put(o, "read_responses", n->read_packets);
    put(o, "read_bytes", n->read_bytes);
    put(o, "atomic_acks", n->atomics);
    put(o, "gaps", n->gaps);
    put(o, "missing", n->missing);
    put(o, "cut", n->cut);
    put(o, "unpaired", n->unpaired);
    return o;
}

static json_t *stalls_json(const struct wf_an_stream *s)
{
    json_t *o = json_object();

    for (int i = 0; i < WF_AN_STALLS; i++) {
        json_t *e = json_object();

        put(e, "n", s->stalls[i]);
        put_ps(e, "time_ps", s->stalled_ps[i]);
        json_object_set_new(o, wf_an_stall_names[i], e);
    }
    if (s->timeout_n >= 0)
        put(o, "ack_timeout_exponent", (uint64_t)s->timeout_n);
    return o;
}

static json_t *cnp_json(const struct wf_an_stream *s, const struct wf_an_stream *y)
{
    const struct wf_an_stream *c = y ? y : s;
    json_t *o = json_object();

    put(o, "cnps", c->cnps);
    put(o, "ce_packets", s->ecn[3]);
    json_object_set_new(o, "gap", stat_json(&c->cnp_gap));
    put(o, "reactions", s->rate.reactions);
    if (s->rate.reactions)
        json_object_set_new(o, "rate_after_to_before",
                            json_real(s->rate.ratio_sum / (double)s->rate.reactions));
    return o;
}

static void put_headers(json_t *o, const struct wf_an_stream *s)
{
    put(o, "dscp", s->dscp);
    json_object_set_new(o, "dscp_changes", json_boolean(s->tos_changed));
    json_object_set_new(o, "ecn",
                        json_pack("{so so so so}", "not_ect", wf_json_u64(s->ecn[0]), "ect1",
                                  wf_json_u64(s->ecn[1]), "ect0", wf_json_u64(s->ecn[2]), "ce",
                                  wf_json_u64(s->ecn[3])));
    if (s->n_tags)
        json_object_set_new(
            o, "vlan", json_pack("{si si si}", "vid", s->vid, "pcp", s->pcp, "tags", s->n_tags));
    put(o, "max_payload", s->max_payload);
    json_object_set_new(o, "icrc",
                        json_pack("{so so so}", "right", wf_json_u64(s->icrc[0]), "wrong",
                                  wf_json_u64(s->icrc[1]), "not_captured",
                                  wf_json_u64(s->icrc[2])));
}

static json_t *row_json(const struct wf_analyze *a, const struct wf_an_stream *s)
{
    static const char *const how[] = {"none", "cm", "psn", "port", "address"};
    const struct wf_an_stream *y = wf_an_peer(s);
    char src[64], dst[64], filter[400];
    json_t *o = json_pack("{si ss ss si ss si ss}", "stream", (int)s->serial, "src",
                          wf_an_addr_text(&s->key.src, s->key.family, src, sizeof(src)), "dst",
                          wf_an_addr_text(&s->key.dst, s->key.family, dst, sizeof(dst)), "dqpn",
                          (int)s->key.dqpn, "service", wf_service_name(s->service), "sport",
                          s->sport, "paired_by", how[s->half.how]);

    json_object_set_new(o, "sqpn", y ? json_integer(y->key.dqpn) : json_null());
    json_object_set_new(o, "point", json_string(a->points[s->primary].name));
    put(o, "packets", s->packets);
    put(o, "wire_bytes", s->bytes);
    put_ps(o, "first_ps", s->first_t_ps - a->first_t_ps);
    put_ps(o, "last_ps", s->last_t_ps - a->first_t_ps);
    put(o, "goodput_bps", (uint64_t)wf_an_goodput_bps(a, s));
    put_headers(o, s);
    put(o, "path_mtu", wf_an_path_mtu(a, s));
    json_object_set_new(o, "requests", requests_json(s));
    json_object_set_new(o, "answers", answers_json(y ? &y->resp : &s->resp));
    json_object_set_new(o, "lost", lost_json(s->losses));
    json_object_set_new(o, "ack_delay", stat_json(&s->ack_delay));
    json_object_set_new(o, "recovery", stat_json(&s->recovery));
    json_object_set_new(o, "nak_gap", stat_json(&s->nak_gap));
    json_object_set_new(o, "rnr_wait", stat_json(&s->rnr_wait));
    json_object_set_new(o, "stalls", stalls_json(s));
    json_object_set_new(o, "congestion", cnp_json(s, y));
    json_object_set_new(o, "go_back_n",
                        json_pack("{so so so}", "as_asked", wf_json_u64(s->gbn_ok), "otherwise",
                                  wf_json_u64(s->gbn_bad), "selective", wf_json_u64(s->selective)));
    json_object_set_new(o, "filter",
                        json_string(wf_an_stream_filter(a, s, filter, sizeof(filter))));
    return o;
}

static json_t *frames_json(const struct wf_an_finding *f)
{
    static const char *const roles[WF_AN_REFS] = {"seen", "answer", "again", "other"};
    json_t *list = json_array();

    for (int i = 0; i < WF_AN_REFS; i++)
        if (f->refs[i].number)
            json_array_append_new(list, json_pack("{ss si so}", "what", roles[i], "file",
                                                  (int)f->refs[i].file, "number",
                                                  wf_json_u64(f->refs[i].number)));
    return list;
}

static json_t *filters_json(const struct wf_an_finding *f)
{
    json_t *list = json_array();
    char text[128];

    for (int i = 0; i < WF_AN_REFS; i++)
        if (wf_an_file_of(f, i) >= 0)
            json_array_append_new(list,
                                  json_pack("{si ss}", "file", (int)f->refs[i].file, "filter",
                                            wf_an_filter(f, f->refs[i].file, text, sizeof(text))));
    return list;
}

static json_t *finding_json(const struct wf_an_report *r, const struct wf_an_finding *f)
{
    json_t *o = json_pack("{ss ss ss ss si sb sb}", "what", wf_an_what_names[f->what], "verdict",
                          wf_an_verdict_names[f->verdict], "cause", wf_an_cause_names[f->cause],
                          "where", wf_an_where_names[f->where], "stream", (int)f->stream, "exact",
                          f->exact, "response", f->response);

    put(o, "psn", f->psn);
    put(o, "packets", f->packets);
    put_ps(o, "t_ps", f->t_ps - r->a->first_t_ps);
    json_object_set_new(o, "recovery_ps",
                        f->recovery_ps < 0 ? json_null() : wf_json_u64((uint64_t)f->recovery_ps));
    put(o, "resent", f->resent);
    json_object_set_new(o, "point", json_string(r->a->points[f->point].name));
    json_object_set_new(o, "hop", json_string(f->hop));
    json_object_set_new(o, "note", json_string(f->note));
    json_object_set_new(o, "frames", frames_json(f));
    json_object_set_new(o, "filters", filters_json(f));
    return o;
}

static json_t *capture_json(const struct wf_an_report *r, const struct wf_an_sum *s)
{
    json_t *o = json_object(), *files = json_array(), *points = json_array(),
           *clocks = json_array();
    char text[1200];

    for (unsigned i = 0; i < r->in->n_files; i++)
        json_array_append_new(files, json_pack("{ss so}", "path", r->in->files[i].path, "packets",
                                               wf_json_u64(r->in->files[i].packets)));
    for (unsigned i = 0; i < r->a->n_points; i++)
        json_array_append_new(points, point_json(&r->a->points[i]));
    for (unsigned i = 0; i < r->in->n_sources; i++) {
        const struct wf_an_source *c = &r->in->sources[i];

        if (c->matched)
            json_array_append_new(clocks,
                                  json_pack("{ss sI sf so sb sb}", "point", c->name, "ahead_ps",
                                            (json_int_t)wf_an_ahead_ps(r->in, c), "drift_ppm",
                                            -c->drift * 1e6, "packets", wf_json_u64(c->matched),
                                            "one_way", c->one_way, "jumped", c->jumped));
    }
    json_object_set_new(o, "clocks", clocks);
    json_object_set_new(o, "files", files);
    json_object_set_new(o, "points", points);
    put(o, "frames", s->frames);
    put(o, "rocev2", s->rocev2);
    put(o, "rocev1", s->rocev1);
    put_ps(o, "span_ps", r->a->last_t_ps - r->a->first_t_ps);
    put(o, "evicted_streams", r->a->table.evicted);
    put(o, "evicted_packets", r->a->evicted_packets);
    put(o, "overlapping_files", r->in->overlaps);
    put(o, "cm_messages", r->a->cm_messages);
    if (r->in->failed)
        json_object_set_new(o, "error", json_string(wf_err_text(&r->in->why, text, sizeof(text))));
    return o;
}

static json_t *summary_json(const struct wf_an_report *r, const struct wf_an_sum *s)
{
    json_t *o = json_object();

    put(o, "connections", s->connections);
    put(o, "request_packets", s->requests);
    put(o, "resent", s->again);
    put(o, "sequence_naks", s->seq_naks);
    put(o, "rnr_naks", s->rnr);
    put(o, "error_naks", s->error_naks);
    put(o, "cnps", s->cnps);
    put(o, "breaches", s->breaches);
    put(o, "findings", r->a->findings.n + r->a->findings.left_out);
    put(o, "findings_left_out", r->a->findings.left_out);
    json_object_set_new(o, "lost", lost_json(s->lost));
    return o;
}

static json_t *rules_json(const struct wf_analyze *a)
{
    struct wf_an_rule rules[WF_AN_RULES];
    json_t *list = json_array();

    wf_an_rules(a, rules);
    for (int i = 0; i < WF_AN_RULES; i++)
        json_array_append_new(list, json_pack("{ss ss ss so so ss}", "rule", rules[i].name, "by",
                                              rules[i].clause, "verdict",
                                              wf_an_judgement_names[rules[i].verdict], "kept",
                                              wf_json_u64(rules[i].kept), "broken",
                                              wf_json_u64(rules[i].broken), "text", rules[i].text));
    return list;
}

static const char *verdict(const struct wf_an_sum *s)
{
    if (!s->rocev1 && !s->rocev2)
        return "no_roce";
    if (s->lost[WF_AN_NETWORK])
        return "network_loss";
    return s->lost[WF_AN_UNTOLD] ? "cannot_tell" : "no_network_loss";
}

json_t *wf_an_report_json(const struct wf_an_report *r)
{
    json_t *rows = json_array(), *findings = json_array(), *o;
    const struct wf_an_stream **list;
    struct wf_an_sum s;
    size_t n;

    wf_an_sum(r, &s);
    list = wf_an_rows(r->a, &n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, row_json(r->a, list[i]));
    free(list);
    for (size_t i = 0; i < r->a->findings.n; i++)
        json_array_append_new(findings, finding_json(r, &r->a->findings.items[i]));
    o = json_pack("{ss ss ss sb}", "schema", "weft.analyze/1", "weft", wf_version(), "verdict",
                  verdict(&s), "interrupted", r->interrupted);
    json_object_set_new(o, "summary", summary_json(r, &s));
    json_object_set_new(o, "capture", capture_json(r, &s));
    json_object_set_new(o, "connections", rows);
    json_object_set_new(o, "rules", rules_json(r->a));
    json_object_set_new(o, "findings", findings);
    return o;
}
