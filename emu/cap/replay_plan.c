/* SPDX-License-Identifier: BSD-3-Clause */
/* The first pass of a replay over its capture. See replay_plan.h. */
#include "cap/replay_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/eth.h"

enum { FCS_LEN = 4, MAX_FRAMES = 1 << 30, PAIR_STEPS_MAX = 100000000 };

uint32_t wf_replay_frame_len(const struct wf_cap_rec *rec, uint32_t *cap_bytes)
{
    uint32_t len = rec->len_bytes;

    if (rec->iface->fcs_bytes == FCS_LEN && len > FCS_LEN)
        len -= FCS_LEN;
    *cap_bytes = rec->cap_bytes < len ? rec->cap_bytes : len;
    return len;
}

bool wf_replay_takes(const struct wf_replay_plan_conf *conf, const struct wf_cap_rec *rec)
{
    return !conf->interface || strcmp(conf->interface, rec->iface->name) == 0;
}

static bool unspecified(const uint8_t ip[16], uint8_t family)
{
    static const uint8_t zero[16];

    return family == 4 ? memcmp(ip + 12, zero, 4) == 0 : memcmp(ip, zero, 16) == 0;
}

static void address_of(const uint8_t *mac, const uint8_t *ip, uint8_t family,
                       struct wf_replay_source *s)
{
    memset(s, 0, sizeof(*s));
    memcpy(s->mac, mac, 6);
    if (family && !unspecified(ip, family)) {
        s->family = family;
        memcpy(s->ip, ip, 16);
    }
}

/* Count the frame at who it comes from and who it goes to. */
static int take_addresses(struct wf_replay_plan *plan, struct wf_replay_frame *f, const uint8_t *b,
                          const struct wf_flow_key *key)
{
    struct wf_replay_source s;
    uint32_t to;

    address_of(b + 6, key->src, key->family, &s);
    f->source = wf_replay_source_of(plan, &s);
    if (f->source == UINT32_MAX)
        return -ENOMEM;
    plan->sources[f->source].frames++;
    if (f->flags & WF_REPLAY_GROUP)
        return 0;
    address_of(b, key->dst, key->family, &s);
    to = wf_replay_source_of(plan, &s);
    if (to == UINT32_MAX)
        return -ENOMEM;
    plan->sources[to].to_frames++;
    return 0;
}

static struct wf_replay_frame *new_frame(struct wf_replay_plan *plan)
{
    uint32_t cap = plan->cap_frames ? plan->cap_frames * 2 : 1024;
    struct wf_replay_frame *p;

    if (plan->n_frames == plan->cap_frames) {
        if (cap > MAX_FRAMES)
            return NULL;
        p = realloc(plan->frames, cap * sizeof(*p));
        if (!p)
            return NULL;
        plan->frames = p;
        plan->cap_frames = cap;
    }
    p = &plan->frames[plan->n_frames++];
    memset(p, 0, sizeof(*p));
    p->flow = p->source = WF_REPLAY_NO_FLOW;
    return p;
}

static void set_time(struct wf_replay_plan *plan, struct wf_replay_frame *f,
                     const struct wf_cap_rec *rec)
{
    const struct wf_replay_frame *before = plan->n_frames > 1 ? f - 1 : NULL;
    int64_t back;

    if (!before)
        plan->first = rec->time;
    if (!rec->timed) {
        plan->untimed++;
        f->t_ps = before ? before->t_ps : 0;
        return;
    }
    f->t_ps = wf_cap_time_diff_ps(plan->first, rec->time);
    if (f->t_ps > plan->span_ps)
        plan->span_ps = f->t_ps;
    if (before && f->t_ps < before->t_ps) {
        f->flags |= WF_REPLAY_BACK;
        plan->backwards++;
        if (__builtin_sub_overflow(before->t_ps, f->t_ps, &back))
            back = INT64_MAX;
        if (back > plan->back_max_ps)
            plan->back_max_ps = back;
    }
}

/* Why the frame cannot or shall not be sent: the counter of that, or NULL. */
static uint64_t *skip_count(struct wf_replay_plan *plan, const struct wf_replay_plan_conf *conf,
                            uint32_t len, uint32_t cap, const struct wf_parsed *p)
{
    if (cap < WF_ETH_LEN)
        return &plan->skipped_short;
    if (len > WF_REPLAY_FRAME_MAX)
        return &plan->skipped_long;
    if (cap < len && conf->skip_cut)
        return &plan->skipped_cut;
    /* A pause of the recorded link says nothing about this one's buffers. */
    if (p->flags & WF_P_MAC_CONTROL)
        return &plan->skipped_control;
    return NULL;
}

static void count_frame(struct wf_replay_plan *plan, struct wf_replay_frame *f,
                        const struct wf_parsed *p, uint32_t len, uint32_t cap)
{
    f->len_bytes = len;
    if (cap < len) {
        f->flags |= WF_REPLAY_CUT;
        plan->cut++;
    }
    if (len < WF_ETH_MIN_LEN) {
        f->flags |= WF_REPLAY_PADDED;
        plan->padded++;
    }
    if (p->flags & WF_P_MULTICAST)
        f->flags |= WF_REPLAY_GROUP;
    if (p->flags & WF_P_ROCEV2)
        plan->rocev2++;
    else if (p->flags & WF_P_ROCEV1)
        plan->rocev1++;
    else
        plan->others++;
}

/* Which flow's requests does this response speak of? The one in the other direction between the two
 * whose numbers reach about as far; of several, none. */
static void pair_ack(struct wf_replay_plan *plan, struct wf_replay_flow *f, uint32_t psn)
{
    uint32_t found = WF_REPLAY_NO_FLOW;

    if (f->acks_of != WF_REPLAY_NO_FLOW || plan->pair_steps > PAIR_STEPS_MAX)
        return;
    plan->pair_steps += plan->n_flows;
    for (uint32_t i = 0; i < plan->n_flows; i++) {
        const struct wf_replay_flow *g = &plan->flows[i];
        int32_t behind = g->has_max ? wf_psn_diff(g->max_psn, psn) : -1;

        if (behind < -64 || behind > 1 << 16 || !g->has_max)
            continue;
        if (memcmp(g->key.src, f->key.dst, 16) != 0 || memcmp(g->key.dst, f->key.src, 16) != 0)
            continue;
        if (found != WF_REPLAY_NO_FLOW)
            return;
        found = i;
    }
    f->acks_of = found;
}

static void take_psn(struct wf_replay_plan *plan, struct wf_replay_flow *f, uint8_t opcode,
                     uint32_t psn)
{
    enum wf_psn_kind kind = wf_psn_kind(opcode);

    if (kind == WF_PSN_NONE)
        return;
    wf_psn_take(&f->in[kind == WF_PSN_RESPONSE], opcode, psn);
    if (kind == WF_PSN_RESPONSE) {
        pair_ack(plan, f, psn);
    } else if (!f->has_max || wf_psn_diff(psn, f->max_psn) > 0) {
        f->max_psn = psn;
        f->has_max = true;
    }
}

static int take_frame(struct wf_replay_plan *plan, const struct wf_replay_plan_conf *conf,
                      const struct wf_cap_rec *rec)
{
    struct wf_replay_frame *f = new_frame(plan);
    uint32_t cap, len = wf_replay_frame_len(rec, &cap);
    struct wf_parsed p = {0};
    struct wf_replay_flow *flow;
    struct wf_flow_key key;
    uint64_t *skip;

    if (!f)
        return -ENOMEM;
    set_time(plan, f, rec);
    wf_parse(rec->data, cap, len, &p);
    skip = skip_count(plan, conf, len, cap, &p);
    if (skip) {
        *skip += 1;
        f->flags |= WF_REPLAY_SKIPPED;
        return 0;
    }
    count_frame(plan, f, &p, len, cap);
    wf_flow_key_of(rec->data, &p, &key);
    f->flow = wf_replay_flow_of(plan, &key);
    if (f->flow == UINT32_MAX || take_addresses(plan, f, rec->data, &key) < 0)
        return -ENOMEM;
    flow = &plan->flows[f->flow];
    flow->frames++;
    flow->bytes += len;
    flow->ce_before += p.flags & WF_P_IP && p.ecn == 3;
    if (p.flags & WF_P_BTH) {
        f->opcode = p.opcode;
        f->psn = p.psn;
        flow->icrc_in[wf_icrc_check(rec->data, cap, &p)]++;
        take_psn(plan, flow, p.opcode, p.psn);
    }
    return 0;
}

int wf_replay_plan_read(struct wf_replay_plan *plan, struct wf_cap_reader *r,
                        const struct wf_replay_plan_conf *conf, struct wf_err *err)
{
    uint32_t last_iface = UINT32_MAX;
    struct wf_cap_rec rec;
    int rc;

    memset(plan, 0, sizeof(*plan));
    while ((rc = wf_cap_next(r, &rec, err)) == 1) {
        if (!wf_replay_takes(conf, &rec)) {
            plan->other_interface++;
            continue;
        }
        rc = wf_cap_need_ethernet(r, &rec, err);
        if (rc < 0)
            return rc;
        if (rec.iface_index != last_iface) {
            plan->several_interfaces |= last_iface != UINT32_MAX;
            last_iface = rec.iface_index;
        }
        if (take_frame(plan, conf, &rec) < 0)
            return wf_err_set(err, ENOMEM, "no memory for frame %llu of the capture",
                              (unsigned long long)rec.number);
    }
    /* From here on the furthest number is what has arrived. */
    for (uint32_t i = 0; i < plan->n_flows; i++)
        plan->flows[i].has_max = false;
    if (!rc && conf->interface && !plan->n_frames && plan->other_interface)
        rc = wf_err_set(err, EINVAL, "--interface '%s': none of the capture's %llu frames is of it",
                        conf->interface, (unsigned long long)plan->other_interface);
    return rc;
}

void wf_replay_plan_free(struct wf_replay_plan *plan)
{
    free(plan->frames);
    free(plan->flows);
    free(plan->sources);
    free(plan->flow_slots);
    free(plan->source_slots);
    memset(plan, 0, sizeof(*plan));
}
