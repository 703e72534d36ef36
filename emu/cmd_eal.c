/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL for the weft program: a memory size computed from the scenario, a prefix of its own, all
 * CPUs that we may use for its lcores, and nothing left behind. The default needs no hugepages.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "fabric/partition.h"

enum { OVERHEAD_MB = 48 };

/* "(0-3)@(0,1)": each lcore may run wherever this process may. */
static void lcore_map(char *buf, size_t len, unsigned lcores)
{
    size_t used = lcores > 1 ? (size_t)snprintf(buf, len, "(0-%u)@(", lcores - 1)
                             : (size_t)snprintf(buf, len, "0@(");
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) || !CPU_COUNT(&set))
        CPU_SET(0, &set);
    for (int i = 0, first = 1; i < CPU_SETSIZE && used < len; i++)
        if (CPU_ISSET(i, &set)) {
            used += (size_t)snprintf(buf + used, len - used, first ? "%d" : ",%d", i);
            first = 0;
        }
    if (used < len)
        snprintf(buf + used, len - used, ")");
}

/* DPDK's runtime folder of a process outlives it: take it away, with the few files in it. */
static void remove_runtime_dir(const char *dir)
{
    struct dirent *e;
    DIR *d = opendir(dir);

    while (d && (e = readdir(d)))
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(dir);
}

/* What killed processes of ours left beside our own: weft<pid>. */
static void sweep_runtime_dirs(void)
{
    char parent[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
    struct dirent *e;
    char *slash;
    int pid, n;
    DIR *d;

    snprintf(parent, sizeof(parent), "%s", rte_eal_get_runtime_dir());
    slash = strrchr(parent, '/');
    if (!slash)
        return;
    *slash = '\0';
    d = opendir(parent);
    while (d && (e = readdir(d))) {
        n = 0;
        if (sscanf(e->d_name, "weft%d%n", &pid, &n) != 1 || e->d_name[n] || pid <= 0 ||
            !kill(pid, 0) || errno != ESRCH)
            continue;
        snprintf(path, sizeof(path), "%s/%s", parent, e->d_name);
        remove_runtime_dir(path);
    }
    if (d)
        closedir(d);
}

/* EAL's folder is /tmp/dpdk where there is no XDG_RUNTIME_DIR, and belongs to the first user who
 * came: take one of our own instead. */
static void own_runtime_dir(void)
{
    const char *run = getenv("XDG_RUNTIME_DIR");
    struct stat st;
    char dir[64];

    if (!getuid() || getenv("RUNTIME_DIRECTORY") || (run && !access(run, W_OK)))
        return;
    snprintf(dir, sizeof(dir), "/tmp/weft-%u.eal", (unsigned)getuid());
    if (mkdir(dir, 0700) && errno != EEXIST)
        return;
    if (!lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 077))
        setenv("RUNTIME_DIRECTORY", dir, 1);
}

int wf_cmd_eal(uint64_t bytes, unsigned lcores, bool fast, bool pci, struct wf_err *err)
{
    static char map[4096], prefix[32], mem[16];
    char *argv[18];
    int argc = 0;

    own_runtime_dir();
    lcore_map(map, sizeof(map), lcores);
    snprintf(prefix, sizeof(prefix), "weft%d", (int)getpid());
    snprintf(mem, sizeof(mem), "%u", (unsigned)((bytes >> 20) + OVERHEAD_MB));
    argv[argc++] = "weft";
    argv[argc++] = "--lcores";
    argv[argc++] = map;
    argv[argc++] = "--file-prefix";
    argv[argc++] = prefix;
    if (pci) { /* allow an address that no device has: none is taken but those plugged in by name */
        argv[argc++] = "-a";
        argv[argc++] = "ffff:ff:1f.7";
    } else {
        argv[argc++] = "--no-pci";
    }
    argv[argc++] = "--no-telemetry";
    argv[argc++] = "--log-level=*:error";
    argv[argc++] = fast ? "--in-memory" : "--no-huge";
    if (!fast)
        argv[argc++] = "--no-shconf";
    argv[argc++] = "-m";
    argv[argc++] = mem;
    argv[argc] = NULL;
    if (rte_eal_init(argc, argv) >= 0) {
        sweep_runtime_dirs();
        return 0;
    }
    return wf_err_set(err, rte_errno ? rte_errno : EIO,
                      "DPDK's EAL did not start with %s MB of memory%s: %s", mem,
                      fast ? " in hugepages" : "", strerror(rte_errno));
}

void wf_cmd_eal_end(void)
{
    char dir[PATH_MAX];

    snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
    rte_eal_cleanup();
    remove_runtime_dir(dir);
}

void wf_cmd_say_lcores(const char *command, uint32_t asked, uint32_t got)
{
    if (got < asked)
        fprintf(stderr,
                "weft %s: on %u of %u lcores: the fabric can't be split further (weft check "
                "--lcores %u says how)\n",
                command, got, asked, asked);
}
