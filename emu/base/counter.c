/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/counter.h"

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
