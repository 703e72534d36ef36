/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A captured RoCE packet as the analysis sees it, whatever was around it. Left out: what only end
 * points know (keys, addresses in memory, credits).
 */
#ifndef WEFT_ANALYZE_PACKET_H
#define WEFT_ANALYZE_PACKET_H

#include "analyze/peel.h"
#include "wire/icrc.h"
#include "wire/parse.h"

/* Where a frame is: file and number in it, as Wireshark counts. 0: nowhere. */
struct wf_an_ref {
    uint64_t file : 16, number : 48;
};

struct wf_an_addr {
    uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
};

struct wf_an_pkt {
    struct wf_an_ref ref;
    int64_t t_ps; /* since the first frame of the capture */
    uint16_t point;
    uint8_t dir; /* enum wf_cap_dir */
    uint8_t family;
    bool v1;
    struct wf_an_addr src, dst;
    uint16_t sport, ip_id;
    uint8_t dscp, ecn, pcp;
    uint16_t vid;
    uint8_t n_tags, tunnel;
    uint8_t opcode;
    bool ackreq, becn, fecn;
    uint32_t dqpn, psn;
    uint32_t payload_len, wire_len;
    bool has_aeth;
    uint8_t syndrome;
    uint32_t msn;
    bool has_reth;
    uint32_t dma_len;
    uint32_t hash; /* of the captured payload's first `hashed` bytes */
    uint16_t hashed;
    enum wf_icrc_state icrc;
    const uint8_t *payload; /* captured part; valid until the next record */
    uint32_t payload_cap;
};

enum wf_an_kind {
    WF_AN_ROCE,    /* *pkt is filled */
    WF_AN_CUT_BTH, /* RoCE, cut before the BTH's end */
    WF_AN_BAD,     /* RoCE too short for itself, or headers that contradict each other */
    WF_AN_CONTROL, /* MAC control: PFC, pause */
    WF_AN_OTHER,
};

/* Look into a peeled frame. */
enum wf_an_kind wf_an_packet(const struct wf_an_peeled *p, struct wf_parsed *parsed,
                             struct wf_an_pkt *pkt);

#endif
