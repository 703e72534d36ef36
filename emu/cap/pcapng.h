/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writer of pcapng files (draft-ietf-opsawg-pcapng): one section, one interface block for each
 * capture point, enhanced packet blocks with a comment, and custom blocks for what is no packet.
 * Frames are written without FCS. Buffered; a failed write never ends the run: the file is cut
 * back to its last whole block, later packets are counted as lost, and the error is told once.
 * Left out: name resolution, decryption secrets, big-endian output.
 */
#ifndef WEFT_CAP_PCAPNG_H
#define WEFT_CAP_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"

enum {
    WF_LINK_ETHERNET = 1, /* LINKTYPE_ETHERNET */
    WF_PCAPNG_SNAP_MAX = 262144,
    WF_PCAPNG_COMMENT_MAX = 65535,
    /* RFC 5612: the enterprise number for documentation; the data then begins with "weft". */
    WF_PCAPNG_PEN = 32473,
};

/* Bits 0-1 of epb_flags. */
enum wf_pcapng_dir { WF_PCAPNG_DIR_NONE, WF_PCAPNG_DIR_IN, WF_PCAPNG_DIR_OUT };

struct wf_pcapng_conf {
    const char *hardware, *os, *application, *comment; /* NULL: left out */
    size_t buffer_bytes;                               /* 0: the default, 1 MiB */
};

struct wf_pcapng_iface {
    const char *name, *description; /* NULL: left out */
    uint16_t link_type;             /* WF_LINK_* */
    /* if_tsresol: 9 ns or 12 ps. Picoseconds are for programs: tshark 4.0 shows wrong times for
     * them (its 64-bit product overflows), libpcap shows right ones. */
    uint8_t time_digits;
    uint32_t snap_bytes; /* 0: whole packets */
    uint64_t rate_bps;   /* 0: left out */
    int64_t epoch_s;     /* if_tsoffset: what time 0 means, in seconds since 1970 */
};

struct wf_pcapng_packet {
    uint32_t iface; /* as given back by wf_pcapng_add_iface */
    uint64_t time_ps;
    uint32_t len_bytes; /* of the frame without FCS; the iovec may hold less */
    const struct iovec *iov;
    int n_iov;
    enum wf_pcapng_dir dir;
    uint64_t id;         /* epb_packetid: one packet seen at several points; 0: left out */
    const char *comment; /* NULL: none */
};

struct wf_pcapng_counts {
    uint64_t packets; /* given to the file, whole */
    uint64_t lost;    /* not written since the file failed */
};

struct wf_pcapng;

/* path: a file (made or emptied), a fifo (waits for its reader), or "-" for standard output. */
int wf_pcapng_open(struct wf_pcapng **out, const char *path, const struct wf_pcapng_conf *conf,
                   struct wf_err *err);
/* The new interface's number, from 0, or -errno. */
int wf_pcapng_add_iface(struct wf_pcapng *w, const struct wf_pcapng_iface *iface,
                        struct wf_err *err);
/* False: the packet is lost and counted. */
bool wf_pcapng_write(struct wf_pcapng *w, const struct wf_pcapng_packet *pkt);
/* A custom block (0x00000BAD, may be copied): number, then "weft", then data. */
bool wf_pcapng_write_custom(struct wf_pcapng *w, const void *data, size_t len);
/* Hand everything to the kernel. */
bool wf_pcapng_flush(struct wf_pcapng *w);
/* True once, when the file has failed: *err says how, for the user. */
bool wf_pcapng_take_error(struct wf_pcapng *w, struct wf_err *err);
struct wf_pcapng_counts wf_pcapng_counts(const struct wf_pcapng *w);
/* Writes an interface statistics block each (received, dropped), closes and frees. 0 or -errno of
 * the first failure; *err is filled only when it was not taken before. w may be NULL. */
int wf_pcapng_close(struct wf_pcapng *w, struct wf_err *err);

#endif
