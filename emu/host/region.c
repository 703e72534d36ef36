/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of an endpoint that listens. Each connection finds it filled with a pattern and is
 * compared at its end, yet a request alone costs nothing that grows with it: a page is filled when
 * a packet first looks at it, and only pages that the connection has written are compared. So what
 * a stranger makes us do is bounded by the packets that he sends.
 */
#include <string.h>

#include "base/assert.h"
#include "host/endpoint.h"

enum {
    PAGE = 4096, /* no packet has more, so that one looks at two pages at most */
    CLEAN = UINT32_MAX,
};

void wf_region_new(struct wf_peer_qp *p, struct wf_arena *arena)
{
    p->pages = WF_ARENA_ARRAY(arena, uint32_t, (p->mem_len + PAGE - 1) / PAGE);
}

void wf_region_open(struct wf_peer_qp *p)
{
    if (p->pages && ++p->epoch == CLEAN)
        p->epoch = 1;
}

static uint64_t page_len(const struct wf_peer_qp *p, uint64_t page)
{
    uint64_t left = p->mem_len - page * PAGE;

    return left < PAGE ? left : PAGE;
}

void wf_region_touch(struct wf_peer_qp *p, uint64_t off, uint64_t len, bool write)
{
    /* the whole of a message is only asked about; its packets come one by one */
    if (!p->pages || !len || len > PAGE)
        return;
    WF_ASSERT(off + len <= p->mem_len);
    for (uint64_t i = off / PAGE; i <= (off + len - 1) / PAGE; i++) {
        if (p->pages[i] != CLEAN && p->pages[i] != p->epoch) {
            wf_pattern_fill(p->mem + i * PAGE, p->ep->host->cfg.listen.pattern, i * PAGE,
                            page_len(p, i));
            p->pages[i] = CLEAN;
        }
        if (write)
            p->pages[i] = p->epoch;
    }
}

void wf_region_forget(struct wf_peer_qp *p, uint64_t len)
{
    for (uint64_t off = 0; p->pages && off < len; off += PAGE)
        p->pages[off / PAGE] = 0; /* of no connection: filled anew before anybody looks */
}

static bool written(const struct wf_peer_qp *p, uint64_t page)
{
    return p->pages[page] == p->epoch;
}

/* How many of the first len bytes are the pattern; what was never written is not. */
uint64_t wf_region_right(const struct wf_peer_qp *p, uint32_t pattern, uint64_t len)
{
    uint64_t right = 0;

    for (uint64_t off = 0; off < len; off += PAGE)
        if (written(p, off / PAGE))
            right +=
                wf_pattern_right(p->mem + off, pattern, off, len - off < PAGE ? len - off : PAGE);
    return right;
}

uint64_t wf_region_word(const struct wf_peer_qp *p)
{
    uint64_t first = wf_pattern_word(p->ep->host->cfg.listen.pattern, 0);

    if (written(p, 0))
        memcpy(&first, p->mem, sizeof(first));
    return first;
}
