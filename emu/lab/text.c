/* SPDX-License-Identifier: BSD-3-Clause */
/* See text.h. */
#include "lab/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void wf_text_add(struct wf_text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->buf + t->used, t->len - t->used, fmt, ap);
    va_end(ap);
    if (n < 0 || t->used + n >= t->len) {
        t->overflow = true;
        return;
    }
    t->used += n;
}

bool wf_ip_text(const struct wf_ip_prefix *p, struct wf_ip_text *t)
{
    uint8_t net[16];
    int af = p->family == 4 ? AF_INET : AF_INET6, skip = p->family == 4 ? 12 : 0;

    if (!p->family)
        return false;
    memcpy(net, p->addr, 16);
    for (int bit = skip * 8 + p->len; bit < 128; bit++)
        net[bit / 8] &= ~(0x80 >> bit % 8);
    inet_ntop(af, p->addr + skip, t->addr, sizeof(t->addr));
    inet_ntop(af, net + skip, t->net, sizeof(t->net));
    t->len = p->len;
    return true;
}
