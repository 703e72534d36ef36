/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings, the writer thread and its reorder queue. See recorder.h. */
#include "cap/recorder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum {
    RING_DEFAULT = 8 << 20, /* over all rings */
    RING_MIN = 64 << 10,    /* of one */
    IDLE_MS = 2,            /* the writer looks this often when there is nothing */
    YIELDS = 64,            /* of a waiting producer, before it sleeps */
};

struct head {
    uint64_t t_ps, key, len;
};

/* Bytes [tail, head) are records: a head and its data, padded to 8; positions never wrap. */
struct ring {
    uint8_t *buf;
    uint64_t mask;
    _Alignas(64) _Atomic uint64_t head; /* the producer's */
    _Atomic uint64_t mark_ps;           /* of its last record: none before it will follow */
    _Atomic uint64_t lost;
    uint64_t tail_seen;
    _Alignas(64) _Atomic uint64_t tail; /* the writer's */
};

/* A record that waits for its turn. */
struct item {
    uint64_t t_ps, key, seq;
    uint32_t len;
    uint8_t *data; /* follows in the same allocation */
};

struct wf_recorder {
    struct wf_recorder_conf conf;
    struct ring *rings;
    pthread_mutex_t lock;
    pthread_t thread;
    _Atomic bool stop;
    _Atomic uint64_t drain_to_ps; /* 0: none asked for */
    /* the thread's */
    struct item **heap;
    size_t n, cap;
    uint64_t seq;
    uint64_t newest_ps; /* of all records that were taken out */
};

static uint64_t padded(uint64_t n)
{
    return (n + 7) & ~7ull;
}

/* ---- rings ---- */

static void copy_in(struct ring *r, uint64_t at, const void *p, uint64_t n)
{
    uint64_t i = at & r->mask, first = r->mask + 1 - i < n ? r->mask + 1 - i : n;

    if (!n)
        return;
    memcpy(r->buf + i, p, first);
    memcpy(r->buf, (const uint8_t *)p + first, n - first);
}

static void copy_out(const struct ring *r, uint64_t at, void *p, uint64_t n)
{
    uint64_t i = at & r->mask, first = r->mask + 1 - i < n ? r->mask + 1 - i : n;

    memcpy(p, r->buf + i, first);
    memcpy((uint8_t *)p + first, r->buf, n - first);
}

static bool fits(struct ring *g, uint64_t head, uint64_t need)
{
    if (head + need - g->tail_seen <= g->mask + 1)
        return true;
    g->tail_seen = atomic_load_explicit(&g->tail, memory_order_acquire);
    return head + need - g->tail_seen <= g->mask + 1;
}

/* Only a virtual run comes here: the disk is slower than it, or the writer has no core now. */
static void wait_for_room(struct ring *g, uint64_t head, uint64_t need)
{
    for (unsigned i = 0; !fits(g, head, need); i++) {
        if (i < YIELDS)
            sched_yield();
        else
            poll(NULL, 0, 1);
    }
}

bool wf_recorder_put(struct wf_recorder *r, unsigned ring, uint64_t t_ps, uint64_t key,
                     const void *a, uint32_t a_len, const void *b, uint32_t b_len)
{
    struct ring *g = &r->rings[ring];
    const struct head h = {t_ps, key, (uint64_t)a_len + b_len};
    uint64_t need = sizeof(h) + padded(h.len);
    uint64_t head = atomic_load_explicit(&g->head, memory_order_relaxed);

    WF_ASSERT(h.len <= WF_RECORD_MAX);
    if (!fits(g, head, need)) {
        if (r->conf.lossy) {
            atomic_fetch_add_explicit(&g->lost, 1, memory_order_relaxed);
            return false;
        }
        wait_for_room(g, head, need);
    }
    copy_in(g, head, &h, sizeof(h));
    copy_in(g, head + sizeof(h), a, a_len);
    copy_in(g, head + sizeof(h) + a_len, b, b_len);
    atomic_store_explicit(&g->head, head + need, memory_order_release);
    atomic_store_explicit(&g->mark_ps, t_ps, memory_order_release);
    return true;
}

/* ---- the reorder queue: a binary heap ---- */

static bool before(const struct item *a, const struct item *b)
{
    if (a->t_ps != b->t_ps)
        return a->t_ps < b->t_ps;
    return a->key != b->key ? a->key < b->key : a->seq < b->seq;
}

static struct item *new_item(struct wf_recorder *r, uint64_t t_ps, uint64_t key, uint64_t len)
{
    struct item *it = malloc(sizeof(*it) + len);

    WF_ASSERT(it);
    *it = (struct item){t_ps, key, r->seq++, (uint32_t)len, (uint8_t *)(it + 1)};
    return it;
}

static void push(struct wf_recorder *r, struct item *it)
{
    size_t i = r->n++;

    if (r->n > r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1024;
        r->heap = realloc(r->heap, r->cap * sizeof(*r->heap));
        WF_ASSERT(r->heap);
    }
    for (; i && before(it, r->heap[(i - 1) / 2]); i = (i - 1) / 2)
        r->heap[i] = r->heap[(i - 1) / 2];
    r->heap[i] = it;
}

static struct item *pop(struct wf_recorder *r)
{
    struct item *top = r->heap[0], *last = r->heap[--r->n];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < r->n) {
        child += child + 1 < r->n && before(r->heap[child + 1], r->heap[child]);
        if (!before(r->heap[child], last))
            break;
        r->heap[i] = r->heap[child];
        i = child;
    }
    r->heap[i] = last;
    return top;
}

void wf_recorder_plan(struct wf_recorder *r, uint64_t t_ps, uint64_t key, const void *data,
                      uint32_t len)
{
    struct item *it = new_item(r, t_ps, key, len);

    memcpy(it->data, data, len);
    push(r, it);
}

/* ---- the thread ---- */

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Before this time no ring will be given anything any more. */
static uint64_t safe_ps(struct wf_recorder *r)
{
    uint64_t safe = UINT64_MAX;

    for (unsigned i = 0; i < r->conf.rings; i++) {
        uint64_t t = atomic_load_explicit(&r->rings[i].mark_ps, memory_order_acquire);

        if (r->conf.published_ps)
            t = max_u64(t, r->conf.published_ps(r->conf.published_arg, i));
        safe = t < safe ? t : safe;
    }
    return safe;
}

/* Make room first: only then write, which may take long. */
static bool take_out(struct wf_recorder *r, struct ring *g)
{
    uint64_t tail = atomic_load_explicit(&g->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&g->head, memory_order_acquire);
    bool any = tail != head;

    while (tail != head) {
        struct head h;
        struct item *it;

        copy_out(g, tail, &h, sizeof(h));
        it = new_item(r, h.t_ps, h.key, h.len);
        r->newest_ps = max_u64(r->newest_ps, h.t_ps);
        copy_out(g, tail + sizeof(h), it->data, h.len);
        push(r, it);
        tail += sizeof(h) + padded(h.len);
        atomic_store_explicit(&g->tail, tail, memory_order_release);
    }
    return any;
}

static void write_before(struct wf_recorder *r, uint64_t limit_ps)
{
    pthread_mutex_lock(&r->lock);
    while (r->n && r->heap[0]->t_ps < limit_ps) {
        struct item *it = pop(r);

        r->conf.write(r->conf.arg, it->t_ps, it->key, it->data, it->len);
        free(it);
    }
    pthread_mutex_unlock(&r->lock);
}

static void flush(struct wf_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->conf.flush)
        r->conf.flush(r->conf.arg);
    pthread_mutex_unlock(&r->lock);
}

/* One round; false when there was nothing to do. A virtual run that has nothing left publishes the
 * end of time and then stands at its last event, where the last records are put: nothing of the
 * newest instant is written unless asked for. A live file is looked into while it grows. */
static bool round_of(struct wf_recorder *r)
{
    uint64_t drain_ps = atomic_load_explicit(&r->drain_to_ps, memory_order_acquire);
    uint64_t limit = safe_ps(r);
    bool any = false;

    for (unsigned i = 0; i < r->conf.rings; i++)
        any |= take_out(r, &r->rings[i]);
    if (!r->conf.lossy && limit > r->newest_ps)
        limit = r->newest_ps;
    limit = max_u64(limit, drain_ps);
    if (r->n && r->heap[0]->t_ps < limit)
        write_before(r, limit);
    if (drain_ps) {
        flush(r);
        atomic_store_explicit(&r->drain_to_ps, 0, memory_order_release);
    }
    return any;
}

static void *writer(void *arg)
{
    struct wf_recorder *r = arg;
    bool was_idle = false;

    for (;;) {
        bool stop = atomic_load(&r->stop);

        if (round_of(r)) {
            was_idle = false;
            continue;
        }
        if (stop)
            break;
        if (!was_idle) /* who looks into the file while the run goes on sees it all */
            flush(r);
        was_idle = true;
        poll(NULL, 0, IDLE_MS);
    }
    return NULL;
}

/* ---- the control side ---- */

static int make_rings(struct wf_recorder *r, size_t bytes)
{
    uint64_t size = RING_MIN;

    while (size < bytes)
        size *= 2;
    if (posix_memalign((void **)&r->rings, 64, r->conf.rings * sizeof(*r->rings)))
        r->rings = NULL;
    if (!r->rings)
        return ENOMEM;
    memset(r->rings, 0, r->conf.rings * sizeof(*r->rings));
    for (unsigned i = 0; i < r->conf.rings; i++) {
        r->rings[i].mask = size - 1;
        r->rings[i].buf = malloc(size);
        if (!r->rings[i].buf)
            return ENOMEM;
    }
    return 0;
}

static void release(struct wf_recorder *r)
{
    for (unsigned i = 0; r->rings && i < r->conf.rings; i++)
        free(r->rings[i].buf);
    while (r->n)
        free(r->heap[--r->n]);
    pthread_mutex_destroy(&r->lock);
    free(r->heap);
    free(r->rings);
    free(r);
}

int wf_recorder_new(struct wf_recorder **out, const struct wf_recorder_conf *conf,
                    struct wf_err *err)
{
    struct wf_recorder *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (!r)
        return wf_err_set(err, ENOMEM, "no memory for a file's records");
    r->conf = *conf;
    pthread_mutex_init(&r->lock, NULL);
    rc = make_rings(r, conf->ring_bytes ? conf->ring_bytes : RING_DEFAULT / conf->rings);
    if (!rc)
        rc = pthread_create(&r->thread, NULL, writer, r);
    if (rc) {
        release(r);
        return wf_err_set(err, rc, "cannot start a file's writer: %s", strerror(rc));
    }
    *out = r;
    return 0;
}

void wf_recorder_lock(struct wf_recorder *r)
{
    pthread_mutex_lock(&r->lock);
}

bool wf_recorder_try(struct wf_recorder *r)
{
    return pthread_mutex_trylock(&r->lock) == 0;
}

void wf_recorder_unlock(struct wf_recorder *r)
{
    pthread_mutex_unlock(&r->lock);
}

uint64_t wf_recorder_lost(const struct wf_recorder *r)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < r->conf.rings; i++)
        n += atomic_load_explicit(&r->rings[i].lost, memory_order_relaxed);
    return n;
}

void wf_recorder_drain(struct wf_recorder *r, uint64_t t_ps)
{
    atomic_store_explicit(&r->drain_to_ps, t_ps < UINT64_MAX ? t_ps + 1 : t_ps,
                          memory_order_release);
    while (atomic_load_explicit(&r->drain_to_ps, memory_order_acquire))
        poll(NULL, 0, 1);
}

void wf_recorder_free(struct wf_recorder *r)
{
    if (!r)
        return;
    atomic_store(&r->stop, true);
    pthread_join(r->thread, NULL);
    release(r);
}
