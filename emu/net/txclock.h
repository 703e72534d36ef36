/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transmitter's clock. Bits are counted from an epoch and rounded once, so that no rate drifts:
 * after 1e9 bytes the end of a frame is within 1 ps of the closed form, for any integer bit/s.
 */
#ifndef WEFT_NET_TXCLOCK_H
#define WEFT_NET_TXCLOCK_H

#include <stdint.h>

#include "base/units.h"

struct wf_txclock {
    uint64_t rate_bps;
    uint64_t ps_per_byte; /* when that is a whole number, else 0 */
    uint64_t epoch_ps;
    uint64_t bits;   /* since the epoch */
    uint64_t end_ps; /* of the last bit taken */
};

static inline void wf_txclock_init(struct wf_txclock *c, uint64_t rate_bps)
{
    *c = (struct wf_txclock){.rate_bps = rate_bps};
    if (8 * WF_PS_PER_S % rate_bps == 0)
        c->ps_per_byte = 8 * WF_PS_PER_S / rate_bps;
}

/* Picoseconds that n bits take, rounded to nearest. */
static inline uint64_t wf_txclock_span(const struct wf_txclock *c, uint64_t bits)
{
    unsigned __int128 x;

    if (c->ps_per_byte && bits % 8 == 0)
        return bits / 8 * c->ps_per_byte;
    x = (unsigned __int128)bits * WF_PS_PER_S + c->rate_bps / 2;
    return (uint64_t)(x / c->rate_bps);
}

/* Take `bytes` starting at now_ps (not before the end of the last); returns when they end. */
static inline uint64_t wf_txclock_take(struct wf_txclock *c, uint64_t now_ps, uint64_t bytes)
{
    if (now_ps > c->end_ps || c->bits > 1ull << 56) { /* idle since: a new epoch */
        c->epoch_ps = now_ps;
        c->bits = 0;
    }
    c->bits += bytes * 8;
    c->end_ps = c->epoch_ps + wf_txclock_span(c, c->bits);
    return c->end_ps;
}

#endif
