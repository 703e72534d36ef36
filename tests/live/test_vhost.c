/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A vhost-user port without a guest: this program once more, as a process of its own, with DPDK's
 * virtio-user as the driver on the other side. It sends back each frame with its addresses swapped.
 */
#include <errno.h>
#include <rte_ethdev.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "live.h"
#include "support.h"

#define TEST_ETHERTYPE 0x88b5 /* local experimental (802) */

static const uint8_t guest_mac[6] = {0x02, 0xbb, 0, 0, 0, 1};
static struct lv_ns ns;
static struct lv live;
static pid_t peer;
static char self[512], sock[108];

/* --- the process on the other side ------------------------------------------------------------ */

static void swap_addresses(struct rte_mbuf *m)
{
    uint8_t *b = rte_pktmbuf_mtod(m, uint8_t *), tmp[6];

    memcpy(tmp, b, 6);
    memcpy(b, b + 6, 6);
    memcpy(b + 6, tmp, 6);
}

static int be_the_guest(const char *path)
{
    struct rte_eth_conf conf = {.rxmode.mtu = 9216};
    struct rte_mbuf *m[32];
    struct rte_mempool *pool;
    char args[256];
    uint16_t port;

    wft_eal(256);
    snprintf(args, sizeof(args), "net_virtio_user0,path=%s,queues=1,mac=02:bb:00:00:00:01", path);
    pool = rte_pktmbuf_pool_create("p", 2048, 0, 0, 9728 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    if (!pool || rte_dev_probe(args) || rte_eth_dev_get_port_by_name("net_virtio_user0", &port) ||
        rte_eth_dev_configure(port, 1, 1, &conf) ||
        rte_eth_rx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL, pool) ||
        rte_eth_tx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL) || rte_eth_dev_start(port)) {
        printf("the virtio-user side does not start\n");
        return 1;
    }
    while (getppid() != 1) {
        uint16_t n = rte_eth_rx_burst(port, 0, m, 32), sent = 0;

        for (uint16_t i = 0; i < n; i++)
            swap_addresses(m[i]);
        while (sent < n)
            sent += rte_eth_tx_burst(port, 0, m + sent, (uint16_t)(n - sent));
        if (!n)
            usleep(200);
    }
    return 0;
}

static void start_peer(void)
{
    peer = fork();
    if (!peer) {
        execl(self, self, "--guest", sock, (char *)NULL);
        _exit(1);
    }
    assert_true(peer > 0);
}

static void stop_peer(void)
{
    if (peer > 0) {
        kill(peer, SIGKILL);
        waitpid(peer, NULL, 0);
    }
    peer = 0;
}

/* --- the tests -------------------------------------------------------------------------------- */

static int teardown(void **state)
{
    stop_peer();
    lv_abandon(&live);
    lv_ns_drop(&ns);
    unlink(sock);
    return 0;
}

static void set_up(void)
{
    snprintf(sock, sizeof(sock), "/tmp/wft%d.vhost", (int)getpid());
    lv_ns_make(&ns, 0, 9200, NULL, NULL);
    lv_desc(&live, 2, 1, 1);
    for (uint32_t i = 0; i < live.desc.n_switches; i++)
        live.desc.switches[i].cfg.forwarding = WF_FORWARD_L2;
    for (uint32_t i = 0; i < 2; i++)
        live.desc.hosts[i].cfg.mtu = 9200;
    memcpy(live.desc.hosts[1].cfg.mac, guest_mac, 6);
    live.desc.hosts[1].cfg.attach.type = WF_ATTACH_VHOST_USER;
    live.desc.hosts[1].cfg.attach.path = sock;
    lv_attach(&live, 0, &ns);
    memcpy(live.desc.hosts[0].cfg.mac, ns.mac, 6);
    lv_start(&live);
}

static void wait_for(const char *text)
{
    for (int i = 0; i < 5000 && !lv_said(&live, text); i++)
        usleep(2000);
    assert_true(lv_said(&live, text));
}

/* A frame of this length to the guest and back; every byte of the answer is compared. */
static void echo(size_t len, unsigned seed)
{
    uint8_t out[9300], in[9300];

    memcpy(out, guest_mac, 6);
    memcpy(out + 6, ns.mac, 6);
    wf_st16(out + 12, TEST_ETHERTYPE);
    for (size_t i = 14; i < len; i++)
        out[i] = (uint8_t)(i * 131 + seed + (i >> 8));
    lv_send(&ns, out, len);
    assert_int_equal(lv_recv(&ns, TEST_ETHERTYPE, in, sizeof(in), 5000), len);
    assert_memory_equal(in, ns.mac, 6);
    assert_memory_equal(in + 6, guest_mac, 6);
    assert_memory_equal(in + 12, out + 12, len - 12);
}

/* fc_E14, fc_O17: lengths around segment and page sizes, and RoCE's, there and back. */
static void frames_of_any_length_come_back_to_the_byte(void **state)
{
    static const size_t lens[] = {60,   61,   64,   100,  128,  129,  1086, 1514, 1518, 2047,
                                  2048, 2049, 4082, 4096, 4097, 4170, 4174, 8900, 9014, 9214};

    set_up();
    lv_go(&live);
    start_peer();
    wait_for("is up");
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
        echo(lens[i], (unsigned)i);
    lv_stop(&live);
    assert_int_equal(wf_fabric_ctr(live.f, WF_FABRIC_DROPPED), 0);
    assert_int_equal(live.edges.edges[1]->ctr[WF_EDGE_OUT_FRAMES] >= sizeof(lens) / sizeof(lens[0]),
                     1);
    lv_free(&live);
    assert_int_equal(access(sock, F_OK), -1); /* nothing is left behind */
}

/* The guest dies and another one comes: its link goes down and up, frames meanwhile are counted. */
static void a_guest_may_go_and_come_back(void **state)
{
    uint8_t lost[60] = {0};
    struct wf_port *leaf;

    set_up();
    leaf = wf_fabric_port(live.f, "leaf1:p0");
    assert_false(leaf->up);
    assert_int_equal(leaf->ctr[WF_PORT_LINK_DOWN_EVENTS], 0); /* so it began: no event of the run */
    lv_go(&live);
    start_peer();
    wait_for("is up");
    echo(1000, 1);
    stop_peer();
    wait_for("is down");
    memcpy(lost, guest_mac, 6);
    memcpy(lost + 6, ns.mac, 6);
    wf_st16(lost + 12, TEST_ETHERTYPE);
    lv_send(&ns, lost, sizeof(lost));
    usleep(20000);
    live.said[0] = 0;
    start_peer();
    wait_for("is up");
    echo(1000, 2);
    lv_stop(&live);
    assert_int_equal(leaf->ctr[WF_PORT_LINK_DOWN_EVENTS], 1);
    assert_int_equal(leaf->drops[WF_DROP_LINK_DOWN], 1);
    assert_int_equal(wf_fabric_ctr(live.f, WF_FABRIC_DROPPED), 1);
    lv_free(&live);
}

static int fails_with(int want)
{
    struct wf_err err;
    int rc = lv_open(&live, &err);

    print_message("%s\n", err.msg);
    return rc == -want;
}

static void prepare_host(const char *path)
{
    lv_desc(&live, 1, 1, 1);
    live.desc.hosts[0].cfg.attach.type = WF_ATTACH_VHOST_USER;
    live.desc.hosts[0].cfg.attach.path = path;
}

static int listen_at(const char *path)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static void sockets_in_use_dead_or_impossible(void **state)
{
    char path[256];
    struct stat st;
    int fd;

    snprintf(sock, sizeof(sock), "/tmp/wft%d.vhost", (int)getpid());
    fd = listen_at(sock);
    prepare_host(sock);
    assert_true(fails_with(EADDRINUSE));
    assert_int_equal(stat(sock, &st), 0); /* somebody's live socket is left alone */
    close(fd);
    prepare_host(sock); /* now it is dead: taken over */
    lv_start(&live);
    lv_free(&live);
    assert_int_equal(access(sock, F_OK), -1);
    memset(path, 'x', sizeof(path));
    memcpy(path, "/tmp/", 5);
    path[120] = 0;
    prepare_host(path);
    assert_true(fails_with(ENAMETOOLONG));
    prepare_host("/nowhere/at/all.sock");
    assert_true(fails_with(ENOENT));
    prepare_host("/tmp"); /* not a socket */
    assert_true(fails_with(EEXIST));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(frames_of_any_length_come_back_to_the_byte, teardown),
        cmocka_unit_test_teardown(a_guest_may_go_and_come_back, teardown),
        cmocka_unit_test_teardown(sockets_in_use_dead_or_impossible, teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 3 && !strcmp(argv[1], "--guest"))
        return be_the_guest(argv[2]);
    snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
    lv_need_namespaces();
    wft_eal(512);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
