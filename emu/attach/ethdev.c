/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any DPDK Ethernet port by its device arguments: a NIC by its PCI address, net_memif, net_tap.
 * A port of that name that is there already (a driver's user made it) is used and left there.
 * Left out: offloads; every frame is taken and given as bytes.
 */
#include <errno.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

#include "attach/device.h"

static int prepare(struct wf_edge_dev *d, char *args, size_t len, struct wf_err *err)
{
    const char *devargs = d->cfg->devargs;
    size_t name;

    if (!devargs || !*devargs)
        return wf_err_set(err, EINVAL, "%s: attach.devargs is missing: which DPDK device", d->host);
    name = strcspn(devargs, ",");
    if (!name || name >= sizeof(d->name) || strlen(devargs) >= len)
        return wf_err_set(err, EINVAL, "%s: '%s' are no DPDK device arguments", d->host, devargs);
    memcpy(d->name, devargs, name);
    d->name[name] = 0;
    snprintf(d->where, sizeof(d->where), "device %s", d->name);
    snprintf(args, len, "%s", devargs);
    return 0;
}

static enum wf_peer_state look(struct wf_edge_dev *d)
{
    struct rte_eth_link link;

    if (!rte_eth_dev_is_valid_port(d->port))
        return WF_PEER_GONE;
    if (rte_eth_link_get_nowait(d->port, &link))
        return WF_PEER_UP; /* one that knows no link has one */
    return link.link_status == RTE_ETH_LINK_UP ? WF_PEER_UP : WF_PEER_DOWN;
}

const struct wf_attach_kind wf_attach_ethdev = {
    .name = "ethdev",
    .doc = "Any DPDK port by its device arguments.",
    .prepare = prepare,
    .look = look,
    .asks_port_mtu = true,
};
