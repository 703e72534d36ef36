/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP agents at the ports of a fabric between probe hosts: when they send and what, whom they know
 * and until when, what they make of any peer, and that listening changes nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "eth/pfc.h"
#include "support.h"
#include "wire/dcbx.h"
#include "wire/eth.h"
#include "wire/pfc.h"

#define S  WF_PS_PER_S
#define MS WF_PS_PER_MS

static struct wf_arena arena;
static struct wf_desc desc;

static struct wf_desc *leaf_spine(uint32_t leaves, uint32_t spines, uint32_t hosts)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = 1000 * S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, leaves, spines, hosts);
    wf_desc_address(&desc, &arena);
    for (uint32_t i = 0; i < desc.n_switches; i++) {
        struct wf_switch_port_cfg *c = &desc.switches[i].cfg.port;

        c->lldp.enable = c->dcbx.enable = true;
        c->pg[3].lossless = true;
    }
    return &desc;
}

/* An LLDPDU of a station, to be finished and sent. */
static struct wf_wr station(uint8_t f[512], uint8_t id, uint16_t ttl_s)
{
    struct wf_eth eth = {.src = {2, 0, 0, 0, 0, id}, .ethertype = WF_ETHERTYPE_LLDP};
    struct wf_wr w = wf_wr_init(f, 512);

    memcpy(eth.dst, wf_lldp_dst, 6);
    wf_eth_put(&w, &eth);
    wf_lldp_put_id(&w, WF_LLDP_CHASSIS, WF_LLDP_CHASSIS_MAC, eth.src, 6);
    wf_lldp_put_id(&w, WF_LLDP_PORT, WF_LLDP_PORT_NAME, "eth0", 4);
    wf_lldp_put_ttl(&w, ttl_s);
    return w;
}

/* From host 0; runs until the leaf has it. Returns when it had. */
static uint64_t say(struct wf_fabric *f, struct wf_wr *w)
{
    uint32_t len = (uint32_t)wf_wr_len(w);

    assert_false(w->err);
    wft_send(f, 0, wf_fabric_now_ps(f), 0, w->start, len, len);
    wft_run(f, wf_fabric_now_ps(f) + 2 * WF_PS_PER_US);
    return wf_fabric_now_ps(f);
}

static void hello(struct wf_fabric *f, uint8_t id, uint16_t ttl_s)
{
    uint8_t buf[512];
    struct wf_wr w = station(buf, id, ttl_s);

    wf_lldp_put_end(&w);
    say(f, &w);
}

static unsigned neighbours(const struct wf_lldp_agent *a)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WF_LLDP_NEIGHBOURS; i++)
        n += a->neighbours[i].used;
    return n;
}

/* Frames of a probe that are LLDP, and when their last bits came. */
static unsigned heard(struct wf_fabric *f, uint32_t host, uint64_t *at, unsigned max)
{
    const struct wft_probe *p = wft_probe(f, host);
    unsigned n = 0;

    for (uint32_t i = 0; i < p->n_seen; i++)
        if (p->seen[i].p.flags & WF_P_LLDP && n < max)
            at[n++] = p->seen[i].t_ps;
    return n;
}

static void frames_leave_at_the_interval_and_say_who(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 2));
    const struct wf_lldp_agent *a = &f->lldp.agents[0];
    uint8_t frame[WF_LLDP_FRAME_MAX];
    uint32_t len = wf_lldp_frame(a, frame);
    uint64_t at[8], wire;
    struct wf_lldp_pdu h;
    struct wf_dcbx d;
    struct wf_rd pdu;

    (void)state;
    wft_run(f, 61 * S);
    assert_int_equal(f->lldp.n, 2);
    assert_int_equal(heard(f, 0, at, 8), 3);
    wire = (len + 4 + 8) * 80 + f->links[0].cfg.delay_ps;
    assert_int_equal(at[0], wire);
    assert_int_equal(at[1], 30 * S + wire);
    assert_int_equal(at[2], 60 * S + wire);
    assert_int_equal(heard(f, 1, at, 8), 3); /* the next agent follows a millisecond later */
    assert_int_equal(at[0], MS + wire);
    assert_int_equal(wft_probe(f, 0)->seen[0].len, len);
    assert_memory_equal(wft_probe(f, 0)->seen[0].bytes, frame,
                        len < WF_HDR_ROOM ? len : WF_HDR_ROOM);
    pdu = wf_rd_init(frame + WF_ETH_LEN, len - WF_ETH_LEN);
    assert_int_equal(wf_lldp_get(pdu, &h), 0);
    assert_int_equal(h.ttl_s, 121);
    assert_memory_equal(h.port.p, "leaf0:p0", 8);
    assert_memory_equal(h.system_name.p, "leaf0", 5);
    assert_memory_equal(h.chassis.p, f->nodes[0]->mac, 6);
    wf_dcbx_get(pdu, &d);
    assert_int_equal(d.flags, WF_DCBX_IEEE);
    assert_memory_equal(&d.cfg, &a->own.cfg, sizeof(d.cfg));
    assert_int_equal(d.pfc.enable, 8);
    wft_check(f);
    wf_fabric_free(f);
}

/* Four a second apart for a new neighbour, none for one that is known. */
static void a_new_neighbour_is_greeted(void **state)
{
    struct wf_fabric *f;
    uint64_t at[16];

    (void)state;
    leaf_spine(1, 0, 1);
    f = wft_build(&desc);
    wft_run(f, 10 * S);
    hello(f, 9, 120);
    wft_run(f, 20 * S);
    assert_int_equal(heard(f, 0, at, 16), 1 + 4);
    for (unsigned i = 2; i < 5; i++)
        assert_int_equal(at[i] - at[i - 1], S);
    assert_true(at[1] > 11 * S && at[1] < 11 * S + 10 * WF_PS_PER_US);
    hello(f, 9, 120);
    wft_run(f, 43 * S);
    assert_int_equal(heard(f, 0, at, 16), 5);
    wft_run(f, 45 * S); /* 30 s after the last fast one */
    assert_int_equal(heard(f, 0, at, 16), 6);
    wft_check(f);
    wf_fabric_free(f);
}

static void neighbours_age(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 1));
    struct wf_lldp_agent *a = &f->lldp.agents[0];
    uint64_t heard_ps;

    (void)state;
    hello(f, 1, 5);
    hello(f, 2, 7);
    assert_int_equal(neighbours(a), 2);
    heard_ps = a->neighbours[0].heard_ps;
    wft_run(f, heard_ps + 5 * S); /* all before, not at it */
    assert_int_equal(neighbours(a), 2);
    wft_run(f, heard_ps + 5 * S + 1);
    assert_int_equal(neighbours(a), 1);
    assert_int_equal(a->stats.ageouts, 1);
    hello(f, 2, 7); /* again: it lives on */
    wft_run(f, 9 * S);
    assert_int_equal(neighbours(a), 1);
    assert_int_equal(a->neighbours[1].frames, 2);
    hello(f, 2, 0); /* it leaves */
    assert_int_equal(neighbours(a), 0);
    hello(f, 3, 0); /* who was never there can't */
    assert_int_equal(neighbours(a), 0);
    assert_int_equal(a->stats.ageouts, 1);
    for (uint8_t id = 10; id < 10 + WF_LLDP_NEIGHBOURS + 2; id++)
        hello(f, id, 100);
    assert_int_equal(neighbours(a), WF_LLDP_NEIGHBOURS);
    assert_int_equal(a->stats.no_room_frames, 2);
    wft_check(f);
    wf_fabric_free(f);
}

/* A link that goes down takes the neighbours along; when it is back we speak at once. */
static void a_link_that_flaps_starts_anew(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 1));
    struct wf_lldp_agent *a = &f->lldp.agents[0];
    uint64_t at[16];

    (void)state;
    hello(f, 1, 100);
    wft_run(f, 10 * S);
    wf_fabric_link_set(f, &f->links[0], false);
    assert_int_equal(neighbours(a), 0);
    wft_run(f, 20 * S);
    assert_int_equal(heard(f, 0, at, 16), 5);
    wf_fabric_link_set(f, &f->links[0], true);
    wft_run(f, 21 * S);
    assert_int_equal(heard(f, 0, at, 16), 6);
    assert_true(at[5] >= 20 * S && at[5] < 20 * S + 10 * WF_PS_PER_US);
    wft_check(f);
    wf_fabric_free(f);
}

static uint64_t dropped_as_reserved(struct wf_fabric *f)
{
    return f->nodes[0]->ports[0].drops[WF_DROP_RESERVED_MAC];
}

/* What is not LLDP for the nearest bridge ends as before, and all of it where no agent is. */
static void other_reserved_frames_are_no_concern(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 2));
    uint8_t buf[512];
    struct wf_wr w = station(buf, 1, 100);

    (void)state;
    buf[5] = 0x03; /* nearest non-TPMR bridge */
    say(f, &w);
    buf[5] = 0x0e;
    wf_st16(buf + 12, 0x88b5);
    say(f, &w);
    assert_int_equal(dropped_as_reserved(f), 2);
    assert_int_equal(f->lldp.agents[0].stats.rx_frames, 0);
    wf_st16(buf + 12, WF_ETHERTYPE_LLDP);
    say(f, &w);
    assert_int_equal(dropped_as_reserved(f), 2);
    assert_int_equal(wft_probe(f, 1)->n_seen, 0); /* a bridge never forwards them */
    wft_check(f);
    wf_fabric_free(f);
    leaf_spine(1, 0, 2);
    desc.switches[0].cfg.port.lldp.enable = false;
    f = wft_build(&desc);
    assert_int_equal(f->lldp.n, 0);
    say(f, &w);
    assert_int_equal(dropped_as_reserved(f), 1);
    wft_run(f, 100 * S);
    assert_int_equal(wft_next_ps(f), WF_TIME_NEVER); /* off: nothing is ever scheduled */
    wf_fabric_free(f);
}

static void put_pfc(struct wf_wr *w, bool willing, uint8_t enable)
{
    wf_dcbx_put_pfc(w, &(struct wf_dcb_pfc){.willing = willing, .cap = 8, .enable = enable});
}

static void put_cee(struct wf_wr *w)
{
    wf_lldp_put_org(w, WF_OUI_DCBX, WF_DCBX_CEE, 8);
    wf_lldp_tlv_put(w, &(struct wf_lldp_tlv){WF_CEE_PFC, 6});
    wf_cee_hdr_put(w, &(struct wf_cee_hdr){.enable = 1, .willing = 1});
    wf_cee_pfc_put(w, &(struct wf_cee_pfc){0x30, 8});
}

/* What a peer may be, one after the other on the same port. */
static const struct {
    enum wf_dcbx_peer is;
    bool willing_cfg, fixed, cee, twice, broken;
    int received; /* PFC priorities as received, -1: none */
} peers[] = {
    {.is = WF_DCBX_SILENT, .received = -1},
    {.is = WF_DCBX_IEEE_WILLING, .willing_cfg = true, .received = 0x10},
    {.is = WF_DCBX_IEEE_FIXED, .fixed = true, .received = 0x18},
    {.is = WF_DCBX_CEE_ONLY, .cee = true, .received = 0x30},
    {.is = WF_DCBX_BOTH, .fixed = true, .cee = true, .received = 0x18},
    {.is = WF_DCBX_BROKEN, .fixed = true, .twice = true, .received = 0x18},
    {.is = WF_DCBX_BROKEN, .broken = true, .received = 0x18}, /* what was good before stays */
    {.is = WF_DCBX_IEEE_FIXED, .fixed = true, .received = 0x18},
    {.is = WF_DCBX_SILENT, .received = -1},
};

static void be(struct wf_fabric *f, size_t i)
{
    uint8_t buf[512];
    struct wf_wr w = station(buf, 9, 100);

    if (peers[i].willing_cfg)
        put_pfc(&w, true, 0x10);
    if (peers[i].fixed)
        put_pfc(&w, false, 0x18);
    if (peers[i].twice)
        put_pfc(&w, false, 0xff);
    if (peers[i].cee)
        put_cee(&w);
    if (peers[i].broken)
        wf_lldp_tlv_put(&w, &(struct wf_lldp_tlv){WF_LLDP_ORG, 300});
    else
        wf_lldp_put_end(&w);
    say(f, &w);
}

static void all_peer_states(bool willing)
{
    struct wf_fabric *f;
    const struct wf_lldp_agent *a;
    const struct wf_switch *sw;
    struct wf_switch_port_cfg before;
    struct wf_dcbx_oper o;

    leaf_spine(1, 0, 1);
    desc.switches[0].cfg.port.dcbx.pfc_willing = willing;
    f = wft_build(&desc);
    sw = (const struct wf_switch *)f->nodes[0];
    a = &f->lldp.agents[0];
    before = *wf_switch_class(sw, &sw->node.ports[0])->cfg;
    for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
        const struct wf_lldp_neighbour *n;
        uint8_t got = 0;
        bool yields;

        be(f, i);
        n = wf_lldp_dcbx_peer(a);
        assert_int_equal(wf_lldp_peer_state(a, wf_fabric_now_ps(f)), peers[i].is);
        assert_int_equal(!!wf_lldp_peer_error(a, wf_fabric_now_ps(f)),
                         peers[i].is == WF_DCBX_BROKEN);
        assert_int_equal(n && wf_dcbx_pfc_of(&n->dcbx, &got), peers[i].received >= 0);
        if (peers[i].received >= 0)
            assert_int_equal(got, peers[i].received);
        wf_lldp_oper(a, &o);
        /* 02:00:00:00:00:09 is lower than any switch's: a willing peer keeps its own, too */
        yields = willing && n && n->dcbx.flags & WF_DCBX_HAS_PFC;
        assert_int_equal(o.pfc_of_peer, yields);
        assert_int_equal(o.pfc.enable, yields ? peers[i].received : 8);
    }
    assert_memory_equal(&before, wf_switch_class(sw, &sw->node.ports[0])->cfg, sizeof(before));
    assert_int_equal(sw->node.ports[0].downs, 0);
    assert_int_equal(sw->node.ports[0].ctr[WF_PORT_LINK_DOWN_EVENTS], 0);
    assert_int_equal(wf_pfc_of(&sw->node.ports[0])->xoff_sent, 0);
    assert_int_equal(wft_probe(f, 0)->n_control, 0);
    wft_check(f);
    wf_fabric_free(f);
}

/* Each state is what was seen, config is taken only where it is to be, and no port flaps. */
static void fc_O15(void **state)
{
    (void)state;
    all_peer_states(false);
    all_peer_states(true);
}

/* Two that speak DCBX on a link: neither is the peer. A malformed one is forgotten in time. */
static void several_speakers_are_nobodys_peer(void **state)
{
    struct wf_fabric *f;
    struct wf_lldp_agent *a;
    struct wf_dcbx_oper o;
    uint8_t buf[512];
    struct wf_wr w;

    (void)state;
    leaf_spine(1, 0, 1);
    desc.switches[0].cfg.port.dcbx.pfc_willing = true;
    f = wft_build(&desc);
    a = &f->lldp.agents[0];
    for (uint8_t id = 1; id <= 2; id++) {
        w = station(buf, id, id == 1 ? 50 : 100);
        put_pfc(&w, false, 0x18);
        wf_lldp_put_end(&w);
        say(f, &w);
        wf_lldp_oper(a, &o);
        assert_int_equal(o.pfc.enable, id == 1 ? 0x18 : 8);
        assert_int_equal(wf_lldp_dcbx_speakers(a), id);
    }
    wft_run(f, 60 * S); /* one has aged */
    wf_lldp_oper(a, &o);
    assert_int_equal(o.pfc.enable, 0x18);
    w = station(buf, 2, 100);
    wf_lldp_tlv_put(&w, &(struct wf_lldp_tlv){WF_LLDP_ORG, 300});
    say(f, &w);
    assert_int_equal(wf_lldp_peer_state(a, wf_fabric_now_ps(f)), WF_DCBX_BROKEN);
    wft_run(f, 200 * S);
    assert_int_equal(wf_lldp_peer_state(a, wf_fabric_now_ps(f)), WF_DCBX_SILENT);
    wf_fabric_free(f);
}

/* Any bytes may come in an LLDP frame. */
static void hostile_frames_do_no_harm(void **state)
{
    struct wf_fabric *f = wft_build(leaf_spine(1, 0, 1));
    struct wf_prng p;
    uint8_t buf[512];

    (void)state;
    wf_prng_init(&p, 1, "lldp");
    for (int i = 0; i < 3000; i++) {
        struct wf_wr w = station(buf, (uint8_t)(i % 7), (uint16_t)(i % 3 * 40));
        uint32_t len;

        put_pfc(&w, true, 1);
        put_cee(&w);
        wf_lldp_put_end(&w);
        len = (uint32_t)wf_wr_len(&w);
        for (int k = 0; k < 3; k++)
            buf[14 + wf_prng_below(&p, len - 14)] = (uint8_t)wf_prng_u64(&p);
        wft_send(f, 0, wf_fabric_now_ps(f), 0, buf, 14 + (uint32_t)wf_prng_below(&p, len - 13),
                 len);
        wft_run(f, wf_fabric_now_ps(f) + 30 * MS);
    }
    assert_int_equal(f->lldp.agents[0].stats.rx_frames, 3000);
    assert_true(f->lldp.agents[0].stats.rx_error_frames > 300);
    wft_check(f);
    wf_fabric_free(f);
}

/* A PFC frame of the host's that pauses a priority. */
static void pause(struct wf_fabric *f, unsigned prio)
{
    uint16_t quanta[8] = {0};
    uint8_t buf[60];

    quanta[prio] = 1000;
    wf_pfc_build(buf, (const uint8_t[6]){2, 0, 0, 0, 0, 9}, (uint8_t)(1u << prio), quanta);
    wft_send(f, 0, wf_fabric_now_ps(f), 0, buf, sizeof(buf), sizeof(buf));
    wft_run(f, wf_fabric_now_ps(f) + 2 * WF_PS_PER_US);
}

/* The willing port has no PFC where its peer has none, and serves queues as recommended; as long as
 * the peer is there, and without a change of the link. */
static void what_is_taken_over_takes_effect(void **state)
{
    struct wf_ets_tlv rec = {.tc = {0, 0, 0, 3, 0, 0, 6, 0},
                             .bw = {20, 0, 0, 80},
                             .tsa = {WF_TSA_ETS, 0, 0, WF_TSA_ETS}};
    struct wf_fabric *f;
    struct wf_port *port;
    uint64_t *ctr;
    uint8_t buf[512];
    struct wf_wr w;

    (void)state;
    leaf_spine(1, 0, 1);
    desc.switches[0].cfg.port.dcbx.pfc_willing = desc.switches[0].cfg.port.dcbx.ets_willing = true;
    f = wft_build(&desc);
    port = &f->nodes[0]->ports[0];
    ctr = port->prio_ctr[3];
    pause(f, 3);
    assert_int_equal(ctr[WF_PRIO_XOFF_RX], 1);
    w = station(buf, 9, 5);
    put_pfc(&w, false, 1 << 4);
    wf_dcbx_put_ets(&w, WF_DCBX_ETS_REC, &rec);
    wf_lldp_put_end(&w);
    say(f, &w);
    pause(f, 3);
    assert_int_equal(ctr[WF_PRIO_XOFF_RX] + ctr[WF_PRIO_REFRESH_RX], 1);
    assert_int_equal(ctr[WF_PRIO_IGNORED_RX], 1);
    assert_int_equal(port->q[3].quantum, 4 * port->q[0].quantum);
    assert_true(port->q[6].strict && !port->q[3].strict && !port->q[0].strict);
    wf_pfc_xoff(port, 3); /* says nothing */
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 0);
    wft_run(f, 10 * S); /* the peer's time is over: back to what is configured */
    assert_true(port->ctr[WF_PORT_PFC_TX_FRAMES] > 0);
    wf_pfc_xon(port, 3);
    assert_int_equal(port->q[3].quantum, port->q[0].quantum);
    assert_false(port->q[6].strict);
    pause(f, 3);
    assert_int_equal(ctr[WF_PRIO_IGNORED_RX], 1);
    assert_int_equal(port->downs, 0);
    wft_check(f);
    wf_fabric_free(f);
}

/* Which DCBX a frame of the agent has. */
static uint32_t flags_of(const struct wf_lldp_agent *a)
{
    static struct wf_dcbx d;
    uint8_t frame[WF_LLDP_FRAME_MAX];
    uint32_t len = wf_lldp_frame(a, frame);

    wf_dcbx_get(wf_rd_init(frame + WF_ETH_LEN, len - WF_ETH_LEN), &d);
    assert_null(d.why);
    return d.flags;
}

/* One that speaks only CEE is answered in CEE, if the port may; acknowledged within a second, its
 * word goes; then the next one hears IEEE again. */
static void cee_is_spoken_when_the_peer_does(void **state)
{
    struct wf_dcbx d = {.flags = WF_DCBX_HAS_CEE_PFC | WF_DCBX_HAS_CEE_PG,
                        .cee_ctrl = {0, 0, 9, 1},
                        .cee_pg_hdr = {.enable = 1},
                        .cee_pfc_hdr = {.enable = 1},
                        .cee_pfc = {0x30, 8}};
    struct wf_lldp_agent *a;
    struct wf_dcbx_oper o;
    struct wf_fabric *f;
    uint8_t buf[512];
    struct wf_wr w;

    (void)state;
    leaf_spine(1, 0, 1);
    desc.switches[0].cfg.port.dcbx.pfc_willing = true;
    desc.switches[0].cfg.port.dcbx.version = WF_DCBX_V_AUTO;
    f = wft_build(&desc);
    a = &f->lldp.agents[0];
    assert_int_equal(flags_of(a), WF_DCBX_IEEE);
    w = station(buf, 9, 20);
    wf_dcbx_put_cee(&w, &d);
    wf_lldp_put_end(&w);
    say(f, &w);
    assert_true(a->speaks_cee);
    wft_run(f, wf_fabric_now_ps(f) + 2 * S);
    assert_true(flags_of(a) & WF_DCBX_HAS_CEE && !(flags_of(a) & WF_DCBX_IEEE));
    assert_int_equal(a->own.cee_ctrl.ack, 9);
    say(f, &w);
    wf_lldp_oper(a, &o);
    assert_true(o.cee && o.pfc_of_peer);
    assert_int_equal(o.pfc.enable, 0x30);
    wft_run(f, 60 * S);
    assert_false(a->speaks_cee);
    assert_int_equal(flags_of(a), WF_DCBX_IEEE);
    wf_lldp_oper(a, &o);
    assert_int_equal(o.pfc.enable, 8);
    wf_fabric_free(f);
}

/* Where the fabric runs slower a real neighbour's seconds are shorter than its own. */
static void seconds_are_the_neighbours(void **state)
{
    struct wf_fabric *f;
    struct wf_lldp_pdu h;
    uint8_t frame[WF_LLDP_FRAME_MAX];
    uint32_t len;

    (void)state;
    leaf_spine(1, 0, 2);
    desc.time_scale = 10;
    desc.hosts[0].cfg.attach.type = WF_ATTACH_AF_PACKET;
    f = wft_build(&desc);
    len = wf_lldp_frame(&f->lldp.agents[0], frame);
    assert_int_equal(wf_lldp_get(wf_rd_init(frame + 14, len - 14), &h), 0);
    assert_int_equal(h.ttl_s, 1201);
    len = wf_lldp_frame(&f->lldp.agents[1], frame);
    assert_int_equal(wf_lldp_get(wf_rd_init(frame + 14, len - 14), &h), 0);
    assert_int_equal(h.ttl_s, 121);
    hello(f, 1, 50);
    assert_int_equal(f->lldp.agents[0].neighbours[0].expires_ps,
                     f->lldp.agents[0].neighbours[0].heard_ps + 5 * S);
    wf_fabric_free(f);
}

static struct wf_digest run_on(uint32_t lcores)
{
    struct wf_fabric_opts opts = {.lcores = lcores};
    struct wf_fabric *f;
    struct wf_digest d;
    struct wf_err err;

    assert_int_equal(wf_fabric_build(&f, leaf_spine(2, 2, 2), &opts, &err), 0);
    assert_int_equal(f->n_lcs, lcores);
    wft_run(f, 65 * S);
    assert_int_equal(f->lldp.n, 12);
    for (uint32_t i = 0; i < f->lldp.n; i++) {
        const struct wf_lldp_agent *a = &f->lldp.agents[i];
        const struct wf_port *peer = a->port->peer;
        const struct wf_lldp_neighbour *n = &a->neighbours[0];
        bool is_switch = peer->node->ops == &wf_switch_ops;

        assert_int_equal(neighbours(a), is_switch);
        if (!is_switch)
            continue;
        assert_int_equal(n->port.len, strlen(peer->name));
        assert_memory_equal(n->port.bytes, peer->name, n->port.len);
        assert_int_equal(wf_dcbx_differences(&a->own, &n->dcbx), 0);
        assert_int_equal(wf_lldp_peer_state(a, wf_fabric_now_ps(f)), WF_DCBX_IEEE_FIXED);
    }
    wft_check(f);
    d = wf_fabric_digest(f);
    wf_fabric_free(f);
    return d;
}

static void switches_know_each_other_on_any_lcores(void **state)
{
    struct wf_digest one = run_on(1), two = run_on(2);

    (void)state;
    assert_memory_equal(&one, &two, sizeof(one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_leave_at_the_interval_and_say_who),
        cmocka_unit_test(a_new_neighbour_is_greeted),
        cmocka_unit_test(neighbours_age),
        cmocka_unit_test(a_link_that_flaps_starts_anew),
        cmocka_unit_test(other_reserved_frames_are_no_concern),
        cmocka_unit_test(fc_O15),
        cmocka_unit_test(several_speakers_are_nobodys_peer),
        cmocka_unit_test(hostile_frames_do_no_harm),
        cmocka_unit_test(what_is_taken_over_takes_effect),
        cmocka_unit_test(cee_is_spoken_when_the_peer_does),
        cmocka_unit_test(seconds_are_the_neighbours),
        cmocka_unit_test(switches_know_each_other_on_any_lcores),
    };

    wft_eal(128);
    return cmocka_run_group_tests_name("mgmt/lldp", tests, NULL, NULL);
}
