/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC at a port, both ways, between probe hosts: what is sent stands in the counters, how many
 * frames can be under way, how long a pause is. All times are fabric time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eth/headroom.h"
#include "eth/pfc.h"
#include "burst.h"
#include "support.h"
#include "wire/edit.h"
#include "wire/pfc.h"

#define US WF_PS_PER_US
#define NS WF_PS_PER_NS
#define MS WF_PS_PER_MS

static struct wf_arena arena;
static struct wf_desc desc;

static struct wf_desc *one_leaf(uint32_t hosts)
{
    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 1, 0, hosts);
    wf_desc_address(&desc, &arena);
    return &desc;
}

static struct wf_port *leaf_port(struct wf_fabric *f, uint32_t host)
{
    return &wf_fabric_switch(f, 0)->ports[host];
}

/* What was decided while a frame waited stands in that frame: three decisions, one XON on the wire,
 * and the counters say what the peer has heard. */
static void counters_say_what_the_wire_says(void **state)
{
    struct wf_fabric *f = wft_build(one_leaf(2));
    struct wf_port *port = leaf_port(f, 1);
    struct wft_probe *h = wft_probe(f, 1);

    wft_burst(f, 0, 1, 10, WF_ECN_ECT0, 4096, 3);
    wft_run(f, 1800 * NS); /* in the middle of a frame to host 1 */
    assert_true(port->busy_until_ps > 1900 * NS);
    wf_pfc_xoff(port, 3);
    wf_pfc_xon(port, 3);
    wf_pfc_xoff(port, 4);
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 0);
    assert_int_equal(port->prio_ctr[4][WF_PRIO_XOFF_TX], 0);
    wft_run(f, 5 * US);
    assert_int_equal(h->n_control, 1);
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 1);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XOFF_TX], 0);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XON_TX], 1);
    assert_int_equal(port->prio_ctr[4][WF_PRIO_XOFF_TX], 1);
    wft_run(f, 300 * US); /* a refresh after 168 us */
    assert_int_equal(port->prio_ctr[4][WF_PRIO_REFRESH_TX], 1);
    wf_fabric_free(f);
}

/* A frame that a link took down with it was never sent. */
static void what_a_link_took_is_not_counted(void **state)
{
    struct wf_fabric *f = wft_build(one_leaf(2));
    struct wf_port *port = leaf_port(f, 1);

    wft_burst(f, 0, 1, 10, WF_ECN_ECT0, 4096, 3);
    wft_run(f, 1800 * NS);
    wf_pfc_xoff(port, 3);
    wf_fabric_link_set(f, port->link, false);
    wft_run(f, 5 * US);
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 0);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_XOFF_TX], 0);
    wf_fabric_free(f);
}

/* 10 ms of 400 Gb/s, refreshed each 1.28 us: 7812 refreshes would be under way on each of eight
 * links, 4096 are allowed. And each 3.84 us: 2604. More than a pool that does not know of them. */
static void refreshes_on_long_links_find_packets(void **state)
{
    static const uint32_t quanta[] = {2000, 6000};
    static const uint32_t most[] = {4097 * 8, 2605 * 8};

    for (unsigned k = 0; k < 2; k++) {
        struct wf_fabric *f;
        uint64_t under_way;

        one_leaf(8);
        desc.switches[0].cfg.port.pfc.quanta = quanta[k];
        for (unsigned i = 0; i < 8; i++) {
            desc.links[i].cfg.rate_bps = 400000000000ull;
            desc.links[i].cfg.delay_ps = 10 * MS;
        }
        f = wft_build(&desc);
        for (unsigned i = 0; i < 8; i++)
            wf_pfc_xoff(leaf_port(f, i), 3);
        wft_run(f, 15 * MS);
        assert_false(wf_fabric_out_of_buffers(f));
        under_way = wf_fabric_in_flight(f);
        assert_in_range(under_way, most[k] - 16, most[k] + 8);
        for (unsigned i = 0; i < 8; i++)
            wf_pfc_xon(leaf_port(f, i), 3);
        wft_run(f, WF_TIME_NEVER);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* Nor when the rate is raised later, foreseen or not. */
static void a_raised_rate_empties_no_pool(void **state)
{
    for (unsigned foreseen = 0; foreseen < 2; foreseen++) {
        struct wf_desc_step steps[8];
        struct wf_fabric *f;

        one_leaf(8);
        desc.switches[0].cfg.port.pfc.quanta = 6000;
        for (unsigned i = 0; i < 8; i++) {
            desc.links[i].cfg.rate_bps = 10000000000ull;
            desc.links[i].cfg.delay_ps = 10 * MS;
            steps[i] = (struct wf_desc_step){.at_ps = 10 * US,
                                             .action = WF_DO_LINK_RATE,
                                             .link = i,
                                             .rate_bps = 400000000000ull};
        }
        desc.steps = steps;
        desc.n_steps = foreseen ? 8 : 0;
        f = wft_build(&desc);
        for (unsigned i = 0; i < 8; i++)
            wf_pfc_xoff(leaf_port(f, i), 3);
        wft_run(f, 10 * US);
        for (unsigned i = 0; i < 8 && !foreseen; i++)
            wf_fabric_link_rate(f, leaf_port(f, i)->link, 400000000000ull);
        wft_run(f, 15 * MS);
        assert_false(wf_fabric_out_of_buffers(f));
        if (foreseen) /* as often as half of the quanta asks for */
            assert_in_range(wf_fabric_in_flight(f), 2604 * 8, 2606 * 8);
        else
            assert_in_range(wf_fabric_in_flight(f), 64 * 8, 68 * 8);
        wf_fabric_free(f);
    }
}

/* n quanta of 512 bit times in picoseconds, rounded to nearest: Python's fractions. */
static const uint32_t quanta_counts[6] = {1, 2, 3, 999, 32767, 65535};
static const struct {
    uint64_t gbps;
    uint64_t ps[6];
} quanta_rows[] = {
    {10, {51200, 102400, 153600, 51148800, 1677670400, 3355392000}},
    {25, {20480, 40960, 61440, 20459520, 671068160, 1342156800}},
    {40, {12800, 25600, 38400, 12787200, 419417600, 838848000}},
    {100, {5120, 10240, 15360, 5114880, 167767040, 335539200}},
    {200, {2560, 5120, 7680, 2557440, 83883520, 167769600}},
    {400, {1280, 2560, 3840, 1278720, 41941760, 83884800}},
    {800, {640, 1280, 1920, 639360, 20970880, 41942400}},
};

static void quanta_are_exact(void **state)
{
    for (size_t r = 0; r < sizeof(quanta_rows) / sizeof(quanta_rows[0]); r++) {
        struct wf_fabric *f;

        one_leaf(2);
        for (unsigned i = 0; i < 2; i++)
            desc.links[i].cfg.rate_bps = quanta_rows[r].gbps * 1000000000ull;
        f = wft_build(&desc);
        for (unsigned i = 0; i < 6; i++)
            assert_int_equal(wf_pfc_quanta_ps(leaf_port(f, 0), quanta_counts[i]),
                             quanta_rows[r].ps[i]);
        wf_fabric_free(f);
    }
}

/* 802.3 31B.3.7 as SONiC has it, in picoseconds: Python's fractions again, rounded down. */
static void responses_are_those_of_the_table(void **state)
{
    static const struct {
        uint64_t gbps, ps;
    } rows[] = {{1, 1024000},   {10, 3430400},  {25, 1638400},  {40, 1510400}, {50, 1505280},
                {100, 2017280}, {200, 1159680}, {400, 1158400}, {800, 579200}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(wf_pfc_response_ps(rows[i].gbps * 1000000000ull), rows[i].ps);
}

static void no_response_delay(struct wf_switch_cfg *c)
{
    c->port.pfc.response_ps = 0;
}

/* A frame of host `from` as a peer would build it, byte by byte. */
static void raw(struct wf_fabric *f, uint32_t from, const uint8_t *dst, uint16_t opcode,
                uint16_t vector, const uint16_t quanta[8], uint32_t len)
{
    uint8_t b[1514];

    memset(b, 0, sizeof(b));
    memcpy(b, dst, 6);
    memcpy(b + 6, f->desc->hosts[from].cfg.mac, 6);
    b[12] = 0x88;
    b[13] = 0x08;
    b[14] = (uint8_t)(opcode >> 8);
    b[15] = (uint8_t)opcode;
    b[16] = (uint8_t)(vector >> 8);
    b[17] = (uint8_t)vector;
    for (unsigned i = 0; i < 8; i++) {
        b[18 + 2 * i] = (uint8_t)(quanta[i] >> 8);
        b[19 + 2 * i] = (uint8_t)quanta[i];
    }
    memset(b + 34, 0xa5, sizeof(b) - 34); /* whatever pads it */
    wft_send(f, from, wf_fabric_now_ps(f), 7, b, len, len);
}

static const uint8_t to_all[6] = {0x01, 0x80, 0xc2, 0, 0, 1};

/* One frame, eight priorities, each for its own time from the instant of its last bit. */
static void each_priority_has_its_own_quanta(void **state)
{
    static const uint16_t quanta[8] = {100, 2, 65535, 1, 300, 0, 77, 12345};
    struct wf_fabric *f;
    uint64_t until, t;

    one_leaf(2);
    no_response_delay(&desc.switches[0].cfg);
    f = wft_build(&desc);
    raw(f, 1, to_all, 0x0101, 0xdf, quanta, 60);
    t = (64 + 8) * 80 + 500 * NS;
    wft_run(f, t + 1);
    for (unsigned p = 0; p < 8; p++) {
        bool paused = wf_pfc_paused(leaf_port(f, 1), p, &until);

        assert_int_equal(paused, p != 5);
        if (p != 5)
            assert_int_equal(until, t + quanta[p] * 5120ull);
    }
    wft_run(f, 400 * US);
    wf_fabric_settle(f);
    for (unsigned p = 0; p < 8; p++) {
        const uint64_t *ctr = leaf_port(f, 1)->prio_ctr[p];

        assert_int_equal(ctr[WF_PRIO_XOFF_RX], p != 5);
        assert_int_equal(ctr[WF_PRIO_ON2OFF_RX], p != 5); /* each ran out by itself */
        assert_int_equal(ctr[WF_PRIO_PAUSED_PS], p == 5 ? 0 : quanta[p] * 5120ull);
    }
    wf_fabric_free(f);
}

/* 100 quanta are 512 ns. Asked for again in time it is one pause; a picosecond too late, two. */
static void a_lapse_is_seen(void **state)
{
    static const uint16_t hundred[8] = {[3] = 100};

    for (unsigned late = 0; late < 2; late++) {
        struct wf_fabric *f;
        const uint64_t *ctr;

        one_leaf(2);
        no_response_delay(&desc.switches[0].cfg);
        f = wft_build(&desc);
        ctr = leaf_port(f, 1)->prio_ctr[3];
        for (unsigned i = 0; i < 3; i++) {
            wft_run(f, i * (512 * NS - 1 + late));
            raw(f, 1, to_all, 0x0101, 1 << 3, hundred, 60);
        }
        wft_run(f, 1550 * NS + 50 * NS);
        wf_fabric_settle(f);
        assert_int_equal(ctr[WF_PRIO_XOFF_RX], late ? 3 : 1);
        assert_int_equal(ctr[WF_PRIO_REFRESH_RX], late ? 0 : 2);
        assert_int_equal(ctr[WF_PRIO_ON2OFF_RX], late ? 2 : 0);
        wft_run(f, 10 * US);
        wf_fabric_settle(f);
        assert_int_equal(ctr[WF_PRIO_ON2OFF_RX], late ? 3 : 1);
        wf_fabric_free(f);
    }
}

/* What a peer may send instead of what it should. */
static void odd_frames_do_what_the_standard_says(void **state)
{
    static const uint8_t other[6] = {2, 0, 0, 0, 0, 0x99}, lldp[6] = {1, 0x80, 0xc2, 0, 0, 0x0e};
    static const uint16_t q[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    static const struct {
        const uint8_t *dst; /* NULL: the port's own address */
        uint16_t opcode, vector;
        uint32_t len;
        uint8_t obeyed, bad;
    } rows[] = {
        {to_all, 0x0101, 0x0008, 60, 0x08, 0},   /* as it should be, padded with rubbish */
        {to_all, 0x0101, 0xff08, 60, 0x08, 0},   /* bits beyond priority 7 */
        {to_all, 0x0101, 0xff00, 60, 0, 0},      /* nothing but those */
        {to_all, 0x0101, 0x0000, 60, 0, 0},      /* speaks of nobody */
        {to_all, 0x0101, 0x00ff, 1514, 0xff, 0}, /* far too long */
        {NULL, 0x0101, 0x0008, 60, 0x08, 0},     /* to the port itself */
        {other, 0x0101, 0x0008, 60, 0, 1},       /* to somebody else */
        {lldp, 0x0101, 0x0008, 60, 0, 1},        /* to another group */
        {to_all, 0x0102, 0x0008, 60, 0, 1},      /* an opcode of nobody's */
        {to_all, 0x0001, 0x0008, 60, 0, 0},      /* pause, which a port with PFC ignores */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_fabric *f;
        uint64_t until;

        one_leaf(2);
        no_response_delay(&desc.switches[0].cfg);
        f = wft_build(&desc);
        raw(f, 1, rows[i].dst ? rows[i].dst : wf_fabric_switch(f, 0)->mac, rows[i].opcode,
            rows[i].vector, q, rows[i].len);
        wft_run(f, (rows[i].len + 4 + 8) * 80 + 500 * NS + 1);
        for (unsigned p = 0; p < 8; p++)
            assert_int_equal(wf_pfc_paused(leaf_port(f, 1), p, &until), rows[i].obeyed >> p & 1);
        assert_int_equal(leaf_port(f, 1)->ctr[WF_PORT_PFC_BAD_FRAMES], rows[i].bad);
        wft_run(f, WF_TIME_NEVER);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* Priorities without PFC: counted, not obeyed, and not asked for either. */
static void pfc_is_for_the_priorities_that_have_it(void **state)
{
    static const uint16_t q[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    struct wf_fabric *f;
    uint64_t until;

    one_leaf(2);
    no_response_delay(&desc.switches[0].cfg);
    desc.switches[0].cfg.port.pfc.priorities = 1 << 3 | 1 << 4;
    f = wft_build(&desc);
    raw(f, 1, to_all, 0x0101, 0xff, q, 60);
    wft_run(f, (60 + 4 + 8) * 80 + 500 * NS + 1);
    for (unsigned p = 0; p < 8; p++) {
        bool has = p == 3 || p == 4;

        assert_int_equal(wf_pfc_paused(leaf_port(f, 1), p, &until), has);
        assert_int_equal(leaf_port(f, 1)->prio_ctr[p][WF_PRIO_IGNORED_RX], !has);
        assert_int_equal(leaf_port(f, 1)->prio_ctr[p][WF_PRIO_XOFF_RX], has);
    }
    wf_pfc_xoff(leaf_port(f, 1), 2);
    wf_pfc_xoff(leaf_port(f, 1), 4);
    wft_run(f, 10 * US);
    assert_int_equal(wft_probe(f, 1)->n_control, 1);
    assert_int_equal(wft_probe(f, 1)->control[0][17], 1 << 4);
    wf_fabric_free(f);
}

/* 802.3x: one frame for all priorities when the first group is full, an end when the last is not;
 * such a port obeys pause and ignores PFC. */
static void pause_frames_stop_everything(void **state)
{
    static const uint16_t q[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    struct wf_fabric *f;
    struct wf_port *port;
    struct wft_probe *h;
    uint64_t until;

    one_leaf(2);
    no_response_delay(&desc.switches[0].cfg);
    desc.switches[0].cfg.port.pfc.flow_control = WF_FLOW_PAUSE;
    f = wft_build(&desc);
    port = leaf_port(f, 1);
    h = wft_probe(f, 1);
    raw(f, 1, to_all, 0x0101, 0xff, q, 60);
    wft_run(f, US);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_IGNORED_RX], 1);
    raw(f, 1, to_all, 0x0001, 1000, q, 60);
    wft_run(f, US + (64 + 8) * 80 + 500 * NS + 1);
    for (unsigned p = 0; p < 8; p++) {
        assert_true(wf_pfc_paused(port, p, &until));
        assert_int_equal(until, US + (64 + 8) * 80 + 500 * NS + 1000 * 5120);
    }
    wf_pfc_xoff(port, 3);
    wf_pfc_xoff(port, 5); /* it is stopped already */
    wft_run(f, 10 * US);
    wf_pfc_xon(port, 3);
    wft_run(f, 20 * US);
    assert_int_equal(h->n_control, 1);
    wf_pfc_xon(port, 5);
    wft_run(f, 30 * US);
    assert_int_equal(h->n_control, 2);
    for (unsigned i = 0; i < 2; i++) {
        static const uint8_t head[] = {0x88, 8, 0, 1};

        assert_memory_equal(h->control[i], to_all, 6);
        assert_memory_equal(h->control[i] + 12, head, 4);
        assert_int_equal(h->control[i][16] << 8 | h->control[i][17], i ? 0 : 65535);
    }
    assert_int_equal(port->ctr[WF_PORT_PAUSE_TX_FRAMES], 2);
    assert_int_equal(port->ctr[WF_PORT_PFC_TX_FRAMES], 0);
    wf_fabric_free(f);
}

/* 802.3x obeyed beside PFC: two timers. Neither kind's end, or a shorter time, ends what the other
 * asked for; the queue stops while either runs, and ON2OFF is of PFC alone. */
static void pause_beside_pfc_is_another_timer(void **state)
{
    static const struct {
        uint16_t opcode, quanta;
        uint32_t until[2]; /* of priorities 3 and 4, in quanta after the first frame; 0: free */
    } rows[] = {
        {0x0101, 1000, {1000, 0}}, {0x0001, 0, {1000, 0}},       {0x0001, 10, {1000, 14}},
        {0x0001, 0, {1000, 0}},    {0x0001, 2000, {2008, 2008}}, {0x0101, 0, {2008, 2008}},
        {0x0101, 9, {2008, 2008}}, {0x0001, 0, {21, 0}},
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]), APART = 2 * 5120 };
    uint64_t first = (64 + 8) * 80 + 500 * NS, until;
    struct wf_fabric *f;
    struct wf_port *port;

    one_leaf(2);
    no_response_delay(&desc.switches[0].cfg);
    desc.switches[0].cfg.port.pfc.obey_pause = true;
    f = wft_build(&desc);
    port = leaf_port(f, 1);
    for (unsigned i = 0; i < ROWS; i++) {
        uint16_t q[8] = {[3] = rows[i].quanta}; /* a pause has its time where PFC has the vector */

        wft_run(f, i * APART);
        raw(f, 1, to_all, rows[i].opcode, rows[i].opcode == 1 ? rows[i].quanta : 1 << 3, q, 60);
    }
    for (unsigned i = 0; i < ROWS; i++) {
        wft_run(f, first + i * APART + 1);
        for (unsigned k = 0; k < 2; k++) {
            uint64_t want = first + rows[i].until[k] * 5120ull;

            assert_int_equal(wf_pfc_paused(port, 3 + k, &until), rows[i].until[k] != 0);
            assert_true(!rows[i].until[k] || until == want);
        }
        assert_int_equal(port->held, i + 1 < ROWS && rows[i].until[1] ? 0xff : 1 << 3);
    }
    assert_int_equal(port->prio_ctr[3][WF_PRIO_ON2OFF_RX], 1);
    wft_run(f, US);
    wf_fabric_settle(f);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_ON2OFF_RX], 2);
    assert_int_equal(port->prio_ctr[3][WF_PRIO_PAUSED_PS], 21 * 5120);
    assert_int_equal(port->prio_ctr[4][WF_PRIO_PAUSED_PS], (2 + 6) * 5120);
    wf_fabric_free(f);
}

static void none_sends_and_obeys_nothing(void **state)
{
    static const uint16_t q[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    struct wf_fabric *f;
    uint64_t until;

    one_leaf(2);
    no_response_delay(&desc.switches[0].cfg);
    desc.switches[0].cfg.port.pfc.flow_control = WF_FLOW_NONE;
    f = wft_build(&desc);
    raw(f, 1, to_all, 0x0101, 0xff, q, 60);
    raw(f, 1, to_all, 0x0001, 1000, q, 60);
    wf_pfc_xoff(leaf_port(f, 1), 3);
    wft_run(f, US);
    assert_false(wf_pfc_paused(leaf_port(f, 1), 3, &until));
    assert_int_equal(leaf_port(f, 1)->ctr[WF_PORT_PAUSE_RX_FRAMES], 1);
    wft_run(f, 400 * US);
    assert_int_equal(wft_probe(f, 1)->n_control, 0);
    wf_fabric_free(f);
}

/* A PFC frame is lost or damaged as any other. Without its XON a pause lasts its quanta. */
static void control_frames_are_lost_like_others(void **state)
{
    for (unsigned action = 0; action < 2; action++) {
        struct wf_fault fault = {.action = action ? WF_FAULT_CORRUPT : WF_FAULT_DROP,
                                 .match = WF_FAULT_CONTROL,
                                 .every = 2}; /* the XON */
        struct wf_fabric *f = wft_build(one_leaf(2));
        struct wf_port *port = leaf_port(f, 1), *nic = &wft_probe(f, 1)->node.ports[0];
        uint64_t until;

        wf_fabric_inject(f, port, &fault);
        wf_pfc_xoff(port, 3);
        wft_run(f, 10 * US);
        assert_true(wf_pfc_paused(nic, 3, &until));
        wf_pfc_xon(port, 3);
        wft_run(f, 336 * US);
        assert_true(wf_pfc_paused(nic, 3, &until));
        wft_run(f, 337 * US); /* 65535 quanta are 335.5 us */
        assert_false(wf_pfc_paused(nic, 3, &until));
        assert_int_equal(port->prio_ctr[3][WF_PRIO_XON_TX], 1);
        assert_int_equal(nic->prio_ctr[3][WF_PRIO_XON_RX], 0);
        assert_int_equal((action ? nic : port)->drops[action ? WF_DROP_FCS : WF_DROP_INJECTED], 1);
        wft_check(f);
        wf_fabric_free(f);
    }
}

/* A storm of 1,000 frames that is as fast as the wire and one that is slower; it pauses whom it
 * says, leaves nothing behind, and its counters are the receiver's. */
static void storms_are_frames_on_the_wire(void **state)
{
    static const uint64_t period[] = {1, 100 * NS};

    for (unsigned i = 0; i < 2; i++) {
        struct wf_desc_step step = {
            .at_ps = US,
            .action = WF_DO_STORM,
            .where = "h1:p0",
            .storm = {.period_ps = period[i], .limit = 1000, .quanta = 500, .vector = 0x18}};
        struct wf_fabric *f;

        one_leaf(2);
        desc.steps = &step;
        desc.n_steps = 1;
        f = wft_build(&desc);
        wft_run(f, WF_TIME_NEVER);
        wf_fabric_settle(f);
        for (unsigned p = 0; p < 8; p++) {
            const uint64_t *rx = leaf_port(f, 1)->prio_ctr[p];
            const uint64_t *tx = wft_probe(f, 1)->node.ports[0].prio_ctr[p];
            uint64_t sent = tx[WF_PRIO_XOFF_TX] + tx[WF_PRIO_REFRESH_TX];

            assert_int_equal(sent, p != 3 && p != 4 ? 0 : i ? 1000 : sent);
            assert_true(p != 3 || sent > 0);
            assert_int_equal(rx[WF_PRIO_XOFF_RX] + rx[WF_PRIO_REFRESH_RX], sent);
            assert_int_equal(rx[WF_PRIO_XOFF_RX], !!sent);
        }
        assert_int_equal(wf_fabric_in_flight(f), 0);
        wft_check(f);
        wf_fabric_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_say_what_the_wire_says),
        cmocka_unit_test(what_a_link_took_is_not_counted),
        cmocka_unit_test(refreshes_on_long_links_find_packets),
        cmocka_unit_test(a_raised_rate_empties_no_pool),
        cmocka_unit_test(quanta_are_exact),
        cmocka_unit_test(responses_are_those_of_the_table),
        cmocka_unit_test(each_priority_has_its_own_quanta),
        cmocka_unit_test(a_lapse_is_seen),
        cmocka_unit_test(odd_frames_do_what_the_standard_says),
        cmocka_unit_test(pfc_is_for_the_priorities_that_have_it),
        cmocka_unit_test(pause_frames_stop_everything),
        cmocka_unit_test(pause_beside_pfc_is_another_timer),
        cmocka_unit_test(none_sends_and_obeys_nothing),
        cmocka_unit_test(control_frames_are_lost_like_others),
        cmocka_unit_test(storms_are_frames_on_the_wire),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
