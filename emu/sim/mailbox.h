/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mailbox carries events from one lcore to another: in shared memory a bounded ring with one
 * producer and one consumer, and behind it a list of what found no room, which the sender keeps.
 * With them goes the sender's promise: no event that it sends from then on was caused before that
 * time. A promise is never ahead of an event that it covers, so whoever reads the promise first and
 * drains then has them all.
 *
 * Both sides see a mailbox through its ops, so that it can as well be a socket or a message passing
 * library's channel: events become messages then, and promises too.
 */
#ifndef WEFT_SIM_MAILBOX_H
#define WEFT_SIM_MAILBOX_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/list.h"
#include "sim/event.h"

enum { WF_MAILBOX_SLOTS = 4096 };

struct wf_mailbox;

struct wf_mailbox_ops {
    /* Sender: hand over an event, its time, key and function set. Never refused. */
    void (*put)(struct wf_mailbox *m, struct wf_event *ev);
    /* Sender: let all that was put be seen, and then the promise. False while something finds no
     * room; the promise then waits too: ask again. */
    bool (*flush)(struct wf_mailbox *m, uint64_t promise_ps);
    /* Receiver: the last promise. */
    uint64_t (*promise)(struct wf_mailbox *m);
    /* Receiver: whether anything is there to drain. */
    bool (*waiting)(struct wf_mailbox *m);
    /* Receiver: schedule all that is there; returns how many. */
    uint64_t (*drain)(struct wf_mailbox *m, struct wf_lcore *to);
};

struct wf_mailbox {
    const struct wf_mailbox_ops *ops;
    /* The events of a mailbox are embedded in objects of one type; so far behind the event these
     * have a list node, free while they are under way. */
    ptrdiff_t node_off;
    uint32_t slots_mask;
    struct wf_event **slots;
    void *arg; /* of other kinds of mailbox */

    /* The sender's, looked at by the receiver. */
    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint64_t promise_ps;
    _Alignas(64) uint64_t next; /* tail, with what is not yet to be seen */
    uint64_t head_seen;
    uint64_t sent, overflowed; /* events in all, and those that found no room at once */
    struct wf_fifo overflow;

    /* The receiver's, looked at by the sender. */
    _Alignas(64) _Atomic uint64_t head;
    uint64_t received;
};

extern const struct wf_mailbox_ops wf_mailbox_ring;

/* A ring of at least `slots` places, from the arena. */
void wf_mailbox_init(struct wf_mailbox *m, struct wf_arena *arena, uint32_t slots,
                     ptrdiff_t node_off);

#endif
