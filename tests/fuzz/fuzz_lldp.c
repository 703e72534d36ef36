/* SPDX-License-Identifier: BSD-3-Clause */
/* An LLDPDU and its DCBX: read whatever comes; what is well formed is written again and says the
 * same. */
#include <string.h>

#include "wire/dcbx.h"

#include "fuzz.h"

/* The IEEE half of what was read, written again. */
static void check_again(const struct wf_lldp_pdu *h, const struct wf_dcbx *d)
{
    static struct wf_dcbx got;
    uint8_t pdu[2048];
    struct wf_wr w = wf_wr_init(pdu, sizeof(pdu));
    struct wf_lldp_pdu again;

    wf_lldp_put_id(&w, WF_LLDP_CHASSIS, h->chassis_subtype, h->chassis.p, h->chassis.len);
    wf_lldp_put_id(&w, WF_LLDP_PORT, h->port_subtype, h->port.p, h->port.len);
    wf_lldp_put_ttl(&w, h->ttl_s);
    if (d->flags & WF_DCBX_HAS_CFG)
        wf_dcbx_put_ets(&w, WF_DCBX_ETS_CFG, &d->cfg);
    if (d->flags & WF_DCBX_HAS_REC)
        wf_dcbx_put_ets(&w, WF_DCBX_ETS_REC, &d->rec);
    if (d->flags & WF_DCBX_HAS_PFC)
        wf_dcbx_put_pfc(&w, &d->pfc);
    if (d->flags & WF_DCBX_HAS_APP)
        wf_dcbx_put_apps(&w, d->apps, d->n_apps);
    wf_lldp_put_end(&w);
    FUZZ_CHECK(!w.err);
    FUZZ_CHECK(!wf_lldp_get(wf_rd_init(pdu, wf_wr_len(&w)), &again));
    FUZZ_CHECK(again.ttl_s == h->ttl_s && again.port.len == h->port.len &&
               !memcmp(again.port.p, h->port.p, h->port.len));
    wf_dcbx_get(wf_rd_init(pdu, wf_wr_len(&w)), &got);
    FUZZ_CHECK(got.flags == (d->flags & WF_DCBX_IEEE) && got.n_apps == d->n_apps);
    FUZZ_CHECK(!memcmp(&got.cfg, &d->cfg, sizeof(got.cfg)) &&
               !memcmp(&got.rec, &d->rec, sizeof(got.rec)) &&
               !memcmp(&got.pfc, &d->pfc, sizeof(got.pfc)) &&
               !memcmp(got.apps, d->apps, sizeof(got.apps)));
}

static void check_walk(struct wf_rd r)
{
    const uint8_t *end = r.end;
    struct wf_lldp_tlv tlv;
    struct wf_rd body;

    while (wf_lldp_next(&r, &tlv, &body))
        FUZZ_CHECK(r.p <= end && body.end <= end && body.end - body.p == tlv.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wf_dcbx d;
    struct wf_rd r = wf_rd_init(data, size);
    char text[1024], id[64], small[40];
    struct wf_lldp_pdu h;
    int rc = wf_lldp_get(r, &h);

    check_walk(r);
    FUZZ_CHECK(!rc == !h.why);
    wf_dcbx_get(r, &d);
    FUZZ_CHECK(!(d.flags & WF_DCBX_MALFORMED) == !d.why);
    wf_dcbx_text(&d, text, sizeof(text));
    wf_dcbx_text(&d, small, sizeof(small));
    FUZZ_CHECK(!strncmp(text, small, strlen(small)) && strlen(small) < sizeof(small));
    wf_app_rocev2(d.apps, d.n_apps);
    wf_cee_app_rocev2(d.cee_apps, d.n_cee_apps);
    if (h.chassis.p)
        wf_lldp_id_text(true, h.chassis_subtype, h.chassis.p, h.chassis.len, id, sizeof(id));
    if (h.port.p)
        wf_lldp_id_text(false, h.port_subtype, h.port.p, h.port.len, id, sizeof(id));
    if (!rc)
        check_again(&h, &d);
    return 0;
}
