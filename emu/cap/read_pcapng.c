/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcapng files (draft-ietf-opsawg-pcapng): section header, interface description, enhanced, simple
 * and the obsolete packet block; custom blocks of weft's when they are wanted; all other blocks are
 * skipped. Sections may differ in byte order.
 */
#include <errno.h>
#include <string.h>

#include "base/plain.h"
#include "cap/pcapng.h"
#include "cap/reader_priv.h"

enum {
    BLOCK_SHB = 0x0a0d0d0a,
    BLOCK_IDB = 1,
    BLOCK_PB = 2, /* obsolete packet block */
    BLOCK_SPB = 3,
    BLOCK_ISB = 5, /* interface statistics */
    BLOCK_EPB = 6,
    BLOCK_CUSTOM = 0x0bad,
    BYTE_ORDER_MAGIC = 0x1a2b3c4d,
    OPT_END = 0,
    OPT_COMMENT = 1,
    OPT_IF_NAME = 2,
    OPT_IF_DESCRIPTION = 3,
    OPT_IF_SPEED = 8,
    OPT_IF_TSRESOL = 9,
    OPT_IF_FCSLEN = 13,
    OPT_IF_TSOFFSET = 14,
    OPT_EPB_FLAGS = 2,
    OPT_ISB_IFDROP = 5,
    OPT_ISB_OSDROP = 7,
    /* about 35 million years: no sum with a recorded time overflows */
    OFFSET_S_MAX_LOG2 = 50,
};

/* A block's body: what lies between its two lengths. */
struct block {
    uint64_t offset;
    uint32_t type;
    const uint8_t *p, *end;
};

struct option {
    uint16_t code, len;
    const uint8_t *p;
};

/* The next option of the block: 1, 0 at the end, -errno. */
static int next_option(const struct wf_cap_reader *r, struct block *b, struct option *o,
                       struct wf_err *err)
{
    size_t padded;

    if (b->end - b->p < 4)
        return 0; /* the end-of-options option may be missing */
    o->code = wf_cap_u16(r, b->p);
    o->len = wf_cap_u16(r, b->p + 2);
    o->p = b->p + 4;
    padded = (o->len + 3u) & ~3u;
    if (o->code == OPT_END)
        return 0;
    if (padded > (size_t)(b->end - o->p))
        return wf_cap_bad(r, b->offset, err, "option %u has %u bytes, its block has %zu left",
                          o->code, o->len, (size_t)(b->end - o->p));
    b->p = o->p + padded;
    return 1;
}

static int need_len(const struct wf_cap_reader *r, const struct block *b, const struct option *o,
                    uint16_t len, const char *name, struct wf_err *err)
{
    if (o->len == len)
        return 0;
    return wf_cap_bad(r, b->offset, err, "option %s has %u bytes, expected %u", name, o->len, len);
}

static void copy_text(char *to, size_t size, const struct option *o)
{
    size_t n = o->len < size - 1 ? o->len : size - 1;

    memcpy(to, o->p, n);
    to[n] = '\0';
    wf_plain(to);
}

/* if_tsresol: the power of ten, or of two when the top bit is set, of ticks in a second. */
static int set_resolution(const struct wf_cap_reader *r, const struct block *b,
                          struct wf_cap_iface *iface, uint8_t v, struct wf_err *err)
{
    unsigned power = v & 0x7f;

    if (power > (v & 0x80 ? 63u : 19u))
        return wf_cap_bad(r, b->offset, err, "if_tsresol is %#x: ticks of %s^-%u s cannot be read",
                          v, v & 0x80 ? "2" : "10", power);
    iface->ticks_per_s = 1;
    while (power--)
        iface->ticks_per_s *= v & 0x80 ? 2 : 10;
    return 0;
}

static int set_offset(const struct wf_cap_reader *r, const struct block *b,
                      struct wf_cap_iface *iface, int64_t v, struct wf_err *err)
{
    if (v > 1ll << OFFSET_S_MAX_LOG2 || v < -(1ll << OFFSET_S_MAX_LOG2))
        return wf_cap_bad(r, b->offset, err, "if_tsoffset is %lld seconds", (long long)v);
    iface->offset_s = v;
    return 0;
}

static int interface_option(const struct wf_cap_reader *r, const struct block *b,
                            struct wf_cap_iface *iface, const struct option *o, struct wf_err *err)
{
    int rc;

    switch (o->code) {
    case OPT_IF_NAME:
        copy_text(iface->name, sizeof(iface->name), o);
        return 0;
    case OPT_IF_DESCRIPTION:
        copy_text(iface->description, sizeof(iface->description), o);
        return 0;
    case OPT_IF_SPEED:
        rc = need_len(r, b, o, 8, "if_speed", err);
        iface->speed_bps = rc < 0 ? 0 : wf_cap_u64(r, o->p);
        return rc;
    case OPT_IF_TSRESOL:
        rc = need_len(r, b, o, 1, "if_tsresol", err);
        return rc < 0 ? rc : set_resolution(r, b, iface, o->p[0], err);
    case OPT_IF_FCSLEN:
        rc = need_len(r, b, o, 1, "if_fcslen", err);
        iface->fcs_bytes = rc < 0 ? 0 : o->p[0];
        return rc;
    case OPT_IF_TSOFFSET:
        rc = need_len(r, b, o, 8, "if_tsoffset", err);
        return rc < 0 ? rc : set_offset(r, b, iface, (int64_t)wf_cap_u64(r, o->p), err);
    default:
        return 0;
    }
}

/* Each option that counts may stand once: two answers to one question are no answer. */
static int interface_options(const struct wf_cap_reader *r, struct block *b,
                             struct wf_cap_iface *iface, struct wf_err *err)
{
    uint32_t seen = 0;
    struct option o;
    int rc;

    while ((rc = next_option(r, b, &o, err)) == 1) {
        uint32_t bit = o.code > OPT_COMMENT && o.code <= OPT_IF_TSOFFSET ? 1u << o.code : 0;

        /* 4 and 5 are addresses, of which there may be several */
        if (seen & bit & ~(1u << 4 | 1u << 5))
            return wf_cap_bad(r, b->offset, err, "interface %u has option %u twice",
                              r->n_ifaces - 1, o.code);
        seen |= bit;
        rc = interface_option(r, b, iface, &o, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int interface_block(struct wf_cap_reader *r, struct block *b, struct wf_err *err)
{
    struct wf_cap_iface *iface;

    if (b->end - b->p < 8)
        return wf_cap_bad(r, b->offset, err, "interface block of %td bytes", b->end - b->p);
    iface = wf_cap_new_iface(r, b->offset, err);
    if (!iface)
        return -EBADMSG;
    iface->link_type = wf_cap_u16(r, b->p);
    iface->snap_bytes = wf_cap_u32(r, b->p + 4);
    iface->ticks_per_s = 1000000;
    b->p += 8;
    return interface_options(r, b, iface, err);
}

/* How many frames an interface, or its system, has lost. Blocks count from the capture's start: the
 * last one holds. What is said of an interface that is none is nothing. */
static int statistics_block(struct wf_cap_reader *r, struct block *b, struct wf_err *err)
{
    struct wf_cap_iface *iface;
    uint64_t drops = 0;
    bool told = false;
    struct option o;
    int rc;

    if (b->end - b->p < 12)
        return wf_cap_bad(r, b->offset, err, "statistics block of %td bytes", b->end - b->p);
    if (wf_cap_u32(r, b->p) >= r->n_ifaces)
        return 0;
    iface = &r->ifaces[wf_cap_u32(r, b->p)];
    b->p += 12;
    while ((rc = next_option(r, b, &o, err)) == 1) {
        if (o.code != OPT_ISB_IFDROP && o.code != OPT_ISB_OSDROP)
            continue;
        rc = need_len(r, b, &o, 8, o.code == OPT_ISB_IFDROP ? "isb_ifdrop" : "isb_osdrop", err);
        if (rc < 0)
            return rc;
        drops += wf_cap_u64(r, o.p);
        told = true;
    }
    if (told) {
        iface->drops_told = true;
        iface->drops = drops;
    }
    return rc;
}

/* ---- packets ---- */

static int packet_options(const struct wf_cap_reader *r, struct block *b, struct wf_cap_rec *rec,
                          struct wf_err *err)
{
    struct option o;
    int rc;

    while ((rc = next_option(r, b, &o, err)) == 1) {
        if (o.code == OPT_COMMENT && !rec->comment) {
            /* The option's code and length make room for moving the text to the front of itself,
             * so that it can be ended by a zero. */
            char *text = (char *)(uintptr_t)(o.p - 4);

            memmove(text, o.p, o.len);
            text[o.len] = '\0';
            rec->comment = text;
        } else if (o.code == OPT_EPB_FLAGS && b->type != BLOCK_SPB) {
            rc = need_len(r, b, &o, 4, "epb_flags", err);
            if (rc < 0)
                return rc;
            rec->dir = (enum wf_cap_dir)(wf_cap_u32(r, o.p) & 3) % 3;
        }
    }
    return rc;
}

static int check_lengths(const struct wf_cap_reader *r, const struct block *b,
                         const struct wf_cap_rec *rec, struct wf_err *err)
{
    unsigned long long n = r->packets + 1;

    if (rec->cap_bytes > WF_CAP_FRAME_MAX)
        return wf_cap_bad(r, b->offset, err, "packet %llu says it has %u bytes, at most %d can be",
                          n, rec->cap_bytes, WF_CAP_FRAME_MAX);
    if (rec->len_bytes < rec->cap_bytes)
        return wf_cap_bad(r, b->offset, err, "packet %llu: %u bytes captured of %u", n,
                          rec->cap_bytes, rec->len_bytes);
    if (rec->cap_bytes > (size_t)(b->end - b->p))
        return wf_cap_bad(r, b->offset, err, "packet %llu says it has %u bytes, its block has %td",
                          n, rec->cap_bytes, b->end - b->p);
    if (rec->iface_index >= r->n_ifaces)
        return wf_cap_bad(r, b->offset, err,
                          "packet %llu is of interface %u, the file described %u", n,
                          rec->iface_index, r->n_ifaces);
    return 0;
}

static int take_data(struct wf_cap_reader *r, struct block *b, struct wf_cap_rec *rec,
                     struct wf_err *err)
{
    size_t padded = (rec->cap_bytes + 3u) & ~(size_t)3;
    int rc = check_lengths(r, b, rec, err);

    if (rc < 0)
        return rc;
    rec->offset = b->offset;
    rec->data = b->p;
    rec->iface = &r->ifaces[rec->iface_index];
    b->p = padded < (size_t)(b->end - b->p) ? b->p + padded : b->end;
    return 0;
}

static int enhanced_packet(struct wf_cap_reader *r, struct block *b, struct wf_cap_rec *rec,
                           struct wf_err *err)
{
    uint64_t ticks;
    int rc;

    if (b->end - b->p < 20)
        return wf_cap_bad(r, b->offset, err, "packet block of %td bytes", b->end - b->p);
    /* The obsolete block has 16 bits for the interface, then a drop count. */
    rec->iface_index = b->type == BLOCK_PB ? wf_cap_u16(r, b->p) : wf_cap_u32(r, b->p);
    ticks = (uint64_t)wf_cap_u32(r, b->p + 4) << 32 | wf_cap_u32(r, b->p + 8);
    rec->cap_bytes = wf_cap_u32(r, b->p + 12);
    rec->len_bytes = wf_cap_u32(r, b->p + 16);
    b->p += 20;
    rc = take_data(r, b, rec, err);
    if (rc < 0)
        return rc;
    rec->time = wf_cap_time_of(rec->iface, ticks);
    rec->timed = true;
    rc = packet_options(r, b, rec, err);
    return rc < 0 ? rc : 1;
}

static int simple_packet(struct wf_cap_reader *r, struct block *b, struct wf_cap_rec *rec,
                         struct wf_err *err)
{
    uint32_t snap;
    int rc;

    if (b->end - b->p < 4)
        return wf_cap_bad(r, b->offset, err, "simple packet block of %td bytes", b->end - b->p);
    if (r->n_ifaces == 0)
        return wf_cap_bad(r, b->offset, err, "packet before any interface block");
    snap = r->ifaces[0].snap_bytes;
    rec->len_bytes = wf_cap_u32(r, b->p);
    b->p += 4;
    rec->cap_bytes = snap && snap < rec->len_bytes ? snap : rec->len_bytes;
    rc = take_data(r, b, rec, err);
    return rc < 0 ? rc : 1;
}

/* Enterprise number, "weft", data. */
static bool custom_block(const struct wf_cap_reader *r, const struct block *b,
                         struct wf_cap_rec *rec)
{
    if (!r->want_custom || b->end - b->p < 9 || wf_cap_u32(r, b->p) != WF_PCAPNG_PEN ||
        memcmp(b->p + 4, "weft", 4) != 0)
        return false;
    rec->offset = b->offset;
    rec->custom = b->p + 8;
    rec->custom_bytes = (uint32_t)(b->end - rec->custom);
    return true;
}

/* ---- blocks ---- */

/* A section header's length can be read only after its byte-order magic. */
static int section_header(struct wf_cap_reader *r, uint64_t offset, struct wf_err *err)
{
    uint8_t h[8];
    uint32_t len;
    int rc = wf_cap_read(r, h, sizeof(h), "section header", err);

    if (rc != 1)
        return rc;
    r->swap = false;
    if (wf_cap_u32(r, h + 4) != BYTE_ORDER_MAGIC)
        r->swap = true;
    if (wf_cap_u32(r, h + 4) != BYTE_ORDER_MAGIC)
        return wf_cap_bad(r, offset, err, "byte-order magic %02x%02x%02x%02x", h[4], h[5], h[6],
                          h[7]);
    len = wf_cap_u32(r, h);
    if (len < 28 || len > WF_CAP_BLOCK_MAX || len % 4)
        return wf_cap_bad(r, offset, err, "section header of %u bytes", len);
    rc = wf_cap_room(r, len - 12, err);
    if (rc < 0)
        return rc;
    rc = wf_cap_read(r, r->buf, len - 12, "section header", err);
    if (rc != 1)
        return rc;
    if (wf_cap_u16(r, r->buf) != 1)
        return wf_cap_bad(r, offset, err, "pcapng version %u.%u, expected 1.0",
                          wf_cap_u16(r, r->buf), wf_cap_u16(r, r->buf + 2));
    if (wf_cap_u32(r, r->buf + len - 16) != len)
        return wf_cap_bad(r, offset, err, "section header ends with length %u, began with %u",
                          wf_cap_u32(r, r->buf + len - 16), len);
    r->n_ifaces = 0;
    return 1;
}

int wf_cap_pcapng_begin(struct wf_cap_reader *r, struct wf_err *err)
{
    int rc = section_header(r, 0, err);

    return rc == 1 ? 0 : rc;
}

/* Read one block; 2: it was a section header, which is dealt with. */
static int read_block(struct wf_cap_reader *r, struct block *b, struct wf_err *err)
{
    uint8_t h[8];
    uint32_t len;
    int rc;

    b->offset = r->record_at = r->at;
    rc = wf_cap_read(r, h, 4, NULL, err);
    if (rc != 1)
        return rc;
    b->type = wf_cap_u32(r, h);
    if (b->type == BLOCK_SHB) { /* reads the same in either byte order */
        rc = section_header(r, b->offset, err);
        return rc == 1 ? 2 : rc;
    }
    rc = wf_cap_read(r, h + 4, 4, "block", err);
    if (rc != 1)
        return rc;
    len = wf_cap_u32(r, h + 4);
    if (len < 12 || len > WF_CAP_BLOCK_MAX || len % 4)
        return wf_cap_bad(r, b->offset, err, "block of type %#x has a length of %u bytes", b->type,
                          len);
    rc = wf_cap_room(r, len - 8, err);
    if (rc < 0)
        return rc;
    rc = wf_cap_read(r, r->buf, len - 8, "block", err);
    if (rc != 1)
        return rc;
    b->p = r->buf;
    b->end = r->buf + len - 12;
    if (wf_cap_u32(r, b->end) != len)
        return wf_cap_bad(r, b->offset, err, "block begins with length %u and ends with %u", len,
                          wf_cap_u32(r, b->end));
    return 1;
}

int wf_cap_pcapng_next(struct wf_cap_reader *r, struct wf_cap_rec *rec, struct wf_err *err)
{
    struct block b;
    int rc;

    while ((rc = read_block(r, &b, err)) > 0) {
        if (rc == 2)
            continue;
        switch (b.type) {
        case BLOCK_IDB:
            rc = interface_block(r, &b, err);
            if (rc < 0)
                return rc;
            break;
        case BLOCK_EPB:
        case BLOCK_PB:
            return enhanced_packet(r, &b, rec, err);
        case BLOCK_SPB:
            return simple_packet(r, &b, rec, err);
        case BLOCK_ISB:
            rc = statistics_block(r, &b, err);
            if (rc < 0)
                return rc;
            break;
        case BLOCK_CUSTOM:
            if (custom_block(r, &b, rec))
                return 1;
            break;
        default:
            break;
        }
    }
    return rc;
}
