/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a peer may write to or read from (IBA vol. 1, 10.6): regions with a key, and the
 * one place where a peer's key, address and length are held against them. Left out: windows,
 * protection domains, zero-based addresses.
 */
#ifndef WEFT_XPORT_MEM_H
#define WEFT_XPORT_MEM_H

#include <stdint.h>
#include <sys/uio.h>

enum wf_mem_access { WF_MEM_REMOTE_WRITE = 1, WF_MEM_REMOTE_READ = 2, WF_MEM_REMOTE_ATOMIC = 4 };

/*
 * Where len bytes at va of the region `rkey` lie. 0 and *at, which is NULL for a region without
 * memory of its own (what is written there is forgotten); -EACCES for a key that is not known, an
 * access that is not allowed, or bytes outside of the region.
 */
typedef int wf_mem_fn(void *arg, uint32_t rkey, uint64_t va, uint64_t len,
                      enum wf_mem_access access, uint8_t **at);

struct wf_mr {
    uint32_t rkey;
    unsigned access; /* enum wf_mem_access, or-ed */
    uint64_t va, len;
    uint8_t *base; /* NULL: virtual */
};

/* The rule of wf_mem_fn over n regions. */
int wf_mr_reach(const struct wf_mr *mr, uint32_t n, uint32_t rkey, uint64_t va, uint64_t len,
                enum wf_mem_access access, uint8_t **at);
/* Copies len bytes of the pieces to `to`, or zeros when iov is NULL (virtual payload); what the
 * pieces don't have stays zero. */
void wf_iov_copy(uint8_t *to, uint32_t len, const struct iovec *iov, uint32_t n_iov);
/* Fills the pieces of `to` with the bytes of those of iov, or with zeros, as above. */
void wf_iov_scatter(const struct iovec *to, uint32_t n_to, const struct iovec *iov, uint32_t n_iov);
/* The part [off, off + len) of pieces, as pieces; returns how many (at most n_iov). */
uint32_t wf_iov_slice(struct iovec *to, const struct iovec *iov, uint32_t n_iov, uint64_t off,
                      uint32_t len);

#endif
