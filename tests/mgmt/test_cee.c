/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CEE's state machines by scripts: two stations that tell each other, and one station against a
 * peer whose every TLV is written out. The outcomes are those of the base specification 1.01,
 * feature state machine, not computed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mgmt/cee.h"

static struct wf_dcbx said[2];

static void own(struct wf_dcbx *d, uint8_t pfc, int roce)
{
    *d = (struct wf_dcbx){.flags = WF_DCBX_IEEE};
    d->cfg.tsa[0] = d->cfg.tsa[3] = WF_TSA_ETS;
    d->cfg.bw[0] = 30;
    d->cfg.bw[3] = 70;
    d->cfg.tc[3] = 3;
    d->cfg.tc[6] = 6;
    d->pfc = (struct wf_dcb_pfc){.cap = 8, .enable = pfc};
    if (roce >= 0) {
        d->apps[0] = (struct wf_app){(uint8_t)roce, 0, WF_APP_UDP, 4791};
        d->n_apps = 1;
    }
}

static void station(struct wf_cee *c, bool willing, uint8_t pfc, int roce)
{
    struct wf_dcbx_cfg cfg = {
        .enable = true, .ets_willing = willing, .pfc_willing = willing, .app_willing = willing};
    static struct wf_dcbx d;

    own(&d, pfc, roce);
    wf_cee_init(c, &d, &cfg);
}

/* The one speaks, the other hears; true: the other has to answer. */
static bool tell(struct wf_cee *from, struct wf_cee *to)
{
    static struct wf_dcbx d;

    d = (struct wf_dcbx){.flags = 0};
    wf_cee_tx(from, &d);
    said[0] = said[1];
    said[1] = d;
    return wf_cee_rx(to, &d);
}

/* Until neither has anything new to say. */
static unsigned talk(struct wf_cee c[2])
{
    bool say[2] = {true, true};
    unsigned frames = 0;

    while ((say[0] || say[1]) && frames < 20)
        for (unsigned i = 0; i < 2; i++)
            if (say[i]) {
                say[i] = false;
                say[!i] |= tell(&c[i], &c[!i]);
                frames++;
            }
    return frames;
}

static void what_a_port_is_becomes_groups(void **state)
{
    static const uint8_t pgid[8] = {0, 0, 0, 3, 0, 0, 15, 0};
    struct wf_cee c;
    struct wf_dcbx d = {.flags = 0};

    (void)state;
    station(&c, true, 1 << 3, 3);
    wf_cee_tx(&c, &d);
    assert_memory_equal(d.cee_pg.pgid, pgid, 8);
    assert_int_equal(d.cee_pg.bw[0], 30);
    assert_int_equal(d.cee_pg.bw[3], 70);
    assert_int_equal(d.cee_pfc.enable, 8);
    assert_int_equal(d.n_cee_apps, 1);
    assert_int_equal(d.cee_apps[0].protocol, 4791);
    assert_int_equal(d.cee_apps[0].sel, 1);
    assert_int_equal(d.cee_apps[0].prios, 8);
    assert_true(d.cee_pfc_hdr.enable && d.cee_pfc_hdr.willing && !d.cee_pfc_hdr.error);
    assert_int_equal(d.cee_ctrl.seq, 1);
    assert_int_equal(d.cee_ctrl.ack, 0);
    station(&c, true, 0, -1); /* nothing to say of RoCE */
    d.flags = 0;
    wf_cee_tx(&c, &d);
    assert_int_equal(d.flags & WF_DCBX_HAS_CEE_APP, 0);
}

/* Local willing, peer willing, same PFC: who decides, does it operate, does the TLV say error. */
static void willing_decides(void **state)
{
    static const struct {
        bool local, peer, same, of_peer, operates, error;
    } rows[] = {
        {false, false, true, false, true, false}, {false, false, false, false, false, true},
        {true, true, true, false, true, false},   {true, true, false, false, false, true},
        {true, false, true, true, true, false},   {true, false, false, true, true, false},
        {false, true, true, false, true, false},  {false, true, false, false, true, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_cee c[2];
        const struct wf_cee_feature *f = &c[0].feature[WF_CEE_F_PFC];

        station(&c[0], rows[i].local, 0x08, 3);
        station(&c[1], rows[i].peer, rows[i].same ? 0x08 : 0x18, 3);
        assert_true(talk(c) < 20);
        assert_true(f->syncd);
        assert_int_equal(f->of_peer, rows[i].of_peer);
        assert_int_equal(f->operates, rows[i].operates);
        assert_int_equal(f->error, rows[i].error);
        assert_true(c[0].feature[WF_CEE_F_PG].operates); /* groups always go together */
        assert_int_equal(c[0].ack, c[1].seq);
        assert_int_equal(c[1].ack, c[0].seq);
    }
}

/* A peer whose TLVs are written out. */
static struct wf_dcbx peer(uint32_t seq, uint32_t ack)
{
    struct wf_dcbx d = {.flags = WF_DCBX_HAS_CEE | WF_DCBX_HAS_CEE_CTRL | WF_DCBX_HAS_CEE_PG |
                                 WF_DCBX_HAS_CEE_PFC | WF_DCBX_HAS_CEE_APP,
                        .cee_ctrl = {0, 0, seq, ack},
                        .cee_pg_hdr = {.enable = 1},
                        .cee_pfc_hdr = {.enable = 1},
                        .cee_app_hdr = {.enable = 1},
                        .cee_pfc = {0x10, 8},
                        .n_cee_apps = 1,
                        .cee_apps = {{4791, 0, 1, 0x1b21, 0x10}}};

    return d;
}

/* Nothing is decided before the peer has acknowledged what we said. */
static void an_acknowledgement_is_waited_for(void **state)
{
    struct wf_dcbx d = peer(5, 0), out = {.flags = 0};
    struct wf_cee c;
    const struct wf_cee_feature *f = &c.feature[WF_CEE_F_PFC];

    (void)state;
    station(&c, true, 0x08, 3);
    assert_true(wf_cee_rx(&c, &d)); /* its number has to be acknowledged */
    assert_false(f->syncd || f->operates);
    wf_cee_tx(&c, &out);
    assert_int_equal(out.cee_ctrl.seq, 1);
    assert_int_equal(out.cee_ctrl.ack, 5);
    d = peer(5, 1);
    assert_false(wf_cee_rx(&c, &d));
    assert_true(f->syncd && f->operates && f->of_peer);
}

/* An error is news: a new number, and once more an acknowledgement. */
static void an_error_is_told(void **state)
{
    struct wf_dcbx d = peer(5, 1), out = {.flags = 0};
    struct wf_cee c;
    const struct wf_cee_feature *f = &c.feature[WF_CEE_F_PFC];

    (void)state;
    station(&c, false, 0x08, 4);
    wf_cee_tx(&c, &out);
    assert_true(wf_cee_rx(&c, &d));
    assert_true(f->error && !f->operates && !f->syncd);
    assert_false(c.feature[WF_CEE_F_APP].error);
    wf_cee_tx(&c, &out);
    assert_int_equal(out.cee_ctrl.seq, 2);
    assert_true(out.cee_pfc_hdr.error);
    d = peer(6, 2); /* it comes to its senses */
    d.cee_pfc.enable = 0x08;
    assert_true(wf_cee_rx(&c, &d));
    assert_true(f->operates && !f->error);
    wf_cee_tx(&c, &out);
    assert_int_equal(out.cee_ctrl.seq, 3);
    assert_false(out.cee_pfc_hdr.error);
    d.cee_ctrl = (struct wf_cee_ctrl){0, 0, 6, 3};
    assert_false(wf_cee_rx(&c, &d));
    d.cee_pfc_hdr.error = 1; /* the peer's error stops it here too */
    wf_cee_rx(&c, &d);
    assert_true(!f->operates && !f->error);
}

static void a_feature_may_be_missing_or_off(void **state)
{
    struct wf_dcbx d = peer(5, 1), out = {.flags = 0};
    struct wf_cee c;

    (void)state;
    station(&c, true, 0x08, 3);
    wf_cee_tx(&c, &out);
    d.flags &= ~(uint32_t)WF_DCBX_HAS_CEE_PFC;
    d.cee_app_hdr.enable = 0;
    wf_cee_rx(&c, &d);
    assert_true(c.feature[WF_CEE_F_PFC].error && !c.feature[WF_CEE_F_PFC].operates);
    assert_false(c.feature[WF_CEE_F_APP].error || c.feature[WF_CEE_F_APP].operates);
    assert_true(c.feature[WF_CEE_F_PG].operates && c.feature[WF_CEE_F_PG].of_peer);
}

/* Who is gone decides nothing any more; the next one is told from the beginning. */
static void a_peer_goes(void **state)
{
    struct wf_dcbx d = peer(5, 1), out = {.flags = 0};
    struct wf_cee c;
    const struct wf_cee_feature *f = &c.feature[WF_CEE_F_PFC];

    (void)state;
    station(&c, true, 0x08, 3);
    wf_cee_tx(&c, &out);
    wf_cee_rx(&c, &d);
    assert_true(f->of_peer);
    assert_false(wf_cee_rx(&c, NULL));
    assert_false(f->of_peer || f->operates || f->syncd);
    assert_true(f->error);
    wf_cee_tx(&c, &out);
    assert_int_equal(out.cee_ctrl.seq, 1);
    assert_int_equal(out.cee_ctrl.ack, 0);
    d.flags = WF_DCBX_HAS_CEE | WF_DCBX_HAS_CEE_PFC; /* no control: not to be understood */
    assert_false(wf_cee_rx(&c, &d));
    assert_false(f->operates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_port_is_becomes_groups),    cmocka_unit_test(willing_decides),
        cmocka_unit_test(an_acknowledgement_is_waited_for), cmocka_unit_test(an_error_is_told),
        cmocka_unit_test(a_feature_may_be_missing_or_off),  cmocka_unit_test(a_peer_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
