/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PFC watchdog between probe hosts: when a storm is seen and when it is over, what each action
 * does to which packets, and that every one of them is accounted for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"
#include "switch/watchdog.h"
#include "wire/edit.h"

#define US WF_PS_PER_US
#define NS WF_PS_PER_NS

/* h0 and h2 send to h1, which storms, unless a test says otherwise. Detection 40 us, restoration
 * 30 us, polls each 10 us. */
static struct wf_arena arena;
static struct wf_desc desc;
static struct wf_desc_step steps[4];

static struct wf_desc *leaf_with(int action)
{
    struct wf_switch_port_cfg *c;

    wf_arena_free(&arena);
    memset(steps, 0, sizeof(steps));
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1,
                            .steps = steps};
    wf_desc_leaf_spine(&desc, &arena, 1, 0, 3);
    wf_desc_address(&desc, &arena);
    c = &desc.switches[0].cfg.port;
    for (unsigned g = 2; g < 5; g++) {
        c->pg[g].lossless = true;
        c->pg[g].xoff_bytes = 50000;
    }
    c->watchdog = (struct wf_watchdog_cfg){action, 40 * US, 30 * US, 10 * US};
    return &desc;
}

/* PFC frames of h1 from at_ps on, n of them a microsecond apart, each for 2 us. */
static void storm(uint64_t at_ps, uint8_t vector, uint64_t n)
{
    steps[desc.n_steps++] = (struct wf_desc_step){
        .at_ps = at_ps,
        .action = WF_DO_STORM,
        .where = "h1:p0",
        .storm = {.period_ps = US, .limit = n, .quanta = 400, .vector = vector}};
}

static struct wf_port *port_of(struct wf_fabric *f, uint32_t host)
{
    return &wf_fabric_switch(f, 0)->ports[host];
}

static const uint64_t *wd(struct wf_fabric *f, uint32_t host, unsigned prio)
{
    const struct wf_switch *sw = (const struct wf_switch *)wf_fabric_switch(f, 0);

    wf_fabric_settle(f);
    return sw->watchdog[host]->prio[prio].ctr;
}

static void burst(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t prio, uint32_t n)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t hdr = wft_roce(f, from, to, (uint8_t)(prio * 8), WF_ECN_ECT0, i, 1024, buf, &len);

        wft_send(f, from, wf_fabric_now_ps(f), prio, buf, hdr, len);
    }
}

static uint32_t seen_of(struct wf_fabric *f, uint32_t host, uint8_t prio)
{
    const struct wft_probe *h = wft_probe(f, host);
    uint32_t n = 0;

    for (uint32_t i = 0; i < h->n_seen; i++)
        n += h->seen[i].p.dscp == prio * 8;
    return n;
}

/* A pause that the first frame began at 100.5 us is seen at the polls of 110, 120 ...: stuck from
 * 120 on, four polls use up 40 us, so 150 is the storm if the pause lasts so long. The last frame
 * comes at 99.5 + n us. */
static void a_storm_is_seen_and_ends_at_polls(void **state)
{
    static const struct {
        uint64_t frames;
        bool seen;
        uint64_t over_us; /* the poll that restores: three without a frame */
    } rows[] = {
        {48, false, 0}, {49, true, 180}, {50, true, 180}, {51, true, 190}, {100, true, 230}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_fabric *f;

        leaf_with(WF_WD_FORWARD);
        storm(100 * US, 1 << 3, rows[i].frames);
        f = wft_build(&desc);
        wft_run(f, 150 * US);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], 0);
        wft_run(f, 150 * US + 1);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], rows[i].seen);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], rows[i].seen);
        wft_run(f, rows[i].over_us * US);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], 0);
        wft_run(f, rows[i].over_us * US + 1);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], rows[i].seen);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], 0);
        wft_run(f, WF_TIME_NEVER); /* polls end with what they look for */
        assert_true(wf_fabric_now_ps(f) < 300 * US);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], rows[i].seen);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* Every other frame ends the pause: the peer is slow, but there is no storm. */
static void pauses_that_end_are_no_storm(void **state)
{
    struct wf_fabric *f;

    leaf_with(WF_WD_DROP);
    for (unsigned i = 0; i < 2; i++) {
        storm(100 * US + i * 500 * NS, 1 << 3, 200);
        steps[i].storm.quanta = i ? 0 : 400;
    }
    f = wft_build(&desc);
    burst(f, 0, 1, 3, 100);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], 0);
    assert_int_equal(port_of(f, 1)->prio_ctr[3][WF_PRIO_ON2OFF_RX], 200);
    assert_int_equal(seen_of(f, 1, 3), 100);
    wf_fabric_free(f);
}

/* So does a pause that lapses for an instant between two polls. */
static void a_lapse_between_polls_is_no_storm(void **state)
{
    struct wf_fabric *f;

    leaf_with(WF_WD_DROP);
    storm(100 * US, 1 << 3, 20);
    steps[0].storm.period_ps = 9 * US;
    steps[0].storm.quanta = 1757; /* 8.996 us */
    f = wft_build(&desc);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], 0);
    wf_fabric_free(f);
}

/* drop: what waits is flushed, what comes for the queue and what the stormer sends in its priority
 * is dropped, each with its reason; the other priority passes. Nobody is kept paused for it. */
static void drop_loses_the_stormed_priority_only(void **state)
{
    struct wf_fabric *f;
    struct wf_port *p;

    leaf_with(WF_WD_DROP);
    storm(1 * US, 1 << 3, 200);
    f = wft_build(&desc);
    p = port_of(f, 1);
    wft_run(f, 5 * US);
    burst(f, 0, 1, 3, 100); /* 108 kB: h0 is paused for it */
    burst(f, 0, 1, 2, 10);
    wft_run(f, 40 * US);
    assert_true(wf_pfc_of(port_of(f, 0))->xoff_sent >> 3 & 1);
    assert_int_equal(seen_of(f, 1, 2), 10);
    wft_run(f, 100 * US);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], 1);
    assert_false(wf_pfc_of(port_of(f, 0))->xoff_sent >> 3 & 1);
    burst(f, 2, 1, 3, 7);
    burst(f, 2, 1, 4, 7);
    burst(f, 1, 2, 3, 5);
    burst(f, 1, 2, 4, 5);
    wft_run(f, 150 * US);
    assert_int_equal(seen_of(f, 1, 3), 0);
    assert_int_equal(seen_of(f, 1, 4), 7);
    assert_int_equal(seen_of(f, 2, 3), 0);
    assert_int_equal(seen_of(f, 2, 4), 5);
    assert_int_equal(p->drops[WF_DROP_PFCWD_INGRESS], 5);
    assert_true(p->drops[WF_DROP_PFCWD_FLUSH] > 40);
    assert_int_equal(port_of(f, 2)->drops[WF_DROP_PFCWD_EGRESS], 7);
    assert_int_equal(port_of(f, 0)->drops[WF_DROP_PFCWD_EGRESS] + p->drops[WF_DROP_PFCWD_FLUSH],
                     100);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_TX_DROP], 107);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_TX_OK], 0);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RX_DROP], 5);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RX_OK], 0);
    wft_check(f);
    wft_run(f, 300 * US);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], 1);
    burst(f, 0, 1, 3, 20);
    burst(f, 1, 0, 3, 20);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(seen_of(f, 1, 3), 20);
    assert_int_equal(seen_of(f, 0, 3), 20);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS), 0);
    wft_check(f);
    wf_fabric_free(f);
}

/* Lossy packets that are trimmed into a queue which a storm makes drop: none gets there, and their
 * own queue goes on. */
static void drop_holds_for_trimmed_packets(void **state)
{
    struct wf_switch_cfg *c;
    struct wf_fabric *f;
    struct wf_port *p;

    leaf_with(WF_WD_DROP);
    c = &desc.switches[0].cfg;
    c->trim = (struct wf_trim_cfg){.size_bytes = 256, .dscp = 48, .queue = 3};
    c->port.queue[1].limit_bytes = 5000;
    c->port.queue[1].discard = WF_DISCARD_TRIM;
    storm(1 * US, 1 << 3, 300);
    f = wft_build(&desc);
    p = port_of(f, 1);
    wft_run(f, 100 * US);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], 1);
    burst(f, 0, 1, 1, 50);
    burst(f, 2, 1, 1, 50);
    wft_run(f, 150 * US);
    assert_true(p->ctr[WF_PORT_TRIM_FRAMES] > 20);
    assert_int_equal(p->q[3].ctr[WF_QUEUE_ENQ_FRAMES], 0);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_TX_DROP], p->ctr[WF_PORT_TRIM_FRAMES]);
    assert_int_equal(p->ctr[WF_PORT_TRIM_DROP_FRAMES], p->ctr[WF_PORT_TRIM_FRAMES]);
    assert_int_equal(port_of(f, 0)->drops[WF_DROP_PFCWD_EGRESS] +
                         port_of(f, 2)->drops[WF_DROP_PFCWD_EGRESS],
                     p->ctr[WF_PORT_TRIM_FRAMES]);
    assert_int_equal(seen_of(f, 1, 1) + p->ctr[WF_PORT_TRIM_FRAMES], 100);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(seen_of(f, 1, 6), 0); /* nothing stale comes when the storm is over */
    wft_check(f);
    wf_fabric_free(f);
}

/* What the stormer itself sent is stuck elsewhere, and fills the group at its port: from the storm
 * on nobody asks it to pause for that. */
static void drop_asks_the_stormer_for_no_pause(void **state)
{
    struct wf_fabric *f;
    struct wf_pfc_port *pfc;

    leaf_with(WF_WD_DROP);
    desc.switches[0].cfg.port.pfc.response_ps = 0;
    storm(1 * US, 1 << 3, 30); /* h2 is slow: its pauses lapse */
    steps[0].where = "h2:p0";
    steps[0].storm.period_ps = 9 * US;
    steps[0].storm.quanta = 1757;
    storm(10 * US, 1 << 3, 200);
    f = wft_build(&desc);
    pfc = wf_pfc_of(port_of(f, 1));
    wft_run(f, 5 * US);
    burst(f, 1, 2, 3, 80);
    wft_run(f, 50 * US);
    assert_true(pfc->xoff_sent >> 3 & 1);
    wft_run(f, 65 * US);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], 1);
    assert_int_equal(wd(f, 2, 3)[WF_PFCWD_STORMED], 0);
    assert_false(pfc->xoff_sent >> 3 & 1);
    assert_true(port_of(f, 2)->q[3].ctr[WF_QUEUE_BYTES] > 50000);
    wft_run(f, 100 * US);
    assert_false(pfc->xoff_sent >> 3 & 1);
    wft_check(f);
    wf_fabric_free(f);
}

/* forward: all arrives, though the storm goes on. */
static void forward_sends_in_spite_of_pfc(void **state)
{
    struct wf_fabric *f;

    leaf_with(WF_WD_FORWARD);
    storm(1 * US, 1 << 3, 400);
    f = wft_build(&desc);
    wft_run(f, 5 * US);
    burst(f, 0, 1, 3, 30);
    wft_run(f, 50 * US);
    assert_int_equal(seen_of(f, 1, 3), 0);
    wft_run(f, 100 * US);
    assert_int_equal(seen_of(f, 1, 3), 30);
    burst(f, 0, 1, 3, 30);
    burst(f, 1, 0, 3, 9);
    wft_run(f, 200 * US);
    assert_int_equal(seen_of(f, 1, 3), 60);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_TX_OK], 60);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RX_OK], 9);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_TX_DROP], 0);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], 1);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 0);
    wft_check(f);
    wf_fabric_free(f);
}

/* alert: counted, and nothing else; over at the first poll that is not stuck. */
static void alert_only_counts(void **state)
{
    struct wf_fabric *f;

    leaf_with(WF_WD_ALERT);
    storm(1 * US, 1 << 3, 195);
    f = wft_build(&desc);
    wft_run(f, 5 * US);
    burst(f, 0, 1, 3, 30);
    wft_run(f, 190 * US);
    assert_int_equal(seen_of(f, 1, 3), 0);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], 1);
    wft_run(f, 200 * US + 1);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], 1);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(seen_of(f, 1, 3), 30);
    assert_int_equal(wf_fabric_ctr(f, WF_FABRIC_DROPPED), 0);
    wf_fabric_free(f);
}

/* Two priorities, and all of them: those with lossless groups are watched, the others are paused
 * and nothing more. */
static void several_priorities_at_once(void **state)
{
    static const uint8_t vectors[] = {1 << 3 | 1 << 4, 0xff};

    for (unsigned i = 0; i < 2; i++) {
        struct wf_fabric *f;

        leaf_with(WF_WD_DROP);
        storm(1 * US, vectors[i], 200);
        f = wft_build(&desc);
        wft_run(f, 100 * US);
        for (uint8_t p = 0; p < 8; p++)
            burst(f, 0, 1, p, 3);
        wft_run(f, 190 * US);
        for (uint8_t p = 0; p < 8; p++) {
            bool paused = vectors[i] >> p & 1, watched = p >= 2 && p < 5;

            assert_int_equal(wd(f, 1, p)[WF_PFCWD_DETECTED], paused && watched);
            assert_int_equal(wd(f, 1, p)[WF_PFCWD_TX_DROP], paused && watched ? 3 : 0);
            assert_int_equal(seen_of(f, 1, p), paused ? 0 : 3);
        }
        wft_run(f, WF_TIME_NEVER);
        for (uint8_t p = 0; p < 8; p++)
            assert_int_equal(seen_of(f, 1, p), vectors[i] >> p & 1 && p >= 2 && p < 5 ? 0 : 3);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* Storms that come and go: two are seen, the one between is too short. */
static void storms_that_flap(void **state)
{
    struct wf_fabric *f;

    leaf_with(WF_WD_DROP);
    storm(1 * US, 1 << 3, 100);
    storm(201 * US, 1 << 3, 30);
    storm(301 * US, 1 << 3, 100);
    f = wft_build(&desc);
    wft_run(f, 80 * US);
    burst(f, 0, 1, 3, 4);
    wft_run(f, 380 * US);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], 2);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], 1);
    burst(f, 0, 1, 3, 6);
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], 2);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_TX_DROP], 10);
    assert_int_equal(wd(f, 1, 3)[WF_PFCWD_TX_DROP_LAST], 6);
    wft_check(f);
    wf_fabric_free(f);
}

/* A link that flaps ends a pause: detection begins anew. In a storm, it changes nothing. */
static void storms_that_meet_a_link_flap(void **state)
{
    for (unsigned during = 0; during < 2; during++) {
        struct wf_fabric *f;

        leaf_with(WF_WD_DROP);
        storm(1 * US, 1 << 3, 200);
        f = wft_build(&desc);
        wft_run(f, (during ? 70 : 35) * US);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], during);
        wf_fabric_link_set(f, port_of(f, 1)->link, false);
        wft_run(f, (during ? 72 : 37) * US);
        wf_fabric_link_set(f, port_of(f, 1)->link, true);
        wft_run(f, 80 * US);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_STORMED], during);
        wft_run(f, 90 * US);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], 1);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_DETECTED], 1);
        assert_int_equal(wd(f, 1, 3)[WF_PFCWD_RESTORED], 1);
        burst(f, 0, 1, 3, 5);
        wft_run(f, WF_TIME_NEVER);
        assert_int_equal(seen_of(f, 1, 3), 5);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* Its counters are there by name, of ports that have a watchdog. */
static void counters_are_walked_through(void **state)
{
    static struct wf_switch_port_cfg with;
    struct wf_ctr_walk w;
    struct wf_fabric *f;
    unsigned n = 0;
    char name[WF_CTR_NAME_MAX];

    leaf_with(WF_WD_DROP);
    with = desc.switches[0].cfg.port;
    desc.switches[0].cfg.port.watchdog.action = WF_WD_OFF;
    desc.links[1].port_cfg[desc.links[1].a.is_host] = &with;
    f = wft_build(&desc);
    w = wf_fabric_ctrs(f, wf_ctr_table_bit(&wf_ctrs_pfcwd));
    while (wf_ctr_next(&w)) {
        char want[32];

        snprintf(want, sizeof(want), "leaf0:p1.pfcwd%u", n++);
        assert_string_equal(wf_ctr_name(&w, name), want);
    }
    assert_int_equal(n, 8);
    wf_fabric_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_storm_is_seen_and_ends_at_polls),
        cmocka_unit_test(pauses_that_end_are_no_storm),
        cmocka_unit_test(a_lapse_between_polls_is_no_storm),
        cmocka_unit_test(drop_loses_the_stormed_priority_only),
        cmocka_unit_test(drop_holds_for_trimmed_packets),
        cmocka_unit_test(drop_asks_the_stormer_for_no_pause),
        cmocka_unit_test(forward_sends_in_spite_of_pfc),
        cmocka_unit_test(alert_only_counts),
        cmocka_unit_test(several_priorities_at_once),
        cmocka_unit_test(storms_that_flap),
        cmocka_unit_test(storms_that_meet_a_link_flap),
        cmocka_unit_test(counters_are_walked_through),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
