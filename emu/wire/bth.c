/* SPDX-License-Identifier: BSD-3-Clause */
/* Codecs and field tables of the transport headers. See bth.h; the opcodes are in opcode.c. */
#include "wire/bth.h"

#include <errno.h>

static const struct wf_field bth_rows[] = {
    WF_FIELD(struct wf_bth, opcode, 0, 8, OPCODE, "IBA 9.2.1"),
    WF_FIELD(struct wf_bth, se, 8, 1, BOOL, "IBA 9.2.3"),
    WF_FIELD(struct wf_bth, m, 9, 1, BOOL, "IBA 9.2.4"),
    WF_FIELD(struct wf_bth, pad, 10, 2, DEC, "IBA 9.2.5"),
    WF_FIELD(struct wf_bth, tver, 12, 4, DEC, "IBA 9.2.6"),
    WF_FIELD(struct wf_bth, pkey, 16, 16, HEX, "IBA 9.2.7"),
    WF_FIELD(struct wf_bth, fecn, 32, 1, BOOL, "IBA A10"),
    WF_FIELD(struct wf_bth, becn, 33, 1, BOOL, "IBA A10"),
    WF_FIELD(struct wf_bth, resv6, 34, 6, HEX, "IBA 9.2"),
    WF_FIELD(struct wf_bth, dqpn, 40, 24, HEX, "IBA 9.2.8"),
    WF_FIELD(struct wf_bth, ackreq, 64, 1, BOOL, "IBA 9.2.9"),
    WF_FIELD(struct wf_bth, resv7, 65, 7, HEX, "IBA 9.2"),
    WF_FIELD(struct wf_bth, psn, 72, 24, DEC, "IBA 9.2.10"),
};
WF_FMT(bth, WF_BTH_LEN, bth_rows);

int wf_bth_get(struct wf_rd *r, struct wf_bth *h)
{
    const uint8_t *b = wf_rd_take(r, WF_BTH_LEN);
    uint32_t qp, psn; /* words with flags above: every packet that a host gets comes by here */

    if (!b)
        return -EBADMSG;
    qp = wf_ld32(b + 4);
    psn = wf_ld32(b + 8);
    h->opcode = b[0];
    h->se = (b[1] & 0x80) != 0;
    h->m = (b[1] & 0x40) != 0;
    h->pad = b[1] >> 4 & 3;
    h->tver = b[1] & 15;
    h->pkey = wf_ld16(b + 2);
    h->fecn = qp >> 31;
    h->becn = (qp & 1u << 30) != 0;
    h->resv6 = qp >> 24 & 63;
    h->dqpn = qp & 0xffffff;
    h->ackreq = psn >> 31;
    h->resv7 = psn >> 24 & 127;
    h->psn = psn & 0xffffff;
    return 0;
}

void wf_bth_put(struct wf_wr *w, const struct wf_bth *h)
{
    wf_wr_u8(w, h->opcode);
    wf_wr_u8(w, (uint8_t)(h->se << 7 | h->m << 6 | (h->pad & 3) << 4 | (h->tver & 15)));
    wf_wr_be16(w, h->pkey);
    wf_wr_u8(w, (uint8_t)(h->fecn << 7 | h->becn << 6 | (h->resv6 & 63)));
    wf_wr_be24(w, h->dqpn);
    wf_wr_u8(w, (uint8_t)(h->ackreq << 7 | (h->resv7 & 127)));
    wf_wr_be24(w, h->psn);
}

static const struct wf_field rdeth_rows[] = {
    WF_FIELD(struct wf_rdeth, resv, 0, 8, HEX, "IBA 9.3.1"),
    WF_FIELD(struct wf_rdeth, ee_context, 8, 24, HEX, "IBA 9.3.1"),
};
WF_FMT(rdeth, 4, rdeth_rows);

int wf_rdeth_get(struct wf_rd *r, struct wf_rdeth *h)
{
    h->resv = wf_rd_u8(r);
    h->ee_context = wf_rd_be24(r);
    return r->err ? -EBADMSG : 0;
}

void wf_rdeth_put(struct wf_wr *w, const struct wf_rdeth *h)
{
    wf_wr_u8(w, h->resv);
    wf_wr_be24(w, h->ee_context);
}

static const struct wf_field deth_rows[] = {
    WF_FIELD(struct wf_deth, qkey, 0, 32, HEX, "IBA 9.3.2"),
    WF_FIELD(struct wf_deth, resv, 32, 8, HEX, "IBA 9.3.2"),
    WF_FIELD(struct wf_deth, sqpn, 40, 24, HEX, "IBA 9.3.2"),
};
WF_FMT(deth, 8, deth_rows);

int wf_deth_get(struct wf_rd *r, struct wf_deth *h)
{
    h->qkey = wf_rd_be32(r);
    h->resv = wf_rd_u8(r);
    h->sqpn = wf_rd_be24(r);
    return r->err ? -EBADMSG : 0;
}

void wf_deth_put(struct wf_wr *w, const struct wf_deth *h)
{
    wf_wr_be32(w, h->qkey);
    wf_wr_u8(w, h->resv);
    wf_wr_be24(w, h->sqpn);
}

static const struct wf_field xrceth_rows[] = {
    WF_FIELD(struct wf_xrceth, resv, 0, 8, HEX, "IBA A14"),
    WF_FIELD(struct wf_xrceth, srqn, 8, 24, HEX, "IBA A14"),
};
WF_FMT(xrceth, 4, xrceth_rows);

int wf_xrceth_get(struct wf_rd *r, struct wf_xrceth *h)
{
    h->resv = wf_rd_u8(r);
    h->srqn = wf_rd_be24(r);
    return r->err ? -EBADMSG : 0;
}

void wf_xrceth_put(struct wf_wr *w, const struct wf_xrceth *h)
{
    wf_wr_u8(w, h->resv);
    wf_wr_be24(w, h->srqn);
}

static const struct wf_field feth_rows[] = {
    WF_FIELD(struct wf_feth, resv, 0, 26, HEX, "IBA A19"),
    WF_FIELD(struct wf_feth, sel, 26, 2, DEC, "IBA A19"),
    WF_FIELD(struct wf_feth, plt, 28, 4, HEX, "IBA A19"),
};
WF_FMT(feth, 4, feth_rows);

int wf_feth_get(struct wf_rd *r, struct wf_feth *h)
{
    uint32_t v = wf_rd_be32(r);

    h->resv = v >> 6;
    h->sel = v >> 4 & 3;
    h->plt = v & 15;
    return r->err ? -EBADMSG : 0;
}

void wf_feth_put(struct wf_wr *w, const struct wf_feth *h)
{
    wf_wr_be32(w, h->resv << 6 | (h->sel & 3u) << 4 | (h->plt & 15u));
}

static const struct wf_field reth_rows[] = {
    WF_FIELD(struct wf_reth, va, 0, 64, HEX, "IBA 9.3.3"),
    WF_FIELD(struct wf_reth, rkey, 64, 32, HEX, "IBA 9.3.3"),
    WF_FIELD(struct wf_reth, dma_len, 96, 32, DEC, "IBA 9.3.3"),
};
WF_FMT(reth, 16, reth_rows);

int wf_reth_get(struct wf_rd *r, struct wf_reth *h)
{
    h->va = wf_rd_be64(r);
    h->rkey = wf_rd_be32(r);
    h->dma_len = wf_rd_be32(r);
    return r->err ? -EBADMSG : 0;
}

void wf_reth_put(struct wf_wr *w, const struct wf_reth *h)
{
    wf_wr_be64(w, h->va);
    wf_wr_be32(w, h->rkey);
    wf_wr_be32(w, h->dma_len);
}

static const struct wf_field atomiceth_rows[] = {
    WF_FIELD(struct wf_atomiceth, va, 0, 64, HEX, "IBA 9.3.4"),
    WF_FIELD(struct wf_atomiceth, rkey, 64, 32, HEX, "IBA 9.3.4"),
    WF_FIELD(struct wf_atomiceth, swap_add, 96, 64, HEX, "IBA 9.3.4"),
    WF_FIELD(struct wf_atomiceth, compare, 160, 64, HEX, "IBA 9.3.4"),
};
WF_FMT(atomiceth, 28, atomiceth_rows);

int wf_atomiceth_get(struct wf_rd *r, struct wf_atomiceth *h)
{
    h->va = wf_rd_be64(r);
    h->rkey = wf_rd_be32(r);
    h->swap_add = wf_rd_be64(r);
    h->compare = wf_rd_be64(r);
    return r->err ? -EBADMSG : 0;
}

void wf_atomiceth_put(struct wf_wr *w, const struct wf_atomiceth *h)
{
    wf_wr_be64(w, h->va);
    wf_wr_be32(w, h->rkey);
    wf_wr_be64(w, h->swap_add);
    wf_wr_be64(w, h->compare);
}

static const struct wf_field aeth_rows[] = {
    WF_FIELD(struct wf_aeth, syndrome, 0, 8, HEX, "IBA 9.3.5"),
    WF_FIELD(struct wf_aeth, msn, 8, 24, DEC, "IBA 9.3.5"),
};
WF_FMT(aeth, 4, aeth_rows);

int wf_aeth_get(struct wf_rd *r, struct wf_aeth *h)
{
    h->syndrome = wf_rd_u8(r);
    h->msn = wf_rd_be24(r);
    return r->err ? -EBADMSG : 0;
}

void wf_aeth_put(struct wf_wr *w, const struct wf_aeth *h)
{
    wf_wr_u8(w, h->syndrome);
    wf_wr_be24(w, h->msn);
}

static const struct wf_field atomicacketh_rows[] = {
    WF_FIELD(struct wf_atomicacketh, orig, 0, 64, HEX, "IBA 9.5.3"),
};
WF_FMT(atomicacketh, 8, atomicacketh_rows);

int wf_atomicacketh_get(struct wf_rd *r, struct wf_atomicacketh *h)
{
    h->orig = wf_rd_be64(r);
    return r->err ? -EBADMSG : 0;
}

void wf_atomicacketh_put(struct wf_wr *w, const struct wf_atomicacketh *h)
{
    wf_wr_be64(w, h->orig);
}

static const struct wf_field immdt_rows[] = {
    WF_FIELD(struct wf_immdt, data, 0, 32, HEX, "IBA 9.3.6"),
};
WF_FMT(immdt, 4, immdt_rows);

int wf_immdt_get(struct wf_rd *r, struct wf_immdt *h)
{
    h->data = wf_rd_be32(r);
    return r->err ? -EBADMSG : 0;
}

void wf_immdt_put(struct wf_wr *w, const struct wf_immdt *h)
{
    wf_wr_be32(w, h->data);
}

static const struct wf_field ieth_rows[] = {
    WF_FIELD(struct wf_ieth, rkey, 0, 32, HEX, "IBA 9.3.7"),
};
WF_FMT(ieth, 4, ieth_rows);

int wf_ieth_get(struct wf_rd *r, struct wf_ieth *h)
{
    h->rkey = wf_rd_be32(r);
    return r->err ? -EBADMSG : 0;
}

void wf_ieth_put(struct wf_wr *w, const struct wf_ieth *h)
{
    wf_wr_be32(w, h->rkey);
}
