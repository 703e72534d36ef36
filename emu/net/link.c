/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/link.h"

#include "net/port.h"

#define ROW(field) offsetof(struct wf_link_cfg, field)

static const struct wf_key rows[] = {
    {"rate", WF_KEY_RATE, ROW(rate_bps), "100Gbps", WF_LINK_RATE_MIN_BPS, WF_LINK_RATE_MAX_BPS,
     .doc = "Bit rate of each direction."},
    {"delay", WF_KEY_TIME, ROW(delay_ps), "500ns", 0, WF_PS_PER_S,
     .doc = "Propagation delay of each direction."},
    {"cable", WF_KEY_LENGTH, ROW(cable_mm), "0", 0, 1000000000,
     .doc = "Length of the cable, such as 40m: gives the delay, at 1.98e8 m/s, where no delay is "
            "given; 0: unknown."},
    {"mtu", WF_KEY_UINT, ROW(mtu), "9216", 68, 9600,
     .doc =
         "Longest L3 packet in bytes, as Linux means it; a longer one is dropped at the egress."},
    {"loss", WF_KEY_FRACTION, ROW(loss), "0",
     .doc = "Share of frames lost on the link, at random: such as 1/1000."},
    {"corrupt", WF_KEY_FRACTION, ROW(corrupt), "0",
     .doc = "Share of frames damaged on the link; the receiver drops them for their FCS."},
};

const struct wf_keyset wf_link_keys = {
    .name = "link",
    .doc = "A link and both of its directions.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_link_cfg),
};

void wf_link_set(struct wf_link *link, bool up)
{
    if (link->up == up)
        return;
    link->up = up;
    link->downs += !up;
    for (int i = 0; i < 2; i++)
        link->ends[i]->downs = link->ends[i]->tx_downs = link->downs;
    for (int i = 0; i < 2; i++)
        wf_port_link_changed(link->ends[i], up);
}

void wf_link_set_rate(struct wf_link *link, uint64_t rate_bps)
{
    link->cfg.rate_bps = rate_bps;
    for (int i = 0; i < 2; i++)
        wf_txclock_init(&link->ends[i]->tx, rate_bps);
    wf_link_tell(link);
}

void wf_link_tell(struct wf_link *link)
{
    for (int i = 0; i < 2; i++)
        wf_port_link_known(link->ends[i]);
    for (int i = 0; i < 2; i++)
        link->ends[i]->ll_ops->link_known(link->ends[i]);
    for (int i = 0; i < 2; i++)
        if (link->ends[i]->node->ops->link_known)
            link->ends[i]->node->ops->link_known(link->ends[i]->node, link->ends[i]);
}
