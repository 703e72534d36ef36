/* SPDX-License-Identifier: BSD-3-Clause */
/* See image.h. The script and the agent are taken from where they were built or installed to;
 * WEFT_GUEST_IMAGE and WEFT_GUEST_AGENT name others. */
#include "lab/image.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *first_of(const char *variable, const char *built, const char *installed)
{
    const char *named = getenv(variable);

    if (named && *named)
        return named;
    return access(built, R_OK) ? installed : built;
}

/* Run argv, its first line of output into line. Returns its exit status, or -errno. */
static int run_for_line(const char *const *argv, char *line, size_t len)
{
    posix_spawn_file_actions_t fa;
    int p[2], rc, status;
    size_t used = 0;
    ssize_t n;
    pid_t pid;

    if (pipe(p))
        return -errno;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&fa, p[1], 1);
    posix_spawn_file_actions_addclose(&fa, p[0]);
    posix_spawn_file_actions_addclose(&fa, p[1]);
    rc = posix_spawn(&pid, argv[0], &fa, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    close(p[1]);
    while (!rc && used < len - 1 && (n = read(p[0], line + used, len - 1 - used)) != 0)
        if (n > 0)
            used += n;
        else if (errno != EINTR)
            break;
    close(p[0]);
    line[used] = 0;
    line[strcspn(line, "\n")] = 0;
    if (rc)
        return -rc;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int wf_image_get(struct wf_image *image, const struct wf_image_req *req, struct wf_err *err)
{
    const char *argv[12];
    int n = 0, rc;

    argv[n++] = first_of("WEFT_GUEST_IMAGE", WEFT_SOURCE_ROOT "/scripts/guest-image",
                         WEFT_LIBEXEC "/guest-image");
    argv[n++] = "--agent";
    argv[n++] = first_of("WEFT_GUEST_AGENT", WEFT_BUILD_ROOT "/emu/lab/weft-guest-agent",
                         WEFT_LIBEXEC "/weft-guest-agent");
    if (req->kernel) {
        argv[n++] = "--kernel";
        argv[n++] = req->kernel;
    }
    if (req->packages) {
        argv[n++] = "--packages";
        argv[n++] = req->packages;
    }
    if (req->only_if_built)
        argv[n++] = "--print";
    argv[n] = NULL;
    rc = run_for_line(argv, image->dir, sizeof(image->dir));
    if (rc == -ENOENT)
        return wf_err_set(err, ENOENT, "%s is not there: guests cannot be built", argv[0]);
    if (rc < 0)
        return wf_err_set(err, -rc, "%s: %s", argv[0], strerror(-rc));
    if (rc == 130)
        return wf_err_set(err, EINTR, "interrupted");
    if (rc)
        return wf_err_set(err, ENOENT, "there is no guest image (%s: exit status %d)", argv[0], rc);
    snprintf(image->vmlinux, sizeof(image->vmlinux), "%s/vmlinux", image->dir);
    snprintf(image->initramfs, sizeof(image->initramfs), "%s/initramfs", image->dir);
    return 0;
}
