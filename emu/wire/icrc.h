/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-32 (the Ethernet polynomial) and the two checks built on it: the FCS of a frame, and the
 * invariant CRC of RoCE (IBA vol. 1, 7.8.1; annexes A16.5.1 and A17.3.3). The ICRC covers eight
 * bytes of ones where InfiniBand has its LRH, the IP header or GRH, UDP, BTH and all that follows,
 * with the fields that change on the way taken as ones. It is stored little-endian.
 * CRCs are in zlib's convention: start with 0, and the value after each step is a finished CRC.
 * Left out: native InfiniBand's ICRC over a real LRH, and its VCRC.
 */
#ifndef WEFT_WIRE_ICRC_H
#define WEFT_WIRE_ICRC_H

#include <stddef.h>
#include <stdint.h>

#include "wire/parse.h"

/* crc of the bytes so far, to crc of them and buf[0..len). */
uint32_t wf_crc32_update(uint32_t crc, const void *buf, size_t len);
/* The same for len bytes of zero, in log(len) steps. */
uint32_t wf_crc32_zeros(uint32_t crc, uint64_t len);
/* CRC of A followed by B, from the CRC of each and B's length. */
uint32_t wf_crc32_combine(uint32_t crc_a, uint32_t crc_b, uint64_t len_b);
/* The FCS of a frame; on the wire it stands little-endian behind it. */
uint32_t wf_fcs(const void *frame, size_t len);

/*
 * Begin an ICRC with l3[0..len): the bytes from the IP header or GRH on, at least through the BTH;
 * more (extended headers, payload) may follow in it. bth_off is where the BTH begins, from l3.
 * Go on with wf_crc32_update or wf_crc32_zeros, pad bytes included. The result is the ICRC.
 */
uint32_t wf_icrc_begin(const uint8_t *l3, uint32_t len, uint32_t bth_off);
/* Writes the four bytes of an ICRC. */
static inline void wf_icrc_store(uint8_t *to, uint32_t icrc)
{
    wf_st32le(to, icrc);
}

enum wf_icrc_state {
    WF_ICRC_OK,
    WF_ICRC_BAD,
    WF_ICRC_ABSENT, /* no RoCE packet, too short for one, or cut before its end */
};

/* frame[0..caplen) as given to wf_parse. */
enum wf_icrc_state wf_icrc_check(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p);
/* The ICRC that a frame should carry. The bytes behind frame[0..caplen) are taken as zeros, so that
 * it serves packets with a virtual payload too; caplen reaches at least through the BTH. */
uint32_t wf_icrc_of(const uint8_t *frame, uint32_t caplen, const struct wf_parsed *p);

#endif
