/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shaper: a token bucket with a rate and a burst, in bits on the wire (frame with FCS, preamble
 * and gap), as SAI's schedulers have them. A frame may begin while the bucket is not in debt, and
 * takes all of its bits then: `burst` is what may go beyond the rate before the first frame waits,
 * 0 spaces frames exactly. Nothing is polled: bits are counted from the last time at which the
 * bucket was full, so that when the next frame may begin is one division, exact to the picosecond
 * however long it goes on.
 * Left out: a choice of what counts of a frame.
 */
#ifndef WEFT_ETH_SHAPER_H
#define WEFT_ETH_SHAPER_H

#include <stdint.h>

#include "base/units.h"

struct wf_shaper_cfg {
    uint64_t rate_bps; /* 0: none */
    uint64_t burst_bytes;
};

struct wf_shaper {
    uint64_t next_ps;     /* the first picosecond at which it is not in debt; or before now */
    uint64_t fills_ps;    /* when the bucket is full again */
    uint64_t ps_per_byte; /* where a bit takes whole picoseconds, and there is nothing to round:
                             then these three and the burst are all that there is. Else 0 */
    uint64_t burst_ps;    /* of the burst, then */
    uint64_t rate_bps;
    uint64_t burst_bits;
    uint64_t full_ps;           /* when the bucket was full */
    uint64_t bits;              /* taken since */
} __attribute__((aligned(64))); /* one cache line for each that a frame takes from */

#define WF_SHAPER_MAX_PS (1ull << 62) /* which no run lasts */

static inline void wf_shaper_init(struct wf_shaper *s, const struct wf_shaper_cfg *cfg)
{
    unsigned __int128 burst;

    *s = (struct wf_shaper){.rate_bps = cfg->rate_bps, .burst_bits = cfg->burst_bytes * 8};
    if (!s->rate_bps || WF_PS_PER_S % s->rate_bps)
        return;
    burst = (unsigned __int128)s->burst_bits * (WF_PS_PER_S / s->rate_bps);
    if (burst >= WF_SHAPER_MAX_PS)
        return;
    s->burst_ps = (uint64_t)burst;
    s->ps_per_byte = 8 * (WF_PS_PER_S / s->rate_bps);
}

/* Picoseconds that so many bits take, rounded up; no more than WF_SHAPER_MAX_PS. */
static inline uint64_t wf_shaper_span_ps(const struct wf_shaper *s, uint64_t bits)
{
    unsigned __int128 ps = ((unsigned __int128)bits * WF_PS_PER_S + s->rate_bps - 1) / s->rate_bps;

    return ps >= WF_SHAPER_MAX_PS ? WF_SHAPER_MAX_PS : (uint64_t)ps;
}

/* The first picosecond at which the bucket is not in debt. */
static inline uint64_t wf_shaper_next_ps(const struct wf_shaper *s)
{
    return s->next_ps;
}

static inline void wf_shaper_take_rounded(struct wf_shaper *s, uint64_t now_ps, uint64_t wire_bytes)
{
    /* full since before: in the very picosecond in which it fills, what was rounded still counts */
    if (now_ps > s->fills_ps) {
        s->full_ps = now_ps;
        s->bits = 0;
    }
    s->bits += wire_bytes * 8;
    s->fills_ps = s->full_ps + wf_shaper_span_ps(s, s->bits);
    s->next_ps = !s->burst_bits ? s->fills_ps
                 : s->bits <= s->burst_bits
                     ? s->full_ps
                     : s->full_ps + wf_shaper_span_ps(s, s->bits - s->burst_bits);
}

/* A frame of so many bytes on the wire begins now. */
static inline void wf_shaper_take(struct wf_shaper *s, uint64_t now_ps, uint64_t wire_bytes)
{
    uint64_t fills = s->fills_ps > now_ps ? s->fills_ps : now_ps;

    if (!s->ps_per_byte) {
        wf_shaper_take_rounded(s, now_ps, wire_bytes);
        return;
    }
    fills += wire_bytes * s->ps_per_byte;
    s->fills_ps = fills > WF_SHAPER_MAX_PS ? WF_SHAPER_MAX_PS : fills;
    s->next_ps = s->fills_ps > s->burst_ps ? s->fills_ps - s->burst_ps : 0;
}

#endif
