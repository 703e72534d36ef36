/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/counter.h"

#include <stdio.h>
#include <string.h>

#define KIND_C 'C'
#define KIND_G 'G'
#define KIND_M 'M'

/* One table from its X-macro. */
#define ROW(id, kind, name, meaning, sai, mlx5, rdma) {name, KIND_##kind, meaning, sai, mlx5, rdma},
#define TABLE(lower, LIST)                                                                         \
    static const struct wf_ctr_desc rows_##lower[] = {LIST(ROW)};                                  \
    const struct wf_ctr_table wf_ctrs_##lower = {#lower, rows_##lower,                             \
                                                 sizeof(rows_##lower) / sizeof(rows_##lower[0])}

TABLE(port, WF_CTRS_PORT);
TABLE(prio, WF_CTRS_PRIO);
TABLE(queue, WF_CTRS_QUEUE);
TABLE(pg, WF_CTRS_PG);
TABLE(egress, WF_CTRS_EGRESS);
TABLE(pool, WF_CTRS_POOL);
TABLE(pfcwd, WF_CTRS_PFCWD);
TABLE(flow, WF_CTRS_FLOW);
TABLE(edge, WF_CTRS_EDGE);
TABLE(endpoint, WF_CTRS_ENDPOINT);
TABLE(fabric, WF_CTRS_FABRIC);

static const struct wf_ctr_desc rows_drop[WF_DROP_COUNT] = {
    /* clang-format off */
    {NULL, 'C', "", "", "", ""},
#define X(id, name, meaning) {"drop_" name "_frames", 'C', meaning, "", "", ""},
    WF_REASONS(X)
#undef X
    /* clang-format on */
};
/* What a reason is called elsewhere; SAI has most as drop reasons of debug counters. */
static const struct wf_ctr_names names_drop[WF_DROP_COUNT] = {
    [WF_DROP_MALFORMED] = {"SAI_IN_DROP_REASON_IP_HEADER_ERROR", "rx_in_range_len_errors_phy", ""},
    [WF_DROP_FCS] = {"SAI_PORT_STAT_IF_IN_ERRORS", "rx_crc_errors_phy", "PortRcvErrors"},
    [WF_DROP_LINK_DOWN] = {"SAI_OUT_DROP_REASON_L3_EGRESS_LINK_DOWN", "tx_discards_phy",
                           "PortXmitDiscards"},
    [WF_DROP_OWN_SOURCE] = {"SAI_IN_DROP_REASON_SMAC_EQUALS_DMAC", "", ""},
    [WF_DROP_RESERVED_MAC] = {"SAI_IN_DROP_REASON_DMAC_RESERVED", "", ""},
    [WF_DROP_HAIRPIN] = {"SAI_IN_DROP_REASON_L2_LOOPBACK_FILTER", "", ""},
    [WF_DROP_VLAN_TAG] = {"SAI_IN_DROP_REASON_VLAN_TAG_NOT_ALLOWED", "", ""},
    [WF_DROP_VLAN_IN] = {"SAI_IN_DROP_REASON_INGRESS_VLAN_FILTER", "", ""},
    [WF_DROP_VLAN_OUT] = {"SAI_OUT_DROP_REASON_EGRESS_VLAN_FILTER", "", ""},
    [WF_DROP_MTU] = {"SAI_IN_DROP_REASON_EXCEEDS_L3_MTU", "tx_errors_phy", "PortXmitDiscards"},
    [WF_DROP_TTL] = {"SAI_IN_DROP_REASON_TTL", "", ""},
    [WF_DROP_IP_CHECKSUM] = {"SAI_IN_DROP_REASON_IP_HEADER_ERROR", "", ""},
    [WF_DROP_NO_ROUTE] = {"SAI_IN_DROP_REASON_LPM4_MISS, SAI_IN_DROP_REASON_LPM6_MISS", "", ""},
    [WF_DROP_NOT_ROUTABLE] = {"SAI_IN_DROP_REASON_NO_L3_HEADER", "", ""},
    [WF_DROP_LINK_LOCAL] = {"SAI_IN_DROP_REASON_SIP_LINK_LOCAL, SAI_IN_DROP_REASON_DIP_LINK_LOCAL",
                            "", ""},
    [WF_DROP_NO_NEIGHBOUR] = {"SAI_IN_DROP_REASON_UNRESOLVED_NEXT_HOP", "", ""},
    [WF_DROP_UNKNOWN_UNICAST] = {"SAI_IN_DROP_REASON_FDB_UC_DISCARD", "", ""},
    [WF_DROP_NO_HEADROOM] = {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS", "rx_prioN_discards",
                             ""},
    [WF_DROP_INGRESS_FULL] = {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
                              "rx_prioN_discards", ""},
    [WF_DROP_EGRESS_FULL] = {"SAI_QUEUE_STAT_DROPPED_PACKETS", "", "PortXmitDiscards"},
    [WF_DROP_WRED] = {"SAI_QUEUE_STAT_WRED_DROPPED_PACKETS", "", ""},
    [WF_DROP_BUFFER_FULL] = {"SAI_BUFFER_POOL_STAT_DROPPED_PACKETS", "rx_discards_phy", ""},
    [WF_DROP_PEER_IGNORED_PAUSE] = {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
                                    "rx_prioN_discards", ""},
    [WF_DROP_FLOOD_LOSSLESS] = {"SAI_IN_DROP_REASON_FDB_UC_DISCARD", "", ""},
    [WF_DROP_TUNNEL_CE] = {"SAI_IN_DROP_REASON_DECAP_ERROR", "", ""},
    [WF_DROP_TUNNEL_VNI] = {"SAI_IN_DROP_REASON_DECAP_ERROR", "", ""},
    [WF_DROP_PFCWD_FLUSH] = {"PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", "", ""},
    [WF_DROP_PFCWD_EGRESS] = {"PFC_WD_QUEUE_STATS_TX_DROPPED_PACKETS", "", ""},
    [WF_DROP_PFCWD_INGRESS] = {"PFC_WD_QUEUE_STATS_RX_DROPPED_PACKETS", "", ""},
    [WF_DROP_EDGE_TOO_LONG] = {"SAI_PORT_STAT_ETHER_TX_OVERSIZE_PKTS", "rx_oversize_pkts_phy", ""},
    [WF_DROP_NOT_FOR_US] = {"", "rx_steer_missed_packets", ""},
    [WF_DROP_ICRC] = {"", "", "rx_icrc_encapsulated"},
    [WF_DROP_POOL_FULL] = {"SAI_BUFFER_POOL_STAT_DROPPED_PACKETS", "rx_discards_phy", ""},
    [WF_DROP_EGRESS_POOL] = {"SAI_BUFFER_POOL_STAT_DROPPED_PACKETS", "", "PortXmitDiscards"},
    [WF_DROP_HEADROOM_POOL] = {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
                               "rx_prioN_discards", ""},
};

const struct wf_ctr_table wf_ctrs_drop = {"drop", rows_drop, WF_DROP_COUNT};

const struct wf_ctr_table *const wf_ctr_tables[] = {
    &wf_ctrs_port,     &wf_ctrs_drop,   &wf_ctrs_prio,  &wf_ctrs_queue, &wf_ctrs_egress,
    &wf_ctrs_pg,       &wf_ctrs_pool,   &wf_ctrs_pfcwd, &wf_ctrs_flow,  &wf_ctrs_edge,
    &wf_ctrs_endpoint, &wf_ctrs_fabric, NULL,
};

struct wf_ctr_names wf_ctr_elsewhere(const struct wf_ctr_table *table, size_t row)
{
    const struct wf_ctr_desc *c = &table->rows[row];

    if (table == &wf_ctrs_drop)
        return names_drop[row];
    return (struct wf_ctr_names){c->sai, c->mlx5, c->rdma};
}

const char *wf_ctr_unit(const char *name)
{
    static const struct {
        const char *word, *unit;
    } words[] = {{"frames", "frames"},      {"bytes", "bytes"},   {"packets", "packets"},
                 {"messages", "messages"},  {"events", "events"}, {"ps", "ps"},
                 {"timeouts", "events"},    {"acks", "packets"},  {"naks", "packets"},
                 {"duplicates", "packets"}, {"cnps", "packets"},  {"cells", "cells"},
                 {"bps", "bit/s"},          {"ppm", "ppm"},       {"permille", "permille"}};
    const char *last = strrchr(name, '_');

    for (size_t i = 0; last && i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(last + 1, words[i].word))
            return words[i].unit;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strncmp(name, words[i].word, strlen(words[i].word)))
            return words[i].unit;
    return NULL;
}

unsigned wf_ctr_table_bit(const struct wf_ctr_table *table)
{
    unsigned i = 0;

    while (wf_ctr_tables[i] && wf_ctr_tables[i] != table)
        i++;
    return 1u << i;
}

const char *wf_ctr_name(const struct wf_ctr_walk *w, char *buf)
{
    if (!w->part)
        return w->holder;
    snprintf(buf, WF_CTR_NAME_MAX, "%s.%s%u", w->holder, w->part, w->index);
    return buf;
}

static bool array_next(struct wf_ctr_walk *w)
{
    const struct wf_ctr_obj *objs = w->of;

    for (; w->at < w->count; w->at++) {
        const struct wf_ctr_obj *o = &objs[w->at];

        if (!(w->tables & wf_ctr_table_bit(o->table)))
            continue;
        w->holder = o->name;
        w->table = o->table;
        w->values = o->values;
        w->unjudged = o->unjudged;
        w->at++;
        return true;
    }
    return false;
}

struct wf_ctr_walk wf_ctr_array(const struct wf_ctr_obj *objs, size_t n)
{
    return (struct wf_ctr_walk){.next = array_next,
                                .of = objs,
                                .count = (uint32_t)n,
                                .tables = (unsigned)WF_CTR_ALL_TABLES};
}
