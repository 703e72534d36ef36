/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC control frames: what a port makes of them, and that building it again says the same. */
#include <string.h>

#include "wire/pfc.h"

#include "fuzz.h"

static void check_pfc(const uint8_t *frame, const struct wf_pfc *pfc)
{
    uint8_t again[WF_PFC_FRAME_LEN];
    struct wf_parsed p;
    struct wf_pfc got;

    FUZZ_CHECK(wf_pfc_build(again, frame + 6, pfc->vector, pfc->quanta) == sizeof(again));
    FUZZ_CHECK(wf_parse(again, sizeof(again), sizeof(again), &p) == WF_DROP_NONE);
    FUZZ_CHECK(wf_mac_control_get(again, sizeof(again), &p, &got) == WF_MAC_CONTROL_IS_PFC);
    FUZZ_CHECK(got.vector == pfc->vector);
    for (int i = 0; i < 8; i++)
        FUZZ_CHECK(got.quanta[i] == (pfc->vector >> i & 1 ? pfc->quanta[i] : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t len = (uint32_t)size;
    struct wf_parsed p;
    struct wf_pfc pfc;

    if (wf_parse(data, len, len, &p) != WF_DROP_NONE)
        return 0;
    switch (wf_mac_control_get(data, len, &p, &pfc)) {
    case WF_MAC_CONTROL_IS_PFC:
        FUZZ_CHECK(p.flags & WF_P_MAC_CONTROL && !p.n_tags && len >= 34);
        check_pfc(data, &pfc);
        break;
    case WF_MAC_CONTROL_IS_PAUSE:
        FUZZ_CHECK(pfc.vector == 0xff && pfc.quanta[0] == pfc.quanta[7]);
        break;
    case WF_MAC_CONTROL_IS_BAD:
        break;
    }
    return 0;
}
