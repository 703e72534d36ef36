/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event is embedded in the object that it concerns (a packet, a port, a timer), so scheduling
 * never allocates. Events run in the order (time, entity, kind, sequence): the entity is whoever
 * schedules, the sequence its own count, so the order never depends on insertion, on the number
 * of lcores or on addresses.
 *
 * The address of an event that was cancelled long before its time stays in the wheel until the
 * wheel meets it: an event lives as long as its lcore, in an arena or in a packet's buffer, and one
 * that was cancelled stays with its lcore. Zeroed memory is an event that is not pending.
 */
#ifndef WEFT_SIM_EVENT_H
#define WEFT_SIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_lcore;
struct wf_event;
typedef void wf_event_fn(struct wf_lcore *lc, struct wf_event *ev);

/* Entities in fixed order: what the scenario orders comes first at an instant, then control. */
enum { WF_ENTITY_TIMELINE = 0, WF_ENTITY_CONTROL = 1, WF_ENTITY_MGMT = 2, WF_ENTITY_FIRST = 16 };

/* Kinds of one entity at one instant, in the order in which they take effect; below 128. */
enum wf_event_kind {
    WF_EV_ARRIVAL,  /* a packet's first or last bit at the peer */
    WF_EV_TRANSMIT, /* a port may start its next frame */
    WF_EV_PFC,      /* refresh, or a pause that takes effect */
    WF_EV_TIMER,    /* transport, watchdogs, workload */
    WF_EV_SAMPLE,   /* looks, never changes */
};

struct wf_event {
    uint64_t t_ps;
    uint64_t key;    /* entity << 40 | kind << 32 | sequence; bit 39 is the wheel's */
    wf_event_fn *fn; /* NULL: not pending */
};

/* What objects begin with, from their event on, whose events are of kind ARRIVAL and TRANSMIT in a
 * wheel that prefetches: what that event will touch besides the line behind its own. `first` begins
 * with a struct wf_next_ahead, `second` with anything. Only ever prefetched: either may be NULL, or
 * what it was before. */
struct wf_event_ahead {
    struct wf_event ev;
    const void *first;
    uint64_t own;
    const void *second;
};
struct wf_next_ahead {
    uint64_t own[2];
    uint8_t own_too[7];
    uint8_t event_line; /* of the event's object, 64 bytes each: it may touch that one too */
    uint64_t own_last;
    const void *next; /* what the event is likely to touch behind that */
};

static inline uint64_t wf_event_key(uint32_t entity, enum wf_event_kind kind, uint32_t seq)
{
    return (uint64_t)entity << 40 | (uint64_t)kind << 32 | seq;
}

static inline uint32_t wf_event_entity(uint64_t key)
{
    return (uint32_t)(key >> 40);
}

static inline enum wf_event_kind wf_event_kind_of(uint64_t key)
{
    return (enum wf_event_kind)(key >> 32 & 0x7f);
}

static inline bool wf_event_pending(const struct wf_event *ev)
{
    return ev->fn != NULL;
}

static inline bool wf_event_before(const struct wf_event *a, const struct wf_event *b)
{
    return a->t_ps < b->t_ps || (a->t_ps == b->t_ps && a->key < b->key);
}

#endif
