/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of BTH opcodes: which extended headers follow in which order (IBA table 38 and
 * annexes A14, A17, A19), and reading and writing them all by it.
 */
#include "wire/bth.h"

#include <errno.h>

#define P  WF_OPF_PAYLOAD
#define F  WF_OPF_FIRST
#define M  WF_OPF_MIDDLE
#define L  WF_OPF_LAST
#define R  WF_OPF_RESPONSE
#define O  (F | L)
#define S  WF_OPF_SEND
#define W  WF_OPF_WRITE
#define RD WF_OPF_READ

/* service, operation, name, flags, bytes of extended headers, 1 + offset of the AETH, headers */
#define ROW(svc, op, name, flags, len, aeth, ...)                                                  \
    [WF_SERVICE_##svc | WF_OP_##op] = {name, WF_SERVICE_##svc, flags, len, aeth, {__VA_ARGS__}}

#define RDETH  WF_EXT_RDETH
#define DETH   WF_EXT_DETH
#define XRCETH WF_EXT_XRCETH
#define FETH   WF_EXT_FETH
#define RETH   WF_EXT_RETH
#define ATOMIC WF_EXT_ATOMICETH
#define AETH   WF_EXT_AETH
#define ATMACK WF_EXT_ATOMICACKETH
#define IMM    WF_EXT_IMMDT
#define INV    WF_EXT_IETH

const struct wf_opcode wf_opcodes[256] = {
    ROW(RC, SEND_FIRST, "SEND First", S | F | P, 0, 0, 0),
    ROW(RC, SEND_MIDDLE, "SEND Middle", S | M | P, 0, 0, 0),
    ROW(RC, SEND_LAST, "SEND Last", S | L | P, 0, 0, 0),
    ROW(RC, SEND_LAST_IMM, "SEND Last Imm", S | L | P, 4, 0, IMM),
    ROW(RC, SEND_ONLY, "SEND Only", S | O | P, 0, 0, 0),
    ROW(RC, SEND_ONLY_IMM, "SEND Only Imm", S | O | P, 4, 0, IMM),
    ROW(RC, WRITE_FIRST, "WRITE First", W | F | P, 16, 0, RETH),
    ROW(RC, WRITE_MIDDLE, "WRITE Middle", W | M | P, 0, 0, 0),
    ROW(RC, WRITE_LAST, "WRITE Last", W | L | P, 0, 0, 0),
    ROW(RC, WRITE_LAST_IMM, "WRITE Last Imm", W | L | P, 4, 0, IMM),
    ROW(RC, WRITE_ONLY, "WRITE Only", W | O | P, 16, 0, RETH),
    ROW(RC, WRITE_ONLY_IMM, "WRITE Only Imm", W | O | P, 20, 0, RETH, IMM),
    ROW(RC, READ_REQUEST, "READ Request", RD | O, 16, 0, RETH),
    ROW(RC, READ_RESPONSE_FIRST, "READ Response First", RD | R | F | P, 4, 1, AETH),
    ROW(RC, READ_RESPONSE_MIDDLE, "READ Response Middle", RD | R | M | P, 0, 0, 0),
    ROW(RC, READ_RESPONSE_LAST, "READ Response Last", RD | R | L | P, 4, 1, AETH),
    ROW(RC, READ_RESPONSE_ONLY, "READ Response Only", RD | R | O | P, 4, 1, AETH),
    ROW(RC, ACK, "ACK", R | O, 4, 1, AETH),
    ROW(RC, ATOMIC_ACK, "ATOMIC ACK", R | O, 12, 1, AETH, ATMACK),
    ROW(RC, COMPARE_SWAP, "CmpSwap", O, 28, 0, ATOMIC),
    ROW(RC, FETCH_ADD, "FetchAdd", O, 28, 0, ATOMIC),
    ROW(RC, SEND_LAST_INV, "SEND Last Inv", S | L | P, 4, 0, INV),
    ROW(RC, SEND_ONLY_INV, "SEND Only Inv", S | O | P, 4, 0, INV),
    ROW(RC, FLUSH, "FLUSH", O, 20, 0, FETH, RETH),
    ROW(RC, ATOMIC_WRITE, "ATOMIC WRITE", O | P, 16, 0, RETH),

    ROW(UC, SEND_FIRST, "SEND First", S | F | P, 0, 0, 0),
    ROW(UC, SEND_MIDDLE, "SEND Middle", S | M | P, 0, 0, 0),
    ROW(UC, SEND_LAST, "SEND Last", S | L | P, 0, 0, 0),
    ROW(UC, SEND_LAST_IMM, "SEND Last Imm", S | L | P, 4, 0, IMM),
    ROW(UC, SEND_ONLY, "SEND Only", S | O | P, 0, 0, 0),
    ROW(UC, SEND_ONLY_IMM, "SEND Only Imm", S | O | P, 4, 0, IMM),
    ROW(UC, WRITE_FIRST, "WRITE First", W | F | P, 16, 0, RETH),
    ROW(UC, WRITE_MIDDLE, "WRITE Middle", W | M | P, 0, 0, 0),
    ROW(UC, WRITE_LAST, "WRITE Last", W | L | P, 0, 0, 0),
    ROW(UC, WRITE_LAST_IMM, "WRITE Last Imm", W | L | P, 4, 0, IMM),
    ROW(UC, WRITE_ONLY, "WRITE Only", W | O | P, 16, 0, RETH),
    ROW(UC, WRITE_ONLY_IMM, "WRITE Only Imm", W | O | P, 20, 0, RETH, IMM),

    ROW(RD, SEND_FIRST, "SEND First", S | F | P, 12, 0, RDETH, DETH),
    ROW(RD, SEND_MIDDLE, "SEND Middle", S | M | P, 12, 0, RDETH, DETH),
    ROW(RD, SEND_LAST, "SEND Last", S | L | P, 12, 0, RDETH, DETH),
    ROW(RD, SEND_LAST_IMM, "SEND Last Imm", S | L | P, 16, 0, RDETH, DETH, IMM),
    ROW(RD, SEND_ONLY, "SEND Only", S | O | P, 12, 0, RDETH, DETH),
    ROW(RD, SEND_ONLY_IMM, "SEND Only Imm", S | O | P, 16, 0, RDETH, DETH, IMM),
    ROW(RD, WRITE_FIRST, "WRITE First", W | F | P, 28, 0, RDETH, DETH, RETH),
    ROW(RD, WRITE_MIDDLE, "WRITE Middle", W | M | P, 12, 0, RDETH, DETH),
    ROW(RD, WRITE_LAST, "WRITE Last", W | L | P, 12, 0, RDETH, DETH),
    ROW(RD, WRITE_LAST_IMM, "WRITE Last Imm", W | L | P, 16, 0, RDETH, DETH, IMM),
    ROW(RD, WRITE_ONLY, "WRITE Only", W | O | P, 28, 0, RDETH, DETH, RETH),
    ROW(RD, WRITE_ONLY_IMM, "WRITE Only Imm", W | O | P, 32, 0, RDETH, DETH, RETH, IMM),
    ROW(RD, READ_REQUEST, "READ Request", RD | O, 28, 0, RDETH, DETH, RETH),
    ROW(RD, READ_RESPONSE_FIRST, "READ Response First", RD | R | F | P, 8, 5, RDETH, AETH),
    ROW(RD, READ_RESPONSE_MIDDLE, "READ Response Middle", RD | R | M | P, 4, 0, RDETH),
    ROW(RD, READ_RESPONSE_LAST, "READ Response Last", RD | R | L | P, 8, 5, RDETH, AETH),
    ROW(RD, READ_RESPONSE_ONLY, "READ Response Only", RD | R | O | P, 8, 5, RDETH, AETH),
    ROW(RD, ACK, "ACK", R | O, 8, 5, RDETH, AETH),
    ROW(RD, ATOMIC_ACK, "ATOMIC ACK", R | O, 16, 5, RDETH, AETH, ATMACK),
    ROW(RD, COMPARE_SWAP, "CmpSwap", O, 40, 0, RDETH, DETH, ATOMIC),
    ROW(RD, FETCH_ADD, "FetchAdd", O, 40, 0, RDETH, DETH, ATOMIC),
    ROW(RD, RESYNC, "RESYNC", O, 12, 0, RDETH, DETH),

    ROW(UD, SEND_ONLY, "SEND Only", S | O | P, 8, 0, DETH),
    ROW(UD, SEND_ONLY_IMM, "SEND Only Imm", S | O | P, 12, 0, DETH, IMM),

    /* 16 reserved bytes follow, which count as payload here */
    [WF_OPCODE_CNP] = {"CNP", WF_SERVICE_CNP, O | P, 0, 0, {0}},

    ROW(XRC, SEND_FIRST, "SEND First", S | F | P, 4, 0, XRCETH),
    ROW(XRC, SEND_MIDDLE, "SEND Middle", S | M | P, 4, 0, XRCETH),
    ROW(XRC, SEND_LAST, "SEND Last", S | L | P, 4, 0, XRCETH),
    ROW(XRC, SEND_LAST_IMM, "SEND Last Imm", S | L | P, 8, 0, XRCETH, IMM),
    ROW(XRC, SEND_ONLY, "SEND Only", S | O | P, 4, 0, XRCETH),
    ROW(XRC, SEND_ONLY_IMM, "SEND Only Imm", S | O | P, 8, 0, XRCETH, IMM),
    ROW(XRC, WRITE_FIRST, "WRITE First", W | F | P, 20, 0, XRCETH, RETH),
    ROW(XRC, WRITE_MIDDLE, "WRITE Middle", W | M | P, 4, 0, XRCETH),
    ROW(XRC, WRITE_LAST, "WRITE Last", W | L | P, 4, 0, XRCETH),
    ROW(XRC, WRITE_LAST_IMM, "WRITE Last Imm", W | L | P, 8, 0, XRCETH, IMM),
    ROW(XRC, WRITE_ONLY, "WRITE Only", W | O | P, 20, 0, XRCETH, RETH),
    ROW(XRC, WRITE_ONLY_IMM, "WRITE Only Imm", W | O | P, 24, 0, XRCETH, RETH, IMM),
    ROW(XRC, READ_REQUEST, "READ Request", RD | O, 20, 0, XRCETH, RETH),
    ROW(XRC, READ_RESPONSE_FIRST, "READ Response First", RD | R | F | P, 4, 1, AETH),
    ROW(XRC, READ_RESPONSE_MIDDLE, "READ Response Middle", RD | R | M | P, 0, 0, 0),
    ROW(XRC, READ_RESPONSE_LAST, "READ Response Last", RD | R | L | P, 4, 1, AETH),
    ROW(XRC, READ_RESPONSE_ONLY, "READ Response Only", RD | R | O | P, 4, 1, AETH),
    ROW(XRC, ACK, "ACK", R | O, 4, 1, AETH),
    ROW(XRC, ATOMIC_ACK, "ATOMIC ACK", R | O, 12, 1, AETH, ATMACK),
    ROW(XRC, COMPARE_SWAP, "CmpSwap", O, 32, 0, XRCETH, ATOMIC),
    ROW(XRC, FETCH_ADD, "FetchAdd", O, 32, 0, XRCETH, ATOMIC),
    ROW(XRC, SEND_LAST_INV, "SEND Last Inv", S | L | P, 8, 0, XRCETH, INV),
    ROW(XRC, SEND_ONLY_INV, "SEND Only Inv", S | O | P, 8, 0, XRCETH, INV),
};

const char *wf_service_name(uint8_t opcode)
{
    static const char *const names[8] = {"RC", "UC", "RD", "UD", "CNP", "XRC", "?", "?"};

    return names[opcode >> 5];
}

static const struct wf_fmt *const ext_fmts[WF_EXT_COUNT] = {
    [RDETH] = &wf_fmt_rdeth, [DETH] = &wf_fmt_deth,           [XRCETH] = &wf_fmt_xrceth,
    [FETH] = &wf_fmt_feth,   [RETH] = &wf_fmt_reth,           [ATOMIC] = &wf_fmt_atomiceth,
    [AETH] = &wf_fmt_aeth,   [ATMACK] = &wf_fmt_atomicacketh, [IMM] = &wf_fmt_immdt,
    [INV] = &wf_fmt_ieth,
};

const struct wf_fmt *wf_ext_fmt(enum wf_ext ext)
{
    return ext < WF_EXT_COUNT ? ext_fmts[ext] : NULL;
}

uint8_t wf_ext_bytes(enum wf_ext ext)
{
    const struct wf_fmt *f = wf_ext_fmt(ext);

    return f ? (uint8_t)f->bytes : 0;
}

static int ext_get(struct wf_rd *r, enum wf_ext ext, struct wf_ext_hdrs *x)
{
    switch (ext) {
    case WF_EXT_RDETH:
        return wf_rdeth_get(r, &x->rdeth);
    case WF_EXT_DETH:
        return wf_deth_get(r, &x->deth);
    case WF_EXT_XRCETH:
        return wf_xrceth_get(r, &x->xrceth);
    case WF_EXT_FETH:
        return wf_feth_get(r, &x->feth);
    case WF_EXT_RETH:
        return wf_reth_get(r, &x->reth);
    case WF_EXT_ATOMICETH:
        return wf_atomiceth_get(r, &x->atomiceth);
    case WF_EXT_AETH:
        return wf_aeth_get(r, &x->aeth);
    case WF_EXT_ATOMICACKETH:
        return wf_atomicacketh_get(r, &x->atomicacketh);
    case WF_EXT_IMMDT:
        return wf_immdt_get(r, &x->immdt);
    case WF_EXT_IETH:
        return wf_ieth_get(r, &x->ieth);
    case WF_EXT_NONE:
    case WF_EXT_COUNT:
        break;
    }
    return 0;
}

static void ext_put(struct wf_wr *w, enum wf_ext ext, const struct wf_ext_hdrs *x)
{
    switch (ext) {
    case WF_EXT_RDETH:
        wf_rdeth_put(w, &x->rdeth);
        return;
    case WF_EXT_DETH:
        wf_deth_put(w, &x->deth);
        return;
    case WF_EXT_XRCETH:
        wf_xrceth_put(w, &x->xrceth);
        return;
    case WF_EXT_FETH:
        wf_feth_put(w, &x->feth);
        return;
    case WF_EXT_RETH:
        wf_reth_put(w, &x->reth);
        return;
    case WF_EXT_ATOMICETH:
        wf_atomiceth_put(w, &x->atomiceth);
        return;
    case WF_EXT_AETH:
        wf_aeth_put(w, &x->aeth);
        return;
    case WF_EXT_ATOMICACKETH:
        wf_atomicacketh_put(w, &x->atomicacketh);
        return;
    case WF_EXT_IMMDT:
        wf_immdt_put(w, &x->immdt);
        return;
    case WF_EXT_IETH:
        wf_ieth_put(w, &x->ieth);
        return;
    case WF_EXT_NONE:
    case WF_EXT_COUNT:
        return;
    }
}

int wf_ext_get(struct wf_rd *r, uint8_t opcode, struct wf_ext_hdrs *x)
{
    const struct wf_opcode *op = &wf_opcodes[opcode];
    int err = 0;

    *x = (struct wf_ext_hdrs){0};
    for (int i = 0; i < WF_EXT_MAX && op->ext[i] && !err; i++)
        err = ext_get(r, (enum wf_ext)op->ext[i], x);
    return err;
}

void wf_ext_put(struct wf_wr *w, uint8_t opcode, const struct wf_ext_hdrs *x)
{
    const struct wf_opcode *op = &wf_opcodes[opcode];

    for (int i = 0; i < WF_EXT_MAX && op->ext[i]; i++)
        ext_put(w, (enum wf_ext)op->ext[i], x);
}
