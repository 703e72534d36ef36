/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program says goes to its standard output and error through a filter: whatever file,
 * capture or peer a text came from, nothing but printable text and ends of lines reaches a
 * terminal. Not meant: bytes that are passed on as they are (weft exec, a capture to "-"), which go
 * by the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"
#include "cmd.h"

enum { HELD_MAX = 4, PIECE = 4096 };

struct out {
    int fd;
    char held[HELD_MAX]; /* of a character whose rest has not come */
    size_t n_held;
};

static int write_all(int fd, const char *p, size_t len)
{
    while (len) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

static int put(struct out *o, const char *p, size_t len, bool end)
{
    char buf[HELD_MAX + PIECE];

    do {
        size_t piece = len < PIECE ? len : PIECE, used, n;

        memcpy(buf, o->held, o->n_held);
        memcpy(buf + o->n_held, p, piece);
        piece += o->n_held;
        p += piece - o->n_held;
        len -= piece - o->n_held;
        n = wf_plain_lines(buf, piece, end && !len, buf, &used);
        o->n_held = piece - used;
        memcpy(o->held, buf + used, o->n_held);
        if (write_all(o->fd, buf, n))
            return -1;
    } while (len);
    return 0;
}

static ssize_t write_cookie(void *cookie, const char *p, size_t len)
{
    return put(cookie, p, len, false) ? 0 : (ssize_t)len;
}

static int close_cookie(void *cookie)
{
    struct out *o = cookie;
    int rc = o->n_held ? put(o, NULL, 0, true) : 0;

    free(o);
    return rc;
}

static FILE *filtered(int fd, FILE *plain, int mode, void **cookie)
{
    struct out *o = calloc(1, sizeof(*o));
    FILE *f = o ? fopencookie(o, "w",
                              (cookie_io_functions_t){.write = write_cookie, .close = close_cookie})
                : NULL;

    *cookie = NULL;
    if (!f) {
        free(o);
        return plain;
    }
    *cookie = o;
    o->fd = fd;
    setvbuf(f, NULL, mode, BUFSIZ);
    return f;
}

/* Where a descriptor of the three is closed, the next file that is opened would get what is meant
 * for it. What stands there now can't be written to, as before. */
static void occupy(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}

void wf_cmd_out_begin(struct wf_cmd_out *o)
{
    occupy();
    o->out = stdout;
    o->err = stderr;
    stdout =
        filtered(STDOUT_FILENO, stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, &o->cookies[0]);
    stderr = filtered(STDERR_FILENO, stderr, _IONBF, &o->cookies[1]);
}

void wf_cmd_out_end(struct wf_cmd_out *o)
{
    if (o->cookies[0])
        fclose(stdout);
    if (o->cookies[1])
        fclose(stderr);
    stdout = o->out;
    stderr = o->err;
}

FILE *wf_cmd_create(const char *path, struct wf_err *err)
{
    FILE *f = !strcmp(path, "-") ? stdout : fopen(path, "we");

    if (!f)
        wf_err_set(err, errno, "cannot write %s: %s", path, strerror(errno));
    return f;
}

int wf_cmd_finish(FILE *f, const char *path, struct wf_err *err)
{
    int code = errno ? errno : EIO; /* of the write that failed, if one did */
    bool bad = ferror(f), regular;
    struct stat st;

    if (!bad && fflush(f)) {
        code = errno;
        bad = true;
    }
    regular = f != stdout && !fstat(fileno(f), &st) && S_ISREG(st.st_mode);
    if (f != stdout && fclose(f) && !bad) {
        code = errno;
        bad = true;
    }
    if (!bad)
        return 0;
    if (f == stdout)
        return wf_err_set(err, code, "cannot write to the standard output: %s", strerror(code));
    if (regular && !unlink(path))
        return wf_err_set(err, code, "cannot write %s: %s; what there was of it is removed", path,
                          strerror(code));
    return wf_err_set(err, code, "cannot write %s: %s", path, strerror(code));
}
