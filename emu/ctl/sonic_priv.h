/* SPDX-License-Identifier: BSD-3-Clause */
/* What the makers of SONiC's views share. */
#ifndef WEFT_CTL_SONIC_PRIV_H
#define WEFT_CTL_SONIC_PRIV_H

#include "ctl/sonic.h"

enum { WF_SONIC_PARTS = 8 }; /* queues, groups, priorities of a port */

/* A counter of a row; 0: it is not there. */
uint64_t wf_sonic_number(const json_t *row, const char *key);
const char *wf_sonic_name(const json_t *row);
/* The rows of a view by their names, or NULL and *err. */
json_t *wf_sonic_by_name(struct wf_sonic_source *src, const char *view, struct wf_err *err);
/* Takes over columns and rows. */
json_t *wf_sonic_table(const char *title, json_t *columns, json_t *rows);

/* Each adds its tables of these ports. 0, or -errno and *err. */
int wf_sonic_queues(struct wf_sonic_source *src, const json_t *ports, bool trim, json_t *tables,
                    struct wf_err *err);
int wf_sonic_watchdogs(struct wf_sonic_source *src, const json_t *ports, json_t *tables,
                       struct wf_err *err);
int wf_sonic_pools(const char *view, struct wf_sonic_source *src, const char *at, json_t *tables,
                   struct wf_err *err);
int wf_sonic_interfaces(struct wf_sonic_source *src, const json_t *ports, json_t *tables,
                        struct wf_err *err);
int wf_sonic_interface_trims(const json_t *ports, json_t *tables);

#endif
