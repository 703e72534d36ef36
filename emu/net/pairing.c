/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/pairing.h"

#include <string.h>

#include "base/assert.h"
#include "base/digest.h"
#include "wire/bth.h"
#include "wire/cm.h"

enum {
    FAR = 1 << 16,   /* PSNs that no window spans */
    BEYOND = 64,     /* loose: an answer may be so far ahead of what was seen */
    TRIES = 64,      /* answers to nobody are asked about ever more rarely */
    STEPS_MAX = 4096 /* halves between two addresses that are looked at */
};

static int32_t distance(uint32_t a, uint32_t b) /* of 24-bit PSNs */
{
    return (int32_t)((a - b) << 8) >> 8;
}

void wf_pairing_init(struct wf_pairing *p, struct wf_half **chains, uint32_t n)
{
    WF_ASSERT(n && !(n & (n - 1)));
    *p = (struct wf_pairing){.chains = chains, .mask = n - 1};
}

/* ---- the halves between two addresses ---- */

static struct wf_half **chain_of(const struct wf_pairing *p, const uint8_t src[16],
                                 const uint8_t dst[16])
{
    uint8_t both[32];

    memcpy(both, src, 16);
    memcpy(both + 16, dst, 16);
    return &p->chains[wf_hash_bytes(both, sizeof(both), 1) & p->mask];
}

static bool is_between(const struct wf_half *h, const uint8_t src[16], const uint8_t dst[16])
{
    return !memcmp(h->src, src, 16) && !memcmp(h->dst, dst, 16);
}

static struct wf_half *from(struct wf_half *h, const uint8_t src[16], const uint8_t dst[16])
{
    while (h && !is_between(h, src, dst))
        h = h->next;
    return h;
}

struct wf_half *wf_pairing_between(const struct wf_pairing *p, const uint8_t src[16],
                                   const uint8_t dst[16])
{
    return from(*chain_of(p, src, dst), src, dst);
}

struct wf_half *wf_pairing_next(const struct wf_half *h)
{
    return from(h->next, h->src, h->dst);
}

void wf_pairing_add(struct wf_pairing *p, struct wf_half *h)
{
    struct wf_half **at = chain_of(p, h->src, h->dst);

    h->next = *at;
    h->at = at;
    if (h->next)
        h->next->at = &h->next;
    *at = h;
}

static void part(struct wf_half *h)
{
    if (h->mate) {
        h->mate->mate = NULL;
        h->mate->how = WF_UNPAIRED;
    }
    h->mate = NULL;
    h->how = WF_UNPAIRED;
}

void wf_pairing_remove(struct wf_half *h)
{
    part(h);
    *h->at = h->next;
    if (h->next)
        h->next->at = h->at;
    h->next = NULL;
}

static void join(struct wf_half *a, struct wf_half *b, enum wf_paired how)
{
    part(a);
    part(b);
    a->mate = b;
    b->mate = a;
    a->how = b->how = (uint8_t)how;
    a->tries = b->tries = 0;
}

/* ---- by numbers ---- */

static bool outstanding(const struct wf_half *h, uint32_t psn)
{
    return distance(psn, h->una) >= 0 && distance(psn, h->psn) < 0;
}

static bool same_port(const struct wf_half *a, const struct wf_half *b)
{
    return a->sport && a->sport == b->sport;
}

/* How well an answer with this PSN fits the requests of a half: 0 not at all. */
static unsigned fit(const struct wf_pairing *p, const struct wf_half *h, const struct wf_half *x,
                    uint32_t psn)
{
    unsigned v;

    if (x == h || x->mate || !x->requests) /* itself: both addresses are the same */
        return 0;
    if (outstanding(x, psn))
        v = 5;
    else if (p->loose && distance(psn, x->psn) < BEYOND && distance(psn, x->una) >= -FAR)
        v = 1;
    else
        return 0;
    return v + (same_port(h, x) ? 2 : 0);
}

/* The half that an answer of h is to: the one that fits best, if there is one. */
static struct wf_half *best(struct wf_pairing *p, const struct wf_half *h, uint32_t psn)
{
    struct wf_half *found = NULL, *x = wf_pairing_between(p, h->dst, h->src);
    unsigned best_fit = 0, rivals = 0;

    for (int i = 0; x && i < STEPS_MAX; x = wf_pairing_next(x), i++) {
        unsigned v = fit(p, h, x, psn);

        if (!v || v < best_fit)
            continue;
        rivals = v == best_fit ? rivals + 1 : 1;
        found = x;
        best_fit = v;
    }
    p->ambiguous += rivals > 1;
    return rivals == 1 ? found : NULL;
}

static void take_request(struct wf_half *h, uint32_t psn)
{
    if (!h->requests || distance(psn, h->psn) >= FAR || distance(psn, h->una) < -FAR) {
        h->requests = true; /* the first, or of another connection than before */
        h->una = psn;
        h->psn = psn;
    }
    if (distance(psn, h->una) < 0) /* sent again, from before what was seen first */
        h->una = psn;
    if (distance(psn, h->psn) >= 0)
        h->psn = (psn + 1) & WF_PSN_MASK;
}

/* An answer to what was never asked is not the mate's. What the connection manager said is believed
 * for longer: some packets may take another way. */
static bool proves_wrong(const struct wf_pairing *p, const struct wf_half *mate, uint32_t psn)
{
    int32_t beyond = distance(psn, mate->psn), behind = distance(mate->una, psn);

    return mate->requests && !p->loose &&
           (beyond >= (mate->how == WF_PAIRED_CM ? FAR : 0) || behind > FAR);
}

static void take_answer(struct wf_pairing *p, struct wf_half *h, uint32_t psn)
{
    struct wf_half *x = h->mate;

    if (x && proves_wrong(p, x, psn)) {
        part(h);
        p->parted++;
        x = NULL;
    }
    if (!x) {
        h->tries += h->tries < UINT32_MAX;
        if (h->tries > TRIES && h->tries & (h->tries - 1))
            return;
        x = best(p, h, psn);
        if (x) {
            join(h, x, same_port(h, x) ? WF_PAIRED_PORT : WF_PAIRED_PSN);
            p->by_psn++;
        }
    }
    if (x && x->requests && outstanding(x, psn))
        x->una = psn;
}

void wf_pairing_packet(struct wf_pairing *p, struct wf_half *h, uint8_t opcode, uint32_t psn,
                       uint16_t sport)
{
    const struct wf_opcode *op = &wf_opcodes[opcode];
    bool inner = op->flags & WF_OPF_READ && op->flags & WF_OPF_RESPONSE &&
                 !(op->flags & WF_OPF_FIRST); /* behind the PSN of its request */

    if (!op->name || op->service == WF_SERVICE_CNP)
        return;
    h->sport = sport;
    h->datagram = op->service == WF_SERVICE_UD;
    if (op->service != WF_SERVICE_RC && op->service != WF_SERVICE_XRC)
        return;
    if (!(op->flags & WF_OPF_RESPONSE))
        take_request(h, psn);
    else if (!inner)
        take_answer(p, h, psn);
    else if (h->mate && h->mate->requests && distance(psn, h->mate->psn) < FAR)
        take_request(h->mate, psn); /* the request has taken that number too */
}

/* ---- by the connection manager ---- */

void wf_pairing_told(struct wf_pairing *p, struct wf_half *a, struct wf_half *b)
{
    a->requests = b->requests = false; /* a connection begins: PSNs are new */
    p->by_cm += a->mate != b || a->how != WF_PAIRED_CM;
    join(a, b, WF_PAIRED_CM);
}

static struct wf_pair_ask *find_ask(struct wf_pairing *p, const uint8_t src[16],
                                    const uint8_t dst[16], uint32_t comm_id)
{
    for (unsigned i = 0; i < WF_PAIR_ASKS; i++) {
        struct wf_pair_ask *a = &p->asks[i];

        if (a->used && a->comm_id == comm_id && !memcmp(a->src, src, 16) &&
            !memcmp(a->dst, dst, 16))
            return a;
    }
    return NULL;
}

static void asked(struct wf_pairing *p, const uint8_t src[16], const uint8_t dst[16],
                  const struct wf_cm *cm)
{
    struct wf_pair_ask *a = find_ask(p, src, dst, cm->local_comm_id);

    if (!a)
        a = &p->asks[p->ask_at++ % WF_PAIR_ASKS];
    *a = (struct wf_pair_ask){
        .comm_id = cm->local_comm_id, .qpn = cm->qpn, .psn = cm->starting_psn, .used = true};
    memcpy(a->src, src, 16);
    memcpy(a->dst, dst, 16);
}

/* A message's starting PSN is the one that its receiver begins with (12.7.31). */
static void begins(struct wf_half *h, uint32_t psn)
{
    h->told = true;
    h->first_psn = psn & WF_PSN_MASK;
}

static bool agreed(struct wf_pairing *p, const void *what, const uint8_t src[16],
                   const uint8_t dst[16], const struct wf_cm *cm)
{
    struct wf_pair_ask *a = find_ask(p, dst, src, cm->remote_comm_id);
    struct wf_half *there, *back;

    if (!a || !p->half_of)
        return false;
    a->used = false;
    there = p->half_of(p->arg, what, dst, src, cm->qpn); /* what the asking one will send */
    back = p->half_of(p->arg, what, src, dst, a->qpn);
    if (!there || !back || there == back)
        return false;
    wf_pairing_told(p, there, back);
    begins(there, cm->starting_psn);
    begins(back, a->psn);
    return true;
}

enum wf_pair_mad wf_pairing_mad(struct wf_pairing *p, const void *what, const uint8_t src[16],
                                const uint8_t dst[16], const uint8_t *payload, uint32_t len)
{
    struct wf_rd rd = wf_rd_init(payload, len);
    struct wf_mad mad;
    struct wf_cm cm;

    if (wf_mad_get(&rd, &mad) < 0 || mad.mgmt_class != WF_MAD_CLASS_CM ||
        mad.method != WF_MAD_SEND || mad.class_version != WF_CM_CLASS_VERSION)
        return WF_PAIR_NO_CM;
    if (wf_cm_get(&rd, mad.attr_id, &cm) < 0)
        return WF_PAIR_CM;
    if (mad.attr_id == WF_CM_REQ)
        asked(p, src, dst, &cm);
    else if (mad.attr_id == WF_CM_REP && agreed(p, what, src, dst, &cm))
        return WF_PAIR_TOLD;
    return WF_PAIR_CM;
}

/* ---- by address ---- */

static struct wf_half *only_one(const struct wf_pairing *p, const uint8_t src[16],
                                const uint8_t dst[16])
{
    struct wf_half *found = NULL, *x = wf_pairing_between(p, src, dst);

    for (int i = 0; x && i < STEPS_MAX; x = wf_pairing_next(x), i++) {
        if (x->qpn <= 1 || x->datagram)
            continue;
        if (found)
            return NULL;
        found = x;
    }
    return found;
}

void wf_pairing_alone(struct wf_pairing *p, struct wf_half *h)
{
    struct wf_half *x;

    if (h->mate || h->datagram || h->qpn <= 1)
        return;
    x = only_one(p, h->dst, h->src);
    if (x && x != h && !x->mate && only_one(p, h->src, h->dst) == h)
        join(h, x, WF_PAIRED_ADDRESS);
}
