/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts on conformance. See rules.h. */
#include "analyze/rules.h"

#include <inttypes.h>

#include "base/units.h"

const char *const wf_an_judgement_names[4] = {"kept", "broken", "cannot_tell", "not_seen"};

struct seen {
    uint64_t gbn_ok, gbn_bad, selective, seq_naks, repeated, rnr, early, cnps, ce, naks;
};

static void add_up(const struct wf_analyze *a, struct seen *n)
{
    *n = (struct seen){0};
    for (uint32_t i = 0; i < a->table.n; i++) {
        const struct wf_an_stream *s = a->table.streams[i];

        n->gbn_ok += s->gbn_ok;
        n->gbn_bad += s->gbn_bad;
        n->selective += s->selective;
        n->seq_naks += s->resp.seq_naks;
        n->repeated += s->resp.repeated_naks;
        n->rnr += s->rnr_wait.n;
        n->early += s->rnr_early;
        n->cnps += s->cnps;
        n->ce += s->ecn[3];
    }
}

static enum wf_an_judgement judge(uint64_t kept, uint64_t broken)
{
    if (broken)
        return WF_AN_BROKEN;
    return kept ? WF_AN_KEPT : WF_AN_NOT_SEEN;
}

static void go_back_n(const struct seen *n, struct wf_an_rule *r)
{
    *r = (struct wf_an_rule){.name = "go_back_n",
                             .clause = "IBA 9.7.5.2.8",
                             .kept = n->gbn_ok,
                             .broken = n->gbn_bad,
                             .verdict = judge(n->gbn_ok, n->gbn_bad)};
    snprintf(r->text, sizeof(r->text),
             "after a sequence NAK the sender went back to the packet that it names, %" PRIu64
             " times; elsewhere %" PRIu64
             "; sent only part of it again (selective repeat) %" PRIu64,
             n->gbn_ok, n->gbn_bad, n->selective);
}

static void one_nak(const struct seen *n, struct wf_an_rule *r)
{
    uint64_t first = n->seq_naks - (n->repeated < n->seq_naks ? n->repeated : n->seq_naks);

    *r = (struct wf_an_rule){.name = "one_nak_a_gap",
                             .clause = "IBA 9.7.5.1.4",
                             .kept = first,
                             .broken = n->repeated,
                             .verdict = judge(first, n->repeated)};
    snprintf(r->text, sizeof(r->text),
             "a receiver answers a gap by one NAK until it is filled: %" PRIu64 " NAKs, %" PRIu64
             " repeated without progress",
             n->seq_naks, n->repeated);
}

static void rnr_timer(const struct seen *n, struct wf_an_rule *r)
{
    *r = (struct wf_an_rule){.name = "rnr_timer",
                             .clause = "IBA 9.7.5.2.8",
                             .kept = n->rnr - n->early,
                             .broken = n->early,
                             .verdict = judge(n->rnr, n->early)};
    snprintf(r->text, sizeof(r->text),
             "after an RNR NAK the sender waited as long as it was asked to, %" PRIu64
             " times; less long %" PRIu64,
             n->rnr - n->early, n->early);
}

/* CNPs answer packets with CE; some NICs send one for a NAK too. */
static void cnp_cause(const struct wf_analyze *a, const struct seen *n, struct wf_an_rule *r)
{
    uint64_t causes = n->ce + n->seq_naks;

    *r = (struct wf_an_rule){
        .name = "cnp_cause", .clause = "IBA A17.9.1", .kept = n->cnps, .verdict = WF_AN_NOT_SEEN};
    if (n->cnps)
        r->verdict = n->ce && causes >= n->cnps ? WF_AN_KEPT : WF_AN_OPEN;
    snprintf(r->text, sizeof(r->text),
             "%" PRIu64 " CNPs, %" PRIu64 " packets with CE and %" PRIu64 " sequence NAKs here%s",
             n->cnps, n->ce, n->seq_naks,
             r->verdict == WF_AN_OPEN ? "; packets may be marked behind this point, or not captured"
             : a->conf.nic && a->conf.nic->nak_makes_cnp ? "; this NIC sends one for a NAK too"
                                                         : "");
}

/* How close CNPs came, by what NICs may pace by; judged only by a profile. */
static void cnp_pacing(const struct wf_analyze *a, const struct seen *n, struct wf_an_rule *r)
{
    const struct wf_an_nic *nic = a->conf.nic;
    size_t used = 0;
    char t[32];

    *r = (struct wf_an_rule){
        .name = "cnp_pacing", .clause = nic ? nic->name : "no profile", .verdict = WF_AN_NOT_SEEN};
    for (int i = 0; i < WF_AN_SCOPES && used < sizeof(r->text); i++) {
        const struct wf_an_pacer *q = wf_an_closest(&a->pacing, (enum wf_an_scope)i);

        if (q)
            used += (size_t)snprintf(
                r->text + used, sizeof(r->text) - used, "%s%s %s",
                used ? ", " : "at least so far apart: per ", wf_an_scope_names[i],
                wf_time_short(q->min_ps > 0 ? (uint64_t)q->min_ps : 0, t, sizeof(t)));
    }
    if (!used)
        return;
    r->verdict = WF_AN_OPEN;
    if (!nic)
        return;
    for (unsigned i = 0; i < WF_AN_PACERS; i++)
        if (a->pacing.items[i].scope == nic->scope && a->pacing.items[i].n > 1) {
            r->broken += a->pacing.items[i].too_close;
            r->kept += a->pacing.items[i].n - 1 - a->pacing.items[i].too_close;
        }
    r->verdict = judge(r->kept, r->broken);
    if (used < sizeof(r->text))
        snprintf(r->text + used, sizeof(r->text) - used, "; the profile: %s per %s",
                 wf_time_short((uint64_t)nic->cnp_gap_ps, t, sizeof(t)),
                 wf_an_scope_names[nic->scope]);
}

void wf_an_rules(const struct wf_analyze *a, struct wf_an_rule rules[WF_AN_RULES])
{
    struct seen n;

    add_up(a, &n);
    go_back_n(&n, &rules[0]);
    one_nak(&n, &rules[1]);
    rnr_timer(&n, &rules[2]);
    cnp_cause(a, &n, &rules[3]);
    cnp_pacing(a, &n, &rules[4]);
}
