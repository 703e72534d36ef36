/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What we write, read by somebody else: frames of our encoders go through tshark, whose fields must
 * be what we put in. Left out, since tshark 4.0 gets them wrong or not at all: RD (it misplaces the
 * RDETH), XRC, FLUSH, ATOMIC WRITE, the name of the CNP, ICRC verdicts, flow label and rate of a
 * path in a REQ (a wrong byte), MRA, SIDR.
 * Skips without tshark.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/arp.h"
#include "wire/cm.h"
#include "wire/icrc.h"
#include "wire/nd.h"
#include "wire/pfc.h"
#include "wire/roce.h"

#include "hex.h"
#include "tshark.h"

#define FRAMES_MAX 80
#define TEXT_MAX   1024

struct cases {
    char dir[64], file[96];
    pcap_t *dead;
    pcap_dumper_t *dump;
    char want[FRAMES_MAX][TEXT_MAX];
    int n;
};

static bool begin(struct cases *c)
{
    *c = (struct cases){.dir = "/tmp/weft-tshark-XXXXXX"};
    if (system("tshark --version >/dev/null 2>&1")) {
        print_message("skipped: no tshark\n");
        return false;
    }
    assert_non_null(mkdtemp(c->dir));
    snprintf(c->file, sizeof(c->file), "%s/f.pcap", c->dir);
    c->dead = pcap_open_dead(DLT_EN10MB, 65535);
    c->dump = pcap_dump_open(c->dead, c->file);
    assert_non_null(c->dump);
    return true;
}

static void add(struct cases *c, const uint8_t *f, uint32_t len, const char *want)
{
    struct pcap_pkthdr h = {.caplen = len, .len = len};

    assert_true(c->n < FRAMES_MAX);
    pcap_dump((u_char *)c->dump, &h, f);
    snprintf(c->want[c->n++], TEXT_MAX, "%s", want);
}

/* Runs tshark over the frames; each line must be the wanted one. */
static void check(struct cases *c, const char *fields)
{
    char cmd[4096], line[TEXT_MAX];
    FILE *p;

    pcap_dump_close(c->dump);
    pcap_close(c->dead);
    snprintf(cmd, sizeof(cmd),
             "tshark -n -r %s --disable-protocol rpcordma -T fields -E occurrence=f "
             "-E separator=/s %s 2>%s/err",
             c->file, fields, c->dir);
    p = popen(cmd, "r");
    assert_non_null(p);
    for (int i = 0; i < c->n; i++) {
        assert_non_null(fgets(line, sizeof(line), p));
        wft_tshark_line(line);
        wft_tshark_line(c->want[i]);
        assert_string_equal(line, c->want[i]);
    }
    assert_null(fgets(line, sizeof(line), p));
    assert_int_equal(pclose(p), 0);
    snprintf(cmd, sizeof(cmd), "rm -r %s", c->dir);
    assert_int_equal(system(cmd), 0);
}

/* A whole packet with the payload given; returns its length. */
static uint32_t packet(uint8_t *f, uint32_t room, struct wf_roce *h, const uint8_t *payload)
{
    uint32_t hdr, len;
    struct wf_parsed p;

    hdr = wf_roce_hdr_build(f, room, h);
    len = wf_roce_frame_len(hdr, h->payload_len);
    assert_true(hdr && len <= room);
    memset(f + hdr, 0, len - hdr);
    memcpy(f + hdr, payload, h->payload_len);
    assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
    wf_icrc_store(f + p.icrc_off, wf_icrc_of(f, len, &p));
    return len;
}

static bool has(const struct wf_opcode *op, enum wf_ext ext)
{
    return memchr(op->ext, (int)ext, WF_EXT_MAX) != NULL;
}

static void want_of_opcode(int opcode, const uint8_t *icrc, char *s, size_t len)
{
    const struct wf_opcode *op = &wf_opcodes[opcode];
    bool reth = has(op, WF_EXT_RETH), atomic = has(op, WF_EXT_ATOMICETH);

    snprintf(s, len, "%d 77 0x000123 1 %s %s %s %s %s %s %s 0x%02x%02x%02x%02x", opcode,
             has(op, WF_EXT_DETH) ? "0x00000066 0x0000000022334455" : " ",
             reth || atomic ? "0x1122334455667788 0x99aabbcc" : " ", reth ? "4096" : "",
             atomic ? "13 14" : " ", has(op, WF_EXT_AETH) ? "33" : "",
             has(op, WF_EXT_ATOMICACKETH) ? "11259375" : "",
             has(op, WF_EXT_IMMDT)  ? "deadbeef "
             : has(op, WF_EXT_IETH) ? " feedf00d"
                                    : " ",
             icrc[0], icrc[1], icrc[2], icrc[3]);
}

static void transport_headers(void **state)
{
    static const struct wf_ext_hdrs x = {.deth = {0x22334455, 0, 0x66},
                                         .reth = {0x1122334455667788, 0x99aabbcc, 4096},
                                         .atomiceth = {0x1122334455667788, 0x99aabbcc, 13, 14},
                                         .aeth = {0x1f, 33},
                                         .atomicacketh = {11259375},
                                         .immdt = {0xdeadbeef},
                                         .ieth = {0xfeedf00d}};
    static const uint8_t payload[8] = {0};
    static struct cases c;

    (void)state;
    if (!begin(&c))
        skip();
    for (int i = 0; i < 256; i++) {
        struct wf_roce h = {
            .ttl = 64,
            .sport = 50000,
            .ext = x,
            .bth = {
                .opcode = (uint8_t)i, .pkey = 0xffff, .dqpn = 0x123, .psn = 77, .ackreq = true}};
        uint8_t f[200];
        char want[TEXT_MAX];
        uint32_t len;

        if (!wf_opcodes[i].name || i >> 5 == 2 || i >> 5 > 3 || (i & 31) >= WF_OP_FLUSH)
            continue;
        h.payload_len = wf_opcodes[i].flags & WF_OPF_PAYLOAD ? 8 : 0;
        len = packet(f, sizeof(f), &h, payload);
        want_of_opcode(i, f + len - 4, want, sizeof(want));
        add(&c, f, len, want);
    }
    assert_int_equal(c.n, 23 + 12 + 2);
    check(&c, "-e infiniband.bth.opcode -e infiniband.bth.psn -e infiniband.bth.destqp "
              "-e infiniband.bth.a -e infiniband.deth.srcqp -e infiniband.deth.q_key "
              "-e infiniband.reth.va -e infiniband.reth.r_key -e infiniband.reth.dmalen "
              "-e infiniband.atomiceth.swapdt -e infiniband.atomiceth.cmpdt "
              "-e infiniband.aeth.msn -e infiniband.atomicacketh.origremdt -e infiniband.immdt "
              "-e infiniband.ieth -e infiniband.invariant.crc");
}

/* A MAD of the connection manager in a datagram to QP1. */
static uint32_t cm_packet(uint8_t *f, uint32_t room, uint16_t attr, const uint8_t *body)
{
    struct wf_mad mad = {.base_version = 1,
                         .mgmt_class = WF_MAD_CLASS_CM,
                         .class_version = 2,
                         .method = 3,
                         .tid = 0x0102030405060708,
                         .attr_id = attr};
    struct wf_roce h = {.ttl = 64,
                        .sport = 50000,
                        .payload_len = WF_MAD_LEN,
                        .bth = {.opcode = 0x64, .pkey = 0xffff, .dqpn = 1},
                        .ext = {.deth = {0x80010000, 0, 1}}};
    uint8_t payload[WF_MAD_LEN] = {0};
    struct wf_wr w = wf_wr_init(payload, sizeof(payload));

    wf_mad_put(&w, &mad);
    wf_wr_bytes(&w, body, 60);
    assert_false(w.err);
    return packet(f, room, &h, payload);
}

static const char cm_fields[] =
    "-e infiniband.mad.baseversion -e infiniband.mad.mgmtclass "
    "-e infiniband.mad.classversion -e infiniband.mad.method "
    "-e infiniband.mad.transactionid -e infiniband.mad.attributeid -e infiniband.cm.req "
    "-e infiniband.cm.req.serviceid -e infiniband.cm.req.localcaguid "
    "-e infiniband.cm.req.localqkey -e infiniband.cm.req.localqpn "
    "-e infiniband.cm.req.responderres -e infiniband.cm.req.localeecn "
    "-e infiniband.cm.req.initdepth -e infiniband.cm.req.remoteeecn "
    "-e infiniband.cm.req.remoteresptout -e infiniband.cm.req.transpsvctype "
    "-e infiniband.cm.req.e2eflowctrl -e infiniband.cm.req.startpsn "
    "-e infiniband.cm.req.localresptout -e infiniband.cm.req.retrcount "
    "-e infiniband.cm.req.pkey -e infiniband.cm.req.pppmtu -e infiniband.cm.req.rdcexist "
    "-e infiniband.cm.req.rnrretrcount -e infiniband.cm.req.maxcmretr "
    "-e infiniband.cm.req.srq -e infiniband.cm.req.ext_transport -e infiniband.cm.rep "
    "-e infiniband.cm.rep.remotecommid -e infiniband.cm.rep.localqkey "
    "-e infiniband.cm.rep.localqpn -e infiniband.cm.rep.localeecn "
    "-e infiniband.cm.rep.startpsn -e infiniband.cm.rep.respres "
    "-e infiniband.cm.rep.initdepth -e infiniband.cm.rep.tgtackdelay "
    "-e infiniband.cm.rep.failoveracc -e infiniband.cm.rep.e2eflowctrl "
    "-e infiniband.cm.rep.rnrretrcount -e infiniband.cm.rep.srq "
    "-e infiniband.cm.rep.localcaguid -e infiniband.cm.rej.localcommid "
    "-e infiniband.cm.rej.remotecommid -e infiniband.cm.rej.msgrej "
    "-e infiniband.cm.rej.rejinfolen -e infiniband.cm.rej.reason "
    "-e infiniband.cm.rtu.localcommid -e infiniband.cm.rtu.remotecommid "
    "-e infiniband.cm.dreq.localcommid -e infiniband.cm.dreq.remotecommid "
    "-e infiniband.cm.drsp.localcommid -e infiniband.cm.drsp.remotecommid";

static void connection_manager(void **state)
{
    static const struct wf_cm_req req = {0x01020304,
                                         0x1000000001060000ull,
                                         0xa1a2a3a4a5a6a7a8ull,
                                         0xb1b2b3b4,
                                         0x123456,
                                         17,
                                         0x654321,
                                         18,
                                         0xabcdef,
                                         19,
                                         2,
                                         true,
                                         0x777777,
                                         20,
                                         5,
                                         0x8001,
                                         3,
                                         true,
                                         6,
                                         7,
                                         true,
                                         4};
    static const struct wf_cm_rep rep = {
        0x11121314, 0x21222324, 0x31323334, 0x414243, 0x515253, 0x616263, 71,
        72,         9,          2,          true,     5,        true,     0x8182838485868788ull};
    static const struct wf_cm_rej rej = {0xa1a2a3a4, 0xb1b2b3b4, 1, 0x55, 28};
    static const struct wf_cm_rtu rtu = {0xc1c2c3c4, 0xd1d2d3d4};
    static struct cases c;
    uint8_t f[400], body[60];
    struct wf_wr w;

    (void)state;
    if (!begin(&c))
        skip();
#define MAD(attr) "0x01 0x07 0x02 0x03 0x0102030405060708 0x00" #attr " "
#define CM(kind, attr, want)                                                                       \
    memset(body, 0, sizeof(body));                                                                 \
    w = wf_wr_init(body, sizeof(body));                                                            \
    wf_cm_##kind##_put(&w, &kind);                                                                 \
    add(&c, f, cm_packet(f, sizeof(f), attr, body), want)
    CM(req, WF_CM_REQ,
       MAD(10) "0x01020304 0x1000000001060000 0xa1a2a3a4a5a6a7a8 0xb1b2b3b4 "
               "0x123456 0x11 0x654321 0x12 0xabcdef 0x13 0x02 0x01 0x777777 0x14 "
               "0x05 0x8001 0x03 0x01 0x06 0x07 0x01 0x04");
    CM(rep, WF_CM_REP,
       MAD(13) "0x11121314 0x21222324 0x31323334 0x414243 0x515253 0x616263 0x47 "
               "0x48 0x09 0x02 0x01 0x05 0x01 0x8182838485868788");
    CM(rej, WF_CM_REJ, MAD(12) "0xa1a2a3a4 0xb1b2b3b4 0x01 0x55 0x001c");
    CM(rtu, WF_CM_RTU, MAD(14) "0xc1c2c3c4 0xd1d2d3d4");
    CM(rtu, WF_CM_DREQ, MAD(15) "0xc1c2c3c4 0xd1d2d3d4");
    CM(rtu, WF_CM_DREP, MAD(16) "0xc1c2c3c4 0xd1d2d3d4");
    check(&c, cm_fields);
}

static const char whole_fields[] =
    "-e infiniband.mad.attributeid -e infiniband.cm.req.prim_locallid "
    "-e infiniband.cm.req.prim_remotelid -e infiniband.cm.req.prim_localgid_ipv4 "
    "-e infiniband.cm.req.prim_remotegid_ipv4 -e infiniband.cm.req.prim_tfcclass "
    "-e infiniband.cm.req.prim_hoplim -e infiniband.cm.req.prim_sl "
    "-e infiniband.cm.req.prim_subnetlocal -e infiniband.cm.req.prim_localacktout "
    "-e infiniband.cm.req.alt_locallid -e infiniband.cm.req.alt_remotelid "
    "-e infiniband.cm.req.alt_localgid -e infiniband.cm.req.alt_remotegid "
    "-e infiniband.cm.req.alt_tfcclass -e infiniband.cm.req.alt_hoplim "
    "-e infiniband.cm.req.alt_sl -e infiniband.cm.req.alt_subnetlocal "
    "-e infiniband.cm.req.alt_localacktout -e infiniband.cm.req.serviceid.prefix "
    "-e infiniband.cm.req.serviceid.protocol -e infiniband.cm.req.serviceid.dport "
    "-e infiniband.cm.req.ip_cm.majv -e infiniband.cm.req.ip_cm.minv "
    "-e infiniband.cm.req.ip_cm.ipv -e infiniband.cm.req.ip_cm.sport "
    "-e infiniband.cm.req.ip_cm.sip4 -e infiniband.cm.req.ip_cm.dip4 "
    "-e infiniband.cm.req.ip_cm.sip6 -e infiniband.cm.req.ip_cm.dip6 "
    "-e infiniband.cm.req.ip_cm.private -e infiniband.cm.rej.ari -e infiniband.cm.rej.private "
    "-e infiniband.cm.rep.private -e infiniband.cm.rtu.private -e infiniband.cm.dreq.private "
    "-e infiniband.cm.drsp.private";

static void fill(uint8_t *to, uint32_t len, uint8_t first)
{
    for (uint32_t i = 0; i < len; i++)
        to[i] = (uint8_t)(first + i);
}

static void whole_frame(struct cases *c, const struct wf_cm_msg *m, const char *want)
{
    struct wf_roce h = {.ttl = 64,
                        .sport = 50000,
                        .payload_len = WF_MAD_LEN,
                        .bth = {.opcode = 0x64, .pkey = 0xffff, .dqpn = WF_GSI_QPN},
                        .ext = {.deth = {WF_GSI_QKEY, 0, WF_GSI_QPN}}};
    uint8_t f[400], mad[WF_MAD_LEN];

    wf_cm_msg_put(mad, m);
    add(c, f, packet(f, sizeof(f), &h, mad), want);
}

/* What the caller puts into the private data of a REQ by the RDMA IP CM service. */
static void ip_header(struct wf_cm_msg *m, uint8_t version)
{
    struct wf_wr w = wf_wr_init(m->private_data, sizeof(m->private_data));
    struct wf_cm_ip ip = {.ip_version = version, .sport = 40000};

    memcpy(ip.src + 12, "\xc0\x00\x02\x01", 4);
    memcpy(ip.dst + 12, "\xc0\x00\x02\x02", 4);
    if (version == 6)
        ip.src[0] = ip.dst[0] = 0xfd;
    wf_cm_ip_put(&w, &ip);
    fill(m->private_data + WF_CM_IP_LEN, 56, 0x40);
}

/* Paths, addresses of annex A11 and private data, to their last byte. */
static void whole_messages(void **state)
{
    static const char paths[] =
        "0x0010 65535 65534 192.0.2.1 192.0.2.2 0x6a 0x40 0x03 0x01 0x13 1 2 "
        "fd030000000000000000000000000000 "
        "fd040000000000000000000000000000 0x06 0x07 0x08 0x00 0x09 0000000001 0x06 0x1234 0x00 "
        "0x00";
    static struct cases c;
    struct wf_cm_msg m;
    char want[TEXT_MAX], private[2 * WF_CM_PRIVATE_MAX + 1];

    (void)state;
    if (!begin(&c))
        skip();
    for (uint32_t i = 0; i < WF_CM_PRIVATE_MAX; i++)
        snprintf(private + 2 * i, 3, "%02x", (0x40 + i) & 0xff);
    wf_cm_msg_init(&m, WF_CM_REQ, 7);
    m.req = (struct wf_cm_req){.local_comm_id = 5, .service_id = WF_CM_SERVICE_TCP + 4660};
    m.path[0] = (struct wf_cm_path){0xffff, 0xfffe, {0xfd, 1}, {0xfd, 2}, 0xabcde, 17,
                                    106,    64,     3,         true,      19};
    m.path[1] = (struct wf_cm_path){1, 2, {0xfd, 3}, {0xfd, 4}, 0x12345, 5, 6, 7, 8, false, 9};
    memcpy(m.path[0].local_gid + 12, "\xc0\x00\x02\x01", 4);
    memcpy(m.path[0].remote_gid + 12, "\xc0\x00\x02\x02", 4);
    ip_header(&m, 4);
    snprintf(want, sizeof(want), "%s 0x04 0x9c40 192.0.2.1 192.0.2.2 %.112s", paths, private);
    whole_frame(&c, &m, want);
    ip_header(&m, 6);
    snprintf(want, sizeof(want),
             "%s 0x06 0x9c40 fd00::c000:201 "
             "fd00::c000:202 %.112s",
             paths, private);
    whole_frame(&c, &m, want);
    for (uint16_t attr = WF_CM_REJ; attr <= WF_CM_DREP; attr++) {
        uint32_t len = wf_cm_private_len(attr);

        wf_cm_msg_init(&m, attr, 7);
        fill(m.private_data, len, 0x40);
        fill(m.ari, sizeof(m.ari), 0x40);
        snprintf(want, sizeof(want), "0x%04x %.*s %.*s", attr, attr == WF_CM_REJ ? 144 : 0, private,
                 2 * (int)len, private);
        if (attr != WF_CM_DREP) /* tshark 4.0 shows its private data under no name */
            whole_frame(&c, &m, want);
    }
    check(&c, whole_fields);
}

static void link_frames(void **state)
{
    static const uint8_t mac_a[6] = {2, 0, 0, 0, 0, 10}, mac_b[6] = {2, 0, 0, 0, 0, 11};
    static const uint16_t quanta[8] = {10, 11, 12, 65535, 14, 15, 16, 17};
    struct wf_arp arp = {
        .oper = 1, .sha = {2, 0, 0, 0, 0, 10}, .spa = 0x0a000001, .tpa = 0x0a000002};
    struct wf_nd_msg m = {.nd = {.type = WF_ND_ADVERTISE, .solicited = true, .router = true}};
    static struct cases c;
    uint8_t f[100];

    (void)state;
    if (!begin(&c))
        skip();
    add(&c, f, wf_pfc_build(f, mac_a, 0x99, quanta), "02:00:00:00:00:0a 0x0101 0x0099 10 65535 17");
    add(&c, f, wf_pause_build(f, mac_a, 4660), "02:00:00:00:00:0a 0x0001 4660");
    add(&c, f, wf_arp_build(f, mac_b, &arp),
        "02:00:00:00:00:0a 1 02:00:00:00:00:0a 10.0.0.1 10.0.0.2");
    memcpy(m.src_mac, mac_a, 6);
    memcpy(m.dst_mac, mac_b, 6);
    m.src_ip[0] = m.dst_ip[0] = m.nd.target[0] = 0xfd;
    m.src_ip[15] = m.nd.target[15] = 1;
    m.dst_ip[15] = 2;
    add(&c, f, wf_nd_build(f, &m), "02:00:00:00:00:0a 136 1 1 1 0 fd00::1 02:00:00:00:00:0a");
    check(&c, "-e eth.src -e macc.opcode -e macc.cbfc.enbv -e macc.pause_time "
              "-e macc.cbfc.pause_time.c0 -e macc.cbfc.pause_time.c3 -e macc.cbfc.pause_time.c7 "
              "-e arp.opcode -e arp.src.hw_mac -e arp.src.proto_ipv4 -e arp.dst.proto_ipv4 "
              "-e icmpv6.type -e icmpv6.checksum.status -e icmpv6.nd.na.flag.r "
              "-e icmpv6.nd.na.flag.s -e icmpv6.nd.na.flag.o -e icmpv6.nd.na.target_address "
              "-e icmpv6.opt.linkaddr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transport_headers),
        cmocka_unit_test(connection_manager),
        cmocka_unit_test(whole_messages),
        cmocka_unit_test(link_frames),
    };

    return cmocka_run_group_tests_name("wire/tshark", tests, NULL, NULL);
}
