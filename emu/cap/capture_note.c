/* SPDX-License-Identifier: BSD-3-Clause */
/* A note's text and record. See capture_note.h. */
#include "cap/capture_note.h"

#include <stdio.h>

#include "base/units.h"

enum { COMMENT_MAX = 512 };

/* Parts per million as percent. */
static const char *percent(uint32_t ppm, char *buf, size_t len)
{
    snprintf(buf, len, "%u.%04u%%", ppm / 10000, ppm % 10000);
    return buf;
}

/* What the switch has decided of it. */
static size_t decided(const struct wf_capture_note *n, char *buf, size_t used)
{
    const struct wf_pkt_why *d = &n->decided;
    char a[16], b[16];

    if (d->admitted)
        used += (size_t)snprintf(buf + used, COMMENT_MAX - used,
                                 "%spg=%u pg_bytes=%u pg_limit_bytes=%u pool_bytes=%u",
                                 used ? " " : "", n->pg, d->pg_bytes, d->pg_limit, d->pool_bytes);
    if (d->looked)
        used += (size_t)snprintf(buf + used, COMMENT_MAX - used, "%secn_bytes=%u", used ? " " : "",
                                 d->mark_bytes);
    if (d->looked && d->drawn)
        used += (size_t)snprintf(buf + used, COMMENT_MAX - used, " ecn_chance=%s ecn_draw=%s",
                                 percent(d->chance_ppm, a, sizeof(a)),
                                 percent(d->draw_ppm, b, sizeof(b)));
    return used;
}

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
    used = decided(n, buf, used);
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
