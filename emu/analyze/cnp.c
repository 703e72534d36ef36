/* SPDX-License-Identifier: BSD-3-Clause */
/* The pace of congestion notification packets. See cnp.h. */
#include "analyze/cnp.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/units.h"

const char *const wf_an_scope_names[WF_AN_SCOPES] = {"port", "ip_pair", "destination", "qp"};

#define US(n) ((int64_t)(n)*1000000)

/* Scopes differ per NIC, and so does whether a NAK makes a CNP (measured by others on ConnectX-4
 * Lx, -5, -6 and E810); the gaps are the vendors' defaults where they are published. */
const struct wf_an_nic wf_an_nics[] = {
    {"generic", "assumed: one per 50 us and queue pair, as the DCQCN paper has it", WF_AN_PER_QP,
     US(50), false},
    {"cx4", "assumed: min_time_between_cnps 4 us, per port", WF_AN_PER_PORT, US(4), false},
    {"cx5", "assumed: min_time_between_cnps 4 us, per port", WF_AN_PER_PORT, US(4), true},
    {"cx6", "assumed: min_time_between_cnps 4 us, per pair of addresses", WF_AN_PER_PAIR, US(4),
     true},
    {"cx7", "assumed: as cx6", WF_AN_PER_PAIR, US(4), true},
    {"e810", "assumed: one per 50 us and queue pair", WF_AN_PER_QP, US(50), false},
    {"thor2", "assumed: one per 50 us and queue pair", WF_AN_PER_QP, US(50), false},
};
const unsigned wf_an_n_nics = sizeof(wf_an_nics) / sizeof(wf_an_nics[0]);

const struct wf_an_nic *wf_an_nic_named(const char *name)
{
    for (unsigned i = 0; i < wf_an_n_nics; i++)
        if (!strcmp(wf_an_nics[i].name, name))
            return &wf_an_nics[i];
    return NULL;
}

static struct wf_an_pacer key_of(const struct wf_an_pkt *p, enum wf_an_scope scope)
{
    struct wf_an_pacer k = {.scope = (uint8_t)scope};

    if (scope != WF_AN_PER_DESTINATION)
        k.a = p->src;
    if (scope != WF_AN_PER_PORT)
        k.b = p->dst;
    if (scope == WF_AN_PER_QP)
        k.qpn = p->dqpn;
    return k;
}

static struct wf_an_pacer *pacer_of(struct wf_an_pacing *c, const struct wf_an_pacer *k)
{
    const size_t len = offsetof(struct wf_an_pacer, n);
    uint64_t i;

    if (!c->items)
        c->items = calloc(WF_AN_PACERS, sizeof(*c->items));
    if (!c->items)
        return NULL;
    for (i = wf_hash_bytes(k, len, 0); c->items[i % WF_AN_PACERS].n; i++)
        if (!memcmp(&c->items[i % WF_AN_PACERS], k, len))
            return &c->items[i % WF_AN_PACERS];
    if (c->n >= WF_AN_PACERS / 2)
        return NULL;
    c->n++;
    c->items[i % WF_AN_PACERS] = *k;
    return &c->items[i % WF_AN_PACERS];
}

void wf_an_pace(struct wf_an_pacing *c, const struct wf_an_pkt *p, const struct wf_an_nic *nic)
{
    c->cnps++;
    for (int scope = 0; scope < WF_AN_SCOPES; scope++) {
        struct wf_an_pacer k, *q;
        int64_t gap;

        memset(&k, 0, sizeof(k));
        k = key_of(p, (enum wf_an_scope)scope);
        q = pacer_of(c, &k);
        if (!q) {
            c->not_kept++;
            continue;
        }
        gap = p->t_ps - q->last_ps;
        if (q->n++) {
            if (q->n == 2 || gap < q->min_ps) {
                q->min_ps = gap;
                q->at[0] = q->last;
                q->at[1] = p->ref;
            }
            /* capture clocks jitter: a tenth is let pass */
            q->too_close += nic && nic->scope == (enum wf_an_scope)scope &&
                            gap < nic->cnp_gap_ps - nic->cnp_gap_ps / 10;
        }
        q->last_ps = p->t_ps;
        q->last = p->ref;
    }
}

void wf_an_pacing_free(struct wf_an_pacing *c)
{
    free(c->items);
    *c = (struct wf_an_pacing){0};
}

const struct wf_an_pacer *wf_an_closest(const struct wf_an_pacing *c, enum wf_an_scope scope)
{
    const struct wf_an_pacer *best = NULL;

    for (unsigned i = 0; c->items && i < WF_AN_PACERS; i++) {
        const struct wf_an_pacer *q = &c->items[i];

        if (q->n > 1 && q->scope == scope && (!best || q->min_ps < best->min_ps))
            best = q;
    }
    return best;
}
