/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load balancing: which of the equal next hops each packet takes, seen at the leaf's uplinks. What
 * is drawn is held against exact binomial tails, what is counted against closed forms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "binomial.h"
#include "support.h"
#include "wire/edit.h"
#include "wire/eth.h"

#define US WF_PS_PER_US

enum { SPINES = 4, HOSTS = 8, FLOWS = 600, ETH = 14, IP = 20 };

static struct wf_arena arena;
static struct wf_desc desc;

static void leaf_spine(uint32_t leaves, uint32_t spines)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "lb",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, leaves, spines, HOSTS);
    wf_desc_address(&desc, &arena);
}

static struct wf_lb_cfg *lb(uint32_t sw)
{
    return &desc.switches[sw].cfg.lb;
}

/* What a frame is, as far as a hash may see it. */
struct frame {
    uint32_t from, to;
    uint8_t src_ip; /* last byte */
    uint8_t proto;
    uint16_t sport, dport, vid;
    uint32_t dqpn;
};

static const struct frame plain = {
    .from = 0,
    .to = HOSTS,
    .src_ip = 1,
    .proto = 17,
    .sport = 0xc000,
    .dport = 4791,
    .vid = 5,
    .dqpn = 7,
};

/* Tagged RoCEv2 of 64 bytes of payload, or whatever its protocol makes of it. */
static uint32_t build(struct wf_fabric *f, const struct frame *x, uint8_t *buf, uint32_t *len)
{
    uint8_t *ip = buf + ETH + WF_VLAN_TAG_LEN, *udp = ip + IP;
    uint32_t hdr = wft_roce(f, x->from, x->to, 26, WF_ECN_ECT0, 1, 64, buf, len);

    memmove(buf + 16, buf + 12, hdr - 12);
    wf_st16(buf + 12, WF_ETHERTYPE_VLAN);
    wf_st16(buf + 14, x->vid);
    ip[9] = x->proto;
    ip[15] = x->src_ip;
    wf_st16(ip + 10, wf_ip4_checksum(ip, IP));
    wf_st16(udp, x->sport);
    wf_st16(udp + 2, x->dport);
    wf_st16(udp + 8 + 6, (uint16_t)x->dqpn);
    *len += WF_VLAN_TAG_LEN;
    return hdr + WF_VLAN_TAG_LEN;
}

static void send(struct wf_fabric *f, const struct frame *x)
{
    uint8_t buf[WF_HDR_ROOM];
    uint32_t len, hdr = build(f, x, buf, &len);

    wft_send(f, x->from, wf_fabric_now_ps(f), 3, buf, hdr, len);
}

/* Which uplink of leaf 0 the packets left by, in their order. */
struct uplinks {
    struct wf_tap tap[SPINES];
    uint32_t n, count[SPINES];
    uint8_t spine[4096];
    uint16_t sport[4096];
};

static struct uplinks up;

static void on_uplink(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                      enum wf_tap_dir dir, enum wf_reason why)
{
    if (dir != WF_TAP_TX || !(pkt->p.flags & WF_P_IP))
        return;
    up.count[tap - up.tap]++;
    up.sport[up.n] = pkt->p.sport;
    up.spine[up.n++] = (uint8_t)(tap - up.tap);
    assert_true(up.n < 4096);
}

static struct wf_fabric *start(void)
{
    struct wf_fabric *f = wft_build(&desc);
    struct wf_node *leaf = wf_fabric_switch(f, 0);

    memset(&up, 0, sizeof(up));
    for (uint16_t i = HOSTS; i < leaf->n_ports; i++) {
        up.tap[i - HOSTS].fn = on_uplink;
        wf_port_tap(&leaf->ports[i], &up.tap[i - HOSTS]);
    }
    return f;
}

static void end(struct wf_fabric *f)
{
    wft_run(f, WF_TIME_NEVER);
    wft_check(f);
    wf_fabric_free(f);
}

static void forget(void)
{
    memset(up.count, 0, sizeof(up.count));
    up.n = 0;
}

static void assert_spread(uint32_t n)
{
    for (unsigned s = 0; s < SPINES; s++)
        if (!wft_binomial_ok(n, 1.0 / SPINES, up.count[s]))
            fail_msg("spine %u has %u of %u", s, up.count[s], n);
}

/* --- hash ------------------------------------------------------------------------------------- */

/* The i-th frame that differs in one field only. */
static struct frame vary(uint32_t field, uint32_t i)
{
    struct frame x = plain;

    if (field == WF_LB_SRC_IP)
        x.src_ip = (uint8_t)(1 + i);
    else if (field == WF_LB_DST_IP)
        x.to = HOSTS + i % HOSTS;
    else if (field == WF_LB_PROTOCOL)
        x.proto = (uint8_t)(130 + i % 100); /* those have no ports */
    else if (field == WF_LB_SRC_PORT)
        x.sport = (uint16_t)(0xc000 + i);
    else if (field == WF_LB_DST_PORT)
        x.dport = (uint16_t)(6000 + i);
    else if (field == WF_LB_DEST_QP)
        x.dqpn = i;
    else if (field == WF_LB_IN_PORT)
        x.from = i % HOSTS;
    else
        x.vid = (uint16_t)(1 + i);
    return x;
}

enum { VARIANTS = 200 };

/* How many different uplinks frames see that differ in `field`, with a hash over `fields`. */
static unsigned spread_of(uint32_t fields, uint32_t field)
{
    struct wf_fabric *f;
    unsigned used = 0;

    leaf_spine(2, SPINES);
    lb(0)->fields = fields;
    f = start();
    for (uint32_t i = 0; i < VARIANTS; i++) {
        struct frame x = vary(field, i);

        send(f, &x);
    }
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(up.n, VARIANTS);
    if (fields == field && field != WF_LB_DST_IP && field != WF_LB_IN_PORT &&
        field != WF_LB_PROTOCOL) /* those have few values */
        assert_spread(VARIANTS);
    for (unsigned s = 0; s < SPINES; s++)
        used += up.count[s] > 0;
    end(f);
    return used;
}

/* Each field alone spreads what differs in it and in nothing else. */
static void each_field_counts_alone(void **state)
{
    for (uint32_t field = 1; field <= WF_LB_VLAN; field *= 2)
        for (uint32_t other = 1; other <= WF_LB_VLAN; other *= 2) {
            unsigned used = spread_of(field, other);

            if (field == other ? used < 3 : used != 1)
                fail_msg("hash over %u: frames that differ in %u take %u uplinks", field, other,
                         used);
        }
}

/* All of it at once, and without the one that differs. */
static void what_is_left_out_does_not_count(void **state)
{
    enum { ALL = 2 * WF_LB_VLAN - 1 };

    for (uint32_t field = 1; field <= WF_LB_VLAN; field *= 2) {
        assert_true(spread_of(ALL, field) >= 3);
        if (field != WF_LB_PROTOCOL) /* with it go the ports */
            assert_int_equal(spread_of(ALL & ~field, field), 1);
    }
}

/* The default sees five fields. */
static void the_default_is_the_five_tuple(void **state)
{
    assert_int_equal(spread_of(WF_LB_FIELDS_DEFAULT, WF_LB_DEST_QP), 1);
    assert_int_equal(spread_of(WF_LB_FIELDS_DEFAULT, WF_LB_VLAN), 1);
    assert_true(spread_of(WF_LB_FIELDS_DEFAULT, WF_LB_SRC_PORT) == SPINES);
}

/* Cores that the flows of one edge of a fat tree of k = 4 come by. */
static unsigned cores_used(uint64_t salt)
{
    static const struct wf_fat_tree tree = {.k = 4, .pods = 4, .hosts_per_edge = 2};
    struct wf_fabric *f;
    unsigned used = 0;

    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "lb", .seed = 1, .duration_ps = WF_KEY_AUTO, .time_scale = 1};
    wf_desc_fat_tree(&desc, &arena, &tree);
    wf_desc_address(&desc, &arena);
    for (uint32_t i = 0; i < desc.n_switches; i++)
        lb(i)->salt = salt;
    f = wft_build(&desc);
    for (uint32_t i = 0; i < 200; i++) {
        struct frame x = plain;

        x.to = 15;
        x.sport = (uint16_t)(0xc000 + i);
        send(f, &x);
    }
    wft_run(f, WF_TIME_NEVER);
    for (uint32_t i = 16; i < 20; i++) {
        uint64_t rx = 0;

        for (unsigned p = 0; p < 4; p++)
            rx += wf_fabric_switch(f, i)->ports[p].ctr[WF_PORT_RX_FRAMES];
        used += rx > 0;
    }
    end(f);
    return used;
}

/* Who decides twice by the same number decides once. */
static void one_salt_for_all_polarises(void **state)
{
    assert_int_equal(cores_used(WF_KEY_AUTO), 4);
    assert_int_equal(cores_used(5), 2);
}

/* --- spray ------------------------------------------------------------------------------------ */

static void random_spray_is_uniform(void **state)
{
    struct wf_fabric *f;
    uint32_t same = 0;

    leaf_spine(2, SPINES);
    lb(0)->mode = WF_LB_SPRAY;
    f = start();
    for (uint32_t i = 0; i < 2000; i++)
        send(f, &plain);
    wft_run(f, WF_TIME_NEVER);
    assert_spread(2000);
    for (uint32_t i = 1; i < up.n; i++) /* and each draw is independent of the one before */
        same += up.spine[i] == up.spine[i - 1];
    assert_true(wft_binomial_ok(up.n - 1, 1.0 / SPINES, same));
    end(f);
}

/* To two destinations in turn: each counts for itself. */
static void round_robin_is_exact(void **state)
{
    struct wf_fabric *f;

    leaf_spine(3, SPINES);
    lb(0)->mode = WF_LB_SPRAY;
    lb(0)->spray = WF_LB_ROUND_ROBIN;
    f = start();
    for (uint32_t i = 0; i < 800; i++) {
        struct frame x = plain;

        x.to = (1 + i % 2) * HOSTS;
        send(f, &x);
    }
    wft_run(f, WF_TIME_NEVER);
    for (unsigned s = 0; s < SPINES; s++)
        assert_int_equal(up.count[s], 200);
    end(f);
}

/* --- flowlets --------------------------------------------------------------------------------- */

/* n packets of one flow, each `apart_ps` after the one before; changes of the uplink. */
static uint32_t changes(uint64_t apart_ps, uint32_t n)
{
    struct wf_fabric *f;
    uint32_t c = 0;

    leaf_spine(2, SPINES);
    lb(0)->mode = WF_LB_FLOWLET;
    lb(0)->gap_ps = 50 * US;
    f = start();
    for (uint32_t i = 0; i < n; i++) {
        wft_run(f, (uint64_t)i * apart_ps);
        send(f, &plain);
    }
    wft_run(f, WF_TIME_NEVER);
    assert_int_equal(up.n, n);
    for (uint32_t i = 1; i < n; i++)
        c += up.spine[i] != up.spine[i - 1];
    end(f);
    return c;
}

/* The gap, to the picosecond. */
static void a_flowlet_ends_with_its_gap(void **state)
{
    assert_int_equal(changes(50 * US - 1, 400), 0);
    assert_true(wft_binomial_ok(399, 1 - 1.0 / SPINES, changes(50 * US, 400)));
}

/* A table of one entry: two flows that never pause together have one port. */
static void flows_of_one_entry_share_its_port(void **state)
{
    for (uint32_t entries = 1; entries <= 4096; entries *= 4096) {
        struct wf_fabric *f;
        uint32_t apart = 0;

        leaf_spine(2, SPINES);
        lb(0)->mode = WF_LB_FLOWLET;
        lb(0)->flowlets = entries;
        f = start();
        for (uint32_t i = 0; i < 64; i++) {
            struct frame x = plain;

            x.sport = (uint16_t)(0xc000 + i);
            send(f, &x);
        }
        wft_run(f, WF_TIME_NEVER);
        for (uint32_t i = 1; i < up.n; i++)
            apart += up.spine[i] != up.spine[0];
        assert_true(entries == 1 ? apart == 0 : apart > 32);
        end(f);
    }
}

static void a_flowlet_leaves_a_port_that_is_lost(void **state)
{
    struct wf_fabric *f;
    unsigned was, other;

    leaf_spine(2, 2);
    lb(0)->mode = WF_LB_FLOWLET;
    f = start();
    send(f, &plain);
    wft_run(f, 20 * US);
    was = up.spine[0];
    other = 1 - was;
    wf_fabric_link_set(f, wf_fabric_switch(f, 0)->ports[HOSTS + was].link, false);
    send(f, &plain);
    wft_run(f, 40 * US);
    assert_int_equal(up.spine[1], other);
    end(f);
}

/* --- adaptive --------------------------------------------------------------------------------- */

enum { FRAME = ETH + 4 + IP + 8 + 12 + 64 + 4 + 4, QUANTUM = 10 * FRAME };

/* One uplink is so slow that it sends next to nothing: it gets packets until it is one step fuller
 * than the other one, and then none. */
static void a_slow_port_is_filled_to_one_step(void **state)
{
    struct wf_fabric *f;
    struct wf_port *slow;

    leaf_spine(2, 2);
    lb(0)->mode = WF_LB_ADAPTIVE;
    lb(0)->quantum = QUANTUM;
    desc.switches[0].cfg.latency_ps = 0;          /* else what is within it counts as waiting */
    desc.links[2 * HOSTS].cfg.rate_bps = 1000000; /* leaf0-spine0 */
    f = start();
    slow = &wf_fabric_switch(f, 0)->ports[HOSTS];
    for (uint32_t i = 0; i < 1000; i++)
        send(f, &plain);
    wft_run(f, 500 * US);
    assert_int_equal(slow->q[3].ctr[WF_QUEUE_MAX_BYTES], QUANTUM);
    assert_int_equal(up.count[0] + up.count[1], 1000 - QUANTUM / FRAME);
    end(f);
}

/* The last step holds all that is fuller: then it is a draw again. */
static void above_the_last_step_all_are_equal(void **state)
{
    struct wf_fabric *f;
    uint32_t waiting;

    leaf_spine(2, 2);
    lb(0)->mode = WF_LB_ADAPTIVE;
    lb(0)->quantum = QUANTUM;
    lb(0)->levels = 2;
    desc.links[2 * HOSTS].cfg.rate_bps = desc.links[2 * HOSTS + 1].cfg.rate_bps = 1000000;
    f = start();
    for (uint32_t i = 0; i < 1000; i++)
        send(f, &plain);
    wft_run(f, 500 * US);
    waiting = (uint32_t)wf_fabric_switch(f, 0)->ports[HOSTS].q[3].fifo.count;
    /* both reach the last step, ten packets each; what comes then is drawn */
    assert_in_range(waiting, 11, 989);
    assert_true(wft_binomial_ok(980, 0.5, waiting - 10));
    end(f);
}

/* Equal ports: as good as random. */
static void equal_ports_are_drawn(void **state)
{
    struct wf_fabric *f;

    leaf_spine(2, SPINES);
    lb(0)->mode = WF_LB_ADAPTIVE;
    f = start();
    for (uint32_t i = 0; i < 1000; i++) {
        wft_run(f, (uint64_t)i * US);
        send(f, &plain);
    }
    wft_run(f, WF_TIME_NEVER);
    assert_spread(1000);
    end(f);
}

/* --- failures --------------------------------------------------------------------------------- */

/* One packet of each flow to the host; the uplink of each. */
static void probe_flows(struct wf_fabric *f, uint32_t to, uint8_t spine[FLOWS])
{
    forget();
    for (uint32_t i = 0; i < FLOWS; i++) {
        struct frame x = plain;

        x.to = to;
        x.sport = (uint16_t)(0xc000 + i);
        send(f, &x);
    }
    wft_run(f, wf_fabric_now_ps(f) + 200 * US);
    assert_int_equal(up.n, FLOWS);
    for (uint32_t i = 0; i < FLOWS; i++)
        spine[up.sport[i] - 0xc000] = up.spine[i];
}

static uint32_t moved(const uint8_t *a, const uint8_t *b, uint8_t of)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < FLOWS; i++)
        n += a[i] != b[i] && (of == a[i] || of == SPINES);
    return n;
}

static uint32_t count(const uint8_t *a, uint8_t spine)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < FLOWS; i++)
        n += a[i] == spine;
    return n;
}

struct fate {
    uint8_t before[FLOWS], during[FLOWS], after[FLOWS], elsewhere[FLOWS], elsewhere_was[FLOWS];
};

/* The link of spine 2 to a leaf goes down and comes back. */
static void fail_and_recover(int resilient, uint32_t leaf, struct fate *x)
{
    struct wf_fabric *f;
    struct wf_link *link;

    leaf_spine(3, SPINES);
    lb(0)->resilient = resilient;
    f = start();
    link = wf_fabric_switch(f, leaf)->ports[HOSTS + 2].link;
    probe_flows(f, HOSTS, x->before);
    probe_flows(f, 2 * HOSTS, x->elsewhere_was);
    wf_fabric_link_set(f, link, false);
    probe_flows(f, HOSTS, x->during);
    probe_flows(f, 2 * HOSTS, x->elsewhere);
    wf_fabric_link_set(f, link, true);
    probe_flows(f, HOSTS, x->after);
    end(f);
}

static struct fate fate;

/* Only flows of the member that failed move, to the others about equally, and come back. */
static void resilient_flows_come_back(void **state)
{
    for (uint32_t leaf = 0; leaf < 2; leaf++) { /* our own link, and one that is not ours */
        fail_and_recover(WF_LB_RETURN, leaf, &fate);
        assert_true(wft_binomial_ok(FLOWS, 0.25, count(fate.before, 2)));
        assert_int_equal(moved(fate.before, fate.during, SPINES), count(fate.before, 2));
        assert_int_equal(moved(fate.before, fate.during, 2), count(fate.before, 2));
        assert_int_equal(count(fate.during, 2), 0);
        for (uint8_t s = 0; s < SPINES; s++)
            if (s != 2) /* 16 buckets for three: one of them gets 6 */
                assert_true(
                    wft_binomial_ok(FLOWS, (16 + (s == 0 ? 6 : 5)) / 64.0, count(fate.during, s)));
        assert_int_equal(moved(fate.before, fate.after, SPINES), 0);
        if (leaf == 1) /* spine 2 still leads to leaf 2 */
            assert_int_equal(moved(fate.elsewhere_was, fate.elsewhere, SPINES), 0);
    }
}

static void resilient_flows_stay(void **state)
{
    for (uint32_t leaf = 0; leaf < 2; leaf++) {
        fail_and_recover(WF_LB_STAY, leaf, &fate);
        assert_int_equal(moved(fate.before, fate.during, SPINES), count(fate.before, 2));
        assert_int_equal(moved(fate.during, fate.after, SPINES), 0);
    }
}

/* Without it all are hashed anew: h % 4 and h % 3 are equal for 3 of 12. */
static void without_it_most_flows_move(void **state)
{
    fail_and_recover(WF_LB_REHASH, 0, &fate);
    assert_true(wft_binomial_ok(FLOWS, 0.75, moved(fate.before, fate.during, SPINES)));
    assert_int_equal(moved(fate.before, fate.after, SPINES), 0);
}

/* Two failures, one after the other: the second moves its own flows only, those that came from the
 * first among them. */
static void a_second_failure_moves_its_own(void **state)
{
    static uint8_t one[FLOWS], two[FLOWS], back[FLOWS];
    struct wf_node *leaf;
    struct wf_fabric *f;

    leaf_spine(2, SPINES);
    lb(0)->resilient = WF_LB_RETURN;
    f = start();
    leaf = wf_fabric_switch(f, 0);
    wf_fabric_link_set(f, leaf->ports[HOSTS + 1].link, false);
    probe_flows(f, HOSTS, one);
    wf_fabric_link_set(f, leaf->ports[HOSTS + 3].link, false);
    probe_flows(f, HOSTS, two);
    assert_int_equal(moved(one, two, SPINES), count(one, 3));
    assert_int_equal(count(two, 3) + count(two, 1), 0);
    wf_fabric_link_set(f, leaf->ports[HOSTS + 3].link, true);
    probe_flows(f, HOSTS, back);
    assert_int_equal(count(back, 1), 0);
    assert_true(wft_binomial_ok(FLOWS, 0.25, moved(two, back, SPINES)));
    end(f);
}

/* --- on several lcores, and with the seed ----------------------------------------------------- */

static uint64_t digest_of(int mode, uint64_t seed)
{
    struct wf_fabric *f;
    struct wf_digest d;

    leaf_spine(2, SPINES);
    desc.seed = seed;
    for (uint32_t i = 0; i < desc.n_switches; i++)
        lb(i)->mode = mode;
    f = start();
    for (uint32_t i = 0; i < 500; i++) {
        struct frame x = vary(WF_LB_SRC_PORT, i);

        send(f, &x);
    }
    wft_run(f, WF_TIME_NEVER);
    d = wf_fabric_digest(f);
    end(f);
    return d.h;
}

static void draws_follow_the_seed(void **state)
{
    static const int modes[] = {WF_LB_SPRAY, WF_LB_FLOWLET, WF_LB_ADAPTIVE};

    assert_int_equal(digest_of(WF_LB_ECMP, 1), digest_of(WF_LB_ECMP, 2));
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(digest_of(modes[i], 1), digest_of(modes[i], 1));
        assert_int_not_equal(digest_of(modes[i], 1), digest_of(modes[i], 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_counts_alone),
        cmocka_unit_test(what_is_left_out_does_not_count),
        cmocka_unit_test(the_default_is_the_five_tuple),
        cmocka_unit_test(one_salt_for_all_polarises),
        cmocka_unit_test(random_spray_is_uniform),
        cmocka_unit_test(round_robin_is_exact),
        cmocka_unit_test(a_flowlet_ends_with_its_gap),
        cmocka_unit_test(flows_of_one_entry_share_its_port),
        cmocka_unit_test(a_flowlet_leaves_a_port_that_is_lost),
        cmocka_unit_test(a_slow_port_is_filled_to_one_step),
        cmocka_unit_test(above_the_last_step_all_are_equal),
        cmocka_unit_test(equal_ports_are_drawn),
        cmocka_unit_test(resilient_flows_come_back),
        cmocka_unit_test(resilient_flows_stay),
        cmocka_unit_test(without_it_most_flows_move),
        cmocka_unit_test(a_second_failure_moves_its_own),
        cmocka_unit_test(draws_follow_the_seed),
    };

    wft_eal(96);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
