/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums, orders and names for the report. See report.h. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report.h"

const char *wf_an_addr_text(const struct wf_an_addr *addr, uint8_t family, char *buf, size_t len)
{
    if (family == 4)
        inet_ntop(AF_INET, addr->ip + 12, buf, (socklen_t)len);
    else
        inet_ntop(AF_INET6, addr->ip, buf, (socklen_t)len);
    return buf;
}

const char *wf_an_stream_text(const struct wf_an_stream *s, char *buf, size_t len)
{
    char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

    wf_an_addr_text(&s->key.src, s->key.family, src, sizeof(src));
    wf_an_addr_text(&s->key.dst, s->key.family, dst, sizeof(dst));
    snprintf(buf, len, "%s > %s qp 0x%06x%s", src, dst, s->key.dqpn, s->key.v1 ? " (RoCEv1)" : "");
    return buf;
}

const char *wf_an_stream_filter(const struct wf_analyze *a, const struct wf_an_stream *s, char *buf,
                                size_t len)
{
    const struct wf_an_stream *y = wf_an_peer(s);
    const char *ip = s->key.family == 4 ? "ip" : "ipv6";
    char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
    size_t used;

    wf_an_addr_text(&s->key.src, s->key.family, src, sizeof(src));
    wf_an_addr_text(&s->key.dst, s->key.family, dst, sizeof(dst));
    if (s->key.v1) { /* the GRH is no IPv6 to Wireshark */
        snprintf(buf, len, "infiniband.bth.destqp == 0x%x", s->key.dqpn);
        return buf;
    }
    used = (size_t)snprintf(buf, len,
                            "(%s.src == %s && %s.dst == %s && infiniband.bth.destqp == 0x%x)", ip,
                            src, ip, dst, s->key.dqpn);
    if (y && used < len)
        snprintf(buf + used, len - used,
                 " || (%s.src == %s && %s.dst == %s && infiniband.bth.destqp == 0x%x)", ip, dst, ip,
                 src, y->key.dqpn);
    return buf;
}

const struct wf_an_stream *wf_an_stream_of_finding(const struct wf_analyze *a,
                                                   const struct wf_an_finding *f)
{
    const struct wf_an_stream *s = wf_an_at(&a->table, f->index);

    return s && s->serial == f->stream ? s : NULL;
}

uint32_t wf_an_path_mtu(const struct wf_analyze *a, const struct wf_an_stream *s)
{
    const struct wf_an_stream *y = wf_an_peer(s);

    return y && y->full_payload > s->full_payload ? y->full_payload : s->full_payload;
}

double wf_an_goodput_bps(const struct wf_analyze *a, const struct wf_an_stream *s)
{
    const struct wf_an_stream *y = wf_an_peer(s);
    double span_s = (double)(s->last_t_ps - s->first_t_ps) / 1e12;
    double bytes = (double)s->req.new_bytes + (y ? (double)y->resp.new_read_bytes : 0);

    return span_s > 0 ? bytes * 8 / span_s : 0;
}

static int worst_first(const void *p, const void *q)
{
    const struct wf_an_stream *x = *(const struct wf_an_stream *const *)p;
    const struct wf_an_stream *y = *(const struct wf_an_stream *const *)q;

    for (int v = 0; v < WF_AN_NO_LOSS; v++)
        if (x->losses[v] != y->losses[v])
            return x->losses[v] < y->losses[v] ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

const struct wf_an_stream **wf_an_rows(const struct wf_analyze *a, size_t *n)
{
    const struct wf_an_stream **rows = calloc(a->table.n + 1, sizeof(struct wf_an_stream *));

    *n = 0;
    for (uint32_t i = 0; rows && i < a->table.n; i++) {
        const struct wf_an_stream *s = a->table.streams[i], *y = wf_an_peer(s);

        /* what only answers stands in the row of what it answers */
        if (s->packets && (s->req.packets || !y || !y->req.packets))
            rows[(*n)++] = s;
    }
    if (rows)
        qsort(rows, *n, sizeof(*rows), worst_first);
    return rows;
}

void wf_an_sum(const struct wf_an_report *r, struct wf_an_sum *s)
{
    const struct wf_analyze *a = r->a;

    *s = (struct wf_an_sum){.drops_told = a->n_points > 0};
    for (uint32_t i = 0; i < a->table.n; i++) {
        const struct wf_an_stream *x = a->table.streams[i], *y = wf_an_peer(x);

        if (!x->packets)
            continue;
        s->streams++;
        /* a pair counts once, at whichever comes first */
        s->connections += !y || !y->packets || y->serial > x->serial;
        s->unpaired += !y;
        s->requests += x->req.packets;
        s->new_packets += x->req.new_packets;
        s->again += x->req.again_packets;
        s->cnps += x->cnps;
        s->rnr += x->resp.rnr_naks;
        s->seq_naks += x->resp.seq_naks;
        s->error_naks += x->resp.error_naks;
        s->hurt += x->losses[WF_AN_NETWORK] != 0;
    }
    for (int w = 0; w < WF_AN_WHATS; w++)
        for (int v = 0; v < WF_AN_NO_LOSS; v++)
            s->lost[v] += w == WF_AN_JUMP ? 0 : a->findings.packets[w][v];
    s->breaches = a->findings.totals[WF_AN_BREACH][WF_AN_NO_LOSS];
    for (unsigned i = 0; i < a->n_points; i++) {
        const struct wf_an_point *p = &a->points[i];

        s->frames += p->frames;
        s->rocev2 += p->rocev2;
        s->rocev1 += p->rocev1;
        s->others += p->others + p->control;
        s->cut += p->cut;
        s->bad += p->bad;
        s->not_peeled += p->not_peeled;
        s->snapped += p->snapped;
        s->drops_told &= p->drops_told;
        s->drops += p->drops;
    }
}
