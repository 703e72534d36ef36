/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several hosts in one guest share its network namespace, since soft-RoCE knows no other. What a
 * command of one of them opens is bound to that host's interface all the same, as `ip vrf exec`
 * does it: a cgroup for each interface with a BPF program that sets the device of new sockets
 * (bpf(2), BPF_CGROUP_INET_SOCK_CREATE). So its TCP crosses the fabric as its RDMA traffic does,
 * and two hosts may listen on the same port.
 * Left out: such a command cannot reach the guest's own 127.0.0.1.
 */
#include "lab/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CGROUPS "/run/cgroup"

static int load_program(uint32_t ifindex)
{
    struct bpf_insn insns[] = {
        /* r2 = ifindex; sk->bound_dev_if = r2; return 1 */
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = (int)ifindex},
        {.code = BPF_STX | BPF_MEM | BPF_W,
         .dst_reg = BPF_REG_1,
         .src_reg = BPF_REG_2,
         .off = offsetof(struct bpf_sock, bound_dev_if)},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.prog_type = BPF_PROG_TYPE_CGROUP_SOCK;
    attr.expected_attach_type = BPF_CGROUP_INET_SOCK_CREATE;
    attr.insns = (uintptr_t)insns;
    attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
    attr.license = (uintptr_t) "BSD-3-Clause";
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach(int cgroup, int program)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.target_fd = cgroup;
    attr.attach_bpf_fd = program;
    attr.attach_type = BPF_CGROUP_INET_SOCK_CREATE;
    return (int)syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr));
}

/* Make the interface's cgroup; 0 or an errno. */
static int make_group(const char *netdev, const char *dir)
{
    uint32_t ifindex = if_nametoindex(netdev);
    int cgroup, program, code = 0;

    if (!ifindex)
        return ENODEV;
    mkdir(CGROUPS, 0755);
    if (access(CGROUPS "/cgroup.procs", F_OK) && mount("cgroup2", CGROUPS, "cgroup2", 0, NULL))
        return errno;
    if (mkdir(dir, 0755))
        return errno;
    cgroup = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    program = load_program(ifindex);
    if (cgroup < 0 || program < 0 || attach(cgroup, program)) {
        code = errno;
        rmdir(dir);
    }
    if (cgroup >= 0)
        close(cgroup);
    if (program >= 0)
        close(program);
    return code;
}

int wf_agent_bind(const char *netdev)
{
    char dir[64], path[96];
    int fd, code = 0;

    snprintf(dir, sizeof(dir), CGROUPS "/%.15s", netdev);
    if (access(dir, F_OK))
        code = make_group(netdev, dir);
    if (code)
        return code;
    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1)
        code = errno;
    if (fd >= 0)
        close(fd);
    return code;
}
