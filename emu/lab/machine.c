/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See machine.h. Each odd-looking option answers a failure that was seen with QEMU 7.2:
 * - vectors=0: with vhost-user and TCG, MSI-X crashes QEMU when the driver starts;
 * - tsc_early_khz, tsc=reliable: on a loaded machine the guest measures its clock wrongly, and the
 *   timers of its RDMA stack with it;
 * - share=on memory: vhost-user lets the switch map the guest's memory;
 * - an ELF kernel and an unpacked initramfs: see scripts/guest/kernel_elf.py;
 * - offloads off: the switch forwards frames as they are, and so they must be complete ones.
 */
#include "lab/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/agent_proto.h"

#define QEMU "qemu-system-x86_64"

static bool find_program(const char *name, char *path, size_t len)
{
    const char *dirs = getenv("PATH");

    if (!dirs)
        dirs = "/usr/local/bin:/usr/bin:/bin";
    while (*dirs) {
        int n = (int)strcspn(dirs, ":");

        if (n && snprintf(path, len, "%.*s/%s", n, dirs, name) < (int)len && !access(path, X_OK))
            return true;
        dirs += n + (dirs[n] == ':');
    }
    return false;
}

/* The value of the first line of /proc/cpuinfo that begins with key. */
static bool cpuinfo(const char *key, char *value, size_t len)
{
    char *line = NULL, *colon;
    size_t cap = 0;
    bool found = false;
    FILE *f = fopen("/proc/cpuinfo", "re");

    while (f && !found && getline(&line, &cap, f) > 0) {
        colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)))
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(value, len, "%s ", colon + 1); /* a blank ends the last flag too */
        found = true;
    }
    free(line);
    if (f)
        fclose(f);
    return found;
}

static void detect_kvm(struct wf_machine *m)
{
    char flags[4096];
    int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

    if (fd < 0) {
        snprintf(m->why, sizeof(m->why), "/dev/kvm: %s", strerror(errno));
        return;
    }
    close(fd);
    /* some nested environments have a /dev/kvm on which an ordinary kernel does not boot */
    if (!cpuinfo("flags", flags, sizeof(flags)) ||
        (!strstr(flags, " vmx ") && !strstr(flags, " svm "))) {
        snprintf(m->why, sizeof(m->why), "the CPU has neither vmx nor svm");
        return;
    }
    m->kvm = true;
}

int wf_machine_detect(struct wf_machine *m, enum wf_accel want, struct wf_err *err)
{
    char mhz[64];

    memset(m, 0, sizeof(*m));
    if (!find_program(QEMU, m->qemu, sizeof(m->qemu)))
        return wf_err_set(err, ENOENT,
                          QEMU " not found: guests need the package qemu-system-x86 "
                               "(apt-get install --no-install-recommends qemu-system-x86)");
    if (want == WF_ACCEL_TCG)
        snprintf(m->why, sizeof(m->why), "tcg was asked for");
    else
        detect_kvm(m);
    if (want == WF_ACCEL_KVM && !m->kvm)
        return wf_err_set(err, ENODEV, "accel: kvm was asked for, but KVM is of no use here: %s",
                          m->why);
    if (cpuinfo("cpu MHz", mhz, sizeof(mhz)))
        m->tsc_khz = (uint32_t)(strtod(mhz, NULL) * 1000);
    return 0;
}

static void add(struct wf_qemu_argv *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct wf_qemu_argv *a, const char *fmt, ...)
{
    size_t room = sizeof(a->text) - a->used;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(a->text + a->used, room, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= room || a->n == WF_QEMU_ARGS) {
        a->overflow = true;
        return;
    }
    a->v[a->n++] = a->text + a->used;
    a->v[a->n] = NULL;
    a->used += n + 1;
}

static void add_machine(struct wf_qemu_argv *a, const struct wf_machine *m,
                        const struct wf_guest_config *cfg)
{
    add(a, "%s", m->qemu);
    add(a, "-name");
    add(a, "weft-%s", cfg->name);
    add(a, "-machine");
    add(a, "q35,accel=%s,memory-backend=m0", m->kvm ? "kvm" : "tcg");
    add(a, "-object");
    add(a, "memory-backend-memfd,id=m0,size=%uM,share=on", cfg->mem_mib);
    add(a, "-cpu");
    add(a, "%s", m->kvm ? "host" : "qemu64,+pclmulqdq,+ssse3,+sse4.1,+sse4.2,+popcnt");
    add(a, "-smp");
    add(a, "1");
    add(a, "-m");
    add(a, "%u", cfg->mem_mib);
    for (const char *const *o = (const char *const[]){"-nodefaults", "-no-user-config", "-display",
                                                      "none", "-no-reboot", "-serial", NULL};
         *o; o++)
        add(a, "%s", *o);
    add(a, "file:%s/%s.console.log", cfg->dir, cfg->name);
}

static void add_kernel(struct wf_qemu_argv *a, const struct wf_machine *m,
                       const struct wf_guest_config *cfg)
{
    char tsc[64] = "";

    if (!m->kvm && m->tsc_khz)
        snprintf(tsc, sizeof(tsc), " tsc=reliable tsc_early_khz=%u", m->tsc_khz);
    add(a, "-kernel");
    add(a, "%s", cfg->vmlinux);
    add(a, "-initrd");
    add(a, "%s", cfg->initramfs);
    add(a, "-append");
    add(a,
        "console=ttyS0 loglevel=4 mitigations=off nokaslr no_timer_check random.trust_cpu=on "
        "panic=-1%s",
        tsc);
}

static void add_nic(struct wf_qemu_argv *a, uint32_t i, const struct wf_guest_nic *nic)
{
    const uint8_t *h = nic->mac;

    add(a, "-chardev");
    add(a, "socket,id=c%u,path=%s", i, nic->socket_path);
    add(a, "-netdev");
    add(a, "vhost-user,id=n%u,chardev=c%u,queues=1", i, i);
    add(a, "-device");
    add(a,
        "virtio-net-pci,netdev=n%u,mac=%02x:%02x:%02x:%02x:%02x:%02x,vectors=0,romfile=,mrg_rxbuf="
        "on,"
        "csum=off,guest_csum=off,gso=off,guest_tso4=off,guest_tso6=off,guest_ufo=off,"
        "guest_ecn=off,host_tso4=off,host_tso6=off,host_ufo=off,host_ecn=off,host_mtu=%u",
        i, h[0], h[1], h[2], h[3], h[4], h[5], nic->mtu);
}

int wf_qemu_argv_build(struct wf_qemu_argv *a, const struct wf_machine *m,
                       const struct wf_guest_config *cfg, int agent_fd, struct wf_err *err)
{
    a->n = a->used = 0;
    a->overflow = false;
    add_machine(a, m, cfg);
    add_kernel(a, m, cfg);
    add(a, "-chardev"); /* QMP on standard input; what it says is in the log */
    add(a, "stdio,id=monitor,signal=off");
    add(a, "-mon");
    add(a, "chardev=monitor,mode=control");
    add(a, "-device");
    add(a, "virtio-serial-pci");
    add(a, "-chardev");
    add(a, "socket,id=agent,fd=%d", agent_fd);
    add(a, "-device");
    add(a, "virtserialport,chardev=agent,name=" WF_AGENT_PORT);
    if (cfg->share) {
        if (strchr(cfg->share, ','))
            return wf_err_set(err, EINVAL, "shared folder '%s': a comma in its name does not work",
                              cfg->share);
        add(a, "-virtfs");
        add(a, "local,path=%s,mount_tag=share,security_model=none,multidevs=remap", cfg->share);
    }
    for (uint32_t i = 0; i < cfg->n_nics; i++)
        add_nic(a, i, &cfg->nics[i]);
    if (a->overflow)
        return wf_err_set(err, E2BIG, "guest %s: too many NICs or too long paths for one guest",
                          cfg->name);
    return 0;
}
