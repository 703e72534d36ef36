/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric's counters as a SONiC switch shows them: the views, titles, columns and layout of its
 * `show` commands (pfc counters, queue counters, priority-group watermark ...), made of the rows of
 * weft's own views, live or of a finished run. Ports keep their names. What a view is by SAI is in
 * docs/COUNTERS.md. Left out: multicast and VOQ queues, FEC, RIFs; rates are means over the run.
 */
#ifndef WEFT_CTL_SONIC_H
#define WEFT_CTL_SONIC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Where rows come from: those of one of weft's views (wf_ctl_views), as a new reference to an array
 * of {"name": ..., counter: value ...}; NULL and *err. */
struct wf_sonic_source {
    json_t *(*rows)(void *arg, const char *view, struct wf_err *err);
    void *arg;
    uint64_t time_ps; /* over which rates are taken: set before rates are made, by rows() */
};

/* Their names, as they are typed, NULL-terminated. */
extern const char *const wf_sonic_views[];

/*
 * The tables of a view: [{"title", "columns": [...], "rows": [{column: value ...}]}], null where
 * SONiC has N/A. Of the ports that fit the pattern; NULL: of all ports of switches. NULL and *err
 * when rows can't be had, or no port fits.
 */
json_t *wf_sonic_tables(const char *view, struct wf_sonic_source *src, const char *at,
                        struct wf_err *err);
/* As SONiC prints them. */
void wf_sonic_print(const char *view, const json_t *tables, FILE *out);

#endif
