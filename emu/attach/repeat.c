/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recorded stimulus acts again, on edges without devices. A log may be anybody's: whatever does
 * not fit the fabric is an error with the value found. A frame whose payload was cut gets zeros,
 * and the ICRC that is right for them, or wrong where the frame's was, so that the switches and
 * counters see what they saw.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "attach/ingress.h"
#include "wire/bth.h"
#include "wire/icrc.h"

static int restore(uint8_t *frame, const struct wf_stimulus *st, struct wf_err *err)
{
    struct wf_parsed p;

    memset(frame + st->cap_bytes, 0, st->len_bytes - st->cap_bytes);
    if (st->icrc != WF_STIM_ICRC_OK && st->icrc != WF_STIM_ICRC_BAD)
        return 0;
    wf_parse(frame, st->len_bytes, st->len_bytes, &p);
    if (!(p.flags & WF_P_BTH) || !p.icrc_off || p.icrc_off + WF_ICRC_LEN > st->len_bytes ||
        p.icrc_off < st->cap_bytes || p.payload_off > st->cap_bytes)
        return wf_err_set(err, EINVAL, "a cut frame of %u bytes has no place for its ICRC",
                          st->len_bytes);
    wf_icrc_store(frame + p.icrc_off,
                  wf_icrc_of(frame, st->len_bytes, &p) ^ (st->icrc == WF_STIM_ICRC_BAD ? 1u : 0));
    return 0;
}

static int frame(struct wf_edge *e, const struct wf_stimulus *st, struct wf_err *err)
{
    struct wf_pkt *pkt;
    int rc;

    if (st->cap_bytes > st->len_bytes || st->len_bytes > WF_FULL_ROOM)
        return wf_err_set(err, EINVAL, "a frame of %u bytes, %u of them there", st->len_bytes,
                          st->cap_bytes);
    pkt = wf_pkt_new(e->node.net, st->len_bytes);
    if (!pkt)
        return wf_err_set(err, ENOMEM, "%s: no buffer for a recorded frame", e->node.name);
    if (st->cap_bytes)
        memcpy(wf_pkt_hdr_rw(pkt), st->frame, st->cap_bytes);
    rc = restore(wf_pkt_hdr_rw(pkt), st, err);
    if (rc)
        wf_pkt_free(e->node.net, pkt);
    else
        wf_ingress_frame(e, pkt);
    return rc;
}

static int taken(struct wf_edge *e, const struct wf_stimulus *st, struct wf_err *err)
{
    uint32_t bytes[WF_STIM_TAKEN_MAX];

    if (!st->value || st->value > WF_STIM_TAKEN_MAX || st->value > e->fifo_count)
        return wf_err_set(err, EINVAL, "the peer takes %" PRIu64 " frames, %u wait", st->value,
                          e->fifo_count);
    for (unsigned i = 0; i < st->value; i++) {
        struct rte_mbuf *m = e->fifo[(e->fifo_head + i) % e->fifo_len];

        bytes[i] = rte_pktmbuf_pkt_len(m) + WF_FCS_LEN;
        rte_pktmbuf_free(m);
    }
    wf_ingress_taken(e, bytes, (unsigned)st->value);
    return 0;
}

static int count(struct wf_edge *e, const struct wf_stimulus *st, struct wf_err *err)
{
    static const enum wf_ctr_EDGE theirs[] = {WF_EDGE_IN_TOO_LONG, WF_EDGE_OWN_FRAMES,
                                              WF_EDGE_MISSED_FRAMES};

    for (unsigned i = 0; st->where && i < sizeof(theirs) / sizeof(theirs[0]); i++)
        if (!strcmp(st->where, wf_ctrs_edge.rows[theirs[i]].name)) {
            wf_ingress_count(e, theirs[i], st->value);
            return 0;
        }
    return wf_err_set(err, EINVAL, "counter '%.60s' is none of a device's",
                      st->where ? st->where : "");
}

static int of_edge(struct wf_edge *e, const struct wf_stimulus *st, struct wf_err *err)
{
    switch (st->kind) {
    case WF_STIM_FRAME:
        return frame(e, st, err);
    case WF_STIM_TAKEN:
        return taken(e, st, err);
    case WF_STIM_PEER:
        wf_ingress_peer(e, st->on);
        return 0;
    case WF_STIM_MTU:
        if (st->value > UINT32_MAX)
            return wf_err_set(err, ERANGE, "an MTU of %" PRIu64, st->value);
        wf_ingress_mtu(e, (uint32_t)st->value);
        return 0;
    case WF_STIM_PROBE:
        wf_ingress_probe(e);
        return 0;
    case WF_STIM_HELD:
        wf_ingress_held(e, st->on);
        return 0;
    default:
        return count(e, st, err);
    }
}

static int at_link(struct wf_edges *es, const struct wf_stimulus *st, struct wf_err *err)
{
    struct wf_link *link = st->where ? wf_fabric_link(es->f, st->where) : NULL;

    if (!link)
        return wf_err_set(err, EINVAL, "there is no link '%.80s'", st->where ? st->where : "");
    if (st->kind == WF_STIM_LINK)
        wf_ingress_link(es, link, st->on);
    else if (st->value < WF_LINK_RATE_MIN_BPS || st->value > WF_LINK_RATE_MAX_BPS)
        return wf_err_set(err, ERANGE, "a rate of %" PRIu64 " bit/s", st->value);
    else
        wf_ingress_link_rate(es, link, st->value);
    return 0;
}

static int at_port(struct wf_edges *es, const struct wf_stimulus *st, struct wf_err *err)
{
    struct wf_port *port = st->where ? wf_fabric_port(es->f, st->where) : NULL;

    if (!port)
        return wf_err_set(err, EINVAL, "there is no port '%.80s'", st->where ? st->where : "");
    if (st->on)
        wf_ingress_pause(es, port, (uint16_t)st->value);
    else
        wf_ingress_pfc(es, port, st->vector, (uint16_t)st->value);
    return 0;
}

int wf_ingress_repeat(struct wf_edges *es, const struct wf_stimulus *st, struct wf_err *err)
{
    int rc;

    es->opening = st->first;
    if (st->kind >= WF_STIM_KINDS)
        rc = wf_err_set(err, EINVAL, "a stimulus of kind %d", (int)st->kind);
    else if (st->kind == WF_STIM_LINK || st->kind == WF_STIM_RATE)
        rc = at_link(es, st, err);
    else if (st->kind == WF_STIM_FAULT)
        rc = wf_ingress_fault(es, st->where ? st->where : "", err);
    else if (st->kind == WF_STIM_PFC)
        rc = at_port(es, st, err);
    else if (st->edge >= es->n)
        rc = wf_err_set(err, EINVAL, "attached host %u of %u", st->edge, es->n);
    else
        rc = of_edge(es->edges[st->edge], st, err);
    es->opening = false;
    return rc;
}
