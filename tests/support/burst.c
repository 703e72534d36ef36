/* SPDX-License-Identifier: BSD-3-Clause */
#include "burst.h"

#include "wire/pfc.h"

struct wf_desc *wft_leaf_spine(uint32_t leaves, uint32_t spines, uint32_t hosts)
{
    static struct wf_arena arena;
    static struct wf_desc desc;

    wf_arena_free(&arena);
    desc = (struct wf_desc){.name = "test",
                            .seed = 1,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, leaves, spines, hosts);
    wf_desc_address(&desc, &arena);
    for (uint32_t i = 0; i < desc.n_switches; i++)
        desc.switches[i].cfg.port.pfc.response_ps = 0;
    return &desc;
}

void wft_burst(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp, uint8_t ecn,
               uint32_t payload, uint32_t n)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t hdr = wft_roce(f, from, to, dscp, ecn, i, payload, buf, &len);

        wft_send(f, from, wf_fabric_now_ps(f), dscp / 8u, buf, hdr, len);
    }
}

void wft_pfc(struct wf_fabric *f, uint32_t host, uint8_t vector, uint16_t quanta)
{
    uint8_t buf[WF_PFC_FRAME_LEN];
    uint16_t q[8];

    for (int i = 0; i < 8; i++)
        q[i] = quanta;
    wf_pfc_build(buf, f->desc->hosts[host].cfg.mac, vector, q);
    wft_send(f, host, wf_fabric_now_ps(f), 7, buf, sizeof(buf), sizeof(buf));
}
