/* SPDX-License-Identifier: BSD-3-Clause */
/* See why_log.h; a record's text is in why_write.c. */
#include "cap/why_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cap/recorder.h"

static const struct wf_key why_keys[] = {
    {.name = "at",
     .type = WF_KEY_NAMES,
     .off = offsetof(struct wf_why_cfg, at),
     .def = "",
     .doc = "ports whose decisions are recorded, patterns: [\"leaf0:*\", \"h0:p0\"]; none: all"},
    {.name = "flows",
     .type = WF_KEY_NAMES,
     .off = offsetof(struct wf_why_cfg, flows),
     .def = "",
     .doc = "flows whose data packets are, patterns over flow.NAME; none: every packet; pauses "
            "always are"},
    {.name = "last",
     .type = WF_KEY_UINT,
     .off = offsetof(struct wf_why_cfg, last),
     .def = "200000",
     .min = 1,
     .max = 20000000,
     .doc = "decisions kept, the last of the run; each takes some 150 bytes of memory"},
    {.name = "file",
     .type = WF_KEY_STRING,
     .off = offsetof(struct wf_why_cfg, file),
     .def = "why.jsonl",
     .doc = "file to write for weft why"},
};

const struct wf_keyset wf_why_keys = {
    .name = "why",
    .doc = "The record of decisions that weft why explains; off when there is no such section.",
    .keys = why_keys,
    .n_keys = sizeof(why_keys) / sizeof(why_keys[0]),
    .size = sizeof(struct wf_why_cfg),
};

/* What an lcore's places of decision have. */
struct lane {
    struct wf_why why; /* first */
    struct wf_why_log *log;
    unsigned ring;
};

struct wf_why_log {
    struct wf_why_log_conf conf;
    struct lane *lanes;
    struct wf_tap *taps; /* of ports that are recorded */
    uint32_t n_taps;
    struct wf_recorder *rec;
    struct wf_why_rec *kept; /* the thread's: a ring of the last */
    uint64_t n;              /* that came */
};

static void put(struct wf_why *w, const struct wf_why_rec *rec)
{
    const struct lane *lane = (const struct lane *)w;

    wf_recorder_put(lane->log->rec, lane->ring, rec->t_ps, rec->node, rec, sizeof(*rec), NULL, 0);
}

static void keep(void *arg, uint64_t t_ps, uint64_t key, const void *data, uint32_t len)
{
    struct wf_why_log *l = arg;

    (void)t_ps;
    (void)key;
    WF_ASSERT(len == sizeof(*l->kept));
    memcpy(&l->kept[l->n++ % l->conf.last], data, len);
}

static void add_taps(struct wf_why_log *l)
{
    const struct wf_fabric *f = l->conf.f;

    for (uint32_t n = 0; n < f->n_nodes; n++)
        for (uint16_t p = 0; p < f->nodes[n]->n_ports; p++) {
            struct wf_port *port = &f->nodes[n]->ports[p];

            if (!(l->conf.ports[port->entity / 8] >> port->entity % 8 & 1))
                continue;
            l->taps[l->n_taps] = (struct wf_tap){.fn = wf_why_tap};
            wf_port_tap(port, &l->taps[l->n_taps++]);
        }
}

int wf_why_log_new(struct wf_why_log **out, const struct wf_why_log_conf *conf, struct wf_err *err)
{
    struct wf_why_log *l = calloc(1, sizeof(*l));
    struct wf_recorder_conf rec = {.rings = conf->f->n_lcs,
                                   .lossy = conf->live,
                                   .ring_bytes = conf->ring_bytes,
                                   .published_ps = conf->published_ps,
                                   .published_arg = conf->published_arg,
                                   .write = keep,
                                   .arg = l};
    int rc;

    *out = l;
    if (l) {
        l->conf = *conf;
        l->lanes = calloc(conf->f->n_lcs, sizeof(*l->lanes));
        l->kept = calloc(conf->last, sizeof(*l->kept)); /* pages that nothing is put on cost none */
        l->taps = calloc(conf->f->next_entity, sizeof(*l->taps));
    }
    if (!l || !l->lanes || !l->kept || !l->taps) {
        wf_why_log_free(l);
        *out = NULL;
        return wf_err_set(err, ENOMEM, "no memory for %u recorded decisions", conf->last);
    }
    rc = wf_recorder_new(&l->rec, &rec, err);
    for (uint32_t i = 0; i < conf->f->n_lcs && !rc; i++) {
        l->lanes[i] = (struct lane){.why = {.put = put,
                                            .ports = conf->ports,
                                            .flows = conf->hashes,
                                            .n_flows = conf->n_hashes},
                                    .log = l,
                                    .ring = i};
        conf->f->nets[i].why = &l->lanes[i].why;
    }
    if (!rc)
        add_taps(l);
    return rc;
}

static void take_off(struct wf_why_log *l, struct wf_port *port)
{
    const struct wf_tap *t = port->first_tap;

    while (t && (t < l->taps || t >= l->taps + l->n_taps))
        t = t->next;
    if (t)
        wf_port_untap(port, t);
}

static void stop(struct wf_why_log *l)
{
    const struct wf_fabric *f = l->conf.f;

    for (uint32_t n = 0; n < f->n_nodes; n++)
        for (uint16_t p = 0; p < f->nodes[n]->n_ports; p++)
            take_off(l, &f->nodes[n]->ports[p]);
    for (uint32_t i = 0; i < f->n_lcs; i++)
        f->nets[i].why = NULL;
}

static void write_text(const char *s, FILE *out)
{
    fputc('"', out);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            fprintf(out, "\\u%04x", (unsigned char)*s);
        else
            fputc(*s, out);
    fputc('"', out);
}

static void write_head(const struct wf_why_log *l, FILE *out)
{
    uint64_t kept = l->n < l->conf.last ? l->n : l->conf.last;

    fputs("{\"schema\": \"weft.why/1\", \"scenario\": ", out);
    write_text(l->conf.scenario, out);
    fprintf(out,
            ", \"seed\": \"%" PRIu64 "\", \"time_ps\": %" PRIu64 ", \"decisions\": %" PRIu64
            ", \"left_out\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"flows\": [",
            l->conf.f->desc->seed, wf_fabric_now_ps(l->conf.f), kept, l->n - kept,
            wf_recorder_lost(l->rec));
    for (uint32_t i = 0; i < l->conf.n_flows; i++) {
        const struct wf_why_flow *w = &l->conf.flows[i];

        fputs(i ? ", {\"name\": " : "{\"name\": ", out);
        write_text(w->name, out);
        fprintf(out,
                ", \"from\": \"%s\", \"to\": \"%s\", \"hash\": %" PRIu32 ", \"dqpn\": %" PRIu32
                ", \"first_psn\": %" PRIu32 "}",
                w->from, w->to, w->hash, w->dqpn, w->first_psn);
    }
    fputs("]}\n", out);
}

int wf_why_log_end(struct wf_why_log *l, const char *path, struct wf_err *err)
{
    uint64_t first;
    FILE *out;

    stop(l);
    wf_recorder_drain(l->rec, UINT64_MAX);
    out = fopen(path, "w");
    if (!out)
        return wf_err_set(err, errno, "cannot write %s: %s", path, strerror(errno));
    write_head(l, out);
    first = l->n > l->conf.last ? l->n - l->conf.last : 0;
    for (uint64_t i = first; i < l->n; i++)
        wf_why_write(l->conf.f, &l->kept[i % l->conf.last], out);
    if (ferror(out) | fclose(out))
        return wf_err_set(err, EIO, "cannot write %s to its end", path);
    return 0;
}

uint64_t wf_why_log_lost(const struct wf_why_log *l)
{
    return wf_recorder_lost(l->rec);
}

void wf_why_log_free(struct wf_why_log *l)
{
    if (!l)
        return;
    if (l->rec)
        stop(l);
    wf_recorder_free(l->rec);
    free(l->kept);
    free(l->taps);
    free(l->lanes);
    free(l);
}
