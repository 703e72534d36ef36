/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which port and priority lacked headroom: lossless groups that refused frames, with the headroom
 * that they have and what can still arrive there after XOFF.
 */
#include <inttypes.h>

#include "cap/json.h"
#include "scen/report.h"
#include "scen/scen_priv.h"

enum { ROWS_TOLD = 8 };

struct row {
    const struct wf_port *port;
    const struct wf_pg *pg;
    unsigned g;
    uint64_t needed;
};

/* The next one from *at on, which counts groups of ends of links. */
static bool next(const struct wf_report *r, uint64_t *at, struct row *out)
{
    for (; *at < 2ull * r->f->desc->n_links * WF_PGS; ++*at) {
        uint32_t link = (uint32_t)(*at / WF_PGS / 2);
        int end = (int)(*at / WF_PGS % 2);
        const struct wf_port *port = r->f->links[link].ends[end];
        const struct wf_switch *sw = (const struct wf_switch *)port->node;
        unsigned g = (unsigned)(*at % WF_PGS);
        struct wf_pg_limits lim;
        struct wf_pg_bounds bounds;

        if (port->node->ops != &wf_switch_ops || !sw->pg[port->index][g].lossless ||
            !sw->pg[port->index][g].ctr[WF_PG_DROP_FRAMES])
            continue;
        wf_scen_pg(r->scen, link, end, g, &lim, &bounds);
        *out = (struct row){port, &sw->pg[port->index][g], g, bounds.headroom};
        ++*at;
        return true;
    }
    return false;
}

void wf_report_headroom_text(const struct wf_report *r, FILE *out)
{
    uint64_t at = 0, n = 0;
    char have[32], need[32];
    struct row x;

    while (next(r, &at, &x)) {
        if (++n > ROWS_TOLD)
            continue;
        if (n == 1)
            fputs("\n  headroom was too small\n", out);
        fprintf(out,
                "  %-12s priority %u (pg%u): %s, but %s can arrive after XOFF; %" PRIu64
                " frames found no room\n",
                x.port->name, x.pg->prio, x.g,
                wf_bytes_short(x.pg->lim.headroom, have, sizeof(have)),
                wf_bytes_short(x.needed, need, sizeof(need)), x.pg->ctr[WF_PG_DROP_FRAMES]);
    }
    if (n > ROWS_TOLD)
        fprintf(out, "  ... and %" PRIu64 " more groups: --json has all\n", n - ROWS_TOLD);
}

json_t *wf_report_headroom_json(const struct wf_report *r)
{
    json_t *list = json_array();
    uint64_t at = 0;
    struct row x;

    while (next(r, &at, &x))
        json_array_append_new(list,
                              json_pack("{s:s, s:i, s:i, s:o, s:o, s:o}", "port", x.port->name,
                                        "priority", (int)x.pg->prio, "priority_group", (int)x.g,
                                        "drop_frames", wf_json_u64(x.pg->ctr[WF_PG_DROP_FRAMES]),
                                        "headroom_bytes", wf_json_u64(x.pg->lim.headroom),
                                        "needed_bytes", wf_json_u64(x.needed)));
    return list;
}
