/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of bundles, see bundle.h. An archive may be anybody's: every size is bounded. */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cap/bundle.h"

enum { MEMBERS_MAX = 4096, NAME_MAX_BYTES = 128 };

struct text {
    char name[NAME_MAX_BYTES];
    char *data;
    size_t len;
};

struct wf_bundle {
    char path[PATH_MAX];
    struct archive *a; /* standing at the log; NULL: a folder */
    bool has_log;
    struct text texts[WF_BUNDLE_TEXTS_MAX];
    size_t n_texts;
    bool broken;
    struct wf_err failure;
};

bool wf_bundle_is(const char *path)
{
    uint8_t b[264] = {0};
    char head[PATH_MAX];
    struct stat st;
    bool is;
    FILE *f;

    if (stat(path, &st))
        return false;
    if (S_ISDIR(st.st_mode)) {
        snprintf(head, sizeof(head), "%s/" WF_BUNDLE_HEAD, path);
        return !stat(head, &st);
    }
    if (!S_ISREG(st.st_mode)) /* who looks into a pipe takes away what is in it */
        return false;
    f = fopen(path, "rbe");
    if (!f)
        return false;
    is = fread(b, 1, sizeof(b), f) >= 4 &&
         (!memcmp(b + 257, "ustar", 5) || !memcmp(b, "\x28\xb5\x2f\xfd", 4) ||
          !memcmp(b, "\x1f\x8b", 2));
    fclose(f);
    return is;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct text *)a)->name, ((const struct text *)b)->name);
}

static bool wanted(const char *name)
{
    return !strcmp(name, WF_BUNDLE_HEAD) || !strcmp(name, WF_BUNDLE_SCEN) ||
           !strcmp(name, WF_BUNDLE_SUMMARY) || !strncmp(name, "profiles/", 9);
}

/* Room for one more text of this name and length. NULL and *err. */
static struct text *new_text(struct wf_bundle *b, const char *name, uint64_t len,
                             struct wf_err *err)
{
    struct text *t = &b->texts[b->n_texts];

    if (wf_bundle_text(b, name, NULL)) {
        wf_err_at(err, EBADMSG, b->path, 0, 0, "'%s' is twice in the bundle", name);
        return NULL;
    }
    if (b->n_texts == WF_BUNDLE_TEXTS_MAX || len > WF_BUNDLE_TEXT_MAX ||
        strlen(name) >= sizeof(t->name)) {
        wf_err_at(err, EFBIG, b->path, 0, 0, "'%.100s' in the bundle is one too many, or too large",
                  name);
        return NULL;
    }
    t->data = malloc(len + 1);
    if (!t->data) {
        wf_err_set(err, ENOMEM, "no memory for a bundle");
        return NULL;
    }
    strcpy(t->name, name);
    t->data[len] = '\0';
    t->len = len;
    b->n_texts++;
    return t;
}

/* ---- an archive ------------------------------------------------------------------------------ */

static int archive_fail(const struct wf_bundle *b, struct wf_err *err)
{
    const char *why = archive_error_string(b->a);

    return wf_err_at(err, EBADMSG, b->path, 0, 0, "the bundle is broken: %s",
                     why ? why : "it ends too early");
}

static int take_text(struct wf_bundle *b, struct archive_entry *e, const char *name,
                     struct wf_err *err)
{
    int64_t size = archive_entry_size_is_set(e) ? archive_entry_size(e) : -1;
    struct text *t;
    size_t have = 0;

    if (archive_entry_filetype(e) != AE_IFREG || size < 0)
        return wf_err_at(err, EBADMSG, b->path, 0, 0, "'%s' in the bundle is no plain file", name);
    t = new_text(b, name, (uint64_t)size, err);
    if (!t)
        return -EBADMSG;
    while (have < t->len) {
        la_ssize_t n = archive_read_data(b->a, t->data + have, t->len - have);

        if (n <= 0)
            return archive_fail(b, err);
        have += (size_t)n;
    }
    return 0;
}

/* What is not known is passed over, for bundles of a later weft, but not at any length. */
static int pass_over(struct wf_bundle *b, struct archive_entry *e, const char *name,
                     struct wf_err *err)
{
    int64_t size = archive_entry_size_is_set(e) ? archive_entry_size(e) : 0;

    if (size >= 0 && size <= WF_BUNDLE_TEXT_MAX)
        return 0;
    return wf_err_at(err, EFBIG, b->path, 0, 0,
                     "'%.100s' before the log is no part of a bundle, and larger than %d MiB", name,
                     WF_BUNDLE_TEXT_MAX >> 20);
}

/* Up to the log. */
static int read_members(struct wf_bundle *b, struct wf_err *err)
{
    struct archive_entry *e;
    int rc = 0;

    for (int n = 0; !rc && !b->has_log; n++) {
        int got = archive_read_next_header(b->a, &e);
        const char *name, *slash;

        if (got == ARCHIVE_EOF)
            break;
        if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
            return archive_fail(b, err);
        if (n == MEMBERS_MAX)
            return wf_err_at(err, EFBIG, b->path, 0, 0, "more than %d files in the bundle",
                             MEMBERS_MAX);
        name = archive_entry_pathname(e);
        slash = name ? strchr(name, '/') : NULL;
        name = slash ? slash + 1 : "";
        if (!strcmp(name, WF_BUNDLE_LOG))
            b->has_log = archive_entry_filetype(e) == AE_IFREG;
        else if (wanted(name))
            rc = take_text(b, e, name, err);
        else
            rc = pass_over(b, e, name, err);
    }
    return rc;
}

static int open_archive(struct wf_bundle *b, struct wf_err *err)
{
    b->a = archive_read_new();
    archive_read_support_format_tar(b->a);
    archive_read_support_filter_zstd(b->a);
    archive_read_support_filter_gzip(b->a);
    if (archive_read_open_filename(b->a, b->path, 1 << 16) != ARCHIVE_OK)
        return wf_err_at(err, EINVAL, b->path, 0, 0, "this is no bundle: %s",
                         archive_error_string(b->a));
    return read_members(b, err);
}

/* ---- a folder -------------------------------------------------------------------------------- */

static int read_file(struct wf_bundle *b, const char *name, struct wf_err *err)
{
    char path[PATH_MAX + NAME_MAX_BYTES];
    struct text *t;
    struct stat st;
    FILE *f;
    int rc = 0;

    snprintf(path, sizeof(path), "%s/%s", b->path, name);
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return 0; /* who needs it will say so */
    f = fopen(path, "rbe");
    if (!f)
        return wf_err_at(err, errno, path, 0, 0, "cannot be read: %s", strerror(errno));
    t = new_text(b, name, (uint64_t)st.st_size, err);
    if (!t)
        rc = -EBADMSG;
    else if (fread(t->data, 1, t->len, f) != t->len)
        rc = wf_err_at(err, EIO, path, 0, 0, "cannot be read to its end");
    fclose(f);
    return rc;
}

static int read_folder(struct wf_bundle *b, struct wf_err *err)
{
    char path[PATH_MAX + 16], name[NAME_MAX_BYTES];
    struct dirent *e;
    struct stat st;
    DIR *d;
    int rc = read_file(b, WF_BUNDLE_HEAD, err);

    rc = rc ? rc : read_file(b, WF_BUNDLE_SCEN, err);
    rc = rc ? rc : read_file(b, WF_BUNDLE_SUMMARY, err);
    snprintf(path, sizeof(path), "%s/profiles", b->path);
    d = opendir(path);
    while (d && !rc && (e = readdir(d)))
        if (e->d_name[0] != '.' &&
            snprintf(name, sizeof(name), "profiles/%s", e->d_name) < (int)sizeof(name))
            rc = read_file(b, name, err);
    if (d)
        closedir(d);
    snprintf(path, sizeof(path), "%s/" WF_BUNDLE_LOG, b->path);
    b->has_log = !stat(path, &st) && S_ISREG(st.st_mode);
    return rc;
}

/* ---- for both -------------------------------------------------------------------------------- */

int wf_bundle_open(struct wf_bundle **out, const char *path, struct wf_err *err)
{
    struct wf_bundle *b = calloc(1, sizeof(*b));
    struct stat st;
    int rc;

    *out = NULL;
    if (!b)
        return wf_err_set(err, ENOMEM, "no memory for a bundle");
    if (snprintf(b->path, sizeof(b->path), "%s", path) >= (int)sizeof(b->path))
        rc = wf_err_set(err, ENAMETOOLONG, "the bundle's path is too long");
    else if (stat(path, &st))
        rc = wf_err_at(err, errno, path, 0, 0, "cannot be read: %s", strerror(errno));
    else
        rc = S_ISDIR(st.st_mode) ? read_folder(b, err) : open_archive(b, err);
    if (!rc && !wf_bundle_text(b, WF_BUNDLE_HEAD, NULL))
        rc = wf_err_at(err, EINVAL, path, 0, 0, "this is no bundle: there is no %s in it",
                       WF_BUNDLE_HEAD);
    qsort(b->texts, b->n_texts, sizeof(b->texts[0]), by_name);
    if (rc) {
        wf_bundle_close(b);
        return rc;
    }
    *out = b;
    return 0;
}

const char *wf_bundle_text(const struct wf_bundle *b, const char *name, size_t *len)
{
    for (size_t i = 0; i < b->n_texts; i++)
        if (!strcmp(b->texts[i].name, name)) {
            if (len)
                *len = b->texts[i].len;
            return b->texts[i].data;
        }
    return NULL;
}

const char *wf_bundle_text_below(const struct wf_bundle *b, const char *prefix, size_t i,
                                 const char **name, size_t *len)
{
    for (size_t k = 0; k < b->n_texts; k++)
        if (!strncmp(b->texts[k].name, prefix, strlen(prefix)) && !i--) {
            *name = b->texts[k].name;
            *len = b->texts[k].len;
            return b->texts[k].data;
        }
    return NULL;
}

static ssize_t read_log(void *cookie, char *buf, size_t len)
{
    struct wf_bundle *b = cookie;
    la_ssize_t n = archive_read_data(b->a, buf, len);

    if (n >= 0)
        return n;
    b->broken = true;
    archive_fail(b, &b->failure);
    errno = EBADMSG;
    return -1;
}

FILE *wf_bundle_log(struct wf_bundle *b, struct wf_err *err)
{
    char path[PATH_MAX + 32];
    FILE *f = NULL;

    if (!b->has_log) {
        wf_err_at(err, EINVAL, b->path, 0, 0, "there is no %s in the bundle", WF_BUNDLE_LOG);
        return NULL;
    }
    snprintf(path, sizeof(path), "%s/" WF_BUNDLE_LOG, b->path);
    f = b->a ? fopencookie(b, "rb", (cookie_io_functions_t){.read = read_log}) : fopen(path, "rbe");
    if (!f)
        wf_err_at(err, errno, b->path, 0, 0, "cannot be read: %s", strerror(errno));
    return f;
}

bool wf_bundle_broken(const struct wf_bundle *b, struct wf_err *err)
{
    if (b->broken)
        *err = b->failure;
    return b->broken;
}

void wf_bundle_close(struct wf_bundle *b)
{
    if (!b)
        return;
    if (b->a)
        archive_read_free(b->a);
    for (size_t i = 0; i < b->n_texts; i++)
        free(b->texts[i].data);
    free(b);
}
