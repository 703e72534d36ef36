/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See plan.h. rxe works only in the initial network namespace (kernels 6.1 and 6.12), so several
 * RDMA hosts in one guest are several NICs with an rxe each, kept apart by policy routing: rules
 * by source and by outgoing interface come before the table "local", so that traffic between two
 * of them leaves the guest and crosses the fabric.
 */
#include "lab/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lab/text.h"

int wf_lab_find_host(const struct wf_lab_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->n_hosts; i++)
        if (!strcmp(plan->hosts[i].name, name))
            return (int)i;
    return -1;
}

static struct wf_lab_guest *guest_named(struct wf_lab_plan *plan, const char *name)
{
    for (uint32_t i = 0; i < plan->n_guests; i++)
        if (!strcmp(plan->guests[i].name, name))
            return &plan->guests[i];
    if (plan->n_guests == WF_LAB_GUESTS)
        return NULL;
    snprintf(plan->guests[plan->n_guests].name, sizeof(plan->guests[0].name), "%s", name);
    return &plan->guests[plan->n_guests++];
}

int wf_lab_plan_guests(struct wf_lab_plan *plan, struct wf_err *err)
{
    plan->n_guests = 0;
    memset(plan->guests, 0, sizeof(plan->guests));
    for (uint32_t i = 0; i < plan->n_hosts; i++) {
        struct wf_lab_host *h = &plan->hosts[i];
        struct wf_lab_guest *g;

        if (h->kind != WF_LAB_GUEST)
            continue;
        if (!h->guest[0])
            memcpy(h->guest, h->name, sizeof(h->guest));
        g = guest_named(plan, h->guest);
        if (!g)
            return wf_err_set(err, E2BIG,
                              "more than %d guests; put several hosts into one "
                              "(guest: NAME)",
                              WF_LAB_GUESTS);
        if (g->n_nics == WF_GUEST_NICS)
            return wf_err_set(err, E2BIG, "guest %s: more than %d hosts in one guest", g->name,
                              WF_GUEST_NICS);
        h->guest_index = (uint32_t)(g - plan->guests);
        h->nic = g->n_nics;
        g->hosts[g->n_nics++] = i;
    }
    return 0;
}

/* ---- the script ----------------------------------------------------------------------------- */

static void say_nics(struct wf_text *t, const struct wf_lab_plan *plan,
                     const struct wf_lab_guest *g)
{
    for (uint32_t k = 0; k < g->n_nics; k++) {
        const uint8_t *m = plan->hosts[g->hosts[k]].mac;

        wf_text_add(t, "nic eth%u %02x:%02x:%02x:%02x:%02x:%02x\n", k, m[0], m[1], m[2], m[3], m[4],
                    m[5]);
    }
    wf_text_add(t, "ip -batch - <<EOF\n");
    for (uint32_t k = 0; k < g->n_nics; k++)
        wf_text_add(t, "link set eth%u mtu %u up\n", k, plan->hosts[g->hosts[k]].mtu);
    wf_text_add(t, "EOF\n");
    for (uint32_t k = 0; k < g->n_nics; k++)
        wf_text_add(t, "rdma link add rxe%u type rxe netdev eth%u\n", k, k);
}

static void say_addresses(struct wf_text *t, const struct wf_lab_host *h, uint32_t k, bool alone)
{
    const char *route = alone ? "" : " noprefixroute";
    struct wf_ip_text a;

    if (wf_ip_text(&h->ip4, &a))
        wf_text_add(t, "addr add %s/%u dev eth%u%s\n", a.addr, a.len, k, route);
    if (wf_ip_text(&h->ip6, &a))
        wf_text_add(t, "addr add %s/%u dev eth%u nodad%s\n", a.addr, a.len, k, route);
}

/* The routes of one family. A host that is alone in its guest has a default route; each of several
 * has a routing table of its own and the rules that lead there. */
static void say_routes(struct wf_text *t, const struct wf_ip_prefix *own,
                       const struct wf_ip_prefix *gateway, uint32_t k, bool alone)
{
    struct wf_ip_text a, g;
    char table[32] = "";

    if (!wf_ip_text(own, &a))
        return;
    if (!alone) {
        snprintf(table, sizeof(table), " table %u", 100 + k);
        wf_text_add(t, "route add %s/%u dev eth%u%s\n", a.net, a.len, k, table);
        wf_text_add(t, "rule add pref %u from %s iif lo lookup %u\n", 10 + k, a.addr, 100 + k);
        /* rdma_cm looks routes up by outgoing interface */
        wf_text_add(t, "rule add pref %u oif eth%u lookup %u\n", 40 + k, k, 100 + k);
        wf_text_add(t, "rule add pref %u iif eth%u lookup local\n", 70 + k, k);
    }
    if (wf_ip_text(gateway, &g))
        wf_text_add(t, "route add default via %s dev eth%u%s\n", g.addr, k, table);
}

static void say_family(struct wf_text *t, const struct wf_lab_plan *plan,
                       const struct wf_lab_guest *g, int family)
{
    bool alone = g->n_nics == 1;

    wf_text_add(t, "ip -%d -batch - <<EOF\n", family);
    for (uint32_t k = 0; k < g->n_nics; k++) {
        const struct wf_lab_host *h = &plan->hosts[g->hosts[k]];

        say_routes(t, family == 4 ? &h->ip4 : &h->ip6, family == 4 ? &h->gateway4 : &h->gateway6, k,
                   alone);
    }
    if (!alone)
        wf_text_add(t, "rule add pref 100 lookup local\nrule del pref 0\n");
    wf_text_add(t, "EOF\n");
}

static void say_hosts_file(struct wf_text *t, const struct wf_lab_plan *plan)
{
    struct wf_ip_text a;

    wf_text_add(t, "cat >>/etc/hosts <<EOF\n");
    for (uint32_t i = 0; i < plan->n_hosts; i++) {
        if (wf_ip_text(&plan->hosts[i].ip4, &a))
            wf_text_add(t, "%s %s\n", a.addr, plan->hosts[i].name);
        if (wf_ip_text(&plan->hosts[i].ip6, &a))
            wf_text_add(t, "%s %s\n", a.addr, plan->hosts[i].name);
    }
    wf_text_add(t, "EOF\n");
}

static void say_share(struct wf_text *t, const char *share)
{
    wf_text_add(t, "share='");
    for (const char *p = share; *p; p++)
        wf_text_add(t, *p == '\'' ? "'\\''" : "%c", *p);
    /* at the same path as on the host, so that what is compiled there is called as there */
    wf_text_add(t, "'\nmkdir -p \"$share\"\n"
                   "mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share \"$share\"\n");
}

static const char prologue[] =
    "set -e\n"
    "nic() {\n"
    "    [ \"$(cat /sys/class/net/$1/address)\" = $2 ] || { echo \"$1 is not $2\"; exit 1; }\n"
    "}\n"
    "for d in /proc/sys/net/ipv6/conf/*; do echo 0 >$d/accept_ra; echo 0 >$d/accept_dad; done\n";

static const char several[] =
    "for d in /proc/sys/net/ipv4/conf/*; do\n"
    "    echo 0 >$d/rp_filter; echo 1 >$d/accept_local\n"
    "    echo 1 >$d/arp_ignore; echo 2 >$d/arp_announce\n"
    "done\n"
    /* else IPv6 takes the destination for the source, where both are ours */
    "for d in /proc/sys/net/ipv6/conf/*; do echo 1 >$d/use_oif_addrs_only; done\n";

int wf_lab_setup_script(const struct wf_lab_plan *plan, uint32_t guest, const char *share,
                        char *buf, size_t len, struct wf_err *err)
{
    const struct wf_lab_guest *g = &plan->guests[guest];
    bool alone = g->n_nics == 1;
    struct wf_text t = {.buf = buf, .len = len};

    wf_text_add(&t, "%shostname %s\n", prologue, g->name);
    if (!alone)
        wf_text_add(&t, "%s", several);
    say_hosts_file(&t, plan);
    say_nics(&t, plan, g);
    wf_text_add(&t, "ip -batch - <<EOF\n");
    for (uint32_t k = 0; k < g->n_nics; k++)
        say_addresses(&t, &plan->hosts[g->hosts[k]], k, alone);
    wf_text_add(&t, "EOF\n");
    say_family(&t, plan, g, 4);
    say_family(&t, plan, g, 6);
    if (share)
        say_share(&t, share);
    if (t.overflow)
        return wf_err_set(err, E2BIG, "guest %s: set-up script longer than %zu bytes", g->name,
                          len);
    return 0;
}

const char *wf_lab_host_bind(const struct wf_lab_plan *plan, uint32_t host, char buf[16])
{
    const struct wf_lab_host *h = &plan->hosts[host];

    buf[0] = 0;
    if (h->kind == WF_LAB_GUEST && plan->guests[h->guest_index].n_nics > 1)
        snprintf(buf, 16, "eth%u", h->nic);
    return buf;
}

int wf_lab_host_env(const struct wf_lab_plan *plan, uint32_t host, const char **env, uint32_t max,
                    char *buf, size_t len)
{
    const struct wf_lab_host *h = &plan->hosts[host];
    struct wf_text t = {.buf = buf, .len = len};
    struct wf_ip_text a;
    uint32_t n = 0;
    char *p = buf;

    wf_text_add(&t, "WEFT_HOST=%s%c", h->name, 0);
    if (wf_ip_text(&h->ip4, &a))
        wf_text_add(&t, "WEFT_IP=%s%c", a.addr, 0);
    if (wf_ip_text(&h->ip6, &a))
        wf_text_add(&t, "WEFT_IP6=%s%c", a.addr, 0);
    if (h->kind == WF_LAB_GUEST) {
        /* GID 0 is link-local; the addresses follow in the order in which they were added */
        wf_text_add(&t, "WEFT_NETDEV=eth%u%cWEFT_RDMA_DEV=rxe%u%cWEFT_GID_INDEX=1%c", h->nic, 0,
                    h->nic, 0, 0);
        wf_text_add(&t, "UCX_NET_DEVICES=rxe%u:1%cNCCL_IB_HCA=rxe%u%cNCCL_IB_GID_INDEX=1%c", h->nic,
                    0, h->nic, 0, 0);
    }
    if (t.overflow)
        return -E2BIG;
    for (; p < buf + t.used; p += strlen(p) + 1) {
        if (n + 1 >= max)
            return -E2BIG;
        env[n++] = p;
    }
    env[n] = NULL;
    return (int)n;
}
