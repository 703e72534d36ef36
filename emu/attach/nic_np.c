/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification point of a NIC at an attachment: CNPs (IBA annex A17.9.3) for data that came
 * with CE, paced as host/cnp.h has it, and as late as it has it.
 */
#include <string.h>

#include "attach/nic_priv.h"
#include "wire/edit.h"

enum { CNP_TTL = 64, NAK_SEQUENCE = 0x60 };

/* From our host to the frame's other end, and to this queue pair there. `from_us`: the frame is our
 * host's own. Returns the length without FCS. */
static uint32_t build_cnp(const struct wf_edge_nic *nic, const struct wf_pkt *cause, bool from_us,
                          uint32_t qpn, uint8_t buf[WF_CNP_FRAME_MAX])
{
    const uint8_t *b = wf_pkt_bytes(cause);
    const struct wf_parsed *p = &cause->p;
    struct wf_roce h = {
        .encap = p->flags & WF_P_IP4 ? WF_ROCE_V2_IP4 : WF_ROCE_V2_IP6,
        .dscp = nic->np.dscp,
        .ecn = WF_ECN_ECT0,
        .ttl = CNP_TTL,
        .bth.dqpn = qpn,
    };

    memcpy(h.dst_mac, from_us ? b : b + 6, 6);
    memcpy(h.src_mac, from_us ? b + 6 : b, 6);
    if (p->n_tags) {
        h.n_tags = 1;
        h.tag[0].vid = p->vid;
        h.tag[0].pcp = nic->cfg->dscp_to_priority[h.dscp & 63] & 7;
    }
    wf_parsed_addr(b, p, from_us, h.dst_ip);
    wf_parsed_addr(b, p, !from_us, h.src_ip);
    return wf_cnp_build(buf, WF_CNP_FRAME_MAX, &h);
}

static void launch(struct wf_edge_nic *nic, const uint8_t *frame, uint32_t len, uint32_t qpn)
{
    struct wf_net *net = nic->edge->node.net;
    struct wf_pkt *pkt = wf_pkt_new(net, len);

    if (!pkt)
        return; /* the run has failed: emulator_out_of_buffers */
    memcpy(wf_pkt_hdr_rw(pkt), frame, len);
    wf_ingress_dress(nic->edge, pkt);
    wf_pkt_generated(net, pkt);
    nic->edge->ctr[WF_EDGE_NP_CNP]++;
    nic->edge->ctr[WF_EDGE_NP_CNP_BY_ADDRESS] += !qpn;
    wf_port_enqueue(wf_edge_port(nic->edge), pkt);
}

static void late_event(struct wf_lcore *lc, struct wf_event *ev);

static void wait_for_the_oldest(struct wf_edge_nic *nic)
{
    struct wf_node *node = &nic->edge->node;

    if (nic->n_late && !wf_event_pending(&nic->late_event))
        wf_lcore_schedule(node->net->lc, &nic->late_event, nic->late[nic->late_head].due_ps,
                          wf_event_key(node->entity, WF_EV_TIMER, node->seq++), late_event);
}

/* All have the same delay, so that they are due in their order. */
static void late_event(struct wf_lcore *lc, struct wf_event *ev)
{
    struct wf_edge_nic *nic = WF_CONTAINER_OF(ev, struct wf_edge_nic, late_event);

    while (nic->n_late && nic->late[nic->late_head].due_ps <= lc->now_ps) {
        const struct wf_edge_np_late *l = &nic->late[nic->late_head];

        nic->late_head = (nic->late_head + 1) % WF_EDGE_NIC_LATE;
        nic->n_late--;
        launch(nic, l->frame, l->len, l->qpn);
    }
    wait_for_the_oldest(nic);
}

static void send_cnp(struct wf_edge_nic *nic, const struct wf_pkt *cause, bool from_us,
                     uint32_t qpn)
{
    uint8_t buf[WF_CNP_FRAME_MAX];
    struct wf_edge_np_late *l;

    if (!nic->late) {
        launch(nic, buf, build_cnp(nic, cause, from_us, qpn, buf), qpn);
        return;
    }
    if (nic->n_late == WF_EDGE_NIC_LATE)
        return;
    l = &nic->late[(nic->late_head + nic->n_late++) % WF_EDGE_NIC_LATE];
    l->due_ps = wf_edge_nic_now(nic) + nic->np.delay_ps;
    l->qpn = qpn;
    l->len = build_cnp(nic, cause, from_us, qpn, l->frame);
    wait_for_the_oldest(nic);
}

/* When the next one may be sent for what this half shares its interval with. Addresses that fall
 * into one place take it from each other, so that memory is bounded. */
static uint64_t *next_cnp(struct wf_edge_nic *nic, struct wf_edge_half *half)
{
    const uint8_t *peer = half->ours ? half->half.dst : half->half.src;
    struct wf_edge_np_place *place;
    uint64_t a, b;

    if (nic->np.pacing == WF_CNP_PER_QP)
        return &half->next_cnp_ps;
    if (nic->np.pacing == WF_CNP_PER_PORT)
        return &nic->places[0].next_ps;
    memcpy(&a, peer, 8);
    memcpy(&b, peer + 8, 8);
    place = &nic->places[wf_mix(a, b) % WF_EDGE_NIC_PLACES];
    if (memcmp(place->peer, peer, 16)) {
        memcpy(place->peer, peer, 16);
        place->next_ps = 0;
    }
    return &place->next_ps;
}

static bool cnp_is_due(struct wf_edge_nic *nic, struct wf_edge_half *half)
{
    uint64_t now = wf_edge_nic_now(nic), *next = next_cnp(nic, half);

    if (!nic->notifies || *next > now)
        return false;
    *next = now + nic->np.interval_ps;
    return true;
}

/* The NAK says itself whom. */
void wf_edge_nic_lost(struct wf_edge_nic *nic, struct wf_edge_half *half, const struct wf_pkt *pkt)
{
    bool nak = pkt->p.flags & WF_P_AETH && (pkt->p.aeth_syndrome & 0xff) == NAK_SEQUENCE;

    if (nak && nic->np.on_nak && cnp_is_due(nic, half))
        send_cnp(nic, pkt, true, pkt->p.dqpn);
}

void wf_edge_nic_congested(struct wf_edge_nic *nic, struct wf_edge_half *half,
                           const struct wf_pkt *pkt)
{
    nic->edge->ctr[WF_EDGE_NP_CE]++;
    if (cnp_is_due(nic, half)) /* to queue pair 0 when whose it is is not known */
        send_cnp(nic, pkt, false, half->half.mate ? half->half.mate->qpn : 0);
}
