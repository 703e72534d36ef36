/* SPDX-License-Identifier: BSD-3-Clause */
/* Several capture points. See sight.h. */
#include "analyze/sight.h"

bool wf_an_judges(struct wf_analyze *a, struct wf_an_stream *s, const struct wf_an_pkt *p)
{
    if (!s->packets || s->primary == p->point)
        return true;
    s->elsewhere++;
    return false;
}

void wf_an_locate(struct wf_analyze *a, struct wf_an_stream *s, struct wf_an_finding *f)
{
}
