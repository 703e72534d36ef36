/* SPDX-License-Identifier: BSD-3-Clause */
#include "xport/qp.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "xport/halves.h"

const struct wf_work_form wf_work_forms[WF_WORK_OPS] = {
    [WF_WORK_WRITE] = {"WRITE", WF_OP_WRITE_FIRST, WF_OP_WRITE_MIDDLE, WF_OP_WRITE_LAST,
                       WF_OP_WRITE_ONLY},
};

static bool valid_mtu(uint32_t mtu)
{
    return mtu >= 256 && mtu <= 4096 && !(mtu & (mtu - 1));
}

int wf_qp_init(struct wf_qp *qp, const struct wf_qp_cfg *cfg, const struct wf_qp_user *user,
               struct wf_wqe *sq, uint32_t sq_len)
{
    /* above 2^24, so that the numbers before the first one exist too */
    uint64_t seq = (1ull << 32) + (cfg->sq_psn & WF_PSN_MASK);

    if (!valid_mtu(cfg->path_mtu) || !sq_len || sq_len & (sq_len - 1))
        return -EINVAL;
    memset(qp, 0, sizeof(*qp));
    qp->cfg = *cfg;
    qp->user = *user;
    qp->req.sq = sq;
    qp->req.sq_mask = sq_len - 1;
    qp->req.una_seq = qp->req.next_seq = qp->req.max_seq = qp->req.post_seq = seq;
    qp->req.timer_ps = WF_TIME_NEVER;
    qp->req.retries_left = cfg->retries;
    qp->resp.expect_psn = cfg->rq_psn & WF_PSN_MASK;
    return 0;
}

/* The checks that come before a queue pair looks at what a packet wants (IBA 9.6.1). */
static enum wf_qp_verdict check(const struct wf_qp *qp, const struct wf_qp_in *in,
                                struct wf_bth *bth, struct wf_ext_hdrs *ext)
{
    struct wf_rd r = wf_rd_init(in->hdr, in->hdr_len);
    const struct wf_opcode *op;

    if (wf_bth_get(&r, bth) || bth->tver)
        return WF_QP_MALFORMED;
    op = &wf_opcodes[bth->opcode];
    if (!op->name || op->service != WF_SERVICE_RC)
        return WF_QP_BAD_OPCODE;
    if ((op->ext_len && wf_ext_get(&r, bth->opcode, ext)) ||
        (in->payload_len && !(op->flags & WF_OPF_PAYLOAD)))
        return WF_QP_MALFORMED;
    /* the same partition, and not both limited members */
    if ((bth->pkey ^ qp->cfg.pkey) & 0x7fff || !((bth->pkey | qp->cfg.pkey) & 0x8000))
        return WF_QP_BAD_PKEY;
    return WF_QP_TAKEN;
}

enum wf_qp_verdict wf_qp_rx(struct wf_qp *qp, const struct wf_qp_in *in, uint64_t now_ps)
{
    struct wf_ext_hdrs ext;
    struct wf_bth bth;
    enum wf_qp_verdict why = check(qp, in, &bth, &ext);

    if (why != WF_QP_TAKEN)
        return why;
    if (wf_opcodes[bth.opcode].flags & WF_OPF_RESPONSE)
        return wf_requester_rx(qp, &bth, &ext, now_ps);
    return wf_responder_rx(qp, in, &bth, &ext);
}

uint32_t wf_qp_hdr_put(uint8_t *buf, const struct wf_qp_out *out)
{
    struct wf_wr w = wf_wr_init(buf, WF_QP_HDR_MAX);

    wf_bth_put(&w, &out->bth);
    wf_ext_put(&w, out->bth.opcode, &out->ext);
    WF_ASSERT(!w.err);
    return (uint32_t)wf_wr_len(&w);
}
