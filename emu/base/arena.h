/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An arena: memory that lives as long as the fabric, the scenario or the test that made it.
 * Nothing is freed singly. All memory is zeroed and 64-byte aligned on request.
 */
#ifndef WEFT_BASE_ARENA_H
#define WEFT_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct wf_arena_block;
struct wf_arena {
    struct wf_arena_block *head;
    size_t bytes; /* handed out in all */
};

/* Zeroed memory, 16-byte aligned. Aborts when the machine has none: that is not recoverable. */
void *wf_arena_alloc(struct wf_arena *a, size_t bytes);
/* The same on a cache line of its own. */
void *wf_arena_alloc_line(struct wf_arena *a, size_t bytes);
char *wf_arena_strdup(struct wf_arena *a, const char *s);
char *wf_arena_printf(struct wf_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wf_arena_free(struct wf_arena *a);

#define WF_ARENA_NEW(a, type)      ((type *)wf_arena_alloc_line((a), sizeof(type)))
#define WF_ARENA_ARRAY(a, type, n) ((type *)wf_arena_alloc_line((a), sizeof(type) * (size_t)(n)))

#endif
