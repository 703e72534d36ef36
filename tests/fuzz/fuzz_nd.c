/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP and neighbour discovery: read, walked, written again. */
#include <string.h>

#include "wire/arp.h"
#include "wire/nd.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_rd r = wf_rd_init(data, size);
    uint8_t again[60], mac[6];
    struct wf_wr w = wf_wr_init(again, sizeof(again));
    struct wf_arp arp;
    struct wf_nd nd;

    if (!wf_arp_get(&r, &arp)) {
        wf_arp_put(&w, &arp);
        FUZZ_CHECK(!memcmp(again, data, WF_ARP_LEN));
        wf_arp_check(&arp);
        FUZZ_CHECK(wf_arp_build(again, arp.tha, &arp) == sizeof(again));
    }
    r = wf_rd_init(data, size);
    if (!wf_nd_get(&r, &nd)) {
        struct wf_rd options = r;

        w = wf_wr_init(again, sizeof(again));
        wf_nd_put(&w, &nd);
        FUZZ_CHECK(!memcmp(again, data, WF_ND_LEN));
        wf_nd_lladdr(&r, WF_ND_OPT_SOURCE, mac);
        wf_nd_lladdr(&options, WF_ND_OPT_TARGET, mac);
    }
    return 0;
}
