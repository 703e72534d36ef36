/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture files in the order of time. See input.h. */
#include "analyze/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/unpack.h"

/* Rotated files may overlap by what stood in buffers. */
#define OVERLAP_PS 100000000000 /* 100 ms */

int wf_an_input_init(struct wf_an_input *in, struct wf_err *err)
{
    *in = (struct wf_an_input){0};
    in->sources = calloc(WF_AN_SOURCES, sizeof(*in->sources));
    return in->sources ? 0 : wf_err_set(err, ENOMEM, "no memory for the captures");
}

static void fail(struct wf_an_input *in, int rc, const struct wf_err *err)
{
    if (in->failed)
        return;
    in->failed = rc;
    in->why = *err;
}

/* The time of a file's first packet. */
static int first_time(struct wf_an_file *f, struct wf_err *err)
{
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    int rc = wf_an_unpack(&r, f->path, err);

    if (rc < 0)
        return rc;
    rc = wf_cap_next(r, &rec, err);
    if (rc == 1 && rec.timed)
        f->first = rec.time;
    wf_cap_close(r);
    return rc < 0 ? rc : 0;
}

static int by_time(const void *a, const void *b)
{
    const struct wf_an_file *x = a, *y = b;
    int64_t d = wf_cap_time_diff_ps(y->first, x->first);

    return (d > 0) - (d < 0);
}

int wf_an_input_add(struct wf_an_input *in, const char *name, const char *const *paths, size_t n,
                    struct wf_err *err)
{
    struct wf_an_source *s = &in->sources[in->n_sources];
    struct wf_an_file *p;

    if (in->n_sources == WF_AN_SOURCES)
        return wf_err_set(err, E2BIG, "more than %d capture points", WF_AN_SOURCES);
    if (in->n_files + n > WF_AN_FILES)
        return wf_err_set(err, E2BIG, "more than %d files", WF_AN_FILES);
    p = realloc(in->files, (in->n_files + n) * sizeof(*p));
    if (!p)
        return wf_err_set(err, ENOMEM, "no memory for %zu files", n);
    in->files = p;
    p += in->n_files;
    for (size_t i = 0; i < n; i++) {
        struct wf_err why;

        p[i] = (struct wf_an_file){.path = paths[i]};
        if (n > 1 && !strcmp(paths[i], "-"))
            return wf_err_set(err, EINVAL, "standard input can't be one of several files");
        if (n > 1 && first_time(&p[i], &why) < 0) {
            p[i].bad = true;
            fail(in, -EBADMSG, &why);
        }
    }
    if (n > 1)
        qsort(p, n, sizeof(*p), by_time);
    *s = (struct wf_an_source){.name = name, .first_file = in->n_files, .n_files = (unsigned)n};
    in->n_files += (unsigned)n;
    in->n_sources++;
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static uint16_t point_of(struct wf_an_input *in, struct wf_an_source *s, struct wf_analyze *a)
{
    const struct wf_an_file *f = &in->files[s->first_file + s->at];
    const struct wf_cap_iface *iface = s->rec.iface;
    uint32_t i = s->rec.iface_index;
    char name[160];
    uint16_t point;

    if (i < 256 && s->point_of[i])
        return (uint16_t)(s->point_of[i] - 1);
    if (s->name && !i && !iface->name[0])
        snprintf(name, sizeof(name), "%s", s->name);
    else if (s->name && in->n_sources > 1)
        snprintf(name, sizeof(name), "%s%s%s", s->name, iface->name[0] ? "/" : "", iface->name);
    else if (iface->name[0])
        snprintf(name, sizeof(name), "%s", iface->name);
    else if (i)
        snprintf(name, sizeof(name), "%s/%u", s->name ? s->name : base_name(f->path), i);
    else
        snprintf(name, sizeof(name), "%s", s->n_files > 1 ? "capture" : base_name(f->path));
    point = wf_an_point_of(a, name);
    a->points[point].speed_bps = iface->speed_bps;
    if (i < 256)
        s->point_of[i] = (uint16_t)(point + 1);
    return point;
}

/* What the file has said about frames that were not captured. */
static void take_drops(struct wf_an_source *s, struct wf_analyze *a)
{
    const struct wf_cap_iface *iface;

    for (uint32_t i = 0; (iface = wf_cap_reader_iface(s->reader, i)) && i < 256; i++) {
        struct wf_an_point *pt = s->point_of[i] ? &a->points[s->point_of[i] - 1] : NULL;

        if (!pt || !iface->drops_told)
            continue;
        pt->drops_told = true;
        pt->drops += iface->drops;
    }
}

static void close_file(struct wf_an_source *s, struct wf_analyze *a)
{
    if (s->reader)
        take_drops(s, a);
    wf_cap_close(s->reader);
    s->reader = NULL;
    memset(s->point_of, 0, sizeof(s->point_of));
    s->at++;
}

/* Have the next record of this source, if there is one. */
static void fill(struct wf_an_input *in, struct wf_an_source *s, struct wf_analyze *a)
{
    while (!s->have && !s->ended) {
        struct wf_an_file *f = &in->files[s->first_file + s->at];
        struct wf_err why;
        int rc = 0;

        if (s->at == s->n_files) {
            s->ended = true;
            return;
        }
        if (!s->reader)
            rc = wf_an_unpack(&s->reader, f->path, &why);
        s->fresh |= s->at > 0 && !f->packets;
        if (rc == 0)
            rc = wf_cap_next(s->reader, &s->rec, &why);
        if (rc == 1) {
            f->packets++;
            s->have = true;
            return;
        }
        if (rc < 0) {
            f->bad = true;
            fail(in, rc, &why);
        }
        close_file(s, a);
    }
}

int64_t wf_an_since(const struct wf_an_source *s, struct wf_cap_time time)
{
    int64_t t = wf_cap_time_diff_ps(s->start, time);

    if (t > INT64_MAX / 8)
        return INT64_MAX / 8;
    return t < -INT64_MAX / 8 ? -INT64_MAX / 8 : t;
}

int64_t wf_an_ahead_ps(const struct wf_an_input *in, const struct wf_an_source *s)
{
    int64_t ahead = wf_cap_time_diff_ps(in->sources[0].start, s->start);

    wf_an_add(&ahead, -s->offset_ps);
    return ahead;
}

static void set_time(struct wf_an_input *in, struct wf_an_source *s)
{
    int64_t t;

    if (!s->started) {
        s->started = true;
        s->start = s->rec.time;
    }
    if (!s->rec.timed)
        return; /* with the one before */
    t = wf_an_since(s, s->rec.time);
    if (s->fresh && t + OVERLAP_PS < s->last_ps)
        in->overlaps++;
    s->fresh = false;
    s->last_ps = t;
    s->t_ps = t + s->offset_ps + (int64_t)((double)t * s->drift);
}

/* Nothing could be looked into: what it was instead. */
static int no_link(const struct wf_an_input *in, const struct wf_analyze *a, struct wf_err *err)
{
    const char *name = wf_cap_link_name(in->foreign_link);

    for (unsigned i = 0; i < a->n_points; i++)
        if (a->points[i].frames != a->points[i].not_peeled)
            return 0;
    return wf_err_at(err, EPROTONOSUPPORT, in->foreign, 0, 0,
                     "its %llu packets have link type %u (%s), expected Ethernet, Linux cooked or "
                     "raw IP",
                     (unsigned long long)a->frames, in->foreign_link, name ? name : "unknown here");
}

int wf_an_input_step(struct wf_an_input *in, struct wf_analyze *a, struct wf_err *err)
{
    struct wf_an_source *next = NULL;

    for (unsigned i = 0; i < in->n_sources; i++) {
        struct wf_an_source *s = &in->sources[i];
        bool had = s->have;

        fill(in, s, a);
        if (s->have && !had)
            set_time(in, s);
        if (s->have && (!next || s->t_ps < next->t_ps))
            next = s;
    }
    if (next) {
        next->have = false;
        if (!in->foreign && !wf_an_peels(next->rec.iface->link_type)) {
            in->foreign = in->files[next->first_file + next->at].path;
            in->foreign_link = next->rec.iface->link_type;
        }
        wf_an_take(a, &next->rec, next->first_file + next->at, point_of(in, next, a), next->t_ps);
        return 1;
    }
    if (!in->failed || a->frames)
        return in->foreign ? no_link(in, a, err) : 0;
    *err = in->why;
    return in->failed;
}

void wf_an_input_free(struct wf_an_input *in)
{
    for (unsigned i = 0; i < in->n_sources; i++)
        wf_cap_close(in->sources[i].reader);
    free(in->sources);
    free(in->files);
    *in = (struct wf_an_input){0};
}
