/* SPDX-License-Identifier: BSD-3-Clause */
#include "xport/qp.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "xport/halves.h"
#include "xport/sel.h"

const struct wf_work_form wf_work_forms[WF_WORK_OPS] = {
    [WF_WORK_WRITE] = {"WRITE", WF_OP_WRITE_FIRST, WF_OP_WRITE_MIDDLE, WF_OP_WRITE_LAST,
                       WF_OP_WRITE_ONLY},
    [WF_WORK_WRITE_IMM] = {"WRITE Imm", WF_OP_WRITE_FIRST, WF_OP_WRITE_MIDDLE, WF_OP_WRITE_LAST_IMM,
                           WF_OP_WRITE_ONLY_IMM},
    [WF_WORK_SEND] = {"SEND", WF_OP_SEND_FIRST, WF_OP_SEND_MIDDLE, WF_OP_SEND_LAST,
                      WF_OP_SEND_ONLY},
    [WF_WORK_SEND_IMM] = {"SEND Imm", WF_OP_SEND_FIRST, WF_OP_SEND_MIDDLE, WF_OP_SEND_LAST_IMM,
                          WF_OP_SEND_ONLY_IMM},
    [WF_WORK_SEND_INV] = {"SEND Inv", WF_OP_SEND_FIRST, WF_OP_SEND_MIDDLE, WF_OP_SEND_LAST_INV,
                          WF_OP_SEND_ONLY_INV},
    [WF_WORK_READ] = {"READ", WF_OP_READ_REQUEST, WF_OP_READ_REQUEST, WF_OP_READ_REQUEST,
                      WF_OP_READ_REQUEST},
    [WF_WORK_CMP_SWAP] = {"CmpSwap", WF_OP_COMPARE_SWAP, WF_OP_COMPARE_SWAP, WF_OP_COMPARE_SWAP,
                          WF_OP_COMPARE_SWAP},
    [WF_WORK_FETCH_ADD] = {"FetchAdd", WF_OP_FETCH_ADD, WF_OP_FETCH_ADD, WF_OP_FETCH_ADD,
                           WF_OP_FETCH_ADD},
};

const char *const wf_wc_status_names[WF_WC_STATUSES] = {
    [WF_WC_SUCCESS] = "IBV_WC_SUCCESS",
    [WF_WC_RETRY_EXC] = "IBV_WC_RETRY_EXC_ERR",
    [WF_WC_REM_INV_REQ] = "IBV_WC_REM_INV_REQ_ERR",
    [WF_WC_REM_ACCESS] = "IBV_WC_REM_ACCESS_ERR",
    [WF_WC_REM_OP] = "IBV_WC_REM_OP_ERR",
    [WF_WC_FLUSH] = "IBV_WC_WR_FLUSH_ERR",
    [WF_WC_RNR_RETRY_EXC] = "IBV_WC_RNR_RETRY_EXC_ERR",
    [WF_WC_LOC_LEN] = "IBV_WC_LOC_LEN_ERR",
    [WF_WC_LOC_PROT] = "IBV_WC_LOC_PROT_ERR",
    [WF_WC_LOC_QP_OP] = "IBV_WC_LOC_QP_OP_ERR",
    [WF_WC_BAD_RESP] = "IBV_WC_BAD_RESP_ERR",
};

static bool valid(const struct wf_qp_cfg *cfg)
{
    return cfg->path_mtu >= 256 && cfg->path_mtu <= 4096 &&
           !(cfg->path_mtu & (cfg->path_mtu - 1)) &&
           (cfg->service == WF_SERVICE_RC || cfg->service == WF_SERVICE_UC ||
            cfg->service == WF_SERVICE_UD);
}

/* What we send begins at sq_psn. */
static void begin_requester(struct wf_qp *qp)
{
    /* above 2^24, so that the numbers before the first one exist too */
    uint64_t seq = (1ull << 32) + (qp->cfg.sq_psn & WF_PSN_MASK);
    struct wf_requester *r = &qp->req;

    qp->odd = qp->sel || qp->cfg.service != WF_SERVICE_RC;
    r->una_seq = r->next_seq = r->max_seq = r->post_seq = seq;
    r->timer_ps = WF_TIME_NEVER;
    r->retries_left = qp->cfg.retries;
    r->rnr_left = qp->cfg.rnr_retry;
    wf_requester_gate(qp);
}

int wf_qp_init(struct wf_qp *qp, const struct wf_qp_cfg *cfg, const struct wf_qp_user *user,
               struct wf_wqe *sq, uint32_t sq_len)
{
    if (!valid(cfg) || !sq_len || sq_len & (sq_len - 1))
        return -EINVAL;
    memset(qp, 0, sizeof(*qp));
    qp->cfg = *cfg;
    qp->user = *user;
    qp->req.sq = sq;
    qp->req.sq_mask = sq_len - 1;
    qp->resp.expect_psn = cfg->rq_psn & WF_PSN_MASK;
    begin_requester(qp);
    return 0;
}

void wf_qp_set_rq(struct wf_qp *qp, struct wf_rq *rq)
{
    qp->respm.rq = rq;
}

/* Everything but what it is and what it was given. */
static void forget(struct wf_qp *qp)
{
    struct wf_rq *rq = qp->respm.rq;
    struct wf_rd_res *res = qp->respm.res;
    uint32_t n_res = qp->respm.n_res, sq_mask = qp->req.sq_mask;
    struct wf_wqe *sq = qp->req.sq;

    memset(&qp->req, 0, sizeof(qp->req));
    memset(&qp->resp, 0, sizeof(qp->resp));
    memset(&qp->reqm, 0, sizeof(qp->reqm));
    memset(&qp->respm, 0, sizeof(qp->respm));
    qp->req.sq = sq;
    qp->req.sq_mask = sq_mask;
    qp->respm.rq = rq;
    wf_qp_set_resources(qp, res, n_res);
    if (rq && !rq->shared)
        rq->head = rq->tail;
    if (qp->sel)
        wf_qp_set_sel(qp, qp->sel, qp->sel->early);
    begin_requester(qp);
}

int wf_qp_modify(struct wf_qp *qp, enum wf_qp_state to, const struct wf_qp_cfg *cfg)
{
    static const enum wf_qp_state before[] = {
        [WF_QP_INIT] = WF_QP_RESET, [WF_QP_RTR] = WF_QP_INIT, [WF_QP_READY] = WF_QP_RTR};

    if ((unsigned)to > WF_QP_RTR || (cfg && !valid(cfg)) ||
        (to != WF_QP_ERROR && to != WF_QP_RESET && qp->state != before[to]))
        return -EINVAL;
    if (cfg)
        qp->cfg = *cfg;
    if (to == WF_QP_ERROR) {
        wf_requester_fail(qp, WF_WC_FLUSH);
        return 0;
    }
    qp->state = to;
    if (to == WF_QP_RESET)
        forget(qp);
    if (to == WF_QP_RTR)
        qp->resp.expect_psn = qp->cfg.rq_psn & WF_PSN_MASK;
    if (to == WF_QP_READY)
        begin_requester(qp);
    qp->resp.dead = to == WF_QP_RESET || to == WF_QP_INIT;
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
    if (!op->name || op->service != qp->cfg.service)
        return WF_QP_BAD_OPCODE;
    if ((op->ext_len && wf_ext_get(&r, bth->opcode, ext)) ||
        (in->payload_len && !(op->flags & WF_OPF_PAYLOAD)))
        return WF_QP_MALFORMED;
    /* the same partition, not the invalid one, and not both limited members (10.9.1.1, 10.9.3) */
    if ((bth->pkey ^ qp->cfg.pkey) & 0x7fff || !(bth->pkey & 0x7fff) ||
        !((bth->pkey | qp->cfg.pkey) & 0x8000))
        return WF_QP_BAD_PKEY;
    return WF_QP_TAKEN;
}

static enum wf_qp_verdict unreliable_rx(struct wf_qp *qp, const struct wf_qp_in *in,
                                        const struct wf_bth *bth, const struct wf_ext_hdrs *ext)
{
    if (qp->resp.dead)
        return WF_QP_DISCARDED;
    return qp->cfg.service == WF_SERVICE_UC ? wf_uc_rx(qp, in, bth, ext)
                                            : wf_ud_rx(qp, in, bth, ext);
}

enum wf_qp_verdict wf_qp_rx(struct wf_qp *qp, const struct wf_qp_in *in, uint64_t now_ps)
{
    struct wf_ext_hdrs ext;
    struct wf_bth bth;
    enum wf_qp_verdict why = check(qp, in, &bth, &ext);

    if (why != WF_QP_TAKEN)
        return why;
    if (wf_opcodes[bth.opcode].flags & WF_OPF_RESPONSE)
        return wf_requester_rx(qp, in, &bth, &ext, now_ps);
    if (qp->cfg.service != WF_SERVICE_RC)
        return unreliable_rx(qp, in, &bth, &ext);
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
