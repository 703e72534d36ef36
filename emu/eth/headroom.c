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

static uint64_t rounded(uint64_t cell, uint64_t len)
{
    return (len + cell - 1) / cell * cell;
}

/* Bytes of cells that as many bytes on the wire can fill. A frame of L bytes takes L + 20 there and
 * a whole number of cells here: the worst is the shortest frame, or the one that has just begun
 * another cell. */
static uint64_t cells_of(const struct wf_headroom_in *in, uint64_t wire)
{
    uint64_t worst_cells = 1, worst_wire = 1;

    for (uint64_t len = in->frame_min; in->cell > 1 && len <= in->frame_max;
         len = rounded(in->cell, len) + 1) {
        uint64_t cells = rounded(in->cell, len);

        if (cells * worst_wire > worst_cells * (len + 20)) {
            worst_cells = cells;
            worst_wire = len + 20;
        }
    }
    return worst_cells == 1 ? wire
                            : rounded(in->cell, (wire * worst_cells + worst_wire - 1) / worst_wire);
}

uint64_t wf_headroom_bytes(const struct wf_headroom_in *in)
{
    /* our own frame that is being sent when we decide, the PFC frame, there and back, response */
    unsigned __int128 bits = (unsigned __int128)(in->frame_max + 20 + 84) * 8;
    unsigned __int128 ps = 2 * (unsigned __int128)in->delay_ps + in->response_ps;

    bits += (ps * in->rate_bps + WF_PS_PER_S - 1) / WF_PS_PER_S;
    /* the frame that made us decide, above the threshold with all of its length; and the peer's
     * that has just begun when its pause takes effect */
    return cells_of(in, (uint64_t)((bits + 7) / 8)) + 2 * rounded(in->cell, in->frame_max);
}
