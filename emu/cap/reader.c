/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture files: what the formats share. See reader.h. */
#include "cap/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cap/reader_priv.h"

static const struct {
    uint16_t type;
    const char *name;
} link_names[] = {
    {0, "BSD loopback"},
    {1, "Ethernet"},
    {101, "raw IP"},
    {105, "IEEE 802.11"},
    {113, "Linux cooked capture v1 (tcpdump -i any)"},
    {127, "IEEE 802.11 with radiotap"},
    {197, "ERF"},
    {228, "raw IPv4"},
    {229, "raw IPv6"},
    {242, "IP over InfiniBand"},
    {247, "InfiniBand"},
    {253, "Linux netlink"},
    {276, "Linux cooked capture v2 (tcpdump -i any)"},
};

const char *wf_cap_link_name(uint16_t link_type)
{
    for (size_t i = 0; i < sizeof(link_names) / sizeof(link_names[0]); i++)
        if (link_names[i].type == link_type)
            return link_names[i].name;
    return NULL;
}

int wf_cap_need_ethernet(const struct wf_cap_reader *r, const struct wf_cap_rec *rec,
                         struct wf_err *err)
{
    const char *name = wf_cap_link_name(rec->iface->link_type);

    if (rec->iface->link_type == 1)
        return 0;
    return wf_err_at(err, EPROTONOSUPPORT, r->name, 0, 0,
                     "packet %llu has link type %u (%s), expected 1 (Ethernet)",
                     (unsigned long long)rec->number, rec->iface->link_type,
                     name ? name : "unknown here");
}

uint16_t wf_cap_u16(const struct wf_cap_reader *r, const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return r->swap ? __builtin_bswap16(v) : v;
}

uint32_t wf_cap_u32(const struct wf_cap_reader *r, const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return r->swap ? __builtin_bswap32(v) : v;
}

uint64_t wf_cap_u64(const struct wf_cap_reader *r, const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return r->swap ? __builtin_bswap64(v) : v;
}

int wf_cap_bad(const struct wf_cap_reader *r, uint64_t offset, struct wf_err *err, const char *fmt,
               ...)
{
    char what[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return wf_err_at(err, EBADMSG, r->name, 0, 0, "after packet %llu, at byte %llu: %s",
                     (unsigned long long)r->packets, (unsigned long long)offset, what);
}

int wf_cap_read(struct wf_cap_reader *r, void *p, size_t len, const char *what, struct wf_err *err)
{
    size_t n = fread(p, 1, len, r->f);

    r->at += n;
    if (n == len)
        return 1;
    if (ferror(r->f))
        return wf_err_at(err, errno ? errno : EIO, r->name, 0, 0, "cannot read byte %llu: %s",
                         (unsigned long long)r->at,
                         errno == EBADMSG ? "what is compressed is cut or damaged"
                                          : strerror(errno ? errno : EIO));
    if (n == 0 && !what)
        return 0;
    return wf_cap_bad(r, r->record_at, err,
                      "the file is cut: it ends at byte %llu, %zu bytes before the end of this %s",
                      (unsigned long long)r->at, len - n, what ? what : "record's header");
}

int wf_cap_room(struct wf_cap_reader *r, size_t len, struct wf_err *err)
{
    size_t cap = r->buf_cap ? r->buf_cap : 4096;
    uint8_t *p;

    if (len <= r->buf_cap)
        return 0;
    while (cap < len)
        cap *= 2;
    p = realloc(r->buf, cap);
    if (!p)
        return wf_err_at(err, ENOMEM, r->name, 0, 0, "no memory for a record of %zu bytes", len);
    r->buf = p;
    r->buf_cap = cap;
    return 0;
}

struct wf_cap_iface *wf_cap_new_iface(struct wf_cap_reader *r, uint64_t offset, struct wf_err *err)
{
    struct wf_cap_iface *grown = r->ifaces;
    uint32_t cap = r->cap_ifaces;

    if (r->n_ifaces == WF_CAP_IFACES_MAX) {
        wf_cap_bad(r, offset, err, "more than %d interfaces", WF_CAP_IFACES_MAX);
        return NULL;
    }
    if (r->n_ifaces == cap) {
        cap = cap ? cap * 2 : 4;
        grown = realloc(r->ifaces, cap * sizeof(*grown));
        if (!grown) {
            wf_cap_bad(r, offset, err, "no memory for %u interfaces", cap);
            return NULL;
        }
        r->ifaces = grown;
        r->cap_ifaces = cap;
    }
    grown = &r->ifaces[r->n_ifaces++];
    memset(grown, 0, sizeof(*grown));
    return grown;
}

struct wf_cap_time wf_cap_time_of(const struct wf_cap_iface *iface, uint64_t ticks)
{
    unsigned __int128 frac = ticks % iface->ticks_per_s;
    uint64_t sec = ticks / iface->ticks_per_s;
    struct wf_cap_time t;

    /* The sum cannot overflow: offsets are bounded far below INT64_MAX / 2. */
    t.sec = (int64_t)(sec < INT64_MAX / 2 ? sec : INT64_MAX / 2) + iface->offset_s;
    t.ps = (uint64_t)(frac * 1000000000000ull / iface->ticks_per_s);
    return t;
}

int64_t wf_cap_time_diff_ps(struct wf_cap_time a, struct wf_cap_time b)
{
    __int128 d = ((__int128)b.sec - a.sec) * 1000000000000ll + (int64_t)b.ps - (int64_t)a.ps;

    if (d > INT64_MAX)
        return INT64_MAX;
    if (d < INT64_MIN)
        return INT64_MIN;
    return (int64_t)d;
}

static int not_a_capture(struct wf_cap_reader *r, const uint8_t m[4], struct wf_err *err)
{
    if (m[0] == 0x1f && m[1] == 0x8b)
        return wf_err_at(err, EBADMSG, r->name, 0, 0,
                         "compressed by gzip, expected a pcap or pcapng file: unpack it first");
    if (m[0] == 0x28 && m[1] == 0xb5 && m[2] == 0x2f && m[3] == 0xfd)
        return wf_err_at(err, EBADMSG, r->name, 0, 0,
                         "compressed by zstd, expected a pcap or pcapng file: unpack it first");
    return wf_err_at(err, EBADMSG, r->name, 0, 0,
                     "begins with %02x %02x %02x %02x, which is no pcap or pcapng file", m[0], m[1],
                     m[2], m[3]);
}

static int begin(struct wf_cap_reader *r, struct wf_err *err)
{
    uint8_t m[4];
    size_t n = fread(m, 1, sizeof(m), r->f);

    r->at = n;
    if (ferror(r->f))
        return wf_err_at(err, errno ? errno : EIO, r->name, 0, 0, "cannot read the capture: %s",
                         strerror(errno ? errno : EIO));
    if (n == 0)
        return wf_err_at(err, EBADMSG, r->name, 0, 0, "empty, expected a pcap or pcapng file");
    if (n < sizeof(m))
        return wf_err_at(err, EBADMSG, r->name, 0, 0,
                         "only %zu bytes long, expected a pcap or pcapng file", n);
    if (m[0] == 0x0a && m[1] == 0x0d && m[2] == 0x0d && m[3] == 0x0a) {
        r->format = WF_CAP_PCAPNG;
        return wf_cap_pcapng_begin(r, err);
    }
    r->format = WF_CAP_PCAP;
    r->failed = wf_cap_pcap_begin(r, m, err);
    return r->failed == -EILSEQ ? not_a_capture(r, m, err) : r->failed;
}

int wf_cap_open_stream(struct wf_cap_reader **out, FILE *f, const char *name, struct wf_err *err)
{
    struct wf_cap_reader *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (!r) {
        fclose(f);
        return wf_err_set(err, ENOMEM, "no memory for the capture");
    }
    r->f = f;
    snprintf(r->name, sizeof(r->name), "%s", name);
    errno = 0;
    rc = begin(r, err);
    if (rc < 0) {
        wf_cap_close(r);
        return rc;
    }
    *out = r;
    return 0;
}

int wf_cap_open(struct wf_cap_reader **out, const char *path, struct wf_err *err)
{
    FILE *f;

    *out = NULL;
    if (strcmp(path, "-") == 0)
        return wf_cap_open_stream(out, stdin, "standard input", err);
    f = fopen(path, "rbe");
    if (!f)
        return wf_err_at(err, errno, path, 0, 0, "cannot read the capture: %s", strerror(errno));
    return wf_cap_open_stream(out, f, path, err);
}

void wf_cap_want_custom(struct wf_cap_reader *r)
{
    r->want_custom = true;
}

enum wf_cap_format wf_cap_reader_format(const struct wf_cap_reader *r)
{
    return r->format;
}

const struct wf_cap_iface *wf_cap_reader_iface(const struct wf_cap_reader *r, uint32_t i)
{
    return i < r->n_ifaces ? &r->ifaces[i] : NULL;
}

uint64_t wf_cap_reader_packets(const struct wf_cap_reader *r)
{
    return r->packets;
}

int wf_cap_next(struct wf_cap_reader *r, struct wf_cap_rec *rec, struct wf_err *err)
{
    int rc;

    if (r->failed < 0) {
        if (err)
            *err = r->failure;
        return r->failed;
    }
    memset(rec, 0, sizeof(*rec));
    rc = r->format == WF_CAP_PCAP ? wf_cap_pcap_next(r, rec, &r->failure)
                                  : wf_cap_pcapng_next(r, rec, &r->failure);
    if (rc == 1)
        rec->number = ++r->packets;
    if (rc < 0) {
        r->failed = rc;
        if (err)
            *err = r->failure;
    }
    return rc;
}

void wf_cap_close(struct wf_cap_reader *r)
{
    if (!r)
        return;
    if (r->f != stdin)
        fclose(r->f);
    free(r->ifaces);
    free(r->buf);
    free(r);
}
