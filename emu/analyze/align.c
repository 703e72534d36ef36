/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks against each other. See align.h. */
#include "analyze/align.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/unpack.h"
#include "base/digest.h"

enum { SLOTS = WF_AN_ALIGN_PACKETS * 2 };

#define DRIFT_MAX 1e-3

struct sign {
    uint64_t key; /* 0: free */
    int64_t t_ps;
    bool twice; /* such packets tell nothing */
    bool up;    /* from the lower address to the higher */
};

/* Differences of one direction: the quickest of the first half and of the second. */
struct quickest {
    uint64_t n[2];
    int64_t min_ps[2], max_ps[2];
    double sum_ps[2];
};

struct match {
    struct quickest way[2];
    int64_t from_ps, to_ps; /* times of the first and the last packet that matched */
    uint64_t n;
};

/* What makes a packet this one wherever it is seen, whatever a snaplen has left of it. */
static uint64_t key_of(const struct wf_an_pkt *p)
{
    struct {
        struct wf_an_addr src, dst;
        uint32_t dqpn, psn;
        uint16_t ip_id;
        uint8_t opcode, syndrome;
    } k;
    uint64_t key;

    memset(&k, 0, sizeof(k));
    k.src = p->src;
    k.dst = p->dst;
    k.dqpn = p->dqpn;
    k.psn = p->psn;
    k.ip_id = p->ip_id;
    k.opcode = p->opcode;
    key = wf_hash_bytes(&k, sizeof(k), 2);
    return key ? key : 1;
}

static struct sign *slot_of(struct sign *signs, uint64_t key)
{
    uint64_t i = key;

    while (signs[i % SLOTS].key && signs[i % SLOTS].key != key)
        i++;
    return &signs[i % SLOTS];
}

static void note(struct sign *signs, const struct wf_an_pkt *p, int64_t t_ps)
{
    struct sign *s = slot_of(signs, key_of(p));

    s->twice |= s->key != 0;
    s->key = key_of(p);
    s->t_ps = t_ps;
    s->up = memcmp(&p->src, &p->dst, sizeof(p->src)) < 0;
}

/* Read the beginning of a source: what it saw, at what time since `start`. */
static int look(struct wf_an_input *in, struct wf_an_source *src, struct sign *signs,
                struct wf_err *err)
{
    struct wf_an_peeled *peeled = malloc(sizeof(*peeled));
    unsigned left = WF_AN_ALIGN_PACKETS;
    int rc = peeled ? 0 : wf_err_set(err, ENOMEM, "no memory for aligning clocks");

    for (unsigned i = 0; i < src->n_files && left && !rc; i++) {
        struct wf_cap_reader *r;
        struct wf_cap_rec rec;
        struct wf_parsed parsed;
        struct wf_an_pkt p;

        rc = wf_an_unpack(&r, in->files[src->first_file + i].path, err);
        if (rc < 0)
            break;
        for (; left && wf_cap_next(r, &rec, err) == 1; left--) {
            if (!src->started) {
                src->started = true;
                src->start = rec.time;
            }
            if (rec.timed && wf_an_peel(&rec, peeled) &&
                wf_an_packet(peeled, &parsed, &p) == WF_AN_ROCE)
                note(signs, &p, wf_an_since(src, rec.time));
        }
        wf_cap_close(r);
    }
    free(peeled);
    return rc;
}

static void take(struct quickest *q, int64_t d, unsigned half)
{
    if (!q->n[half] || d < q->min_ps[half])
        q->min_ps[half] = d;
    if (!q->n[half] || d > q->max_ps[half])
        q->max_ps[half] = d;
    q->sum_ps[half] += (double)d;
    q->n[half]++;
}

static void compare(const struct sign *one, struct sign *other, struct match *m)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < SLOTS; i++) {
            const struct sign *a = &one[i], *b = a->key ? slot_of(other, a->key) : NULL;

            if (!b || !b->key || a->twice || b->twice)
                continue;
            if (pass == 0) {
                first = a->t_ps < first ? a->t_ps : first;
                last = a->t_ps > last ? a->t_ps : last;
                continue;
            }
            take(&m->way[a->up], b->t_ps - a->t_ps, a->t_ps > first + (last - first) / 2);
            m->n++;
        }
    m->from_ps = first;
    m->to_ps = last;
}

/* How far the other clock is ahead, in one half. False: too few packets. */
static bool offset(const struct match *m, unsigned half, int64_t *ps)
{
    const struct quickest *a = &m->way[0], *b = &m->way[1], *late;

    if (!a->n[half] && !b->n[half])
        return false;
    if (!a->n[half] || !b->n[half]) { /* one way only: as if the quickest took no time */
        *ps = a->n[half] ? a->min_ps[half] : b->min_ps[half];
        return true;
    }
    late = a->sum_ps[half] / (double)a->n[half] > b->sum_ps[half] / (double)b->n[half] ? a : b;
    *ps = late->min_ps[half] / 2 + (late == a ? b : a)->max_ps[half] / 2;
    return true;
}

static void set(struct wf_an_source *s, const struct match *m)
{
    int64_t first, second;

    s->matched = m->n;
    s->one_way = !m->way[0].n[0] + !m->way[0].n[1] == 2 || !m->way[1].n[0] + !m->way[1].n[1] == 2;
    if (!offset(m, 0, &first))
        first = 0;
    s->offset_ps = -first;
    if (!offset(m, 1, &second) || m->to_ps - m->from_ps < WF_AN_DRIFT_SPAN_PS)
        return;
    /* between the middles of both halves; no clock runs that wrong, it was set meanwhile */
    s->drift = (double)(second - first) / ((double)(m->to_ps - m->from_ps) / 2);
    s->jumped = fabs(s->drift) > DRIFT_MAX;
    if (s->jumped) {
        s->drift = 0;
        return;
    }
    s->offset_ps =
        -first + (int64_t)(s->drift * ((double)m->from_ps + (double)(m->to_ps - m->from_ps) / 4));
    s->drift = -s->drift;
}

int wf_an_align(struct wf_an_input *in, struct wf_err *err)
{
    struct sign *one = calloc(SLOTS, sizeof(*one)), *other = calloc(SLOTS, sizeof(*other));
    int rc = one && other ? 0 : wf_err_set(err, ENOMEM, "no memory for aligning clocks");

    for (unsigned i = 0; i < in->n_sources && !rc; i++)
        for (unsigned f = 0; f < in->sources[i].n_files && !rc; f++)
            if (!strcmp(in->files[in->sources[i].first_file + f].path, "-"))
                rc = wf_err_set(err, EINVAL,
                                "clocks are aligned by files that can be read twice, not by "
                                "standard input");
    if (!rc)
        rc = look(in, &in->sources[0], one, err);
    for (unsigned i = 1; i < in->n_sources && !rc; i++) {
        struct match m = {0};

        memset(other, 0, SLOTS * sizeof(*other));
        rc = look(in, &in->sources[i], other, err);
        if (rc)
            break;
        compare(one, other, &m);
        if (!m.n)
            rc = wf_err_set(err, EINVAL,
                            "%s and %s have no packet in common (of the first %d of each): their "
                            "clocks can't be aligned",
                            in->sources[0].name, in->sources[i].name, WF_AN_ALIGN_PACKETS);
        else
            set(&in->sources[i], &m);
    }
    free(one);
    free(other);
    return rc < 0 ? rc : 0;
}
