/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See netns.h. The set-up is a script for ip(8): it says itself what went wrong.
 * RoCE has no place in a namespace (rxe knows only the initial one): these hosts are for hand-made
 * frames, priority pauses, and ordinary traffic.
 */
#include "lab/netns.h"

#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/text.h"

static bool ours(const struct wf_lab_host *h)
{
    return h->kind == WF_LAB_NETNS && h->iface[0] && !if_nametoindex(h->iface);
}

static void say_address(struct wf_text *t, const struct wf_ip_prefix *ip,
                        const struct wf_ip_prefix *gateway)
{
    struct wf_ip_text a, g;

    if (!wf_ip_text(ip, &a))
        return;
    wf_text_add(t, "inside addr add %s/%u dev eth0%s\n", a.addr, a.len,
                ip->family == 6 ? " nodad" : "");
    if (wf_ip_text(gateway, &g))
        wf_text_add(t, "inside -%d route add default via %s dev eth0\n", gateway->family, g.addr);
}

static void say_up(struct wf_text *t, const struct wf_lab_host *h)
{
    const uint8_t *m = h->mac;

    wf_text_add(t,
                "set -e; inside() { ip -n '%s' \"$@\"; }\n"
                "ip netns add '%s'\n"
                "ip link add '%s' mtu %u type veth peer name eth0 netns '%s'\n"
                "ip netns exec '%s' sh -c 'cd /proc/sys/net/ipv6/conf && echo 0 >eth0/accept_ra && "
                "echo 0 >eth0/accept_dad'\n"
                "inside link set lo up\n"
                "inside link set eth0 address %02x:%02x:%02x:%02x:%02x:%02x mtu %u up\n"
                /* our end carries frames only: no address of the host's kernel on it */
                "echo 1 >/proc/sys/net/ipv6/conf/'%s'/disable_ipv6\n"
                "ip link set '%s' up\n",
                h->netns, h->netns, h->iface, h->mtu, h->netns, h->netns, m[0], m[1], m[2], m[3],
                m[4], m[5], h->mtu, h->iface, h->iface);
    say_address(t, &h->ip4, &h->gateway4);
    say_address(t, &h->ip6, &h->gateway6);
    /* frames have to be whole ones, with their checksums */
    wf_text_add(
        t,
        "ip netns exec '%s' ethtool -K eth0 tx off rx off gso off tso off gro off >/dev/null\n"
        "ethtool -K '%s' tx off rx off gso off tso off gro off >/dev/null\n",
        h->netns, h->iface);
}

/* Run it with sh; what it says on stderr, cut to len, into said. */
static int run(const char *script, char *said, size_t len)
{
    char *cmd = NULL, rest[256];
    size_t n;
    FILE *p;
    int rc;

    if (asprintf(&cmd, "{\n%s\n} 2>&1", script) < 0)
        return -ENOMEM;
    fflush(NULL);
    p = popen(cmd, "r");
    free(cmd);
    if (!p)
        return -errno;
    n = fread(said, 1, len - 1, p);
    said[n] = 0;
    while (fread(rest, 1, sizeof(rest), p))
        ;
    said[strcspn(said, "\n")] = 0;
    rc = pclose(p);
    return rc ? -EIO : 0;
}

static int write_undo(const struct wf_lab_plan *plan, const char *undo)
{
    FILE *f = fopen(undo, "we");

    if (!f)
        return -errno;
    for (uint32_t i = 0; i < plan->n_hosts; i++)
        if (ours(&plan->hosts[i])) /* the veth goes with the namespace that holds its peer */
            fprintf(f, "ip link del '%s'\nip netns del '%s'\n", plan->hosts[i].iface,
                    plan->hosts[i].netns);
    return fclose(f) ? -errno : 0;
}

static bool any_ours(const struct wf_lab_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_hosts; i++)
        if (ours(&plan->hosts[i]))
            return true;
    return false;
}

static int check(const struct wf_lab_host *h, struct wf_err *err)
{
    char path[128];

    snprintf(path, sizeof(path), "/run/netns/%s", h->netns);
    if (strspn(h->netns, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
            strlen(h->netns) ||
        strchr(h->iface, '\'') || strchr(h->iface, '/'))
        return wf_err_set(err, EINVAL, "host %s: a namespace's or interface's name is no name",
                          h->name);
    if (!access(path, F_OK))
        return wf_err_set(err, EEXIST,
                          "host %s: namespace '%s' is there, but interface '%s' is not; remove the "
                          "one or make the other",
                          h->name, h->netns, h->iface);
    return 0;
}

int wf_lab_netns_up(const struct wf_lab_plan *plan, const char *undo, struct wf_err *err)
{
    char script[4096], said[300];
    int rc = 0;

    if (!any_ours(plan))
        return 0;
    for (uint32_t i = 0; i < plan->n_hosts; i++)
        if (ours(&plan->hosts[i]) && check(&plan->hosts[i], err))
            return -EINVAL;
    if (geteuid())
        return wf_err_set(err, EPERM, "hosts in network namespaces can be made by root only");
    rc = write_undo(plan, undo);
    if (rc)
        return wf_err_set(err, -rc, "%s: %s", undo, strerror(-rc));
    for (uint32_t i = 0; i < plan->n_hosts && !rc; i++) {
        struct wf_text t = {.buf = script, .len = sizeof(script)};

        if (!ours(&plan->hosts[i]))
            continue;
        say_up(&t, &plan->hosts[i]);
        rc = run(script, said, sizeof(said));
        if (rc)
            wf_err_set(err, EIO, "host %s: its namespace could not be made: %s",
                       plan->hosts[i].name, said);
    }
    if (rc)
        wf_lab_netns_down(undo);
    return rc;
}

void wf_lab_netns_down(const char *undo)
{
    char *cmd = NULL, said[100];

    if (access(undo, R_OK) || asprintf(&cmd, ". '%s'", undo) < 0)
        return;
    run(cmd, said, sizeof(said));
    free(cmd);
    unlink(undo);
}
