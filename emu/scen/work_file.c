/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows from a file, one a line, between the hosts h0, h1 ... that the numbers in it mean.
 *   weft   a table with commas: its first line names the columns, `from` and `to` and any keys of a
 *          flow, values as in a scenario
 *   hpcc   the flow file of the HPCC simulator on ns-3: the number of flows, then lines of source,
 *          destination, priority, port, bytes, seconds
 *   htsim  a connection matrix: Nodes and Connections, then lines FROM->TO with start (picoseconds)
 *          and size (bytes). Flows that others trigger, and failures, are refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "scen/lines.h"
#include "scen/scen_priv.h"

enum { COLS_MAX = 64, SIZE_MAX_BYTES = 1u << 31 };

/* A file under way. */
struct reader {
    struct wf_scenario *s;
    struct wf_scen_work *w;
    struct wf_lines *l;
    struct wf_err *err;
    uint32_t cap;
    const char *cols[COLS_MAX]; /* weft: names of the columns */
    const struct wf_key *keys[COLS_MAX];
    uint32_t n_cols;
};

static struct wf_desc_flow *new_flow(struct reader *r)
{
    struct wf_scen_work *w = r->w;
    struct wf_desc_flow *more;

    if (w->n_entries == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 256;
        more = WF_ARENA_ARRAY(&r->s->arena, struct wf_desc_flow, r->cap);
        if (w->n_entries)
            memcpy(more, w->entries, w->n_entries * sizeof(*more));
        w->entries = more;
    }
    w->entries[w->n_entries] = (struct wf_desc_flow){.cfg = w->cfg};
    return &w->entries[w->n_entries++];
}

static int bad_host(struct reader *r, uint32_t word, const char *name)
{
    char what[128];

    snprintf(what, sizeof(what), "a host, such as %s; there is no '%s'",
             r->s->desc.n_hosts ? r->s->desc.hosts[0].name : "h0", name);
    return wf_lines_expected(r->l, word, r->err, what);
}

static int host_number(struct reader *r, uint32_t word, uint64_t number, uint32_t *out)
{
    char name[32];
    int host;

    snprintf(name, sizeof(name), "h%llu", (unsigned long long)number);
    host = wf_scen_find_host(r->s, name);
    if (host < 0)
        return bad_host(r, word, name);
    *out = (uint32_t)host;
    return 0;
}

static int host_word(struct reader *r, uint32_t word, uint32_t *out)
{
    uint64_t n;
    int rc = wf_lines_uint(r->l, word, 0, UINT32_MAX, &n, r->err, "the number of a host");

    return rc ? rc : host_number(r, word, n, out);
}

static int not_itself(struct reader *r, uint32_t word, const struct wf_desc_flow *f)
{
    return f->from != f->to ? 0 : wf_lines_expected(r->l, word, r->err, "two different hosts");
}

/* --- hpcc ------------------------------------------------------------------------------------ */

static int hpcc_flow(struct reader *r)
{
    struct wf_desc_flow *f = new_flow(r);
    bool own_dscp = wf_yaml_get(r->w->at, "dscp") != NULL;
    uint64_t prio, port, start;
    int rc = host_word(r, 0, &f->from);

    if (!rc)
        rc = host_word(r, 1, &f->to);
    if (!rc)
        rc = not_itself(r, 1, f);
    if (!rc)
        rc = wf_lines_uint(r->l, 2, 0, 7, &prio, r->err, "a priority from 0 to 7");
    if (!rc)
        rc = wf_lines_uint(r->l, 3, 0, 65535, &port, r->err, "a port from 0 to 65535");
    if (!rc)
        rc = wf_lines_uint(r->l, 4, 1, SIZE_MAX_BYTES, &f->cfg.size_bytes, r->err,
                           "bytes, from 1 to 2147483648");
    if (!rc)
        rc = wf_lines_nano(r->l, 5, 8640000, &start, r->err, "a start in seconds");
    if (!rc && r->l->n > 6)
        rc = wf_lines_expected(r->l, 6, r->err, "six words: FROM TO PRIORITY PORT BYTES SECONDS");
    if (rc)
        return rc;
    f->cfg.start_ps += start * 1000;
    if (!own_dscp)
        f->cfg.dscp = (uint32_t)(8 * prio + 2);
    return 0;
}

static int hpcc(struct reader *r)
{
    uint64_t n;
    int rc;

    wf_lines_next(r->l);
    rc = wf_lines_uint(r->l, 0, 0, WF_SCEN_FLOWS_MAX, &n, r->err, "the number of flows");
    for (uint64_t i = 0; i < n && !rc; i++)
        rc = wf_lines_next(r->l) ? hpcc_flow(r)
                                 : wf_lines_expected(r->l, 0, r->err, "as many flows as were said");
    return rc; /* what follows is a comment, there too */
}

/* --- htsim ----------------------------------------------------------------------------------- */

/* "3->7" */
static int htsim_ends(struct reader *r, struct wf_desc_flow *f)
{
    char word[WF_LINE_WORD_MAX], *arrow, *end;
    unsigned long from, to;
    int rc;

    wf_lines_word(r->l, 0, word);
    arrow = strstr(word, "->");
    from = strtoul(word, &end, 10);
    if (!arrow || end != arrow || end == word)
        return wf_lines_expected(r->l, 0, r->err, "a connection such as 3->7");
    to = strtoul(arrow + 2, &end, 10);
    if (end == arrow + 2 || *end)
        return wf_lines_expected(r->l, 0, r->err, "a connection such as 3->7");
    rc = host_number(r, 0, from, &f->from);
    if (!rc)
        rc = host_number(r, 0, to, &f->to);
    return rc ? rc : not_itself(r, 0, f);
}

static int htsim_flow(struct reader *r)
{
    struct wf_desc_flow *f = new_flow(r);
    uint64_t start = UINT64_MAX, size = 0, other;
    int rc = htsim_ends(r, f);

    for (uint32_t i = 1; i < r->l->n && !rc; i += 2) {
        if (wf_lines_is(r->l, i, "start"))
            rc = wf_lines_uint(r->l, i + 1, 0, WF_TIME_MAX, &start, r->err,
                               "a start in picoseconds");
        else if (wf_lines_is(r->l, i, "size"))
            rc = wf_lines_uint(r->l, i + 1, 1, SIZE_MAX_BYTES, &size, r->err,
                               "bytes, from 1 to 2147483648");
        else if (wf_lines_is(r->l, i, "id") || wf_lines_is(r->l, i, "prio"))
            rc = wf_lines_uint(r->l, i + 1, 0, UINT32_MAX, &other, r->err, "a number");
        else
            rc =
                wf_lines_expected(r->l, i, r->err,
                                  "start, size, id or prio (weft's flows start at their time, none "
                                  "triggers another)");
    }
    if (!rc && start == UINT64_MAX)
        rc = wf_lines_expected(r->l, r->l->n, r->err, "start and a time in picoseconds");
    if (!rc && !size)
        rc = wf_lines_expected(r->l, r->l->n, r->err, "size and bytes");
    if (rc)
        return rc;
    f->cfg.start_ps += start;
    f->cfg.size_bytes = size;
    return 0;
}

static int htsim(struct reader *r)
{
    uint64_t nodes = UINT64_MAX, flows = UINT64_MAX, *to;
    int rc = 0;

    while (!rc && wf_lines_next(r->l)) {
        to = wf_lines_is(r->l, 0, "nodes")         ? &nodes
             : wf_lines_is(r->l, 0, "connections") ? &flows
                                                   : NULL;
        if (to)
            rc = wf_lines_uint(r->l, 1, 0, WF_SCEN_FLOWS_MAX, to, r->err, "a number");
        else if (flows == UINT64_MAX)
            rc = wf_lines_expected(r->l, 0, r->err, "Nodes and Connections first");
        else if (r->w->n_entries == flows)
            rc = wf_lines_expected(r->l, 0, r->err, "no more connections than were said");
        else
            rc = htsim_flow(r);
    }
    if (!rc && (flows == UINT64_MAX || r->w->n_entries < flows))
        rc = wf_lines_expected(r->l, 0, r->err, "as many connections as were said");
    return rc;
}

/* --- weft ------------------------------------------------------------------------------------ */

static int weft_header(struct reader *r)
{
    static const char *const ends[] = {"from", "to"};
    const char *names[COLS_MAX] = {"from", "to"};
    char word[WF_LINE_WORD_MAX];
    uint32_t found = 0, n = 2;

    for (size_t i = 0; i < wf_flow_keys.n_keys && n < COLS_MAX; i++)
        names[n++] = wf_flow_keys.keys[i].name;
    r->n_cols = wf_lines_next(r->l) ? r->l->n : 0;
    for (uint32_t i = 0; i < r->n_cols && i < COLS_MAX; i++) {
        r->cols[i] = wf_arena_strdup(&r->s->arena, wf_lines_word(r->l, i, word));
        r->keys[i] = wf_keyset_find(&wf_flow_keys, r->cols[i]);
        for (uint32_t k = 0; k < 2; k++)
            found |= (uint32_t)!strcmp(r->cols[i], ends[k]) << k;
        if (r->keys[i] && r->keys[i]->type == WF_KEY_STRING)
            return wf_lines_expected(r->l, i, r->err, "a key whose value is no name");
        if (r->keys[i] || !strcmp(r->cols[i], "from") || !strcmp(r->cols[i], "to"))
            continue;
        wf_lines_expected(r->l, i, r->err, "from, to or a key of a flow");
        wf_err_suggest(r->err, r->cols[i], names, n);
        return -EINVAL;
    }
    if (r->n_cols > COLS_MAX || found != 3)
        return wf_lines_expected(r->l, 0, r->err, "a line with the columns from, to and others");
    return 0;
}

static int weft_cell(struct reader *r, uint32_t i, struct wf_desc_flow *f)
{
    char word[WF_LINE_WORD_MAX], *text;
    uint64_t start = f->cfg.start_ps;
    int host;

    text = wf_arena_strdup(&r->s->arena, wf_lines_word(r->l, i, word));
    if (!r->keys[i]) {
        host = wf_scen_find_host(r->s, text);
        if (host < 0)
            return bad_host(r, i, text);
        *(strcmp(r->cols[i], "from") ? &f->to : &f->from) = (uint32_t)host;
        return 0;
    }
    if (!text[0])
        return 0; /* as the workload says */
    if (wf_key_set(r->keys[i], &f->cfg, text, r->err)) {
        wf_err_place(r->err, r->l->file, r->l->line, r->l->words[i].col);
        return -EINVAL;
    }
    if (!strcmp(r->cols[i], "start"))
        f->cfg.start_ps += start;
    return 0;
}

static int weft_flow(struct reader *r)
{
    struct wf_desc_flow *f = new_flow(r);
    int rc = 0;

    for (uint32_t i = 0; i < r->n_cols && !rc; i++)
        rc = i < r->l->n ? weft_cell(r, i, f)
                         : wf_lines_expected(r->l, i, r->err, "as many cells as columns");
    if (!rc && r->l->n > r->n_cols)
        rc = wf_lines_expected(r->l, r->n_cols, r->err, "as many cells as columns");
    if (!rc && (f->cfg.path_mtu & (f->cfg.path_mtu - 1)))
        rc = wf_lines_expected(r->l, 0, r->err, "a path_mtu of 256, 512, 1024, 2048 or 4096");
    if (!rc && wf_flow_cfg_wrong(&f->cfg))
        return wf_err_at(r->err, EINVAL, r->l->file, r->l->line, 1, "%s",
                         wf_flow_cfg_wrong(&f->cfg));
    return rc ? rc : not_itself(r, 0, f);
}

static int weft(struct reader *r)
{
    int rc = weft_header(r);

    while (!rc && wf_lines_next(r->l)) {
        if (r->w->n_entries == WF_SCEN_FLOWS_MAX)
            return wf_lines_expected(r->l, 0, r->err, "no more flows than 131072");
        rc = weft_flow(r);
    }
    return rc;
}

/* Flows of other times of day: the first one starts at `start`. */
static void align(struct wf_scen_work *w)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t i = 0; i < w->n_entries; i++)
        if (w->entries[i].cfg.start_ps < first)
            first = w->entries[i].cfg.start_ps;
    for (uint32_t i = 0; i < w->n_entries && w->align; i++)
        w->entries[i].cfg.start_ps -= first - w->cfg.start_ps;
}

bool wf_scen_work_file(struct wf_scenario *s, struct wf_scen_work *w)
{
    static int (*const formats[])(struct reader *) = {weft, hpcc, htsim};
    const struct wf_yaml_node *at = wf_yaml_get(w->at, "path");
    const struct wf_scen_text *t;
    struct wf_err err = {0};
    struct reader r = {.s = s, .w = w, .err = &err};
    int rc;

    if (!w->path || !w->path[0]) {
        wf_diag_error(&s->diags, at ? at : w->at, "file needs 'path', the file with the flows");
        return false;
    }
    t = wf_scen_file(s, at, w->path);
    if (!t)
        return false;
    r.l = malloc(sizeof(*r.l));
    WF_ASSERT(r.l);
    wf_lines_begin(r.l, t->name, t->text, t->len, w->format == WF_FILE_WEFT ? ',' : 0);
    rc = formats[w->format](&r);
    free(r.l);
    if (rc)
        wf_diag_add(&s->diags, false, &err);
    align(w);
    return !rc;
}
