/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guest's virtio-net by vhost-user, over DPDK's net_vhost. weft is the server: it makes the
 * socket and waits for the guest. The guest may come and go; its link follows.
 * Left out: more than one queue pair, client mode, reconnection of a live queue.
 */
#include <errno.h>
#include <rte_ethdev.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/device.h"

/* A socket that nobody listens on is left over from a dead process, and goes. */
static int clear_stale(const struct wf_edge_dev *d, const char *path, struct wf_err *err)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct stat st;
    int fd, rc;

    if (lstat(path, &st))
        return errno == ENOENT
                   ? 0
                   : wf_err_set(err, errno, "%s: socket '%s': %s", d->host, path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return wf_err_set(err, EEXIST, "%s: '%s' exists and is no socket", d->host, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memcpy(sa.sun_path, path, strlen(path) + 1);
    rc = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&sa, sizeof(sa));
    if (rc && errno == ECONNREFUSED) {
        rc = unlink(path);
        if (rc)
            wf_err_set(err, errno, "%s: a dead socket '%s' can't be removed: %s", d->host, path,
                       strerror(errno));
    } else {
        rc = wf_err_set(err, EADDRINUSE, "%s: socket '%s' is in use by another process", d->host,
                        path);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

static int check_folder(const struct wf_edge_dev *d, const char *path, struct wf_err *err)
{
    char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char *slash;

    snprintf(dir, sizeof(dir), "%s", path);
    slash = strrchr(dir, '/');
    if (slash)
        *(slash == dir ? slash + 1 : slash) = 0;
    if (!access(slash ? dir : ".", W_OK | X_OK))
        return 0;
    return wf_err_set(err, errno, "%s: no socket can be made in '%s': %s", d->host,
                      slash ? dir : ".", strerror(errno));
}

static int prepare(struct wf_edge_dev *d, char *args, size_t len, struct wf_err *err)
{
    static atomic_uint serial; /* names of devices are the process's */
    const size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
    char path[512];
    int rc;

    if (d->cfg->path)
        snprintf(path, sizeof(path), "%s", d->cfg->path);
    else if (d->run_dir)
        snprintf(path, sizeof(path), "%s/%s.vhost", d->run_dir, d->host);
    else
        return wf_err_set(err, EINVAL, "%s: attach.path is missing: where to make the socket",
                          d->host);
    if (strlen(path) > most)
        return wf_err_set(err, ENAMETOOLONG,
                          "%s: socket path '%s' has %zu characters, a socket takes %zu", d->host,
                          path, strlen(path), most);
    if (strpbrk(path, ",[]\"")) /* DPDK's arguments know no quoting */
        return wf_err_set(err, EINVAL, "%s: socket path '%s' contains a comma, quote or bracket",
                          d->host, path);
    snprintf(d->where, sizeof(d->where), "socket %s", path);
    rc = check_folder(d, path, err);
    if (!rc)
        rc = clear_stale(d, path, err);
    snprintf(d->name, sizeof(d->name), "net_vhost%u", atomic_fetch_add(&serial, 1));
    snprintf(args, len, "%s,iface=%s,queues=1", d->name, path);
    return rc;
}

static enum wf_peer_state look(struct wf_edge_dev *d)
{
    struct rte_eth_link link;

    if (rte_eth_link_get_nowait(d->port, &link))
        return WF_PEER_DOWN;
    return link.link_status == RTE_ETH_LINK_UP ? WF_PEER_UP : WF_PEER_DOWN;
}

const struct wf_attach_kind wf_attach_vhost_user = {
    .name = "vhost_user",
    .doc = "A guest's virtio-net. A frame that the guest does not take waits; frames that the "
           "fabric does not take wait in the guest's ring.",
    .prepare = prepare,
    .look = look,
};
