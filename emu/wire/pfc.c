/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC and PAUSE frames. See pfc.h. */
#include "wire/pfc.h"

#include <errno.h>

#include "wire/eth.h"

const uint8_t wf_mac_control_dst[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

static const struct wf_field pfc_rows[] = {
    WF_FIELD(struct wf_pfc, opcode, 0, 16, HEX, "802.3 31D.1"),
    WF_FIELD(struct wf_pfc, resv, 16, 8, HEX, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, vector, 24, 8, HEX, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[0], 32, 16, DEC, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[1], 48, 16, DEC, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[2], 64, 16, DEC, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[3], 80, 16, DEC, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[4], 96, 16, DEC, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[5], 112, 16, DEC, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[6], 128, 16, DEC, "802.3 31D.2"),
    WF_FIELD(struct wf_pfc, quanta[7], 144, 16, DEC, "802.3 31D.2"),
};
WF_FMT(pfc, WF_PFC_LEN, pfc_rows);

static const struct wf_field pause_rows[] = {
    WF_FIELD(struct wf_pause, opcode, 0, 16, HEX, "802.3 31B.1"),
    WF_FIELD(struct wf_pause, quanta, 16, 16, DEC, "802.3 31B.2"),
};
WF_FMT(pause, WF_PAUSE_LEN, pause_rows);

int wf_pfc_get(struct wf_rd *r, struct wf_pfc *h)
{
    h->opcode = wf_rd_be16(r);
    h->resv = wf_rd_u8(r);
    h->vector = wf_rd_u8(r);
    for (int i = 0; i < 8; i++)
        h->quanta[i] = wf_rd_be16(r);
    return r->err ? -EBADMSG : 0;
}

void wf_pfc_put(struct wf_wr *w, const struct wf_pfc *h)
{
    wf_wr_be16(w, h->opcode);
    wf_wr_u8(w, h->resv);
    wf_wr_u8(w, h->vector);
    for (int i = 0; i < 8; i++)
        wf_wr_be16(w, h->quanta[i]);
}

int wf_pause_get(struct wf_rd *r, struct wf_pause *h)
{
    h->opcode = wf_rd_be16(r);
    h->quanta = wf_rd_be16(r);
    return r->err ? -EBADMSG : 0;
}

void wf_pause_put(struct wf_wr *w, const struct wf_pause *h)
{
    wf_wr_be16(w, h->opcode);
    wf_wr_be16(w, h->quanta);
}

enum wf_mac_control wf_mac_control_get(const uint8_t *frame, uint32_t caplen,
                                       const struct wf_parsed *p, struct wf_pfc *out)
{
    struct wf_rd r, again;
    struct wf_pause pause;

    if (!(p->flags & WF_P_MAC_CONTROL) || p->n_tags)
        return WF_MAC_CONTROL_IS_BAD; /* control frames of a link are never tagged */
    if ((p->flags & WF_P_MULTICAST) && memcmp(frame, wf_mac_control_dst, 6))
        return WF_MAC_CONTROL_IS_BAD;
    if (caplen > p->l3_off + p->l3_len)
        caplen = p->l3_off + p->l3_len;
    r = again = wf_rd_init(frame + p->l3_off, caplen - p->l3_off);
    if (!wf_pause_get(&r, &pause) && pause.opcode == WF_MAC_CONTROL_PAUSE) {
        *out = (struct wf_pfc){.opcode = pause.opcode, .vector = 0xff};
        for (int i = 0; i < 8; i++)
            out->quanta[i] = pause.quanta;
        return WF_MAC_CONTROL_IS_PAUSE;
    }
    if (wf_pfc_get(&again, out) || out->opcode != WF_MAC_CONTROL_PFC)
        return WF_MAC_CONTROL_IS_BAD;
    return WF_MAC_CONTROL_IS_PFC;
}

static struct wf_wr begin_frame(uint8_t *buf, const uint8_t src_mac[6])
{
    struct wf_wr w = wf_wr_init(buf, WF_PFC_FRAME_LEN);
    struct wf_eth eth = {.ethertype = WF_ETHERTYPE_MAC_CONTROL};

    memcpy(eth.dst, wf_mac_control_dst, 6);
    memcpy(eth.src, src_mac, 6);
    wf_eth_put(&w, &eth);
    return w;
}

uint32_t wf_pfc_build(uint8_t buf[WF_PFC_FRAME_LEN], const uint8_t src_mac[6], uint8_t vector,
                      const uint16_t quanta[8])
{
    struct wf_pfc pfc = {.opcode = WF_MAC_CONTROL_PFC, .vector = vector};
    struct wf_wr w = begin_frame(buf, src_mac);

    for (int i = 0; i < 8; i++)
        pfc.quanta[i] = vector >> i & 1 ? quanta[i] : 0;
    wf_pfc_put(&w, &pfc);
    wf_wr_zeros(&w, wf_wr_left(&w));
    return WF_PFC_FRAME_LEN;
}

uint32_t wf_pause_build(uint8_t buf[WF_PFC_FRAME_LEN], const uint8_t src_mac[6], uint16_t quanta)
{
    struct wf_pause pause = {WF_MAC_CONTROL_PAUSE, quanta};
    struct wf_wr w = begin_frame(buf, src_mac);

    wf_pause_put(&w, &pause);
    wf_wr_zeros(&w, wf_wr_left(&w));
    return WF_PFC_FRAME_LEN;
}
