/* SPDX-License-Identifier: BSD-3-Clause */
/* Within the import of SONiC's configuration: see import.h. */
#ifndef WEFT_SCEN_IMPORT_PRIV_H
#define WEFT_SCEN_IMPORT_PRIV_H

#include <stdbool.h>

#include "scen/import.h"
#include "switch/config.h"

#define WF_IMPORT_PORTS 1024

/* A place in the file; key and field may be NULL. */
struct wf_import_at {
    const char *table, *key, *field;
};

/* A row of a table, and what it is called. */
struct wf_import_row {
    const char *key;
    json_t *json; /* NULL: there is none */
};

struct wf_import_port {
    const char *name;
    bool up;
    uint64_t number, rate_bps, delay_ps, mtu; /* number: of its name */
    struct wf_import_row qos, watchdog;
    struct wf_import_row pg[WF_PGS], buffer_queue[WF_QUEUES], queue[WF_QUEUES];
    const char *block; /* its part of the scenario */
    uint64_t headroom[WF_POOLS];
    uint8_t dscp_to_pfc[64]; /* priority that a packet's group pauses */
    int lossless_dscp;       /* the lowest; -1: none */
};

struct wf_import_pool {
    const char *name;
    json_t *json;
};

/* One file under way. */
struct wf_importing {
    struct wf_import *im;
    const char *file;
    json_t *root;
    json_t *index; /* port name to its number in ports */
    struct wf_import_port *ports;
    size_t n_ports;
    struct wf_import_pool ingress[WF_POOLS], egress[WF_POOLS];
    unsigned n_ingress, n_egress;
};

/* import_note.c */
void wf_import_note(struct wf_importing *in, enum wf_import_kind kind, struct wf_import_at at,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Text of the file as it may stand in a comment or message. */
const char *wf_import_clean(struct wf_arena *a, const char *s);

/* import_value.c */
/* A table or row; NULL when there is none, or it is no object, which is told. */
json_t *wf_import_table(struct wf_importing *in, const char *table);
/* A text value; NULL: not there or wrong, which is told. */
const char *wf_import_text(struct wf_importing *in, json_t *row, struct wf_import_at at);
/* A number as text or JSON integer. False: not there or wrong, which is told. */
bool wf_import_int(struct wf_importing *in, json_t *row, struct wf_import_at at, int64_t min,
                   int64_t max, int64_t *v);
/* Numbers such as "3,4" or "0-2", below n, as bits. False: wrong, told. */
bool wf_import_bits(struct wf_importing *in, struct wf_import_at at, const char *text, unsigned n,
                    uint32_t *bits);
/* The row that a reference "name" or "[TABLE|name]" means; json NULL: none, or unknown, told. */
struct wf_import_row wf_import_ref(struct wf_importing *in, json_t *row, struct wf_import_at at,
                                   const char *table);

/* import_table.c */
/* Ports with their links, and the rows of each; pools; what of the file is ignored. */
void wf_import_ports(struct wf_importing *in);
void wf_import_rows(struct wf_importing *in);
void wf_import_pools(struct wf_importing *in);
void wf_import_unknown(struct wf_importing *in);

/* import_port.c: the port's block, and what follows from it. */
void wf_import_port(struct wf_importing *in, struct wf_import_port *p);
/* {0-7: 0, 8: 1}: the numbers in values[0..n). */
void wf_import_put_map(const uint8_t *values, unsigned n, FILE *to);
/* [0-3,8] or 5: the set of those of n whose like[] is what. */
const char *wf_import_set(struct wf_arena *a, const uint32_t *like, size_t n, uint32_t what);

/* import_buffer.c */
/* The mapping of a group, if it has one. True: it is lossless. */
bool wf_import_pg(struct wf_importing *in, struct wf_import_port *p, unsigned g, bool pausing,
                  FILE *to);
void wf_import_queue(struct wf_importing *in, struct wf_import_port *p, unsigned q, FILE *to);

/* import_write.c */
void wf_import_write(struct wf_importing *in, FILE *to);

#endif
