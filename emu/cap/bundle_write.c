/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of bundles, see bundle.h: by libarchive, beside the file, and renamed when whole. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cap/bundle.h"

enum { CHUNK = 1 << 18 };

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), t = strlen(tail);

    return n > t && !strcmp(s + n - t, tail);
}

static int fail(struct archive *a, const char *path, struct wf_err *err)
{
    int code = archive_errno(a) > 0 ? archive_errno(a) : EIO;

    return wf_err_at(err, code, path, 0, 0, "the bundle cannot be written: %s",
                     archive_error_string(a) ? archive_error_string(a) : strerror(code));
}

static int copy(struct archive *a, int fd, uint64_t left, const struct wf_bundle_file *file,
                const char *path, struct wf_err *err)
{
    char *buf = malloc(CHUNK);
    int rc = buf ? 0 : wf_err_set(err, ENOMEM, "no memory for a bundle");

    while (left && !rc) {
        ssize_t n = read(fd, buf, left < CHUNK ? left : CHUNK);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            rc = wf_err_at(err, n ? errno : EIO, file->path, 0, 0, "cannot be read: %s",
                           n ? strerror(errno) : "it has become shorter");
        else if (archive_write_data(a, buf, (size_t)n) != n)
            rc = fail(a, path, err);
        else
            left -= (uint64_t)n;
    }
    free(buf);
    return rc;
}

static int add(struct archive *a, const char *top, const struct wf_bundle_file *file,
               const char *path, struct wf_err *err)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC), rc;
    struct archive_entry *e;
    char name[PATH_MAX];
    struct stat st;

    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        rc = wf_err_at(err, fd < 0 ? errno : EINVAL, file->path, 0, 0, "cannot be read: %s",
                       fd < 0 ? strerror(errno) : "it is no plain file");
        if (fd >= 0)
            close(fd);
        return rc;
    }
    snprintf(name, sizeof(name), "%s/%s", top, file->name);
    e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_size(e, st.st_size);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_mtime(e, st.st_mtime, 0);
    rc = archive_write_header(a, e) == ARCHIVE_OK ? 0 : fail(a, path, err);
    if (!rc)
        rc = copy(a, fd, (uint64_t)st.st_size, file, path, err);
    archive_entry_free(e);
    close(fd);
    return rc;
}

static int write_all(int fd, const char *path, const char *top, const struct wf_bundle_file *files,
                     size_t n, struct wf_err *err)
{
    struct archive *a = archive_write_new();
    int rc = 0;

    archive_write_set_format_pax_restricted(a);
    if (ends(path, ".zst"))
        rc = archive_write_add_filter_zstd(a);
    else if (ends(path, ".gz") || ends(path, ".tgz"))
        rc = archive_write_add_filter_gzip(a);
    rc = rc == ARCHIVE_OK && archive_write_open_fd(a, fd) == ARCHIVE_OK ? 0 : fail(a, path, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = add(a, top, &files[i], path, err);
    if (archive_write_close(a) != ARCHIVE_OK && !rc)
        rc = fail(a, path, err);
    archive_write_free(a);
    return rc;
}

int wf_bundle_pack(const char *path, const char *top, const struct wf_bundle_file *files, size_t n,
                   struct wf_err *err)
{
    char tmp[PATH_MAX];
    int fd, rc;

    if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp))
        return wf_err_set(err, ENAMETOOLONG, "the bundle's path is too long");
    fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return wf_err_at(err, errno, tmp, 0, 0, "the bundle cannot be written: %s",
                         strerror(errno));
    rc = write_all(fd, path, top, files, n, err);
    if (!rc && fsync(fd) && errno != EINVAL)
        rc = wf_err_at(err, errno, path, 0, 0, "the bundle cannot be written: %s", strerror(errno));
    if (close(fd) && !rc)
        rc = wf_err_at(err, errno, path, 0, 0, "the bundle cannot be written: %s", strerror(errno));
    if (!rc && rename(tmp, path))
        rc = wf_err_at(err, errno, path, 0, 0, "the bundle cannot be put there: %s",
                       strerror(errno));
    if (rc)
        unlink(tmp);
    return rc;
}
