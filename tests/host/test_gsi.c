/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QP1 of a model host that listens, and what a stranger's MADs do there: host 0 is a probe that
 * sends frames of real bytes and sees the answers, host 1 the model. On one leaf.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#include "base/counter.h"
#include "host/endpoint.h"
#include "wire/edit.h"
#include "wire/icrc.h"
#include "xport/cm.h"

enum { PORT = 7174, ASKER_QPN = 0x99, FRAME_MAX = 2048 };

static struct {
    struct wf_arena arena;
    struct wf_desc d;
    struct wf_fabric *f;
    uint64_t t_ps;
    uint8_t ttl;
} s;

static int begin(int recv)
{
    memset(&s, 0, sizeof(s));
    s.ttl = 64;
    s.d.seed = 5;
    s.d.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&s.d, &s.arena, 1, 0, 2);
    wf_desc_address(&s.d, &s.arena);
    s.d.hosts[1].cfg.listen.port = PORT;
    s.d.hosts[1].cfg.listen.recv = recv;
    s.f = wft_build_some(&s.d, 1 << 1);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return begin(WF_LISTEN_SINK);
}

static int setup_echo(void **state)
{
    (void)state;
    return begin(WF_LISTEN_ECHO);
}

static int teardown(void **state)
{
    (void)state;
    wf_fabric_free(s.f);
    wf_arena_free(&s.arena);
    return 0;
}

static void run_for(uint64_t ps)
{
    s.t_ps += ps;
    wft_run(s.f, s.t_ps);
    wft_check(s.f);
}

static const uint64_t *drops(void)
{
    return wf_fabric_host(s.f, 1)->ports[0].drops;
}

static uint64_t endpoint(enum wf_ctr_ENDPOINT c)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(s.f, wf_ctr_table_bit(&wf_ctrs_endpoint));

    wf_fabric_settle(s.f);
    assert_true(wf_ctr_next(&w));
    return w.values[c];
}

/* A frame of the probe's to the model, with these headers. */
static void send(struct wf_bth bth, const struct wf_ext_hdrs *ext, const void *payload,
                 uint32_t len)
{
    struct wf_roce h = {
        .encap = WF_ROCE_V2_IP4, .ttl = s.ttl, .sport = 0xc000, .bth = bth, .payload_len = len};
    uint8_t b[FRAME_MAX] = {0};
    struct wf_parsed p;
    uint32_t hdr, all;

    memcpy(h.src_mac, s.d.hosts[0].cfg.mac, 6);
    memcpy(h.dst_mac, s.d.hosts[1].cfg.mac, 6);
    memcpy(h.src_ip, s.d.hosts[0].cfg.ip.addr, 16);
    memcpy(h.dst_ip, s.d.hosts[1].cfg.ip.addr, 16);
    h.ext = *ext;
    hdr = wf_roce_hdr_build(b, sizeof(b), &h);
    all = wf_roce_frame_len(hdr, len);
    if (len)
        memcpy(b + hdr, payload, len);
    assert_int_equal(wf_parse(b, all, all, &p), WF_DROP_NONE);
    wf_icrc_store(b + p.icrc_off, wf_icrc_of(b, all, &p));
    wft_send(s.f, 0, 0, 0, b, all, all);
    run_for(100 * WF_PS_PER_US);
}

static struct wf_bth bth_of(uint8_t opcode, uint32_t dqpn, uint32_t psn)
{
    return (struct wf_bth){
        .opcode = opcode, .pkey = WF_BTH_PKEY, .dqpn = dqpn, .psn = psn, .ackreq = true};
}

static void send_mad(const struct wf_cm_msg *m, struct wf_bth bth)
{
    struct wf_ext_hdrs ext = {.deth = {.qkey = WF_GSI_QKEY, .sqpn = WF_GSI_QPN}};
    uint8_t mad[WF_MAD_LEN];

    wf_cm_msg_put(mad, m);
    bth.ackreq = false;
    send(bth, &ext, mad, sizeof(mad));
}

#define GSI bth_of(WF_SERVICE_UD | WF_OP_SEND_ONLY, WF_GSI_QPN, 7)

/* The i-th frame that came back is a MAD of this kind. */
static bool is_mad(uint32_t i, uint16_t attr, struct wf_cm_msg *m)
{
    const struct wft_seen *f = &wft_probe(s.f, 0)->seen[i];

    return f->len >= 62 + WF_MAD_LEN && f->bytes[42] == (WF_SERVICE_UD | WF_OP_SEND_ONLY) &&
           !wf_cm_msg_get(f->bytes + 62, WF_MAD_LEN, m) && m->mad.attr_id == attr;
}

/* How many came; m: the last of them. */
static uint32_t count(uint16_t attr, struct wf_cm_msg *m)
{
    struct wf_cm_msg any;
    uint32_t n = 0;

    for (uint32_t i = 0; i < wft_probe(s.f, 0)->n_seen; i++)
        if (is_mad(i, attr, &any)) {
            *m = any;
            n++;
        }
    return n;
}

static struct wf_cm_msg request(uint32_t id, uint8_t retries, const struct wf_offer *offer)
{
    struct wf_cm_msg m;

    wf_cm_msg_init(&m, WF_CM_REQ, 0x1234);
    m.req = (struct wf_cm_req){.local_comm_id = id,
                               .service_id = WF_CM_SERVICE_TCP + PORT,
                               .local_ca_guid = 0x77,
                               .local_qpn = ASKER_QPN + id,
                               .starting_psn = 50,
                               .local_timeout = 14, /* 67 ms */
                               .remote_timeout = 14,
                               .pkey = 0xffff,
                               .path_mtu = 3,
                               .max_cm_retries = retries};
    if (offer)
        wf_offer_put(m.private_data + WF_CM_IP_LEN, offer);
    return m;
}

/* --- what is no MAD for it -------------------------------------------------------------------- */

static void partitions_and_versions(void **state)
{
    struct wf_cm_msg m = request(1, 3, NULL), rep;
    struct wf_bth bth = GSI;

    (void)state;
    bth.pkey = 0x8001; /* another partition */
    send_mad(&m, bth);
    assert_int_equal(drops()[WF_DROP_BAD_PKEY], 1);
    bth = GSI;
    bth.tver = 1;
    send_mad(&m, bth);
    assert_int_equal(drops()[WF_DROP_MALFORMED], 1);
    assert_int_equal(endpoint(WF_ENDPOINT_CM_RX), 0);
    bth = GSI;
    bth.pkey = 0x7fff; /* a limited member of ours: the other is a full one */
    send_mad(&m, bth);
    assert_int_equal(endpoint(WF_ENDPOINT_CM_RX), 1);
    assert_int_equal(count(WF_CM_REP, &rep), 1);
}

static void datagram_services(void **state)
{
    struct wf_cm_msg m, rep;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        wf_cm_msg_init(&m, WF_CM_SIDR_REQ, 0x55 + i);
        m.sidr_req = (struct wf_cm_sidr_req){0x9000 + i, 0xffff, WF_CM_SERVICE_UDP + PORT + i};
        send_mad(&m, GSI);
        assert_int_equal(count(WF_CM_SIDR_REP, &rep), i + 1);
        assert_int_equal(rep.mad.tid, 0x55 + i);
        assert_int_equal(rep.sidr_rep.request_id, 0x9000 + i);
        assert_int_equal(rep.sidr_rep.service_id, m.sidr_req.service_id);
        assert_int_equal(rep.sidr_rep.status, i); /* 1: service ID not supported */
        assert_int_equal(rep.sidr_rep.qkey, i ? 0 : 0x01234567);
    }
}

/* What says that it comes from another that echoes would go round for ever. */
static void echoes_come_to_an_end(void **state)
{
    struct wf_ext_hdrs ext = {.deth = {.qkey = 0x01234567, .sqpn = 0x123}};
    struct wft_probe *h = wft_probe(s.f, 0);
    struct wf_cm_msg m, rep;
    uint32_t n;

    (void)state;
    wf_cm_msg_init(&m, WF_CM_SIDR_REQ, 1);
    m.sidr_req = (struct wf_cm_sidr_req){1, 0xffff, WF_CM_SERVICE_UDP + PORT};
    send_mad(&m, GSI);
    assert_int_equal(count(WF_CM_SIDR_REP, &rep), 1);
    n = h->n_seen;
    for (s.ttl = 5; s.ttl; s.ttl--) {
        struct wf_bth bth = bth_of(WF_SERVICE_UD | WF_OP_SEND_ONLY, rep.sidr_rep.qpn, s.ttl);

        bth.ackreq = false;
        send(bth, &ext, "hello", 5);
        n += s.ttl > 1;
        assert_int_equal(h->n_seen, n);
        assert_int_equal(h->seen[n - 1].bytes[22], s.ttl > 1 ? s.ttl - 1 : 1);
    }
}

/* --- how often a REP is sent again ------------------------------------------------------------ */

/* As often as the REQ allows (IBA 12.7.27), 67 ms apart; then it is over. */
static void replies_are_sent_again_as_often_as_was_asked(void **state)
{
    struct wf_cm_msg m = request(1, 3, NULL), rep;

    (void)state;
    send_mad(&m, GSI);
    assert_int_equal(count(WF_CM_REP, &rep), 1);
    run_for(3 * wf_cm_wait_ps(14) + WF_PS_PER_US * 1000);
    assert_int_equal(count(WF_CM_REP, &rep), 4);
    assert_int_equal(count(WF_CM_REJ, &rep), 0);
    run_for(20 * wf_cm_wait_ps(14));
    assert_int_equal(count(WF_CM_REP, &rep), 4);
    assert_int_equal(count(WF_CM_REJ, &rep), 1);
    assert_int_equal(rep.rej.reason, WF_CM_REJ_TIMEOUT);
}

/* --- traffic in the place of an RTU ----------------------------------------------------------- */

static void a_write_of_nothing_is_traffic_too(void **state)
{
    struct wf_cm_msg m = request(1, 15, NULL), rep;
    struct wf_ext_hdrs none = {0};

    (void)state;
    send_mad(&m, GSI);
    assert_int_equal(count(WF_CM_REP, &rep), 1);
    send(bth_of(WF_SERVICE_RC | WF_OP_WRITE_ONLY, rep.rep.local_qpn, rep.rep.starting_psn + 5),
         &none, NULL, 0); /* not what is expected: nobody's first */
    assert_int_equal(endpoint(WF_ENDPOINT_CM_CONNECTED), 0);
    send(bth_of(WF_SERVICE_RC | WF_OP_WRITE_ONLY, rep.rep.local_qpn, rep.rep.starting_psn), &none,
         NULL, 0);
    assert_int_equal(endpoint(WF_ENDPOINT_CM_CONNECTED), 1);
    assert_int_equal(endpoint(WF_ENDPOINT_RX_MSGS), 1);
    run_for(40 * wf_cm_wait_ps(14));
    assert_int_equal(count(WF_CM_REP, &rep), 1);
}

/* --- strangers who only ask ------------------------------------------------------------------- */

/* What a REQ and the end of its connection cost does not grow with the memory: one page is filled
 * and compared, the one that is written; the others are as they were before anybody came. */
static void a_request_costs_no_memory(void **state)
{
    static const struct wf_offer all = {.pattern = 9, .len = UINT32_MAX};
    static uint8_t nine[256], page[4096];
    struct wf_ext_hdrs reth = {0};
    struct wf_cm_msg m, rep;
    struct wf_host *h = (struct wf_host *)wf_fabric_host(s.f, 1);
    const struct wf_peer_qp *p = &h->endpoint->listeners[0];

    (void)state;
    wf_pattern_fill(nine, 9, 8192, sizeof(nine));
    for (uint32_t i = 1; i <= 2; i++) { /* the second finds nothing of the first */
        m = request(i, 15, &all);
        send_mad(&m, GSI);
        assert_int_equal(count(WF_CM_REP, &rep), i);
        reth.reth = (struct wf_reth){p->va + 8192, p->rkey, sizeof(nine)};
        if (i == 1)
            send(bth_of(WF_SERVICE_RC | WF_OP_WRITE_ONLY, rep.rep.local_qpn, rep.rep.starting_psn),
                 &reth, nine, sizeof(nine));
        wf_cm_msg_init(&m, WF_CM_DREQ, 0x1235);
        m.dreq = (struct wf_cm_dreq){i, rep.rep.local_comm_id, rep.rep.local_qpn};
        send_mad(&m, GSI);
        assert_int_equal(endpoint(WF_ENDPOINT_CM_DISCONNECTED), i);
        assert_int_equal(endpoint(WF_ENDPOINT_RIGHT_BYTES) + endpoint(WF_ENDPOINT_WRONG_BYTES),
                         i * p->mem_len);
        assert_in_range(endpoint(WF_ENDPOINT_RIGHT_BYTES), sizeof(nine), sizeof(nine) + 64);
        run_for(WF_PS_PER_S); /* TimeWait */
    }
    for (uint64_t off = 0; off < p->mem_len; off += sizeof(page)) {
        wf_pattern_fill(page, off == 8192 ? 1 : 0, off, sizeof(page));
        if (off == 8192)
            memcpy(page, nine, sizeof(nine));
        assert_memory_equal(p->mem + off, page, sizeof(page));
    }
}

/* What is read of a page that an earlier connection wrote is what a new one is to find. */
static void a_new_connection_finds_the_pattern(void **state)
{
    struct wf_ext_hdrs reth = {0};
    struct wf_cm_msg m, rep;
    struct wf_host *h = (struct wf_host *)wf_fabric_host(s.f, 1);
    const struct wf_peer_qp *p = &h->endpoint->listeners[0];
    static const uint8_t x[300] = {1, 2, 3};
    const struct wft_seen *f;
    uint8_t want[300];

    (void)state;
    for (uint32_t i = 1; i <= 2; i++) {
        m = request(i, 15, NULL);
        send_mad(&m, GSI);
        assert_int_equal(count(WF_CM_REP, &rep), i);
        reth.reth = (struct wf_reth){p->va + 4000, p->rkey, sizeof(x)}; /* over two pages */
        send(bth_of(WF_SERVICE_RC | (i == 1 ? WF_OP_WRITE_ONLY : WF_OP_READ_REQUEST),
                    rep.rep.local_qpn, rep.rep.starting_psn),
             &reth, x, i == 1 ? sizeof(x) : 0);
        if (i == 1)
            assert_memory_equal(p->mem + 4000, x, sizeof(x));
        f = &wft_probe(s.f, 0)->seen[wft_probe(s.f, 0)->n_seen - 1];
        wf_cm_msg_init(&m, WF_CM_DREQ, 0x1235);
        m.dreq = (struct wf_cm_dreq){i, rep.rep.local_comm_id, rep.rep.local_qpn};
        if (i == 2)
            break;
        send_mad(&m, GSI);
        run_for(WF_PS_PER_S);
    }
    wf_pattern_fill(want, 1, 4000, sizeof(want));
    assert_int_equal(f->bytes[42], WF_SERVICE_RC | WF_OP_READ_RESPONSE_ONLY);
    assert_int_equal(f->len, 42 + WF_BTH_LEN + 4 + sizeof(want) + 4);
    assert_memory_equal(f->bytes + 42 + WF_BTH_LEN + 4, want, 64); /* the probe keeps no more */
    assert_memory_equal(p->mem + 4000, want, sizeof(want));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(partitions_and_versions, setup, teardown),
        cmocka_unit_test_setup_teardown(datagram_services, setup, teardown),
        cmocka_unit_test_setup_teardown(echoes_come_to_an_end, setup_echo, teardown),
        cmocka_unit_test_setup_teardown(replies_are_sent_again_as_often_as_was_asked, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_write_of_nothing_is_traffic_too, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_costs_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_connection_finds_the_pattern, setup, teardown),
    };

    wft_eal(64);
    return cmocka_run_group_tests_name("host/gsi", tests, NULL, NULL);
}
