/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/mailbox.h"

#include <string.h>

#include "sim/lcore.h"

static struct wf_fifo_node *node_of(const struct wf_mailbox *m, struct wf_event *ev)
{
    return (struct wf_fifo_node *)((char *)ev + m->node_off);
}

static struct wf_event *event_of(const struct wf_mailbox *m, struct wf_fifo_node *n)
{
    return (struct wf_event *)((char *)n - m->node_off);
}

static bool place(struct wf_mailbox *m, struct wf_event *ev)
{
    if (m->next - m->head_seen > m->slots_mask) {
        m->head_seen = atomic_load_explicit(&m->head, memory_order_acquire);
        if (m->next - m->head_seen > m->slots_mask)
            return false;
    }
    m->slots[m->next++ & m->slots_mask] = ev;
    return true;
}

static void ring_put(struct wf_mailbox *m, struct wf_event *ev)
{
    m->sent++;
    if (!m->overflow.count && place(m, ev))
        return;
    m->overflowed++;
    wf_fifo_push(&m->overflow, node_of(m, ev));
}

static bool ring_flush(struct wf_mailbox *m, uint64_t promise_ps)
{
    while (m->overflow.head && place(m, event_of(m, m->overflow.head)))
        wf_fifo_pop(&m->overflow);
    if (m->next != atomic_load_explicit(&m->tail, memory_order_relaxed))
        atomic_store_explicit(&m->tail, m->next, memory_order_release);
    if (m->overflow.count)
        return false;
    if (promise_ps != atomic_load_explicit(&m->promise_ps, memory_order_relaxed))
        atomic_store_explicit(&m->promise_ps, promise_ps, memory_order_release);
    return true;
}

static uint64_t ring_promise(struct wf_mailbox *m)
{
    return atomic_load_explicit(&m->promise_ps, memory_order_acquire);
}

static bool ring_waiting(struct wf_mailbox *m)
{
    return atomic_load_explicit(&m->tail, memory_order_acquire) !=
           atomic_load_explicit(&m->head, memory_order_relaxed);
}

static uint64_t ring_drain(struct wf_mailbox *m, struct wf_lcore *to)
{
    uint64_t tail = atomic_load_explicit(&m->tail, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&m->head, memory_order_relaxed), n = tail - head;

    for (; head != tail; head++)
        wf_lcore_adopt(to, m->slots[head & m->slots_mask]);
    if (n)
        atomic_store_explicit(&m->head, head, memory_order_release);
    m->received += n;
    return n;
}

const struct wf_mailbox_ops wf_mailbox_ring = {
    .put = ring_put,
    .flush = ring_flush,
    .promise = ring_promise,
    .waiting = ring_waiting,
    .drain = ring_drain,
};

void wf_mailbox_init(struct wf_mailbox *m, struct wf_arena *arena, uint32_t slots,
                     ptrdiff_t node_off)
{
    uint32_t n = 1;

    while (n < slots)
        n *= 2;
    memset(m, 0, sizeof(*m));
    m->ops = &wf_mailbox_ring;
    m->node_off = node_off;
    m->slots_mask = n - 1;
    m->slots = wf_arena_alloc_line(arena, n * sizeof(*m->slots));
}
