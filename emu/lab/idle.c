/* SPDX-License-Identifier: BSD-3-Clause */
/* See idle.h. proc(5): fields 3 (state), 5 (pgrp), 14 and 15 (utime, stime) of /proc/PID/stat. */
#include "lab/idle.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct look {
    uint64_t cpu_ticks;
    uint32_t members, running;
};

static void look_at(struct look *l, const char *pid, pid_t pgid)
{
    char path[64], text[512], *p;
    unsigned long utime, stime;
    char state;
    ssize_t n;
    int fd, pgrp;

    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return;
    text[n] = 0;
    p = strrchr(text, ')'); /* the command's name may hold anything, parentheses too */
    if (!p || sscanf(p + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &pgrp,
                     &utime, &stime) != 4)
        return;
    if (pgrp != pgid || state == 'Z')
        return;
    l->members++;
    l->running += state == 'R' || state == 'D';
    l->cpu_ticks += utime + stime;
}

bool wf_idle_look(struct wf_idle *idle, pid_t pgid)
{
    struct look l = {0};
    struct dirent *e;
    DIR *d = opendir("/proc");

    if (!d)
        return false;
    while ((e = readdir(d)))
        if (isdigit((unsigned char)e->d_name[0]))
            look_at(&l, e->d_name, pgid);
    closedir(d);
    if (l.members && !l.running && l.cpu_ticks == idle->cpu_ticks)
        idle->equal++;
    else
        idle->equal = 0;
    idle->cpu_ticks = l.cpu_ticks;
    return idle->equal >= WF_IDLE_LOOKS;
}
