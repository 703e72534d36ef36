/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes, their text, and the ring to the writer thread. See capture_ring.h. */
#include "cap/capture_ring.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

enum {
    RING_DEFAULT = 8 << 20,
    RING_MIN = 64 << 10,
    IDLE_MS = 2, /* the writer looks this often when there is nothing */
    COMMENT_MAX = 256,
};

/* ---- text ---- */

static const char *comment_of(const struct wf_capture_note *n, char *buf)
{
    char waited[32], paused[32];
    size_t used = 0;

    buf[0] = '\0';
    if (n->queued)
        used += (size_t)snprintf(
            buf, COMMENT_MAX, "queue=%u prio=%u depth_bytes=%u waited=%s paused=%s", n->queue,
            n->prio, n->depth_bytes, wf_time_text(n->waited_ps, waited, sizeof(waited)),
            wf_time_text(n->paused_ps, paused, sizeof(paused)));
    if (n->marked)
        used += (size_t)snprintf(buf + used, COMMENT_MAX - used, "%smarked=1", used ? " " : "");
    if (n->damaged)
        used += (size_t)snprintf(buf + used, COMMENT_MAX - used, "%sdamaged=1", used ? " " : "");
    if (n->why)
        snprintf(buf + used, COMMENT_MAX - used, "%sdrop=%s", used ? " " : "",
                 wf_reason_name(n->why));
    return buf[0] ? buf : NULL;
}

void wf_capture_write(struct wf_pcapng *w, const struct wf_capture_note *n, const uint8_t *frame)
{
    char comment[COMMENT_MAX];
    const struct iovec iov = {(void *)(uintptr_t)frame, n->cap_bytes};
    const struct wf_pcapng_packet pkt = {
        .iface = n->iface,
        .time_ps = n->time_ps,
        .len_bytes = n->len_bytes,
        .iov = &iov,
        .n_iov = 1,
        .dir = n->dir,
        .id = n->id,
        .comment = comment_of(n, comment),
    };

    wf_pcapng_write(w, &pkt);
}

/* ---- ring ---- */

/* Bytes [tail, head) are records: a note and its frame, padded to 8; positions never wrap. */
struct wf_capture_ring {
    uint8_t *buf;
    uint64_t mask;
    _Alignas(64) _Atomic uint64_t head; /* the dataplane's */
    _Atomic uint64_t lost;
    uint64_t tail_seen;
    _Alignas(64) _Atomic uint64_t tail; /* the writer's */
    _Atomic bool stop;
    pthread_mutex_t lock; /* of the file: the writer and the control side */
    struct wf_pcapng *w;
    uint8_t *frame; /* the writer's: one frame in one piece */
    pthread_t thread;
};

static uint64_t padded(uint64_t n)
{
    return (n + 7) & ~7ull;
}

static void copy_in(struct wf_capture_ring *r, uint64_t at, const void *p, uint64_t n)
{
    uint64_t i = at & r->mask, first = r->mask + 1 - i < n ? r->mask + 1 - i : n;

    memcpy(r->buf + i, p, first);
    memcpy(r->buf, (const uint8_t *)p + first, n - first);
}

static void copy_out(const struct wf_capture_ring *r, uint64_t at, void *p, uint64_t n)
{
    uint64_t i = at & r->mask, first = r->mask + 1 - i < n ? r->mask + 1 - i : n;

    memcpy(p, r->buf + i, first);
    memcpy((uint8_t *)p + first, r->buf, n - first);
}

void wf_capture_ring_put(struct wf_capture_ring *r, const struct wf_capture_note *note,
                         const uint8_t *frame)
{
    uint64_t need = sizeof(*note) + padded(note->cap_bytes);
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

    if (head + need - r->tail_seen > r->mask + 1) {
        r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (head + need - r->tail_seen > r->mask + 1) {
            atomic_fetch_add_explicit(&r->lost, 1, memory_order_relaxed);
            return;
        }
    }
    copy_in(r, head, note, sizeof(*note));
    copy_in(r, head + sizeof(*note), frame, note->cap_bytes);
    atomic_store_explicit(&r->head, head + need, memory_order_release);
}

/* Write what is there; false when there was nothing. */
static bool write_some(struct wf_capture_ring *r)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);

    if (tail == head)
        return false;
    pthread_mutex_lock(&r->lock);
    while (tail != head) {
        struct wf_capture_note note;

        copy_out(r, tail, &note, sizeof(note));
        copy_out(r, tail + sizeof(note), r->frame, note.cap_bytes);
        wf_capture_write(r->w, &note, r->frame);
        tail += sizeof(note) + padded(note.cap_bytes);
        atomic_store_explicit(&r->tail, tail, memory_order_release);
    }
    pthread_mutex_unlock(&r->lock);
    return true;
}

static void *writer(void *arg)
{
    struct wf_capture_ring *r = arg;
    bool was_idle = false;

    for (;;) {
        bool stop = atomic_load(&r->stop);

        if (write_some(r)) {
            was_idle = false;
            continue;
        }
        if (stop)
            break;
        if (!was_idle) { /* who looks into the file while the run goes on sees it all */
            pthread_mutex_lock(&r->lock);
            wf_pcapng_flush(r->w);
            pthread_mutex_unlock(&r->lock);
            was_idle = true;
        }
        poll(NULL, 0, IDLE_MS);
    }
    return NULL;
}

int wf_capture_ring_new(struct wf_capture_ring **out, struct wf_pcapng *w, size_t bytes,
                        struct wf_err *err)
{
    struct wf_capture_ring *r = NULL;
    uint64_t size = RING_MIN;
    int rc;

    *out = NULL;
    while (size < (bytes ? bytes : RING_DEFAULT))
        size *= 2;
    if (posix_memalign((void **)&r, 64, sizeof(*r)) != 0)
        return wf_err_set(err, ENOMEM, "no memory for a capture's ring");
    memset(r, 0, sizeof(*r));
    r->mask = size - 1;
    r->w = w;
    r->buf = malloc(size);
    r->frame = malloc(WF_PCAPNG_SNAP_MAX);
    pthread_mutex_init(&r->lock, NULL);
    rc = r->buf && r->frame ? pthread_create(&r->thread, NULL, writer, r) : ENOMEM;
    if (rc != 0) {
        pthread_mutex_destroy(&r->lock);
        free(r->frame);
        free(r->buf);
        free(r);
        return wf_err_set(err, rc, "cannot start a capture's writer: %s", strerror(rc));
    }
    *out = r;
    return 0;
}

int wf_capture_ring_iface(struct wf_capture_ring *r, const struct wf_pcapng_iface *iface,
                          struct wf_err *err)
{
    int rc;

    pthread_mutex_lock(&r->lock);
    rc = wf_pcapng_add_iface(r->w, iface, err);
    pthread_mutex_unlock(&r->lock);
    return rc;
}

bool wf_capture_ring_error(struct wf_capture_ring *r, struct wf_err *err)
{
    bool any;

    pthread_mutex_lock(&r->lock);
    any = wf_pcapng_take_error(r->w, err);
    pthread_mutex_unlock(&r->lock);
    return any;
}

struct wf_pcapng_counts wf_capture_ring_counts(struct wf_capture_ring *r)
{
    struct wf_pcapng_counts c;

    pthread_mutex_lock(&r->lock);
    c = wf_pcapng_counts(r->w);
    pthread_mutex_unlock(&r->lock);
    c.lost += atomic_load_explicit(&r->lost, memory_order_relaxed);
    return c;
}

void wf_capture_ring_drain(struct wf_capture_ring *r)
{
    while (atomic_load_explicit(&r->tail, memory_order_acquire) !=
           atomic_load_explicit(&r->head, memory_order_relaxed))
        poll(NULL, 0, 1);
    pthread_mutex_lock(&r->lock);
    wf_pcapng_flush(r->w);
    pthread_mutex_unlock(&r->lock);
}

void wf_capture_ring_free(struct wf_capture_ring *r)
{
    if (!r)
        return;
    atomic_store(&r->stop, true);
    pthread_join(r->thread, NULL);
    pthread_mutex_destroy(&r->lock);
    free(r->frame);
    free(r->buf);
    free(r);
}
