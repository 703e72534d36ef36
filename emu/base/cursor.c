/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds-checked byte cursors: the copies. See cursor.h. */
#include "base/cursor.h"

void wf_rd_bytes(struct wf_rd *r, void *to, size_t n)
{
    const uint8_t *p = wf_rd_take(r, n);

    if (!n)
        return;
    if (p)
        memcpy(to, p, n);
    else
        memset(to, 0, n);
}

void wf_wr_bytes(struct wf_wr *w, const void *from, size_t n)
{
    uint8_t *p = wf_wr_take(w, n);

    if (p && n)
        memcpy(p, from, n);
}

void wf_wr_zeros(struct wf_wr *w, size_t n)
{
    uint8_t *p = wf_wr_take(w, n);

    if (p && n)
        memset(p, 0, n);
}
