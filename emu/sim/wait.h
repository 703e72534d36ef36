/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting between turns of a paced lcore: spin for a moment, yield, then sleep until the next
 * event, the next poll of an attachment, or a wake-up. Two cores carry everything here, so a
 * waiter that spins starves the guests that it waits for.
 */
#ifndef WEFT_SIM_WAIT_H
#define WEFT_SIM_WAIT_H

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { WF_WAIT_FDS = 64 };

struct wf_wait {
    int wake_fd; /* eventfd; -1: none */
    atomic_bool asleep;
    uint32_t spin_ns;               /* busy time before the first yield */
    uint32_t idle_polls;            /* consecutive waits without work */
    struct pollfd fds[WF_WAIT_FDS]; /* [0] is wake_fd; more by wf_wait_add_fd */
    unsigned n_fds;
};

/* 0 or -errno. Sets the thread's timer slack to its minimum. */
int wf_wait_init(struct wf_wait *w);
void wf_wait_fini(struct wf_wait *w);
/* Another descriptor whose readability ends a sleep; -ENOSPC when full. */
int wf_wait_add_fd(struct wf_wait *w, int fd);
/* Return when wall time reaches until_ns (CLOCK_MONOTONIC), a descriptor is readable, or a wake-up
 * came; at once when `worked` (the last turn did something). */
void wf_wait_until(struct wf_wait *w, uint64_t until_ns, bool worked);
/* From any thread: end the waiter's sleep, if it sleeps. */
void wf_wait_wake(struct wf_wait *w);

#endif
