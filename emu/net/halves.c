/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/halves.h"

#include <string.h>

#include "base/assert.h"
#include "base/digest.h"

static struct wf_half *of_cm(void *arg, const void *what, const uint8_t src[16],
                             const uint8_t dst[16], uint32_t qpn)
{
    return wf_halves_see(arg, src, dst, qpn);
}

void wf_halves_init(struct wf_halves *t, struct wf_arena *arena, uint32_t n, size_t size)
{
    uint32_t slots = 16;

    WF_ASSERT(n >= 2 && size >= sizeof(struct wf_half));
    while (slots < n)
        slots *= 2;
    *t = (struct wf_halves){.records = WF_ARENA_ARRAY(arena, char, n *size),
                            .size = size,
                            .hash = WF_ARENA_ARRAY(arena, struct wf_half *, slots),
                            .mask = slots - 1,
                            .n = n};
    wf_pairing_init(&t->pairing, WF_ARENA_ARRAY(arena, struct wf_half *, slots), slots);
    t->pairing.half_of = of_cm;
    t->pairing.arg = t;
}

static struct wf_half **place(const struct wf_halves *t, const uint8_t src[16],
                              const uint8_t dst[16], uint32_t qpn)
{
    uint8_t both[32];

    memcpy(both, src, 16);
    memcpy(both + 16, dst, 16);
    return &t->hash[wf_hash_bytes(both, sizeof(both), qpn) & t->mask];
}

struct wf_half *wf_halves_find(const struct wf_halves *t, const uint8_t src[16],
                               const uint8_t dst[16], uint32_t qpn)
{
    struct wf_half *h = *place(t, src, dst, qpn);

    while (h && (h->qpn != qpn || memcmp(h->src, src, 16) || memcmp(h->dst, dst, 16)))
        h = h->hash_next;
    return h;
}

static void unlink_age(struct wf_halves *t, struct wf_half *h)
{
    *(h->older ? &h->older->newer : &t->oldest) = h->newer;
    *(h->newer ? &h->newer->older : &t->newest) = h->older;
    h->older = h->newer = NULL;
}

static void is_newest(struct wf_halves *t, struct wf_half *h)
{
    h->seen = ++t->touches;
    h->older = t->newest;
    *(t->newest ? &t->newest->newer : &t->oldest) = h;
    t->newest = h;
}

static void forget(struct wf_halves *t, struct wf_half *h)
{
    struct wf_half **at = place(t, h->src, h->dst, h->qpn);

    if (t->evict)
        t->evict(t->arg, h);
    wf_pairing_remove(h);
    while (*at != h)
        at = &(*at)->hash_next;
    *at = h->hash_next;
    unlink_age(t, h);
    t->evicted++;
}

static struct wf_half *room(struct wf_halves *t)
{
    struct wf_half *h = t->oldest;

    if (t->used < t->n)
        return (struct wf_half *)(void *)(t->records + t->size * t->used++);
    if (t->touches - h->seen < t->keep) {
        t->refused++;
        return NULL;
    }
    forget(t, h);
    return h;
}

struct wf_half *wf_halves_see(struct wf_halves *t, const uint8_t src[16], const uint8_t dst[16],
                              uint32_t qpn)
{
    struct wf_half *h = wf_halves_find(t, src, dst, qpn), **at;

    if (h) {
        unlink_age(t, h);
        is_newest(t, h);
        return h;
    }
    h = room(t);
    if (!h)
        return NULL;
    *h = (struct wf_half){.qpn = qpn};
    memcpy(h->src, src, 16);
    memcpy(h->dst, dst, 16);
    at = place(t, src, dst, qpn);
    h->hash_next = *at;
    *at = h;
    is_newest(t, h);
    wf_pairing_add(&t->pairing, h);
    return h;
}
