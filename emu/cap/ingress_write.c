/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of an ingress log, see ingress_log.h: items go through a recorder to its thread.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cap/ingress_block.h"
#include "cap/ingress_log.h"
#include "cap/pcapng.h"
#include "cap/recorder.h"
#include "net/packet.h"
#include "wire/bth.h"
#include "wire/icrc.h"

enum {
    RING_DEFAULT = 64 << 20, /* a second of a guest that sends at full speed */
    L4_HEADERS = 64,         /* what is kept behind the last header that the parser knows */
};

/* In the ring, followed by its bytes: a frame, or the block of a stimulus. */
struct item {
    uint32_t bytes, len_bytes;
    uint16_t edge;
    uint8_t icrc;
    bool frame, first;
};

struct wf_ingress_log {
    struct wf_stimulus_sink sink; /* first */
    bool cut;
    struct wf_ingress_log_sum sum; /* what was put */
    struct wf_recorder *rec;
    _Atomic bool failed;
    /* the writer's, or under its lock */
    struct wf_pcapng *w;
    bool at_known; /* the instant of what follows is in the file */
    uint64_t at_ps, lost_told;
};

/* ---- putting --------------------------------------------------------------------------------- */

/* How much of a frame stays, and its ICRC's state: all that forwarding, marking and the digest
 * look at lies before. */
static void cut(const struct wf_stimulus *st, struct item *it)
{
    uint32_t keep = WF_HDR_ROOM;
    struct wf_parsed p;

    if (st->cap_bytes != st->len_bytes)
        return;
    wf_parse(st->frame, st->len_bytes, st->len_bytes, &p);
    keep = p.payload_off > keep ? p.payload_off : keep;
    keep = p.l4_off + L4_HEADERS > keep ? p.l4_off + L4_HEADERS : keep;
    keep = p.l3_off + L4_HEADERS > keep ? p.l3_off + L4_HEADERS : keep;
    if (keep + WF_ICRC_LEN > st->len_bytes)
        return;
    switch (p.icrc_off < keep ? WF_ICRC_ABSENT : wf_icrc_check(st->frame, st->len_bytes, &p)) {
    case WF_ICRC_OK:
        it->icrc = WF_STIM_ICRC_OK;
        break;
    case WF_ICRC_BAD:
        it->icrc = WF_STIM_ICRC_BAD;
        break;
    default:
        if (p.flags & WF_P_ROCE) /* odd ones stay whole */
            return;
        it->icrc = WF_STIM_ICRC_NONE;
    }
    it->bytes = keep;
}

static void push(struct wf_ingress_log *l, uint64_t t_ps, const struct item *it,
                 const uint8_t *bytes)
{
    wf_recorder_put(l->rec, 0, t_ps, 0, it, sizeof(*it), bytes, it->bytes);
}

static void put(struct wf_stimulus_sink *sink, const struct wf_stimulus *st)
{
    struct wf_ingress_log *l = (struct wf_ingress_log *)sink;
    struct item it = {.edge = (uint16_t)st->edge, .first = st->first, .icrc = (uint8_t)st->icrc};
    uint8_t block[WF_STIM_BYTES_MAX];

    l->sum.stimuli++;
    if (st->kind != WF_STIM_FRAME) {
        it.bytes = (uint32_t)wf_ingress_put_stimulus(block, st);
        push(l, st->t_ps, &it, block);
        return;
    }
    l->sum.frames++;
    it.frame = true;
    it.bytes = st->cap_bytes;
    it.len_bytes = st->len_bytes;
    if (l->cut)
        cut(st, &it);
    push(l, st->t_ps, &it, st->frame);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void put_number(struct wf_ingress_log *l, enum wf_ingress_block kind, uint64_t v)
{
    uint8_t b[9] = {(uint8_t)kind};

    wf_st64(b + 1, v);
    wf_pcapng_write_custom(l->w, b, sizeof(b));
}

static void put_lost(struct wf_ingress_log *l)
{
    uint64_t lost = l->rec ? wf_recorder_lost(l->rec) : 0;

    if (lost != l->lost_told)
        put_number(l, WF_BLOCK_LOST, lost - l->lost_told);
    l->lost_told = lost;
}

static void put_item(struct wf_ingress_log *l, const struct item *it, uint64_t t_ps,
                     const uint8_t *bytes)
{
    const struct iovec iov = {(void *)(uintptr_t)bytes, it->bytes};
    const struct wf_pcapng_packet pkt = {
        .iface = it->edge,
        .time_ps = t_ps,
        .len_bytes = it->len_bytes,
        .iov = &iov,
        .n_iov = 1,
        .dir = WF_PCAPNG_DIR_IN,
        .comment = wf_ingress_icrc_comments[it->icrc],
    };

    put_lost(l);
    if (!it->first && (!l->at_known || t_ps != l->at_ps)) {
        put_number(l, WF_BLOCK_AT, t_ps);
        l->at_ps = t_ps;
        l->at_known = true;
    }
    if (it->frame)
        wf_pcapng_write(l->w, &pkt);
    else
        wf_pcapng_write_custom(l->w, bytes, it->bytes);
}

static void write_item(void *arg, uint64_t t_ps, uint64_t key, const void *data, uint32_t len)
{
    struct wf_ingress_log *l = arg;
    struct item it;

    memcpy(&it, data, sizeof(it));
    put_item(l, &it, t_ps, (const uint8_t *)data + sizeof(it));
}

/* A killed run leaves all but its last moments. */
static void flush(void *arg)
{
    struct wf_ingress_log *l = arg;

    if (!wf_pcapng_flush(l->w))
        atomic_store(&l->failed, true);
}

bool wf_ingress_log_take_error(struct wf_ingress_log *l, struct wf_err *err)
{
    bool any;

    if (!atomic_load_explicit(&l->failed, memory_order_relaxed))
        return false;
    wf_recorder_lock(l->rec);
    any = wf_pcapng_take_error(l->w, err);
    wf_recorder_unlock(l->rec);
    return any;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static int put_begin(struct wf_ingress_log *l, const struct wf_ingress_log_conf *conf,
                     struct wf_err *err)
{
    size_t cap = 16 + (size_t)conf->n_edges * (1 + WF_STIM_WHERE_MAX);
    uint8_t *buf = malloc(cap);
    struct wf_wr w = wf_wr_init(buf, cap);
    int rc = 0;

    if (!buf)
        return wf_err_set(err, ENOMEM, "no memory for an ingress log");
    wf_wr_u8(&w, WF_BLOCK_BEGIN);
    wf_wr_u8(&w, conf->cut ? WF_LOG_CUT : 0);
    wf_wr_be16(&w, WF_INGRESS_LOG_VERSION);
    wf_wr_be16(&w, (uint16_t)conf->n_edges);
    for (uint32_t i = 0; i < conf->n_edges; i++) {
        size_t n = strnlen(conf->edges[i], WF_STIM_WHERE_MAX);

        wf_wr_u8(&w, (uint8_t)n);
        wf_wr_bytes(&w, conf->edges[i], n);
    }
    wf_pcapng_write_custom(l->w, buf, wf_wr_len(&w));
    free(buf);
    for (uint32_t i = 0; i < conf->n_edges && rc >= 0; i++) {
        const struct wf_pcapng_iface iface = {
            .name = conf->edges[i],
            .description = "frames of an attached host",
            .link_type = WF_LINK_ETHERNET,
            .time_digits = 9,
            .epoch_s = conf->epoch_s,
        };

        rc = wf_pcapng_add_iface(l->w, &iface, err);
    }
    return rc < 0 ? rc : 0;
}

static int start(struct wf_ingress_log *l, const char *path, const struct wf_ingress_log_conf *conf,
                 struct wf_err *err)
{
    const struct wf_pcapng_conf file = {.application = "weft", .comment = conf->comment};
    const struct wf_recorder_conf rec = {
        .rings = 1,
        .lossy = true,
        .ring_bytes = conf->ring_bytes ? conf->ring_bytes : RING_DEFAULT,
        .write = write_item,
        .flush = flush,
        .arg = l,
    };
    int rc = wf_pcapng_open(&l->w, path, &file, err);

    if (rc)
        return rc;
    rc = put_begin(l, conf, err);
    if (!rc)
        rc = wf_recorder_new(&l->rec, &rec, err);
    if (rc)
        wf_pcapng_close(l->w, NULL);
    return rc;
}

int wf_ingress_log_create(struct wf_ingress_log **out, const char *path,
                          const struct wf_ingress_log_conf *conf, struct wf_err *err)
{
    struct wf_ingress_log *l;
    int rc;

    *out = NULL;
    if (conf->n_edges > WF_INGRESS_LOG_EDGES)
        return wf_err_set(err, E2BIG, "an ingress log of %u attached hosts", conf->n_edges);
    l = calloc(1, sizeof(*l));
    if (!l)
        return wf_err_set(err, ENOMEM, "no memory for an ingress log");
    l->sink.put = put;
    l->cut = conf->cut;
    rc = start(l, path, conf, err);
    if (rc) {
        free(l);
        return rc;
    }
    *out = l;
    return 0;
}

struct wf_stimulus_sink *wf_ingress_log_sink(struct wf_ingress_log *l)
{
    return &l->sink;
}

int wf_ingress_log_close(struct wf_ingress_log *l, uint64_t end_ps, struct wf_ingress_log_sum *sum,
                         struct wf_err *err)
{
    uint8_t end[25] = {WF_BLOCK_END};
    int rc;

    if (!l)
        return 0;
    wf_recorder_drain(l->rec, UINT64_MAX);
    l->sum.lost = wf_recorder_lost(l->rec);
    put_lost(l);
    wf_recorder_free(l->rec);
    wf_st64(end + 1, end_ps);
    wf_st64(end + 9, l->sum.stimuli);
    wf_st64(end + 17, l->sum.lost);
    wf_pcapng_write_custom(l->w, end, sizeof(end));
    rc = wf_pcapng_close(l->w, err);
    if (sum)
        *sum = l->sum;
    free(l);
    return rc;
}
