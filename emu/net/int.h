/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In-band telemetry between weft's own hosts, for controls that ask for it. A data packet of such a
 * flow carries, right behind its RoCE headers and counted in its lengths, 4 bytes and a place of 16
 * bytes for each of up to 5 switches; each switch that it leaves fills the next one. The ACK
 * brings them back, and switches leave those alone. All in network byte order:
 *
 *   0   0x57    1   bit 7: an echo; places filled    2   places    3   0
 *   4   rate of the port in kbit/s    8   time in ns    12  bytes that the port has sent, with FCS
 *   16  bytes that wait at the port   (20 ...: the next switch's)
 *
 * The BTH's last reserved byte says 0x57 too. That a packet has the header is known by its flag,
 * never by its bytes: what comes from outside has none, whatever it says, and what has one never
 * leaves by an attachment. ICRCs are over the bytes as they are. HPCC's own header holds the same
 * in 42 bytes, for a few rates and with less exact numbers.
 */
#ifndef WEFT_NET_INT_H
#define WEFT_NET_INT_H

#include "net/port.h"

enum {
    WF_INT_HOPS = 5,
    WF_INT_HOP_LEN = 16,
    WF_INT_LEN = 4 + WF_INT_HOPS * WF_INT_HOP_LEN,
    WF_INT_MAGIC = 0x57,
    WF_INT_ECHO = 0x80,
    WF_HDR_ROOM_INT = 192, /* of header packets where a flow carries it */
};

struct wf_int_hop {
    uint32_t rate_kbps, ts_ns, tx_bytes, qlen_bytes;
};

/* Behind the headers of a new packet, whose lengths count it already. */
void wf_int_add(struct wf_pkt *pkt, bool echo, const struct wf_int_hop *hops, uint32_t n);
/* What is in a packet that has the header; returns how many. */
uint32_t wf_int_get(const struct wf_pkt *pkt, struct wf_int_hop hops[WF_INT_HOPS]);
/* A packet with WF_PKT_INT begins to leave a switch by the port. */
void wf_int_stamp(struct wf_port *port, struct wf_pkt *pkt);

#endif
