/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of wire/print.c, and of wire/mad.c through it: the exact line of each kind of frame. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/mad.h"
#include "wire/print.h"

#include "golden.h"
#include "hex.h"

#define ETH  "02000000000b 02000000000a "
#define IP4  ETH "0800 456a%04x 00004000 40110000 0a00000a 0a00000b c000 12b7 %04x 0000 "
#define GRH  "60000000 %04x 1b 40 00000000000000000000ffff0a00000a 00000000000000000000ffff0a00000b "
#define MACS "02:00:00:00:00:0a > 02:00:00:00:00:0b "

static const char *text_of(const char *hex, uint32_t min_len)
{
    static char buf[512];
    uint8_t f[512] = {0};
    uint32_t len = hex_bytes(hex, f, sizeof(f));

    return wf_frame_text(buf, sizeof(buf), f, len > min_len ? len : min_len,
                         len > min_len ? len : min_len);
}

/* RoCEv2 with the bytes behind UDP given; the ICRC is wrong since it is zeros. */
static const char *roce_text(const char *ib)
{
    uint8_t bytes[512];
    uint32_t n = hex_bytes(ib, bytes, sizeof(bytes));
    char hex[2048];

    snprintf(hex, sizeof(hex), IP4 "%s", 28 + n, 8 + n, ib);
    return text_of(hex, 0);
}

#define ROCE "10.0.0.10 > 10.0.0.11 dscp 26 ecn ECT(0) RoCEv2 "

static void roce_packets(void **state)
{
    (void)state;
    assert_string_equal(text_of(CNP_CX4, 0), "10.0.17.1 > 10.0.18.1 dscp 48 ecn ECT(0) RoCEv2 CNP "
                                             "dqp 0x118 psn 0 len 16 becn");
    assert_string_equal(text_of(UC_SEND, 0), "192.168.0.7 > 192.168.0.7 ecn ECT(1) RoCEv2 UC SEND "
                                             "Only dqp 0xd3 psn 13571856 len 18");
    assert_string_equal(roce_text("0640ffff 00000011 80000005 00000000 00001000 00001234 00010000"
                                  "00000000"),
                        ROCE "RC WRITE First dqp 0x11 psn 5 len 0 va 0x1000 rkey 0x1234 dma 65536 "
                             "ackreq icrc wrong");
    assert_string_equal(roce_text("1100ffff 00000011 00000005 1f000007 00000000"),
                        ROCE "RC ACK dqp 0x11 psn 5 len 0 ACK msn 7 icrc wrong");
    assert_string_equal(roce_text("1100ffff 00000011 00000005 03000007 00000000"),
                        ROCE "RC ACK dqp 0x11 psn 5 len 0 ACK credits 3 msn 7 icrc wrong");
    assert_string_equal(roce_text("1100ffff 00000011 00000005 60000007 00000000"),
                        ROCE "RC ACK dqp 0x11 psn 5 len 0 NAK PSN sequence msn 7 icrc wrong");
    assert_string_equal(roce_text("1100ffff 00000011 00000005 2c000007 00000000"),
                        ROCE "RC ACK dqp 0x11 psn 5 len 0 RNR NAK timer 12 msn 7 icrc wrong");
    assert_string_equal(roce_text("a420ffff 80000011 00000005 00000009 4142 0000 00000000"),
                        ROCE "XRC SEND Only dqp 0x11 psn 5 len 2 srqn 0x9 fecn icrc wrong");
    assert_string_equal(roce_text("3f00ffff 00000011 00000005 00000000"),
                        ROCE "reserved opcode 0x3f dqp 0x11 psn 5 len 0 icrc wrong");
    assert_string_equal(roce_text("0600ffff 00000011 00000005 0000"),
                        ROCE "RC WRITE First dqp 0x11 psn 5 len 0, too short for its headers");
    assert_string_equal(roce_text("0600ffff 00000011 0000"),
                        "10.0.0.10 > 10.0.0.11 dscp 26 ecn ECT(0) RoCEv2, too short for a BTH");
}

static void roce_v1_and_tags(void **state)
{
    char hex[1024];

    (void)state;
    snprintf(hex, sizeof(hex),
             ETH "8100 6064 8915 " GRH "1100ffff 00000011 00000005 60000007 0000"
                 "0000",
             20);
    assert_string_equal(text_of(hex, 0),
                        "vlan 100 pcp 3 ::ffff:10.0.0.10 > ::ffff:10.0.0.11 RoCEv1 RC ACK dqp 0x11 "
                        "psn 5 len 0 NAK PSN sequence msn 7 icrc wrong");
    assert_string_equal(text_of(ETH "88a8 6064 8100 0007 88cc", 60),
                        "vlan 100 pcp 3 vlan 7 " MACS
                        "LLDP, malformed: ends before its time to live");
}

static void control_frames(void **state)
{
    (void)state;
#define CONTROL "0180c2000001 02000000000a 8808 "
    assert_string_equal(text_of(CONTROL "0101 0018 0000 0000 0000 ffff 0000", 60),
                        "02:00:00:00:00:0a > 01:80:c2:00:00:01 PFC 3=65535 4=0");
    assert_string_equal(text_of(CONTROL "0001 00ff", 60),
                        "02:00:00:00:00:0a > 01:80:c2:00:00:01 PAUSE 255");
    assert_string_equal(text_of(CONTROL "0002 00ff", 60),
                        "02:00:00:00:00:0a > 01:80:c2:00:00:01 MAC control, neither PFC nor PAUSE");
}

static void neighbours(void **state)
{
    (void)state;
#define ARP ETH "0806 0001 0800 06 04 "
    assert_string_equal(text_of(ARP "0001 02000000000a 0a000001 000000000000 0a000002", 60),
                        MACS "ARP who-has 10.0.0.2 tell 10.0.0.1");
    assert_string_equal(text_of(ARP "0002 02000000000a 0a000001 02000000000b 0a000002", 60),
                        MACS "ARP 10.0.0.1 is-at 02:00:00:00:00:0a");
    assert_string_equal(text_of(ETH "0806 0006 0800 06 04 0001", 60),
                        MACS "ARP, not of Ethernet and IPv4");
#define ND6                                                                                        \
    ETH "86dd 60000000 0020 3a ff fd000000000000000000000000000001 fd00000000000000"               \
        "0000000000000002 "
    assert_string_equal(text_of(ND6 "8800 0000 60000000 fd000000000000000000000000000001 0201"
                                    "02000000000a",
                                0),
                        "fd00::1 > fd00::2 ND fd00::1 is-at 02:00:00:00:00:0a");
    assert_string_equal(text_of(ND6 "8700 0000 00000000 fd000000000000000000000000000002 0101"
                                    "02000000000a",
                                0),
                        "fd00::1 > fd00::2 ND who-has fd00::2 tell 02:00:00:00:00:0a");
    assert_string_equal(text_of(ND6 "8500 0000 00000000", 86), "fd00::1 > fd00::2 ND type 133");
}

static void other_frames(void **state)
{
    (void)state;
    assert_string_equal(text_of(ETH "1234", 60), MACS "ethertype 0x1234");
    assert_string_equal(text_of(ETH "0026 4242 03", 60), MACS "LLC");
    assert_string_equal(text_of(ETH "0800 4500000f", 60),
                        MACS "ethertype 0x0800 malformed, 60 bytes");
    assert_string_equal(
        text_of(ETH "0800 45000028 00000000 40060000 0a000001 0a000002 00160017", 60),
        "10.0.0.1 > 10.0.0.2 TCP 22 > 23");
    assert_string_equal(text_of(ETH "0800 4500001c 00000000 40110000 0a000001 0a000002 00440043"
                                    "00080000",
                                60),
                        "10.0.0.1 > 10.0.0.2 UDP 68 > 67 len 0");
    assert_string_equal(text_of(ETH "0800 4500001c 00000000 40010000 0a000001 0a000002 0800", 60),
                        "10.0.0.1 > 10.0.0.2 ICMP type 8");
    assert_string_equal(text_of(ETH "0800 4500001c 00002000 40110000 0a000001 0a000002", 60),
                        "10.0.0.1 > 10.0.0.2 IPv4 protocol 17, a fragment");
    assert_string_equal(text_of("0200", 0), "2 of 2 bytes, no Ethernet header");
}

/* Behind a UD SEND to QP1: MAD header, then the message. */
#define TO_QP1   "6400ffff 00000001 00000003 80010000 00000001 "
#define CM(attr) "01070203 00000000 0102030405060708 " attr "0000 00000000 "
#define SAID     ROCE "UD SEND Only dqp 0x1 psn 3 len "

static void connection_manager_messages(void **state)
{
    (void)state;
    assert_string_equal(
        roce_text(TO_QP1 CM("0010") "01020304 00000000 0000000001060001 00000000 00000000 00000000"
                                    "00000000 00001104 00000004 00000000 000005a0 ffff3000"
                                    "00000000"),
        SAID
        "76 sqp 0x1 qkey 0x80010000 CM REQ id 0x1020304 qpn 0x11 first psn 5 service 0x1060001 "
        "icrc wrong");
    assert_string_equal(
        roce_text(TO_QP1 CM("0013") "0a 0b 0c 0d 01020304 00000000 00001200 00000000 00000600"
                                    "00000000 00000000 00000000 00000000"),
        SAID "60 sqp 0x1 qkey 0x80010000 CM REP id 0xa0b0c0d of 0x1020304 qpn 0x12 first psn 6 "
             "icrc wrong");
    assert_string_equal(roce_text(TO_QP1 CM("0014") "01020304 0a0b0c0d 00000000"),
                        SAID "32 sqp 0x1 qkey 0x80010000 CM RTU id 0x1020304 of 0xa0b0c0d icrc "
                             "wrong");
    assert_string_equal(roce_text(TO_QP1 CM("0015") "01020304 0a0b0c0d 00001200 00000000"), SAID
                        "36 sqp 0x1 qkey 0x80010000 CM DREQ id 0x1020304 of 0xa0b0c0d qpn 0x12 "
                        "icrc wrong");
    assert_string_equal(roce_text(TO_QP1 CM("0012") "01020304 0a0b0c0d 4000001c 00000000"), SAID
                        "36 sqp 0x1 qkey 0x80010000 CM REJ id 0x1020304 of 0xa0b0c0d reason 28 "
                        "icrc wrong");
    assert_string_equal(roce_text(TO_QP1 CM("0017") "00000000"),
                        SAID "24 sqp 0x1 qkey 0x80010000 CM SIDR_REQ icrc wrong");
    assert_string_equal(roce_text(TO_QP1 "01030201 00000000 0102030405060708 00350000 00000000"
                                         "00000000"),
                        SAID "24 sqp 0x1 qkey 0x80010000 MAD class 0x3 method 0x1 attribute 0x35 "
                             "icrc wrong");
}

static void cm_names_and_lengths(void **state)
{
    static const char *const names[] = {"REQ",  "MRA",      "REJ",      "REP", "RTU", "DREQ",
                                        "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"};
    static const uint8_t need[] = {52, 8, 12, 36, 8, 12, 8};
    uint8_t bytes[64] = {0};

    (void)state;
    for (uint16_t i = 0; i < 11; i++)
        assert_string_equal(wf_cm_name((uint16_t)(0x10 + i)), names[i]);
    assert_string_equal(wf_cm_name(0x0f), "?");
    assert_string_equal(wf_cm_name(0x1b), "?");
    for (uint16_t i = 0; i < 11; i++)
        for (size_t len = 0; len < sizeof(bytes); len++) {
            struct wf_rd r = wf_rd_init(bytes, len);
            struct wf_cm cm;
            int want = i >= sizeof(need) ? -ENOTSUP : len < need[i] ? -EBADMSG : 0;

            assert_int_equal(wf_cm_get(&r, (uint16_t)(0x10 + i), &cm), want);
        }
}

/* Cut at every byte, printed into every size: always ended, never beyond. */
static void any_cut_and_any_buffer(void **state)
{
    uint8_t f[200];
    uint32_t len = hex_bytes(CNP_CX4, f, sizeof(f));
    char buf[256], whole[256];

    (void)state;
    for (uint32_t cap = 0; cap <= len; cap++) {
        wf_frame_text(buf, sizeof(buf), f, cap, len);
        assert_int_equal(!!strstr(buf, " of 74 bytes"), cap < len);
    }
    wf_frame_text(whole, sizeof(whole), f, len, len);
    for (size_t room = 0; room < sizeof(buf); room++) {
        memset(buf, 'x', sizeof(buf));
        wf_frame_text(buf, room, f, len, len);
        assert_int_equal(buf[room], 'x');
        if (room)
            assert_int_equal(strncmp(buf, whole, strlen(buf)), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roce_packets),         cmocka_unit_test(roce_v1_and_tags),
        cmocka_unit_test(control_frames),       cmocka_unit_test(neighbours),
        cmocka_unit_test(other_frames),         cmocka_unit_test(connection_manager_messages),
        cmocka_unit_test(cm_names_and_lengths), cmocka_unit_test(any_cut_and_any_buffer),
    };

    return cmocka_run_group_tests_name("wire/print", tests, NULL, NULL);
}
