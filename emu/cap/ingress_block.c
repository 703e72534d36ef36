/* SPDX-License-Identifier: BSD-3-Clause */
#include "cap/ingress_block.h"

#include <string.h>

const char *const wf_ingress_icrc_comments[] = {
    [WF_STIM_ICRC_WHOLE] = NULL,
    [WF_STIM_ICRC_NONE] = "payload cut, no ICRC",
    [WF_STIM_ICRC_OK] = "payload cut, ICRC right",
    [WF_STIM_ICRC_BAD] = "payload cut, ICRC wrong",
    NULL,
};

size_t wf_ingress_put_stimulus(uint8_t *to, const struct wf_stimulus *st)
{
    size_t n = st->where ? strnlen(st->where, WF_STIM_WHERE_MAX) : 0;

    to[0] = (uint8_t)st->kind;
    to[1] = (uint8_t)((st->on ? WF_STIM_ON : 0) | (st->first ? WF_STIM_FIRST : 0));
    wf_st16(to + 2, (uint16_t)st->edge);
    wf_st64(to + 4, st->value);
    to[12] = st->vector;
    to[13] = to[14] = 0;
    to[15] = (uint8_t)n;
    if (n)
        memcpy(to + 16, st->where, n);
    return 16 + n;
}

bool wf_ingress_get_stimulus(const uint8_t *p, size_t len, struct wf_stimulus *st, char *where)
{
    struct wf_rd r = wf_rd_init(p, len);
    uint8_t flags, n;

    memset(st, 0, sizeof(*st));
    st->kind = (enum wf_stimulus_kind)wf_rd_u8(&r);
    flags = wf_rd_u8(&r);
    st->on = flags & WF_STIM_ON;
    st->first = flags & WF_STIM_FIRST;
    st->edge = wf_rd_be16(&r);
    st->value = wf_rd_be64(&r);
    st->vector = wf_rd_u8(&r);
    wf_rd_be16(&r); /* of no use */
    n = wf_rd_u8(&r);
    wf_rd_bytes(&r, where, n);
    where[r.err ? 0 : n] = '\0';
    st->where = where;
    return !r.err && st->kind < WF_STIM_KINDS && st->kind != WF_STIM_FRAME;
}
