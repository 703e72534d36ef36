/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which streams are the two directions of one connection: net/pairing.h says it, of captures in
 * which packets may be missing.
 */
#include <string.h>

#include "analyze/analyze.h"
#include "wire/mad.h"

/* The stream that a connection manager's message tells of, before any packet of it. */
static struct wf_half *half_of(void *arg, const void *what, const uint8_t src[16],
                               const uint8_t dst[16], uint32_t qpn)
{
    const struct wf_an_pkt *p = what;
    struct wf_analyze *a = arg;
    struct wf_an_stream *s;
    struct wf_an_key key;

    memset(&key, 0, sizeof(key));
    memcpy(&key.src, src, 16);
    memcpy(&key.dst, dst, 16);
    key.dqpn = qpn;
    key.family = p->family;
    key.v1 = p->v1;
    s = wf_an_stream_of(&a->table, &key);
    return s ? &s->half : NULL;
}

void wf_an_pair_init(struct wf_analyze *a)
{
    a->table.pairing.loose = true;
    a->table.pairing.half_of = half_of;
    a->table.pairing.arg = a;
}

/* At the end: those that never answered each other, but are alone between their addresses. */
void wf_an_pair_rest(struct wf_analyze *a)
{
    for (uint32_t i = 0; i < a->table.n; i++)
        wf_pairing_alone(&a->table.pairing, &a->table.streams[i]->half);
}

void wf_an_cm_take(struct wf_analyze *a, const struct wf_an_pkt *p)
{
    enum wf_pair_mad what = WF_PAIR_NO_CM;

    if (p->payload_len == WF_MAD_LEN)
        what = wf_pairing_mad(&a->table.pairing, p, p->src.ip, p->dst.ip, p->payload,
                              p->payload_cap < WF_MAD_LEN ? p->payload_cap : WF_MAD_LEN);
    a->cm_messages += what != WF_PAIR_NO_CM;
    a->cm_pairs += what == WF_PAIR_TOLD;
}
