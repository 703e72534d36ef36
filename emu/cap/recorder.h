/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the dataplane to one file: each lcore puts records into a bounded ring of its own; a thread
 * takes them out and gives them to the file in the order (time, key, order of putting), so that
 * the file does not depend on how many lcores there are. A key (an interface, a series) belongs to
 * one lcore. The times that a ring is given never go back.
 *
 * The thread empties the rings always, also while it may not write yet because another lcore is
 * behind: then what came early waits in memory of its own. So an lcore that waits for its ring
 * waits for the file and never for another lcore.
 *
 * A full ring makes a virtual run wait; a live run goes on without the record and counts it. The
 * dataplane's side allocates nothing and takes no lock; only the wait calls the system.
 */
#ifndef WEFT_CAP_RECORDER_H
#define WEFT_CAP_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { WF_RECORD_MAX = 32 << 10 }; /* bytes of one record's data */

struct wf_recorder_conf {
    unsigned rings;    /* one an lcore */
    bool lossy;        /* live: a full ring loses the record */
    size_t ring_bytes; /* of each; 0: the default, 8 MiB over all */
    /* Before which time nothing of this ring will be put any more; NULL: only its own records say
     * so. Called by the thread. */
    uint64_t (*published_ps)(void *arg, unsigned ring);
    void *published_arg;
    /* Called by the thread, with the lock held. */
    void (*write)(void *arg, uint64_t t_ps, uint64_t key, const void *data, uint32_t len);
    void (*flush)(void *arg); /* nothing more to do for a moment; may be NULL */
    void *arg;
};

struct wf_recorder;

/* Starts the thread. */
int wf_recorder_new(struct wf_recorder **out, const struct wf_recorder_conf *conf,
                    struct wf_err *err);
/* Dataplane, one producer a ring: data in two pieces. False: lost, and counted. */
bool wf_recorder_put(struct wf_recorder *r, unsigned ring, uint64_t t_ps, uint64_t key,
                     const void *a, uint32_t a_len, const void *b, uint32_t b_len);
/* Within write() only: another record, for a time that is not past. */
void wf_recorder_plan(struct wf_recorder *r, uint64_t t_ps, uint64_t key, const void *data,
                      uint32_t len);
/* The file is the thread's; others hold the lock while they use it. The thread holds it while it
 * writes, which may be long: who must not wait tries. */
void wf_recorder_lock(struct wf_recorder *r);
bool wf_recorder_try(struct wf_recorder *r);
void wf_recorder_unlock(struct wf_recorder *r);
uint64_t wf_recorder_lost(const struct wf_recorder *r);
/* All producers stand: write and flush what is there up to and including t_ps. */
void wf_recorder_drain(struct wf_recorder *r, uint64_t t_ps);
/* Ends the thread; what was planned for later is forgotten. May be NULL. */
void wf_recorder_free(struct wf_recorder *r);

#endif
