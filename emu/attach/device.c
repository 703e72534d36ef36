/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/device.h"

#include <errno.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { RINGS = 256 };

const struct wf_attach_kind *const wf_attach_kinds[] = {
    [WF_ATTACH_NONE] = NULL,
    [WF_ATTACH_VHOST_USER] = &wf_attach_vhost_user,
    [WF_ATTACH_AF_PACKET] = &wf_attach_af_packet,
    [WF_ATTACH_ETHDEV] = &wf_attach_ethdev,
};

static int failed(const struct wf_edge_dev *d, int rc, const char *what, struct wf_err *err)
{
    return wf_err_set(err, rc < 0 ? -rc : EIO, "%s: %s: %s: %s", d->host, d->where, what,
                      strerror(rc < 0 ? -rc : EIO));
}

static int plug(struct wf_edge_dev *d, const char *args, struct wf_err *err)
{
    int rc;

    if (!rte_eth_dev_get_port_by_name(d->name, &d->port))
        return 0; /* somebody made it before, and keeps it */
    rc = rte_dev_probe(args);
    if (rc)
        return failed(d, rc, "DPDK does not take it as a device", err);
    d->plugged = true;
    rc = rte_eth_dev_get_port_by_name(d->name, &d->port);
    return rc ? failed(d, rc, "DPDK has no Ethernet port for it", err) : 0;
}

static void port_conf(const struct wf_edge_dev *d, const struct rte_eth_dev_info *info,
                      struct rte_eth_conf *conf)
{
    uint32_t most = info->max_rx_pktlen > 18 ? info->max_rx_pktlen - 18 : d->mtu_asked;

    memset(conf, 0, sizeof(*conf));
    if (!d->kind->asks_port_mtu)
        return;
    conf->rxmode.mtu = d->mtu_asked < info->max_mtu ? d->mtu_asked : info->max_mtu;
    conf->rxmode.mtu = conf->rxmode.mtu < most ? conf->rxmode.mtu : most;
}

static int start(struct wf_edge_dev *d, struct rte_mempool *pool, struct wf_err *err)
{
    struct rte_eth_dev_info info;
    struct rte_eth_conf conf;
    uint16_t rx = RINGS, tx = RINGS;
    int rc = rte_eth_dev_info_get(d->port, &info);

    if (rc)
        return failed(d, rc, "it does not describe itself", err);
    port_conf(d, &info, &conf);
    rc = rte_eth_dev_configure(d->port, 1, 1, &conf);
    if (!rc)
        rc = rte_eth_dev_adjust_nb_rx_tx_desc(d->port, &rx, &tx);
    if (!rc)
        rc = rte_eth_rx_queue_setup(d->port, 0, rx, SOCKET_ID_ANY, NULL, pool);
    if (!rc)
        rc = rte_eth_tx_queue_setup(d->port, 0, tx, SOCKET_ID_ANY, NULL);
    if (!rc)
        rc = rte_eth_dev_start(d->port);
    if (rc)
        return failed(d, rc, "the port does not start", err);
    d->started = true;
    (void)rte_eth_promiscuous_enable(d->port); /* not all have or need it */
    if (d->kind->asks_port_mtu && conf.rxmode.mtu < d->mtu)
        d->mtu = conf.rxmode.mtu;
    return 0;
}

int wf_edge_dev_open(struct wf_edge_dev *d, struct rte_mempool *pool, struct wf_err *err)
{
    char args[512];
    int rc;

    d->port = WF_EDGE_NO_PORT;
    d->lock_fd = -1;
    d->mtu = d->mtu_asked;
    rc = d->kind->prepare(d, args, sizeof(args), err);
    if (!rc)
        rc = plug(d, args, err);
    if (!rc)
        rc = start(d, pool, err);
    if (rc)
        wf_edge_dev_close(d);
    return rc;
}

static void unplug(struct wf_edge_dev *d)
{
    struct rte_eth_dev_info info;

    if (!d->plugged)
        return;
    d->plugged = false;
    if (d->port != WF_EDGE_NO_PORT && !rte_eth_dev_info_get(d->port, &info)) {
        rte_eth_dev_close(d->port);
        (void)rte_dev_remove(info.device);
    }
}

void wf_edge_dev_close(struct wf_edge_dev *d)
{
    if (d->started) {
        if (!d->promisc_was)
            (void)rte_eth_promiscuous_disable(d->port);
        (void)rte_eth_dev_stop(d->port);
        d->started = false;
    }
    unplug(d);
    if (d->kind && d->kind->finish)
        d->kind->finish(d);
    d->port = WF_EDGE_NO_PORT;
}

unsigned wf_edge_dev_rx(struct wf_edge_dev *d, struct rte_mbuf **pkts, unsigned n)
{
    return d->started ? rte_eth_rx_burst(d->port, 0, pkts, (uint16_t)n) : 0;
}

unsigned wf_edge_dev_tx(struct wf_edge_dev *d, struct rte_mbuf **pkts, unsigned n)
{
    return d->started ? rte_eth_tx_burst(d->port, 0, pkts, (uint16_t)n) : 0;
}

uint64_t wf_edge_dev_missed(const struct wf_edge_dev *d)
{
    struct rte_eth_stats st;

    return d->started && !rte_eth_stats_get(d->port, &st) ? st.imissed + st.rx_nombuf : 0;
}
