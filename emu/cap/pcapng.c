/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcapng writer. Blocks are put together in one buffer and handed over whole; the block lengths in
 * the buffer are what tells, after a short write, which packets made it. Everything is in host
 * byte order, as the format allows (the byte-order magic says which).
 */
#include "cap/pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/units.h"

enum {
    BLOCK_SHB = 0x0a0d0d0a,
    BLOCK_IDB = 1,
    BLOCK_ISB = 5,
    BLOCK_EPB = 6,
    BLOCK_CUSTOM = 0x0bad,
    BYTE_ORDER_MAGIC = 0x1a2b3c4d,
    OPT_END = 0,
    OPT_COMMENT = 1,
    OPT_SHB_HARDWARE = 2,
    OPT_SHB_OS = 3,
    OPT_SHB_USERAPPL = 4,
    OPT_IF_NAME = 2,
    OPT_IF_DESCRIPTION = 3,
    OPT_IF_SPEED = 8,
    OPT_IF_TSRESOL = 9,
    OPT_IF_FCSLEN = 13,
    OPT_IF_TSOFFSET = 14,
    OPT_EPB_FLAGS = 2,
    OPT_EPB_PACKETID = 5,
    OPT_ISB_IFRECV = 4,
    OPT_ISB_IFDROP = 5,
    /* The largest block that can be asked for: a frame, a comment, fixed fields and options. */
    BUFFER_MIN = WF_PCAPNG_SNAP_MAX + 2 * WF_PCAPNG_COMMENT_MAX + 4096,
    BUFFER_DEFAULT = 1 << 20,
    IFACES_MAX = 65536,
};

struct iface_state {
    uint8_t time_digits;
    uint32_t snap_bytes;
    uint64_t packets, lost;
    uint64_t last_ps;
};

struct wf_pcapng {
    char path[256];
    int fd;
    bool own_fd, regular;
    int error; /* errno of the first failure */
    bool told;
    uint8_t *buf;
    size_t used, cap;
    size_t block; /* where the block under construction begins */
    uint64_t flushed_bytes;
    struct iface_state *ifaces;
    uint32_t n_ifaces;
    struct wf_pcapng_counts counts;
};

/* ---- writing to the file ---- */

/* write(), with a closed fifo as EPIPE and not as a signal that ends the process. */
static ssize_t write_quiet(int fd, const void *p, size_t len)
{
    static const struct timespec now = {0, 0};
    sigset_t pipe_set, old, pending;
    bool was_pending;
    ssize_t n;
    int e;

    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
    n = write(fd, p, len);
    e = errno;
    /* Linux sends it also where a write that blocked has written a part before the reader went */
    if (n != (ssize_t)len && !was_pending)
        while (sigtimedwait(&pipe_set, NULL, &now) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = e;
    return n;
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

/* Count the packets of the buffer's blocks: those that end within `good` bytes are written, the
 * others lost. Returns where the last whole block ends. */
static size_t settle(struct wf_pcapng *w, size_t good)
{
    size_t at = 0, end = 0;

    while (at < w->used) {
        const uint8_t *b = w->buf + at;
        bool whole = at + get32(b + 4) <= good;

        if (get32(b) == BLOCK_EPB) {
            struct iface_state *i = &w->ifaces[get32(b + 8)];

            *(whole ? &i->packets : &i->lost) += 1;
            *(whole ? &w->counts.packets : &w->counts.lost) += 1;
        }
        at += get32(b + 4);
        if (whole)
            end = at;
    }
    return end;
}

bool wf_pcapng_flush(struct wf_pcapng *w)
{
    size_t done = 0;

    if (w->error)
        return false;
    while (done < w->used) {
        ssize_t n = write_quiet(w->fd, w->buf + done, w->used - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            w->error = n < 0 ? errno : EIO;
            break;
        }
        done += (size_t)n;
    }
    done = settle(w, done);
    w->flushed_bytes += done;
    w->used = w->block = 0;
    /* A file that ends with half a block would be refused by strict readers. */
    if (w->error && w->regular && ftruncate(w->fd, (off_t)w->flushed_bytes) < 0)
        return false;
    return !w->error;
}

/* ---- blocks ---- */

static void put(struct wf_pcapng *w, const void *p, size_t len)
{
    WF_ASSERT(len <= w->cap - w->used);
    if (len)
        memcpy(w->buf + w->used, p, len);
    w->used += len;
}

static void put16(struct wf_pcapng *w, uint16_t v)
{
    put(w, &v, sizeof(v));
}

static void put32(struct wf_pcapng *w, uint32_t v)
{
    put(w, &v, sizeof(v));
}

/* Blocks start on 4 bytes, so padding the buffer pads the block. */
static void pad(struct wf_pcapng *w)
{
    static const uint8_t zero[4];

    put(w, zero, -w->used & 3);
}

static void put_opt(struct wf_pcapng *w, uint16_t code, const void *p, size_t len)
{
    put16(w, code);
    put16(w, (uint16_t)len);
    put(w, p, len);
    pad(w);
}

static void put_text(struct wf_pcapng *w, uint16_t code, const char *s)
{
    if (s && s[0])
        put_opt(w, code, s, strnlen(s, WF_PCAPNG_COMMENT_MAX));
}

/* Begin a block of at most `room` bytes; false when the file has failed. */
static bool block_begin(struct wf_pcapng *w, uint32_t type, size_t room)
{
    WF_ASSERT(room <= w->cap);
    if (w->error || (w->cap - w->used < room && !wf_pcapng_flush(w)))
        return false;
    w->block = w->used;
    put32(w, type);
    put32(w, 0); /* length, set by block_end */
    return true;
}

static void block_end(struct wf_pcapng *w)
{
    uint32_t len;

    pad(w);
    len = (uint32_t)(w->used - w->block) + 4;
    memcpy(w->buf + w->block + 4, &len, sizeof(len));
    put32(w, len);
}

static void put_section(struct wf_pcapng *w, const struct wf_pcapng_conf *conf)
{
    static const uint64_t length_unknown = UINT64_MAX;

    block_begin(w, BLOCK_SHB, BUFFER_MIN);
    put32(w, BYTE_ORDER_MAGIC);
    put16(w, 1);
    put16(w, 0);
    put(w, &length_unknown, sizeof(length_unknown));
    put_text(w, OPT_SHB_HARDWARE, conf->hardware);
    put_text(w, OPT_SHB_OS, conf->os);
    put_text(w, OPT_SHB_USERAPPL, conf->application);
    put_text(w, OPT_COMMENT, conf->comment);
    put_opt(w, OPT_END, NULL, 0);
    block_end(w);
}

static int open_file(struct wf_pcapng *w, struct wf_err *err)
{
    struct stat st;

    if (strcmp(w->path, "-") == 0) {
        w->fd = STDOUT_FILENO;
        return 0;
    }
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (w->fd < 0)
        return wf_err_at(err, errno, w->path, 0, 0, "cannot write the capture: %s",
                         strerror(errno));
    w->own_fd = true;
    w->regular = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
    return 0;
}

int wf_pcapng_open(struct wf_pcapng **out, const char *path, const struct wf_pcapng_conf *conf,
                   struct wf_err *err)
{
    static const struct wf_pcapng_conf plain;
    struct wf_pcapng *w;
    int rc;

    *out = NULL;
    conf = conf ? conf : &plain;
    if (strlen(path) >= sizeof(w->path))
        return wf_err_set(err, ENAMETOOLONG, "path of the capture too long: %.64s...", path);
    w = calloc(1, sizeof(*w));
    if (!w)
        return wf_err_set(err, ENOMEM, "no memory for the capture");
    strcpy(w->path, path);
    w->cap = conf->buffer_bytes ? conf->buffer_bytes : BUFFER_DEFAULT;
    w->cap = w->cap < BUFFER_MIN ? BUFFER_MIN : w->cap;
    w->buf = malloc(w->cap);
    rc = w->buf ? open_file(w, err) : wf_err_set(err, ENOMEM, "no memory for the capture");
    if (rc < 0) {
        free(w->buf);
        free(w);
        return rc;
    }
    put_section(w, conf);
    *out = w;
    return 0;
}

static void put_iface(struct wf_pcapng *w, const struct wf_pcapng_iface *iface)
{
    static const uint8_t no_fcs = 0;

    put16(w, iface->link_type);
    put16(w, 0);
    put32(w, iface->snap_bytes ? iface->snap_bytes : WF_PCAPNG_SNAP_MAX);
    put_text(w, OPT_IF_NAME, iface->name);
    put_text(w, OPT_IF_DESCRIPTION, iface->description);
    if (iface->rate_bps)
        put_opt(w, OPT_IF_SPEED, &iface->rate_bps, sizeof(iface->rate_bps));
    put_opt(w, OPT_IF_TSRESOL, &iface->time_digits, 1);
    if (iface->link_type == WF_LINK_ETHERNET)
        put_opt(w, OPT_IF_FCSLEN, &no_fcs, 1);
    if (iface->epoch_s)
        put_opt(w, OPT_IF_TSOFFSET, &iface->epoch_s, sizeof(iface->epoch_s));
    put_opt(w, OPT_END, NULL, 0);
}

int wf_pcapng_add_iface(struct wf_pcapng *w, const struct wf_pcapng_iface *iface,
                        struct wf_err *err)
{
    struct iface_state *grown;
    struct iface_state *i;

    WF_ASSERT(iface->time_digits == 9 || iface->time_digits == 12);
    if (w->n_ifaces == IFACES_MAX)
        return wf_err_at(err, E2BIG, w->path, 0, 0, "more than %d capture points", IFACES_MAX);
    grown = realloc(w->ifaces, (w->n_ifaces + 1) * sizeof(*grown));
    if (!grown)
        return wf_err_at(err, ENOMEM, w->path, 0, 0, "no memory for a capture point");
    w->ifaces = grown;
    i = &w->ifaces[w->n_ifaces];
    memset(i, 0, sizeof(*i));
    i->time_digits = iface->time_digits;
    i->snap_bytes = iface->snap_bytes && iface->snap_bytes < WF_PCAPNG_SNAP_MAX
                        ? iface->snap_bytes
                        : WF_PCAPNG_SNAP_MAX;
    if (block_begin(w, BLOCK_IDB, BUFFER_MIN)) {
        put_iface(w, iface);
        block_end(w);
    }
    return (int)w->n_ifaces++;
}

static uint64_t ticks(const struct iface_state *i, uint64_t time_ps)
{
    return i->time_digits == 12 ? time_ps : time_ps / WF_PS_PER_NS;
}

static void put_time(struct wf_pcapng *w, uint64_t t)
{
    put32(w, (uint32_t)(t >> 32));
    put32(w, (uint32_t)t);
}

static uint32_t iov_bytes(const struct wf_pcapng_packet *pkt, uint32_t max)
{
    size_t sum = 0;

    for (int k = 0; k < pkt->n_iov && sum < max; k++)
        sum += pkt->iov[k].iov_len;
    return sum < max ? (uint32_t)sum : max;
}

static void put_frame(struct wf_pcapng *w, const struct wf_pcapng_packet *pkt, uint32_t len)
{
    for (int k = 0; k < pkt->n_iov && len > 0; k++) {
        uint32_t n = pkt->iov[k].iov_len < len ? (uint32_t)pkt->iov[k].iov_len : len;

        put(w, pkt->iov[k].iov_base, n);
        len -= n;
    }
    pad(w);
}

bool wf_pcapng_write(struct wf_pcapng *w, const struct wf_pcapng_packet *pkt)
{
    struct iface_state *i;
    uint32_t cap_len, flags = pkt->dir;

    WF_ASSERT(pkt->iface < w->n_ifaces);
    i = &w->ifaces[pkt->iface];
    i->last_ps = pkt->time_ps;
    cap_len = pkt->len_bytes < i->snap_bytes ? pkt->len_bytes : i->snap_bytes;
    cap_len = iov_bytes(pkt, cap_len);
    if (!block_begin(w, BLOCK_EPB, cap_len + WF_PCAPNG_COMMENT_MAX + 256)) {
        i->lost++;
        w->counts.lost++;
        return false;
    }
    put32(w, pkt->iface);
    put_time(w, ticks(i, pkt->time_ps));
    put32(w, cap_len);
    put32(w, pkt->len_bytes);
    put_frame(w, pkt, cap_len);
    put_text(w, OPT_COMMENT, pkt->comment);
    if (flags)
        put_opt(w, OPT_EPB_FLAGS, &flags, sizeof(flags));
    if (pkt->id)
        put_opt(w, OPT_EPB_PACKETID, &pkt->id, sizeof(pkt->id));
    put_opt(w, OPT_END, NULL, 0);
    block_end(w);
    return true;
}

bool wf_pcapng_write_custom(struct wf_pcapng *w, const void *data, size_t len)
{
    if (len > WF_PCAPNG_SNAP_MAX || !block_begin(w, BLOCK_CUSTOM, len + 64))
        return false;
    put32(w, WF_PCAPNG_PEN);
    put(w, "weft", 4);
    put(w, data, len);
    block_end(w);
    return true;
}

static void put_statistics(struct wf_pcapng *w, uint32_t n)
{
    const struct iface_state *i = &w->ifaces[n];
    uint64_t seen = i->packets + i->lost;

    if (!block_begin(w, BLOCK_ISB, 256))
        return;
    put32(w, n);
    put_time(w, ticks(i, i->last_ps));
    put_opt(w, OPT_ISB_IFRECV, &seen, sizeof(seen));
    put_opt(w, OPT_ISB_IFDROP, &i->lost, sizeof(i->lost));
    put_opt(w, OPT_END, NULL, 0);
    block_end(w);
}

bool wf_pcapng_take_error(struct wf_pcapng *w, struct wf_err *err)
{
    if (!w->error || w->told)
        return false;
    w->told = true;
    wf_err_at(err, w->error, w->path, 0, 0,
              "the capture ends after %llu packets, later ones are lost: %s",
              (unsigned long long)w->counts.packets, strerror(w->error));
    return true;
}

struct wf_pcapng_counts wf_pcapng_counts(const struct wf_pcapng *w)
{
    return w->counts;
}

int wf_pcapng_close(struct wf_pcapng *w, struct wf_err *err)
{
    int rc;

    if (!w)
        return 0;
    wf_pcapng_flush(w); /* so that the statistics know every packet's fate */
    for (uint32_t n = 0; n < w->n_ifaces; n++)
        put_statistics(w, n);
    wf_pcapng_flush(w);
    if (w->own_fd && close(w->fd) < 0 && !w->error)
        w->error = errno;
    rc = -w->error;
    wf_pcapng_take_error(w, err);
    free(w->ifaces);
    free(w->buf);
    free(w);
    return rc;
}
