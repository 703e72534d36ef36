/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this machine offers for guests: a QEMU, KVM or not, the speed of its time-stamp counter;
 * and the command line that starts a guest with it.
 */
#ifndef WEFT_LAB_MACHINE_H
#define WEFT_LAB_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum wf_accel { WF_ACCEL_AUTO, WF_ACCEL_KVM, WF_ACCEL_TCG };

struct wf_machine {
    char qemu[256];
    bool kvm;         /* take KVM */
    char why[128];    /* why KVM is not taken, for the user; "" when it is */
    uint32_t tsc_khz; /* 0: unknown */
};

/* -ENOENT with the package to install when there is no QEMU; -ENODEV when KVM was asked for and
 * cannot be had. */
int wf_machine_detect(struct wf_machine *m, enum wf_accel want, struct wf_err *err);

#define WF_GUEST_NICS 16

struct wf_guest_nic {
    const char *socket_path; /* vhost-user, the switch is the server */
    uint8_t mac[6];
    uint32_t mtu; /* L3 bytes, as Linux means it */
};

struct wf_guest_config {
    const char *name; /* [a-z0-9_-], names its files too */
    const char *dir;  /* for NAME.console.log and NAME.qemu.log */
    const char *vmlinux, *initramfs;
    const char *share; /* host folder the guest may use, NULL: none */
    uint32_t mem_mib;
    int cpu; /* the one host CPU to run on, -1: any */
    const struct wf_guest_nic *nics;
    uint32_t n_nics;
};

#define WF_QEMU_ARGS 160

struct wf_qemu_argv {
    const char *v[WF_QEMU_ARGS + 1]; /* NULL-terminated */
    uint32_t n;
    char text[16 * 1024]; /* holds the strings */
    uint32_t used;
    bool overflow;
};

/* agent_fd is the descriptor that QEMU will inherit for the agent's port. */
int wf_qemu_argv_build(struct wf_qemu_argv *a, const struct wf_machine *m,
                       const struct wf_guest_config *cfg, int agent_fd, struct wf_err *err);

#endif
