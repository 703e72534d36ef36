/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft run BUNDLE, see cmd_record.h: the recorded scenario in virtual time, with the recorded
 * stimuli at their instants, and its result held against the recorded one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attach/ingress.h"
#include "base/units.h"
#include "base/version.h"
#include "cmd_record.h"
#include "scen/diff.h"

enum { TEXT_ROWS = 20 };

/* --- the bundle ------------------------------------------------------------------------------- */

static json_t *parse(const struct wf_repeat *p, const char *name, const char *path,
                     struct wf_err *err)
{
    json_error_t why;
    size_t len = 0;
    const char *text = wf_bundle_text(p->bundle, name, &len);
    json_t *j = text ? json_loadb(text, len, JSON_REJECT_DUPLICATES, &why) : NULL;

    if (text && !json_is_object(j)) {
        wf_err_at(err, EINVAL, path, 0, 0, "%s in the bundle is broken: line %d: %s", name,
                  j ? 1 : why.line, j ? "it is no object" : why.text);
        json_decref(j);
        return NULL;
    }
    return j;
}

static bool get_u64(const json_t *v, uint64_t *out)
{
    if (json_is_string(v))
        return !wf_parse_uint(json_string_value(v), out, NULL);
    *out = (uint64_t)json_integer_value(v);
    return json_is_integer(v) && json_integer_value(v) >= 0;
}

static void why_not(struct wf_repeat *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void why_not(struct wf_repeat *p, const char *fmt, ...)
{
    va_list ap;

    if (p->why[0])
        return; /* the first reason is the one that counts */
    va_start(ap, fmt);
    vsnprintf(p->why, sizeof(p->why), fmt, ap);
    va_end(ap);
    p->complete = false;
}

static int take_head(struct wf_repeat *p, const char *path, struct wf_err *err)
{
    const char *schema = json_string_value(json_object_get(p->head, "schema"));
    const char *state = json_string_value(json_object_get(p->head, "state"));
    const json_t *sets = json_object_get(p->head, "set"), *v;
    size_t i;

    if (!schema || strcmp(schema, WF_BUNDLE_SCHEMA))
        return wf_err_at(err, EINVAL, path, 0, 0,
                         "the bundle says that it is '%.40s', this weft reads %s",
                         schema ? schema : "", WF_BUNDLE_SCHEMA);
    if (!get_u64(json_object_get(p->head, "seed"), &p->seed))
        return wf_err_at(err, EINVAL, path, 0, 0, "the bundle does not say the run's seed");
    json_array_foreach (sets, i, v)
        if (!json_is_string(v) || wf_cmd_set_add(&p->sets, json_string_value(v), err))
            return wf_err_at(err, EINVAL, path, 0, 0, "the bundle's list of --set is broken");
    p->live = json_is_true(json_object_get(p->head, "live"));
    p->endless = json_is_true(json_object_get(p->head, "endless"));
    p->complete = true;
    p->killed = !state || !strcmp(state, "running");
    if (p->killed)
        why_not(p, "the recorded run was killed before its end");
    else if (strcmp(state, "complete"))
        why_not(
            p, "%.200s",
            json_string_length(json_array_get(json_object_get(p->head, "incomplete_because"), 0))
                ? json_string_value(
                      json_array_get(json_object_get(p->head, "incomplete_because"), 0))
                : "its state is not 'complete'");
    return 0;
}

static int load_scenario(struct wf_repeat *p, const char *path, struct wf_scenario *scen,
                         struct wf_err *err)
{
    struct wf_scen_text texts[WF_BUNDLE_TEXTS_MAX + 1] = {{.name = WF_BUNDLE_SCEN}};
    size_t n = 1;

    texts[0].text = wf_bundle_text(p->bundle, WF_BUNDLE_SCEN, &texts[0].len);
    if (!texts[0].text)
        return wf_err_at(err, EINVAL, path, 0, 0, "there is no %s in the bundle", WF_BUNDLE_SCEN);
    while ((texts[n].text =
                wf_bundle_text_below(p->bundle, "profiles/", n - 1, &texts[n].name, &texts[n].len)))
        n++;
    if (wf_scenario_load_texts(scen, texts, n, p->sets.items, p->sets.n))
        return wf_err_at(err, EINVAL, path, 0, 0, "the bundle's scenario is refused");
    if (scen->opts.repeat.seeds > 1)
        return wf_err_at(err, EINVAL, path, 0, 0, "the bundle's scenario asks for several seeds");
    if (p->endless)
        scen->desc.duration_ps = WF_KEY_AUTO;
    return 0;
}

int wf_repeat_open(struct wf_repeat *p, const char *path, struct wf_scenario *scen,
                   struct wf_err *err)
{
    FILE *log;
    int rc;

    memset(p, 0, sizeof(*p));
    p->stops = (struct wf_stops){.at_ps = WF_TIME_NEVER, .kind = WF_STOPS_INPUT};
    rc = wf_bundle_open(&p->bundle, path, err);
    if (rc)
        return rc;
    err->msg[0] = '\0';
    p->head = parse(p, WF_BUNDLE_HEAD, path, err);
    p->summary = err->msg[0] ? NULL : parse(p, WF_BUNDLE_SUMMARY, path, err);
    if (!p->head || err->msg[0])
        return -EINVAL;
    rc = take_head(p, path, err);
    if (!rc)
        rc = load_scenario(p, path, scen, err);
    if (rc)
        return rc;
    log = wf_bundle_log(p->bundle, err);
    return log ? wf_ingress_open_stream(&p->log, log, WF_BUNDLE_LOG, err) : -EINVAL;
}

void wf_repeat_close(struct wf_repeat *p)
{
    wf_ingress_close(p->log);
    wf_bundle_close(p->bundle);
    json_decref(p->head);
    json_decref(p->summary);
    json_decref(p->differences);
}

/* --- the run ---------------------------------------------------------------------------------- */

/* The log has no more, or no more that makes sense. */
static void end_of_log(struct wf_repeat *p)
{
    struct wf_ingress_tail t = wf_ingress_tail(p->log);
    bool known = p->run->stop_at_ps != WF_TIME_NEVER;

    p->at_end = true;
    p->stops.at_ps = WF_TIME_NEVER;
    if (p->rc || !t.ended)
        why_not(p, "the ingress log has no end");
    else if (t.lost)
        why_not(p, "%" PRIu64 " stimuli are missing in the ingress log", t.lost);
    if (!p->rc && known && p->run->stop_at_ps > wf_fabric_now_ps(p->es->f))
        p->stops.at_ps = p->run->stop_at_ps; /* time goes on to there, if nothing else does */
    if (p->rc || (!t.ended && !known))
        p->run->stop_asked = true;
}

static bool read_next(struct wf_repeat *p)
{
    int rc = wf_ingress_next(p->log, &p->next, &p->err);

    if (rc < 0 && !p->killed) { /* a killed run may leave half a block */
        wf_bundle_broken(p->bundle, &p->err);
        p->rc = rc;
    }
    if (rc != 1)
        end_of_log(p);
    return rc == 1;
}

/* Let the stimulus act that has been read. */
static bool apply(struct wf_repeat *p)
{
    struct wf_err err;

    if (!wf_ingress_repeat(p->es, &p->next, &err)) {
        p->done++;
        return true;
    }
    p->rc = wf_err_at(&p->err, EINVAL, WF_BUNDLE_LOG, 0, 0,
                      "stimulus %" PRIu64 ", at %" PRIu64 " ps: %s", p->done + 1, p->next.t_ps,
                      err.msg);
    end_of_log(p);
    return false;
}

static void act(struct wf_stops *s, struct wf_fabric *f)
{
    struct wf_repeat *p = (struct wf_repeat *)s;
    uint64_t now = s->at_ps;

    if (p->at_end) {
        s->at_ps = WF_TIME_NEVER;
        return;
    }
    while (p->next.t_ps == now)
        if (!apply(p) || !read_next(p))
            return;
    s->at_ps = p->next.t_ps;
}

static int check_edges(const struct wf_repeat *p, struct wf_err *err)
{
    const struct wf_ingress_head *h = wf_ingress_head(p->log);

    if (h->n_edges != p->es->n)
        return wf_err_set(err, EINVAL,
                          "the bundle's log is of %u attached hosts, its scenario has %u",
                          h->n_edges, p->es->n);
    for (uint32_t i = 0; i < h->n_edges; i++)
        if (strcmp(h->edges[i], p->es->edges[i]->node.name))
            return wf_err_set(err, EINVAL,
                              "attached host %u is '%.60s' in the bundle's log, '%s' in its "
                              "scenario",
                              i, h->edges[i], p->es->edges[i]->node.name);
    return 0;
}

int wf_repeat_start(struct wf_repeat *p, struct wf_edges *es, struct wf_fabric *f,
                    struct wf_run *run, struct wf_err *err)
{
    uint64_t end_ps;
    int rc;

    p->es = es;
    p->run = run;
    p->stops.act = act;
    rc = check_edges(p, err);
    if (rc)
        return rc;
    if (json_is_true(json_object_get(p->head, "stopped")) &&
        get_u64(json_object_get(p->head, "end_ps"), &end_ps) && end_ps <= WF_TIME_MAX)
        run->stop_at_ps = end_ps;
    while (read_next(p) && p->next.first)
        if (!apply(p))
            break;
    if (p->rc)
        *err = p->err;
    if (!p->at_end)
        p->stops.at_ps = p->next.t_ps;
    if (!p->rc)
        wf_run_add_stops(run, &p->stops);
    return p->rc;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* What the model knows of a run; not: lateness, expectations, what is of the machine. */
static json_t *model_values(const json_t *summary)
{
    static const char *const keys[] = {"digest", "time_ps",         "fabric", "hosts",
                                       "flows",  "ports",           "drops",  "priorities",
                                       "queues", "priority_groups", "pauses"};
    json_t *some = json_object(), *values;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        json_object_set(some, keys[i], json_object_get(summary, keys[i]));
    values = wf_diff_values(some);
    json_decref(some);
    return values;
}

void wf_repeat_compare(struct wf_repeat *p, const json_t *summary)
{
    json_t *recorded = model_values(p->summary), *repeated = model_values(summary);

    if (!p->at_end)
        why_not(p, "the run ended before the ingress log did");
    p->differences = p->summary ? wf_diff(recorded, repeated) : json_array();
    p->compared = json_object_size(repeated);
    json_decref(recorded);
    json_decref(repeated);
}

static size_t differing(const struct wf_repeat *p)
{
    return json_array_size(p->differences);
}

static const char *recorded_by(const struct wf_repeat *p)
{
    const char *v = json_string_value(json_object_get(p->head, "version"));

    return v ? v : "?";
}

static bool same_version(const struct wf_repeat *p)
{
    return !strcmp(recorded_by(p), wf_version());
}

enum wf_exit wf_repeat_exit(const struct wf_repeat *p)
{
    if (p->rc)
        return WF_EXIT_USAGE;
    if (p->complete && p->summary && !differing(p))
        return WF_EXIT_PASS;
    return p->complete && p->summary && same_version(p) ? WF_EXIT_INVARIANT : WF_EXIT_EXPECTATION;
}

static void print_value(const json_t *v, FILE *out)
{
    char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);

    fprintf(out, "%.200s", json_is_null(v) ? "nothing" : text ? text : "?");
    free(text);
}

static void print_differences(const struct wf_repeat *p, FILE *out)
{
    const json_t *d;
    size_t i;

    json_array_foreach (p->differences, i, d) {
        if (i == TEXT_ROWS)
            break;
        fprintf(out, "  differs: %s: recorded ", json_string_value(json_object_get(d, "what")));
        print_value(json_object_get(d, "a"), out);
        fputs(", repeated ", out);
        print_value(json_object_get(d, "b"), out);
        fputc('\n', out);
    }
    if (differing(p) > TEXT_ROWS)
        fprintf(out, "  ... and %zu more differ\n", differing(p) - TEXT_ROWS);
}

void wf_repeat_text(const struct wf_repeat *p, FILE *out)
{
    fprintf(out, "\nrecorded by weft %s, %s; %" PRIu64 " stimuli came from outside\n",
            recorded_by(p), p->live ? "live" : "in virtual time", p->done);
    if (!same_version(p))
        fprintf(out, "  this is weft %s: another version may give another result\n", wf_version());
    if (p->why[0])
        fprintf(out, "  INCOMPLETE: %s\n", p->why);
    if (p->rc)
        fprintf(out, "  BROKEN: %s\n", p->err.msg);
    print_differences(p, out);
    if (!p->summary)
        fprintf(out, "the recorded run left no result to compare with\n");
    else if (differing(p))
        fprintf(out, "NOT EQUAL: %zu of %zu values differ\n", differing(p), p->compared);
    else
        fprintf(out, "equal: the digest and all %zu values%s\n", p->compared,
                p->complete ? "" : ", though the recording is incomplete");
}

json_t *wf_repeat_json(const struct wf_repeat *p)
{
    json_t *digest = json_object_get(p->summary, "digest");
    json_t *j = json_object();

    json_object_set_new(j, "version", json_string(recorded_by(p)));
    json_object_set_new(j, "live", json_boolean(p->live));
    json_object_set_new(j, "stimuli", json_integer((json_int_t)p->done));
    json_object_set_new(j, "complete", json_boolean(p->complete));
    json_object_set_new(j, "incomplete_because", p->why[0] ? json_string(p->why) : json_null());
    json_object_set_new(j, "equal", json_boolean(p->summary && !differing(p) && !p->rc));
    json_object_set_new(j, "recorded_digest", digest ? json_incref(digest) : json_null());
    json_object_set_new(j, "compared", json_integer((json_int_t)p->compared));
    json_object_set_new(j, "differing", json_integer((json_int_t)differing(p)));
    json_object_set(j, "differences", p->differences);
    return j;
}
