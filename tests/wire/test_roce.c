/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of wire/roce.c, opcode.c and bth.c: packets that others made, taken apart and built again,
 * must come out with the same bytes; the opcode table against a second writing of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/icrc.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/roce.h"
#include "wire/udp.h"

#include "golden.h"
#include "hex.h"

/* A frame to the description that should build it. False: not a packet that the builder makes. */
static bool describe(const uint8_t *f, uint32_t len, const struct wf_parsed *p, struct wf_roce *h,
                     struct wf_udp *udp)
{
    struct wf_rd r = wf_rd_init(f, len);
    struct wf_eth eth;

    *h = (struct wf_roce){0};
    assert_int_equal(wf_eth_get(&r, &eth), 0);
    memcpy(h->dst_mac, eth.dst, 6);
    memcpy(h->src_mac, eth.src, 6);
    h->n_tags = eth.n_tags;
    memcpy(h->tag, eth.tag, sizeof(h->tag));
    if (p->flags & WF_P_IP4) {
        struct wf_ip4 ip;

        assert_int_equal(wf_ip4_get(&r, &ip), 0);
        wf_st32(h->src_ip + 12, ip.src);
        wf_st32(h->dst_ip + 12, ip.dst);
        h->ip_id = ip.id;
    } else {
        struct wf_ip6 ip;

        assert_int_equal(wf_ip6_get(&r, &ip), 0);
        memcpy(h->src_ip, ip.src, 16);
        memcpy(h->dst_ip, ip.dst, 16);
        h->flow_label = ip.flow_label;
        h->ttl = ip.hop_limit;
        h->dscp = ip.dscp;
        h->ecn = ip.ecn;
        h->encap = p->flags & WF_P_ROCEV1 ? WF_ROCE_V1 : WF_ROCE_V2_IP6;
    }
    if (p->flags & WF_P_IP4) {
        h->dscp = p->dscp;
        h->ecn = p->ecn;
        h->ttl = p->ttl;
    }
    if (p->flags & WF_P_ROCEV2) {
        assert_int_equal(wf_udp_get(&r, udp), 0);
        h->sport = udp->sport;
    }
    assert_int_equal(wf_bth_get(&r, &h->bth), 0);
    assert_int_equal(wf_ext_get(&r, h->bth.opcode, &h->ext), 0);
    h->payload_len = p->payload_len;
    return h->bth.pad == wf_roce_pad(p->payload_len);
}

/* Takes a whole RoCE frame apart and builds it again, byte for byte. */
static void rebuild(const uint8_t *f, uint32_t len, const struct wf_parsed *p)
{
    uint8_t again[WF_ROCE_HDR_MAX + 9000];
    struct wf_udp udp = {0};
    struct wf_parsed q;
    struct wf_roce h;
    uint32_t hdr;

    assert_true(describe(f, len, p, &h, &udp));
    hdr = wf_roce_hdr_build(again, sizeof(again), &h);
    assert_int_equal(hdr, p->payload_off);
    assert_int_equal(wf_roce_frame_len(hdr, h.payload_len), p->icrc_off + 4);
    if (p->flags & WF_P_ROCEV2)
        wf_st16(again + p->l4_off + 6, udp.checksum); /* we send none */
    memcpy(again + hdr, f + hdr, p->icrc_off - hdr);
    assert_int_equal(wf_parse(again, p->icrc_off + 4, p->icrc_off + 4, &q), WF_DROP_NONE);
    wf_icrc_store(again + q.icrc_off, wf_icrc_of(again, q.icrc_off, &q));
    assert_memory_equal(again, f, p->icrc_off + 4);
}

static void golden_frames_are_built_again(void **state)
{
    static const char *const frames[] = {CNP_CX4, UC_SEND};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint8_t f[200];
        uint32_t len = hex_bytes(frames[i], f, sizeof(f));
        struct wf_parsed p;

        assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
        rebuild(f, len, &p);
    }
}

static void captures_are_built_again(void **state)
{
    static const char *const names[] = {"roce-softroce.pcap", "rocev2-ipv6.pcap", "rocev1.pcap",
                                        "rocev2-4k-full.pcap",
                                        "rocev2-rc-psnwrap-ecn-cnp-vlan.pcap"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        pcap_t *cap = capture_open(names[i]);
        struct pcap_pkthdr *h;
        const uint8_t *b;

        if (!cap)
            skip();
        while (pcap_next_ex(cap, &h, &b) == 1) {
            struct wf_parsed p;

            assert_int_equal(wf_parse(b, h->caplen, h->len, &p), WF_DROP_NONE);
            if (p.flags & WF_P_BTH)
                rebuild(b, h->caplen, &p);
        }
        pcap_close(cap);
    }
}

/* The CNP of a ConnectX-4 Lx, from its addresses alone. */
static void cnp_is_that_of_the_nic(void **state)
{
    struct wf_roce h = {.dscp = 48,
                        .ecn = 2,
                        .ttl = 64,
                        .ip_id = 0x718c,
                        .bth = {.opcode = 7, .dqpn = 0x118, .psn = 99, .ackreq = true}};
    uint8_t want[100], got[WF_CNP_FRAME_MAX];
    uint32_t len = hex_bytes(CNP_CX4, want, sizeof(want));

    (void)state;
    memcpy(h.dst_mac, want, 6);
    memcpy(h.src_mac, want + 6, 6);
    hex_bytes("0a001101", h.src_ip + 12, 4);
    hex_bytes("0a001201", h.dst_ip + 12, 4);
    assert_int_equal(wf_cnp_build(got, sizeof(got), &h), len);
    assert_memory_equal(got, want, len);
    for (uint32_t room = 0; room < len; room++)
        assert_int_equal(wf_cnp_build(got, room, &h), 0);
}

/* A header-only packet with a virtual payload of zeros has the ICRC of the real one. */
static void virtual_payload_needs_no_bytes(void **state)
{
    static uint8_t f[5000];
    struct wf_roce h = {.dscp = 26,
                        .ecn = 2,
                        .ttl = 64,
                        .sport = 50000,
                        .n_tags = 1,
                        .tag = {{.pcp = 3, .vid = 100}},
                        .bth = {.opcode = WF_OP_WRITE_FIRST, .pkey = 0xffff, .dqpn = 17, .psn = 5},
                        .ext = {.reth = {0x1000, 0x55, 8192}},
                        .payload_len = 4096};
    struct wf_parsed p;

    (void)state;
    for (int encap = 0; encap < 3; encap++) {
        uint32_t hdr, len;

        h.encap = (enum wf_roce_encap)encap;
        memset(f, 0, sizeof(f));
        hdr = wf_roce_hdr_build(f, WF_ROCE_HDR_MAX, &h);
        len = wf_roce_frame_len(hdr, 4096);
        assert_int_equal(wf_parse(f, hdr, len, &p), WF_DROP_NONE);
        assert_int_equal(p.payload_len, 4096);
        wf_icrc_store(f + len - 4, wf_icrc_of(f, hdr, &p));
        assert_int_equal(wf_icrc_check(f, len, &p), WF_ICRC_OK);
    }
}

static void builders_refuse_what_does_not_fit(void **state)
{
    struct wf_roce h = {.n_tags = 2,
                        .encap = WF_ROCE_V2_IP6,
                        .payload_len = 4,
                        .bth = {.opcode = WF_SERVICE_RD | WF_OP_COMPARE_SWAP}};
    uint8_t f[WF_ROCE_HDR_MAX + 1];

    (void)state;
    memset(f, 0xee, sizeof(f));
    assert_int_equal(wf_roce_hdr_build(f, WF_ROCE_HDR_MAX, &h), WF_ROCE_HDR_MAX);
    assert_int_equal(f[WF_ROCE_HDR_MAX], 0xee);
    for (uint32_t room = 0; room < WF_ROCE_HDR_MAX; room++) {
        memset(f, 0xee, sizeof(f));
        assert_int_equal(wf_roce_hdr_build(f, room, &h), 0);
        assert_int_equal(f[room], 0xee);
    }
    h.payload_len = 65536; /* no IP length says that */
    assert_int_equal(wf_roce_hdr_build(f, sizeof(f), &h), 0);
    h.payload_len = UINT32_MAX;
    assert_int_equal(wf_roce_hdr_build(f, sizeof(f), &h), 0);
}

/*
 * IBA table 38 a second time: one letter a header, services in the order RC UC RD UD XRC, "-" for
 * a reserved opcode. d RDETH, D DETH, X XRCETH, f FETH, R RETH, A AtomicETH, a AETH, k
 * AtomicAckETH, i ImmDt, v IETH, p payload, "." nothing.
 */
static const char *const headers_of[32][5] = {
    {"p", "p", "dDp", "-", "Xp"},     {"p", "p", "dDp", "-", "Xp"},
    {"p", "p", "dDp", "-", "Xp"},     {"ip", "ip", "dDip", "-", "Xip"},
    {"p", "p", "dDp", "Dp", "Xp"},    {"ip", "ip", "dDip", "Dip", "Xip"},
    {"Rp", "Rp", "dDRp", "-", "XRp"}, {"p", "p", "dDp", "-", "Xp"},
    {"p", "p", "dDp", "-", "Xp"},     {"ip", "ip", "dDip", "-", "Xip"},
    {"Rp", "Rp", "dDRp", "-", "XRp"}, {"Rip", "Rip", "dDRip", "-", "XRip"},
    {"R", "-", "dDR", "-", "XR"},     {"ap", "-", "dap", "-", "ap"},
    {"p", "-", "dp", "-", "p"},       {"ap", "-", "dap", "-", "ap"},
    {"ap", "-", "dap", "-", "ap"},    {"a", "-", "da", "-", "a"},
    {"ak", "-", "dak", "-", "ak"},    {"A", "-", "dDA", "-", "XA"},
    {"A", "-", "dDA", "-", "XA"},     {"-", "-", "dD", "-", "-"},
    {"vp", "-", "-", "-", "Xvp"},     {"vp", "-", "-", "-", "Xvp"},
    {"-", "-", "-", "-", "-"},        {"-", "-", "-", "-", "-"},
    {"-", "-", "-", "-", "-"},        {"-", "-", "-", "-", "-"},
    {"fR", "-", "-", "-", "-"},       {"Rp", "-", "-", "-", "-"},
    {"-", "-", "-", "-", "-"},        {"-", "-", "-", "-", "-"},
};

static void check_opcode(const struct wf_opcode *op, const char *want)
{
    static const char letters[] = "?dDXfRAakiv";
    uint32_t len = 0, aeth = 0;
    char got[16] = "";
    size_t n = 0;

    if (!op->name) {
        assert_string_equal(want, "-");
        assert_int_equal(op->ext_len + op->aeth + op->flags, 0);
        return;
    }
    for (int i = 0; i < WF_EXT_MAX && op->ext[i]; i++) {
        got[n++] = letters[op->ext[i]];
        if (op->ext[i] == WF_EXT_AETH)
            aeth = len + 1;
        len += wf_ext_bytes((enum wf_ext)op->ext[i]);
    }
    if (op->flags & WF_OPF_PAYLOAD)
        got[n++] = 'p';
    assert_string_equal(got, want);
    assert_int_equal(op->ext_len, len);
    assert_true(len <= WF_EXT_LEN_MAX);
    assert_int_equal(op->aeth, aeth);
}

static void opcode_table_is_that_of_iba(void **state)
{
    static const uint8_t services[5] = {0x00, 0x20, 0x40, 0x60, 0xa0};
    static const char *const names[5] = {"RC", "UC", "RD", "UD", "XRC"};

    (void)state;
    for (uint8_t s = 0; s < 5; s++)
        for (uint8_t op = 0; op < 32; op++) {
            const struct wf_opcode *o = &wf_opcodes[services[s] | op];

            check_opcode(o, headers_of[op][s]);
            assert_string_equal(wf_service_name(services[s] | op), names[s]);
            if (o->name)
                assert_int_equal(o->service, services[s]);
        }
    for (int op = 0x80; op < 0xa0; op++)
        assert_int_equal(wf_opcodes[op].name != NULL, op == 0x81);
    for (int op = 0xc0; op < 0x100; op++)
        assert_null(wf_opcodes[op].name);
}

/* First, Middle, Last and Only by their names; responses are those that have AETH or follow one. */
static void opcode_flags_agree_with_names(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        const struct wf_opcode *op = &wf_opcodes[i];
        bool only, resp;

        if (!op->name)
            continue;
        only =
            !strstr(op->name, "First") && !strstr(op->name, "Middle") && !strstr(op->name, "Last");
        resp = strstr(op->name, "Response") || strstr(op->name, "ACK");
        assert_int_equal(!!(op->flags & WF_OPF_FIRST), only || strstr(op->name, "First"));
        assert_int_equal(!!(op->flags & WF_OPF_MIDDLE), !!strstr(op->name, "Middle"));
        assert_int_equal(!!(op->flags & WF_OPF_LAST), only || strstr(op->name, "Last"));
        assert_int_equal(!!(op->flags & WF_OPF_RESPONSE), resp);
        assert_int_equal(!!(op->flags & WF_OPF_SEND), !strncmp(op->name, "SEND", 4));
        assert_int_equal(!!(op->flags & WF_OPF_WRITE), !strncmp(op->name, "WRITE", 5));
        assert_int_equal(!!(op->flags & WF_OPF_READ), !strncmp(op->name, "READ", 4));
    }
}

/* The extended headers of each opcode, read and written, at every length. */
static void extended_headers_of_all_opcodes(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        uint8_t bytes[WF_EXT_LEN_MAX], again[WF_EXT_LEN_MAX] = {0};
        uint8_t n = wf_opcodes[i].ext_len;
        struct wf_ext_hdrs x;
        struct wf_rd r;
        struct wf_wr w = wf_wr_init(again, n);

        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (uint8_t)(k * 37 + (size_t)i);
        for (uint8_t len = 0; len < n; len++) {
            r = wf_rd_init(bytes, len);
            assert_int_equal(wf_ext_get(&r, (uint8_t)i, &x), -EBADMSG);
        }
        r = wf_rd_init(bytes, n);
        assert_int_equal(wf_ext_get(&r, (uint8_t)i, &x), 0);
        assert_int_equal(wf_rd_left(&r), 0);
        wf_ext_put(&w, (uint8_t)i, &x);
        assert_false(w.err);
        assert_memory_equal(again, bytes, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_frames_are_built_again),
        cmocka_unit_test(captures_are_built_again),
        cmocka_unit_test(cnp_is_that_of_the_nic),
        cmocka_unit_test(virtual_payload_needs_no_bytes),
        cmocka_unit_test(builders_refuse_what_does_not_fit),
        cmocka_unit_test(opcode_table_is_that_of_iba),
        cmocka_unit_test(opcode_flags_agree_with_names),
        cmocka_unit_test(extended_headers_of_all_opcodes),
    };

    return cmocka_run_group_tests_name("wire/roce", tests, NULL, NULL);
}
