/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The writer's side of a trace: from records to lines. Of one series at one instant only the last
 * value counts. A pause is known when it begins, with its end; the writer plans the rows of its
 * begin and end, and forgets them when the pause is prolonged or ended. After a failed write the
 * file is cut back to its last whole line; what follows is counted as lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cap/trace_priv.h"

enum { BUF_BYTES = 256 << 10, LINE_MAX_BYTES = 4096 };

struct pending {
    uint64_t t_ps, key, value;
    bool any, always;
};

struct wf_trace_csv {
    const char *path;
    int fd;
    bool regular, told;
    int error;
    uint64_t good_bytes; /* of whole lines that the kernel has */
    struct wf_trace_csv_series *series;
    struct pending row; /* not yet a line: the same instant may change it */
    size_t used;
    uint64_t used_rows; /* in the buffer */
    uint64_t rows, lost;
    char buf[BUF_BYTES];
};

/* ---- lines ---- */

static void fail(struct wf_trace_csv *c, int error)
{
    c->error = error;
    if (c->regular && ftruncate(c->fd, (off_t)c->good_bytes))
        c->regular = false; /* then a part of a line stays at the end */
    c->lost += c->used_rows;
}

static void hand_over(struct wf_trace_csv *c)
{
    size_t done = 0;

    while (done < c->used && !c->error) {
        ssize_t n = write(c->fd, c->buf + done, c->used - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            fail(c, errno);
        else
            done += (size_t)n;
    }
    if (!c->error) {
        c->good_bytes += c->used;
        c->rows += c->used_rows;
    }
    c->used = 0;
    c->used_rows = 0;
}

static void add_text(struct wf_trace_csv *c, const char *text)
{
    size_t n = strlen(text);

    if (n > sizeof(c->buf) - c->used)
        n = sizeof(c->buf) - c->used;
    memcpy(c->buf + c->used, text, n);
    c->used += n;
}

static void add_number(struct wf_trace_csv *c, uint64_t v)
{
    char digits[24], *p = digits + sizeof(digits) - 1;

    *p = 0;
    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    add_text(c, p);
}

static void add_line(struct wf_trace_csv *c, const struct pending *r,
                     const struct wf_trace_csv_series *s)
{
    if (c->error) {
        c->lost++;
        return;
    }
    if (c->used + LINE_MAX_BYTES > sizeof(c->buf))
        hand_over(c);
    add_number(c, r->t_ps);
    add_text(c, ",");
    add_text(c, s->object);
    add_text(c, ",");
    add_text(c, s->name);
    add_text(c, ",");
    add_number(c, r->value);
    add_text(c, "\n");
    c->used_rows++;
}

/* ---- rows ---- */

static void settle_row(struct wf_trace_csv *c)
{
    struct wf_trace_csv_series *s = &c->series[c->row.key];

    if (c->row.any && (c->row.always || !s->begun || s->last != c->row.value)) {
        add_line(c, &c->row, s);
        s->last = c->row.value;
        s->begun = true;
    }
    c->row.any = false;
}

static void set_row(struct wf_trace_csv *c, uint64_t t_ps, uint64_t key, uint64_t value,
                    bool always)
{
    if (c->row.any && (c->row.t_ps != t_ps || c->row.key != key))
        settle_row(c);
    if (!c->row.any)
        c->row = (struct pending){.t_ps = t_ps, .key = key, .any = true};
    c->row.value = value;
    c->row.always |= always;
}

static void plan(struct wf_recorder *rec, uint64_t t_ps, uint64_t key, uint64_t value,
                 uint32_t generation)
{
    const struct wf_row row = {.a = value, .kind = WF_ROW_PLAN, .generation = generation};

    wf_recorder_plan(rec, t_ps, key, &row, sizeof(row));
}

static void hold(struct wf_trace_csv *c, struct wf_recorder *rec, uint64_t t_ps, uint64_t key,
                 uint64_t from_ps, uint64_t until_ps)
{
    struct wf_trace_csv_series *s = &c->series[key];

    s->generation++;
    set_row(c, t_ps, key, from_ps <= t_ps && t_ps < until_ps, false);
    if (from_ps >= until_ps)
        return;
    if (from_ps > t_ps)
        plan(rec, from_ps, key, 1, s->generation);
    if (until_ps > t_ps)
        plan(rec, until_ps, key, 0, s->generation);
}

void wf_trace_csv_row(struct wf_trace_csv *c, struct wf_recorder *rec, uint64_t t_ps, uint64_t key,
                      const struct wf_row *row)
{
    switch ((enum wf_row_kind)row->kind) {
    case WF_ROW_CHANGE:
    case WF_ROW_ALWAYS:
        set_row(c, t_ps, key, row->a, row->kind == WF_ROW_ALWAYS);
        break;
    case WF_ROW_HOLD:
        hold(c, rec, t_ps, key, row->a, row->b);
        break;
    case WF_ROW_PLAN:
        if (row->generation == c->series[key].generation)
            set_row(c, t_ps, key, row->a, false);
        break;
    }
}

/* ---- the file ---- */

void wf_trace_csv_flush(struct wf_trace_csv *c, bool all)
{
    if (all)
        settle_row(c);
    hand_over(c);
}

bool wf_trace_csv_take_error(struct wf_trace_csv *c, struct wf_err *err)
{
    if (!c->error || c->told)
        return false;
    c->told = true;
    wf_err_set(err, c->error, "cannot write %s: %s; the rows that follow are lost", c->path,
               strerror(c->error));
    return true;
}

uint64_t wf_trace_csv_rows(const struct wf_trace_csv *c, uint64_t *lost)
{
    *lost = c->lost;
    return c->rows;
}

int wf_trace_csv_open(struct wf_trace_csv **out, const char *path, const char *comment,
                      struct wf_err *err)
{
    struct wf_trace_csv *c = calloc(1, sizeof(*c));
    struct stat st;

    *out = NULL;
    if (!c)
        return wf_err_set(err, ENOMEM, "no memory for %s", path);
    c->path = path;
    c->fd = strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : dup(1);
    if (c->fd < 0) {
        int rc = wf_err_set(err, errno, "cannot write %s: %s", path, strerror(errno));

        free(c);
        return rc;
    }
    c->regular = !fstat(c->fd, &st) && S_ISREG(st.st_mode) && strcmp(path, "-");
    if (comment) {
        add_text(c, "# ");
        for (const char *p = comment; *p && c->used < sizeof(c->buf) / 2; p++)
            c->buf[c->used++] = *p == '\n' ? ' ' : *p;
        add_text(c, "\n");
    }
    add_text(c, "time_ps,object,series,value\n");
    *out = c;
    return 0;
}

void wf_trace_csv_series(struct wf_trace_csv *c, struct wf_trace_csv_series *series)
{
    c->series = series;
}

void wf_trace_csv_close(struct wf_trace_csv *c)
{
    if (!c)
        return;
    hand_over(c);
    close(c->fd);
    free(c);
}
