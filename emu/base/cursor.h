/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds-checked cursors over bytes. A reader or writer that would leave its buffer does nothing
 * (a read gives 0), and says so in `err`, which stays set: a codec reads its fields in the order
 * of the spec and looks at the error once at its end. Network order unless a name says otherwise.
 * The loads and stores without a cursor are for code that has checked its bounds already.
 */
#ifndef WEFT_BASE_CURSOR_H
#define WEFT_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t wf_ld16(const void *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return __builtin_bswap16(v);
}

static inline uint32_t wf_ld24(const void *p)
{
    const uint8_t *b = p;

    return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

static inline uint32_t wf_ld32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return __builtin_bswap32(v);
}

static inline uint64_t wf_ld48(const void *p)
{
    return (uint64_t)wf_ld16(p) << 32 | wf_ld32((const uint8_t *)p + 2);
}

static inline uint64_t wf_ld64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return __builtin_bswap64(v);
}

static inline uint32_t wf_ld32le(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void wf_st16(void *p, uint16_t v)
{
    v = __builtin_bswap16(v);
    memcpy(p, &v, sizeof(v));
}

static inline void wf_st24(void *p, uint32_t v)
{
    uint8_t *b = p;

    b[0] = (uint8_t)(v >> 16);
    b[1] = (uint8_t)(v >> 8);
    b[2] = (uint8_t)v;
}

static inline void wf_st32(void *p, uint32_t v)
{
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof(v));
}

static inline void wf_st48(void *p, uint64_t v)
{
    wf_st16(p, (uint16_t)(v >> 32));
    wf_st32((uint8_t *)p + 2, (uint32_t)v);
}

static inline void wf_st64(void *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof(v));
}

static inline void wf_st32le(void *p, uint32_t v)
{
    memcpy(p, &v, sizeof(v));
}

struct wf_rd {
    const uint8_t *p, *end;
    bool err; /* a read went past the end */
};

struct wf_wr {
    uint8_t *start, *p, *end;
    bool err; /* a write did not fit */
};

static inline struct wf_rd wf_rd_init(const void *buf, size_t len)
{
    const uint8_t *b = buf;

    return (struct wf_rd){b, len ? b + len : b, false};
}

static inline struct wf_wr wf_wr_init(void *buf, size_t len)
{
    uint8_t *b = buf;

    return (struct wf_wr){b, b, len ? b + len : b, false};
}

static inline size_t wf_rd_left(const struct wf_rd *r)
{
    return (size_t)(r->end - r->p);
}

static inline size_t wf_wr_left(const struct wf_wr *w)
{
    return (size_t)(w->end - w->p);
}

/* Bytes written so far. */
static inline size_t wf_wr_len(const struct wf_wr *w)
{
    return (size_t)(w->p - w->start);
}

/* The next n bytes in place, or NULL (and the error) when there are fewer. */
static inline const uint8_t *wf_rd_take(struct wf_rd *r, size_t n)
{
    const uint8_t *p = r->p;

    if (r->err || wf_rd_left(r) < n) {
        r->err = true;
        return NULL;
    }
    if (n)
        r->p += n;
    return p;
}

/* Room for n bytes, or NULL (and the error) when there is less. */
static inline uint8_t *wf_wr_take(struct wf_wr *w, size_t n)
{
    uint8_t *p = w->p;

    if (w->err || wf_wr_left(w) < n) {
        w->err = true;
        return NULL;
    }
    if (n)
        w->p += n;
    return p;
}

static inline void wf_rd_skip(struct wf_rd *r, size_t n)
{
    (void)wf_rd_take(r, n);
}

#define WF_CURSOR_INT(name, type, bytes, load, store)                                              \
    static inline type wf_rd_##name(struct wf_rd *r)                                               \
    {                                                                                              \
        const uint8_t *p = wf_rd_take(r, bytes);                                                   \
                                                                                                   \
        return p ? load(p) : 0;                                                                    \
    }                                                                                              \
    static inline void wf_wr_##name(struct wf_wr *w, type v)                                       \
    {                                                                                              \
        uint8_t *p = wf_wr_take(w, bytes);                                                         \
                                                                                                   \
        if (p)                                                                                     \
            store(p, v);                                                                           \
    }
#define WF_CURSOR_LD8(p)    (*(p))
#define WF_CURSOR_ST8(p, v) (*(p) = (v))
WF_CURSOR_INT(u8, uint8_t, 1, WF_CURSOR_LD8, WF_CURSOR_ST8)
WF_CURSOR_INT(be16, uint16_t, 2, wf_ld16, wf_st16)
WF_CURSOR_INT(be24, uint32_t, 3, wf_ld24, wf_st24)
WF_CURSOR_INT(be32, uint32_t, 4, wf_ld32, wf_st32)
WF_CURSOR_INT(be48, uint64_t, 6, wf_ld48, wf_st48)
WF_CURSOR_INT(be64, uint64_t, 8, wf_ld64, wf_st64)
WF_CURSOR_INT(le32, uint32_t, 4, wf_ld32le, wf_st32le)

/* Copies n bytes out; zeros when there are fewer. */
void wf_rd_bytes(struct wf_rd *r, void *to, size_t n);
void wf_wr_bytes(struct wf_wr *w, const void *from, size_t n);
void wf_wr_zeros(struct wf_wr *w, size_t n);

#endif
