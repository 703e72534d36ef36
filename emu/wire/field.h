/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Field tables: one row a field, in the order of the spec, so that a format can be read, changed
 * and printed by name (captures, `weft why`, faults on purpose) without its codec. The codecs
 * beside the tables are the fast way; a test holds each row against its codec.
 */
#ifndef WEFT_WIRE_FIELD_H
#define WEFT_WIRE_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

enum wf_field_kind {
    WF_FIELD_DEC,
    WF_FIELD_HEX,
    WF_FIELD_BOOL,
    WF_FIELD_MAC,    /* 48 bits */
    WF_FIELD_IP4,    /* 32 bits */
    WF_FIELD_IP6,    /* 128 bits: IPv6 address or GID */
    WF_FIELD_OPCODE, /* BTH opcode, with its name */
};

struct wf_field {
    const char *name;
    uint16_t bit_off; /* from the first bit of the header, most significant bit first */
    uint16_t bits;    /* up to 64, or 128 for WF_FIELD_IP6 */
    uint8_t kind;
    uint8_t size; /* of the member in the host-order struct */
    uint16_t off; /* its place there */
    const char *clause;
};

struct wf_fmt {
    const char *name;
    uint16_t bytes; /* of the header on the wire */
    uint16_t n;
    const struct wf_field *fields;
};

/* A row for member `m` of struct `s`; the member's name is the field's. */
#define WF_FIELD(s, m, bit_off, bits, kind, clause)                                                \
    {                                                                                              \
#m, bit_off, bits, WF_FIELD_##kind, sizeof(((s *)0)->m), offsetof(s, m), clause            \
    }
#define WF_FMT(fmt, bytes, rows)                                                                   \
    const struct wf_fmt wf_fmt_##fmt = {#fmt, bytes, sizeof(rows) / sizeof((rows)[0]), rows}

/* Every format of weft, NULL-terminated. */
extern const struct wf_fmt *const wf_fmts[];

const struct wf_fmt *wf_fmt_find(const char *name);
const struct wf_field *wf_field_find(const struct wf_fmt *fmt, const char *name);
/* The value of a field of up to 64 bits in a header of at least fmt->bytes bytes. */
uint64_t wf_field_get(const struct wf_field *f, const uint8_t *hdr);
/* Bits beyond the field's width are ignored; neighbours stay as they are. */
void wf_field_set(const struct wf_field *f, uint8_t *hdr, uint64_t value);
/* A whole header to its host-order struct of `size` bytes and back, by the table. Bits that have no
 * row are skipped, and written as zero. 0, or -EBADMSG when bytes are missing. */
int wf_fmt_get(const struct wf_fmt *fmt, struct wf_rd *r, void *to, size_t size);
void wf_fmt_put(const struct wf_fmt *fmt, struct wf_wr *w, const void *from);
/* The value as text; returns buf. 48 bytes are enough. */
const char *wf_field_text(const struct wf_field *f, const uint8_t *hdr, char *buf, size_t len);
/* "name=value ..." of the whole header; returns buf, cut to len. */
const char *wf_fmt_text(const struct wf_fmt *fmt, const uint8_t *hdr, char *buf, size_t len);

#endif
