/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorded decision as one line of JSON: what it is, where, of which packet, and its numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "cap/why_log.h"

static void num(FILE *out, const char *key, uint64_t v)
{
    fprintf(out, ", \"%s\": %" PRIu64, key, v);
}

static void yes(FILE *out, const char *key, bool v)
{
    if (v)
        fprintf(out, ", \"%s\": true", key);
}

static void admit(FILE *out, const struct wf_node *node, const struct wf_why_rec *r)
{
    const struct wf_why_admit *a = &r->admit;

    num(out, "pg", r->pg);
    yes(out, "lossless", a->lossless);
    num(out, "pg_bytes", a->pg_bytes);
    num(out, "pg_limit_bytes", a->pg_limit);
    if (a->lossless)
        num(out, "headroom_bytes", a->pg_room);
    num(out, "pool_bytes", a->pool_bytes);
    num(out, "pool_size_bytes", a->pool_size);
    fprintf(out, ", \"out\": \"%s\"", node->ports[a->out].name);
    num(out, "queue", r->queue);
    num(out, "queue_bytes", a->queue_bytes);
    if (!a->lossless)
        num(out, "queue_limit_bytes", a->queue_limit);
    fprintf(out, ", \"verdict\": \"%s\"",
            r->reason ? wf_reason_name((enum wf_reason)r->reason) : "admitted");
}

static void mark(FILE *out, const struct wf_why_rec *r)
{
    const struct wf_why_mark *m = &r->mark;

    num(out, "queue", r->queue);
    num(out, "queue_bytes", m->queue_bytes);
    num(out, "kmin_bytes", m->kmin);
    num(out, "kmax_bytes", m->kmax);
    if (m->of)
        fprintf(out, ", \"chance\": %.9f, \"draw\": %.9f", (double)m->chance / (double)m->of,
                (double)m->draw / (double)m->of);
    yes(out, "at_enqueue", m->at_enqueue);
    fprintf(out, ", \"verdict\": \"%s\"",
            m->dropped   ? "dropped"
            : !m->marked ? "not marked"
            : m->was_ce  ? "CE already"
                         : "marked");
}

static void pause(FILE *out, const struct wf_node *node, const struct wf_why_rec *r)
{
    const struct wf_why_pause *p = &r->pause;

    num(out, "prio", r->prio);
    fprintf(out, ", \"peer\": \"%s\"", node->ports[r->port].peer->name);
    switch (r->kind) {
    case WF_WHY_XOFF:
    case WF_WHY_XON:
        num(out, "pg", r->pg);
        num(out, "pg_bytes", p->pg_bytes);
        num(out, "pg_limit_bytes", p->pg_limit);
        fprintf(out, ", \"out\": \"%s\"", node->ports[p->out].name);
        num(out, "queue", r->queue);
        num(out, "queue_bytes", p->queue_bytes);
        yes(out, "stopped", p->stopped);
        if (p->stopped)
            num(out, "until_ps", p->until_ps);
        break;
    case WF_WHY_PAUSE_TX:
        num(out, "quanta", p->quanta);
        break;
    default:
        num(out, "queue", r->queue);
        num(out, "quanta", p->quanta);
        num(out, "from_ps", p->from_ps);
        num(out, "until_ps", p->until_ps);
    }
}

static void queue(FILE *out, const struct wf_why_rec *r)
{
    num(out, "queue", r->queue);
    num(out, "queue_bytes", r->q.queue_bytes);
    if (r->kind == WF_WHY_ENQUEUE)
        return;
    num(out, "waited_ps", r->q.waited_ps);
    num(out, "paused_ps", r->q.paused_ps);
}

static void packet(FILE *out, const struct wf_why_rec *r)
{
    num(out, "born_ps", r->born_ps);
    num(out, "hash", r->flow_hash);
    num(out, "len", r->frame_len);
    if (!r->roce)
        return;
    num(out, "dqpn", r->dqpn);
    num(out, "psn", r->psn);
    num(out, "opcode", r->opcode);
}

void wf_why_write(const struct wf_fabric *f, const struct wf_why_rec *r, FILE *out)
{
    const struct wf_node *node = f->nodes[r->node];

    fprintf(out, "{\"t_ps\": %" PRIu64 ", \"at\": \"%s\", \"what\": \"%s\"", r->t_ps,
            node->ports[r->port].name, wf_why_kind_names[r->kind]);
    switch ((enum wf_why_kind)r->kind) {
    case WF_WHY_ARRIVAL:
        num(out, "ecn", r->ecn);
        break;
    case WF_WHY_ADMIT:
        admit(out, node, r);
        break;
    case WF_WHY_DROP:
        fprintf(out, ", \"verdict\": \"%s\"", wf_reason_name((enum wf_reason)r->reason));
        break;
    case WF_WHY_MARK:
        mark(out, r);
        break;
    case WF_WHY_TRIM:
        num(out, "was_bytes", r->trim.was_bytes);
        num(out, "queue", r->queue);
        num(out, "to_queue", r->trim.to_queue);
        num(out, "to_dscp", r->trim.to_dscp);
        fprintf(out, ", \"verdict\": \"%s\"", wf_reason_name((enum wf_reason)r->reason));
        break;
    case WF_WHY_ENQUEUE:
    case WF_WHY_DEQUEUE:
        queue(out, r);
        break;
    case WF_WHY_WATCHDOG:
        num(out, "prio", r->prio);
        num(out, "queue", r->queue);
        num(out, "queue_bytes", r->watchdog.queue_bytes);
        fprintf(out, ", \"action\": \"%s\", \"verdict\": \"%s\"", r->watchdog.action,
                r->watchdog.storm ? "storm" : "restored");
        break;
    default:
        pause(out, node, r);
    }
    if (r->frame_len)
        packet(out, r);
    fputs("}\n", out);
}
