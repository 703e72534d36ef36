/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed captures. See unpack.h. */
#include "analyze/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct packed {
    struct archive *a;
    FILE *f;
};

static ssize_t packed_read(void *arg, char *buf, size_t len)
{
    struct packed *p = arg;
    ssize_t n = (ssize_t)archive_read_data(p->a, buf, len);

    if (n >= 0)
        return n;
    errno = EBADMSG; /* the reader names the file and the byte */
    return -1;
}

static int packed_close(void *arg)
{
    struct packed *p = arg;

    archive_read_free(p->a);
    fclose(p->f);
    free(p);
    return 0;
}

static FILE *unpacked(FILE *f, const char *name, struct wf_err *err)
{
    static const cookie_io_functions_t io = {.read = packed_read, .close = packed_close};
    struct packed *p = calloc(1, sizeof(*p));
    struct archive_entry *entry;
    FILE *out;

    if (!p || !(p->a = archive_read_new())) {
        free(p);
        fclose(f);
        wf_err_at(err, ENOMEM, name, 0, 0, "no memory for the capture");
        return NULL;
    }
    p->f = f;
    archive_read_support_filter_all(p->a);
    archive_read_support_format_raw(p->a);
    archive_read_support_format_empty(p->a);
    if (archive_read_open_FILE(p->a, f) != ARCHIVE_OK ||
        archive_read_next_header(p->a, &entry) != ARCHIVE_OK) {
        const char *why = archive_error_string(p->a);

        wf_err_at(err, EBADMSG, name, 0, 0, "cannot be unpacked: %s", why ? why : "it is empty");
        packed_close(p);
        return NULL;
    }
    out = fopencookie(p, "r", io);
    if (!out) {
        wf_err_at(err, ENOMEM, name, 0, 0, "no memory for the capture");
        packed_close(p);
    }
    return out;
}

/* First bytes of gzip, zstd, xz, bzip2 and lz4; no capture begins with one of them. */
static bool is_packed(int first)
{
    return first == 0x1f || first == 0x28 || first == 0xfd || first == 'B' || first == 0x04;
}

int wf_an_unpack_stream(struct wf_cap_reader **out, FILE *f, const char *name, struct wf_err *err)
{
    int first = fgetc(f);

    *out = NULL;
    if (first != EOF)
        ungetc(first, f);
    if (is_packed(first)) {
        /* libarchive reads the descriptor's stream from where it stands */
        f = unpacked(f, name, err);
        if (!f)
            return -EBADMSG;
    }
    return wf_cap_open_stream(out, f, name, err);
}

int wf_an_unpack(struct wf_cap_reader **out, const char *path, struct wf_err *err)
{
    FILE *f;

    *out = NULL;
    if (!strcmp(path, "-"))
        return wf_an_unpack_stream(out, stdin, "standard input", err);
    f = fopen(path, "rbe");
    if (!f)
        return wf_err_at(err, errno, path, 0, 0, "cannot read the capture: %s", strerror(errno));
    return wf_an_unpack_stream(out, f, path, err);
}
