/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth/headroom.h"

#include <stddef.h>

#include "base/units.h"

uint64_t wf_pfc_response_ps(uint64_t rate_bps)
{
    /* speed, quanta: 802.3 31B.3.7 as SONiC's headroom tables carry them */
    static const struct {
        uint64_t gbps;
        uint32_t quanta;
    } rows[] = {{1, 2},     {10, 67},   {25, 80},   {40, 118}, {50, 147},
                {100, 394}, {200, 453}, {400, 905}, {800, 905}};
    uint32_t quanta = rows[0].quanta;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rate_bps >= rows[i].gbps * 1000000000ull)
            quanta = rows[i].quanta;
    return (uint64_t)((unsigned __int128)quanta * 512 * WF_PS_PER_S / rate_bps);
}

uint64_t wf_headroom_bytes(const struct wf_headroom_in *in)
{
    /* our own frame that is being sent when we decide, the PFC frame, there and back, response */
    unsigned __int128 bits = (unsigned __int128)(in->frame_max + 20 + 84) * 8;
    unsigned __int128 ps = 2 * (unsigned __int128)in->delay_ps + in->response_ps;

    bits += (ps * in->rate_bps + WF_PS_PER_S - 1) / WF_PS_PER_S;
    /* the frame that made us decide, above the threshold with all of its length; and the peer's
     * that has just begun when its pause takes effect */
    return (uint64_t)((bits + 7) / 8) + 2ull * in->frame_max;
}
