/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verdict of a run, and its summary for people.
 */
#include "scen/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/hints.h"
#include "host/host.h"
#include "scen/discovery.h"
#include "scen/slowdown.h"

enum { FLOW_ROWS = 24, PORT_ROWS = 40, DROP_ROWS = 24 };

/* Failed before the first message was posted: only who asked for a connection can be so. */
static void count_unconnected(struct wf_report *r)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(&wf_ctrs_flow));

    r->unconnected = 0;
    while (!r->scen->expects.failures_judged && wf_ctr_next(&w))
        if (w.values[WF_FLOW_MSGS_FAILED] && !w.values[WF_FLOW_MSGS_POSTED] && !r->unconnected++)
            r->unconnected_flow = wf_arena_printf(&r->arena, "%s", w.holder);
}

void wf_report_end(struct wf_report *r)
{
    struct wf_fabric *f = r->f;

    wf_pause_tree(f, &r->arena, &r->pauses);
    wf_storm_sources(f, &r->arena, &r->storms);
    r->deadlocked = r->deadlocks && r->deadlocks->n && !r->scen->expects.deadlocks_judged;
    r->lateness_p99_ps = wf_clock_lateness(wf_fabric_clock(f), 0.99);
    r->reliable = !r->live || r->lateness_p99_ps <= r->scen->desc.lateness_bound_ps;
    r->broken = wf_fabric_check(f, &r->broken_err) != 0;
    count_unconnected(r);
    r->digest = wf_fabric_digest(f);
    wf_report_faults(r);
    if (r->interrupted)
        wf_expects_interrupt(&r->scen->expects);
    if (!r->scen->expects.lossless_drops_expected)
        r->lossless_drops = wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS);
    wf_expects_end(&r->scen->expects, wf_fabric_now_ps(f), r->reliable);
}

/* A deadlock that is expected keeps a run from ever being done. */
static bool too_late(const struct wf_report *r)
{
    return r->end == WF_RUN_TIME_LIMIT && !(r->scen->expects.deadlocks_judged && r->deadlocks &&
                                            wf_deadlocks_standing(r->deadlocks));
}

bool wf_report_failed(const struct wf_report *r)
{
    bool expects = !r->one_of_several && wf_expects_count(&r->scen->expects, WF_VERDICT_FAIL) > 0;

    return expects || r->lossless_drops || r->deadlocked || too_late(r) || r->idle_faults ||
           r->unconnected;
}

void wf_report_free(struct wf_report *r)
{
    wf_arena_free(&r->arena);
}

static void head(const struct wf_report *r, FILE *out)
{
    static const char *const ends[] = {"done", "stopped", "NOT DONE by its time_limit"};
    const struct wf_scenario *s = r->scen;
    char t[32], d[32];

    fprintf(out, "%s: seed %" PRIu64 ", %s", s->opts.name, r->seed,
            r->live ? "live" : "virtual time");
    if (s->desc.time_scale > 1)
        fprintf(out, ", time_scale %u (the hosts' own timers don't scale)", s->desc.time_scale);
    if (s->n_profiles)
        fputs(", ", out);
    wf_scenario_profiles(s, out);
    fprintf(out, "\n%s at %s of fabric time, %.3f s of wall time, digest %s\n", ends[r->end],
            wf_time_short(wf_fabric_now_ps(r->f), t, sizeof(t)), (double)r->wall_ns / 1e9,
            wf_digest_text(&r->digest, d, sizeof(d)));
    wf_scen_cc_text(s, out);
    if (r->live)
        fprintf(out, "events were late by less than %s in 99 of 100%s\n",
                wf_time_short(r->lateness_p99_ps, t, sizeof(t)),
                r->reliable ? ""
                            : ": timing: unreliable, expectations about time count as skipped");
}

static uint64_t goodput_bps(const uint64_t *v)
{
    return v[WF_FLOW_COMPLETION_PS] ? (uint64_t)((unsigned __int128)v[WF_FLOW_BYTES] * 8 *
                                                 WF_PS_PER_S / v[WF_FLOW_COMPLETION_PS])
                                    : 0;
}

static void flow_row(const struct wf_ctr_walk *o, FILE *out)
{
    const uint64_t *v = o->values;
    char b[32], t[32], g[32];

    fprintf(out,
            "  %-24s %10s %12s %12s %8" PRIu64 " %6" PRIu64 " %8" PRIu64 " %6" PRIu64 " %8" PRIu64
            "\n",
            o->holder, wf_bytes_short(v[WF_FLOW_BYTES], b, sizeof(b)),
            v[WF_FLOW_COMPLETION_PS] ? wf_time_short(v[WF_FLOW_COMPLETION_PS], t, sizeof(t))
            : v[WF_FLOW_MSGS_FAILED] ? "FAILED"
                                     : "not done",
            v[WF_FLOW_COMPLETION_PS] ? wf_rate_short(goodput_bps(v), g, sizeof(g)) : "-",
            v[WF_FLOW_RETX_PACKETS], v[WF_FLOW_NAK_RX], v[WF_FLOW_TIMEOUTS], v[WF_FLOW_CNP_RX],
            v[WF_FLOW_CE_RX]);
}

static void flows(const struct wf_report *r, FILE *out)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(&wf_ctrs_flow));
    uint32_t n = 0;

    while (wf_ctr_next(&w)) {
        if (!n++)
            fprintf(out, "\n  %-24s %10s %12s %12s %8s %6s %8s %6s %8s\n", "flow", "delivered",
                    "completed in", "goodput", "resent", "NAKs", "timeouts", "CNPs", "with CE");
        if (n <= FLOW_ROWS)
            flow_row(&w, out);
    }
    if (n > FLOW_ROWS)
        fprintf(out, "  ... and %u more: --json has all\n", n - FLOW_ROWS);
}

/* A row is worth showing when something other than plain forwarding happened, or of a host's port
 * when anything did. */
static bool prio_row_wanted(const struct wf_report *r, const struct wf_port *p, unsigned prio,
                            bool plain)
{
    const uint64_t *v = p->prio_ctr[prio];
    bool special =
        v[WF_PRIO_XOFF_TX] || v[WF_PRIO_XOFF_RX] || p->q[prio].ctr[WF_QUEUE_MARKED_FRAMES];

    return special || (plain && (v[WF_PRIO_RX_BYTES] || v[WF_PRIO_TX_BYTES]));
}

static void prio_row(const struct wf_port *p, unsigned prio, FILE *out)
{
    const uint64_t *v = p->prio_ctr[prio], *q = p->q[prio].ctr;
    char rx[32], tx[32], max[32], t[32];

    fprintf(out,
            "  %-12s %4u %9s %9s %9s %6" PRIu64 " %5" PRIu64 " %5" PRIu64 " %5" PRIu64 " %5" PRIu64
            " %5" PRIu64 " %5" PRIu64 " %9s\n",
            p->name, prio, wf_bytes_short(v[WF_PRIO_RX_BYTES], rx, sizeof(rx)),
            wf_bytes_short(v[WF_PRIO_TX_BYTES], tx, sizeof(tx)),
            wf_bytes_short(q[WF_QUEUE_MAX_BYTES], max, sizeof(max)), q[WF_QUEUE_MARKED_FRAMES],
            v[WF_PRIO_XOFF_TX], v[WF_PRIO_REFRESH_TX], v[WF_PRIO_XON_TX], v[WF_PRIO_XOFF_RX],
            v[WF_PRIO_REFRESH_RX], v[WF_PRIO_XON_RX],
            wf_time_short(v[WF_PRIO_PAUSED_PS], t, sizeof(t)));
}

static uint32_t count_rows(const struct wf_report *r, bool plain)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->f->n_nodes; i++)
        for (uint16_t p = 0; p < r->f->nodes[i]->n_ports; p++)
            for (unsigned prio = 0; prio < WF_PRIOS; prio++)
                n += prio_row_wanted(r, &r->f->nodes[i]->ports[p], prio, plain);
    return n;
}

static void ports(const struct wf_report *r, FILE *out)
{
    bool plain = count_rows(r, true) <= PORT_ROWS;
    uint32_t rows = count_rows(r, plain), n = 0;

    if (!rows)
        return;
    fprintf(out,
            "\n  %-12s %4s %9s %9s %9s %6s   PFC sent          PFC received      %9s\n"
            "  %-12s %4s %9s %9s %9s %6s %5s %5s %5s %5s %5s %5s %9s\n",
            "", "", "", "", "queue", "", "", "port", "prio", "received", "sent", "max", "marked",
            "XOFF", "again", "XON", "XOFF", "again", "XON", "paused");
    for (uint32_t i = 0; i < r->f->n_nodes; i++)
        for (uint16_t p = 0; p < r->f->nodes[i]->n_ports; p++)
            for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
                const struct wf_port *port = &r->f->nodes[i]->ports[p];

                if (prio_row_wanted(r, port, prio, plain) && n++ < PORT_ROWS)
                    prio_row(port, prio, out);
            }
    if (rows > PORT_ROWS)
        fprintf(out, "  ... and %u more: --json has all\n", rows - PORT_ROWS);
}

static void drops(const struct wf_report *r, FILE *out)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(&wf_ctrs_drop));
    uint32_t n = 0;

    while (wf_ctr_next(&w)) {
        for (size_t c = 1; c < WF_DROP_COUNT; c++) {
            if (!w.values[c])
                continue;
            if (!n++)
                fprintf(out, "\n  drops\n");
            if (n <= DROP_ROWS)
                fprintf(out, "  %-12s %-20s %8" PRIu64 " frames: %s\n", w.holder,
                        wf_reason_name((enum wf_reason)c), w.values[c],
                        wf_reason_meaning((enum wf_reason)c));
        }
    }
    if (n > DROP_ROWS)
        fprintf(out, "  ... and %u more: --json has all\n", n - DROP_ROWS);
    if (!n)
        fprintf(out, "\n  nothing was dropped\n");
}

static void edges(const struct wf_report *r, FILE *out)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(&wf_ctrs_edge));
    uint32_t n = 0;

    while (wf_ctr_next(&w)) {
        const uint64_t *v = w.values;
        char t[32];

        if (!n++)
            fprintf(out, "\n  %-10s %9s %9s %11s %9s %11s %9s %6s %12s\n", "real host", "sent",
                    "received", "ICRC right", "wrong", "right >", "with CE", "NAKs", "held back");
        fprintf(out,
                "  %-10s %9" PRIu64 " %9" PRIu64 " %11" PRIu64 " %9" PRIu64 " %11" PRIu64
                " %9" PRIu64 " %6" PRIu64 " %12s\n",
                w.holder, v[WF_EDGE_IN_FRAMES], v[WF_EDGE_OUT_FRAMES], v[WF_EDGE_ICRC_OK],
                v[WF_EDGE_ICRC_BAD] + v[WF_EDGE_OUT_ICRC_BAD], v[WF_EDGE_OUT_ICRC_OK],
                v[WF_EDGE_OUT_CE_FRAMES], v[WF_EDGE_NAK_FRAMES],
                wf_time_short(v[WF_EDGE_BACKPRESSURE_PS], t, sizeof(t)));
    }
}

static void expectations(const struct wf_report *r, FILE *out)
{
    const struct wf_expects *x = &r->scen->expects;
    const char *word = r->one_of_several ? "not in this run" : "FAILED";
    bool sampled = false;
    char text[1024];

    for (size_t i = 0; i < x->n; i++)
        sampled = sampled || x->items[i].sampled;
    if (x->n)
        fprintf(out, "\n  expectations: %zu passed, %zu failed, %zu skipped\n",
                wf_expects_count(x, WF_VERDICT_PASS), wf_expects_count(x, WF_VERDICT_FAIL),
                wf_expects_count(x, WF_VERDICT_SKIPPED));
    if (sampled)
        fprintf(out, "  always and never about levels: looked at every %s\n",
                wf_time_text(x->interval_ps, text, sizeof(text)));
    for (size_t i = 0; i < x->n; i++) {
        const struct wf_expect *e = &x->items[i];

        if (e->verdict == WF_VERDICT_SKIPPED)
            fprintf(out, "  %s: %s\n", r->interrupted ? "not judged" : "skipped", e->text);
        if (e->verdict == WF_VERDICT_FAIL)
            fprintf(out, "  %s: %s:%d:%d: %s\n", word, e->file, e->line, e->col,
                    wf_expect_failure(e, text, sizeof(text)));
    }
}

static void tail(const struct wf_report *r, FILE *out)
{
    for (size_t i = 0; r->files && r->files[i]; i++)
        fprintf(out, "  capture: %s\n", r->files[i]);
    for (size_t i = 0; r->traces && r->traces[i]; i++)
        fprintf(out, "  trace: %s\n", r->traces[i]);
    if (r->why)
        fprintf(out, "  why: %s\n", r->why);
    if (r->why_lost)
        fprintf(out, "  %" PRIu64 " decisions are missing from it\n", r->why_lost);
    if (r->trace_lost)
        fprintf(out, "  %" PRIu64 " rows are missing from the traces\n", r->trace_lost);
    if (r->capture_lost)
        fprintf(out, "  %" PRIu64 " packets are missing from the captures\n", r->capture_lost);
    if (r->lossless_drops)
        fprintf(out, "  FAILED: %" PRIu64 " frames of lossless priorities were lost\n",
                r->lossless_drops);
    if (r->deadlocked)
        fprintf(out,
                "  FAILED: %u deadlocks; an expectation about fabric.deadlock_events decides\n"
                "  otherwise\n",
                r->deadlocks->n);
    if (r->unconnected)
        fprintf(out,
                "  FAILED: %u flows got no connection, such as %s; an expectation about\n"
                "  failed_messages decides otherwise\n",
                r->unconnected, r->unconnected_flow);
    wf_report_faults_text(r, out);
    if (r->broken)
        fprintf(out, "  BUG: an invariant of weft does not hold: %s\n", r->broken_err.msg);
    fprintf(out, "\n%s\n",
            r->broken                  ? "BROKEN"
            : wf_report_failed(r)      ? "FAILED"
            : r->end == WF_RUN_STOPPED ? "stopped before its end"
                                       : "passed");
}

/* One of several runs is told of in short. */
void wf_report_text(struct wf_report *r, FILE *out)
{
    head(r, out);
    if (!r->one_of_several) {
        flows(r, out);
        wf_slow_text(r->scen, r->f, out);
        edges(r, out);
        ports(r, out);
        drops(r, out);
        wf_report_headroom_text(r, out);
        wf_fabric_hints(r->f, out);
        wf_report_pauses_text(r, out);
        wf_report_storms(r->f, out);
        wf_discovery_text(r->f, out);
    }
    expectations(r, out);
    tail(r, out);
}
