/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP and the transport checksum. See udp.h. */
#include "wire/udp.h"

#include <errno.h>

static const struct wf_field udp_rows[] = {
    WF_FIELD(struct wf_udp, sport, 0, 16, DEC, "RFC 768"),
    WF_FIELD(struct wf_udp, dport, 16, 16, DEC, "RFC 768"),
    WF_FIELD(struct wf_udp, len, 32, 16, DEC, "RFC 768"),
    WF_FIELD(struct wf_udp, checksum, 48, 16, HEX, "RFC 768"),
};
WF_FMT(udp, WF_UDP_LEN, udp_rows);

int wf_udp_get(struct wf_rd *r, struct wf_udp *h)
{
    h->sport = wf_rd_be16(r);
    h->dport = wf_rd_be16(r);
    h->len = wf_rd_be16(r);
    h->checksum = wf_rd_be16(r);
    return r->err ? -EBADMSG : 0;
}

void wf_udp_put(struct wf_wr *w, const struct wf_udp *h)
{
    wf_wr_be16(w, h->sport);
    wf_wr_be16(w, h->dport);
    wf_wr_be16(w, h->len);
    wf_wr_be16(w, h->checksum);
}

static uint64_t sum_words(uint64_t sum, const uint8_t *p, uint32_t len)
{
    for (; len >= 2; p += 2, len -= 2)
        sum += wf_ld16(p);
    if (len)
        sum += (uint32_t)*p << 8;
    return sum;
}

uint16_t wf_l4_checksum(const uint8_t *l3, uint8_t proto, const uint8_t *l4, uint32_t len)
{
    uint64_t sum = (uint64_t)proto + len;

    sum = l3[0] >> 4 == 4 ? sum_words(sum, l3 + 12, 8) : sum_words(sum, l3 + 8, 32);
    sum = sum_words(sum, l4, len);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}
