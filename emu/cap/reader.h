/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reader of capture files: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng), of
 * either byte order and any time resolution, from a file, a pipe or memory, one pass.
 *
 * It is our own and not libpcap's, which loses what replay needs: times finer than a nanosecond,
 * interface names, directions, comments, the FCS length, and the place of a broken record; and
 * which refuses a pcapng file whose interfaces differ in snaplen. Tests compare the two on every
 * file that both can read.
 *
 * The file is a stranger's: every length is checked against its bounds before use, memory is
 * bounded, and an error names the packet and the byte where it is. Packets before it are good.
 * Left out: compressed files, the pre-standard variants of pcap, name resolution (skipped), of
 * interface statistics all but what was lost.
 */
#ifndef WEFT_CAP_READER_H
#define WEFT_CAP_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum wf_cap_format { WF_CAP_PCAP, WF_CAP_PCAPNG };
enum wf_cap_dir { WF_CAP_DIR_UNKNOWN, WF_CAP_DIR_IN, WF_CAP_DIR_OUT };

/* A time as recorded. Picoseconds since 1970 do not fit in 64 bits. */
struct wf_cap_time {
    int64_t sec;
    uint64_t ps; /* below 1e12 */
};

/* Where frames were taken: one a pcapng interface block, exactly one in a pcap file. */
struct wf_cap_iface {
    char name[64], description[128]; /* empty when the file does not say; longer ones are cut */
    uint16_t link_type;              /* LINKTYPE_* */
    uint8_t fcs_bytes;               /* of each frame's end; 0 when absent or not said */
    uint32_t snap_bytes;             /* 0: no limit said */
    uint64_t speed_bps;              /* 0: not said */
    bool drops_told;                 /* a statistics block has come: */
    uint64_t drops;                  /* frames that the capture has lost, so far as it says */
    /* ticks a second, and what is added */
    uint64_t ticks_per_s;
    int64_t offset_s;
};

struct wf_cap_rec {
    uint64_t number; /* from 1, as tshark counts */
    uint64_t offset; /* of the record in the file */
    struct wf_cap_time time;
    bool timed;          /* false: the record has no time (simple packet block) */
    const uint8_t *data; /* cap_bytes; valid until the next call */
    uint32_t cap_bytes;
    uint32_t len_bytes; /* on the wire as the capture counts it; never below cap_bytes */
    uint32_t iface_index;
    const struct wf_cap_iface *iface; /* valid until the next call */
    enum wf_cap_dir dir;
    const char *comment; /* the first one; NULL: none; valid until the next call */
    /* Not NULL: this is no packet but a custom block of weft's, and these its data. Number, offset
     * and these are all that is set. */
    const uint8_t *custom;
    uint32_t custom_bytes;
};

struct wf_cap_reader;

/* path: a file or "-" for standard input. */
int wf_cap_open(struct wf_cap_reader **out, const char *path, struct wf_err *err);
/* The same for an open stream, which the reader then owns also when it fails. */
int wf_cap_open_stream(struct wf_cap_reader **out, FILE *f, const char *name, struct wf_err *err);
/* From now on custom blocks that weft wrote into a pcapng file are given too; else skipped. They
 * count as packets in numbers. */
void wf_cap_want_custom(struct wf_cap_reader *r);
enum wf_cap_format wf_cap_reader_format(const struct wf_cap_reader *r);
/* 1: *rec is the next packet; 0: end of the file; -errno: *err has file, packet and byte. After an
 * error the answer stays the same. */
int wf_cap_next(struct wf_cap_reader *r, struct wf_cap_rec *rec, struct wf_err *err);
/* Interface i of the section that is being read, as known so far; NULL: there is none. */
const struct wf_cap_iface *wf_cap_reader_iface(const struct wf_cap_reader *r, uint32_t i);
/* How many packets wf_cap_next has given. */
uint64_t wf_cap_reader_packets(const struct wf_cap_reader *r);
void wf_cap_close(struct wf_cap_reader *r);

/* b - a in picoseconds, saturating at about 106 days either way. */
int64_t wf_cap_time_diff_ps(struct wf_cap_time a, struct wf_cap_time b);
/* "Ethernet", or NULL for a link type without a name here. */
const char *wf_cap_link_name(uint16_t link_type);
/* -EPROTONOSUPPORT and a message that names the link type, unless it is Ethernet. */
int wf_cap_need_ethernet(const struct wf_cap_reader *r, const struct wf_cap_rec *rec,
                         struct wf_err *err);

#endif
