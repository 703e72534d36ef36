/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion notification packets (IBA annex A17.9): how far apart a notification point sends them,
 * seen per port (its address), per pair of addresses, per destination and per queue pair, since
 * NICs differ in what they pace by; and the profiles of NICs to judge by.
 */
#ifndef WEFT_ANALYZE_CNP_H
#define WEFT_ANALYZE_CNP_H

#include "analyze/packet.h"

enum wf_an_scope {
    WF_AN_PER_PORT,
    WF_AN_PER_PAIR,
    WF_AN_PER_DESTINATION,
    WF_AN_PER_QP,
    WF_AN_SCOPES
};

extern const char *const wf_an_scope_names[WF_AN_SCOPES];

/* What a NIC is known, or assumed, to do. */
struct wf_an_nic {
    const char *name, *source;
    enum wf_an_scope scope;
    int64_t cnp_gap_ps;
    bool nak_makes_cnp;
};

extern const struct wf_an_nic wf_an_nics[];
extern const unsigned wf_an_n_nics;
const struct wf_an_nic *wf_an_nic_named(const char *name);

enum { WF_AN_PACERS = 4096 };

struct wf_an_pacer {
    uint8_t scope;
    struct wf_an_addr a, b;
    uint32_t qpn;
    uint64_t n;
    int64_t last_ps, min_ps;
    struct wf_an_ref last, at[2]; /* the closest two */
    uint64_t too_close;           /* for the profile */
};

struct wf_an_pacing {
    struct wf_an_pacer *items; /* a hash table with open addresses; NULL before the first */
    unsigned n;
    uint64_t not_kept;
    uint64_t cnps;
};

/* gap_ps: of the profile, for its scope; 0: none. */
void wf_an_pace(struct wf_an_pacing *c, const struct wf_an_pkt *p, const struct wf_an_nic *nic);
void wf_an_pacing_free(struct wf_an_pacing *c);
/* The closest two CNPs of any pacer of a scope; NULL: there were no two. */
const struct wf_an_pacer *wf_an_closest(const struct wf_an_pacing *c, enum wf_an_scope scope);

#endif
