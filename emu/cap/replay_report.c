/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replay says at its end: for people, and as JSON. See replay.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cap/json.h"
#include "cap/replay.h"

enum { FLOWS_SHOWN = 40, SOURCES_SHOWN = 40 };

static const char *const not_reacting =
    "end points don't react: nothing is acknowledged, repeated or slowed down because of what "
    "happens here";

/* ---- delays ---- */

struct delays {
    uint64_t *all;   /* sorted within each flow */
    uint64_t *first; /* by flow: where its delays begin */
};

static int cmp_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void delays_free(struct delays *d)
{
    free(d->all);
    free(d->first);
}

static bool delays_of(const struct wf_replay *r, struct delays *d)
{
    const struct wf_replay_plan *plan = &r->plan;
    uint64_t *fill;

    d->all = calloc((size_t)r->totals.arrived + 1, sizeof(*d->all));
    d->first = calloc((size_t)plan->n_flows + 1, sizeof(*d->first));
    fill = calloc((size_t)plan->n_flows + 1, sizeof(*fill));
    if (!d->all || !d->first || !fill) {
        free(fill);
        delays_free(d);
        return false;
    }
    for (uint32_t i = 0; i < plan->n_flows; i++)
        d->first[i + 1] = fill[i + 1] = d->first[i] + plan->flows[i].arrived;
    for (uint32_t i = 0; i < plan->n_frames; i++)
        if (plan->frames[i].flags & WF_REPLAY_ARRIVED)
            d->all[fill[plan->frames[i].flow]++] = plan->frames[i].delay_ps;
    for (uint32_t i = 0; i < plan->n_flows; i++)
        qsort(d->all + d->first[i], plan->flows[i].arrived, sizeof(*d->all), cmp_u64);
    free(fill);
    return true;
}

static uint64_t delay_at(const struct delays *d, uint32_t flow, unsigned percent)
{
    uint64_t n = d->first[flow + 1] - d->first[flow];

    return n ? d->all[d->first[flow] + (n - 1) * percent / 100] : 0;
}

/* ---- text ---- */

static void print_capture(const struct wf_replay *r, FILE *out)
{
    const struct wf_replay_plan *p = &r->plan;
    char span[32], back[32];

    fprintf(out, "capture    %s: %" PRIu64 " RoCEv2, ", r->conf.capture, p->rocev2);
    if (p->rocev1)
        fprintf(out, "%" PRIu64 " RoCEv1, ", p->rocev1);
    fprintf(out, "%" PRIu64 " other frames in %s\n", p->others,
            wf_time_short((uint64_t)p->span_ps, span, sizeof(span)));
    if (p->backwards)
        fprintf(out,
                "           %" PRIu64
                " %s back, by %s at most: sent at the time of the frame before\n",
                p->backwards, p->backwards == 1 ? "time goes" : "times go",
                wf_time_short((uint64_t)p->back_max_ps, back, sizeof(back)));
    if (p->untimed)
        fprintf(out, "           %" PRIu64 " frames have no time: sent with the frame before\n",
                p->untimed);
    if (p->cut)
        fprintf(out, "           %" PRIu64 " frames are cut by a snaplen: the rest is zeros\n",
                p->cut);
    if (p->padded)
        fprintf(out, "           %" PRIu64 " frames are padded to 60 bytes\n", p->padded);
    if (p->several_interfaces)
        fprintf(out, "           several interfaces: what two of them saw is sent twice "
                     "(--interface NAME takes one)\n");
    if (r->read_rc < 0)
        fprintf(out, "           READ IN PART: %s\n", r->read_err.msg);
}

static void print_left_out(const struct wf_replay *r, FILE *out)
{
    const struct wf_replay_plan *p = &r->plan;
    const struct {
        uint64_t n;
        const char *why;
    } rows[] = {
        {r->totals.unmapped, "from sources that belong to no host"},
        {p->skipped_cut, "cut by a snaplen"},
        {p->skipped_short, "too short for an Ethernet header"},
        {p->skipped_long, "longer than a port takes (captured above segmentation offload?)"},
        {p->skipped_control, "MAC control: pauses of the recorded links"},
        {p->other_interface, "of other interfaces"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].n)
            fprintf(out, "not sent   %" PRIu64 " frames %s\n", rows[i].n, rows[i].why);
}

static void print_sources(const struct wf_replay *r, FILE *out)
{
    const struct wf_replay_plan *p = &r->plan;
    char text[64];

    for (uint32_t i = 0; i < p->n_sources; i++) {
        const struct wf_replay_source *s = &p->sources[i];

        if (i == SOURCES_SHOWN) {
            fprintf(out, "           ... and %u more (--json has all)\n", p->n_sources - i);
            break;
        }
        fprintf(out, "%-10s %-10s %s", i ? "" : "sources",
                s->host < 0 ? "-" : r->fabric->desc->hosts[s->host].name,
                wf_replay_source_text(s, text, sizeof(text)));
        if (s->family)
            fprintf(out, " (%02x:%02x:%02x:%02x:%02x:%02x)", s->mac[0], s->mac[1], s->mac[2],
                    s->mac[3], s->mac[4], s->mac[5]);
        fprintf(out, ", %" PRIu64 " from it, %" PRIu64 " to it; %s\n", s->frames, s->to_frames,
                s->how ? s->how : "belongs to no host");
    }
}

static const char *way_text(const struct wf_replay *r, uint32_t path, char *buf, size_t len)
{
    const struct wf_port *ports[WF_PATH_PORTS_MAX];
    unsigned n = wf_paths_ports(&r->paths, path, ports, WF_PATH_PORTS_MAX);
    size_t used = 0;

    if (n == 0 || n > WF_PATH_PORTS_MAX)
        return "(flooded)";
    for (unsigned i = 0; i < n && used < len; i++)
        used += (size_t)snprintf(buf + used, len - used, "%s > ", ports[i]->name);
    if (used < len)
        snprintf(buf + used, len - used, "%s", ports[n - 1]->peer->node->name);
    return buf;
}

static void print_psn(const char *what, const struct wf_psn_track *in,
                      const struct wf_psn_track *out_track, FILE *out)
{
    if (!in->started)
        return;
    fprintf(out, "           psn %s: %" PRIu64 " in order", what, out_track->in_order);
    if (out_track->gaps)
        fprintf(out, ", %" PRIu64 " gaps of %" PRIu64 " numbers", out_track->gaps,
                out_track->missing);
    if (out_track->repeats)
        fprintf(out, ", %" PRIu64 " repeated or late", out_track->repeats);
    if (memcmp(in, out_track, sizeof(*in)) == 0)
        fprintf(out, ", as recorded\n");
    else
        fprintf(out, " (recorded: %" PRIu64 " in order, %" PRIu64 " gaps, %" PRIu64 " repeated)\n",
                in->in_order, in->gaps, in->repeats);
}

static void print_flow(const struct wf_replay *r, uint32_t i, const struct delays *d, FILE *out)
{
    const struct wf_replay_flow *f = &r->plan.flows[i];
    char text[160], way[512], t[3][32];

    fprintf(out, "flow       %s\n", wf_flow_text(&f->key, text, sizeof(text)));
    fprintf(out, "           %" PRIu64 " frames in (%" PRIu64 " bytes), %" PRIu64 " arrived",
            f->frames, f->bytes, f->arrived);
    if (f->arrived)
        fprintf(out, "; delay %s min, %s median, %s max",
                wf_time_short(delay_at(d, i, 0), t[0], sizeof(t[0])),
                wf_time_short(delay_at(d, i, 50), t[1], sizeof(t[1])),
                wf_time_short(delay_at(d, i, 100), t[2], sizeof(t[2])));
    fprintf(out, "; %" PRIu64 " marked", f->marked);
    if (f->ce_before)
        fprintf(out, " (%" PRIu64 " came with CE)", f->ce_before);
    fprintf(out, "%s", f->overtaken ? "" : "; order kept");
    if (f->overtaken)
        fprintf(out, "; %" PRIu64 " OVERTAKEN", f->overtaken);
    fputc('\n', out);
    if (f->key.roce) {
        fprintf(out,
                "           icrc in: %" PRIu64 " right, %" PRIu64 " wrong, %" PRIu64
                " cut; arrived: %" PRIu64 " right, %" PRIu64 " wrong\n",
                f->icrc_in[WF_ICRC_OK], f->icrc_in[WF_ICRC_BAD], f->icrc_in[WF_ICRC_ABSENT],
                f->icrc_out[WF_ICRC_OK], f->icrc_out[WF_ICRC_BAD]);
        print_psn("requests", &f->in[0], &f->out[0], out);
        print_psn("responses", &f->in[1], &f->out[1], out);
    }
    for (unsigned k = 0; k < f->n_drops; k++)
        fprintf(out, "           dropped: %" PRIu64 " at %s, %s (%s)\n", f->drops[k].frames,
                f->drops[k].place, wf_reason_name(f->drops[k].why),
                wf_reason_meaning(f->drops[k].why));
    for (unsigned k = 0; k < f->n_paths; k++)
        fprintf(out, "           way: %s, %" PRIu64 " frames\n",
                way_text(r, f->paths[k].path, way, sizeof(way)), f->paths[k].frames);
}

static void print_totals(const struct wf_replay *r, FILE *out)
{
    const struct wf_replay_totals *t = &r->totals;
    char wait[32];

    fprintf(out, "whole      %" PRIu64 " in = %" PRIu64 " arrived + %" PRIu64 " lost", t->injected,
            t->arrived, t->lost);
    if (t->answered)
        fprintf(out, " + %" PRIu64 " answered by switches (ARP, ND)", t->answered);
    fprintf(out, "; %" PRIu64 " marked; %" PRIu64 " overtaken\n", t->marked, t->overtaken);
    if (t->waited_max_ps)
        fprintf(out, "           longest wait in a host, busy or paused: %s\n",
                wf_time_short(t->waited_max_ps, wait, sizeof(wait)));
    if (t->stalled && r->conf.time != WF_REPLAY_FLAT_OUT)
        fprintf(out, "           the fabric was full: the replay waited %" PRIu64 " times\n",
                t->stalled);
    fprintf(out,
            "causality  %" PRIu64 " times go back; %" PRIu64
            " responses leave before what they speak of has arrived",
            r->plan.backwards, t->early_acks);
    if (t->unpaired_acks)
        fprintf(out, "; %" PRIu64 " speak of requests that the capture does not have",
                t->unpaired_acks);
    fprintf(out, "\nnote       %s\n", not_reacting);
}

void wf_replay_print(const struct wf_replay *r, FILE *out)
{
    struct delays d;

    print_capture(r, out);
    print_left_out(r, out);
    print_sources(r, out);
    if (r->forwarding_was)
        fprintf(out, "forwarding %s (the scenario says %s)\n", r->conf.routed ? "routed" : "l2",
                r->forwarding_was);
    if (r->flows_left_out)
        fprintf(out, "workload   %u flows of the scenario are left out\n", r->flows_left_out);
    if (!delays_of(r, &d)) {
        fprintf(out, "no memory for the flows' delays\n");
        return;
    }
    for (uint32_t i = 0; i < r->plan.n_flows && i < FLOWS_SHOWN; i++)
        print_flow(r, i, &d, out);
    if (r->plan.n_flows > FLOWS_SHOWN)
        fprintf(out, "           ... and %u more flows (--json has all)\n",
                r->plan.n_flows - FLOWS_SHOWN);
    delays_free(&d);
    print_totals(r, out);
}

/* ---- JSON ---- */

static json_t *json_psn(const struct wf_psn_track *t)
{
    return json_pack("{so so so so}", "in_order", wf_json_u64(t->in_order), "gaps",
                     wf_json_u64(t->gaps), "missing", wf_json_u64(t->missing), "repeats",
                     wf_json_u64(t->repeats));
}

static json_t *json_icrc(const uint64_t v[3])
{
    return json_pack("{so so so}", "right", wf_json_u64(v[WF_ICRC_OK]), "wrong",
                     wf_json_u64(v[WF_ICRC_BAD]), "absent", wf_json_u64(v[WF_ICRC_ABSENT]));
}

static json_t *json_drops(const struct wf_replay_flow *f)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < f->n_drops; i++)
        json_array_append_new(
            list, json_pack("{ss ss so}", "reason", wf_reason_name(f->drops[i].why), "place",
                            f->drops[i].place, "frames", wf_json_u64(f->drops[i].frames)));
    return list;
}

static json_t *json_ways(const struct wf_replay *r, const struct wf_replay_flow *f)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < f->n_paths; i++) {
        const struct wf_port *ports[WF_PATH_PORTS_MAX];
        unsigned n = wf_paths_ports(&r->paths, f->paths[i].path, ports, WF_PATH_PORTS_MAX);
        json_t *links = json_array();

        for (unsigned k = 0; k < n && k < WF_PATH_PORTS_MAX; k++)
            json_array_append_new(links, json_string(ports[k]->link->name));
        json_array_append_new(
            list, json_pack("{so so}", "links", links, "frames", wf_json_u64(f->paths[i].frames)));
    }
    return list;
}

static json_t *json_flow(const struct wf_replay *r, uint32_t i, const struct delays *d)
{
    const struct wf_replay_flow *f = &r->plan.flows[i];
    char text[160];
    json_t *o = json_pack(
        "{ss so so so so so so so so}", "flow", wf_flow_text(&f->key, text, sizeof(text)),
        "in_frames", wf_json_u64(f->frames), "in_bytes", wf_json_u64(f->bytes), "arrived_frames",
        wf_json_u64(f->arrived), "arrived_bytes", wf_json_u64(f->arrived_bytes), "marked_frames",
        wf_json_u64(f->marked), "recorded_ce_frames", wf_json_u64(f->ce_before), "overtaken_frames",
        wf_json_u64(f->overtaken), "early_responses", wf_json_u64(f->early_acks));

    json_object_set_new(o, "sport", wf_json_u64(f->key.sport));
    json_object_set_new(o, "dport", wf_json_u64(f->key.dport));
    if (f->arrived)
        json_object_set_new(o, "delay_ps",
                            json_pack("{so so so}", "min", wf_json_u64(delay_at(d, i, 0)), "median",
                                      wf_json_u64(delay_at(d, i, 50)), "max",
                                      wf_json_u64(delay_at(d, i, 100))));
    json_object_set_new(o, "drops", json_drops(f));
    json_object_set_new(o, "ways", json_ways(r, f));
    if (!f->key.roce)
        return o;
    json_object_set_new(o, "roce_version", wf_json_u64(f->key.roce));
    json_object_set_new(o, "dest_qp", wf_json_u64(f->key.dqpn));
    json_object_set_new(o, "icrc_in", json_icrc(f->icrc_in));
    json_object_set_new(o, "icrc_arrived", json_icrc(f->icrc_out));
    json_object_set_new(
        o, "psn_requests",
        json_pack("{so so}", "recorded", json_psn(&f->in[0]), "arrived", json_psn(&f->out[0])));
    json_object_set_new(
        o, "psn_responses",
        json_pack("{so so}", "recorded", json_psn(&f->in[1]), "arrived", json_psn(&f->out[1])));
    return o;
}

static json_t *json_sources(const struct wf_replay *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->plan.n_sources; i++) {
        const struct wf_replay_source *s = &r->plan.sources[i];
        char text[64], mac[18];

        snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", s->mac[0], s->mac[1], s->mac[2],
                 s->mac[3], s->mac[4], s->mac[5]);
        json_array_append_new(
            list, json_pack("{ss ss so so ss*  ss*}", "address",
                            wf_replay_source_text(s, text, sizeof(text)), "mac", mac, "frames",
                            wf_json_u64(s->frames), "to_frames", wf_json_u64(s->to_frames), "host",
                            s->host < 0 ? NULL : r->fabric->desc->hosts[s->host].name, "mapped_by",
                            s->how));
    }
    return list;
}

static json_t *json_capture(const struct wf_replay *r)
{
    const struct wf_replay_plan *p = &r->plan;
    json_t *o =
        json_pack("{ss so so so so so so so so}", "file", r->conf.capture, "rocev2_frames",
                  wf_json_u64(p->rocev2), "rocev1_frames", wf_json_u64(p->rocev1), "other_frames",
                  wf_json_u64(p->others), "span_ps", wf_json_u64((uint64_t)p->span_ps), "backwards",
                  wf_json_u64(p->backwards), "cut_frames", wf_json_u64(p->cut), "padded_frames",
                  wf_json_u64(p->padded), "untimed_frames", wf_json_u64(p->untimed));

    json_object_set_new(
        o, "not_sent",
        json_pack("{so so so so so so}", "unmapped", wf_json_u64(r->totals.unmapped), "cut",
                  wf_json_u64(p->skipped_cut), "short", wf_json_u64(p->skipped_short), "long",
                  wf_json_u64(p->skipped_long), "mac_control", wf_json_u64(p->skipped_control),
                  "other_interface", wf_json_u64(p->other_interface)));
    if (r->read_rc < 0)
        json_object_set_new(o, "read_in_part", json_string(r->read_err.msg));
    return o;
}

json_t *wf_replay_json(const struct wf_replay *r)
{
    const struct wf_replay_totals *t = &r->totals;
    json_t *o, *flows = json_array();
    struct delays d;

    if (delays_of(r, &d)) {
        for (uint32_t i = 0; i < r->plan.n_flows; i++)
            json_array_append_new(flows, json_flow(r, i, &d));
        delays_free(&d);
    }
    o = json_pack("{so so so ss}", "capture", json_capture(r), "sources", json_sources(r), "flows",
                  flows, "forwarding", r->conf.routed ? "routed" : "l2");
    json_object_set_new(o, "frames",
                        json_pack("{so so so so so so}", "in", wf_json_u64(t->injected), "arrived",
                                  wf_json_u64(t->arrived), "lost", wf_json_u64(t->lost), "answered",
                                  wf_json_u64(t->answered), "marked", wf_json_u64(t->marked),
                                  "overtaken", wf_json_u64(t->overtaken)));
    json_object_set_new(o, "causality",
                        json_pack("{so so so}", "backwards", wf_json_u64(r->plan.backwards),
                                  "early_responses", wf_json_u64(t->early_acks),
                                  "unpaired_responses", wf_json_u64(t->unpaired_acks)));
    json_object_set_new(o, "waited_max_ps", wf_json_u64(t->waited_max_ps));
    json_object_set_new(o, "note", json_string(not_reacting));
    return o;
}
