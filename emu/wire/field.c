/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading, changing and printing headers by their field tables. See field.h. */
#include "wire/field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "wire/bth.h"

const struct wf_field *wf_field_find(const struct wf_fmt *fmt, const char *name)
{
    for (uint16_t i = 0; i < fmt->n; i++)
        if (!strcmp(fmt->fields[i].name, name))
            return &fmt->fields[i];
    return NULL;
}

/* Bit by bit, not for the dataplane: the plain way is what the codecs are held against. */
uint64_t wf_field_get(const struct wf_field *f, const uint8_t *hdr)
{
    uint64_t v = 0;

    WF_ASSERT(f->bits <= 64);
    for (uint32_t b = f->bit_off; b < (uint32_t)f->bit_off + f->bits; b++)
        v = v << 1 | (hdr[b / 8] >> (7 - b % 8) & 1);
    return v;
}

void wf_field_set(const struct wf_field *f, uint8_t *hdr, uint64_t value)
{
    WF_ASSERT(f->bits <= 64);
    for (uint32_t b = (uint32_t)f->bit_off + f->bits; b-- > f->bit_off; value >>= 1) {
        uint8_t bit = (uint8_t)(0x80 >> b % 8);

        hdr[b / 8] = (uint8_t)((hdr[b / 8] & ~bit) | (value & 1 ? bit : 0));
    }
}

/* Members are integers of 1, 2, 4 or 8 bytes, or the bytes themselves (MAC, IP6). */
static void member_set(const struct wf_field *f, void *to, const uint8_t *hdr)
{
    uint8_t *m = (uint8_t *)to + f->off;
    uint64_t v;

    if (f->kind == WF_FIELD_MAC || f->kind == WF_FIELD_IP6) {
        memcpy(m, hdr + f->bit_off / 8, f->size);
        return;
    }
    v = wf_field_get(f, hdr);
    if (f->size == 1)
        *m = (uint8_t)v;
    else if (f->size == 2)
        memcpy(m, &(uint16_t){(uint16_t)v}, 2);
    else if (f->size == 4)
        memcpy(m, &(uint32_t){(uint32_t)v}, 4);
    else
        memcpy(m, &v, 8);
}

static uint64_t member_get(const struct wf_field *f, const void *from)
{
    const uint8_t *m = (const uint8_t *)from + f->off;
    uint64_t v = 0;

    memcpy(&v, m, f->size); /* little-endian, as the CRC and all of weft assume */
    return v;
}

int wf_fmt_get(const struct wf_fmt *fmt, struct wf_rd *r, void *to, size_t size)
{
    const uint8_t *hdr = wf_rd_take(r, fmt->bytes);

    memset(to, 0, size);
    if (!hdr)
        return -EBADMSG;
    for (uint16_t i = 0; i < fmt->n; i++)
        member_set(&fmt->fields[i], to, hdr);
    return 0;
}

void wf_fmt_put(const struct wf_fmt *fmt, struct wf_wr *w, const void *from)
{
    uint8_t *hdr = wf_wr_take(w, fmt->bytes);

    if (!hdr)
        return;
    memset(hdr, 0, fmt->bytes);
    for (uint16_t i = 0; i < fmt->n; i++) {
        const struct wf_field *f = &fmt->fields[i];

        if (f->kind == WF_FIELD_MAC || f->kind == WF_FIELD_IP6)
            memcpy(hdr + f->bit_off / 8, (const uint8_t *)from + f->off, f->size);
        else
            wf_field_set(f, hdr, member_get(f, from));
    }
}

const char *wf_field_text(const struct wf_field *f, const uint8_t *hdr, char *buf, size_t len)
{
    const uint8_t *b = hdr + f->bit_off / 8;
    const char *name;

    switch (f->kind) {
    case WF_FIELD_MAC:
        snprintf(buf, len, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
        break;
    case WF_FIELD_IP4:
    case WF_FIELD_IP6:
        if (!inet_ntop(f->kind == WF_FIELD_IP4 ? AF_INET : AF_INET6, b, buf, (socklen_t)len))
            snprintf(buf, len, "?");
        break;
    case WF_FIELD_OPCODE:
        name = wf_opcodes[*b].name;
        snprintf(buf, len, "0x%02x(%s %s)", *b, wf_service_name(*b), name ? name : "?");
        break;
    case WF_FIELD_HEX:
        snprintf(buf, len, "0x%0*" PRIx64, (f->bits + 3) / 4, wf_field_get(f, hdr));
        break;
    default:
        snprintf(buf, len, "%" PRIu64, wf_field_get(f, hdr));
        break;
    }
    return buf;
}

const char *wf_fmt_text(const struct wf_fmt *fmt, const uint8_t *hdr, char *buf, size_t len)
{
    size_t at = 0;
    char value[64];

    if (len)
        buf[0] = 0;
    for (uint16_t i = 0; i < fmt->n && at < len; i++) {
        int n = snprintf(buf + at, len - at, "%s%s=%s", i ? " " : "", fmt->fields[i].name,
                         wf_field_text(&fmt->fields[i], hdr, value, sizeof(value)));

        at += n > 0 ? (size_t)n : 0;
    }
    return buf;
}
