/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program says goes to its standard output and error through a filter: whatever file,
 * capture or peer a text came from, nothing but printable text and ends of lines reaches a
 * terminal. Not meant: bytes that are passed on as they are (weft exec, a capture to "-"), which go
 * by the descriptor.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static FILE *filtered(int fd, FILE *plain, int mode)
{
    struct out *o = calloc(1, sizeof(*o));
    FILE *f = o ? fopencookie(o, "w",
                              (cookie_io_functions_t){.write = write_cookie, .close = close_cookie})
                : NULL;

    if (!f) {
        free(o);
        return plain;
    }
    o->fd = fd;
    setvbuf(f, NULL, mode, BUFSIZ);
    return f;
}

void wf_cmd_out_begin(void)
{
    stdout = filtered(STDOUT_FILENO, stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = filtered(STDERR_FILENO, stderr, _IONBF);
}
