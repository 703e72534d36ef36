/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of streams. See table.h. */
#include "analyze/table.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/bins.h"
#include "analyze/sight.h"
#include "base/digest.h"

int wf_an_table_init(struct wf_an_table *t, uint32_t max_streams, uint64_t ring_bytes)
{
    uint32_t slots = 16;

    *t = (struct wf_an_table){.max = max_streams, .newest = WF_AN_NONE, .oldest = WF_AN_NONE};
    while (slots < max_streams * 2)
        slots *= 2;
    t->streams = calloc(max_streams, sizeof(*t->streams));
    t->slots = calloc(slots, sizeof(*t->slots));
    t->chains = calloc(slots, sizeof(*t->chains));
    t->mask = slots - 1;
    t->ring_left = ring_bytes;
    if (t->streams && t->slots && t->chains) {
        wf_pairing_init(&t->pairing, t->chains, slots);
        return 0;
    }
    wf_an_table_free(t);
    return -ENOMEM;
}

static void empty(struct wf_an_table *t, struct wf_an_stream *s)
{
    if (s->req.ring)
        t->ring_left += (s->req.ring_mask + 1ull) * sizeof(*s->req.ring);
    free(s->req.ring);
    wf_an_sights_free(t, s);
    if (s->bins)
        t->ring_left += sizeof(*s->bins);
    free(s->bins);
}

void wf_an_table_free(struct wf_an_table *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        empty(t, t->streams[i]);
        free(t->streams[i]);
    }
    free(t->streams);
    free(t->slots);
    free(t->chains);
    *t = (struct wf_an_table){0};
}

static uint32_t *slot_of(const struct wf_an_table *t, const struct wf_an_key *key)
{
    return &t->slots[wf_hash_bytes(key, sizeof(*key), 0) & t->mask];
}

uint32_t wf_an_index(const struct wf_an_table *t, const struct wf_an_stream *s)
{
    const uint32_t slot = *slot_of(t, &s->key);

    for (uint32_t i = slot; i; i = t->streams[i - 1]->next)
        if (t->streams[i - 1] == s)
            return i - 1;
    return WF_AN_NONE;
}

/* ---- the order of being seen ---- */

static void lru_out(struct wf_an_table *t, struct wf_an_stream *s, uint32_t index)
{
    if (s->lru_newer != WF_AN_NONE)
        t->streams[s->lru_newer]->lru_older = s->lru_older;
    else if (t->newest == index)
        t->newest = s->lru_older;
    if (s->lru_older != WF_AN_NONE)
        t->streams[s->lru_older]->lru_newer = s->lru_newer;
    else if (t->oldest == index)
        t->oldest = s->lru_newer;
}

static void lru_in(struct wf_an_table *t, struct wf_an_stream *s, uint32_t index)
{
    s->lru_newer = WF_AN_NONE;
    s->lru_older = t->newest;
    if (t->newest != WF_AN_NONE)
        t->streams[t->newest]->lru_newer = index;
    t->newest = index;
    if (t->oldest == WF_AN_NONE)
        t->oldest = index;
}

/* ---- in and out ---- */

static void unchain(const struct wf_an_table *t, uint32_t index)
{
    const struct wf_an_stream *s = t->streams[index];
    uint32_t *at = slot_of(t, &s->key);

    while (*at && *at - 1 != index)
        at = &t->streams[*at - 1]->next;
    if (*at)
        *at = s->next;
}

/* Room for one more; its index. */
static uint32_t room(struct wf_an_table *t)
{
    uint32_t index = t->oldest;
    struct wf_an_stream *s;

    if (t->n < t->max) {
        t->streams[t->n] = calloc(1, sizeof(struct wf_an_stream));
        return t->streams[t->n] ? t->n++ : WF_AN_NONE;
    }
    s = t->streams[index];
    if (t->evict)
        t->evict(t->arg, s);
    t->evicted++;
    unchain(t, index);
    lru_out(t, s, index);
    wf_pairing_remove(&s->half);
    empty(t, s);
    *s = (struct wf_an_stream){0};
    return index;
}

static void set_up(struct wf_an_table *t, uint32_t index, const struct wf_an_key *key)
{
    struct wf_an_stream *s = t->streams[index];
    uint32_t *slot = slot_of(t, key);

    s->key = *key;
    s->used = true;
    s->serial = ++t->serials;
    s->timeout_n = -1;
    s->last_cnp_t_ps = WF_AN_NO_TIME;
    s->next = *slot;
    *slot = index + 1;
    s->half.qpn = key->dqpn;
    memcpy(s->half.src, &key->src, 16);
    memcpy(s->half.dst, &key->dst, 16);
    wf_pairing_add(&t->pairing, &s->half);
    lru_in(t, s, index);
}

struct wf_an_stream *wf_an_stream_of(struct wf_an_table *t, const struct wf_an_key *key)
{
    uint32_t index;

    for (index = *slot_of(t, key); index; index = t->streams[index - 1]->next) {
        struct wf_an_stream *s = t->streams[index - 1];

        if (memcmp(&s->key, key, sizeof(*key)) != 0)
            continue;
        if (t->newest != index - 1) {
            lru_out(t, s, index - 1);
            lru_in(t, s, index - 1);
        }
        return s;
    }
    index = room(t);
    if (index == WF_AN_NONE)
        return NULL;
    set_up(t, index, key);
    return t->streams[index];
}

/* ---- rings ---- */

static bool ring_grow(struct wf_an_table *t, struct wf_an_requests *r, uint32_t to)
{
    uint32_t old = r->ring ? r->ring_mask + 1 : 0;
    uint64_t more = (uint64_t)(to - old) * sizeof(*r->ring);
    struct wf_an_sent *ring;

    /* the smallest rings are part of the table's own bound */
    ring = !old || more <= t->ring_left ? calloc(to, sizeof(*ring)) : NULL;
    if (!ring) {
        t->rings_refused++;
        return false;
    }
    for (uint32_t i = 0; i < old; i++)
        if (r->ring[i].flags & WF_AN_SEEN)
            ring[r->ring[i].psn & (to - 1)] = r->ring[i];
    free(r->ring);
    r->ring = ring;
    r->ring_mask = to - 1;
    t->ring_left -= more < t->ring_left ? more : t->ring_left;
    return true;
}

struct wf_an_sent *wf_an_ring_put(struct wf_an_table *t, struct wf_an_requests *r, uint32_t psn,
                                  uint32_t in_flight)
{
    struct wf_an_sent *e;

    if (!r->ring && !ring_grow(t, r, WF_AN_RING_MIN))
        return NULL;
    while (in_flight > r->ring_mask && r->ring_mask + 1 < WF_AN_RING_MAX)
        if (!ring_grow(t, r, (r->ring_mask + 1) * 2))
            break;
    e = &r->ring[psn & r->ring_mask];
    if (e->psn != psn || !(e->flags & WF_AN_SEEN))
        *e = (struct wf_an_sent){.psn = psn};
    return e;
}

struct wf_an_sent *wf_an_ring_get(const struct wf_an_requests *r, uint32_t psn)
{
    struct wf_an_sent *e = r->ring ? &r->ring[psn & r->ring_mask] : NULL;

    return e && e->psn == psn && e->flags & WF_AN_SEEN ? e : NULL;
}
