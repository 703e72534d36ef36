/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intrusive FIFO of objects that embed a struct wf_fifo_node. No allocation, no ownership.
 */
#ifndef WEFT_BASE_LIST_H
#define WEFT_BASE_LIST_H

#include <stddef.h>
#include <stdint.h>

struct wf_fifo_node {
    struct wf_fifo_node *next;
};

struct wf_fifo {
    struct wf_fifo_node *head, *tail; /* tail: while there is a head */
    uint32_t count;
};

static inline void wf_fifo_push(struct wf_fifo *f, struct wf_fifo_node *n)
{
    n->next = NULL;
    if (f->head)
        f->tail->next = n;
    else
        f->head = n;
    f->tail = n;
    f->count++;
}

/* Of one that is not empty. */
static inline struct wf_fifo_node *wf_fifo_pop_head(struct wf_fifo *f)
{
    struct wf_fifo_node *n = f->head;

    f->head = n->next;
    f->count--;
    return n;
}

static inline struct wf_fifo_node *wf_fifo_pop(struct wf_fifo *f)
{
    return f->head ? wf_fifo_pop_head(f) : NULL;
}

/* An address that is asked for often is computed once: the compiler would rather do it again from
 * what it was made of each time than keep it. */
#define WF_IN_REGISTER(ptr) __asm__("" : "+r"(ptr))

#define WF_CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#endif
