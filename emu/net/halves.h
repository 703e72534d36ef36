/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded table of halves of connections (pairing.h): found by addresses and queue pair; when it
 * is full, the one that was not seen for longest makes room. Records are the caller's, of any size,
 * each begins with a struct wf_half.
 */
#ifndef WEFT_NET_HALVES_H
#define WEFT_NET_HALVES_H

#include "base/arena.h"
#include "net/pairing.h"

struct wf_halves {
    struct wf_pairing pairing;
    char *records;
    size_t size;
    struct wf_half **hash;
    uint32_t mask, n, used;
    struct wf_half *oldest, *newest;
    uint64_t touches; /* how often halves were seen */
    uint64_t keep;    /* one is not forgotten before so many touches of others */
    /* A half is forgotten: what its record holds besides may be of another one from now on. */
    void (*evict)(void *arg, struct wf_half *h);
    void *arg;
    uint64_t evicted, refused; /* refused: there was no room */
};

/* n records of so many bytes, and what finds them, from the arena. */
void wf_halves_init(struct wf_halves *t, struct wf_arena *arena, uint32_t n, size_t size);
struct wf_half *wf_halves_find(const struct wf_halves *t, const uint8_t src[16],
                               const uint8_t dst[16], uint32_t qpn);
/* It is seen: it becomes the newest, and is there from now on. NULL: no room. */
struct wf_half *wf_halves_see(struct wf_halves *t, const uint8_t src[16], const uint8_t dst[16],
                              uint32_t qpn);

#endif
