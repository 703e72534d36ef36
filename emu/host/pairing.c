/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of connections, and how they find each other. See pairing.h. */
#include "host/pairing.h"

#include <string.h>

#include "base/assert.h"

enum { JUMP = 1 << 16 }; /* PSNs that no window spans */

static int32_t distance(uint32_t a, uint32_t b) /* of 24-bit PSNs */
{
    return (int32_t)((a - b) << 8) >> 8;
}

void wf_pairing_init(struct wf_pairing *p, struct wf_half *halves, uint32_t n,
                     struct wf_half **hash, uint32_t n_hash)
{
    WF_ASSERT(n >= 2 && !(n_hash & (n_hash - 1)));
    *p = (struct wf_pairing){.halves = halves, .n = n, .hash = hash, .hash_mask = n_hash - 1};
}

/* ---- the table ---- */

static struct wf_half **place(const struct wf_pairing *p, enum wf_pair_dir dir,
                              const uint8_t peer[16], uint32_t qpn)
{
    uint64_t h = (uint64_t)qpn << 1 | dir, word;

    for (int i = 0; i < 16; i += 8) {
        memcpy(&word, peer + i, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    return &p->hash[h >> 7 & p->hash_mask];
}

struct wf_half *wf_pairing_find(const struct wf_pairing *p, enum wf_pair_dir dir,
                                const uint8_t peer[16], uint32_t qpn)
{
    struct wf_half *h = *place(p, dir, peer, qpn);

    while (h && (h->dir != dir || h->qpn != qpn || memcmp(h->peer, peer, 16)))
        h = h->hash_next;
    return h;
}

static void unlink_age(struct wf_pairing *p, struct wf_half *h)
{
    *(h->older ? &h->older->newer : &p->oldest) = h->newer;
    *(h->newer ? &h->newer->older : &p->newest) = h->older;
    h->older = h->newer = NULL;
}

static void is_newest(struct wf_pairing *p, struct wf_half *h)
{
    h->older = p->newest;
    *(p->newest ? &p->newest->newer : &p->oldest) = h;
    p->newest = h;
}

static void part(struct wf_half *h)
{
    if (h->mate)
        h->mate->mate = NULL;
    h->mate = NULL;
}

static void forget(struct wf_pairing *p, struct wf_half *h)
{
    struct wf_half **at = place(p, h->dir, h->peer, h->qpn);

    if (p->evict)
        p->evict(p->arg, h);
    part(h);
    while (*at != h)
        at = &(*at)->hash_next;
    *at = h->hash_next;
    unlink_age(p, h);
    p->evicted++;
}

static struct wf_half *half_of(struct wf_pairing *p, enum wf_pair_dir dir, const uint8_t peer[16],
                               uint32_t qpn)
{
    struct wf_half *h = wf_pairing_find(p, dir, peer, qpn), **at;

    if (h) {
        unlink_age(p, h);
        is_newest(p, h);
        return h;
    }
    if (p->n_used < p->n) {
        h = &p->halves[p->n_used++];
    } else {
        h = p->oldest;
        forget(p, h);
    }
    *h = (struct wf_half){.dir = (uint8_t)dir, .qpn = qpn, .used = true};
    memcpy(h->peer, peer, 16);
    at = place(p, dir, peer, qpn);
    h->hash_next = *at;
    *at = h;
    is_newest(p, h);
    return h;
}

/* ---- who fits whom ---- */

static bool outstanding(const struct wf_half *h, uint32_t psn)
{
    return h->requests && distance(psn, h->una) >= 0 && distance(psn, h->next) < 0;
}

/* The only stream of the other direction that an answer of this PSN may be of, or NULL. */
static struct wf_half *only_one(struct wf_pairing *p, const struct wf_half *h, uint32_t psn)
{
    struct wf_half *one = NULL;

    for (struct wf_half *o = p->newest; o; o = o->older) {
        if (o->dir == h->dir || o->mate || memcmp(o->peer, h->peer, 16) || !outstanding(o, psn))
            continue;
        if (one) {
            p->ambiguous++;
            return NULL;
        }
        one = o;
    }
    return one;
}

static void join(struct wf_half *a, struct wf_half *b)
{
    part(a);
    part(b);
    a->mate = b;
    b->mate = a;
}

struct wf_half *wf_pairing_request(struct wf_pairing *p, enum wf_pair_dir dir,
                                   const uint8_t peer[16], uint32_t qpn, uint32_t psn)
{
    struct wf_half *h = half_of(p, dir, peer, qpn);

    if (!h->requests || distance(psn, h->next) >= JUMP || distance(psn, h->una) < -JUMP) {
        h->requests = true; /* the first, or of another connection than before */
        h->una = psn;
        h->next = psn;
    }
    if (distance(psn, h->una) < 0) /* sent again, from before what was seen first */
        h->una = psn;
    if (distance(psn, h->next) >= 0)
        h->next = psn + 1;
    return h;
}

struct wf_half *wf_pairing_answer(struct wf_pairing *p, enum wf_pair_dir dir,
                                  const uint8_t peer[16], uint32_t qpn, uint32_t psn)
{
    struct wf_half *h = half_of(p, dir, peer, qpn), *o = h->mate;

    if (o && distance(psn, o->next) >= 0 && o->requests) { /* of what was never asked */
        part(h);
        p->parted++;
        o = NULL;
    }
    if (!o) {
        o = only_one(p, h, psn);
        if (o) {
            join(h, o);
            p->by_psn++;
        }
    }
    if (o && outstanding(o, psn))
        o->una = psn;
    return h;
}

void wf_pairing_told(struct wf_pairing *p, const uint8_t peer[16], uint32_t own_qpn,
                     uint32_t peer_qpn)
{
    struct wf_half *in = half_of(p, WF_PAIR_IN, peer, own_qpn);
    struct wf_half *out = half_of(p, WF_PAIR_OUT, peer, peer_qpn);

    in->requests = out->requests = false; /* a connection begins: PSNs are new */
    if (in->mate != out) {
        join(in, out);
        p->by_cm++;
    }
}

static struct wf_pair_ask *find_ask(struct wf_pairing *p, enum wf_pair_dir dir,
                                    const uint8_t peer[16], uint32_t comm_id)
{
    for (unsigned i = 0; i < WF_PAIR_ASKS; i++) {
        struct wf_pair_ask *a = &p->asks[i];

        if (a->used && a->dir == dir && a->comm_id == comm_id && !memcmp(a->peer, peer, 16))
            return a;
    }
    return NULL;
}

void wf_pairing_asked(struct wf_pairing *p, enum wf_pair_dir dir, const uint8_t peer[16],
                      uint32_t comm_id, uint32_t qpn)
{
    struct wf_pair_ask *a = find_ask(p, dir, peer, comm_id);

    if (!a)
        a = &p->asks[p->ask_at++ % WF_PAIR_ASKS];
    *a = (struct wf_pair_ask){.comm_id = comm_id, .qpn = qpn, .dir = (uint8_t)dir, .used = true};
    memcpy(a->peer, peer, 16);
}

void wf_pairing_agreed(struct wf_pairing *p, enum wf_pair_dir dir, const uint8_t peer[16],
                       uint32_t remote_comm_id, uint32_t qpn)
{
    struct wf_pair_ask *a =
        find_ask(p, dir == WF_PAIR_OUT ? WF_PAIR_IN : WF_PAIR_OUT, peer, remote_comm_id);

    if (!a)
        return;
    a->used = false;
    if (dir == WF_PAIR_OUT) /* our host answers */
        wf_pairing_told(p, peer, qpn, a->qpn);
    else
        wf_pairing_told(p, peer, a->qpn, qpn);
}
