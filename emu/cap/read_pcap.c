/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The classic pcap file: a header of 24 bytes, then records of 16 bytes and the packet
 * (draft-ietf-opsawg-pcap 4 and 5). Microseconds or nanoseconds, either byte order.
 */
#include <errno.h>
#include <string.h>

#include "cap/reader_priv.h"

enum {
    MAGIC_US = 0xa1b2c3d4,
    MAGIC_NS = 0xa1b23c4d,
    MAGIC_MODIFIED = 0xa1b2cd34, /* Kuznetzov's patch, never a standard */
    FILE_HEADER = 24,
    RECORD_HEADER = 16,
};

static int known_magic(struct wf_cap_reader *r, const uint8_t bytes[4])
{
    for (int swap = 0; swap < 2; swap++) {
        uint32_t m;

        r->swap = swap;
        m = wf_cap_u32(r, bytes);
        if (m == MAGIC_US || m == MAGIC_NS || m == MAGIC_MODIFIED)
            return (int)(m & 0xffff);
    }
    return -1;
}

/* The link-type word: type in the low 16 bits; when bit 26 is set, the top 4 bits are the length of
 * the FCS in units of 16 bits. */
static void set_link(struct wf_cap_iface *iface, uint32_t word)
{
    iface->link_type = (uint16_t)word;
    if (word & 1u << 26)
        iface->fcs_bytes = (uint8_t)((word >> 28) * 2);
}

int wf_cap_pcap_begin(struct wf_cap_reader *r, const uint8_t magic[4], struct wf_err *err)
{
    uint8_t h[FILE_HEADER];
    struct wf_cap_iface *iface;
    int kind = known_magic(r, magic);
    uint16_t major, minor;

    if (kind < 0)
        return -EILSEQ;
    if (kind == (MAGIC_MODIFIED & 0xffff))
        return wf_err_at(
            err, EBADMSG, r->name, 0, 0,
            "a 'modified' pcap file (magic a1b2cd34): convert it by tshark or editcap");
    memcpy(h, magic, 4);
    if (wf_cap_read(r, h + 4, FILE_HEADER - 4, "file header", NULL) != 1)
        return wf_err_at(err, EBADMSG, r->name, 0, 0,
                         "the file is cut: %llu bytes long, and a pcap header has 24",
                         (unsigned long long)r->at);
    major = wf_cap_u16(r, h + 4);
    minor = wf_cap_u16(r, h + 6);
    if (major != 2 || minor != 4)
        return wf_err_at(err, EBADMSG, r->name, 0, 0, "pcap version %u.%u, expected 2.4", major,
                         minor);
    iface = wf_cap_new_iface(r, 0, err);
    if (!iface)
        return -ENOMEM;
    iface->snap_bytes = wf_cap_u32(r, h + 16);
    iface->ticks_per_s = kind == (MAGIC_NS & 0xffff) ? 1000000000 : 1000000;
    set_link(iface, wf_cap_u32(r, h + 20));
    return 0;
}

int wf_cap_pcap_next(struct wf_cap_reader *r, struct wf_cap_rec *rec, struct wf_err *err)
{
    const struct wf_cap_iface *iface = &r->ifaces[0];
    uint8_t h[RECORD_HEADER];
    uint32_t frac;
    int rc;

    rec->offset = r->record_at = r->at;
    rc = wf_cap_read(r, h, sizeof(h), NULL, err);
    if (rc != 1)
        return rc;
    frac = wf_cap_u32(r, h + 4);
    rec->cap_bytes = wf_cap_u32(r, h + 8);
    rec->len_bytes = wf_cap_u32(r, h + 12);
    if (frac >= iface->ticks_per_s)
        return wf_cap_bad(
            r, rec->offset, err, "packet %llu has a fraction of %u of %llu in a second",
            (unsigned long long)r->packets + 1, frac, (unsigned long long)iface->ticks_per_s);
    if (rec->cap_bytes > WF_CAP_FRAME_MAX)
        return wf_cap_bad(r, rec->offset, err,
                          "packet %llu says it has %u bytes, at most %d can be",
                          (unsigned long long)r->packets + 1, rec->cap_bytes, WF_CAP_FRAME_MAX);
    if (rec->len_bytes < rec->cap_bytes)
        return wf_cap_bad(r, rec->offset, err, "packet %llu: %u bytes captured of %u",
                          (unsigned long long)r->packets + 1, rec->cap_bytes, rec->len_bytes);
    rc = wf_cap_room(r, rec->cap_bytes, err);
    if (rc < 0)
        return rc;
    rc = wf_cap_read(r, r->buf, rec->cap_bytes, "packet", err);
    if (rc != 1)
        return rc;
    rec->time.sec = wf_cap_u32(r, h);
    rec->time.ps = frac * (1000000000000ull / iface->ticks_per_s);
    rec->timed = true;
    rec->data = r->buf;
    rec->iface = iface;
    return 1;
}
