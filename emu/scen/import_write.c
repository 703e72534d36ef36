/* SPDX-License-Identifier: BSD-3-Clause */
/* The scenario of an import: links, the switch's pools, ports that are alike, an incast. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "scen/import_priv.h"

/* Ports that are up, and what each is called in the scenario. */
struct up {
    struct wf_import_port **v;
    uint32_t *like; /* the first port that is the same */
    uint32_t n;
};

static bool same_link(const struct wf_import_port *a, const struct wf_import_port *b)
{
    return a->rate_bps == b->rate_bps && a->delay_ps == b->delay_ps && a->mtu == b->mtu;
}

static bool same_block(const struct wf_import_port *a, const struct wf_import_port *b)
{
    return !strcmp(a->block, b->block);
}

static bool same_host(const struct wf_import_port *a, const struct wf_import_port *b)
{
    return (a->mtu < 4200 ? a->mtu : 4200) == (b->mtu < 4200 ? b->mtu : 4200) &&
           !memcmp(a->dscp_to_pfc, b->dscp_to_pfc, sizeof(a->dscp_to_pfc));
}

static void alike(struct up *up,
                  bool (*same)(const struct wf_import_port *, const struct wf_import_port *))
{
    for (uint32_t i = 0; i < up->n; i++) {
        uint32_t j = 0;

        while (j < i && (up->like[j] != j || !same(up->v[j], up->v[i])))
            j++;
        up->like[i] = j;
    }
}

static const char *set_of(struct wf_importing *in, const struct up *up, uint32_t like)
{
    return wf_import_set(&in->im->arena, up->like, up->n, like);
}

static void put_head(struct wf_importing *in, const struct up *up, FILE *to)
{
    fprintf(to, "# SPDX-License-Identifier: BSD-3-Clause\nweft: 1\ndescription: >\n");
    fprintf(
        to,
        "  A SONiC switch, imported from its config_db.json. The file does not know the chip's\n"
        "  cell size, latency and whole buffer: put those in below switches. The hosts' NICs are\n"
        "  assumed to be configured as their ports are.\n");
    fprintf(to, "# leaf0's ports:\n");
    for (uint32_t i = 0; i < up->n; i++)
        fprintf(to, "#   p%u, to h%u: %s\n", i, i, wf_import_clean(&in->im->arena, up->v[i]->name));
    fprintf(to, "topology: {kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: %u}\n", up->n);
}

static void put_links(struct wf_importing *in, struct up *up, FILE *to)
{
    char a[32], b[32];

    alike(up, same_link);
    fprintf(to, "links:  # PORT: speed and mtu; CABLE_LENGTH at 198,000 km/s\n");
    for (uint32_t i = 0; i < up->n; i++)
        if (up->like[i] == i)
            fprintf(to, "  \"h%s\": {rate: %s, delay: %s, mtu: %" PRIu64 "}\n", set_of(in, up, i),
                    wf_rate_text(up->v[i]->rate_bps, a, sizeof(a)),
                    wf_time_text(up->v[i]->delay_ps, b, sizeof(b)), up->v[i]->mtu);
}

/* One pool; the bytes that it adds to the buffer. */
static uint64_t put_pool(struct wf_importing *in, const struct wf_import_pool *p, unsigned i,
                         bool ingress, bool *automatic, FILE *to)
{
    struct wf_import_at mode = {"BUFFER_POOL", p->name, "mode"};
    const char *m = wf_import_text(in, p->json, mode);
    struct wf_import_at size = {"BUFFER_POOL", p->name, "size"};
    int64_t bytes = 0, headroom = 0;

    if (!m || (strcmp(m, "static") && strcmp(m, "dynamic")))
        wf_import_note(in, WF_IMPORT_ERROR, mode, "'%s': expected static or dynamic",
                       m ? wf_import_clean(&in->im->arena, m) : "");
    fprintf(to, "      %u: {mode: %s, size: ", i,
            m && !strcmp(m, "dynamic") ? "dynamic" : "static");
    if (json_object_get(p->json, "size")) {
        wf_import_int(in, p->json, size, 0, 1ll << 38, &bytes);
        fprintf(to, "%" PRId64 "B", bytes);
    } else {
        wf_import_note(in, WF_IMPORT_DIFFERS, size, "is not given: SONiC and weft calculate it");
        *automatic = true;
        fprintf(to, "auto");
    }
    if (ingress && wf_import_int(in, p->json, (struct wf_import_at){"BUFFER_POOL", p->name, "xoff"},
                                 0, 1ll << 38, &headroom))
        fprintf(to, ", headroom_pool: %" PRId64 "B", headroom);
    fprintf(to, "}  # BUFFER_POOL.%s\n", wf_import_clean(&in->im->arena, p->name));
    return (uint64_t)(bytes + headroom);
}

/* Headroom of groups whose pool has none to share. */
static uint64_t own_headroom(const struct wf_importing *in, const struct up *up)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < WF_POOLS; i++)
        for (uint32_t p = 0; p < up->n; p++)
            if (i >= in->n_ingress || !json_object_get(in->ingress[i].json, "xoff"))
                sum += up->v[p]->headroom[i];
    return sum;
}

static void put_switch(struct wf_importing *in, const struct up *up, FILE *to)
{
    uint64_t ingress = own_headroom(in, up), egress = 0, buffer;
    bool automatic = !in->n_ingress;

    fprintf(to, "switches:\n  leaf0:\n");
    if (in->n_ingress)
        fprintf(to, "    ingress_pool:\n");
    for (unsigned i = 0; i < in->n_ingress; i++)
        ingress += put_pool(in, &in->ingress[i], i, true, &automatic, to);
    if (in->n_egress)
        fprintf(to, "    egress_pool:\n");
    for (unsigned i = 0; i < in->n_egress; i++) {
        bool any = false;
        uint64_t size = put_pool(in, &in->egress[i], i, false, &any, to);

        egress = size > egress ? size : egress;
    }
    buffer = ingress > egress ? ingress : egress;
    if (automatic && buffer < 32000000)
        buffer = 32000000;
    fprintf(to, "    buffer: %" PRIu64 "B  # %s\n", buffer,
            automatic
                ? "assumed: not in the file"
                : "the ingress pools and the groups' own headroom, or the largest egress pool");
}

static void put_ports(struct wf_importing *in, struct up *up, FILE *to)
{
    alike(up, same_block);
    fprintf(to, "ports:\n");
    for (uint32_t i = 0; i < up->n; i++)
        if (up->like[i] == i)
            fprintf(to, "  \"leaf0:p%s\":\n%s", set_of(in, up, i), up->v[i]->block);
}

static void put_hosts(struct wf_importing *in, struct up *up, FILE *to)
{
    alike(up, same_host);
    fprintf(to, "hosts:\n");
    for (uint32_t i = 0; i < up->n; i++) {
        const struct wf_import_port *p = up->v[i];

        if (up->like[i] != i)
            continue;
        fprintf(to, "  \"h%s\":\n    mtu: %" PRIu64 "\n    dscp_to_priority: ", set_of(in, up, i),
                p->mtu < 4200 ? p->mtu : 4200);
        wf_import_put_map(p->dscp_to_pfc, 64, to);
        fputc('\n', to);
    }
}

/* From all others to the first port; lossless when some DSCP is. */
static void put_workload(const struct up *up, FILE *to)
{
    uint64_t mtu = UINT64_MAX;
    unsigned path = 4096;
    int dscp = up->v[0]->lossless_dscp;

    if (up->n < 2)
        return;
    for (uint32_t i = 0; i < up->n; i++)
        mtu = up->v[i]->mtu < mtu ? up->v[i]->mtu : mtu;
    while (path > 256 && path + 80 > mtu)
        path /= 2;
    fprintf(to, "# An incast to the first port, to begin with.\nworkload:\n");
    fprintf(to,
            up->n == 2 ? "  - {name: in, kind: incast, from: h%u, to: h0"
                       : "  - {name: in, kind: incast, from: \"h[1-%u]\", to: h0",
            up->n - 1);
    if (dscp < 0) /* lossy: no more than it can bear */
        fprintf(to, ", path_mtu: %u, window: 64KiB, dscp: 0}\n", path);
    else
        fprintf(to, ", size: 4MB, path_mtu: %u, window: 2MiB, dscp: %d}\n", path, dscp);
    fprintf(to, "expect:\n  - \"flow.* completes\"\n");
    if (dscp >= 0)
        fprintf(to, "  - \"sum(leaf0:p*.drop_frames) == 0\"\n");
}

void wf_import_write(struct wf_importing *in, FILE *to)
{
    struct wf_arena *a = &in->im->arena;
    struct up up = {WF_ARENA_ARRAY(a, struct wf_import_port *, in->n_ports + 1),
                    WF_ARENA_ARRAY(a, uint32_t, in->n_ports + 1), 0};

    for (size_t i = 0; i < in->n_ports; i++)
        if (in->ports[i].up)
            up.v[up.n++] = &in->ports[i];
    if (!up.n) {
        wf_import_note(in, WF_IMPORT_ERROR, (struct wf_import_at){"PORT", NULL, NULL},
                       "no port is up (admin_status)");
        return;
    }
    put_head(in, &up, to);
    put_links(in, &up, to);
    put_switch(in, &up, to);
    put_ports(in, &up, to);
    put_hosts(in, &up, to);
    put_workload(&up, to);
}
