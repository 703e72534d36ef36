/* SPDX-License-Identifier: BSD-3-Clause */
/* The page for people. See report.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report.h"
#include "analyze/rules.h"
#include "base/units.h"

static const char *span(int64_t ps, char *buf, size_t len)
{
    return wf_time_short(ps > 0 ? (uint64_t)ps : 0, buf, len);
}

static const char *s_of(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- the verdict ---- */

static void print_verdict(const struct wf_an_sum *s, FILE *out)
{
    const uint64_t net = s->lost[WF_AN_NETWORK], cap = s->lost[WF_AN_CAPTURE];
    const uint64_t untold = s->lost[WF_AN_UNTOLD];

    if (!s->rocev2 && !s->rocev1)
        fprintf(out, "verdict    no RoCE packet in this capture\n");
    else if (net)
        fprintf(out,
                "verdict    THE NETWORK LOST %" PRIu64 " packet%s, of %" PRIu64 " connection%s\n",
                net, s_of(net), s->hurt, s_of(s->hurt));
    else if (untold)
        fprintf(out,
                "verdict    no loss in the network is proven; of %" PRIu64
                " missing packet%s it can't be told\n",
                untold, s_of(untold));
    else
        fprintf(out, "verdict    nothing was lost in the network\n");
    if (net && untold)
        fprintf(out, "           of %" PRIu64 " more it can't be told who lost them\n", untold);
    if (cap)
        fprintf(out, "           the capture itself lost %" PRIu64 " packet%s, which arrived\n",
                cap, s_of(cap));
    if (s->again)
        fprintf(out, "           %" PRIu64 " of %" PRIu64 " request packets were sent again\n",
                s->again, s->requests);
    if (s->rnr)
        fprintf(out,
                "           %" PRIu64 " time%s a receiver was not ready (RNR NAK): no loss, a "
                "wait\n",
                s->rnr, s_of(s->rnr));
    if (s->error_naks)
        fprintf(out, "           %" PRIu64 " request%s refused: those connections have ended\n",
                s->error_naks, s->error_naks == 1 ? " was" : "s were");
    if (s->breaches)
        fprintf(out, "           %" PRIu64 " breach%s of the standard or the profile\n",
                s->breaches, s->breaches == 1 ? "" : "es");
}

/* ---- the capture ---- */

static void print_point(const struct wf_an_point *p, FILE *out)
{
    fprintf(out, "point      %s: %" PRIu64 " frames, %" PRIu64 " RoCEv2", p->name, p->frames,
            p->rocev2);
    if (p->rocev1)
        fprintf(out, ", %" PRIu64 " RoCEv1", p->rocev1);
    for (int i = 1; i < WF_AN_TUNNELS; i++)
        if (p->tunnels[i])
            fprintf(out, ", %" PRIu64 " in %s", p->tunnels[i], wf_an_tunnel_names[i]);
    if (p->tagged)
        fprintf(out, ", %" PRIu64 " tagged", p->tagged);
    if (p->pause_frames)
        fprintf(out, ", %" PRIu64 " pauses", p->pause_frames);
    if (p->snapped)
        fprintf(out, "; %" PRIu64 " cut, down to %u bytes", p->snapped, p->snap_min);
    if (p->drops_told)
        fprintf(out, "; lost by the capture, as it says: %" PRIu64, p->drops);
    if (p->backwards)
        fprintf(out, "; %" PRIu64 " time%s back", p->backwards,
                p->backwards == 1 ? " goes" : "s go");
    if (p->untimed)
        fprintf(out, "; %" PRIu64 " without a time", p->untimed);
    if (p->cut)
        fprintf(out, "; %" PRIu64 " cut before their BTH", p->cut);
    if (p->bad)
        fprintf(out, "; %" PRIu64 " malformed", p->bad);
    if (p->not_peeled)
        fprintf(out, "; %" PRIu64 " that can't be looked into", p->not_peeled);
    fputc('\n', out);
}

static void print_clocks(const struct wf_an_input *in, FILE *out)
{
    char t[32];

    for (unsigned i = 0; i < in->n_sources; i++) {
        const struct wf_an_source *s = &in->sources[i];

        const int64_t ahead = wf_an_ahead_ps(in, s);

        if (s->matched)
            fprintf(out,
                    "clock      %s is %s %s %s, runs %+.3f ppm, by %" PRIu64
                    " packets of both%s%s\n",
                    s->name, span(ahead < 0 ? -(ahead + 1) : ahead, t, sizeof(t)),
                    ahead >= 0 ? "ahead of" : "behind", in->sources[0].name, -s->drift * 1e6,
                    s->matched, s->one_way ? ", all one way: the delay counts as none" : "",
                    s->jumped ? "; it was set meanwhile: times behind that are off" : "");
    }
}

static void print_capture(const struct wf_an_report *r, const struct wf_an_sum *s, FILE *out)
{
    const struct wf_analyze *a = r->a;
    char t[32], text[1024];

    fprintf(out,
            "capture    %u file%s: %" PRIu64 " frames in %s: %" PRIu64 " RoCEv2, %" PRIu64
            " RoCEv1, %" PRIu64 " others\n",
            r->in->n_files, s_of(r->in->n_files), s->frames,
            span(a->last_t_ps - a->first_t_ps, t, sizeof(t)), s->rocev2, s->rocev1, s->others);
    for (unsigned i = 0; i < a->n_points; i++) {
        if (i == 16) {
            fprintf(out, "           ... and %u more (--json has all)\n", a->n_points - i);
            break;
        }
        print_point(&a->points[i], out);
    }
    print_clocks(r->in, out);
    if (r->in->overlaps)
        fprintf(out,
                "           %" PRIu64 " files begin before the one before them ends: captures of "
                "several places are given with --point\n",
                r->in->overlaps);
    if (r->interrupted)
        fprintf(out, "           INTERRUPTED: what was seen until then\n");
    if (r->in->failed)
        fprintf(out, "           READ IN PART: %s\n", wf_err_text(&r->in->why, text, sizeof(text)));
    if (a->table.evicted)
        fprintf(out,
                "           %" PRIu64 " streams with %" PRIu64 " packets gave way to others: "
                "they are not listed\n",
                a->table.evicted, a->evicted_packets);
}

/* ---- connections ---- */

static void print_again(const struct wf_an_stream *s, FILE *out)
{
    static const char *const by[] = {"",
                                     "after a NAK",
                                     "after a timeout",
                                     "after RNR",
                                     "READ asked again",
                                     "although acknowledged",
                                     "cause not captured"};
    const struct wf_an_requests *r = &s->req;
    const char *sep = " (";

    if (!r->again_packets)
        return;
    fprintf(out, "           sent again %" PRIu64, r->again_packets);
    for (int i = 1; i < WF_AN_CAUSES; i++)
        if (r->again[i]) {
            fprintf(out, "%s%" PRIu64 " %s", sep, r->again[i], by[i]);
            sep = ", ";
        }
    fprintf(out, ")\n");
}

static void print_stat(const char *name, const struct wf_an_stat *s, FILE *out)
{
    char a[32], b[32], c[32];

    if (s->n)
        fprintf(out, "           %s: %s min, %s mean, %s max, of %" PRIu64 "\n", name,
                span(s->min_ps, a, sizeof(a)), span(s->sum_ps / (int64_t)s->n, b, sizeof(b)),
                span(s->max_ps, c, sizeof(c)), s->n);
}

static void print_answers(const struct wf_an_stream *s, const struct wf_an_stream *y, FILE *out)
{
    const struct wf_an_answers *n = y ? &y->resp : &s->resp;

    if (!n->packets) {
        if (s->service == WF_SERVICE_RC && s->req.packets)
            fprintf(out, "           no answers in the capture\n");
        return;
    }
    fprintf(out,
            "           answers: %" PRIu64 " ACK, %" PRIu64 " sequence NAK, %" PRIu64
            " RNR NAK, %" PRIu64 " error NAK",
            n->acks, n->seq_naks, n->rnr_naks, n->error_naks);
    if (n->read_packets)
        fprintf(out, ", %" PRIu64 " READ responses", n->read_packets);
    if (n->cut)
        fprintf(out, ", %" PRIu64 " cut", n->cut);
    fputc('\n', out);
}

static void print_stalls(const struct wf_an_stream *s, FILE *out)
{
    const char *sep = "           stalls: ";
    char t[32];

    for (int i = 0; i < WF_AN_STALLS; i++)
        if (s->stalls[i]) {
            fprintf(out, "%s%" PRIu64 " %s (%s)", sep, s->stalls[i], wf_an_stall_names[i],
                    span(s->stalled_ps[i], t, sizeof(t)));
            sep = ", ";
        }
    if (sep[0] == ',') {
        if (s->timeout_n >= 0)
            fprintf(out, "; the timeout fits 4.096us x 2^%d = %s", s->timeout_n,
                    span((int64_t)4096000 << s->timeout_n, t, sizeof(t)));
        fputc('\n', out);
    }
}

static void print_cnps(const struct wf_an_stream *s, const struct wf_an_stream *y, FILE *out)
{
    double seconds = (double)(s->last_t_ps - s->first_t_ps) / 1e12;
    const uint64_t cnps = y ? y->cnps : s->cnps;

    if (!cnps && !s->ecn[3])
        return;
    fprintf(out, "           CE on %" PRIu64 " of %" PRIu64 " packets, %" PRIu64 " CNPs back",
            s->ecn[3], s->packets, cnps);
    if (cnps && seconds > 0)
        fprintf(out, " (%.0f a second)", (double)cnps / seconds);
    if (s->rate.reactions)
        fprintf(out, "; rate after one: %.0f%% of before",
                s->rate.ratio_sum / (double)s->rate.reactions * 100);
    fputc('\n', out);
}

/* Goodput without the silences that were looked at, where that differs. */
static const char *busy_text(const struct wf_analyze *a, const struct wf_an_stream *s, char *buf,
                             size_t len)
{
    int64_t span_ps = s->last_t_ps - s->first_t_ps, quiet_ps = 0;
    double all = wf_an_goodput_bps(a, s);
    char rate[32];

    for (int i = 0; i < WF_AN_STALLS; i++)
        wf_an_add(&quiet_ps, s->stalled_ps[i]);
    buf[0] = '\0';
    if (quiet_ps > span_ps / 10 && quiet_ps < span_ps - span_ps / 20)
        snprintf(buf, len, " (%s without its silences)",
                 wf_rate_short((uint64_t)(all * (double)span_ps / (double)(span_ps - quiet_ps)),
                               rate, sizeof(rate)));
    return buf;
}

static void print_row(const struct wf_analyze *a, const struct wf_an_stream *s, FILE *out)
{
    const struct wf_an_stream *y = wf_an_peer(s);
    uint32_t mtu = wf_an_path_mtu(a, s);
    char text[160], rate[32], busy[64];

    fprintf(out, "%-10s %s", wf_service_name(s->service), wf_an_stream_text(s, text, sizeof(text)));
    if (y)
        fprintf(out, " (answers to qp 0x%06x)", y->key.dqpn);
    if (s->sport)
        fprintf(out, ", source port %u%s", s->sport, s->port_changed ? " and others" : "");
    fprintf(out, "\n           %" PRIu64 " requests, goodput %s%s, path MTU %s%u, DSCP %u%s",
            s->req.packets, wf_rate_short((uint64_t)wf_an_goodput_bps(a, s), rate, sizeof(rate)),
            busy_text(a, s, busy, sizeof(busy)), mtu ? "" : "at least ", mtu ? mtu : s->max_payload,
            s->dscp, s->tos_changed ? " and others" : "");
    if (s->n_tags)
        fprintf(out, ", VLAN %u priority %u", s->vid, s->pcp);
    fprintf(out, "\n");
    if (s->req.gaps || s->resp.gaps)
        fprintf(out,
                "           %" PRIu64 " gaps of %" PRIu64 " numbers; lost in the network %" PRIu64
                ", by the capture %" PRIu64 ", can't tell %" PRIu64 "\n",
                s->req.gaps + s->resp.gaps, s->req.missing + s->resp.missing,
                s->losses[WF_AN_NETWORK], s->losses[WF_AN_CAPTURE], s->losses[WF_AN_UNTOLD]);
    print_again(s, out);
    print_answers(s, y, out);
    print_stat("ACK delay", &s->ack_delay, out);
    print_stat("recovery", &s->recovery, out);
    print_stat("NAK to repetition", &s->nak_gap, out);
    print_stat("RNR NAK to repetition", &s->rnr_wait, out);
    print_cnps(s, y, out);
    print_stalls(s, out);
    if (s->icrc[WF_ICRC_BAD])
        fprintf(out, "           %" PRIu64 " packets with a wrong ICRC\n", s->icrc[WF_ICRC_BAD]);
}

/* ---- conformance ---- */

static void print_rules(const struct wf_analyze *a, FILE *out)
{
    static const char *const words[] = {"kept", "BROKEN", "can't tell", ""};
    struct wf_an_rule rules[WF_AN_RULES];
    const char *head = "rules";

    wf_an_rules(a, rules);
    for (int i = 0; i < WF_AN_RULES; i++) {
        if (rules[i].verdict == WF_AN_NOT_SEEN)
            continue;
        fprintf(out, "%-10s %s (%s) %s: %s\n", head, rules[i].name, rules[i].clause,
                words[rules[i].verdict], rules[i].text);
        head = "";
    }
}

/* ---- findings ---- */

static void print_ref(const struct wf_an_report *r, const char *what, struct wf_an_ref ref,
                      FILE *out)
{
    if (!ref.number)
        return;
    fprintf(out, "%s frame %" PRIu64, what, (uint64_t)ref.number);
    if (r->in->n_files > 1)
        fprintf(out, " of %s", r->in->files[ref.file].path);
    fputc(';', out);
}

static const char *headline(const struct wf_an_finding *f)
{
    static const char *const names[WF_AN_WHATS] = {[WF_AN_RNR] = "receiver not ready",
                                                   [WF_AN_LATE] = "overtaken",
                                                   [WF_AN_COPY] = "twice",
                                                   [WF_AN_REFUSED] = "refused",
                                                   [WF_AN_CHANGED] = "payload changed",
                                                   [WF_AN_JUMP] = "numbers jump, can't tell why",
                                                   [WF_AN_STALL] = "stall",
                                                   [WF_AN_BREACH] = "breach"};

    if (f->verdict == WF_AN_NO_LOSS || f->what == WF_AN_JUMP)
        return names[f->what] ? names[f->what] : wf_an_what_names[f->what];
    return wf_an_verdict_texts[f->verdict];
}

static void print_where(const struct wf_an_report *r, const struct wf_an_finding *f, FILE *out)
{
    if (f->where == WF_AN_BETWEEN || f->hop[0])
        fprintf(out, " (%s%s)", f->where == WF_AN_BETWEEN ? "between " : "", f->hop);
    else if (f->where)
        fprintf(out, " (%s %s)", wf_an_where_names[f->where], r->a->points[f->point].name);
}

static void print_finding(const struct wf_an_report *r, const struct wf_an_finding *f, size_t n,
                          FILE *out)
{
    const struct wf_an_stream *s = wf_an_stream_of_finding(r->a, f);
    char text[160], t[32], filter[128];

    fprintf(out, "%3zu. %s", n, headline(f));
    print_where(r, f, out);
    fprintf(out, ": %sPSN %u", f->response ? "response " : "", f->psn);
    if (f->packets > 1)
        fprintf(out, " to %u (%u packets)", wf_an_psn(f->psn + f->packets - 1), f->packets);
    if (!f->exact && f->what == WF_AN_LOSS)
        fprintf(out, " or shortly before");
    fprintf(out, ", %s, at %s\n",
            s ? wf_an_stream_text(s, text, sizeof(text)) : "a stream that gave way",
            span(f->t_ps - r->a->first_t_ps, t, sizeof(t)));
    fprintf(out, "    ");
    print_ref(r, " seen by", f->refs[0], out);
    print_ref(r,
              f->what == WF_AN_COPY                ? " and by"
              : f->what == WF_AN_LATE && !f->cause ? " passed by"
              : f->what == WF_AN_LOSS && !f->cause ? " told by"
                                                   : " NAK in",
              f->refs[1], out);
    print_ref(r, " sent again in", f->refs[2], out);
    if (f->recovery_ps >= 0)
        fprintf(out, " %s later;", span(f->recovery_ps, t, sizeof(t)));
    if (f->resent)
        fprintf(out, " %u packets again;", f->resent);
    if (f->cause)
        fprintf(out, " by %s;", wf_an_cause_names[f->cause]);
    if (f->note[0])
        fprintf(out, " %s", f->note);
    fputc('\n', out);
    for (int i = 0; i < WF_AN_REFS; i++)
        if (wf_an_file_of(f, i) >= 0)
            fprintf(out, "     %s%s%s\n", wf_an_filter(f, f->refs[i].file, filter, sizeof(filter)),
                    r->in->n_files > 1 ? "  in " : "",
                    r->in->n_files > 1 ? r->in->files[f->refs[i].file].path : "");
}

static void print_findings(const struct wf_an_report *r, FILE *out)
{
    const struct wf_an_findings *l = &r->a->findings;
    size_t shown = 0;

    if (!l->n)
        return;
    fprintf(out, "findings   %zu, with the frames that show each\n", l->n + (size_t)l->left_out);
    for (int v = 0; v < WF_AN_VERDICTS; v++)
        for (size_t i = 0; i < l->n; i++) {
            if (l->items[i].verdict != v)
                continue;
            if (r->findings_max && shown == r->findings_max) {
                fprintf(out, "           ... and %zu more (--all, or --json)\n",
                        l->n + (size_t)l->left_out - shown);
                return;
            }
            print_finding(r, &l->items[i], ++shown, out);
        }
}

void wf_an_report_text(const struct wf_an_report *r, FILE *out)
{
    const struct wf_an_stream **rows;
    struct wf_an_sum s;
    size_t n;

    wf_an_sum(r, &s);
    print_verdict(&s, out);
    print_capture(r, &s, out);
    rows = wf_an_rows(r->a, &n);
    for (size_t i = 0; i < n; i++) {
        if (r->rows_max && i == r->rows_max) {
            fprintf(out, "           ... and %zu more (--all, or --json)\n", n - i);
            break;
        }
        print_row(r->a, rows[i], out);
    }
    free(rows);
    print_rules(r->a, out);
    print_findings(r, out);
}
