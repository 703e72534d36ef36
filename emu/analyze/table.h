/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounded table of streams: found by addresses and queue pair; their pairing; the
 * one that was silent longest gives way when it is full. Rings of sent packets are lent from a
 * budget.
 */
#ifndef WEFT_ANALYZE_TABLE_H
#define WEFT_ANALYZE_TABLE_H

#include "analyze/stream.h"

struct wf_an_table {
    struct wf_an_stream **streams; /* by index */
    uint32_t n, max;
    uint32_t *slots; /* index + 1 */
    uint32_t mask;
    struct wf_pairing pairing;
    struct wf_half **chains; /* the pairing's */
    uint32_t newest, oldest;
    uint32_t serials;
    uint64_t ring_left; /* bytes of rings that may still be lent */
    uint64_t rings_refused, evicted;
    /* Called before a stream gives way. */
    void (*evict)(void *arg, struct wf_an_stream *s);
    void *arg;
};

int wf_an_table_init(struct wf_an_table *t, uint32_t max_streams, uint64_t ring_bytes);
void wf_an_table_free(struct wf_an_table *t);
/* The stream of this key, new when it was not there; NULL without memory. It becomes the newest. */
struct wf_an_stream *wf_an_stream_of(struct wf_an_table *t, const struct wf_an_key *key);
uint32_t wf_an_index(const struct wf_an_table *t, const struct wf_an_stream *s);
static inline struct wf_an_stream *wf_an_at(const struct wf_an_table *t, uint32_t index)
{
    return index < t->n ? t->streams[index] : NULL;
}

/* The entry of a number in the ring, which is made to hold it; NULL without a ring. `in_flight`:
 * numbers that should fit. */
struct wf_an_sent *wf_an_ring_put(struct wf_an_table *t, struct wf_an_requests *r, uint32_t psn,
                                  uint32_t in_flight);
/* The entry if it is still there. */
struct wf_an_sent *wf_an_ring_get(const struct wf_an_requests *r, uint32_t psn);

#endif
