/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP and DCBX held against tshark in both directions (frames of our encoder; captures of other
 * people's agents), and against hostile bytes. Left out of the first, since tshark 4.0 has no field
 * for it: reserved bits, and the priorities of a CEE application but the lowest.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/prng.h"
#include "wire/dcbx.h"
#include "wire/eth.h"
#include "wire/print.h"

#include "hex.h"
#include "tshark.h"

#define LINE_MAX_LEN 4096

/* Every field of the three IEEE TLVs that tshark names; all occurrences in the frame. */
static const char fields[] =
    " -e lldp.chassis.subtype -e lldp.port.subtype -e lldp.time_to_live -e lldp.ieee.802_1.subtype"
    " -e lldp.dcbx.ieee.willing -e lldp.dcbx.ieee.ets.cbs -e lldp.dcbx.ieee.ets.maxtcs"
    " -e lldp.dcbx.feature.pg.pgid_prio0 -e lldp.dcbx.feature.pg.pgid_prio1"
    " -e lldp.dcbx.feature.pg.pgid_prio2 -e lldp.dcbx.feature.pg.pgid_prio3"
    " -e lldp.dcbx.feature.pg.pgid_prio4 -e lldp.dcbx.feature.pg.pgid_prio5"
    " -e lldp.dcbx.feature.pg.pgid_prio6 -e lldp.dcbx.feature.pg.pgid_prio7"
    " -e lldp.dcbx.feature.pg.per0 -e lldp.dcbx.feature.pg.per1 -e lldp.dcbx.feature.pg.per2"
    " -e lldp.dcbx.feature.pg.per3 -e lldp.dcbx.feature.pg.per4 -e lldp.dcbx.feature.pg.per5"
    " -e lldp.dcbx.feature.pg.per6 -e lldp.dcbx.feature.pg.per7"
    " -e lldp.dcbx.ieee.ets.tsa0 -e lldp.dcbx.ieee.ets.tsa1 -e lldp.dcbx.ieee.ets.tsa2"
    " -e lldp.dcbx.ieee.ets.tsa3 -e lldp.dcbx.ieee.ets.tsa4 -e lldp.dcbx.ieee.ets.tsa5"
    " -e lldp.dcbx.ieee.ets.tsa6 -e lldp.dcbx.ieee.ets.tsa7"
    " -e lldp.dcbx.ieee.pfc.mbc -e lldp.dcbx.ieee.pfc.numtcs"
    " -e lldp.dcbx.feature.pfc.prio0 -e lldp.dcbx.feature.pfc.prio1"
    " -e lldp.dcbx.feature.pfc.prio2 -e lldp.dcbx.feature.pfc.prio3"
    " -e lldp.dcbx.feature.pfc.prio4 -e lldp.dcbx.feature.pfc.prio5"
    " -e lldp.dcbx.feature.pfc.prio6 -e lldp.dcbx.feature.pfc.prio7"
    " -e lldp.dcbx.ieee.app.prio -e lldp.dcbx.iee.app.sf -e lldp.dcbx.feature.app.proto"
    " -e lldp.dcbx.control.seq -e lldp.dcbx.control.ack -e lldp.dcbx.feature.enabled"
    " -e lldp.dcbx.feature.willing -e lldp.dcbx.feature.error"
    " -e lldp.dcbx.feature.pg.numtcs -e lldp.dcbx.feature.pfc.numtcs"
    " -e lldp.dcbx.feature.app.prio";

struct line {
    char s[LINE_MAX_LEN];
    size_t n;
    bool more; /* of this field */
};

static void value(struct line *l, const char *fmt, unsigned v)
{
    l->n += (size_t)snprintf(l->s + l->n, sizeof(l->s) - l->n, "%s", l->more ? "," : "");
    l->n += (size_t)snprintf(l->s + l->n, sizeof(l->s) - l->n, fmt, v);
    l->more = true;
}

static void end_field(struct line *l)
{
    l->n += (size_t)snprintf(l->s + l->n, sizeof(l->s) - l->n, " ");
    l->more = false;
}

static void ets_values(struct line *l, const struct wf_dcbx *d, size_t member)
{
    if (d->flags & WF_DCBX_HAS_CFG)
        value(l, "%u", ((const uint8_t *)&d->cfg)[member]);
    if (d->flags & WF_DCBX_HAS_REC)
        value(l, "%u", ((const uint8_t *)&d->rec)[member]);
}

/* The subtypes of 802.1's TLVs in the order in which they stand in the frame. */
static void subtypes(struct line *l, struct wf_rd pdu)
{
    struct wf_lldp_tlv tlv;
    struct wf_lldp_org org;
    struct wf_rd b;

    while (wf_lldp_next(&pdu, &tlv, &b))
        if (tlv.type == WF_LLDP_ORG && !wf_lldp_org_get(&b, &org) && org.oui == WF_OUI_8021)
            value(l, "0x%02x", org.subtype);
    end_field(l);
}

static void ets_fields(struct line *l, const struct wf_dcbx *d)
{
    bool cfg = d->flags & WF_DCBX_HAS_CFG;

    if (cfg)
        value(l, "%u", d->cfg.willing);
    if (d->flags & WF_DCBX_HAS_PFC)
        value(l, "%u", d->pfc.willing);
    end_field(l);
    if (cfg)
        value(l, "%u", d->cfg.cbs);
    end_field(l);
    if (cfg)
        value(l, "%u", d->cfg.max_tc);
    end_field(l);
    for (size_t i = 0; i < 8; i++) {
        ets_values(l, d, offsetof(struct wf_ets_tlv, tc) + i);
        if (d->flags & WF_DCBX_HAS_CEE_PG)
            value(l, "%u", d->cee_pg.pgid[i]);
        end_field(l);
    }
    for (size_t i = 0; i < 8; i++) {
        ets_values(l, d, offsetof(struct wf_ets_tlv, bw) + i);
        if (d->flags & WF_DCBX_HAS_CEE_PG)
            value(l, "%u", d->cee_pg.bw[i]);
        end_field(l);
    }
    for (size_t i = 0; i < 8; i++) {
        ets_values(l, d, offsetof(struct wf_ets_tlv, tsa) + i);
        end_field(l);
    }
}

static void pfc_fields(struct line *l, const struct wf_dcbx *d)
{
    bool pfc = d->flags & WF_DCBX_HAS_PFC;

    if (pfc)
        value(l, "%u", d->pfc.mbc);
    end_field(l);
    if (pfc)
        value(l, "%u", d->pfc.cap);
    end_field(l);
    for (size_t i = 0; i < 8; i++) {
        if (pfc)
            value(l, "%u", d->pfc.enable >> i & 1);
        if (d->flags & WF_DCBX_HAS_CEE_PFC)
            value(l, "%u", d->cee_pfc.enable >> i & 1);
        end_field(l);
    }
}

static void cee_bits(struct line *l, const struct wf_dcbx *d, size_t member)
{
    if (d->flags & WF_DCBX_HAS_CEE_PG)
        value(l, "%u", ((const uint8_t *)&d->cee_pg_hdr)[member]);
    if (d->flags & WF_DCBX_HAS_CEE_PFC)
        value(l, "%u", ((const uint8_t *)&d->cee_pfc_hdr)[member]);
    if (d->flags & WF_DCBX_HAS_CEE_APP)
        value(l, "%u", ((const uint8_t *)&d->cee_app_hdr)[member]);
    end_field(l);
}

static void app_fields(struct line *l, const struct wf_dcbx *d)
{
    for (size_t i = 0; i < d->n_apps; i++)
        value(l, "%u", d->apps[i].prio);
    end_field(l);
    for (size_t i = 0; i < d->n_apps; i++)
        value(l, "%u", d->apps[i].sel);
    end_field(l);
    for (size_t i = 0; i < d->n_apps; i++)
        value(l, "0x%04x", d->apps[i].protocol);
    for (size_t i = 0; i < d->n_cee_apps; i++)
        value(l, "0x%04x", d->cee_apps[i].protocol);
    end_field(l);
    if (d->flags & WF_DCBX_HAS_CEE_CTRL)
        value(l, "%u", d->cee_ctrl.seq);
    end_field(l);
    if (d->flags & WF_DCBX_HAS_CEE_CTRL)
        value(l, "%u", d->cee_ctrl.ack);
    end_field(l);
    cee_bits(l, d, offsetof(struct wf_cee_hdr, enable));
    cee_bits(l, d, offsetof(struct wf_cee_hdr, willing));
    cee_bits(l, d, offsetof(struct wf_cee_hdr, error));
    if (d->flags & WF_DCBX_HAS_CEE_PG)
        value(l, "0x%02x", d->cee_pg.num_tcs);
    end_field(l);
    if (d->flags & WF_DCBX_HAS_CEE_PFC)
        value(l, "0x%02x", d->cee_pfc.num_tcs);
    end_field(l);
    for (size_t i = 0; i < d->n_cee_apps; i++)
        value(l, "%u", (unsigned)__builtin_ctz(d->cee_apps[i].prios | 128u));
}

/* What tshark should say of the frame if we read it right. */
static void want(struct line *l, const uint8_t *f, uint32_t len)
{
    static struct wf_dcbx d;
    struct wf_parsed p;
    struct wf_lldp_pdu h;
    struct wf_rd pdu;

    memset(l, 0, sizeof(*l));
    assert_int_equal(wf_parse(f, len, len, &p), WF_DROP_NONE);
    assert_true(p.flags & WF_P_LLDP);
    pdu = wf_lldp_of(f, len, &p);
    assert_int_equal(wf_lldp_get(pdu, &h), 0);
    wf_dcbx_get(pdu, &d);
    assert_null(d.why);
    value(l, "%u", h.chassis_subtype);
    end_field(l);
    value(l, "%u", h.port_subtype);
    end_field(l);
    value(l, "%u", h.ttl_s);
    end_field(l);
    subtypes(l, pdu);
    ets_fields(l, &d);
    pfc_fields(l, &d);
    app_fields(l, &d);
}

static bool no_tshark(void)
{
    if (!system("tshark --version >/dev/null 2>&1"))
        return false;
    print_message("skipped: no tshark\n");
    return true;
}

/* Each LLDP frame of the file, as tshark reads it and as we do. Returns how many. */
static unsigned compare(pcap_t *cap, const char *file)
{
    static struct line l;
    char cmd[LINE_MAX_LEN], line[LINE_MAX_LEN];
    struct pcap_pkthdr *ph;
    const u_char *f;
    unsigned n = 0;
    FILE *p;

    snprintf(cmd, sizeof(cmd),
             "tshark -n -r '%s' -Y lldp -T fields -E occurrence=a -E separator=/s %s 2>/dev/null",
             file, fields);
    p = popen(cmd, "r");
    assert_non_null(p);
    while (pcap_next_ex(cap, &ph, &f) == 1) {
        if (ph->caplen < 14 || f[12] != 0x88 || f[13] != 0xcc)
            continue;
        want(&l, f, ph->caplen);
        assert_non_null(fgets(line, sizeof(line), p));
        wft_tshark_line(line);
        wft_tshark_line(l.s);
        assert_string_equal(line, l.s);
        n++;
    }
    assert_null(fgets(line, sizeof(line), p));
    assert_int_equal(pclose(p), 0);
    return n;
}

static void captures_decode_to_what_tshark_shows(void **state)
{
    static const struct {
        const char *name;
        unsigned frames;
    } files[] = {{"dcb_ets.pcap", 31}, {"dcb_pfc.pcap", 0}, {"lldp-connectx.pcap", 1}};

    (void)state;
    if (no_tshark())
        skip();
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        pcap_t *cap = capture_open(files[i].name);
        char path[4096];
        unsigned n;

        if (!cap)
            skip();
        n = compare(cap, capture_path(files[i].name, path, sizeof(path)));
        if (files[i].frames)
            assert_int_equal(n, files[i].frames);
        assert_true(n);
        pcap_close(cap);
    }
}

static uint32_t begin(uint8_t *f, struct wf_wr *w, size_t room)
{
    struct wf_eth eth = {.src = {2, 0, 0, 0, 0, 9}, .ethertype = WF_ETHERTYPE_LLDP};

    *w = wf_wr_init(f, room);
    memcpy(eth.dst, wf_lldp_dst, 6);
    wf_eth_put(w, &eth);
    wf_lldp_put_id(w, WF_LLDP_CHASSIS, WF_LLDP_CHASSIS_MAC, eth.src, 6);
    wf_lldp_put_id(w, WF_LLDP_PORT, WF_LLDP_PORT_NAME, "leaf0:p3", 8);
    wf_lldp_put_ttl(w, 121);
    return WF_ETH_LEN;
}

static void put_cee(struct wf_wr *w, struct wf_prng *p)
{
    static struct wf_dcbx d;
    bool app = wf_prng_u64(p) & 1;

    d = (struct wf_dcbx){.flags = WF_DCBX_HAS_CEE_PG | WF_DCBX_HAS_CEE_PFC,
                         .cee_ctrl = {0, 0, 7, (uint32_t)wf_prng_u64(p)},
                         .cee_pg_hdr = {.enable = 1, .willing = wf_prng_u64(p) & 1},
                         .cee_pfc_hdr = {.enable = 1, .error = 1},
                         .cee_app_hdr = {.enable = 1},
                         .cee_pg = {.num_tcs = 8},
                         .cee_pfc = {(uint8_t)wf_prng_u64(p), 8},
                         .cee_apps = {{4791, 0, 1, 0x1b21, (uint8_t)wf_prng_u64(p)},
                                      {0x8906, 0, 0, 0x1b21, (uint8_t)wf_prng_u64(p)}}};
    for (int i = 0; i < 8; i++) {
        d.cee_pg.pgid[i] = wf_prng_u64(p) & 15;
        d.cee_pg.bw[i] = (uint8_t)wf_prng_below(p, 101);
    }
    d.flags |= app ? WF_DCBX_HAS_CEE_APP : 0;
    d.n_cee_apps = app ? 1 + (wf_prng_u64(p) & 1) : 0;
    wf_dcbx_put_cee(w, &d);
}

static void put_ieee(struct wf_wr *w, struct wf_prng *p)
{
    static const uint8_t tsas[] = {0, 1, 2, 255};
    struct wf_ets_tlv ets[2] = {{.willing = wf_prng_u64(p) & 1}};
    struct wf_app apps[20];
    size_t n = wf_prng_below(p, 20);

    ets[0].cbs = wf_prng_u64(p) & 1;
    ets[0].max_tc = wf_prng_u64(p) & 7;
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < 8; i++) {
            ets[e].tc[i] = wf_prng_u64(p) & 15;
            ets[e].bw[i] = (uint8_t)wf_prng_below(p, 101);
            ets[e].tsa[i] = tsas[wf_prng_u64(p) & 3];
        }
    for (size_t i = 0; i < n; i++)
        apps[i] =
            (struct wf_app){wf_prng_u64(p) & 7, 0, wf_prng_u64(p) & 7, (uint16_t)wf_prng_u64(p)};
    wf_dcbx_put_ets(w, WF_DCBX_ETS_CFG, &ets[0]);
    wf_dcbx_put_ets(w, WF_DCBX_ETS_REC, &ets[1]);
    wf_dcbx_put_pfc(w, &(struct wf_dcb_pfc){wf_prng_u64(p) & 1, wf_prng_u64(p) & 1, 0,
                                            wf_prng_u64(p) & 15, (uint8_t)wf_prng_u64(p)});
    if (n)
        wf_dcbx_put_apps(w, apps, n);
}

static uint32_t random_frame(uint8_t *f, size_t room, struct wf_prng *p, bool ieee, bool cee)
{
    struct wf_wr w;

    begin(f, &w, room);
    if (ieee)
        put_ieee(&w, p);
    if (cee)
        put_cee(&w, p);
    wf_lldp_put_end(&w);
    assert_false(w.err);
    return (uint32_t)wf_wr_len(&w);
}

static void what_we_write_tshark_reads(void **state)
{
    char dir[] = "/tmp/weft-dcbx-XXXXXX", file[64], cmd[96];
    struct wf_prng p;
    pcap_dumper_t *dump;
    pcap_t *cap;

    (void)state;
    if (no_tshark())
        skip();
    wf_prng_init(&p, 1, "dcbx");
    assert_non_null(mkdtemp(dir));
    snprintf(file, sizeof(file), "%s/f.pcap", dir);
    cap = pcap_open_dead(DLT_EN10MB, 65535);
    dump = pcap_dump_open(cap, file);
    assert_non_null(dump);
    for (int i = 0; i < 60; i++) {
        uint8_t f[512];
        struct pcap_pkthdr h = {.caplen = random_frame(f, sizeof(f), &p, i % 3 != 2, i % 3)};

        h.len = h.caplen;
        pcap_dump((u_char *)dump, &h, f);
    }
    pcap_dump_close(dump);
    pcap_close(cap);
    cap = pcap_open_offline(file, cmd);
    assert_non_null(cap);
    assert_int_equal(compare(cap, file), 60);
    pcap_close(cap);
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    assert_int_equal(system(cmd), 0);
}

/* Cut at every length: never a step beyond; what was whole before the cut is still found. */
static void every_cut_is_safe(void **state)
{
    static struct wf_dcbx d;
    struct wf_prng p;
    uint8_t f[512];
    uint32_t len;

    (void)state;
    wf_prng_init(&p, 3, "dcbx");
    len = random_frame(f, sizeof(f), &p, true, true);
    for (uint32_t cut = WF_ETH_LEN; cut <= len; cut++) {
        uint8_t *copy = malloc(cut - WF_ETH_LEN + 1); /* so that a sanitizer sees its end */
        struct wf_rd r = wf_rd_init(copy, cut - WF_ETH_LEN);
        struct wf_lldp_pdu h;
        int rc;

        memcpy(copy, f + WF_ETH_LEN, cut - WF_ETH_LEN);
        rc = wf_lldp_get(r, &h);
        assert_int_equal(!rc, !h.why);
        wf_dcbx_get(r, &d);
        if (cut == len)
            assert_true(!rc && !d.why && d.flags & WF_DCBX_HAS_CEE_APP);
        if (cut < WF_ETH_LEN + 9 + 11 + 4)
            assert_int_equal(rc, -EBADMSG);
        free(copy);
    }
}

static void wrong_ones_are_named(void **state)
{
    static const struct {
        const char *hex, *why;
    } cases[] = {
        {"", "ends before its time to live"},
        {"0207 04 020000000009", "ends before its time to live"},
        {"0402 0531 0207 04 020000000009 0602 0078",
         "does not begin with chassis, port and time to live"},
        {"0201 04 0402 0531 0602 0078", "an identifier of no bytes or too many"},
        {"0207 04 020000000009 0402 0531 0601 78", "a time to live of less than two bytes"},
        {"0207 04 020000000009 0402 0531 0602 0078 0602 0078",
         "chassis, port or time to live twice"},
        {"0207 04 020000000009 0402 0531 0602 0078 fe06 0080", "a TLV that is longer than what is "
                                                               "left"},
        {"0207 04 020000000009 0402 0531 0602 0078 fe03 0080c2",
         "an organization's TLV without OUI and subtype"},
        {"0207 04 020000000009 0402 0531 0602 0078 0e02 0014",
         "capabilities of less than four bytes"},
    };
    uint8_t b[128];
    struct wf_lldp_pdu h;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t n = hex_bytes(cases[i].hex, b, sizeof(b));

        assert_int_equal(wf_lldp_get(wf_rd_init(b, n), &h), -EBADMSG);
        assert_string_equal(h.why, cases[i].why);
    }
}

static void dcbx_in_error_is_passed_over(void **state)
{
    static const struct {
        const char *hex, *why;
        uint32_t flags;
    } cases[] = {
        {"fe06 0080c20b 8408 fe06 0080c20b 0418", "PFC Configuration twice", WF_DCBX_HAS_PFC},
        {"fe05 0080c20b 08 fe06 0080c20b 0418", "PFC Configuration not of 6 bytes",
         WF_DCBX_HAS_PFC},
        {"fe06 0080c209 0418", "ETS Configuration not of 25 bytes", 0},
        {"fe06 0080c20a 0418", "ETS Recommendation not of 25 bytes", 0},
        {"fe07 0080c20c 00 7312", "Application Priority of a part of an entry", 0},
        {"fe04 0080c20c", "Application Priority of a part of an entry", 0},
        {"fe0b 001b2102 0605 0000 4000 08", "CEE PFC not of 6 bytes", WF_DCBX_HAS_CEE},
        {"fe08 001b2102 0606 0000", "a TLV in CEE that is longer than what is left",
         WF_DCBX_HAS_CEE},
    };
    static struct wf_dcbx d;
    uint8_t b[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        wf_dcbx_get(wf_rd_init(b, hex_bytes(cases[i].hex, b, sizeof(b))), &d);
        assert_int_equal(d.flags, cases[i].flags | WF_DCBX_MALFORMED);
        assert_string_equal(d.why, cases[i].why);
    }
    wf_dcbx_get(wf_rd_init(b, hex_bytes("fe08 001b2101 00000000", b, sizeof(b))), &d);
    assert_int_equal(d.flags, WF_DCBX_HAS_PRE_CEE);
}

static void rocev2_is_found_by_its_port(void **state)
{
    static const struct wf_app apps[] = {{1, 0, WF_APP_TCP, 4791},
                                         {2, 0, WF_APP_DSCP, 26},
                                         {3, 0, WF_APP_UDP, 4791},
                                         {4, 0, WF_APP_ANY_PORT, 4791}};

    (void)state;
    assert_int_equal(wf_app_rocev2(apps, 2), -1);
    assert_int_equal(wf_app_rocev2(apps, 4), 3);
    assert_int_equal(wf_app_rocev2(apps + 3, 1), 4);
}

static void a_line_says_all_of_it(void **state)
{
    uint8_t f[512];
    struct wf_wr w;
    struct wf_ets_tlv ets = {.willing = 1,
                             .tc = {0, 1, 2, 3, 4, 5, 6, 7},
                             .bw = {50, 0, 0, 50},
                             .tsa = {2, 0, 0, 2, 255}};
    struct wf_app app = {3, 0, WF_APP_UDP, 4791};
    char text[1024];

    (void)state;
    begin(f, &w, sizeof(f));
    wf_lldp_put_text(&w, WF_LLDP_SYSTEM_NAME, "leaf0");
    wf_dcbx_put_ets(&w, WF_DCBX_ETS_CFG, &ets);
    wf_dcbx_put_pfc(&w, &(struct wf_dcb_pfc){.cap = 8, .enable = 8});
    wf_dcbx_put_apps(&w, &app, 1);
    wf_lldp_put_end(&w);
    assert_string_equal(
        wf_frame_text(text, sizeof(text), f, (uint32_t)wf_wr_len(&w), (uint32_t)wf_wr_len(&w)),
        "02:00:00:00:00:09 > 01:80:c2:00:00:0e LLDP chassis 02:00:00:00:00:09 port leaf0:p3 "
        "ttl 121 name leaf0 ETS-CFG willing tc 01234567 bw 50,0,0,50,0,0,0,0 tsa essevsss "
        "PFC cap 8 0x08 APP udp/4791=3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_decode_to_what_tshark_shows),
        cmocka_unit_test(what_we_write_tshark_reads),
        cmocka_unit_test(every_cut_is_safe),
        cmocka_unit_test(wrong_ones_are_named),
        cmocka_unit_test(dcbx_in_error_is_passed_over),
        cmocka_unit_test(rocev2_is_found_by_its_port),
        cmocka_unit_test(a_line_says_all_of_it),
    };

    return cmocka_run_group_tests_name("wire/dcbx", tests, NULL, NULL);
}
