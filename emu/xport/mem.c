/* SPDX-License-Identifier: BSD-3-Clause */
#include "xport/mem.h"

#include <errno.h>
#include <string.h>

int wf_mr_reach(const struct wf_mr *mr, uint32_t n, uint32_t rkey, uint64_t va, uint64_t len,
                enum wf_mem_access access, uint8_t **at)
{
    for (uint32_t i = 0; i < n; i++, mr++) {
        if (mr->rkey != rkey)
            continue;
        /* in this order nothing can overflow */
        if (!(mr->access & access) || va < mr->va || len > mr->len || va - mr->va > mr->len - len)
            return -EACCES;
        *at = mr->base ? mr->base + (va - mr->va) : NULL;
        return 0;
    }
    return -EACCES;
}

void wf_iov_copy(uint8_t *to, uint32_t len, const struct iovec *iov, uint32_t n_iov)
{
    for (uint32_t i = 0; iov && i < n_iov && len; i++) {
        uint32_t n = iov[i].iov_len < len ? (uint32_t)iov[i].iov_len : len;

        memcpy(to, iov[i].iov_base, n);
        to += n;
        len -= n;
    }
    if (len)
        memset(to, 0, len);
}

void wf_iov_scatter(const struct iovec *to, uint32_t n_to, const struct iovec *iov, uint32_t n_iov)
{
    size_t pos = 0; /* in the first of iov that is left */

    for (uint32_t i = 0; i < n_to; i++) {
        uint8_t *at = to[i].iov_base, *end = at + to[i].iov_len;

        while (at < end && iov && n_iov) {
            size_t have = iov->iov_len - pos,
                   n = have < (size_t)(end - at) ? have : (size_t)(end - at);

            if (n)
                memcpy(at, (uint8_t *)iov->iov_base + pos, n);
            at += n;
            pos += n;
            if (pos == iov->iov_len) {
                iov++;
                n_iov--;
                pos = 0;
            }
        }
        if (at < end)
            memset(at, 0, (size_t)(end - at));
    }
}

uint32_t wf_iov_slice(struct iovec *to, const struct iovec *iov, uint32_t n_iov, uint64_t off,
                      uint32_t len)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_iov && len; i++) {
        size_t have;

        if (off >= iov[i].iov_len) {
            off -= iov[i].iov_len;
            continue;
        }
        have = iov[i].iov_len - (size_t)off;
        to[n].iov_base = (uint8_t *)iov[i].iov_base + off;
        to[n].iov_len = have < len ? have : len;
        len -= (uint32_t)to[n++].iov_len;
        off = 0;
    }
    return n;
}
