/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a run as JSON (schema weft.run/1) and as JUnit XML. Integers from 2^53 on are
 * strings, since many readers of JSON have doubles only. Keys are only ever added.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cap/json.h"
#include "host/host.h"
#include "scen/discovery.h"
#include "scen/manifest.h"
#include "scen/report.h"
#include "scen/slowdown.h"

/* Counters that are not zero; all of them when `all`. */
static json_t *counters(const struct wf_ctr_table *table, const uint64_t *values, bool all)
{
    json_t *j = json_object();

    for (size_t i = 0; i < table->n; i++)
        if (table->rows[i].name && (all || values[i]))
            json_object_set_new(j, table->rows[i].name, wf_json_u64(values[i]));
    return j;
}

static json_t *named(const struct wf_ctr_walk *o, bool all)
{
    json_t *j = counters(o->table, o->values, all);
    char name[WF_CTR_NAME_MAX];

    json_object_set_new(j, "name", json_string(wf_ctr_name(o, name)));
    return j;
}

/* Whether any of its counters is not zero. */
static bool moved(const struct wf_ctr_walk *o)
{
    for (size_t i = 0; i < o->table->n; i++)
        if (o->table->rows[i].name && o->values[i])
            return true;
    return false;
}

/* All holders of one table of which anything is not zero, or all. */
static json_t *holders(const struct wf_report *r, const struct wf_ctr_table *table, bool all)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(table));
    json_t *list = json_array();

    while (wf_ctr_next(&w))
        if (all || moved(&w))
            json_array_append_new(list, named(&w, all));
    return list;
}

static json_t *flow_list(const struct wf_report *r)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(&wf_ctrs_flow));
    json_t *list = json_array();

    while (wf_ctr_next(&w)) {
        json_t *j = named(&w, true);

        if (w.unjudged)
            json_object_set_new(j, "judged", json_false());
        json_array_append_new(list, j);
    }
    return list;
}

/* Ports on which anything moved; with what is to be known of one to read its counters. */
static json_t *port_list(const struct wf_report *r)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(&wf_ctrs_port));
    json_t *list = json_array();

    while (wf_ctr_next(&w)) {
        const struct wf_port *p;
        json_t *j;

        if (!moved(&w))
            continue;
        p = wf_fabric_port(r->f, w.holder);
        j = named(&w, false);
        json_object_set_new(j, "kind", json_string(p->node->ops->kind));
        json_object_set_new(j, "up", json_boolean(p->up));
        json_object_set_new(j, "rate_bps", wf_json_u64(p->link->cfg.rate_bps));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *drops(const struct wf_report *r)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(r->f, wf_ctr_table_bit(&wf_ctrs_drop));
    json_t *list = json_array();

    while (wf_ctr_next(&w))
        for (size_t c = 1; c < WF_DROP_COUNT; c++)
            if (w.values[c])
                json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "port", w.holder, "reason",
                                                      wf_reason_name((enum wf_reason)c), "frames",
                                                      wf_json_u64(w.values[c])));
    return list;
}

static json_t *expectations(const struct wf_expects *x)
{
    json_t *list = json_array();

    for (size_t i = 0; i < x->n; i++) {
        const struct wf_expect *e = &x->items[i];
        json_t *j = json_pack("{s:s, s:s, s:i, s:s}", "text", e->text, "file", e->file, "line",
                              e->line, "verdict", wf_verdict_name(e->verdict));

        if (e->sampled)
            json_object_set_new(j, "sample_ps", wf_json_u64(x->interval_ps));
        if (e->verdict == WF_VERDICT_FAIL) {
            json_object_set_new(j, "expected", json_string(e->expected ? e->expected : ""));
            json_object_set_new(j, "found", json_string(e->found ? e->found : ""));
            json_object_set_new(j, "place", json_string(e->place ? e->place : ""));
            json_object_set_new(j, "first_ps", wf_json_u64(e->first_ps));
        }
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *manifest(const struct wf_report *r)
{
    char digest[32];
    const struct wf_manifest m = {r->scen, r->command,
                                  wf_digest_text(&r->digest, digest, sizeof(digest)), r->seed};

    return wf_manifest_json(&m);
}

static json_t *names(const char *const *files)
{
    json_t *list = json_array();

    for (size_t i = 0; files && files[i]; i++)
        json_array_append_new(list, json_string(files[i]));
    return list;
}

static json_t *lateness(const struct wf_report *r)
{
    return json_pack("{s:o, s:o, s:o, s:b}", "p99_ps", wf_json_u64(r->lateness_p99_ps), "max_ps",
                     wf_json_u64(wf_fabric_clock(r->f)->late_max_ps), "bound_ps",
                     wf_json_u64(r->scen->desc.lateness_bound_ps), "reliable", (int)r->reliable);
}

static const char *verdict(const struct wf_report *r)
{
    return r->broken                  ? "broken"
           : wf_report_failed(r)      ? "failed"
           : r->end == WF_RUN_STOPPED ? "stopped"
                                      : "passed";
}

json_t *wf_report_json(struct wf_report *r)
{
    static const char *const ends[] = {"done", "stopped", "time_limit"};
    json_t *j = json_object();
    char text[32];

    json_object_set_new(j, "schema", json_string("weft.run/1"));
    json_object_set_new(j, "name", json_string(r->scen->opts.name));
    json_object_set_new(j, "seed", wf_json_u64(r->seed));
    json_object_set_new(j, "digest", json_string(wf_digest_text(&r->digest, text, sizeof(text))));
    json_object_set_new(j, "verdict", json_string(verdict(r)));
    json_object_set_new(j, "end", json_string(ends[r->end]));
    json_object_set_new(j, "live", json_boolean(r->live));
    json_object_set_new(j, "time_ps", wf_json_u64(wf_fabric_now_ps(r->f)));
    json_object_set_new(j, "last_event_ps", wf_json_u64(wf_fabric_last_event_ps(r->f)));
    json_object_set_new(j, "fabric", counters(&wf_ctrs_fabric, r->f->ctr, true));
    json_object_set_new(j, "hosts", holders(r, &wf_ctrs_edge, true));
    json_object_set_new(j, "flows", flow_list(r));
    json_object_set_new(j, "controls", wf_report_controls_json(r));
    json_object_set_new(j, "nics", wf_report_nics_json(r));
    json_object_set_new(j, "slowdowns", wf_slow_json(r->scen, r->f));
    json_object_set_new(j, "ports", port_list(r));
    json_object_set_new(j, "priorities", holders(r, &wf_ctrs_prio, false));
    json_object_set_new(j, "queues", holders(r, &wf_ctrs_queue, false));
    json_object_set_new(j, "priority_groups", holders(r, &wf_ctrs_pg, false));
    json_object_set_new(j, "egress_queues", holders(r, &wf_ctrs_egress, false));
    json_object_set_new(j, "pools", holders(r, &wf_ctrs_pool, false));
    json_object_set_new(j, "pfc_watchdogs", holders(r, &wf_ctrs_pfcwd, false));
    json_object_set_new(j, "endpoints", holders(r, &wf_ctrs_endpoint, true));
    json_object_set_new(j, "drops", drops(r));
    json_object_set_new(j, "faults", wf_report_faults_json(r));
    json_object_set_new(j, "headroom_missing", wf_report_headroom_json(r));
    json_object_set_new(j, "pauses", wf_report_pauses_json(r));
    json_object_set_new(j, "deadlocks", wf_report_deadlocks_json(r));
    if (r->f->lldp.n) {
        json_object_set_new(j, "lldp", wf_discovery_lldp(r->f, NULL));
        json_object_set_new(j, "dcbx", wf_discovery_dcbx(r->f, NULL));
    }
    json_object_set_new(j, "expectations", expectations(&r->scen->expects));
    json_object_set_new(j, "lateness", lateness(r));
    json_object_set_new(j, "captures", names(r->files));
    json_object_set_new(j, "capture_lost_packets", wf_json_u64(r->capture_lost));
    json_object_set_new(j, "traces", names(r->traces));
    json_object_set_new(j, "trace_lost_rows", wf_json_u64(r->trace_lost));
    if (r->why)
        json_object_set_new(j, "why", json_string(r->why));
    json_object_set_new(j, "manifest", manifest(r));
    if (r->broken)
        json_object_set_new(j, "invariant", json_string(r->broken_err.msg));
    return j;
}

json_t *wf_report_runs_json(const struct wf_report_runs *r, json_t *runs)
{
    const char *verdict = r->broken                  ? "broken"
                          : wf_report_runs_failed(r) ? "failed"
                          : r->stopped               ? "stopped"
                                                     : "passed";

    const struct wf_manifest m = {r->scen, r->command, NULL, r->first_seed};

    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "schema", "weft.runs/1", "name",
                     r->scen->opts.name, "first_seed", wf_json_u64(r->first_seed), "verdict",
                     verdict, "expectations", expectations(&r->scen->expects), "runs", runs,
                     "manifest", wf_manifest_json(&m));
}

static void xml(const char *s, FILE *out)
{
    for (; s && *s; s++) {
        switch (*s) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc((unsigned char)*s < 0x20 ? ' ' : *s, out);
        }
    }
}

static void junit_case(const char *suite, const char *name, const char *failure, bool skipped,
                       FILE *out)
{
    fputs("  <testcase classname=\"", out);
    xml(suite, out);
    fputs("\" name=\"", out);
    xml(name, out);
    fputs("\">", out);
    if (failure) {
        fputs("<failure message=\"", out);
        xml(failure, out);
        fputs("\"/>", out);
    } else if (skipped) {
        fputs("<skipped/>", out);
    }
    fputs("</testcase>\n", out);
}

static void junit_properties(const struct wf_manifest *m, FILE *out)
{
    json_t *j = wf_manifest_json(m), *v;
    const char *key;
    char text[24];

    fputs("  <properties>\n", out);
    json_object_foreach (j, key, v) {
        if (json_is_null(v))
            continue;
        snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        fprintf(out, "    <property name=\"%s\" value=\"", key);
        xml(json_is_string(v) ? json_string_value(v) : text, out);
        fputs("\"/>\n", out);
    }
    fputs("  </properties>\n", out);
    json_decref(j);
}

/* `run`: what is wrong with the run itself, NULL when nothing is. */
static void junit(const struct wf_manifest *m, const char *run, FILE *out)
{
    const struct wf_scenario *s = m->scen;
    const struct wf_expects *x = &s->expects;
    const char *suite = s->opts.name;
    char text[1024];

    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"", out);
    xml(suite, out);
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", x->n + 1,
            wf_expects_count(x, WF_VERDICT_FAIL) + (run != NULL),
            wf_expects_count(x, WF_VERDICT_SKIPPED));
    junit_properties(m, out);
    junit_case(suite, "the run itself", run, false, out);
    for (size_t i = 0; i < x->n; i++) {
        const struct wf_expect *e = &x->items[i];
        bool failed = e->verdict == WF_VERDICT_FAIL;

        junit_case(suite, e->text, failed ? wf_expect_failure(e, text, sizeof(text)) : NULL,
                   e->verdict == WF_VERDICT_SKIPPED, out);
    }
    fputs("</testsuite>\n", out);
}

void wf_report_junit(const struct wf_report *r, FILE *out)
{
    char digest[32];
    const struct wf_manifest m = {r->scen, r->command,
                                  wf_digest_text(&r->digest, digest, sizeof(digest)), r->seed};

    junit(&m,
          r->broken                     ? r->broken_err.msg
          : r->lossless_drops           ? "frames of lossless priorities were lost"
          : r->end == WF_RUN_TIME_LIMIT ? "not done by its time_limit"
          : r->deadlocked               ? "queues stand in a circle for ever"
          : r->idle_faults              ? "an injected fault never hit a frame"
          : r->unconnected              ? "a flow got no connection"
                                        : NULL,
          out);
}

void wf_report_runs_junit(const struct wf_report_runs *r, FILE *out)
{
    const struct wf_manifest m = {r->scen, r->command, NULL, r->first_seed};

    junit(&m,
          r->broken   ? "an invariant of weft does not hold"
          : r->failed ? "runs failed, and not for an expectation"
                      : NULL,
          out);
}
