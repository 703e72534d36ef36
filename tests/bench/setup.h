/* SPDX-License-Identifier: BSD-3-Clause */
/* What every bench needs besides what it measures. */
#ifndef WEFT_TESTS_BENCH_SETUP_H
#define WEFT_TESTS_BENCH_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"

/* EAL without hugepages and devices, on one CPU or on all of them. Exits with 3. */
void wfb_eal(unsigned mbytes, bool several);
/* CPU time of this thread. */
uint64_t wfb_cpu_ns(void);
/* Bytes that all flows delivered. */
uint64_t wfb_delivered(const struct wf_fabric *f);
/* A description without nodes: seed 1, at most a second of fabric time. */
extern const struct wf_desc wfb_desc;

#endif
