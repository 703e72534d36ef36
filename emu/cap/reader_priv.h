/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two formats of the reader share; for emu/cap/read*.c only. */
#ifndef WEFT_CAP_READER_PRIV_H
#define WEFT_CAP_READER_PRIV_H

#include "cap/reader.h"

enum {
    /* As libpcap: no larger snaplen is accepted, nor a larger block. */
    WF_CAP_FRAME_MAX = 262144,
    WF_CAP_BLOCK_MAX = 16 << 20,
    WF_CAP_IFACES_MAX = 65536,
};

struct wf_cap_reader {
    FILE *f;
    char name[256];
    enum wf_cap_format format;
    uint64_t at;        /* bytes read so far */
    uint64_t record_at; /* where the record or block that is being read began */
    uint64_t packets;
    bool swap; /* the file's byte order is not ours */
    bool want_custom;
    struct wf_cap_iface *ifaces;
    uint32_t n_ifaces, cap_ifaces;
    uint8_t *buf; /* one record's data, or one block's body */
    size_t buf_cap;
    int failed; /* the -errno that wf_cap_next goes on giving */
    struct wf_err failure;
};

uint16_t wf_cap_u16(const struct wf_cap_reader *r, const uint8_t *p);
uint32_t wf_cap_u32(const struct wf_cap_reader *r, const uint8_t *p);
uint64_t wf_cap_u64(const struct wf_cap_reader *r, const uint8_t *p);

/* Fill p. 1: done; 0: the file ended cleanly before the first byte; -errno: cut short or
 * unreadable, with a message that says what was being read. */
int wf_cap_read(struct wf_cap_reader *r, void *p, size_t len, const char *what, struct wf_err *err);
/* Make the buffer hold len bytes (len is bounded by the caller). */
int wf_cap_room(struct wf_cap_reader *r, size_t len, struct wf_err *err);
/* An error in the record that began at byte `offset`. Returns -EBADMSG. */
int wf_cap_bad(const struct wf_cap_reader *r, uint64_t offset, struct wf_err *err, const char *fmt,
               ...) __attribute__((format(printf, 4, 5)));
/* The next interface, zeroed; NULL with *err when there are too many. */
struct wf_cap_iface *wf_cap_new_iface(struct wf_cap_reader *r, uint64_t offset, struct wf_err *err);
/* Ticks since 1970 (plus the interface's offset) to a time. */
struct wf_cap_time wf_cap_time_of(const struct wf_cap_iface *iface, uint64_t ticks);

/* After the first four bytes of the file, which tell the format. */
int wf_cap_pcap_begin(struct wf_cap_reader *r, const uint8_t magic[4], struct wf_err *err);
int wf_cap_pcap_next(struct wf_cap_reader *r, struct wf_cap_rec *rec, struct wf_err *err);
int wf_cap_pcapng_begin(struct wf_cap_reader *r, struct wf_err *err);
int wf_cap_pcapng_next(struct wf_cap_reader *r, struct wf_cap_rec *rec, struct wf_err *err);

#endif
