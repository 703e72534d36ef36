/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What became of the faults: how many packets each met, and those that met none.
 */
#include <inttypes.h>

#include "cap/json.h"
#include "net/fault_qps.h"
#include "scen/report.h"

enum { ROWS = 24 };

static void add(struct wf_report *r, const struct wf_port *port, const struct wf_fault *f,
                uint32_t own)
{
    struct wf_report_fault *x = &r->faults[f->event ? f->event - 1 : own];

    if (!x->ports++) {
        x->fault = f;
        x->at = f->coming_in ? port->peer->name : port->name;
    }
    x->matched += f->matched;
    x->hits += f->hits;
    x->lacking += f->lacking;
    if (f->needs_streams && port->faults->streams)
        x->unknown += port->faults->streams->unknown;
}

static bool idle(const struct wf_report_fault *x)
{
    return x->ports && !x->hits && !x->fault->may_not_fire;
}

static uint32_t walk(struct wf_report *r, bool count)
{
    const struct wf_fabric *f = r->f;
    uint32_t own = r->scen->n_faults;

    for (uint32_t i = 0; i < f->n_nodes; i++)
        for (uint16_t p = 0; p < f->nodes[i]->n_ports; p++) {
            const struct wf_port *port = &f->nodes[i]->ports[p];

            if (count && port->faults)
                r->idle_gone += port->faults->idle;
            for (const struct wf_fault *x = wf_faults_of(port); x; x = x->next) {
                if (!count)
                    add(r, port, x, own);
                own += !x->event;
            }
        }
    return own;
}

void wf_report_faults(struct wf_report *r)
{
    r->idle_gone = 0;
    r->n_faults = walk(r, true);
    r->faults = WF_ARENA_ARRAY(&r->arena, struct wf_report_fault, r->n_faults + 1);
    walk(r, false);
    r->idle_faults = 0;
    if (r->interrupted)
        return;
    r->idle_faults = (uint32_t)r->idle_gone;
    for (uint32_t i = 0; i < r->n_faults; i++)
        r->idle_faults += idle(&r->faults[i]);
}

static const char *name_of(const struct wf_report_fault *x, char *buf, size_t len)
{
    const char *dir = x->fault->coming_in ? "into " : "";
    int used = x->fault->event ? snprintf(buf, len, "faults.%u: ", x->fault->event - 1) : 0;

    snprintf(buf + used, len - (size_t)used, "%s %s%s%s", wf_fault_action_names[x->fault->action],
             dir, x->at, x->ports > 1 ? " ..." : "");
    return buf;
}

static void remarks(const struct wf_report_fault *x, const char *name, FILE *out)
{
    if (x->lacking && x->fault->action == WF_FAULT_CE)
        fprintf(out,
                "  %s: %" PRIu64 " frames that it meant were not ECN-capable (force marks them) or "
                "CE already\n",
                name, x->lacking);
    else if (x->lacking && x->fault->at_time)
        fprintf(
            out,
            "  %s: at its time nothing was known of such a queue pair: no packet had passed that "
            "tells of it\n",
            name);
    else if (x->lacking)
        fprintf(out,
                "  %s: %" PRIu64 " times it could not: the packet has no such bytes, or the queue "
                "pair to answer is not known (reply_qp, or match its answers)\n",
                name, x->lacking);
    if (x->unknown)
        fprintf(out, "  %s: %" PRIu64 " packets of queue pairs beyond the %d that it remembers\n",
                name, x->unknown, WF_STREAMS_MAX);
}

void wf_report_faults_text(const struct wf_report *r, FILE *out)
{
    char name[192];
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_faults; i++) {
        const struct wf_report_fault *x = &r->faults[i];

        if (!x->ports || n++ >= ROWS)
            continue;
        if (n == 1)
            fprintf(out, "\n  %-40s %10s %10s\n", "fault", "matched", "hit");
        fprintf(out, "  %-40s %10" PRIu64 " %10" PRIu64 "\n", name_of(x, name, sizeof(name)),
                x->matched, x->hits);
        remarks(x, name, out);
    }
    if (n > ROWS)
        fprintf(out, "  ... and %u more: --json has all\n", n - ROWS);
    for (uint32_t i = 0; i < r->n_faults && r->idle_faults; i++)
        if (idle(&r->faults[i]))
            fprintf(out, "  FAILED: %s never hit a frame\n",
                    name_of(&r->faults[i], name, sizeof(name)));
    if (r->idle_faults && r->idle_gone)
        fprintf(out, "  FAILED: %" PRIu64 " faults that ended long ago never hit a frame\n",
                r->idle_gone);
    if (r->idle_faults)
        fprintf(out, "  FAILED: %u injected faults never hit a frame\n", r->idle_faults);
}

json_t *wf_report_faults_json(const struct wf_report *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->n_faults; i++) {
        const struct wf_report_fault *x = &r->faults[i];
        json_t *o;

        if (!x->ports)
            continue;
        o = json_object();
        json_object_set_new(o, "at", json_string(x->at));
        json_object_set_new(o, "dir", json_string(x->fault->coming_in ? "in" : "out"));
        json_object_set_new(o, "action", json_string(wf_fault_action_names[x->fault->action]));
        json_object_set_new(o, "ports", wf_json_u64(x->ports));
        json_object_set_new(o, "matched_frames", wf_json_u64(x->matched));
        json_object_set_new(o, "hit_frames", wf_json_u64(x->hits));
        json_object_set_new(o, "lacking_frames", wf_json_u64(x->lacking));
        json_object_set_new(o, "may_not_fire", json_boolean(x->fault->may_not_fire));
        json_array_append_new(list, o);
    }
    return list;
}
