/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every counter that weft has, one row each: docs/COUNTERS.md, --json, expectations and
 * `weft show` read this table. An object (port, queue, PG, flow ...) holds a uint64_t array that
 * is indexed by the enum of its table. Names are snake_case_unit and legal in OpenMetrics.
 * Kinds: C counts up, G is a level, M is a maximum since the start (watermark). The unit is the
 * last word of the name, see wf_ctr_unit(). Names elsewhere: N stands for the priority; a comma
 * separates several; a name that several rows of a table have is the sum of these rows.
 * tests/base/names_elsewhere.txt knows all that exist.
 */
#ifndef WEFT_BASE_COUNTER_H
#define WEFT_BASE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"

/* clang-format off */
/* X(ID, kind, "name", "meaning", "SAI", "ethtool of mlx5", "rdma hw_counters or IB PMA") */
#define WF_CTRS_PORT(X) \
    X(RX_FRAMES, C, "rx_frames", "frames received whole", "SAI_PORT_STAT_ETHER_STATS_RX_NO_ERRORS", "rx_packets_phy", "PortRcvPkts") \
    X(RX_BYTES, C, "rx_bytes", "their bytes with FCS", "SAI_PORT_STAT_IF_IN_OCTETS", "rx_bytes_phy", "PortRcvData") \
    X(RX_ROCE_FRAMES, C, "rx_rocev2_frames", "RoCEv2 packets received", "", "rx_vport_rdma_unicast_packets", "rcvd_pkts, rdma_rx_packets") \
    X(TX_FRAMES, C, "tx_frames", "frames sent", "SAI_PORT_STAT_ETHER_STATS_TX_NO_ERRORS", "tx_packets_phy", "PortXmitPkts") \
    X(TX_BYTES, C, "tx_bytes", "their bytes with FCS", "SAI_PORT_STAT_IF_OUT_OCTETS", "tx_bytes_phy", "PortXmitData") \
    X(RX_ROCEV1_FRAMES, C, "rx_rocev1_frames", "RoCEv1 packets received", "", "", "") \
    X(DROP_FRAMES, C, "drop_frames", "frames dropped here, all reasons", "SAI_PORT_STAT_IF_IN_DISCARDS", "rx_discards_phy", "PortXmitDiscards") \
    X(DROP_BYTES, C, "drop_bytes", "their bytes", "", "", "") \
    X(ECN_MARKED_FRAMES, C, "ecn_marked_frames", "frames marked CE here", "SAI_PORT_STAT_ECN_MARKED_PACKETS", "rx_prioN_marked", "") \
    X(PAUSE_RX_FRAMES, C, "pause_rx_frames", "802.3x pause frames received", "SAI_PORT_STAT_PAUSE_RX_PKTS", "rx_global_pause", "") \
    X(PAUSE_TX_FRAMES, C, "pause_tx_frames", "802.3x pause frames sent", "SAI_PORT_STAT_PAUSE_TX_PKTS", "tx_global_pause", "") \
    X(PFC_RX_FRAMES, C, "pfc_rx_frames", "802.1Qbb frames received", "", "rx_pause_ctrl_phy", "") \
    X(PFC_TX_FRAMES, C, "pfc_tx_frames", "802.1Qbb frames sent", "", "tx_pause_ctrl_phy", "") \
    X(PFC_BAD_FRAMES, C, "pfc_bad_frames", "MAC control frames that are no valid PFC or pause", "", "rx_unsupported_op_phy", "") \
    X(LINK_DOWN_EVENTS, C, "link_down_events", "times the link went down", "", "link_down_events_phy", "link_downed, LinkDownedCounter") \
    X(TRIM_FRAMES, C, "trim_frames", "frames for this egress port that were trimmed here instead of dropped", "SAI_PORT_STAT_TRIM_PACKETS", "", "") \
    X(TRIM_TX_FRAMES, C, "trim_tx_frames", "those sent", "SAI_PORT_STAT_TX_TRIM_PACKETS", "", "") \
    X(TRIM_DROP_FRAMES, C, "trim_drop_frames", "those dropped after all", "SAI_PORT_STAT_DROPPED_TRIM_PACKETS", "", "") \
    X(TRIM_RX_FRAMES, C, "trim_rx_frames", "trimmed frames that a model host received", "", "", "")

#define WF_CTRS_PRIO(X) \
    X(RX_FRAMES, C, "rx_frames", "frames received in this priority", "", "rx_prioN_packets", "") \
    X(RX_BYTES, C, "rx_bytes", "their bytes with FCS", "", "rx_prioN_bytes", "") \
    X(TX_FRAMES, C, "tx_frames", "frames sent in this priority", "", "tx_prioN_packets", "") \
    X(TX_BYTES, C, "tx_bytes", "their bytes with FCS", "", "tx_prioN_bytes", "") \
    X(XOFF_TX, C, "pfc_xoff_tx_frames", "PFC frames sent that began a pause", "SAI_PORT_STAT_PFC_N_TX_PKTS", "tx_prioN_pause", "") \
    X(REFRESH_TX, C, "pfc_refresh_tx_frames", "PFC frames sent that prolonged one", "SAI_PORT_STAT_PFC_N_TX_PKTS", "tx_prioN_pause", "") \
    X(XON_TX, C, "pfc_xon_tx_frames", "PFC frames sent that ended one", "SAI_PORT_STAT_PFC_N_TX_PKTS", "tx_prioN_pause", "") \
    X(XOFF_RX, C, "pfc_xoff_rx_frames", "PFC frames received that began a pause", "SAI_PORT_STAT_PFC_N_RX_PKTS", "rx_prioN_pause", "") \
    X(REFRESH_RX, C, "pfc_refresh_rx_frames", "PFC frames received that prolonged one", "SAI_PORT_STAT_PFC_N_RX_PKTS", "rx_prioN_pause", "") \
    X(XON_RX, C, "pfc_xon_rx_frames", "PFC frames received that ended one", "SAI_PORT_STAT_PFC_N_RX_PKTS", "rx_prioN_pause", "") \
    X(ON2OFF_RX, C, "pfc_on2off_rx_events", "pauses by PFC that ended: by XON, since nobody prolonged them, or with the link", "SAI_PORT_STAT_PFC_N_ON2OFF_RX_PKTS", "rx_prioN_pause_transition", "") \
    X(IGNORED_RX, C, "pfc_ignored_rx_frames", "PFC frames received for a priority without PFC, not obeyed", "SAI_PORT_STAT_PFC_N_RX_PKTS", "rx_prioN_pause", "") \
    X(PAUSED_PS, C, "paused_ps", "time in which this priority could not send here", "SAI_PORT_STAT_PFC_N_RX_PAUSE_DURATION_US", "rx_prioN_pause_duration", "PortXmitWait") \
    X(PAUSING_PS, C, "pausing_ps", "time in which we kept the peer's priority paused", "SAI_PORT_STAT_PFC_N_TX_PAUSE_DURATION_US", "tx_prioN_pause_duration", "")

#define WF_CTRS_QUEUE(X) \
    X(BYTES, G, "queue_bytes", "bytes waiting now", "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", "", "") \
    X(MAX_BYTES, M, "queue_max_bytes", "most bytes that waited", "SAI_QUEUE_STAT_WATERMARK_BYTES", "", "") \
    X(ENQ_FRAMES, C, "enqueued_frames", "frames put into this egress queue", "", "", "") \
    X(TX_FRAMES, C, "tx_frames", "frames sent from it", "SAI_QUEUE_STAT_PACKETS", "", "") \
    X(TX_BYTES, C, "tx_bytes", "their bytes with FCS", "SAI_QUEUE_STAT_BYTES", "", "") \
    X(DROP_FRAMES, C, "drop_frames", "frames dropped at it", "SAI_QUEUE_STAT_DROPPED_PACKETS", "", "") \
    X(MARKED_FRAMES, C, "ecn_marked_frames", "frames marked CE", "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "", "") \
    X(CE_FRAMES, C, "ecn_already_ce_frames", "frames that were to be marked CE and came with it", "", "", "") \
    X(TRIM_FRAMES, C, "trim_frames", "frames that it refused and that were trimmed", "SAI_QUEUE_STAT_TRIM_PACKETS", "", "") \
    X(TRIM_TX_FRAMES, C, "trim_tx_frames", "those sent, from another queue", "SAI_QUEUE_STAT_TX_TRIM_PACKETS", "", "") \
    X(TRIM_DROP_FRAMES, C, "trim_drop_frames", "those dropped after all", "SAI_QUEUE_STAT_DROPPED_TRIM_PACKETS", "", "") \
    X(DROP_BYTES, C, "drop_bytes", "bytes of the frames dropped at it", "SAI_QUEUE_STAT_DROPPED_BYTES", "", "")

#define WF_CTRS_PG(X) \
    X(HEADROOM_MAX_BYTES, M, "headroom_max_bytes", "most bytes held above XOFF", "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES", "", "") \
    X(DROP_FRAMES, C, "drop_frames", "frames refused", "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", "", "") \
    X(BYTES, G, "pg_bytes", "bytes of this ingress priority group held now", "SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES", "", "") \
    X(MAX_BYTES, M, "pg_max_bytes", "most bytes held", "SAI_INGRESS_PRIORITY_GROUP_STAT_WATERMARK_BYTES", "", "") \
    X(RX_FRAMES, C, "rx_frames", "frames admitted", "SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS", "", "") \
    X(SHARED_BYTES, G, "shared_bytes", "bytes that it shares in of its pool now", "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_CURR_OCCUPANCY_BYTES", "", "") \
    X(SHARED_MAX_BYTES, M, "shared_max_bytes", "most bytes shared", "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES", "", "") \
    X(HEADROOM_BYTES, G, "headroom_bytes", "bytes held above XOFF now", "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES", "", "")

/* Only where egress accounts cells or pools: elsewhere queue_bytes says the same. */
#define WF_CTRS_EGRESS(X) \
    X(SHARED_BYTES, G, "shared_bytes", "bytes that the queue shares in of its pool now", "SAI_QUEUE_STAT_SHARED_CURR_OCCUPANCY_BYTES", "", "") \
    X(SHARED_MAX_BYTES, M, "shared_max_bytes", "most bytes shared", "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "", "")

#define WF_CTRS_POOL(X) \
    X(BYTES, G, "pool_bytes", "bytes of the pool that are shared now", "SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES", "", "") \
    X(MAX_BYTES, M, "pool_max_bytes", "most bytes shared", "SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", "", "") \
    X(HEADROOM_BYTES, G, "headroom_bytes", "headroom of its groups in use now", "SAI_BUFFER_POOL_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES", "", "") \
    X(HEADROOM_MAX_BYTES, M, "headroom_max_bytes", "most headroom in use", "SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES", "", "")

#define WF_CTRS_PFCWD(X) \
    X(STORMED, G, "storm_active_events", "storms that last now: 1 or 0", "PFC_WD_STATUS", "", "") \
    X(DETECTED, C, "storm_detected_events", "storms that began", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED", "", "") \
    X(RESTORED, C, "storm_restored_events", "storms that ended", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED", "", "") \
    X(TX_OK, C, "storm_tx_ok_frames", "frames that the queue sent during storms", "PFC_WD_QUEUE_STATS_TX_PACKETS", "", "") \
    X(TX_DROP, C, "storm_tx_drop_frames", "frames flushed from the queue, or dropped that came for it", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", "", "") \
    X(RX_OK, C, "storm_rx_ok_frames", "frames that came in for the priority during storms", "PFC_WD_QUEUE_STATS_RX_PACKETS", "", "") \
    X(RX_DROP, C, "storm_rx_drop_frames", "frames dropped of those", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS", "", "") \
    X(TX_OK_LAST, G, "storm_last_tx_ok_frames", "of the last storm, or the one that lasts", "PFC_WD_QUEUE_STATS_TX_PACKETS_LAST", "", "") \
    X(TX_DROP_LAST, G, "storm_last_tx_drop_frames", "likewise", "PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS_LAST", "", "") \
    X(RX_OK_LAST, G, "storm_last_rx_ok_frames", "likewise", "PFC_WD_QUEUE_STATS_RX_PACKETS_LAST", "", "") \
    X(RX_DROP_LAST, G, "storm_last_rx_drop_frames", "likewise", "PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS_LAST", "", "")

#define WF_CTRS_FLOW(X) \
    X(POSTED_BYTES, C, "posted_bytes", "payload bytes posted", "", "", "") \
    X(BYTES, C, "delivered_bytes", "payload bytes placed in order at the receiver", "", "", "") \
    X(MSGS_POSTED, C, "posted_messages", "messages posted", "", "", "") \
    X(MSGS, C, "completed_messages", "messages completed at the sender", "", "", "") \
    X(MSGS_FAILED, C, "failed_messages", "messages completed with an error", "", "", "") \
    X(TX_PACKETS, C, "tx_packets", "data packets sent, first time and again", "", "tx_vport_rdma_unicast_packets", "sent_pkts, rdma_tx_packets") \
    X(RETX_PACKETS, C, "retransmitted_packets", "data packets sent again", "", "", "") \
    X(RETX_BYTES, C, "retransmitted_bytes", "their payload bytes", "", "", "") \
    X(ACK_RX, C, "acks_received", "ACKs received", "", "", "") \
    X(NAK_RX, C, "naks_received", "PSN sequence NAKs received; of selective ones those that told of a loss", "", "", "rcvd_seq_err, packet_seq_err") \
    X(NAK_TX, C, "naks_sent", "PSN sequence NAKs sent, selective ones too", "", "", "out_of_seq_request, out_of_sequence") \
    X(DUP_RX, C, "duplicates_received", "data packets received again", "", "", "duplicate_request") \
    X(TIMEOUTS, C, "timeouts", "local ACK timeouts", "", "", "local_ack_timeout_err") \
    X(CE_RX, C, "ce_received_packets", "data packets received with CE", "", "", "np_ecn_marked_roce_packets, cc_rx_ce_pkts") \
    X(CNP_TX, C, "cnps_sent", "CNPs sent", "", "", "np_cnp_sent, cc_tx_cnp_pkts") \
    X(CNP_RX, C, "cnps_received", "CNPs received", "", "", "rp_cnp_handled, cc_rx_cnp_pkts") \
    X(START_PS, G, "start_ps", "time of the first posting", "", "", "") \
    X(COMPLETION_PS, G, "completion_ps", "from first posting to last completion; 0 until then", "", "", "") \
    X(IDEAL_PS, G, "ideal_ps", "completion time that the path allows when nobody else is there; what slowdown_permille compares with; 0: none (UC, UD, no way)", "", "", "") \
    X(SLOWDOWN, G, "slowdown_permille", "completion_ps over ideal_ps, in thousandths; 0 until then, and where there is no ideal", "", "", "") \
    X(DELAY_MAX_PS, M, "delay_max_ps", "longest one-way delay of a data packet, first bit to last bit", "", "", "") \
    X(RECEIVED, C, "received_messages", "messages that the receiver has taken to their end, READs and atomics apart", "", "", "rdma_recvs, rx_write_requests") \
    X(PLACED_EARLY, C, "placed_early_packets", "packets placed out of order (retransmit: selective)", "", "", "") \
    X(RNR_TX, C, "rnr_naks_sent_packets", "RNR NAKs sent", "", "", "send_rnr_err") \
    X(RNR_RX, C, "rnr_naks_received_packets", "RNR NAKs received", "", "", "rcvd_rnr_err, rnr_nak_retry_err") \
    X(RNR_EXCEEDED, C, "rnr_retries_exceeded_events", "times the RNR retries were used up", "", "", "retry_rnr_exceeded_err, req_rnr_retries_exceeded") \
    X(RETRY_EXCEEDED, C, "retries_exceeded_events", "times the retries were used up", "", "", "retry_exceeded_err, req_transport_retries_exceeded") \
    X(IMPLIED_NAKS, C, "implied_nak_events", "times a later answer told that the data of a READ or atomic was lost", "", "", "implied_nak_seq_err") \
    X(REQ_ACCESS, C, "remote_access_error_events", "remote access errors that the sender was told of", "", "", "req_remote_access_errors") \
    X(REQ_INVALID, C, "remote_invalid_request_events", "invalid requests that the sender was told of", "", "", "req_remote_invalid_request") \
    X(REQ_OPERATION, C, "remote_operation_error_events", "remote operational errors that the sender was told of", "", "", "") \
    X(REQ_ERRORS, C, "request_error_events", "work requests completed with an error", "", "", "req_cqe_error") \
    X(REQ_FLUSHED, C, "request_flush_events", "those of them that were flushed behind another", "", "", "req_cqe_flush_error") \
    X(RESP_ACCESS, C, "responder_access_error_events", "requests that the receiver refused for their key, address or length", "", "", "resp_remote_access_errors") \
    X(RESP_LENGTH, C, "responder_length_error_events", "messages longer than their receive", "", "", "resp_local_length_error") \
    X(RESP_ERRORS, C, "receive_error_events", "receives completed with an error", "", "", "resp_cqe_error") \
    X(RESP_FLUSHED, C, "receive_flush_events", "those of them that were flushed", "", "", "resp_cqe_flush_error") \
    X(NO_RECEIVE, C, "no_receive_events", "messages that met no posted receive", "", "", "out_of_buffer") \
    X(UC_GAPS, C, "uc_gap_events", "gaps in what came over an unreliable connection", "", "", "") \
    X(READ_REQUESTS, C, "read_requests_packets", "READ requests that the receiver took", "", "", "rx_read_requests") \
    X(ATOMIC_REQUESTS, C, "atomic_requests_packets", "atomics that the receiver took", "", "", "rx_atomic_requests") \
    X(RIGHT_BYTES, C, "right_bytes", "connect: bytes that READs and atomics brought which are what the peer had named", "", "", "") \
    X(WRONG_BYTES, C, "wrong_bytes", "those that are not", "", "", "")

#define WF_CTRS_EDGE(X) \
    X(IN_FRAMES, C, "in_frames", "frames taken from the attached peer", "", "", "") \
    X(IN_BYTES, C, "in_bytes", "their bytes with FCS", "", "", "") \
    X(IN_TOO_LONG, C, "in_too_long_frames", "frames of the peer that no buffer holds, not taken", "", "", "") \
    X(OWN_FRAMES, C, "own_frames", "frames that this machine itself sent on the interface, not taken", "", "", "") \
    X(MISSED_FRAMES, C, "missed_frames", "frames of the peer that the device lost before weft saw them, where it counts them", "", "", "") \
    X(OUT_FRAMES, C, "out_frames", "frames given to the attached peer", "", "", "") \
    X(OUT_BYTES, C, "out_bytes", "their bytes with FCS", "", "", "") \
    X(STALLS, C, "stall_events", "times the peer's ring was full and the edge FIFO too", "", "", "") \
    X(STALL_PS, C, "stall_ps", "time stalled so", "", "", "") \
    X(BACKPRESSURE_PS, C, "backpressure_ps", "time in which frames waited in the peer's ring since the fabric paused", "", "", "") \
    X(FIFO_MAX_FRAMES, M, "fifo_max_frames", "most frames that waited for the peer", "", "", "") \
    X(ICRC_OK, C, "icrc_ok_packets", "RoCEv2 packets from the peer with a right ICRC", "", "", "") \
    X(ICRC_BAD, C, "icrc_bad_packets", "RoCEv2 packets from the peer with a wrong ICRC", "", "", "rx_icrc_encapsulated") \
    X(OUT_ICRC_OK, C, "out_icrc_ok_packets", "RoCEv2 packets to the peer with a right ICRC", "", "", "") \
    X(OUT_ICRC_BAD, C, "out_icrc_bad_packets", "RoCEv2 packets to the peer with a wrong ICRC", "", "", "") \
    X(OUT_CE_FRAMES, C, "out_ce_frames", "frames given to the peer with CE", "", "", "") \
    X(NAK_FRAMES, C, "nak_frames", "NAKs taken from the peer", "", "", "") \
    X(RP_CNP, C, "rp_cnp_handled_frames", "CNPs for the peer that its NIC here took and obeyed", "", "", "rp_cnp_handled") \
    X(RP_CNP_BY_ADDRESS, C, "rp_cnp_by_address_frames", "those whose queue pair was not known: they slowed down all that goes to the address", "", "", "") \
    X(NP_CE, C, "np_ecn_marked_packets", "RoCE data for the peer that its NIC here saw with CE", "", "", "np_ecn_marked_roce_packets") \
    X(NP_CNP, C, "np_cnp_sent_frames", "CNPs that it sent for them", "", "", "np_cnp_sent") \
    X(NP_CNP_BY_ADDRESS, C, "np_cnp_by_address_frames", "those without a queue pair, which was not known", "", "", "") \
    X(NIC_WAITING_MAX, M, "nic_waiting_max_frames", "most of the peer's frames that waited in the NIC here for their rate", "", "", "") \
    X(NIC_PAIRED_CM, C, "nic_pairs_by_cm_events", "queue pairs that were joined since the connection manager said so", "", "", "") \
    X(NIC_PAIRED_PSN, C, "nic_pairs_by_psn_events", "queue pairs that were joined since an acknowledgement fits one stream only", "", "", "") \
    X(NIC_AMBIGUOUS, C, "nic_ambiguous_events", "acknowledgements that fit several streams", "", "", "") \
    X(NIC_FORGOTTEN, C, "nic_forgotten_events", "directions of connections that made room for others", "", "", "")

#define WF_CTRS_ENDPOINT(X) \
    X(CM_RX, C, "cm_rx_packets", "datagrams of the connection manager received", "", "", "") \
    X(CM_TX, C, "cm_tx_packets", "those sent", "", "", "") \
    X(CM_RETX, C, "cm_retransmitted_packets", "those sent again since nobody answered", "", "", "") \
    X(CM_DUP, C, "cm_duplicate_packets", "those received again", "", "", "") \
    X(CM_CONNECTED, C, "cm_connected_events", "connections established", "", "", "") \
    X(CM_REJECTED, C, "cm_rejected_events", "requests refused, and connections that the peer refused", "", "", "") \
    X(CM_DISCONNECTED, C, "cm_disconnected_events", "connections that ended, by either side", "", "", "") \
    X(CM_UNREACHABLE, C, "cm_unreachable_events", "connections whose peer no longer answered", "", "", "") \
    X(CM_RESOLVED, C, "cm_resolved_events", "requests for a service of datagrams answered with its queue pair", "", "", "") \
    X(RX_MSGS, C, "rx_messages", "requests of peers carried out", "", "", "") \
    X(RX_BYTES, C, "rx_bytes", "their payload bytes placed here", "", "", "") \
    X(RIGHT_BYTES, C, "right_bytes", "bytes of SENDs, and of the memory of connections of the past, that held the pattern which the peer had announced", "", "", "") \
    X(WRONG_BYTES, C, "wrong_bytes", "those that did not", "", "", "") \
    X(NAK_TX, C, "naks_sent", "PSN sequence NAKs sent", "", "", "out_of_seq_request, out_of_sequence") \
    X(DUP_RX, C, "duplicates_received", "request packets received again", "", "", "duplicate_request") \
    X(CE_RX, C, "ce_received_packets", "data packets received with CE", "", "", "np_ecn_marked_roce_packets, cc_rx_ce_pkts") \
    X(RECEIVED, C, "received_messages", "messages that took a receive here", "", "", "rdma_recvs") \
    X(ECHOED, C, "echoed_messages", "those sent back, and acknowledged", "", "", "") \
    X(RNR_TX, C, "rnr_naks_sent_packets", "RNR NAKs sent", "", "", "send_rnr_err")

#define WF_CTRS_FABRIC(X) \
    X(INJECTED, C, "injected_frames", "frames that came in from outside", "", "", "") \
    X(GENERATED, C, "generated_frames", "frames that the fabric's own nodes made", "", "", "") \
    X(REPLICATED, C, "replicated_frames", "copies made", "", "", "") \
    X(DELIVERED, C, "delivered_frames", "frames given to a host, model or real", "", "", "") \
    X(CONSUMED, C, "consumed_frames", "frames ended by a node they were for (PFC, ARP)", "", "", "") \
    X(DROPPED, C, "dropped_frames", "frames dropped, all reasons and places", "", "", "") \
    X(ABSORBED, C, "absorbed_frames", "frames merged into another by in-network computing", "", "", "") \
    X(LOSSLESS_DROPS, C, "lossless_drop_frames", "frames of lossless priorities dropped for want of buffer", "", "", "") \
    X(LINK_HOPS, C, "link_hop_frames", "frames that crossed a link", "", "", "") \
    X(DEADLOCKS, C, "deadlock_events", "circles of queues found that wait for each other for ever", "", "", "")

#define WF_CTR_ENUM(scope, LIST) \
    enum wf_ctr_##scope { LIST(WF_CTR_ROW_##scope) WF_##scope##_CTRS }
#define WF_CTR_ROW_PORT(id, ...)   WF_PORT_##id,
#define WF_CTR_ROW_PRIO(id, ...)   WF_PRIO_##id,
#define WF_CTR_ROW_QUEUE(id, ...)  WF_QUEUE_##id,
#define WF_CTR_ROW_PG(id, ...)     WF_PG_##id,
#define WF_CTR_ROW_EGRESS(id, ...) WF_EGRESS_##id,
#define WF_CTR_ROW_POOL(id, ...)   WF_POOL_##id,
#define WF_CTR_ROW_PFCWD(id, ...)  WF_PFCWD_##id,
#define WF_CTR_ROW_FLOW(id, ...)   WF_FLOW_##id,
#define WF_CTR_ROW_EDGE(id, ...)   WF_EDGE_##id,
#define WF_CTR_ROW_ENDPOINT(id, ...) WF_ENDPOINT_##id,
#define WF_CTR_ROW_FABRIC(id, ...) WF_FABRIC_##id,
/* clang-format on */
WF_CTR_ENUM(PORT, WF_CTRS_PORT);
WF_CTR_ENUM(PRIO, WF_CTRS_PRIO);
WF_CTR_ENUM(QUEUE, WF_CTRS_QUEUE);
WF_CTR_ENUM(PG, WF_CTRS_PG);
WF_CTR_ENUM(EGRESS, WF_CTRS_EGRESS);
WF_CTR_ENUM(POOL, WF_CTRS_POOL);
WF_CTR_ENUM(PFCWD, WF_CTRS_PFCWD);
WF_CTR_ENUM(FLOW, WF_CTRS_FLOW);
WF_CTR_ENUM(EDGE, WF_CTRS_EDGE);
WF_CTR_ENUM(ENDPOINT, WF_CTRS_ENDPOINT);
WF_CTR_ENUM(FABRIC, WF_CTRS_FABRIC);

struct wf_ctr_desc {
    const char *name;
    char kind; /* 'C', 'G' or 'M' */
    const char *meaning, *sai, *mlx5, *rdma;
};

struct wf_ctr_table {
    const char *scope; /* "port" ... "drop" */
    const struct wf_ctr_desc *rows;
    size_t n;
};

/* The unit of a counter by its name: its last word (rx_frames), or of a count its first
 * (naks_received). NULL: a name without unit, which no counter of a table has. */
const char *wf_ctr_unit(const char *name);

extern const struct wf_ctr_table wf_ctrs_port, wf_ctrs_prio, wf_ctrs_queue, wf_ctrs_pg,
    wf_ctrs_egress, wf_ctrs_pool, wf_ctrs_pfcwd, wf_ctrs_flow, wf_ctrs_edge, wf_ctrs_endpoint,
    wf_ctrs_fabric;
/* drop_<reason>_frames, indexed by enum wf_reason; row 0 (none) has the name NULL. */
extern const struct wf_ctr_table wf_ctrs_drop;
/* What a row is called elsewhere: lists separated by ", ", or NULL or "". */
struct wf_ctr_names {
    const char *sai, *mlx5, *rdma;
};
struct wf_ctr_names wf_ctr_elsewhere(const struct wf_ctr_table *table, size_t row);
/* All tables, NULL-terminated, in the order of the documentation. */
extern const struct wf_ctr_table *const wf_ctr_tables[];

/* Sets of tables: bit i is wf_ctr_tables[i]; the bit behind them all those that are in no list, of
 * congestion controls. */
enum { WF_CTR_NAME_MAX = 160, WF_CTR_ALL_TABLES = ~0 };
unsigned wf_ctr_table_bit(const struct wf_ctr_table *table);

/* A named holder of counters, where somebody lists some. */
struct wf_ctr_obj {
    const char *name;
    const struct wf_ctr_table *table;
    uint64_t *values;
    bool unjudged; /* a flow outside of its workload's warm-up and cut-off */
};

/*
 * A walk through holders of counters, in entity order. There are millions of them in a large
 * fabric: they are never listed, and named only when somebody asks. One name may come twice, with
 * two tables (a port's counters and its drops). Whoever has holders gives a walk
 * (wf_fabric_ctrs(), wf_scenario_ctrs(), wf_ctr_array()); a copy of a fresh one begins anew.
 *
 *   struct wf_ctr_walk w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_flow));
 *   while (wf_ctr_next(&w))
 *       sum += w.values[WF_FLOW_BYTES];
 */
struct wf_ctr_walk {
    const struct wf_ctr_table *table; /* of the holder that it stands at */
    uint64_t *values;
    const char
        *holder;      /* "leaf0:p3", "flow.f0": its name, or when `part` is set that of the port */
    const char *part; /* "q", "prio", "pg" and `index`, or NULL */
    unsigned index;
    bool unjudged;   /* as of wf_ctr_obj; only of flows */
    unsigned tables; /* the set of tables that are wanted; others are passed over */
    /* whoever walks */
    bool (*next)(struct wf_ctr_walk *w);
    const void *of;
    const void *cursor;
    uint32_t at, port, sub, count;
    char buf[WF_CTR_NAME_MAX];
};

static inline bool wf_ctr_next(struct wf_ctr_walk *w)
{
    return w->next(w);
}

/* The name of the holder that it stands at: "leaf0:p3.q3". buf holds WF_CTR_NAME_MAX bytes; what is
 * returned is buf or lives until the next step. */
const char *wf_ctr_name(const struct wf_ctr_walk *w, char *buf);
/* A walk through an array. */
struct wf_ctr_walk wf_ctr_array(const struct wf_ctr_obj *objs, size_t n);

#endif
