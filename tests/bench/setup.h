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
/* The fabric, or the end of the program with 3. */
struct wf_fabric *wfb_build(const char *bench, const struct wf_desc *d);
/* What a run took. */
struct wfb_took {
    uint64_t ns, hops;
};
/* To its end; what was delivered and the invariants are checked. 0 or an exit code. */
int wfb_run(const char *bench, struct wf_fabric *f, uint64_t bytes, struct wfb_took *took);
/* A description without nodes: seed 1, at most a second of fabric time. */
extern const struct wf_desc wfb_desc;

#endif
