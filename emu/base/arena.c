/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK_BYTES = 1 << 16, BLOCK_BYTES_MAX = 1 << 25, HUGE_BYTES = 1 << 21, LINE = 64 };

struct wf_arena_block {
    struct wf_arena_block *next;
    size_t used, size; /* of data */
    _Alignas(LINE) unsigned char data[];
};

/* Blocks grow with the arena, so that what is large lies in huge pages where the machine has them:
 * a walk through a large fabric would otherwise spend its time on looking up pages. */
static size_t block_bytes(const struct wf_arena *a, size_t bytes)
{
    size_t size = a->bytes / 8;

    size = size < BLOCK_BYTES ? BLOCK_BYTES : size > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX : size;
    return sizeof(struct wf_arena_block) + (size > bytes ? size : bytes);
}

static struct wf_arena_block *block_new(const struct wf_arena *a, size_t bytes)
{
    size_t all = block_bytes(a, bytes);
    size_t align = all < HUGE_BYTES ? LINE : HUGE_BYTES;
    struct wf_arena_block *b;

    all = (all + align - 1) & ~(align - 1);
    b = aligned_alloc(align, all);

    if (!b) {
        fprintf(stderr, "weft: out of memory (%zu bytes asked)\n", bytes);
        abort();
    }
    if (align == HUGE_BYTES)
        madvise(b, all, MADV_HUGEPAGE); /* a wish; where it is refused pages stay small */
    memset(b, 0, all);
    b->size = all - sizeof(*b);
    return b;
}

static void *alloc(struct wf_arena *a, size_t bytes, size_t align)
{
    struct wf_arena_block *b = a->head;
    size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;

    if (!b || at + bytes > b->size) {
        b = block_new(a, bytes);
        /* the block with more room is the one that is used on */
        if (a->head && b->size - bytes < a->head->size - a->head->used) {
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
