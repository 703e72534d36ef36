/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest's first process, before it listens: file systems, kernel modules in the order that the
 * image was built with, limits, the agent's port. The network is set up later by commands that
 * weft sends, so that one image serves every topology.
 */
#include "lab/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULE_LIST "/etc/weft/modules"

void wf_agent_log(const char *fmt, ...)
{
    char text[512];
    va_list ap;
    int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    va_start(ap, fmt);
    /* level 3: shown on the console whatever its loglevel */
    int n = snprintf(text, sizeof(text), "<3>weft: ");
    n += vsnprintf(text + n, sizeof(text) - n, fmt, ap);
    va_end(ap);
    if (n > (int)sizeof(text) - 1)
        n = sizeof(text) - 1;
    if (write(fd, text, n) < 0) {
        /* no console, nobody to tell */
    }
    close(fd);
}

void wf_agent_power_off(void)
{
    sync();
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}

static void mount_all(void)
{
    static const struct {
        const char *type, *dir, *opts;
    } mounts[] = {
        {"proc", "/proc", NULL},        {"sysfs", "/sys", NULL},
        {"devtmpfs", "/dev", NULL},     {"devpts", "/dev/pts", "mode=620,ptmxmode=666"},
        {"tmpfs", "/dev/shm", NULL},    {"tmpfs", "/run", "mode=755"},
        {"tmpfs", "/tmp", "mode=1777"}, {"configfs", "/sys/kernel/config", NULL},
    };

    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
        mkdir(mounts[i].dir, 0755);
        if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, 0, mounts[i].opts) &&
            errno != EBUSY && errno != ENODEV && errno != ENOENT)
            wf_agent_log("mount %s: %s", mounts[i].dir, strerror(errno));
    }
    if (symlink("/proc/self/fd", "/dev/fd") && errno != EEXIST)
        wf_agent_log("/dev/fd: %s", strerror(errno));
}

static void load_modules(void)
{
    char path[256];
    FILE *f = fopen(MODULE_LIST, "re");

    if (!f) {
        wf_agent_log("%s: %s", MODULE_LIST, strerror(errno));
        return;
    }
    while (fgets(path, sizeof(path), f)) {
        path[strcspn(path, "\n")] = 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
            wf_agent_log("module %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    fclose(f);
}

/* The port is the one whose name is WF_AGENT_PORT: /sys/class/virtio-ports/vportNpM/name. */
static int find_port(char *dev, size_t len)
{
    DIR *d = opendir("/sys/class/virtio-ports");
    struct dirent *e;
    int found = 0;

    while (d && !found && (e = readdir(d))) {
        char path[300], name[32] = "";
        int fd, n;

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        n = read(fd, name, sizeof(name) - 1);
        close(fd);
        if (n > 0 && !strncmp(name, WF_AGENT_PORT, strlen(WF_AGENT_PORT))) {
            snprintf(dev, len, "/dev/%.200s", e->d_name);
            found = 1;
        }
    }
    if (d)
        closedir(d);
    return found;
}

static int open_port(void)
{
    char dev[256];

    for (int tries = 0; tries < 400; tries++) {
        if (find_port(dev, sizeof(dev))) {
            int fd = open(dev, O_RDWR | O_CLOEXEC);

            if (fd >= 0)
                return fd;
            wf_agent_log("%s: %s", dev, strerror(errno));
        }
        poll(NULL, 0, 50);
    }
    wf_agent_log("no virtio-serial port named " WF_AGENT_PORT);
    wf_agent_power_off();
}

static void loopback_up(void)
{
    struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
        wf_agent_log("lo: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
}

int wf_agent_boot(void)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, files = {65536, 65536};

    mount_all();
    /* registered memory is locked memory; perftest and UCX register a lot of it */
    setrlimit(RLIMIT_MEMLOCK, &all);
    setrlimit(RLIMIT_NOFILE, &files);
    setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
    setenv("HOME", "/root", 1);
    setenv("LANG", "C.UTF-8", 1);
    unsetenv("TERM");
    load_modules();
    loopback_up();
    return open_port();
}
