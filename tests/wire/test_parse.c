/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of wire/parse.c: fields of known frames, and whatever else may come in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/bth.h"
#include "wire/parse.h"

#include "golden.h"
#include "hex.h"

#define ETH   "02000000000b 02000000000a "
#define IP4() ETH "0800 45680000 00004000 40110000 0a00000a 0a00000b "

/* Whatever the bytes: what the parse says lies within the frame, and within what we have. */
static void check_invariants(const struct wf_parsed *p, uint32_t caplen, uint32_t frame_len)
{
    if (caplen > frame_len)
        caplen = frame_len;
    assert_true(!(p->flags & ~(uint32_t)WF_P_CUT) || (p->flags & WF_P_ETH));
    assert_true(p->l3_off <= frame_len && p->l3_len <= frame_len);
    if (p->flags & WF_P_IP4)
        assert_true(p->l3_off + 20u <= caplen);
    if (p->flags & WF_P_IP6)
        assert_true(p->l3_off + 40u <= caplen);
    if (p->l4_off)
        assert_true(p->l4_off + (p->flags & WF_P_UDP ? 8u : 4u) <= caplen);
    if (p->flags & WF_P_BTH)
        assert_true(p->bth_off && p->bth_off + 12u <= caplen);
    if (p->icrc_off) {
        assert_true(p->flags & WF_P_BTH);
        assert_true(p->icrc_off + 4 <= frame_len);
        assert_int_equal(p->payload_off + p->payload_len + p->pad, p->icrc_off);
    }
    if (p->flags & WF_P_AETH)
        assert_true(wf_opcodes[p->opcode].aeth && (p->flags & WF_P_BTH));
    assert_false((p->flags & WF_P_FRAGMENT) && (p->flags & (WF_P_PORTS | WF_P_ROCE)));
}

/* From memory of exactly caplen bytes, so that ASan sees a step too far. */
static enum wf_reason parse(const uint8_t *f, uint32_t caplen, uint32_t frame_len,
                            struct wf_parsed *p)
{
    uint8_t *exact = malloc(caplen ? caplen : 1);
    enum wf_reason why;

    assert_non_null(exact);
    memcpy(exact, f, caplen);
    memset(p, 0xee, sizeof(*p));
    why = wf_parse(exact, caplen, frame_len, p);
    free(exact);
    check_invariants(p, caplen, frame_len);
    return why;
}

static enum wf_reason parse_hex(const char *hex, uint32_t frame_len, struct wf_parsed *p)
{
    uint8_t f[2048] = {0};

    hex_bytes(hex, f, sizeof(f));
    return parse(f, frame_len < sizeof(f) ? frame_len : sizeof(f), frame_len, p);
}

static void fields_of_a_captured_cnp(void **state)
{
    uint8_t f[100];
    uint32_t len = hex_bytes(CNP_CX4, f, sizeof(f));
    struct wf_parsed p;

    (void)state;
    assert_int_equal(parse(f, len, len, &p), WF_DROP_NONE);
    assert_int_equal(p.flags, WF_P_ETH | WF_P_IP4 | WF_P_UDP | WF_P_PORTS | WF_P_ROCEV2 | WF_P_BTH);
    assert_int_equal(p.ethertype, 0x0800);
    assert_int_equal(p.l3_off, 14);
    assert_int_equal(p.l3_len, 60);
    assert_int_equal(p.l4_off, 34);
    assert_int_equal(p.bth_off, 42);
    assert_int_equal(p.payload_off, 54);
    assert_int_equal(p.payload_len, 16);
    assert_int_equal(p.icrc_off, 70);
    assert_int_equal(p.dscp, 48);
    assert_int_equal(p.ecn, 2);
    assert_int_equal(p.ttl, 64);
    assert_int_equal(p.ip_proto, 17);
    assert_int_equal(p.sport, 0);
    assert_int_equal(p.dport, 4791);
    assert_int_equal(p.opcode, 0x81);
    assert_int_equal(p.becn, 1);
    assert_int_equal(p.fecn, 0);
    assert_int_equal(p.ackreq, 0);
    assert_int_equal(p.dqpn, 0x118);
    assert_int_equal(p.psn, 0);
    assert_int_equal(wf_parsed_src4(f, &p), 0x0a001101);
    assert_int_equal(wf_parsed_dst4(f, &p), 0x0a001201);
}

/* Cut by a snap length: never malformed; what is said is what the whole frame says. */
static void cut_frames_say_less_but_nothing_else(void **state)
{
    static const char *const frames[] = {
        CNP_CX4, UC_SEND,
        /* an ACK: AETH at 54 */
        IP4() "1000 12b7 001c 0000 1100ffff00000012 00000005 1f000003 00000000"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint8_t f[200];
        uint32_t len = hex_bytes(frames[i], f, sizeof(f));
        struct wf_parsed whole, p;

        if (i == 2)
            f[17] = (uint8_t)(len - 14);
        assert_int_equal(parse(f, len, len, &whole), WF_DROP_NONE);
        assert_int_equal(!!(whole.flags & WF_P_AETH), i == 2);
        for (uint32_t cap = 0; cap < len; cap++) {
            assert_int_equal(parse(f, cap, len, &p), WF_DROP_NONE);
            assert_int_equal(p.flags & ~whole.flags & ~(uint32_t)WF_P_CUT, 0);
            assert_int_equal(!!(p.flags & WF_P_CUT), cap < (i == 2 ? 58 : 54));
            if (p.flags & WF_P_BTH)
                assert_int_equal(p.icrc_off, whole.icrc_off);
        }
        assert_int_equal(parse(f, len + 0, len - 1, &p), WF_DROP_MALFORMED);
    }
}

/* Every length and every bit of two frames: no crash, no contradiction. */
static void any_length_and_any_bit_flip(void **state)
{
    static const char *const frames[] = {CNP_CX4, UC_SEND};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint8_t f[200];
        uint32_t len = hex_bytes(frames[i], f, sizeof(f));
        struct wf_parsed p;

        for (uint32_t bit = 0; bit < len * 8; bit++) {
            f[bit / 8] ^= (uint8_t)(1 << bit % 8);
            for (uint32_t n = bit % 8 ? len : 0; n <= len; n++) {
                parse(f, n, n, &p);
                parse(f, n, len, &p);
            }
            f[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* All opcodes, UDP payloads of 0 to 80 bytes, all pads: a switch forwards them all. */
static void all_opcodes_and_lengths(void **state)
{
    uint8_t f[200];
    struct wf_parsed p;

    (void)state;
    for (uint32_t op = 0; op < 256; op++)
        for (uint32_t n = 0; n <= 80; n++)
            for (uint32_t pad = 0; pad < 4; pad++) {
                uint32_t need = 12u + wf_opcodes[op].ext_len + pad + 4;

                memset(f, 0xa5, sizeof(f));
                hex_bytes(IP4() "0000 12b7 0000 0000", f, sizeof(f));
                f[17] = (uint8_t)(28 + n);
                f[39] = (uint8_t)(8 + n);
                f[42] = (uint8_t)op;
                f[43] = (uint8_t)(0x80 | pad << 4);
                assert_int_equal(parse(f, 42 + n, 42 + n, &p), WF_DROP_NONE);
                assert_true(p.flags & WF_P_ROCEV2);
                assert_int_equal(!!(p.flags & WF_P_BTH), n >= 12);
                assert_int_equal(!!(p.flags & WF_P_ROCE_SHORT), n < need);
                assert_int_equal(p.icrc_off, n < need ? 0 : 42 + n - 4);
                if (n >= need)
                    assert_int_equal(p.payload_len, n - need);
            }
}

static void port_4791_alone_makes_roce(void **state)
{
    struct wf_parsed p;

    (void)state;
#define UDP_OF(ports) ETH "0800 4500002c 00004000 40110000 0a00000a 0a00000b " ports "0018 0000"
    assert_int_equal(parse_hex(UDP_OF("0045 12b7"), 60, &p), WF_DROP_NONE); /* from TFTP's port */
    assert_true(p.flags & WF_P_ROCEV2);
    assert_int_equal(p.sport, 69);
    assert_int_equal(parse_hex(UDP_OF("12b7 0045"), 60, &p), WF_DROP_NONE);
    assert_false(p.flags & WF_P_ROCE);
    assert_int_equal(p.payload_len, 16);
    assert_int_equal(
        parse_hex(ETH "0800 4500002c 00004000 40060000 0a00000a 0a00000b 000012b7", 60, &p),
        WF_DROP_NONE);
    assert_int_equal(p.flags, WF_P_ETH | WF_P_IP4 | WF_P_TCP | WF_P_PORTS);
    assert_int_equal(p.dport, 4791);
}

static void contradictions_are_malformed(void **state)
{
    static const struct {
        const char *what, *hex;
        uint32_t len;
    } bad[] = {
        {"shorter than Ethernet", ETH "08", 13},
        {"no room for IPv4", ETH "0800 45000014", 33},
        {"IPv4 says version 5", ETH "0800 55000014 00000000 40fd", 60},
        {"IPv4 header of 16 bytes", ETH "0800 44000014 00000000 40fd", 60},
        {"IPv4 total length below its header", ETH "0800 45000013 00000000 40fd", 60},
        {"IPv4 total length below its options", ETH "0800 46000014 00000000 40fd", 60},
        {"IPv4 total length beyond the frame", ETH "0800 4500002f 00000000 40fd", 60},
        {"no room for UDP", ETH "0800 4500001b 00000000 40110000 0a000001 0a000002 0001", 60},
        {"UDP length below 8",
         ETH "0800 4500002e 00000000 40110000 0a000001 0a000002 00000000 0007", 60},
        {"UDP length beyond IP",
         ETH "0800 4500002d 00000000 40110000 0a000001 0a000002 00000000 001a", 60},
        {"no room for TCP", ETH "0800 45000027 00000000 40060000 0a000001 0a000002", 60},
        {"no room for ICMP", ETH "0800 45000017 00000000 40010000 0a000001 0a000002", 60},
        {"no room for IPv6", ETH "86dd 60000000 0000 3b", 53},
        {"IPv6 says version 4", ETH "86dd 40000000 0000 3b", 60},
        {"IPv6 payload beyond the frame", ETH "86dd 60000000 0007 3b", 60},
        {"IPv6 extension header beyond the payload",
         ETH "86dd 60000000 0008 00 40"
             "00000000000000000000000000000000 00000000000000000000000000000000 1101",
         62},
        {"no room for an IPv6 extension header", ETH "86dd 60000000 0007 3c 40", 61},
        {"no room for GRH", ETH "8915 60000000 0000 1b", 53},
        {"GRH says version 0", ETH "8915 00000000 0000 1b", 60},
        {"GRH payload beyond the frame", ETH "8915 60000000 0007 1b", 60},
        {"no room for a tag", ETH "8100 00", 15},
        {"no room for what the tag announces", ETH "8100 0064 08", 17},
        {"no room for the second tag", ETH "88a8 0064 8100 0064", 20},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct wf_parsed p;

        if (parse_hex(bad[i].hex, bad[i].len, &p) != WF_DROP_MALFORMED)
            fail_msg("%s: taken for good", bad[i].what);
    }
}

/* The same, one step inside what is allowed. */
static void edges_that_are_good(void **state)
{
    static const struct {
        const char *what, *hex;
        uint32_t len;
    } good[] = {
        {"Ethernet alone", ETH "1234", 14},
        {"IPv4 alone", ETH "0800 45000014 00000000 40fd", 34},
        {"IPv4 fills the frame", ETH "0800 4500002e 00000000 40fd", 60},
        {"UDP of 8 bytes", ETH "0800 4500001c 00000000 40110000 0a000001 0a000002 00000000 0008",
         60},
        {"UDP shorter than IP",
         ETH "0800 4500002e 00000000 40110000 0a000001 0a000002 00000000 0010", 60},
        {"IPv6 alone", ETH "86dd 60000000 0000 3b", 54},
        {"802.3 length", ETH "0026 4242 03", 60},
        {"an unpadded ARP", ETH "0806 0001 0800 06 04 0001", 42},
        {"GRH before something else", ETH "8915 60000000 0000 11", 60},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct wf_parsed p;

        if (parse_hex(good[i].hex, good[i].len, &p) != WF_DROP_NONE)
            fail_msg("%s: taken for malformed", good[i].what);
    }
}

static void tags_are_stripped_up_to_two(void **state)
{
    struct wf_parsed p;

    (void)state;
    assert_int_equal(parse_hex(ETH "8100 7064 0806", 60, &p), WF_DROP_NONE);
    assert_int_equal(p.flags, WF_P_ETH | WF_P_VLAN | WF_P_ARP);
    assert_int_equal(p.pcp, 3);
    assert_int_equal(p.dei, 1);
    assert_int_equal(p.vid, 100);
    assert_int_equal(p.n_tags, 1);
    assert_int_equal(p.l3_off, 18);
    assert_int_equal(parse_hex(ETH "8100 a000 0806", 60, &p), WF_DROP_NONE); /* priority tag */
    assert_int_equal(p.vid, 0);
    assert_int_equal(p.pcp, 5);
    assert_int_equal(parse_hex(ETH "88a8 2fff 8100 6001 88cc", 60, &p), WF_DROP_NONE);
    assert_int_equal(p.flags, WF_P_ETH | WF_P_VLAN | WF_P_LLDP);
    assert_int_equal(p.n_tags, 2);
    assert_int_equal(p.pcp, 1);
    assert_int_equal(p.vid, 4095);
    assert_int_equal(p.inner_vid, 1);
    assert_int_equal(p.l3_off, 22);
    assert_int_equal(parse_hex(ETH "8100 0001 8100 0002 8100 0003 0800 45", 60, &p), WF_DROP_NONE);
    assert_int_equal(p.n_tags, 2);
    assert_int_equal(p.ethertype, 0x8100);
    assert_false(p.flags & WF_P_IP);
}

static void fragments_have_no_ports(void **state)
{
    struct wf_parsed p;

    (void)state;
#define FRAG(word) ETH "0800 4500002c 0000" word "40110000 0a00000a 0a00000b 0045 12b7 0400"
    assert_int_equal(parse_hex(FRAG("2000"), 60, &p), WF_DROP_NONE); /* the first one */
    assert_int_equal(p.flags, WF_P_ETH | WF_P_IP4 | WF_P_FRAGMENT);
    assert_int_equal(parse_hex(FRAG("0001"), 60, &p), WF_DROP_NONE);
    assert_int_equal(p.flags, WF_P_ETH | WF_P_IP4 | WF_P_FRAGMENT);
    assert_int_equal(parse_hex(FRAG("4000"), 60, &p), WF_DROP_MALFORMED); /* none: UDP too long */
#define FRAG6(word)                                                                                \
    ETH "86dd 60000000 0010 2c 40 fd000000000000000000000000000001"                                \
        "fd000000000000000000000000000002 1100" word "00000007 000012b700080000"
    assert_int_equal(parse_hex(FRAG6("0001"), 70, &p), WF_DROP_NONE);
    assert_int_equal(p.flags, WF_P_ETH | WF_P_IP6 | WF_P_FRAGMENT);
    assert_int_equal(p.ip_proto, 17);
    assert_int_equal(parse_hex(FRAG6("0008"), 70, &p), WF_DROP_NONE);
    assert_true(p.flags & WF_P_FRAGMENT);
    assert_int_equal(parse_hex(FRAG6("0000"), 70, &p), WF_DROP_NONE); /* an atomic fragment */
    assert_false(p.flags & WF_P_FRAGMENT);
    assert_true(p.flags & WF_P_ROCEV2);
}

static void ipv6_extension_headers_are_stepped_over(void **state)
{
    struct wf_parsed p;
    char hex[800];

    (void)state;
    /* hop-by-hop of 16 bytes, AH of 12 + 4, destination options, then UDP */
    assert_int_equal(parse_hex(ETH "86dd 61a00000 0030 00 40 fd000000000000000000000000000001"
                                   "fd000000000000000000000000000002"
                                   "3301000000000000 0000000000000000"
                                   "3c02000000000000 0000000000000000"
                                   "1100000000000000 0001 12b7 0008 0000",
                               102, &p),
                     WF_DROP_NONE);
    assert_true(p.flags & WF_P_ROCEV2);
    assert_int_equal(p.l4_off, 94);
    assert_int_equal(p.ip_proto, 17);
    assert_int_equal(p.dscp, 6);
    assert_int_equal(p.ecn, 2);
    /* nine of them: left alone */
    strcpy(hex, ETH "86dd 60000000 0050 3c 40 fd000000000000000000000000000001"
                    "fd000000000000000000000000000002");
    for (int i = 0; i < 9; i++)
        strcat(hex, i < 8 ? "3c00000000000000" : "1100000000000000");
    strcat(hex, "000112b700080000");
    assert_int_equal(parse_hex(hex, 134, &p), WF_DROP_NONE);
    assert_false(p.flags & WF_P_UDP);
    assert_int_equal(p.ip_proto, 60);
}

static void icmp_and_neighbour_discovery(void **state)
{
    struct wf_parsed p;

    (void)state;
#define ICMP6(type)                                                                                \
    ETH "86dd 60000000 0018 3a ff fe800000000000000000000000000001"                                \
        "ff0200000000000000000001ff000002" type
    for (int type = 0; type < 256; type++) {
        char hex[300];

        snprintf(hex, sizeof(hex), ICMP6("%02x00"), type);
        assert_int_equal(parse_hex(hex, 78, &p), WF_DROP_NONE);
        assert_int_equal(p.flags, WF_P_ETH | WF_P_IP6 | WF_P_ICMP |
                                      (type >= 133 && type <= 137 ? WF_P_ND : 0));
        assert_int_equal(p.icmp_type, type);
    }
    assert_int_equal(
        parse_hex(ETH "0800 45000054 00000000 40010000 0a000001 0a000002 8700", 98, &p),
        WF_DROP_NONE);
    assert_int_equal(p.flags, WF_P_ETH | WF_P_IP4 | WF_P_ICMP);
}

static void group_addresses(void **state)
{
    static const struct {
        const char *mac;
        uint32_t flags;
    } macs[] = {
        {"ffffffffffff", WF_P_MULTICAST | WF_P_BROADCAST},
        {"0180c2000000", WF_P_MULTICAST | WF_P_RESERVED_MAC},
        {"0180c200000f", WF_P_MULTICAST | WF_P_RESERVED_MAC},
        {"0180c2000010", WF_P_MULTICAST},
        {"01005e000001", WF_P_MULTICAST},
        {"333300000001", WF_P_MULTICAST},
        {"0080c2000000", 0},
        {"feffffffffff", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
        struct wf_parsed p;
        char hex[64];

        snprintf(hex, sizeof(hex), "%s 02000000000a 1234", macs[i].mac);
        assert_int_equal(parse_hex(hex, 60, &p), WF_DROP_NONE);
        assert_int_equal(p.flags, WF_P_ETH | macs[i].flags);
    }
}

/* Real soft-RoCE hosts: what facts say of the capture. */
static void the_soft_roce_capture(void **state)
{
    pcap_t *cap = capture_open("roce-softroce.pcap");
    int roce = 0, tcp = 0, arp = 0, icmp6 = 0, acks = 0, imm = 0, sport_other = 0;
    struct pcap_pkthdr *h;
    const uint8_t *b;

    (void)state;
    if (!cap)
        skip();
    while (pcap_next_ex(cap, &h, &b) == 1) {
        struct wf_parsed p;

        assert_int_equal(parse(b, h->caplen, h->len, &p), WF_DROP_NONE);
        roce += !!(p.flags & WF_P_ROCEV2);
        tcp += !!(p.flags & WF_P_TCP);
        arp += !!(p.flags & WF_P_ARP);
        icmp6 += !!(p.flags & WF_P_ICMP);
        if (!(p.flags & WF_P_ROCEV2))
            continue;
        acks += p.opcode == WF_OP_ACK && (p.flags & WF_P_AETH) && !(p.aeth_syndrome >> 5);
        imm += p.opcode == WF_OP_SEND_LAST_IMM || p.opcode == WF_OP_SEND_ONLY_IMM;
        sport_other += p.sport != 69 && p.sport != 72;
    }
    pcap_close(cap);
    assert_int_equal(roce, 105);
    assert_int_equal(tcp, 10);
    assert_int_equal(roce + tcp + arp + icmp6, 123);
    assert_int_equal(acks, 37);
    assert_int_equal(imm, 35);
    assert_int_equal(sport_other, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_a_captured_cnp),
        cmocka_unit_test(cut_frames_say_less_but_nothing_else),
        cmocka_unit_test(any_length_and_any_bit_flip),
        cmocka_unit_test(all_opcodes_and_lengths),
        cmocka_unit_test(port_4791_alone_makes_roce),
        cmocka_unit_test(contradictions_are_malformed),
        cmocka_unit_test(edges_that_are_good),
        cmocka_unit_test(tags_are_stripped_up_to_two),
        cmocka_unit_test(fragments_have_no_ports),
        cmocka_unit_test(ipv6_extension_headers_are_stepped_over),
        cmocka_unit_test(icmp_and_neighbour_discovery),
        cmocka_unit_test(group_addresses),
        cmocka_unit_test(the_soft_roce_capture),
    };

    return cmocka_run_group_tests_name("wire/parse", tests, NULL, NULL);
}
