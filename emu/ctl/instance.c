/* SPDX-License-Identifier: BSD-3-Clause */
/* See instance.h. What a killed process left is found by its lock, which nobody holds. */
#include "ctl/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int wf_instance_name_check(const char *name, struct wf_err *err)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

    if (!n || name[n] || n > 32 || name[0] == '.' || name[0] == '-')
        return wf_err_set(err, EINVAL,
                          "instance name '%.40s': 1 to 32 letters, digits, '-', '_' or '.', not "
                          "beginning with '.' or '-'",
                          name);
    return 0;
}

static int home_dir(char *dir, size_t len, struct wf_err *err)
{
    const char *run = getenv("XDG_RUNTIME_DIR");
    struct stat st;

    if (!run || run[0] != '/' || access(run, W_OK))
        run = "/tmp";
    snprintf(dir, len, "%s/weft-%u", run, (unsigned)getuid());
    if (mkdir(dir, 0700) && errno != EEXIST)
        return wf_err_set(err, errno, "%s: %s", dir, strerror(errno));
    if (lstat(dir, &st) || !S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077))
        return wf_err_set(err, EPERM,
                          "%s has to be a directory of yours that nobody else can enter; remove it",
                          dir);
    return 0;
}

int wf_instance_find(struct wf_instance *in, const char *name, struct wf_err *err)
{
    char home[160];
    int rc = wf_instance_name_check(name, err);

    memset(in, 0, sizeof(*in));
    in->lock_fd = -1;
    if (!rc)
        rc = home_dir(home, sizeof(home), err);
    if (rc)
        return rc;
    snprintf(in->name, sizeof(in->name), "%s", name);
    snprintf(in->dir, sizeof(in->dir), "%s/%s", home, name);
    return 0;
}

const char *wf_instance_path(const struct wf_instance *in, const char *file, char *buf, size_t len)
{
    snprintf(buf, len, "%s/%s", in->dir, file);
    return buf;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    if (ftw->level == 0 || (ftw->level == 1 && !strcmp(path + ftw->base, "lock")))
        return 0; /* the lock goes last, by whoever holds it */
    return remove(path) && errno != ENOENT ? -1 : 0;
}

static void empty(const struct wf_instance *in)
{
    nftw(in->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int wf_instance_claim(struct wf_instance *in, const char *name, struct wf_err *err)
{
    char path[300];
    struct stat a, b;
    int rc = wf_instance_find(in, name, err), fd;

    if (rc)
        return rc;
    wf_instance_path(in, "lock", path, sizeof(path));
    for (;;) {
        if (mkdir(in->dir, 0700) && errno != EEXIST)
            return wf_err_set(err, errno, "%s: %s", in->dir, strerror(errno));
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == ENOENT)
            continue; /* its last owner removed the directory just now */
        if (fd < 0)
            return wf_err_set(err, errno, "%s: %s", path, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB)) {
            close(fd);
            return wf_err_set(err, EEXIST,
                              "instance '%s' is running already (process %d); end it with "
                              "'weft lab down -i %s', or give this one another name with -i",
                              name, (int)wf_instance_pid(in), name);
        }
        if (!fstat(fd, &a) && !stat(path, &b) && a.st_ino == b.st_ino)
            break; /* else we hold the lock of a file that its last owner has removed */
        close(fd);
    }
    in->lock_fd = fd;
    empty(in);
    return wf_instance_set_pid(in, getpid());
}

bool wf_instance_alive(const struct wf_instance *in)
{
    char path[300];
    int fd = open(wf_instance_path(in, "lock", path, sizeof(path)), O_RDONLY | O_CLOEXEC);
    bool held = false;

    if (fd >= 0) {
        held = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
        close(fd);
    }
    return held;
}

pid_t wf_instance_pid(const struct wf_instance *in)
{
    char path[300];
    int pid = 0;
    FILE *f = fopen(wf_instance_path(in, "lock", path, sizeof(path)), "re");

    if (f) {
        if (fscanf(f, "%d", &pid) != 1)
            pid = 0;
        fclose(f);
    }
    return pid;
}

int wf_instance_set_pid(const struct wf_instance *in, pid_t pid)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%d\n", (int)pid);

    if (ftruncate(in->lock_fd, 0) || pwrite(in->lock_fd, text, n, 0) != n)
        return -errno;
    return 0;
}

void wf_instance_remove(struct wf_instance *in)
{
    char path[300];

    empty(in);
    unlink(wf_instance_path(in, "lock", path, sizeof(path)));
    rmdir(in->dir);
    if (in->lock_fd >= 0)
        close(in->lock_fd);
    in->lock_fd = -1;
}

int wf_instance_each(int (*f)(void *arg, const struct wf_instance *in), void *arg,
                     struct wf_err *err)
{
    struct wf_instance in;
    char home[160];
    struct dirent *e;
    int rc = home_dir(home, sizeof(home), err);
    DIR *d;

    if (rc)
        return rc;
    d = opendir(home);
    while (d && !rc && (e = readdir(d)))
        if (e->d_name[0] != '.' && !wf_instance_find(&in, e->d_name, NULL))
            rc = f(arg, &in);
    if (d)
        closedir(d);
    return rc;
}
