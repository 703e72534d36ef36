/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/entry.h"

#include <string.h>

enum { FEW = 24, RUN = 12 };

static void insertion_sort(struct wf_entry *a, size_t sorted, size_t n)
{
    for (size_t i = sorted; i < n; i++) {
        struct wf_entry e = a[i];
        size_t at = i;

        for (; at > 0 && wf_entry_before(&e, &a[at - 1]); at--)
            a[at] = a[at - 1];
        a[at] = e;
    }
}

/* Entries from the first that are in order as they are. */
static size_t run_length(const struct wf_entry *a, size_t n)
{
    size_t len = 1;

    while (len < n && (a[len].order > a[len - 1].order || !wf_entry_before(&a[len], &a[len - 1])))
        len++;
    return len;
}

/* Short runs are made RUN long; returns how many there are. */
static size_t make_runs(struct wf_entry *a, size_t n)
{
    size_t runs = 0;

    for (size_t i = 0; i < n; runs++) {
        size_t len = run_length(a + i, n - i), want = n - i < RUN ? n - i : RUN;

        if (len < want) {
            insertion_sort(a + i, len, want);
            len = want;
        }
        i += len;
    }
    return runs;
}

static void merge(const struct wf_entry *a, const struct wf_entry *a_end, const struct wf_entry *b,
                  const struct wf_entry *b_end, struct wf_entry *to)
{
    while (a < a_end && b < b_end) {
        bool second = wf_entry_before(b, a);

        *to++ = *(second ? b : a);
        b += second;
        a += !second;
    }
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

/* Merge neighbouring runs into `to`; returns how many are left. */
static size_t merge_runs(const struct wf_entry *a, struct wf_entry *to, size_t n)
{
    size_t runs = 0;

    for (size_t i = 0; i < n; runs++) {
        size_t first = run_length(a + i, n - i);
        size_t second = i + first < n ? run_length(a + i + first, n - i - first) : 0;

        merge(a + i, a + i + first, a + i + first, a + i + first + second, to + i);
        i += first + second;
    }
    return runs;
}

void wf_entry_sort(struct wf_entry *a, struct wf_entry *spare, size_t n)
{
    struct wf_entry *from = a, *to = spare;

    size_t sorted = run_length(a, n);

    if (sorted == n)
        return;
    if (n <= FEW) {
        insertion_sort(a, sorted, n);
        return;
    }
    for (size_t runs = make_runs(a, n); runs > 1;) {
        struct wf_entry *swap = from;

        runs = merge_runs(from, to, n);
        from = to;
        to = swap;
    }
    if (from != a)
        memcpy(a, from, n * sizeof(*a));
}

void wf_entry_heap_push(struct wf_entry *heap, size_t n, const struct wf_entry *e)
{
    while (n > 0 && wf_entry_before(e, &heap[(n - 1) / 2])) {
        heap[n] = heap[(n - 1) / 2];
        n = (n - 1) / 2;
    }
    heap[n] = *e;
}

void wf_entry_heap_take(struct wf_entry *heap, size_t n, size_t at)
{
    struct wf_entry last = heap[n - 1];
    size_t child;

    if (at == n - 1)
        return;
    while ((child = 2 * at + 1) < n - 1) {
        if (child + 1 < n - 1 && wf_entry_before(&heap[child + 1], &heap[child]))
            child++;
        if (!wf_entry_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    wf_entry_heap_push(heap, at, &last); /* it may belong above, where not the first was taken */
}
