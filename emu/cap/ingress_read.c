/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of an ingress log, see ingress_log.h. The file is a stranger's: every block is
 * bounded, time never goes back, and what contradicts itself ends in an error that names the byte.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/units.h"
#include "cap/ingress_block.h"
#include "cap/ingress_log.h"
#include "cap/reader_priv.h"

struct wf_ingress_reader {
    struct wf_cap_reader *r;
    struct wf_arena arena;
    struct wf_ingress_head head;
    struct wf_ingress_tail tail;
    bool at_known;
    uint64_t at_ps, seen;
    uint64_t missing; /* of the lost blocks */
    int rc;           /* an error that wf_ingress_next goes on giving */
    struct wf_err failure;
    char where[WF_STIM_WHERE_MAX + 1];
};

static int bad(const struct wf_ingress_reader *g, const struct wf_cap_rec *rec, const char *what,
               struct wf_err *err)
{
    return wf_cap_bad(g->r, rec->offset, err, "ingress log: %s", what);
}

/* ---- its beginning --------------------------------------------------------------------------- */

static int take_begin(struct wf_ingress_reader *g, const struct wf_cap_rec *rec, struct wf_err *err)
{
    struct wf_rd r = wf_rd_init(rec->custom, rec->custom_bytes);
    uint16_t version;

    wf_rd_u8(&r);
    g->head.cut = wf_rd_u8(&r) & WF_LOG_CUT;
    version = wf_rd_be16(&r);
    g->head.n_edges = wf_rd_be16(&r);
    if (!r.err && version != WF_INGRESS_LOG_VERSION)
        return wf_cap_bad(g->r, rec->offset, err,
                          "ingress log of version %u, this weft reads version %d", version,
                          WF_INGRESS_LOG_VERSION);
    if (r.err || g->head.n_edges > WF_INGRESS_LOG_EDGES)
        return bad(g, rec, "its beginning is broken", err);
    g->head.edges = WF_ARENA_ARRAY(&g->arena, const char *, g->head.n_edges + 1);
    for (uint32_t i = 0; i < g->head.n_edges; i++) {
        uint8_t n = wf_rd_u8(&r);
        char *name = wf_arena_alloc(&g->arena, n + 1u);

        wf_rd_bytes(&r, name, n);
        g->head.edges[i] = name;
    }
    return r.err ? bad(g, rec, "its beginning is broken", err) : 0;
}

/* The first thing in the file has to be the log's beginning. */
static int begin(struct wf_ingress_reader *g, struct wf_err *err)
{
    struct wf_cap_rec rec;
    int rc;

    wf_cap_want_custom(g->r);
    rc = wf_cap_next(g->r, &rec, err);
    if (rc < 0)
        return rc;
    if (!rc || !rec.custom || !rec.custom_bytes || rec.custom[0] != WF_BLOCK_BEGIN)
        return wf_err_at(err, EINVAL, g->r->name, 0, 0,
                         "this is a capture file, but no ingress log of weft");
    return take_begin(g, &rec, err);
}

int wf_ingress_open_stream(struct wf_ingress_reader **out, FILE *f, const char *name,
                           struct wf_err *err)
{
    struct wf_ingress_reader *g = calloc(1, sizeof(*g));
    int rc;

    *out = NULL;
    if (!g) {
        fclose(f);
        return wf_err_set(err, ENOMEM, "no memory for an ingress log");
    }
    rc = wf_cap_open_stream(&g->r, f, name, err);
    if (!rc)
        rc = begin(g, err);
    if (rc) {
        wf_ingress_close(g);
        return rc;
    }
    *out = g;
    return 0;
}

int wf_ingress_open(struct wf_ingress_reader **out, const char *path, struct wf_err *err)
{
    FILE *f = fopen(path, "rbe");

    *out = NULL;
    if (!f)
        return wf_err_at(err, errno, path, 0, 0, "cannot read the ingress log: %s",
                         strerror(errno));
    return wf_ingress_open_stream(out, f, path, err);
}

const struct wf_ingress_head *wf_ingress_head(const struct wf_ingress_reader *g)
{
    return &g->head;
}

struct wf_ingress_tail wf_ingress_tail(const struct wf_ingress_reader *g)
{
    struct wf_ingress_tail t = g->tail;

    if (!t.ended) {
        t.end_ps = g->at_ps;
        t.stimuli = g->seen;
        t.lost = g->missing;
    }
    return t;
}

void wf_ingress_close(struct wf_ingress_reader *g)
{
    if (!g)
        return;
    wf_cap_close(g->r);
    wf_arena_free(&g->arena);
    free(g);
}

/* ---- what is in it --------------------------------------------------------------------------- */

static int take_frame(struct wf_ingress_reader *g, const struct wf_cap_rec *rec,
                      struct wf_stimulus *st, struct wf_err *err)
{
    memset(st, 0, sizeof(*st));
    st->kind = WF_STIM_FRAME;
    st->edge = rec->iface_index;
    st->frame = rec->data;
    st->cap_bytes = rec->cap_bytes;
    st->len_bytes = rec->len_bytes;
    if (rec->cap_bytes == rec->len_bytes)
        return 1;
    for (int i = WF_STIM_ICRC_NONE; wf_ingress_icrc_comments[i] && rec->comment; i++)
        if (!strcmp(rec->comment, wf_ingress_icrc_comments[i]))
            st->icrc = (enum wf_stimulus_icrc)i;
    return st->icrc ? 1 : bad(g, rec, "a cut packet does not say what its ICRC was", err);
}

static int take_end(struct wf_ingress_reader *g, const struct wf_cap_rec *rec, struct wf_err *err)
{
    struct wf_rd r = wf_rd_init(rec->custom + 1, rec->custom_bytes - 1);

    g->tail.end_ps = wf_rd_be64(&r);
    g->tail.stimuli = wf_rd_be64(&r);
    g->tail.lost = wf_rd_be64(&r);
    if (r.err || g->tail.end_ps < g->at_ps || g->tail.end_ps > WF_TIME_MAX)
        return bad(g, rec, "its end is broken", err);
    if (g->tail.lost != g->missing || g->tail.stimuli != g->seen + g->missing)
        return wf_cap_bad(g->r, rec->offset, err,
                          "ingress log: %" PRIu64 " stimuli are in it and %" PRIu64
                          " lost, its end says %" PRIu64 " and %" PRIu64,
                          g->seen, g->missing, g->tail.stimuli, g->tail.lost);
    g->tail.ended = true;
    return 0;
}

/* 1: *st is there; 2: go on; 0: the end; -errno. */
static int take_block(struct wf_ingress_reader *g, const struct wf_cap_rec *rec,
                      struct wf_stimulus *st, struct wf_err *err)
{
    struct wf_rd r = wf_rd_init(rec->custom, rec->custom_bytes);
    uint8_t kind = wf_rd_u8(&r);
    uint64_t v;

    if (kind < WF_BLOCK_BEGIN)
        return wf_ingress_get_stimulus(rec->custom, rec->custom_bytes, st, g->where)
                   ? 1
                   : bad(g, rec, "a stimulus is broken", err);
    if (kind == WF_BLOCK_END)
        return take_end(g, rec, err);
    v = wf_rd_be64(&r);
    if (r.err || (kind != WF_BLOCK_AT && kind != WF_BLOCK_LOST))
        return bad(g, rec, "a block is broken", err);
    if (kind == WF_BLOCK_LOST) {
        g->missing += v;
        return 2;
    }
    if (g->at_known && v <= g->at_ps)
        return bad(g, rec, "time goes back", err);
    if (v > WF_TIME_MAX)
        return bad(g, rec, "an instant is beyond 100 days", err);
    g->at_ps = v;
    g->at_known = true;
    return 2;
}

static int next(struct wf_ingress_reader *g, struct wf_stimulus *st, struct wf_err *err)
{
    struct wf_cap_rec rec;
    int rc = 2;

    while (rc == 2) {
        rc = wf_cap_next(g->r, &rec, err);
        if (rc == 1)
            rc = rec.custom ? take_block(g, &rec, st, err) : take_frame(g, &rec, st, err);
    }
    if (rc != 1)
        return rc;
    if (st->kind < WF_STIM_LINK && st->edge >= g->head.n_edges)
        return bad(g, &rec, "a stimulus of an attached host that there is not", err);
    if (st->first == g->at_known)
        return bad(g, &rec,
                   st->first ? "a first state behind the run's beginning"
                             : "a stimulus without its time",
                   err);
    st->t_ps = g->at_ps;
    g->seen++;
    return 1;
}

int wf_ingress_next(struct wf_ingress_reader *g, struct wf_stimulus *st, struct wf_err *err)
{
    int rc;

    if (g->rc < 0) {
        *err = g->failure;
        return g->rc;
    }
    if (g->tail.ended)
        return 0;
    rc = next(g, st, &g->failure);
    if (rc < 0) {
        g->rc = rc;
        *err = g->failure;
    }
    return rc;
}
