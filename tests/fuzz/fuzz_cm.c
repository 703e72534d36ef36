/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager's agent with peers that say anything at any time, and the table of pairs
 * that hears them. The input is a script: messages of every kind whose IDs are few, so that they
 * meet connections, with bytes changed if it says so; what the consumer does; timers; RoCE packets
 * for the table. Whatever comes, each connection is in a state that can end, events come in an
 * order that makes sense, what is sent is well-formed and bounded, and mates are each other's.
 */
#include <string.h>

#include "net/halves.h"
#include "wire/bth.h"
#include "xport/cm.h"

#include "fuzz.h"

enum { CONNS = 4, HALVES = 6, TIMEWAIT_PS = 1000 };

struct world {
    struct wf_cm_agent agent;
    struct wf_conn conns[CONNS];
    bool told[CONNS]; /* the consumer knows of it, and has not heard of its end */
    uint8_t decides;  /* what the consumer does in an event */
    uint64_t now_ps;
    struct wf_halves halves;
    struct wf_arena arena;
};

struct script {
    const uint8_t *data;
    size_t size, at;
};

static uint8_t byte(struct script *s)
{
    return s->at < s->size ? s->data[s->at++] : 0;
}

static void on_reply(struct world *w, struct wf_conn *c, uint64_t now_ps)
{
    if (w->decides & 4)
        wf_cm_reject(&w->agent, c, WF_CM_REJ_CONSUMER, w, 8, now_ps);
    else if (w->decides & 8)
        wf_cm_confirm(&w->agent, c, now_ps);
}

static void on_request(struct world *w, struct wf_conn *c, uint64_t now_ps)
{
    struct wf_cm_qp qp = {.qpn = 0x40, .psn = 7, .rnr_retries = 7};

    if (w->decides & 1)
        wf_cm_reject(&w->agent, c, WF_CM_REJ_NO_QP, NULL, 0, now_ps);
    else if (w->decides & 2)
        wf_cm_accept(&w->agent, c, &qp, w, 16, now_ps);
    w->told[c - w->conns] = c->state != WF_CONN_IDLE;
}

static void event(void *arg, struct wf_conn *c, enum wf_conn_event ev, const struct wf_cm_msg *m,
                  uint64_t now_ps)
{
    struct world *w = arg;
    bool *told = &w->told[c - w->conns];

    FUZZ_CHECK(ev == WF_CONN_EV_REQUEST ? !*told && m : *told);
    FUZZ_CHECK(m || (ev != WF_CONN_EV_REPLY && ev != WF_CONN_EV_REJECTED));
    if (ev == WF_CONN_EV_REQUEST) {
        on_request(w, c, now_ps);
        return;
    }
    if (ev == WF_CONN_EV_REPLY)
        on_reply(w, c, now_ps);
    FUZZ_CHECK((ev == WF_CONN_EV_ESTABLISHED) <= (c->state == WF_CONN_ESTABLISHED));
    FUZZ_CHECK((ev == WF_CONN_EV_FREE) <= (c->state == WF_CONN_IDLE));
    if (c->state == WF_CONN_IDLE)
        *told = false;
}

static void resolve(void *arg, const struct wf_cm_peer *from, const struct wf_cm_msg *req,
                    struct wf_cm_msg *rep)
{
    rep->sidr_rep.status = WF_SIDR_VALID;
}

static void addresses(uint8_t who, uint8_t src[16], uint8_t dst[16])
{
    memset(src, 0, 16);
    memset(dst, 0, 16);
    src[15] = who & 1;
    dst[15] = who >> 1 & 1;
}

static uint32_t small(struct script *s)
{
    uint8_t v = byte(s);

    return v & 0x80 ? 0x01010101u * v : v & 7;
}

static void fill(struct script *s, struct wf_cm_msg *m)
{
    static const uint16_t kinds[] = {WF_CM_REQ, WF_CM_REQ, WF_CM_MRA,      WF_CM_REJ,
                                     WF_CM_REP, WF_CM_RTU, WF_CM_DREQ,     WF_CM_DREP,
                                     WF_CM_REP, WF_CM_REP, WF_CM_SIDR_REQ, WF_CM_SIDR_REP};

    wf_cm_msg_init(m, kinds[byte(s) % (sizeof(kinds) / sizeof(kinds[0]))], small(s));
    m->rtu = (struct wf_cm_rtu){small(s), small(s)};
    if (m->mad.attr_id == WF_CM_REQ)
        m->req = (struct wf_cm_req){.local_comm_id = m->rtu.local_comm_id,
                                    .local_ca_guid = m->rtu.remote_comm_id,
                                    .local_qpn = small(s) & 0xffffff,
                                    .starting_psn = small(s) & 0xffffff,
                                    .local_timeout = byte(s) & 31,
                                    .max_cm_retries = byte(s) & 15};
    else if (m->mad.attr_id == WF_CM_REP)
        m->rep.local_qpn = small(s) & 0xffffff;
    else if (m->mad.attr_id == WF_CM_DREQ)
        m->dreq.remote_qpn = byte(s) & 1 ? 0x40 : small(s) & 0xffffff;
    else if (m->mad.attr_id == WF_CM_MRA)
        m->mra.service_timeout = byte(s) & 31;
}

static void message(struct world *w, struct script *s, uint8_t op)
{
    struct wf_cm_peer from = {.qpn = 1};
    uint8_t mad[WF_MAD_LEN], *exact;
    struct wf_cm_msg m;
    uint32_t len = op & 0x40 ? byte(s) : WF_MAD_LEN;

    memset(&m, 0, sizeof(m));
    fill(s, &m);
    wf_cm_msg_put(mad, &m);
    for (uint8_t n = op & 0x80 ? 1 + byte(s) % 4 : 0; n; n--) {
        uint8_t at = byte(s);

        mad[at] ^= byte(s);
    }
    addresses(op >> 3, from.remote_gid, from.local_gid);
    w->decides = byte(s);
    exact = malloc(len + 1);
    memcpy(exact, mad, len);
    wf_cm_rx(&w->agent, &from, exact, len, w->now_ps);
    wf_pairing_mad(&w->halves.pairing, NULL, from.remote_gid, from.local_gid, exact, len);
    free(exact);
}

static void dial(struct world *w, struct script *s)
{
    struct wf_cm_qp qp = {.qpn = 0x40, .path_mtu = 3, .rnr_retries = 7};
    struct wf_cm_peer to = {.qpn = 1};
    struct wf_cm_path path = {.hop_limit = 64};
    struct wf_conn *c;
    uint8_t what = byte(s);

    addresses(what, to.remote_gid, to.local_gid);
    c = what & 4 ? wf_cm_resolve(&w->agent, &to, 7, w, 1000, w->now_ps)
                 : wf_cm_connect(&w->agent, &to, 7, &qp, &path, w, 1000, w->now_ps);
    if (c)
        w->told[c - w->conns] = true;
}

/* The consumer decides late, or ends what is there. */
static void decide(struct world *w, struct script *s)
{
    uint8_t what = byte(s);
    struct wf_conn *c = &w->conns[what % CONNS];

    w->decides = what >> 2;
    if (c->state == WF_CONN_REQ_RCVD)
        on_request(w, c, w->now_ps);
    else if (c->state == WF_CONN_REP_RCVD)
        on_reply(w, c, w->now_ps);
    else if (what & 0x40)
        wf_cm_disconnect(&w->agent, c, w->now_ps);
    else
        wf_cm_traffic(&w->agent, c, w->now_ps);
}

/* A RoCE packet, as the table sees it. */
static void packet(struct world *w, struct script *s)
{
    uint8_t src[16], dst[16], opcode = byte(s);
    uint32_t psn;
    struct wf_half *h;

    addresses(byte(s), src, dst);
    h = wf_halves_see(&w->halves, src, dst, small(s) & 0xffffff);
    psn = small(s) & WF_PSN_MASK;
    FUZZ_CHECK(h);
    wf_pairing_packet(&w->halves.pairing, h, opcode, psn, byte(s) & 3);
}

static bool waits(enum wf_conn_state state)
{
    return state == WF_CONN_REQ_SENT || state == WF_CONN_REP_SENT || state == WF_CONN_DREQ_SENT ||
           state == WF_CONN_TIMEWAIT || state == WF_CONN_SIDR_SENT;
}

static void check_agent(struct world *w)
{
    struct wf_cm_agent *a = &w->agent;
    uint8_t mad[WF_MAD_LEN];
    struct wf_cm_peer to;
    struct wf_cm_msg m;
    unsigned n = 0;

    for (; wf_cm_pull(a, w->now_ps, &to, mad); n++)
        FUZZ_CHECK(!wf_cm_msg_get(mad, sizeof(mad), &m));
    FUZZ_CHECK(n <= WF_CM_STRAYS_MAX + CONNS);
    for (unsigned i = 0; i < CONNS; i++) {
        const struct wf_conn *c = &w->conns[i];

        FUZZ_CHECK(waits(c->state) == (c->timer_ps != WF_TIME_NEVER));
        FUZZ_CHECK(w->told[i] == (c->state != WF_CONN_IDLE) && !c->pending);
        for (unsigned k = 0; k < i; k++)
            FUZZ_CHECK(c->state == WF_CONN_IDLE || w->conns[k].state == WF_CONN_IDLE ||
                       c->local_id != w->conns[k].local_id);
    }
}

static void check_halves(const struct wf_halves *t)
{
    uint32_t n = 0;

    for (const struct wf_half *h = t->oldest; h; h = h->newer, n++) {
        FUZZ_CHECK(!h->mate || (h->mate->mate == h && h->mate != h));
        FUZZ_CHECK(!h->mate == (h->how == WF_UNPAIRED));
        FUZZ_CHECK(!h->mate ||
                   (!memcmp(h->src, h->mate->dst, 16) && !memcmp(h->dst, h->mate->src, 16)));
        FUZZ_CHECK(wf_halves_find(t, h->src, h->dst, h->qpn) == h);
    }
    FUZZ_CHECK(n == t->used && n <= HALVES);
}

static void begin(struct world *w)
{
    struct wf_cm_cfg cfg = {
        .guid = 5, .first_id = 1, .response = 4, .retries = 2, .timewait_ps = TIMEWAIT_PS};
    struct wf_cm_user user = {.arg = w, .event = event, .resolve = resolve};

    memset(w, 0, sizeof(*w));
    wf_cm_agent_init(&w->agent, &cfg, &user, w->conns, CONNS);
    wf_halves_init(&w->halves, &w->arena, HALVES, sizeof(struct wf_half));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;
    struct script s = {data, size, 0};

    begin(&w);
    while (s.at < s.size) {
        uint8_t op = byte(&s);

        if ((op & 7) < 4) {
            message(&w, &s, op);
        } else if ((op & 7) == 4) {
            dial(&w, &s);
        } else if ((op & 7) == 5) {
            decide(&w, &s);
        } else if ((op & 7) == 6) {
            packet(&w, &s);
        } else if (wf_cm_timer_ps(&w.agent) != WF_TIME_NEVER) {
            w.now_ps = wf_cm_timer_ps(&w.agent);
            w.decides = byte(&s);
            wf_cm_tick(&w.agent, w.now_ps);
        }
        check_agent(&w);
        check_halves(&w.halves);
    }
    wf_arena_free(&w.arena);
    return 0;
}
