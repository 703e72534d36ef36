/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The InfiniBand transport headers as RoCE carries them: BTH, all extended headers, and the table
 * of opcodes that says which of them follow, in which order (IBA vol. 1, chapter 9; XRC is annex
 * A14, RoCEv2 and the CNP annex A17, FLUSH and ATOMIC WRITE the memory placement extensions).
 * Left out: vendor opcodes 0xc0..0xff, and what an opcode means: that is xport's work.
 */
#ifndef WEFT_WIRE_BTH_H
#define WEFT_WIRE_BTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"

#define WF_ROCE_UDP_PORT 4791
#define WF_BTH_LEN       12
#define WF_ICRC_LEN      4
#define WF_BTH_PKEY      0xffff
#define WF_QPN_MASK      0xffffffu
#define WF_PSN_MASK      0xffffffu
#define WF_EXT_MAX       4  /* extended headers in one packet */
#define WF_EXT_LEN_MAX   40 /* their bytes: RD CmpSwap */

/* Opcode = service in bits 7..5, operation in bits 4..0. */
enum wf_service {
    WF_SERVICE_RC = 0x00,
    WF_SERVICE_UC = 0x20,
    WF_SERVICE_RD = 0x40,
    WF_SERVICE_UD = 0x60,
    WF_SERVICE_CNP = 0x80,
    WF_SERVICE_XRC = 0xa0,
};

enum wf_op {
    WF_OP_SEND_FIRST,
    WF_OP_SEND_MIDDLE,
    WF_OP_SEND_LAST,
    WF_OP_SEND_LAST_IMM,
    WF_OP_SEND_ONLY,
    WF_OP_SEND_ONLY_IMM,
    WF_OP_WRITE_FIRST,
    WF_OP_WRITE_MIDDLE,
    WF_OP_WRITE_LAST,
    WF_OP_WRITE_LAST_IMM,
    WF_OP_WRITE_ONLY,
    WF_OP_WRITE_ONLY_IMM,
    WF_OP_READ_REQUEST,
    WF_OP_READ_RESPONSE_FIRST,
    WF_OP_READ_RESPONSE_MIDDLE,
    WF_OP_READ_RESPONSE_LAST,
    WF_OP_READ_RESPONSE_ONLY,
    WF_OP_ACK,
    WF_OP_ATOMIC_ACK,
    WF_OP_COMPARE_SWAP,
    WF_OP_FETCH_ADD,
    WF_OP_RESYNC,
    WF_OP_SEND_LAST_INV,
    WF_OP_SEND_ONLY_INV,
    WF_OP_FLUSH = 0x1c,
    WF_OP_ATOMIC_WRITE = 0x1d,
};

#define WF_OPCODE_CNP 0x81

enum wf_ext {
    WF_EXT_NONE,
    WF_EXT_RDETH,
    WF_EXT_DETH,
    WF_EXT_XRCETH,
    WF_EXT_FETH,
    WF_EXT_RETH,
    WF_EXT_ATOMICETH,
    WF_EXT_AETH,
    WF_EXT_ATOMICACKETH,
    WF_EXT_IMMDT,
    WF_EXT_IETH,
    WF_EXT_COUNT
};

enum wf_opcode_flag {
    WF_OPF_FIRST = 1,
    WF_OPF_MIDDLE = 2,
    WF_OPF_LAST = 4, /* an Only packet is FIRST and LAST */
    WF_OPF_RESPONSE = 8,
    WF_OPF_PAYLOAD = 16, /* payload allowed */
    WF_OPF_SEND = 32,
    WF_OPF_WRITE = 64,
    WF_OPF_READ = 128,
};

struct wf_opcode {
    const char *name; /* "WRITE First"; NULL: a reserved opcode */
    uint8_t service;
    uint8_t flags;
    uint8_t ext_len; /* bytes of the extended headers */
    uint8_t aeth;    /* 1 + where the AETH lies behind the BTH; 0: no AETH */
    uint8_t ext[WF_EXT_MAX];
};

extern const struct wf_opcode wf_opcodes[256];

/* "RC"; "?" for a reserved service. */
const char *wf_service_name(uint8_t opcode);

struct wf_bth {
    uint8_t opcode;
    bool se, m;        /* solicited event, MigReq */
    uint8_t pad, tver; /* pad bytes 0..3; header version 0 */
    uint16_t pkey;
    bool fecn, becn;
    uint8_t resv6;
    uint32_t dqpn;
    bool ackreq;
    uint8_t resv7;
    uint32_t psn;
};

struct wf_rdeth { /* 4 bytes */
    uint8_t resv;
    uint32_t ee_context;
};

struct wf_deth { /* 8 */
    uint32_t qkey;
    uint8_t resv;
    uint32_t sqpn;
};

struct wf_xrceth { /* 4 */
    uint8_t resv;
    uint32_t srqn;
};

struct wf_feth { /* 4 */
    uint32_t resv;
    uint8_t sel, plt; /* selectivity level, placement type */
};

struct wf_reth { /* 16 */
    uint64_t va;
    uint32_t rkey, dma_len;
};

struct wf_atomiceth { /* 28 */
    uint64_t va;
    uint32_t rkey;
    uint64_t swap_add, compare;
};

struct wf_aeth { /* 4 */
    uint8_t syndrome;
    uint32_t msn;
};

struct wf_atomicacketh { /* 8 */
    uint64_t orig;
};

struct wf_immdt { /* 4 */
    uint32_t data;
};

struct wf_ieth { /* 4 */
    uint32_t rkey;
};

/* Whatever extended headers a packet has; those that its opcode lacks are zero. */
struct wf_ext_hdrs {
    struct wf_rdeth rdeth;
    struct wf_deth deth;
    struct wf_xrceth xrceth;
    struct wf_feth feth;
    struct wf_reth reth;
    struct wf_atomiceth atomiceth;
    struct wf_aeth aeth;
    struct wf_atomicacketh atomicacketh;
    struct wf_immdt immdt;
    struct wf_ieth ieth;
};

/* AETH syndrome (IBA table 45): kind in bits 6..5, credits, RNR timer or NAK code in bits 4..0. */
#define WF_AETH_KIND(syndrome)  ((syndrome) >> 5 & 3)
#define WF_AETH_VALUE(syndrome) ((syndrome)&31)
#define WF_AETH_ACK             0x00
#define WF_AETH_CREDIT_INVALID  0x1f /* an ACK with end-to-end credits off */
#define WF_AETH_RNR_NAK         0x20
#define WF_AETH_NAK             0x60

enum wf_nak {
    WF_NAK_PSN_SEQUENCE,
    WF_NAK_INVALID_REQUEST,
    WF_NAK_REMOTE_ACCESS,
    WF_NAK_REMOTE_OPERATIONAL,
    WF_NAK_INVALID_RD_REQUEST,
};

/* Every get: 0, or -EBADMSG when bytes are missing. Every put: the error stays in the writer. */
int wf_bth_get(struct wf_rd *r, struct wf_bth *h);
void wf_bth_put(struct wf_wr *w, const struct wf_bth *h);
int wf_rdeth_get(struct wf_rd *r, struct wf_rdeth *h);
void wf_rdeth_put(struct wf_wr *w, const struct wf_rdeth *h);
int wf_deth_get(struct wf_rd *r, struct wf_deth *h);
void wf_deth_put(struct wf_wr *w, const struct wf_deth *h);
int wf_xrceth_get(struct wf_rd *r, struct wf_xrceth *h);
void wf_xrceth_put(struct wf_wr *w, const struct wf_xrceth *h);
int wf_feth_get(struct wf_rd *r, struct wf_feth *h);
void wf_feth_put(struct wf_wr *w, const struct wf_feth *h);
int wf_reth_get(struct wf_rd *r, struct wf_reth *h);
void wf_reth_put(struct wf_wr *w, const struct wf_reth *h);
int wf_atomiceth_get(struct wf_rd *r, struct wf_atomiceth *h);
void wf_atomiceth_put(struct wf_wr *w, const struct wf_atomiceth *h);
int wf_aeth_get(struct wf_rd *r, struct wf_aeth *h);
void wf_aeth_put(struct wf_wr *w, const struct wf_aeth *h);
int wf_atomicacketh_get(struct wf_rd *r, struct wf_atomicacketh *h);
void wf_atomicacketh_put(struct wf_wr *w, const struct wf_atomicacketh *h);
int wf_immdt_get(struct wf_rd *r, struct wf_immdt *h);
void wf_immdt_put(struct wf_wr *w, const struct wf_immdt *h);
int wf_ieth_get(struct wf_rd *r, struct wf_ieth *h);
void wf_ieth_put(struct wf_wr *w, const struct wf_ieth *h);

/* The extended headers that the opcode calls for, in its order. */
int wf_ext_get(struct wf_rd *r, uint8_t opcode, struct wf_ext_hdrs *x);
void wf_ext_put(struct wf_wr *w, uint8_t opcode, const struct wf_ext_hdrs *x);
/* Bytes of one extended header on the wire. */
uint8_t wf_ext_bytes(enum wf_ext ext);
const struct wf_fmt *wf_ext_fmt(enum wf_ext ext);

extern const struct wf_fmt wf_fmt_bth, wf_fmt_rdeth, wf_fmt_deth, wf_fmt_xrceth, wf_fmt_feth,
    wf_fmt_reth, wf_fmt_atomiceth, wf_fmt_aeth, wf_fmt_atomicacketh, wf_fmt_immdt, wf_fmt_ieth;

#endif
