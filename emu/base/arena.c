/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, LINE = 64 };

struct wf_arena_block {
    struct wf_arena_block *next;
    size_t used, size; /* of data */
    _Alignas(LINE) unsigned char data[];
};

static struct wf_arena_block *block_new(size_t bytes)
{
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    size_t all = (sizeof(struct wf_arena_block) + size + LINE - 1) & ~(size_t)(LINE - 1);
    struct wf_arena_block *b = aligned_alloc(LINE, all);

    if (!b) {
        fprintf(stderr, "weft: out of memory (%zu bytes asked)\n", bytes);
        abort();
    }
    memset(b, 0, all);
    b->size = size;
    return b;
}

static void *alloc(struct wf_arena *a, size_t bytes, size_t align)
{
    struct wf_arena_block *b = a->head;
    size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;

    if (!b || at + bytes > b->size) {
        b = block_new(bytes);
        /* a large request does not end the current block's use */
        if (a->head && bytes > BLOCK_BYTES / 4) {
            b->next = a->head->next;
            a->head->next = b;
        } else {
            b->next = a->head;
            a->head = b;
        }
        at = 0;
    }
    b->used = at + bytes;
    a->bytes += bytes;
    return b->data + at;
}

void *wf_arena_alloc(struct wf_arena *a, size_t bytes)
{
    return alloc(a, bytes, 16);
}

void *wf_arena_alloc_line(struct wf_arena *a, size_t bytes)
{
    return alloc(a, bytes, LINE);
}

char *wf_arena_strdup(struct wf_arena *a, const char *s)
{
    size_t n = strlen(s) + 1;

    return memcpy(wf_arena_alloc(a, n), s, n);
}

char *wf_arena_printf(struct wf_arena *a, const char *fmt, ...)
{
    va_list ap, ap2;
    char *s;
    int n;

    va_start(ap, fmt);
    va_copy(ap2, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    s = wf_arena_alloc(a, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap2);
    va_end(ap2);
    return s;
}

void wf_arena_free(struct wf_arena *a)
{
    struct wf_arena_block *b = a->head;

    while (b) {
        struct wf_arena_block *next = b->next;

        free(b);
        b = next;
    }
    a->head = NULL;
    a->bytes = 0;
}
