/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many packets of a fabric can be alive at once: the size of its pools. An empty pool is an
 * error of the run, so whatever can make packets is counted here, or bounded where it makes them.
 */
#ifndef WEFT_FABRIC_POOL_H
#define WEFT_FABRIC_POOL_H

#include "fabric/fabric.h"

/* Header packets: data of flows, and control frames. */
unsigned wf_pool_hdr(const struct wf_desc *d, const struct wf_fabric_opts *opts);
/* Bytes of headers that each of them holds. */
uint32_t wf_pool_hdr_room(const struct wf_desc *d);
/* Whole frames. */
unsigned wf_pool_full(const struct wf_desc *d, const struct wf_fabric_opts *opts);
/* Events of hosts that listen: a timer of each, and of each of their queue pairs. */
uint64_t wf_pool_listeners(const struct wf_desc *d);
/* The highest rate that each link is foreseen to have; the caller frees it. NULL: no memory. */
uint64_t *wf_pool_rates(const struct wf_desc *d);

#endif
