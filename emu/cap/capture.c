/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture points. See capture.h; rings and the writer's thread are in recorder.c. */
#include "cap/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "cap/capture_note.h"
#include "cap/recorder.h"
#include "wire/bth.h"

static const char *const direction_names[] = {"both", "rx", "tx", NULL};
static const char *const match_names[] = {"any", "roce",    "roce_data", "roce_ack",
                                          "cnp", "control", NULL};
static const char *const time_names[] = {"ns", "ps", NULL};

static const struct wf_key capture_keys[] = {
    {.name = "at",
     .type = WF_KEY_STRING,
     .off = offsetof(struct wf_capture_cfg, at),
     .doc = "ports to capture at, a pattern: \"leaf0:p*\", \"h0:p0\""},
    {.name = "file",
     .type = WF_KEY_STRING,
     .off = offsetof(struct wf_capture_cfg, file),
     .doc = "pcapng file to write, a fifo, or \"-\" for standard output; entries may share one"},
    {.name = "direction",
     .type = WF_KEY_ENUM,
     .off = offsetof(struct wf_capture_cfg, direction),
     .def = "both",
     .names = direction_names,
     .doc = "frames received, sent, or both"},
    {.name = "match",
     .type = WF_KEY_ENUM,
     .off = offsetof(struct wf_capture_cfg, match),
     .def = "any",
     .names = match_names,
     .doc = "frames of which class"},
    {.name = "drops",
     .type = WF_KEY_BOOL,
     .off = offsetof(struct wf_capture_cfg, drops),
     .def = "true",
     .doc = "also a record for each frame that is dropped at the port"},
    {.name = "snaplen",
     .type = WF_KEY_BYTES,
     .off = offsetof(struct wf_capture_cfg, snaplen),
     .def = "0",
     .max = WF_PCAPNG_SNAP_MAX,
     .doc = "bytes kept of each frame, 0 for all of it"},
    {.name = "time",
     .type = WF_KEY_ENUM,
     .off = offsetof(struct wf_capture_cfg, time),
     .def = "ns",
     .names = time_names,
     .doc = "resolution of the times; tshark 4.0 shows wrong times for ps"},
};

const struct wf_keyset wf_capture_keys = {
    .name = "capture",
    .doc = "Where frames are captured, and into which file.",
    .keys = capture_keys,
    .n_keys = sizeof(capture_keys) / sizeof(capture_keys[0]),
    .size = sizeof(struct wf_capture_cfg),
};

struct file {
    struct file *next;
    char *path;
    struct wf_pcapng *w;
    struct wf_recorder *rec;
};

struct point {
    struct wf_tap tap; /* first */
    struct point *next;
    struct wf_captures *set;
    struct file *file;
    struct wf_port *port;
    struct wf_capture_cfg cfg;
    uint32_t iface;
};

struct wf_captures {
    struct wf_captures_conf conf;
    struct file *files;
    struct point *points;
    uint8_t (*frames)[WF_FULL_ROOM]; /* one an lcore */
};

int wf_captures_new(struct wf_captures **out, const struct wf_captures_conf *conf,
                    struct wf_err *err)
{
    struct wf_captures *c = calloc(1, sizeof(*c));

    *out = c;
    if (c) {
        c->conf = *conf;
        c->conf.n_lcs = conf->n_lcs ? conf->n_lcs : 1;
        c->frames = calloc(c->conf.n_lcs, sizeof(*c->frames));
    }
    if (c && c->frames)
        return 0;
    free(c);
    *out = NULL;
    return wf_err_set(err, ENOMEM, "no memory for captures");
}

/* ---- what is captured ---- */

static bool of_class(const struct wf_parsed *p, int match)
{
    const struct wf_opcode *op = &wf_opcodes[p->opcode];

    switch ((enum wf_capture_match)match) {
    case WF_CAPTURE_ANY:
        return true;
    case WF_CAPTURE_CONTROL:
        return p->flags & WF_P_MAC_CONTROL;
    case WF_CAPTURE_ROCE:
        return p->flags & WF_P_ROCE;
    case WF_CAPTURE_ROCE_DATA:
        return p->flags & WF_P_BTH && op->flags & WF_OPF_PAYLOAD && op->service != WF_SERVICE_CNP;
    case WF_CAPTURE_ROCE_ACK:
        return p->flags & WF_P_BTH && (p->opcode & 0x1f) == WF_OP_ACK &&
               op->service != WF_SERVICE_CNP;
    case WF_CAPTURE_CNP:
        return p->flags & WF_P_BTH && op->service == WF_SERVICE_CNP;
    }
    return false;
}

static bool wanted(const struct point *pt, const struct wf_pkt *pkt, enum wf_tap_dir dir)
{
    if (dir == WF_TAP_DROP && !pt->cfg.drops)
        return false;
    if (dir == WF_TAP_RX && pt->cfg.direction == WF_CAPTURE_TX)
        return false;
    if (dir == WF_TAP_TX && pt->cfg.direction == WF_CAPTURE_RX)
        return false;
    return of_class(&pkt->p, pt->cfg.match);
}

static void describe(struct wf_capture_note *n, const struct wf_port *port,
                     const struct wf_pkt *pkt, enum wf_tap_dir dir, enum wf_reason why)
{
    n->time_ps = wf_now(port);
    n->why = why;
    n->dir = dir == WF_TAP_RX   ? WF_PCAPNG_DIR_IN
             : dir == WF_TAP_TX ? WF_PCAPNG_DIR_OUT
                                : WF_PCAPNG_DIR_NONE;
    n->len_bytes = pkt->frame_len - WF_FCS_LEN;
    n->marked = pkt->flags & WF_PKT_MARKED;
    n->damaged = pkt->flags & WF_PKT_DAMAGED;
    n->id = pkt->flags & WF_PKT_REPLAYED ? pkt->cookie : 0;
    if (dir != WF_TAP_RX && port->node->net->why && !(pkt->p.flags & WF_P_MAC_CONTROL)) {
        n->decided = pkt->why;
        n->pg = pkt->pg;
    }
    if (dir == WF_TAP_TX && !(pkt->p.flags & WF_P_MAC_CONTROL)) {
        n->queued = true;
        n->queue = pkt->queue;
        n->prio = pkt->prio;
        if (!(pkt->flags & WF_PKT_WATCHED))
            return; /* queued before the first tap came: nothing is known of its wait */
        n->depth_bytes = pkt->depth_bytes;
        n->waited_ps = n->time_ps - pkt->enqueued_ps;
        n->paused_ps = port->ll_ops->paused_ps(port, pkt->queue) - pkt->pause_mark_ps;
    }
}

/* The lcore that the port's node belongs to. */
static unsigned ring_of(const struct wf_captures *c, const struct wf_port *port)
{
    return c->conf.n_lcs > 1 ? (unsigned)(port->node->net->lc - c->conf.lcs) : 0;
}

static void saw(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt, enum wf_tap_dir dir,
                enum wf_reason why)
{
    struct point *pt = (struct point *)tap;
    struct wf_capture_note note = {.iface = pt->iface};
    unsigned ring = ring_of(pt->set, port);
    uint8_t *frame = pt->set->frames[ring];
    uint32_t cap = WF_FULL_ROOM;

    if (!wanted(pt, pkt, dir))
        return;
    if (pt->cfg.snaplen && pt->cfg.snaplen < cap)
        cap = (uint32_t)pt->cfg.snaplen;
    describe(&note, port, pkt, dir, why);
    wf_pkt_real_bytes(pkt, frame, cap);
    note.cap_bytes = note.len_bytes < cap ? note.len_bytes : cap;
    wf_recorder_put(pt->file->rec, ring, note.time_ps, pt->iface, &note, sizeof(note), frame,
                    note.cap_bytes);
}

/* ---- files and points ---- */

static void write_record(void *arg, uint64_t t_ps, uint64_t key, const void *data, uint32_t len)
{
    struct file *f = arg;
    struct wf_capture_note note;

    (void)t_ps;
    (void)key;
    (void)len;
    memcpy(&note, data, sizeof(note));
    wf_capture_write(f->w, &note, (const uint8_t *)data + sizeof(note));
}

static void flush_file(void *arg)
{
    struct file *f = arg;

    wf_pcapng_flush(f->w);
}

static int start_recorder(struct wf_captures *c, struct file *f, struct wf_err *err)
{
    const struct wf_recorder_conf conf = {
        .rings = c->conf.n_lcs,
        .lossy = c->conf.live,
        .ring_bytes = c->conf.ring_bytes,
        .published_ps = c->conf.published_ps,
        .published_arg = c->conf.published_arg,
        .write = write_record,
        .flush = flush_file,
        .arg = f,
    };

    return wf_recorder_new(&f->rec, &conf, err);
}

static struct file *open_file(struct wf_captures *c, const char *path, struct wf_err *err)
{
    const struct wf_pcapng_conf conf = {.application = "weft", .comment = c->conf.comment};
    struct file *f;

    for (f = c->files; f; f = f->next)
        if (strcmp(f->path, path) == 0)
            return f;
    f = calloc(1, sizeof(*f));
    if (f)
        f->path = strdup(path);
    if (!f || !f->path) {
        wf_err_set(err, ENOMEM, "no memory for captures");
        free(f);
        return NULL;
    }
    if (wf_pcapng_open(&f->w, path, &conf, err) < 0)
        goto fail;
    if (start_recorder(c, f, err) < 0)
        goto fail;
    f->next = c->files;
    c->files = f;
    return f;
fail:
    wf_pcapng_close(f->w, NULL);
    free(f->path);
    free(f);
    return NULL;
}

static int add_iface(struct wf_captures *c, struct file *f, const struct point *pt,
                     struct wf_err *err)
{
    char text[160];
    const struct wf_pcapng_iface iface = {
        .name = pt->port->name,
        .description = text,
        .link_type = WF_LINK_ETHERNET,
        .time_digits = pt->cfg.time == WF_CAPTURE_PS ? 12 : 9,
        .snap_bytes = (uint32_t)pt->cfg.snaplen,
        .rate_bps = pt->port->link ? pt->port->link->cfg.rate_bps : 0,
        .epoch_s = c->conf.epoch_s,
    };
    int rc;

    snprintf(text, sizeof(text), "%s %s, %s", pt->port->node->ops->kind, pt->port->node->name,
             pt->port->link ? pt->port->link->name : "no link");
    wf_recorder_lock(f->rec);
    rc = wf_pcapng_add_iface(f->w, &iface, err);
    wf_recorder_unlock(f->rec);
    return rc;
}

int wf_captures_add(struct wf_captures *c, const struct wf_capture_cfg *cfg, struct wf_port *port,
                    struct wf_err *err)
{
    struct file *f = open_file(c, cfg->file, err);
    struct point *pt;
    int rc;

    if (!f)
        return -EIO;
    pt = calloc(1, sizeof(*pt));
    if (!pt)
        return wf_err_set(err, ENOMEM, "no memory for captures");
    *pt = (struct point){.tap.fn = saw, .set = c, .file = f, .port = port, .cfg = *cfg};
    rc = add_iface(c, f, pt, err);
    if (rc < 0) {
        free(pt);
        return rc;
    }
    pt->iface = (uint32_t)rc;
    pt->next = c->points;
    c->points = pt;
    wf_port_tap(port, &pt->tap);
    return 0;
}

/* A file that is being written to just now is asked the next time: its disk may be slow. Behind
 * wf_captures_stop() there is no next time. */
bool wf_captures_take_error(struct wf_captures *c, struct wf_err *err)
{
    bool any = false;

    for (struct file *f = c->files; f && !any; f = f->next) {
        if (!c->points)
            wf_recorder_lock(f->rec);
        else if (!wf_recorder_try(f->rec))
            continue;
        any = wf_pcapng_take_error(f->w, err);
        wf_recorder_unlock(f->rec);
    }
    return any;
}

static struct wf_pcapng_counts counts_of(const struct file *f)
{
    struct wf_pcapng_counts n;

    wf_recorder_lock(f->rec);
    n = wf_pcapng_counts(f->w);
    wf_recorder_unlock(f->rec);
    n.lost += wf_recorder_lost(f->rec);
    return n;
}

struct wf_capture_totals wf_captures_totals(const struct wf_captures *c)
{
    struct wf_capture_totals t = {0};

    for (const struct file *f = c->files; f; f = f->next) {
        struct wf_pcapng_counts n = counts_of(f);

        t.files++;
        t.failed += n.lost > 0;
        t.packets += n.packets;
        t.lost += n.lost;
    }
    return t;
}

bool wf_captures_file(const struct wf_captures *c, unsigned i, const char **path,
                      struct wf_pcapng_counts *counts)
{
    const struct file *f = c->files;

    while (f && i--)
        f = f->next;
    if (!f)
        return false;
    *path = f->path;
    *counts = counts_of(f);
    return true;
}

static void take_off(struct point *pt)
{
    wf_port_untap(pt->port, &pt->tap);
}

void wf_captures_stop(struct wf_captures *c)
{
    while (c->points) {
        struct point *pt = c->points;

        c->points = pt->next;
        take_off(pt);
        free(pt);
    }
    for (struct file *f = c->files; f; f = f->next)
        wf_recorder_drain(f->rec, UINT64_MAX);
}

void wf_captures_free(struct wf_captures *c)
{
    if (!c)
        return;
    wf_captures_stop(c);
    while (c->files) {
        struct file *f = c->files;

        c->files = f->next;
        wf_recorder_free(f->rec);
        wf_pcapng_close(f->w, NULL);
        free(f->path);
        free(f);
    }
    free(c->frames);
    free(c);
}
