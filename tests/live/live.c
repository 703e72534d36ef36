/* SPDX-License-Identifier: BSD-3-Clause */
#include "live.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cursor.h"

void lv_need_namespaces(void)
{
    if (geteuid() != 0) {
        printf("SKIP: network namespaces need root\n");
        exit(77);
    }
    if (system("command -v ip >/dev/null") || system("ip netns add wftry 2>/dev/null") ||
        system("ip netns del wftry")) {
        printf("SKIP: `ip netns add` does not work here\n");
        exit(77);
    }
}

void lv_sh(const char *fmt, ...)
{
    char cmd[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(cmd, sizeof(cmd), fmt, ap);
    va_end(ap);
    if (system(cmd)) {
        print_error("failed: %s\n", cmd);
        fail();
    }
}

/* Run fn inside the namespace; only this thread moves there, and back. */
static int inside(const struct lv_ns *ns, int (*fn)(const struct lv_ns *ns, const int *arg),
                  const int *arg)
{
    char path[64];
    int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), there, rc;

    snprintf(path, sizeof(path), "/var/run/netns/%s", ns->name);
    there = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(home >= 0 && there >= 0);
    assert_int_equal(setns(there, CLONE_NEWNET), 0);
    rc = fn(ns, arg);
    assert_int_equal(setns(home, CLONE_NEWNET), 0);
    close(home);
    close(there);
    return rc;
}

static int make_socket(const struct lv_ns *ns, const int *arg)
{
    return socket(arg[0], arg[1], arg[2]);
}

int lv_ns_socket(const struct lv_ns *ns, int family, int type, int protocol)
{
    int arg[] = {family, type, protocol}, fd = inside(ns, make_socket, arg);

    assert_true(fd >= 0);
    return fd;
}

static int offload_off(const struct lv_ns *ns, const int *cmd)
{
    struct ethtool_value v = {.cmd = (uint32_t)*cmd, .data = 0};
    struct ifreq r = {.ifr_name = "eth0", .ifr_data = (void *)&v};
    int fd = socket(AF_INET, SOCK_DGRAM, 0), rc = ioctl(fd, SIOCETHTOOL, &r);

    close(fd);
    return rc;
}

/* No kernel speaks unasked: a test counts every frame. */
static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return; /* a kernel without IPv6 */
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int no_ip6(const struct lv_ns *ns, const int *arg)
{
    write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    return 0;
}

static int open_raw(const struct lv_ns *ns, const int *arg)
{
    struct sockaddr_ll sa = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL)), size = 8 << 20;

    sa.sll_ifindex = (int)if_nametoindex("eth0");
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    return bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -1 : fd;
}

void lv_ns_make(struct lv_ns *ns, unsigned n, unsigned mtu, const char *ip, const char *gw)
{
    static const int off[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO};
    char path[128];

    memset(ns, 0, sizeof(*ns));
    snprintf(ns->name, sizeof(ns->name), "wft%u%c", (unsigned)getpid() % 1000000, 'a' + n);
    snprintf(ns->iface, sizeof(ns->iface), "wfv%u%c", (unsigned)getpid() % 1000000, 'a' + n);
    memcpy(ns->mac, (uint8_t[]){2, 0xaa, 0, 0, 0, (uint8_t)n}, 6);
    lv_sh("ip netns add %s", ns->name);
    ns->made = true;
    inside(ns, no_ip6, NULL);
    lv_sh("ip link add %s mtu %u type veth peer name eth0 mtu %u netns %s address "
          "02:aa:00:00:00:%02x",
          ns->iface, mtu, mtu, ns->name, n);
    snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", ns->iface);
    write_file(path, "1");
    lv_sh("ip link set %s up", ns->iface);
    lv_sh("ip -n %s link set eth0 up; ip -n %s link set lo up", ns->name, ns->name);
    if (ip)
        lv_sh("ip -n %s addr add %s dev eth0", ns->name, ip);
    if (gw)
        lv_sh("ip -n %s route add default via %s", ns->name, gw);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(inside(ns, offload_off, &off[i]), 0);
    ns->raw = inside(ns, open_raw, NULL);
    assert_true(ns->raw >= 0);
}

void lv_ns_drop(struct lv_ns *ns)
{
    if (!ns->made)
        return;
    close(ns->raw);
    lv_sh("ip link del %s 2>/dev/null || true; ip netns del %s", ns->iface, ns->name);
    ns->made = false;
}

void lv_send(const struct lv_ns *ns, const void *frame, size_t len)
{
    while (send(ns->raw, frame, len, 0) < 0) {
        struct pollfd p = {.fd = ns->raw, .events = POLLOUT};

        assert_true(errno == EAGAIN || errno == ENOBUFS);
        poll(&p, 1, 10);
    }
}

int lv_recv(const struct lv_ns *ns, uint16_t ethertype, void *buf, size_t len, int timeout_ms)
{
    uint64_t until = wf_wall_ns() + (uint64_t)timeout_ms * 1000000u;

    for (;;) {
        struct sockaddr_ll from;
        socklen_t n = sizeof(from);
        ssize_t got = recvfrom(ns->raw, buf, len, MSG_TRUNC, (struct sockaddr *)&from, &n);
        struct pollfd p = {.fd = ns->raw, .events = POLLIN};
        uint64_t now = wf_wall_ns();

        if (got >= 14 && from.sll_pkttype != PACKET_OUTGOING &&
            (!ethertype || wf_ld16((uint8_t *)buf + 12) == ethertype))
            return (int)got;
        if (got >= 0)
            continue;
        if (now >= until)
            return -1;
        poll(&p, 1, (int)((until - now) / 1000000u) + 1);
    }
}

void lv_desc(struct lv *l, uint32_t leaves, uint32_t spines, uint32_t hosts_per_leaf)
{
    memset(l, 0, sizeof(*l));
    pthread_mutex_init(&l->said_lock, NULL);
    l->desc = (struct wf_desc){.name = "live",
                               .seed = 1,
                               .duration_ps = WF_KEY_AUTO,
                               .time_limit_ps = 60 * WF_PS_PER_S,
                               .time_scale = 1};
    wf_desc_leaf_spine(&l->desc, &l->arena, leaves, spines, hosts_per_leaf);
    wf_desc_address(&l->desc, &l->arena);
}

void lv_attach(struct lv *l, uint32_t host, const struct lv_ns *ns)
{
    l->desc.hosts[host].cfg.attach.type = WF_ATTACH_AF_PACKET;
    l->desc.hosts[host].cfg.attach.iface = ns->iface;
}

static void hear(void *arg, const char *text)
{
    struct lv *l = arg;
    size_t n;

    pthread_mutex_lock(&l->said_lock);
    n = strlen(l->said);
    snprintf(l->said + n, sizeof(l->said) - n, "%s\n", text);
    pthread_mutex_unlock(&l->said_lock);
}

bool lv_said(struct lv *l, const char *text)
{
    bool yes;

    pthread_mutex_lock(&l->said_lock);
    yes = strstr(l->said, text) != NULL;
    pthread_mutex_unlock(&l->said_lock);
    return yes;
}

static unsigned count_poll(struct wf_poller *p, struct wf_fabric *f, uint64_t *next_ns)
{
    WF_CONTAINER_OF(p, struct lv, counting)->polls++;
    return 0;
}

int lv_open(struct lv *l, struct wf_err *err)
{
    struct wf_fabric_opts opts = {.paced = true};
    int rc;

    wf_edges_init(&l->edges, "/tmp", hear, l);
    wf_edges_opts(&l->edges, &l->desc, &opts);
    rc = wf_fabric_build(&l->f, &l->desc, &opts, err);
    if (!rc)
        rc = wf_edges_open(&l->edges, l->f, err);
    if (rc) {
        wf_fabric_free(l->f);
        wf_arena_free(&l->arena);
        return rc;
    }
    assert_int_equal(wf_run_init(&l->run, l->f), 0);
    l->counting.poll = count_poll;
    l->edges.poller.next = &l->counting;
    l->run.pollers = &l->edges.poller;
    l->run.open_ended = true;
    l->run.stop = &l->stop;
    l->open = true;
    return 0;
}

void lv_start(struct lv *l)
{
    struct wf_err err;

    if (lv_open(l, &err)) {
        print_error("%s\n", err.msg);
        fail();
    }
}

static void see(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                enum wf_reason why)
{
    struct lv_tap *t = (struct lv_tap *)tap;

    if (t->n < LV_SEEN)
        t->seen[t->n++] = (struct lv_seen){.t_ps = wf_now(port),
                                           .dir = dir,
                                           .why = why,
                                           .len = pkt->frame_len,
                                           .prio = pkt->prio,
                                           .control = pkt->p.flags & WF_P_MAC_CONTROL};
}

void lv_tap(struct lv *l, const char *port, struct lv_tap *tap)
{
    struct wf_port *p = wf_fabric_port(l->f, port);

    assert_non_null(p);
    tap->n = 0;
    tap->tap.fn = see;
    wf_port_tap(p, &tap->tap);
}

static void *run(void *arg)
{
    struct lv *l = arg;

    l->how = wf_run_loop(&l->run);
    return NULL;
}

void lv_go(struct lv *l)
{
    assert_int_equal(pthread_create(&l->thread, NULL, run, l), 0);
    l->running = true;
}

void lv_stop(struct lv *l)
{
    struct wf_err err;

    l->stop = 1;
    pthread_join(l->thread, NULL);
    l->running = false;
    wf_fabric_settle(l->f);
    if (wf_fabric_check(l->f, &err)) {
        print_error("%s\n", err.msg);
        fail();
    }
}

void lv_free(struct lv *l)
{
    l->open = false;
    wf_run_fini(&l->run);
    wf_edges_close(&l->edges);
    wf_fabric_free(l->f);
    wf_arena_free(&l->arena);
}

void lv_abandon(struct lv *l)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(l->f, (unsigned)WF_CTR_ALL_TABLES);
    char name[WF_CTR_NAME_MAX];

    if (!l->open)
        return;
    l->stop = 1;
    if (l->running)
        pthread_join(l->thread, NULL);
    print_error("%s", l->said);
    while (wf_ctr_next(&w))
        for (size_t c = 0; c < w.table->n; c++)
            if (w.values[c])
                print_error("%s %s %" PRIu64 "\n", wf_ctr_name(&w, name), w.table->rows[c].name,
                            w.values[c]);
    lv_free(l);
}
