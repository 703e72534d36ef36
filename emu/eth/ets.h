/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmission selection: strict priority first, highest queue first, then deficit weighted round
 * robin among the rest (802.1Q 8.6.8, 802.1Qaz ETS with byte-exact deficits). A queue takes part
 * when its head is ready and the link layer lets its class send.
 * Left out: ETS groups, shapers.
 */
#ifndef WEFT_ETH_ETS_H
#define WEFT_ETH_ETS_H

#include "net/port.h"

extern const struct wf_sched_ops wf_ets_ops;

#endif
