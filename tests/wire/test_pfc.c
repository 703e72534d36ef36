/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of wire/pfc.c, arp.c, nd.c and udp.c: the frames that a link and a gateway make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/arp.h"
#include "wire/eth.h"
#include "wire/icrc.h"
#include "wire/nd.h"
#include "wire/parse.h"
#include "wire/pfc.h"
#include "wire/udp.h"

#include "golden.h"
#include "hex.h"

static const uint8_t mac_a[6] = {0x02, 0, 0, 0, 0, 0x0a}, mac_b[6] = {0x02, 0, 0, 0, 0, 0x0b};

/* The layout of 802.1Qbb figure 36-4, typed in: classes 3 and 4, 3 at the longest pause. */
static void pfc_has_the_standard_layout(void **state)
{
    static const uint16_t quanta[8] = {1, 2, 3, 65535, 0, 6, 7, 8};
    uint8_t want[60] = {0}, got[60];

    (void)state;
    hex_bytes("0180c2000001 02000000000a 8808 0101 0018 0000 0000 0000 ffff 0000 0000 0000 0000",
              want, sizeof(want));
    memset(got, 0xee, sizeof(got));
    assert_int_equal(wf_pfc_build(got, mac_a, 0x18, quanta), 60);
    assert_memory_equal(got, want, 60);
}

static void pause_has_the_standard_layout(void **state)
{
    uint8_t want[60] = {0}, got[60];

    (void)state;
    hex_bytes("0180c2000001 02000000000a 8808 0001 1234", want, sizeof(want));
    memset(got, 0xee, sizeof(got));
    assert_int_equal(wf_pause_build(got, mac_a, 0x1234), 60);
    assert_memory_equal(got, want, 60);
}

static enum wf_mac_control classify(const uint8_t *f, uint32_t caplen, struct wf_pfc *out)
{
    struct wf_parsed p;

    assert_int_equal(wf_parse(f, caplen, 60, &p), WF_DROP_NONE);
    return wf_mac_control_get(f, caplen, &p, out);
}

static void mac_control_is_recognised(void **state)
{
    static const uint16_t quanta[8] = {0, 0, 0, 100, 0, 0, 0, 65535};
    struct wf_pfc pfc;
    uint8_t f[60];

    (void)state;
    wf_pfc_build(f, mac_a, 0x98, quanta);
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_PFC);
    assert_int_equal(pfc.vector, 0x98);
    assert_int_equal(pfc.quanta[3], 100);
    assert_int_equal(pfc.quanta[7], 65535);
    f[16] = 0xff; /* the vector's high byte is ignored */
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_PFC);
    for (uint32_t cap = 0; cap < 60; cap++)
        assert_int_equal(classify(f, cap, &pfc),
                         cap >= 34 ? WF_MAC_CONTROL_IS_PFC : WF_MAC_CONTROL_IS_BAD);
    wf_pause_build(f, mac_a, 77);
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_PAUSE);
    assert_int_equal(pfc.vector, 0xff);
    assert_int_equal(pfc.quanta[5], 77);
    memcpy(f, mac_b, 6); /* unicast: the port compares */
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_PAUSE);
    memset(f, 0xff, 6);
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_BAD);
}

static void mac_control_that_is_bad(void **state)
{
    uint8_t f[60];
    struct wf_pfc pfc;

    (void)state;
    wf_pause_build(f, mac_a, 77);
    f[15] = 0x02; /* opcode GATE */
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_BAD);
    memset(f, 0, sizeof(f));
    hex_bytes("0180c2000001 02000000000a 8100 6064 8808 0101 0008", f, sizeof(f));
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_BAD); /* tagged */
    f[12] = 0x08;                                                   /* not MAC control at all */
    f[13] = 0x06;
    assert_int_equal(classify(f, 60, &pfc), WF_MAC_CONTROL_IS_BAD);
}

/* The FCS of a frame that a catalogue has: 802.3 says the CRC over frame and FCS is a constant. */
static void fcs_leaves_the_residue(void **state)
{
    uint8_t f[64];
    static const uint16_t quanta[8] = {0};

    (void)state;
    wf_pfc_build(f, mac_a, 1, quanta);
    wf_icrc_store(f + 60, wf_fcs(f, 60)); /* little-endian, as the FCS is sent */
    assert_int_equal(wf_crc32_update(0, f, 64), 0x2144df1c);
    assert_int_equal(wf_fcs(f, 60), plain_crc32(0, f, 60));
}

static void arp_is_built_and_read(void **state)
{
    struct wf_arp h = {.oper = WF_ARP_REPLY, .spa = 0x0a000001, .tpa = 0x0a000002}, got;
    uint8_t want[60] = {0}, f[60];
    struct wf_rd r;

    (void)state;
    memcpy(h.sha, mac_a, 6);
    memcpy(h.tha, mac_b, 6);
    hex_bytes("02000000000b 02000000000a 0806 0001 0800 06 04 0002 02000000000a 0a000001"
              "02000000000b 0a000002",
              want, sizeof(want));
    memset(f, 0xee, sizeof(f));
    assert_int_equal(wf_arp_build(f, mac_b, &h), 60);
    assert_memory_equal(f, want, 60);
    r = wf_rd_init(f + 14, 46);
    assert_int_equal(wf_arp_get(&r, &got), 0);
    assert_int_equal(wf_arp_check(&got), 0);
    got.plen = 16;
    assert_int_not_equal(wf_arp_check(&got), 0);
}

/* The UDP checksum of scapy's UC SEND. */
static void transport_checksums_of_others(void **state)
{
    uint8_t f[200];

    (void)state;
    assert_int_equal(hex_bytes(UC_SEND, f, sizeof(f)), 78);
    assert_int_equal(wf_l4_checksum(f + 14, 17, f + 34, 44), 0);
    f[40] = f[41] = 0;
    assert_int_equal(wf_l4_checksum(f + 14, 17, f + 34, 44), 0xaca2);
}

/* A neighbour advertisement with the checksum worked out by hand:
 * fd00::1 -> fd00::2, len 32, next 58, 8800 6000 fd00::1 0201 0200 0000 000a. The one's complement
 * sum is fd00+1+fd00+2+20+3a+8800+6000+fd00+1+0201+0200+a = 3e369 -> e36c, complemented 1c93. */
static void nd_is_built_and_read(void **state)
{
    struct wf_nd_msg m = {.nd = {.type = WF_ND_ADVERTISE, .solicited = true, .override = true}};
    uint8_t f[WF_ND_FRAME_LEN], mac[6];
    struct wf_parsed p;
    struct wf_rd r;
    struct wf_nd nd;

    (void)state;
    memcpy(m.dst_mac, mac_b, 6);
    memcpy(m.src_mac, mac_a, 6);
    m.src_ip[0] = m.dst_ip[0] = m.nd.target[0] = 0xfd;
    m.src_ip[15] = m.nd.target[15] = 1;
    m.dst_ip[15] = 2;
    assert_int_equal(wf_nd_build(f, &m), sizeof(f));
    assert_int_equal(wf_parse(f, sizeof(f), sizeof(f), &p), WF_DROP_NONE);
    assert_true(p.flags & WF_P_ND);
    assert_int_equal(p.ttl, 255);
    assert_int_equal(p.icmp_type, WF_ND_ADVERTISE);
    assert_int_equal(wf_ld16(f + 56), 0x1c93);
    r = wf_rd_init(f + p.l4_off, sizeof(f) - p.l4_off);
    assert_int_equal(wf_nd_get(&r, &nd), 0);
    assert_true(nd.solicited && nd.override && !nd.router);
    assert_true(wf_nd_lladdr(&r, WF_ND_OPT_TARGET, mac));
    assert_memory_equal(mac, mac_a, 6);
}

static void nd_options_are_stepped_over(void **state)
{
    uint8_t opts[40] = {14, 2, [16] = 1, 1, 2, 0, 0, 0, 0, 7}, mac[6];
    struct wf_rd r = wf_rd_init(opts, 24);

    (void)state;
    assert_true(wf_nd_lladdr(&r, WF_ND_OPT_SOURCE, mac));
    assert_int_equal(mac[5], 7);
    r = wf_rd_init(opts, 24);
    assert_false(wf_nd_lladdr(&r, WF_ND_OPT_TARGET, mac));
    opts[1] = 0; /* an option of no length would never end */
    r = wf_rd_init(opts, 24);
    assert_false(wf_nd_lladdr(&r, WF_ND_OPT_SOURCE, mac));
    opts[1] = 255; /* longer than the packet */
    r = wf_rd_init(opts, 24);
    assert_false(wf_nd_lladdr(&r, WF_ND_OPT_SOURCE, mac));
}

/* RFC 4291's own example of a solicited-node address, and its MAC by RFC 2464. */
static void solicited_node_group(void **state)
{
    uint8_t addr[16], want[16], group[16], mac[6], want_mac[6];

    (void)state;
    hex_bytes("4037 0000 0000 0000 0001 0800 200e 8c6c", addr, 16);
    hex_bytes("ff02 0000 0000 0000 0000 0001 ff0e 8c6c", want, 16);
    hex_bytes("3333 ff0e 8c6c", want_mac, 6);
    wf_nd_group(addr, group, mac);
    assert_memory_equal(group, want, 16);
    assert_memory_equal(mac, want_mac, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pfc_has_the_standard_layout),
        cmocka_unit_test(pause_has_the_standard_layout),
        cmocka_unit_test(mac_control_is_recognised),
        cmocka_unit_test(mac_control_that_is_bad),
        cmocka_unit_test(fcs_leaves_the_residue),
        cmocka_unit_test(arp_is_built_and_read),
        cmocka_unit_test(transport_checksums_of_others),
        cmocka_unit_test(nd_is_built_and_read),
        cmocka_unit_test(nd_options_are_stepped_over),
        cmocka_unit_test(solicited_node_group),
    };

    return cmocka_run_group_tests_name("wire/pfc", tests, NULL, NULL);
}
