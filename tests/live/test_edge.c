/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real network namespaces on a live fabric, over veth and packet sockets.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip_icmp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "live.h"
#include "support.h"

#define TEST_ETHERTYPE 0x88b5 /* local experimental (802) */

static struct lv_ns ns[4];
static struct lv live;

static int teardown(void **state)
{
    lv_abandon(&live);
    for (int i = 0; i < 4; i++)
        lv_ns_drop(&ns[i]);
    return 0;
}

static uint16_t inet_sum(const uint8_t *p, size_t len)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < len; i += 2)
        sum += (uint32_t)p[i] << 8 | (i + 1 < len ? p[i + 1] : 0);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Echo requests from the namespace's own stack; how many answers came, each the very bytes. */
static int ping(const struct lv_ns *from, const char *to, int count, size_t size)
{
    int fd = lv_ns_socket(from, AF_INET, SOCK_RAW, IPPROTO_ICMP), good = 0;
    struct sockaddr_in sa = {.sin_family = AF_INET};
    struct timeval wait = {.tv_sec = 3};
    uint8_t req[9000], rep[9100];

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    inet_pton(AF_INET, to, &sa.sin_addr);
    for (int i = 0; i < count; i++) {
        ssize_t n;

        for (size_t b = 0; b < size; b++)
            req[b] = (uint8_t)(b * 7 + (size_t)i);
        memcpy(req, (uint8_t[]){8, 0, 0, 0, 0x77, 0x66, 0, (uint8_t)i}, 8);
        wf_st16(req + 2, inet_sum(req, size));
        assert_true(sendto(fd, req, size, 0, (struct sockaddr *)&sa, sizeof(sa)) > 0);
        do
            n = recv(fd, rep, sizeof(rep), 0);
        while (n > 20 && (rep[20] != 0 || rep[27] != (uint8_t)i));
        good += n == (ssize_t)size + 20 && !memcmp(rep + 24, req + 4, size - 4);
    }
    close(fd);
    return good;
}

static void two_hosts(unsigned mtu)
{
    lv_ns_make(&ns[0], 0, mtu, "10.0.0.1/16", "10.0.255.254");
    lv_ns_make(&ns[1], 1, mtu, "10.1.0.1/16", "10.1.255.254");
    lv_desc(&live, 2, 2, 1);
    live.desc.hosts[0].cfg.mtu = live.desc.hosts[1].cfg.mtu = mtu;
    lv_attach(&live, 0, &ns[0]);
    lv_attach(&live, 1, &ns[1]);
    lv_start(&live);
}

static uint64_t edge_ctr(uint32_t host, enum wf_ctr_EDGE c)
{
    return live.edges.edges[host]->ctr[c];
}

static void two_namespaces_ping_over_two_leaves(void **state)
{
    two_hosts(9000);
    lv_go(&live);
    while (!lv_said(&live, "h0: its MAC") || !lv_said(&live, "h1: its MAC"))
        usleep(1000);
    assert_int_equal(ping(&ns[0], "10.1.0.1", 5, 64), 5);
    assert_int_equal(ping(&ns[1], "10.0.0.1", 5, 64), 5);
    assert_int_equal(ping(&ns[0], "10.1.0.1", 3, 4156), 3);
    assert_int_equal(ping(&ns[1], "10.0.0.1", 3, 8900), 3);
    assert_int_equal(ping(&ns[0], "10.0.255.254", 0, 64), 0);
    lv_stop(&live);
    /* the scenario gave other addresses than the interfaces have: found out by their frames */
    assert_true(lv_said(&live, "h0: its MAC address is 02:aa:00:00:00:00"));
    assert_true(edge_ctr(0, WF_EDGE_IN_FRAMES) >= 16);
    assert_int_equal(edge_ctr(0, WF_EDGE_STALLS), 0);
    lv_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_namespaces_ping_over_two_leaves, teardown),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    lv_need_namespaces();
    wft_eal(512);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
