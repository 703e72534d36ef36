/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A running instance has a name and a directory, $XDG_RUNTIME_DIR/weft-UID/NAME, else
 * /tmp/weft-UID/NAME, for its owner only. A lock on a file in it says whether the instance lives,
 * so that nothing is believed that a killed process left behind.
 */
#ifndef WEFT_LAB_INSTANCE_H
#define WEFT_LAB_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct wf_instance {
    char name[64], dir[256];
    int lock_fd; /* -1: not ours */
};

/* Letters, digits, '-', '_' and '.', at most 32, no leading '.'; -EINVAL and a message else. */
int wf_instance_name_check(const char *name, struct wf_err *err);
/* Its directory's path; makes the directory above it, and refuses one that others could write. */
int wf_instance_find(struct wf_instance *in, const char *name, struct wf_err *err);
/* Take the name: -EEXIST while another process holds it. What a dead one left is removed. The lock
 * is inherited by fork and ends with the last process that holds it. */
int wf_instance_claim(struct wf_instance *in, const char *name, struct wf_err *err);
/* Somebody holds its lock. */
bool wf_instance_alive(const struct wf_instance *in);
/* Process that runs it, 0: unknown. */
pid_t wf_instance_pid(const struct wf_instance *in);
int wf_instance_set_pid(const struct wf_instance *in, pid_t pid);
/* Remove the directory, and give the name up if it is ours. */
void wf_instance_remove(struct wf_instance *in);
/* Path of a file in its directory; buf returned. */
const char *wf_instance_path(const struct wf_instance *in, const char *file, char *buf, size_t len);
/* Call f for each directory of an instance, dead or alive; stops when f returns non-zero. */
int wf_instance_each(int (*f)(void *arg, const struct wf_instance *in), void *arg,
                     struct wf_err *err);

#endif
