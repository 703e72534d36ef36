/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all formats, apart from what reads them: who needs one does not need them all. */
#include <string.h>

#include "wire/arp.h"
#include "wire/bth.h"
#include "wire/cm.h"
#include "wire/dcbx.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/lldp.h"
#include "wire/mad.h"
#include "wire/nd.h"
#include "wire/pfc.h"
#include "wire/udp.h"

const struct wf_fmt *const wf_fmts[] = {
    &wf_fmt_eth,         &wf_fmt_vlan,         &wf_fmt_arp,
    &wf_fmt_ip4,         &wf_fmt_ip6,          &wf_fmt_grh,
    &wf_fmt_nd,          &wf_fmt_ndopt,        &wf_fmt_udp,
    &wf_fmt_pfc,         &wf_fmt_pause,        &wf_fmt_bth,
    &wf_fmt_rdeth,       &wf_fmt_deth,         &wf_fmt_xrceth,
    &wf_fmt_feth,        &wf_fmt_reth,         &wf_fmt_atomiceth,
    &wf_fmt_aeth,        &wf_fmt_atomicacketh, &wf_fmt_immdt,
    &wf_fmt_ieth,        &wf_fmt_mad,          &wf_fmt_cm_req,
    &wf_fmt_cm_rep,      &wf_fmt_cm_rtu,       &wf_fmt_cm_dreq,
    &wf_fmt_cm_mra,      &wf_fmt_cm_rej,       &wf_fmt_cm_path,
    &wf_fmt_cm_sidr_req, &wf_fmt_cm_sidr_rep,  &wf_fmt_cm_ip,
    &wf_fmt_lldp_tlv,    &wf_fmt_lldp_org,     &wf_fmt_lldp_caps,
    &wf_fmt_ets_tlv,     &wf_fmt_dcb_pfc,      &wf_fmt_app,
    &wf_fmt_cee_hdr,     &wf_fmt_cee_ctrl,     &wf_fmt_cee_pg,
    &wf_fmt_cee_pfc,     &wf_fmt_cee_app,      NULL,
};

const struct wf_fmt *wf_fmt_find(const char *name)
{
    for (size_t i = 0; wf_fmts[i]; i++)
        if (!strcmp(wf_fmts[i]->name, name))
            return wf_fmts[i];
    return NULL;
}
