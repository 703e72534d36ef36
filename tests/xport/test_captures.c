/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests read from captures: our responder answers them as the captures' responders did.
 */
#include "pair.h"

#include "../wire/hex.h"
#include "wire/parse.h"

/* Feed the RoCE requests of one connection of a capture to b; its answers to the same connection,
 * as 4 bytes of PSN and AETH each, stand in the capture too. */
struct answers {
    uint32_t n;
    uint8_t aeth[64][8];
};

static void note(struct answers *s, const uint8_t *bth)
{
    assert_true(s->n < 64);
    wf_st32(s->aeth[s->n], wf_ld24(bth + 9));
    memcpy(s->aeth[s->n++] + 4, bth + 12, 4);
}

/* The shipped capture: WRITE over the wrap and its ACK, then a packet beyond a gap and its NAK. */
static void test_against_shipped_capture(void **state)
{
    struct answers ours = {0}, theirs = {0};
    struct wf_qp_cfg cfg = end_cfg(0xfffffe, 1024, 1 << 20);
    char path[4096], err[PCAP_ERRBUF_SIZE];
    const char *src = getenv("WEFT_SOURCE");
    struct pcap_pkthdr *h;
    const uint8_t *data;
    pcap_t *pc;

    snprintf(path, sizeof(path), "%s/captures/rocev2-vlan-ecn-cnp.pcap", src ? src : ".");
    pc = pcap_open_offline(path, err);
    if (!pc)
        fail_msg("%s", err);
    end_init(&b, &cfg);
    b.mr.base = NULL;
    b.mr.va = 0;
    b.mr.len = UINT64_MAX;
    while (pcap_next_ex(pc, &h, &data) == 1) {
        struct wf_parsed p;
        struct frame f = {0};

        if (wf_parse(data, h->caplen, h->len, &p) || !(p.flags & WF_P_BTH))
            continue;
        if (p.opcode == 0x11 && WF_AETH_KIND(p.aeth_syndrome) != 1)
            note(&theirs, data + p.bth_off); /* all but the RNR NAK */
        if (p.dqpn != 0x11)
            continue;
        f.hdr_len = (uint32_t)(p.payload_off - p.bth_off);
        memcpy(f.hdr, data + p.bth_off, f.hdr_len);
        f.payload_len = p.payload_len;
        if (p.opcode == 0x06)
            b.mr.rkey = wf_ld32(f.hdr + 20);
        deliver(&b, &f, 0);
        if (pull(&b, 0, &f))
            note(&ours, f.hdr);
    }
    pcap_close(pc);
    assert_int_equal(theirs.n, 2);
    assert_int_equal(ours.n, theirs.n);
    assert_memory_equal(ours.aeth, theirs.aeth, 8 * ours.n);
    assert_int_equal(b.qp.resp.bytes, 3072);
}

/*
 * A real soft-RoCE capture holds SENDs in two packets each. With their PSNs and AckReq bits, as
 * WRITEs, our responder must answer as the real one did: the same PSNs and MSNs in the same order
 * (credits, which we don't count, aside). The last three packets are left out: a shorter message,
 * of which the real one acknowledged a packet that did not ask, and one of another kind.
 */
static void test_against_real_capture(void **state)
{
    struct answers ours = {0}, theirs = {0};
    struct wf_qp_cfg cfg = end_cfg(0, 1024, 1 << 20);
    struct pcap_pkthdr *h;
    const uint8_t *data;
    pcap_t *pc = capture_open("roce-softroce.pcap");

    if (!pc)
        skip();
    end_init(&b, &cfg);
    while (pcap_next_ex(pc, &h, &data) == 1) {
        static const uint8_t turned[] = {[0] = 0x06, [3] = 0x08};
        struct wf_parsed p;
        struct frame f = {0};

        if (wf_parse(data, h->caplen, h->len, &p) || !(p.flags & WF_P_BTH))
            continue;
        if (p.psn >= 64)
            continue;
        if (p.dqpn == 0x48 && p.opcode == 0x11)
            note(&theirs, data + p.bth_off);
        if (p.dqpn != 0x45 || (p.opcode != 0 && p.opcode != 3))
            continue;
        memcpy(f.hdr, data + p.bth_off, 12);
        f.hdr[0] = turned[p.opcode];
        f.hdr_len = 12;
        if (p.opcode == 0) { /* 1,024 bytes here and as many in the Last */
            wf_st64(f.hdr + 12, MEM_VA);
            wf_st32(f.hdr + 20, MEM_RKEY);
            wf_st32(f.hdr + 24, 2048);
            f.hdr_len = 28;
        }
        f.payload_len = 1024;
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
        if (pull(&b, 0, &f))
            note(&ours, f.hdr);
    }
    pcap_close(pc);
    assert_int_equal(theirs.n, 33);
    assert_int_equal(ours.n, theirs.n);
    for (uint32_t i = 0; i < ours.n; i++)
        theirs.aeth[i][4] = 0x1f;
    assert_memory_equal(ours.aeth, theirs.aeth, 8 * ours.n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_shipped_capture),
        cmocka_unit_test(test_against_real_capture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
