/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/partition.h"

#include <inttypes.h>
#include <string.h>

#define FAR UINT32_MAX

/* While it is made. Nodes are numbered as in the fabric, groups by their lowest node. */
struct work {
    const struct wf_desc *d;
    uint32_t n;
    uint32_t *parent;       /* of the node's group, up to its lowest node */
    uint32_t *tier;         /* by node; of a group's lowest node the lowest of all */
    uint64_t *weight;       /* by node; then summed up at a group's lowest */
    uint32_t *lcore;        /* by a group's lowest node */
    uint32_t *first, *next; /* links' ends by node */
    uint32_t *ends;         /* 2 * link + side: the node there */
    uint64_t load[WF_LCORES_MAX];
    uint32_t tiers;
};

static uint32_t node_of(const struct wf_desc *d, struct wf_desc_end e)
{
    return e.is_host ? d->n_switches + e.index : e.index;
}

static uint32_t group_of(struct work *w, uint32_t node)
{
    while (w->parent[node] != node)
        node = w->parent[node] = w->parent[w->parent[node]];
    return node;
}

static void join(struct work *w, uint32_t a, uint32_t b)
{
    a = group_of(w, a);
    b = group_of(w, b);
    if (a < b)
        w->parent[b] = a;
    else
        w->parent[a] = b;
}

static void list_links(struct work *w, struct wf_arena *arena)
{
    w->first = WF_ARENA_ARRAY(arena, uint32_t, w->n);
    w->next = WF_ARENA_ARRAY(arena, uint32_t, 2 * w->d->n_links + 1);
    w->ends = WF_ARENA_ARRAY(arena, uint32_t, 2 * w->d->n_links + 1);
    memset(w->first, 0xff, sizeof(*w->first) * w->n);
    for (uint32_t i = 2 * w->d->n_links; i-- > 0;) {
        const struct wf_desc_link *l = &w->d->links[i / 2];
        uint32_t node = node_of(w->d, i % 2 ? l->b : l->a);

        w->ends[i] = node;
        w->next[i] = w->first[node];
        w->first[node] = i;
        w->weight[node]++;
    }
}

static void make_groups(struct work *w, struct wf_partition *p)
{
    for (uint32_t i = 0; i < w->n; i++)
        w->parent[i] = i;
    for (uint32_t i = 0; i < w->d->n_links; i++)
        if (w->d->links[i].cfg.delay_ps < WF_PARTITION_FLOOR_PS) {
            join(w, w->ends[2 * i], w->ends[2 * i + 1]);
            p->n_near++;
        }
    for (uint32_t h = w->d->n_switches; h < w->n; h++)
        if (w->first[h] != FAR)
            join(w, h, w->ends[w->first[h] ^ 1]);
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t g = group_of(w, i);

        p->n_groups += g == i;
        if (g != i)
            w->weight[g] += w->weight[i];
    }
}

/* Distances from the switches that have hosts; then the least of each group, at its lowest node. */
static void find_tiers(struct work *w, struct wf_arena *arena)
{
    uint32_t *queue = WF_ARENA_ARRAY(arena, uint32_t, w->n + 1), head = 0, tail = 0;

    memset(w->tier, 0xff, sizeof(*w->tier) * w->n);
    for (uint32_t i = w->d->n_switches; i < w->n; i++) {
        w->tier[i] = 0;
        queue[tail++] = i;
    }
    while (head < tail) {
        uint32_t at = queue[head++];

        for (uint32_t e = w->first[at]; e != FAR; e = w->next[e]) {
            uint32_t to = w->ends[e ^ 1];

            if (w->tier[to] != FAR)
                continue;
            w->tier[to] = w->tier[at] + 1;
            queue[tail++] = to;
        }
    }
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t g = group_of(w, i);

        if (w->tier[i] == FAR) /* no way to any host */
            w->tier[i] = 0;
        if (w->tier[i] < w->tier[g])
            w->tier[g] = w->tier[i];
        w->tiers = w->tier[i] > w->tiers ? w->tier[i] : w->tiers;
    }
}

static uint32_t least_loaded(const struct work *w, uint32_t lcores)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < lcores; i++)
        if (w->load[i] < w->load[best])
            best = i;
    return best;
}

static bool leads(struct work *w, uint32_t node, uint32_t tier)
{
    return group_of(w, node) == node && w->tier[node] == tier;
}

/* A group whose middle lies in the i-th part of the tier's weight goes to lcore i. */
static void split_tier(struct work *w, uint32_t tier, uint32_t lcores)
{
    uint64_t all = 0, before = 0;
    uint32_t groups = 0;

    for (uint32_t i = 0; i < w->n; i++)
        if (leads(w, i, tier)) {
            all += w->weight[i];
            groups++;
        }
    for (uint32_t i = 0; i < w->n; i++) {
        if (!leads(w, i, tier))
            continue;
        w->lcore[i] = groups < lcores || !all
                          ? least_loaded(w, lcores)
                          : (uint32_t)((2 * before + w->weight[i]) * lcores / (2 * all));
        if (w->lcore[i] >= lcores)
            w->lcore[i] = lcores - 1;
        before += w->weight[i];
        w->load[w->lcore[i]] += w->weight[i];
    }
}

/* Lcores that got nothing are left out. */
static void number_lcores(struct work *w, struct wf_partition *p)
{
    uint32_t number[WF_LCORES_MAX];
    bool used[WF_LCORES_MAX] = {false};

    for (uint32_t i = 0; i < w->n; i++)
        used[w->lcore[group_of(w, i)]] = true;
    for (uint32_t i = 0; i < p->asked; i++)
        if (used[i])
            number[i] = p->n++;
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t lc = number[w->lcore[group_of(w, i)]];

        p->lcore_of[i] = lc;
        p->nodes[lc]++;
    }
    for (uint32_t i = 0; i < 2 * w->d->n_links; i++)
        p->weight[p->lcore_of[w->ends[i]]]++;
    for (uint32_t i = 0; i < w->d->n_links; i++)
        p->n_cut += p->lcore_of[w->ends[2 * i]] != p->lcore_of[w->ends[2 * i + 1]];
}

void wf_partition(struct wf_partition *p, const struct wf_desc *d, uint32_t lcores,
                  struct wf_arena *arena)
{
    struct wf_arena tmp = {0};
    struct work w = {.d = d, .n = d->n_switches + d->n_hosts};

    *p = (struct wf_partition){.asked = lcores};
    p->lcore_of = WF_ARENA_ARRAY(arena, uint32_t, w.n + 1);
    w.parent = WF_ARENA_ARRAY(&tmp, uint32_t, w.n + 1);
    w.tier = WF_ARENA_ARRAY(&tmp, uint32_t, w.n + 1);
    w.weight = WF_ARENA_ARRAY(&tmp, uint64_t, w.n + 1);
    w.lcore = WF_ARENA_ARRAY(&tmp, uint32_t, w.n + 1);
    list_links(&w, &tmp);
    make_groups(&w, p);
    find_tiers(&w, &tmp);
    for (uint32_t t = 0; t <= w.tiers; t++)
        split_tier(&w, t, lcores);
    number_lcores(&w, p);
    if (!p->n) /* no node at all */
        p->n = 1;
    wf_arena_free(&tmp);
}

uint64_t wf_link_lookahead(const struct wf_link_cfg *cfg)
{
    struct wf_txclock tx;

    /* a cut-through node hears of a frame after so many bytes; the last bit of the shortest frame
     * is 8 bytes behind that, more than rounding can take away */
    wf_txclock_init(&tx, cfg->rate_bps);
    return cfg->delay_ps + wf_txclock_span(&tx, WF_CUT_THROUGH_BYTES * 8);
}

void wf_fabric_lookaheads(struct wf_fabric *f)
{
    if (!f->team)
        return;
    for (uint32_t i = 0; i < f->n_lcs * f->n_lcs; i++)
        if (i / f->n_lcs != i % f->n_lcs)
            wf_team_lookahead(f->team, i / f->n_lcs, i % f->n_lcs, WF_TIME_NEVER);
    for (uint32_t i = 0; i < f->desc->n_links; i++) {
        const struct wf_link *l = &f->links[i];
        uint32_t a = l->ends[0]->node->net->lc->index, b = l->ends[1]->node->net->lc->index;
        uint64_t ps = wf_link_lookahead(&l->cfg);

        if (a == b || ps >= wf_team_lookahead_ps(f->team, a, b))
            continue;
        wf_team_lookahead(f->team, a, b, ps);
        wf_team_lookahead(f->team, b, a, ps);
    }
    wf_team_ready(f->team);
}

static void print_pair(const struct wf_partition *p, const struct wf_desc *d, uint32_t a,
                       uint32_t b, FILE *out)
{
    uint64_t least = WF_TIME_NEVER;
    uint32_t n = 0, which = 0;
    char t[32], from[128], to[128];

    for (uint32_t i = 0; i < d->n_links; i++) {
        uint32_t x = p->lcore_of[node_of(d, d->links[i].a)];
        uint32_t y = p->lcore_of[node_of(d, d->links[i].b)];
        uint64_t ps = wf_link_lookahead(&d->links[i].cfg);

        if (!((x == a && y == b) || (x == b && y == a)))
            continue;
        n++;
        if (ps < least) {
            least = ps;
            which = i;
        }
    }
    if (n)
        fprintf(out, "  lcores %u and %u: %u links, lookahead %s (%s-%s)\n", a, b, n,
                wf_time_short(least, t, sizeof(t)),
                wf_desc_port_name(d, which, 0, from, sizeof(from)),
                wf_desc_port_name(d, which, 1, to, sizeof(to)));
}

void wf_partition_print(const struct wf_partition *p, const struct wf_desc *d, FILE *out)
{
    char t[32];

    fprintf(out, "partition: %u of %u lcores, %u links cut\n", p->n, p->asked, p->n_cut);
    for (uint32_t i = 0; i < p->n; i++)
        fprintf(out, "  lcore %u: %u nodes, %" PRIu64 " ports\n", i, p->nodes[i], p->weight[i]);
    for (uint32_t a = 0; a < p->n; a++)
        for (uint32_t b = a + 1; b < p->n; b++)
            print_pair(p, d, a, b, out);
    fprintf(out, "  floor %s: %u links below it are never cut; hosts stay with their switch\n",
            wf_time_short(WF_PARTITION_FLOOR_PS, t, sizeof(t)), p->n_near);
    if (p->n < p->asked)
        fprintf(out, "  there are %u groups of nodes that may be on different lcores\n",
                p->n_groups);
}
