/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole messages of the connection manager: what a kernel's rdma_cm sent is read, says what tshark
 * says of it, and is written to the same bytes again; what is no such message is refused. Our own
 * messages before tshark: test_tshark.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hex.h"
#include "wire/cm.h"
#include "wire/parse.h"

/* captures/cm-rxe.pcap by tshark 4.0: attribute, communication IDs, QPN and first PSN, service ID,
 * reason. Of SIDR, which it does not know, by hand from the bytes. */
struct want {
    uint16_t attr;
    uint32_t local, remote, qpn, psn;
    uint64_t service;
    uint16_t why;
};

static const struct want wants[] = {
    {WF_CM_REQ, 0xdbf8459f, 0, 0x11, 0xfc5385, 0x1061c06, 0},
    {WF_CM_REP, 0xc3892bdb, 0xdbf8459f, 0x11, 0xfb642d, 0, 0},
    {WF_CM_RTU, 0xdbf8459f, 0xc3892bdb, 0, 0, 0, 0},
    {WF_CM_DREQ, 0xdbf8459f, 0xc3892bdb, 0x11, 0, 0, 0},
    {WF_CM_DREP, 0xc3892bdb, 0xdbf8459f, 0, 0, 0, 0},
    {WF_CM_REQ, 0xdaf8459f, 0, 0x12, 0x2df1c4, 0x1061c06, 0},
    {WF_CM_REJ, 0, 0xdaf8459f, 0, 0, 0, WF_CM_REJ_SERVICE_ID},
    {WF_CM_SIDR_REQ, 0xd9f8459f, 0, 0, 0, 0x1111c06, 0},
    {WF_CM_SIDR_REP, 0xd9f8459f, 0, 0x12, 0, 0x1111c06, 0},
    {WF_CM_SIDR_REQ, 0xd8f8459f, 0, 0, 0, 0x1111c06, 0},
    {WF_CM_SIDR_REP, 0xd8f8459f, 0, 0, 0, 0x1111c06, 1},
    {WF_CM_REQ, 0xdff8459f, 0, 0x15, 0x9d1c32, 0x1061c06, 0},
    {WF_CM_REP, 0xc5892bdb, 0xdff8459f, 0x13, 0x32b404, 0, 0},
    {WF_CM_RTU, 0xdff8459f, 0xc5892bdb, 0, 0, 0, 0},
    {WF_CM_DREQ, 0xdff8459f, 0xc5892bdb, 0x13, 0, 0, 0},
    {WF_CM_DREP, 0xc5892bdb, 0xdff8459f, 0, 0, 0, 0},
};

static void check_message(const struct wf_cm_msg *m, const struct want *w)
{
    assert_int_equal(m->mad.attr_id, w->attr);
    assert_int_equal(m->rtu.local_comm_id, w->local);
    switch (w->attr) {
    case WF_CM_REQ:
        assert_int_equal(m->req.service_id, w->service);
        assert_int_equal(m->req.local_qpn, w->qpn);
        assert_int_equal(m->req.starting_psn, w->psn);
        assert_int_equal(m->req.path_mtu, 3); /* 1024 */
        assert_int_equal(m->path[0].hop_limit, 64);
        return;
    case WF_CM_REP:
        assert_int_equal(m->rep.local_qpn, w->qpn);
        assert_int_equal(m->rep.starting_psn, w->psn);
        break;
    case WF_CM_DREQ:
        assert_int_equal(m->dreq.remote_qpn, w->qpn);
        break;
    case WF_CM_REJ:
        assert_int_equal(m->rej.reason, w->why);
        break;
    case WF_CM_SIDR_REQ:
        assert_int_equal(m->sidr_req.service_id, w->service);
        return;
    case WF_CM_SIDR_REP:
        assert_int_equal(m->sidr_rep.status, w->why);
        assert_int_equal(m->sidr_rep.qpn, w->qpn);
        assert_int_equal(m->sidr_rep.service_id, w->service);
        assert_int_equal(m->sidr_rep.qkey, w->why ? 0 : 0x1234567);
        return;
    }
    assert_int_equal(m->rtu.remote_comm_id, w->remote);
}

/* The service's own header names the addresses that IP has, and the paths' GIDs are those too. */
static void check_addresses(const struct wf_cm_msg *m, const uint8_t *frame,
                            const struct wf_parsed *p)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct wf_rd r = wf_rd_init(m->private_data, sizeof(m->private_data));
    struct wf_cm_ip ip;
    uint32_t len = p->flags & WF_P_IP4 ? 4 : 16;
    const uint8_t *src = frame + p->l3_off + (len == 4 ? 12 : 8);

    assert_int_equal(wf_cm_ip_get(&r, &ip), 0);
    assert_int_equal(ip.major | ip.minor, 0);
    assert_int_equal(ip.ip_version, len == 4 ? 4 : 6);
    assert_memory_equal(ip.src + 16 - len, src, len);
    assert_memory_equal(ip.dst + 16 - len, src + len, len);
    if (m->mad.attr_id != WF_CM_REQ)
        return;
    assert_memory_equal(m->path[0].local_gid + 16 - len, src, len);
    assert_memory_equal(m->path[0].remote_gid + 16 - len, src + len, len);
    assert_memory_equal(m->path[0].local_gid, len == 4 ? mapped : src, 12);
}

static void a_kernels_messages(void **state)
{
    const char *source = getenv("WEFT_SOURCE");
    char path[4096], err[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *h;
    const uint8_t *frame;
    size_t n = 0;
    pcap_t *pc;

    (void)state;
    snprintf(path, sizeof(path), "%s/captures/cm-rxe.pcap", source ? source : ".");
    pc = pcap_open_offline(path, err);
    if (!pc)
        fail_msg("%s", err);
    for (; pcap_next_ex(pc, &h, &frame) == 1; n++) {
        uint8_t again[WF_MAD_LEN];
        struct wf_cm_msg m;
        struct wf_parsed p;

        assert_true(n < sizeof(wants) / sizeof(wants[0]));
        assert_int_equal(wf_parse(frame, h->caplen, h->len, &p), WF_DROP_NONE);
        assert_int_equal(p.dqpn, WF_GSI_QPN);
        assert_int_equal(wf_cm_msg_get(frame + p.payload_off, p.payload_len, &m), 0);
        check_message(&m, &wants[n]);
        if (m.mad.attr_id == WF_CM_REQ || m.mad.attr_id == WF_CM_SIDR_REQ)
            check_addresses(&m, frame, &p);
        wf_cm_msg_put(again, &m);
        assert_memory_equal(again, frame + p.payload_off, WF_MAD_LEN);
    }
    assert_int_equal(n, sizeof(wants) / sizeof(wants[0]));
    pcap_close(pc);
}

/* The kernel makes a connection's UDP source port from the path's flow label, by folding its 20
 * bits to 14: the data of the first connection came from port 62299. */
static void the_flow_label_is_the_ports(void **state)
{
    static const uint8_t path[44] = {[36] = 0xfb, 0x36, 0x50, 0, 0, 64, 0, 0x98};
    struct wf_rd r = wf_rd_init(path, sizeof(path));
    struct wf_cm_path p;

    (void)state;
    assert_int_equal(wf_cm_path_get(&r, &p), 0);
    assert_int_equal(0xc000 | ((p.flow_label & 0x3fff) ^ p.flow_label >> 14), 62299);
    assert_int_equal(p.ack_timeout, 19);
}

/* Everything that the tables know survives, for every message. */
static void each_message_comes_back(void **state)
{
    (void)state;
    for (uint16_t attr = WF_CM_REQ; attr <= WF_CM_SIDR_REP; attr++) {
        uint8_t bytes[WF_MAD_LEN], again[WF_MAD_LEN];
        struct wf_cm_msg m;

        wf_cm_msg_init(&m, attr, 0x1122334455667788);
        memset(m.private_data, 0xa5, wf_cm_private_len(attr));
        wf_cm_msg_put(bytes, &m);
        assert_int_equal(bytes[WF_MAD_LEN - 1], 0xa5); /* the private data ends the MAD */
        for (uint32_t i = WF_MAD_HDR_LEN; i < WF_MAD_LEN; i++)
            bytes[i] = (uint8_t)(i * 7 + attr);
        assert_int_equal(wf_cm_msg_get(bytes, sizeof(bytes), &m), 0);
        wf_cm_msg_put(again, &m); /* reserved bits are zero from here on */
        assert_int_equal(wf_cm_msg_get(again, sizeof(again), &m), 0);
        wf_cm_msg_put(bytes, &m);
        assert_memory_equal(bytes, again, WF_MAD_LEN);
        assert_int_equal(again[WF_MAD_LEN - 1], (uint8_t)((WF_MAD_LEN - 1) * 7 + attr));
    }
}

static void what_is_none_is_refused(void **state)
{
    uint8_t bytes[WF_MAD_LEN];
    struct wf_cm_msg m;

    (void)state;
    wf_cm_msg_init(&m, WF_CM_RTU, 1);
    wf_cm_msg_put(bytes, &m);
    assert_int_equal(wf_cm_msg_get(bytes, WF_MAD_LEN, &m), 0);
    for (uint32_t len = 0; len < WF_MAD_LEN; len += 15)
        assert_int_equal(wf_cm_msg_get(bytes, len, &m), -EBADMSG);
    for (uint32_t at = 0; at < 4; at++) { /* version, class, class version, method */
        bytes[at] ^= 0x40;
        assert_int_equal(wf_cm_msg_get(bytes, WF_MAD_LEN, &m), -EBADMSG);
        bytes[at] ^= 0x40;
    }
    bytes[3] |= 0x80; /* no message of the manager is a response */
    assert_int_equal(wf_cm_msg_get(bytes, WF_MAD_LEN, &m), -EBADMSG);
    bytes[3] &= 0x7f;
    for (int attr = 0; attr < 256; attr++) {
        bytes[17] = (uint8_t)attr;
        assert_int_equal(wf_cm_msg_get(bytes, WF_MAD_LEN, &m),
                         attr >= WF_CM_REQ && attr <= WF_CM_SIDR_REP ? 0 : -ENOTSUP);
        assert_int_equal(!wf_cm_private_len((uint16_t)attr),
                         attr < WF_CM_REQ || attr > WF_CM_SIDR_REP);
    }
}

static void reasons_have_names(void **state)
{
    (void)state;
    assert_string_equal(wf_cm_reject_name(8), "invalid service id");
    assert_string_equal(wf_cm_reject_name(28), "consumer reject");
    assert_string_equal(wf_cm_reject_name(7), "?");
    assert_string_equal(wf_cm_reject_name(65535), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernels_messages),      cmocka_unit_test(the_flow_label_is_the_ports),
        cmocka_unit_test(each_message_comes_back), cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(reasons_have_names),
    };

    return cmocka_run_group_tests_name("wire/cm", tests, NULL, NULL);
}
