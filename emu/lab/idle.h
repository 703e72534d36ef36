/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has a command settled? It has when every process of its group sleeps and none has used CPU time
 * since the last look: a server that waits for its client does, a program that still starts does
 * not. Read from /proc; needs libc only, since the guest's agent uses it too.
 * Left out: a server that spins on its completion queue never settles; callers bound their wait.
 */
#ifndef WEFT_LAB_IDLE_H
#define WEFT_LAB_IDLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WF_IDLE_LOOK_MS 50 /* between two looks */
#define WF_IDLE_LOOKS   4  /* equal looks in a row that make it settled */

struct wf_idle {
    uint64_t cpu_ticks; /* at the last look */
    uint32_t equal;     /* looks in a row without change */
};

/* One look at process group pgid; true once it has settled. */
bool wf_idle_look(struct wf_idle *idle, pid_t pgid);

#endif
