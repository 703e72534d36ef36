/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchical timing wheel: five levels of 4,096 slots, the finest 1,024 ps wide, so that all of
 * uint64 picoseconds fits. A slot's events are sorted only when the wheel reaches it. Insertion,
 * removal and the search for the next slot (two-level bitmaps) take constant time.
 */
#ifndef WEFT_SIM_WHEEL_H
#define WEFT_SIM_WHEEL_H

#include "sim/event.h"

enum {
    WF_WHEEL_GRAIN_BITS = 10,
    WF_WHEEL_LEVEL_BITS = 12,
    WF_WHEEL_SLOTS = 1 << WF_WHEEL_LEVEL_BITS,
    WF_WHEEL_LEVELS = 5,
};

struct wf_wheel_level {
    uint64_t summary; /* bit i: words[i] is not zero */
    uint64_t words[WF_WHEEL_SLOTS / 64];
    struct wf_event *slots[WF_WHEEL_SLOTS];
};

struct wf_wheel {
    uint64_t base_ps;     /* start of the finest slot that `due` holds */
    struct wf_event *due; /* sorted events of that slot */
    uint64_t count;       /* all events */
    struct wf_wheel_level levels[WF_WHEEL_LEVELS];
};

/* Schedule; ev->t_ps and ev->key are set, t_ps is not before the last event taken. */
void wf_wheel_insert(struct wf_wheel *w, struct wf_event *ev);
/* Take a scheduled event out. */
void wf_wheel_remove(struct wf_wheel *w, struct wf_event *ev);
/* The next event before limit_ps, taken out; NULL when there is none. */
struct wf_event *wf_wheel_pop(struct wf_wheel *w, uint64_t limit_ps);
/* A lower bound of the next event's time, exact when it is near; WF_TIME_NEVER when empty. */
uint64_t wf_wheel_next_ps(const struct wf_wheel *w);

#endif
