/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel interface (veth, tap, a NIC) by a packet socket's rings, over DPDK's net_af_packet.
 * The interface stays the kernel's: weft changes nothing of it but promiscuous mode, which it puts
 * back. The kernel's own stack on our side of the interface stays on: what it sends comes back
 * through the packet socket and is told by its MAC address.
 * Left out: holding up the sender. When more frames wait than the ring holds, the kernel drops
 * them (a NIC's ring does the same), and net_af_packet does not say how many. Through a Linux
 * bridge PFC and pause frames never pass.
 */
#include <errno.h>
#include <net/if.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/device.h"

/* The kernel puts a frame 66 bytes into its place in the ring. The PMD takes places to lie without
 * gaps, so a block has to be a whole number of both places and pages; and it wants a place less its
 * header to fit into a buffer behind the headroom. */
enum {
    RING_FRAME = 9472,
    RING_BLOCK = 16 * RING_FRAME, /* 37 pages */
    RING_FRAMES = 512,
    RING_MTU = RING_FRAME - 66 - 14 - 4,
};

struct iface {
    int index;
    short flags;
    uint32_t mtu;
    uint8_t mac[6];
};

/* 0 or -errno. */
static int ask(const char *name, struct iface *i)
{
    struct ifreq r = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;

    if (fd < 0)
        return -errno;
    snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
    if (ioctl(fd, SIOCGIFINDEX, &r))
        rc = -errno;
    i->index = r.ifr_ifindex;
    if (!rc && ioctl(fd, SIOCGIFFLAGS, &r))
        rc = -errno;
    i->flags = r.ifr_flags;
    if (!rc && ioctl(fd, SIOCGIFMTU, &r))
        rc = -errno;
    i->mtu = (uint32_t)r.ifr_mtu;
    if (!rc && ioctl(fd, SIOCGIFHWADDR, &r))
        rc = -errno;
    memcpy(i->mac, r.ifr_hwaddr.sa_data, 6);
    close(fd);
    return rc;
}

static int check_permission(const struct wf_edge_dev *d, struct wf_err *err)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), rc = 0;

    if (fd < 0)
        rc = wf_err_set(err, errno,
                        "%s: interface '%s' needs a packet socket: %s (run as root, or give weft "
                        "CAP_NET_RAW)",
                        d->host, d->cfg->iface, strerror(errno));
    else
        close(fd);
    return rc;
}

/* Two takers of one interface would each get every frame: a name in this network namespace is the
 * lock, and goes with the process. */
static int lock(struct wf_edge_dev *d, struct wf_err *err)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int n = snprintf(sa.sun_path + 1, sizeof(sa.sun_path) - 1, "weft/interface/%d", d->ifindex);

    d->lock_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (d->lock_fd >= 0 &&
        !bind(d->lock_fd, (struct sockaddr *)&sa,
              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)))
        return 0;
    return wf_err_set(err, errno == EADDRINUSE ? EBUSY : errno, "%s: interface '%s': %s", d->host,
                      d->cfg->iface,
                      errno == EADDRINUSE ? "another weft uses it" : strerror(errno));
}

static int prepare(struct wf_edge_dev *d, char *args, size_t len, struct wf_err *err)
{
    static atomic_uint serial; /* names of devices are the process's */
    const char *name = d->cfg->iface;
    struct iface i;
    int rc;

    if (!name || !*name)
        return wf_err_set(err, EINVAL, "%s: attach.iface is missing: which interface", d->host);
    if (strlen(name) >= IFNAMSIZ || strpbrk(name, ",[]\"/"))
        return wf_err_set(err, EINVAL, "%s: '%s' is no name of an interface", d->host, name);
    rc = ask(name, &i);
    if (rc)
        return wf_err_set(err, -rc, "%s: interface '%s': %s", d->host, name, strerror(-rc));
    rc = check_permission(d, err);
    if (rc)
        return rc;
    d->ifindex = i.index;
    d->promisc_was = i.flags & IFF_PROMISC;
    memcpy(d->own_mac, i.mac, 6);
    d->has_own_mac = true;
    d->mtu = i.mtu < d->mtu ? i.mtu : d->mtu;
    d->mtu = d->mtu < RING_MTU ? d->mtu : RING_MTU;
    wf_far_end_ask(i.index, &d->far);
    snprintf(d->where, sizeof(d->where), "interface %s", name);
    snprintf(d->name, sizeof(d->name), "net_af_packet%u", atomic_fetch_add(&serial, 1));
    snprintf(args, len, "%s,iface=%s,blocksz=%d,framesz=%d,framecnt=%d,qdisc_bypass=1", d->name,
             name, RING_BLOCK, RING_FRAME, RING_FRAMES);
    return lock(d, err);
}

static enum wf_peer_state look(struct wf_edge_dev *d)
{
    struct iface i;
    int rc = ask(d->cfg->iface, &i);

    if (rc == -ENODEV || (!rc && i.index != d->ifindex))
        return WF_PEER_GONE;
    if (rc)
        return WF_PEER_DOWN;
    d->mtu = i.mtu < d->mtu_asked ? i.mtu : d->mtu_asked;
    d->mtu = d->mtu < RING_MTU ? d->mtu : RING_MTU;
    return i.flags & IFF_UP && i.flags & IFF_RUNNING ? WF_PEER_UP : WF_PEER_DOWN;
}

static void finish(struct wf_edge_dev *d)
{
    if (d->lock_fd >= 0)
        close(d->lock_fd);
    d->lock_fd = -1;
}

const struct wf_attach_kind wf_attach_af_packet = {
    .name = "af_packet",
    .doc = "A kernel interface: veth, tap, a NIC. The kernel drops what the ring does not hold.",
    .prepare = prepare,
    .look = look,
    .finish = finish,
};
