/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/counter.h"

#include <stdio.h>

#define KIND_C 'C'
#define KIND_G 'G'
#define KIND_M 'M'

/* One table from its X-macro. */
#define ROW(id, kind, name, meaning, sai, mlx5, rdma) {name, KIND_##kind, meaning, sai, mlx5, rdma},
#define TABLE(lower, LIST)                                                                         \
    static const struct wf_ctr_desc rows_##lower[] = {LIST(ROW)};                                  \
    const struct wf_ctr_table wf_ctrs_##lower = {#lower, rows_##lower,                             \
                                                 sizeof(rows_##lower) / sizeof(rows_##lower[0])}

TABLE(port, WF_CTRS_PORT);
TABLE(prio, WF_CTRS_PRIO);
TABLE(queue, WF_CTRS_QUEUE);
TABLE(pg, WF_CTRS_PG);
TABLE(flow, WF_CTRS_FLOW);
TABLE(edge, WF_CTRS_EDGE);
TABLE(fabric, WF_CTRS_FABRIC);

static const struct wf_ctr_desc rows_drop[WF_DROP_COUNT] = {
    /* clang-format off */
    {NULL, 'C', "", "", "", ""},
#define X(id, name, meaning) {"drop_" name "_frames", 'C', meaning, "", "", ""},
    WF_REASONS(X)
#undef X
    /* clang-format on */
};
const struct wf_ctr_table wf_ctrs_drop = {"drop", rows_drop, WF_DROP_COUNT};

const struct wf_ctr_table *const wf_ctr_tables[] = {
    &wf_ctrs_port, &wf_ctrs_drop, &wf_ctrs_prio,   &wf_ctrs_queue, &wf_ctrs_pg,
    &wf_ctrs_flow, &wf_ctrs_edge, &wf_ctrs_fabric, NULL,
};

unsigned wf_ctr_table_bit(const struct wf_ctr_table *table)
{
    unsigned i = 0;

    while (wf_ctr_tables[i] && wf_ctr_tables[i] != table)
        i++;
    return 1u << i;
}

const char *wf_ctr_name(const struct wf_ctr_walk *w, char *buf)
{
    if (!w->part)
        return w->holder;
    snprintf(buf, WF_CTR_NAME_MAX, "%s.%s%u", w->holder, w->part, w->index);
    return buf;
}

static bool array_next(struct wf_ctr_walk *w)
{
    const struct wf_ctr_obj *objs = w->of;

    for (; w->at < w->count; w->at++) {
        const struct wf_ctr_obj *o = &objs[w->at];

        if (!(w->tables & wf_ctr_table_bit(o->table)))
            continue;
        w->holder = o->name;
        w->table = o->table;
        w->values = o->values;
        w->at++;
        return true;
    }
    return false;
}

struct wf_ctr_walk wf_ctr_array(const struct wf_ctr_obj *objs, size_t n)
{
    return (struct wf_ctr_walk){.next = array_next,
                                .of = objs,
                                .count = (uint32_t)n,
                                .tables = (unsigned)WF_CTR_ALL_TABLES};
}
