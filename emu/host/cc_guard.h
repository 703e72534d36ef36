/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is to blame when a control that came from outside crashes: while one of its hooks runs, the
 * thread remembers which, and a fault ends the program with its name and exit status 4. Nothing is
 * remembered for laws that came with weft. Left out: hooks that never return, stacks that overflow.
 */
#ifndef WEFT_HOST_CC_GUARD_H
#define WEFT_HOST_CC_GUARD_H

#include "host/cc.h"

/* Once a shared object was loaded. */
void wf_cc_guard(void);
void wf_cc_enter(const char *path, const char *hook);
void wf_cc_leave(void);

#define WF_CC_HOOK(use, hook, ...)                                                                 \
    do {                                                                                           \
        const struct wf_cc_use *use_ = (use);                                                      \
        if (use_->path)                                                                            \
            wf_cc_enter(use_->path, #hook);                                                        \
        use_->law->hook(__VA_ARGS__);                                                              \
        if (use_->path)                                                                            \
            wf_cc_leave();                                                                         \
    } while (0)

#endif
