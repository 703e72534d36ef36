/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two agents of the connection manager and the wire between them, which the test holds in its
 * hands: each message is moved, lost, doubled or kept back by the script. What is checked is what
 * the clauses of chapter 12 say of states, timers and answers; and, from a capture, that a
 * kernel's REQ is answered by a REP that is for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../wire/hex.h"
#include "wire/parse.h"
#include "xport/cm.h"

enum { CONNS = 3, EVENTS = 32, RESPONSE = 14, RETRIES = 2 };
#define WAIT  wf_cm_wait_ps(RESPONSE)
#define TWAIT (1000 * WF_PS_PER_US)

struct end {
    struct wf_cm_agent agent;
    struct wf_conn conns[CONNS];
    struct wf_cm_peer self; /* as the other end knows it */
    uint64_t service;       /* listens there; 0: decides later */
    uint16_t reject;        /* with this reason, when set */
    bool slow;              /* does not decide in the callback */
    enum wf_conn_event ev[EVENTS];
    uint32_t n_ev;
    struct wf_conn *last;
    struct wf_cm_msg msg; /* of the last event that had one */
    bool has_msg;
};

static struct end a, b;
static uint64_t now;

static struct wf_cm_qp qp_of(uint32_t qpn)
{
    return (struct wf_cm_qp){.qpn = qpn, .psn = 0x100 + qpn, .path_mtu = 3, .retries = 7};
}

static void decide(struct end *e, struct wf_conn *c, enum wf_conn_event ev)
{
    struct wf_cm_qp qp = qp_of(0x77);

    if (e->reject)
        wf_cm_reject(&e->agent, c, e->reject, "no", 2, now);
    else if (ev == WF_CONN_EV_REPLY)
        wf_cm_confirm(&e->agent, c, now);
    else
        wf_cm_accept(&e->agent, c, &qp, "yes", 3, now);
}

static void on_event(void *arg, struct wf_conn *c, enum wf_conn_event ev, const struct wf_cm_msg *m,
                     uint64_t at)
{
    struct end *e = arg;

    assert_int_equal(at, now);
    assert_true(e->n_ev < EVENTS);
    e->ev[e->n_ev++] = ev;
    e->last = c;
    e->has_msg = m != NULL;
    if (m)
        e->msg = *m;
    if (ev == WF_CONN_EV_REQUEST && m->req.service_id != e->service)
        wf_cm_reject(&e->agent, c, WF_CM_REJ_SERVICE_ID, NULL, 0, now);
    else if ((ev == WF_CONN_EV_REQUEST || ev == WF_CONN_EV_REPLY) && !e->slow)
        decide(e, c, ev);
}

static void on_resolve(void *arg, const struct wf_cm_peer *from, const struct wf_cm_msg *req,
                       struct wf_cm_msg *rep)
{
    struct end *e = arg;

    if (req->sidr_req.service_id != e->service)
        return;
    rep->sidr_rep.status = 0;
    rep->sidr_rep.qpn = 0x99;
    rep->sidr_rep.qkey = 0x1234567;
}

static void end_init(struct end *e, uint8_t number)
{
    struct wf_cm_cfg cfg = {.guid = 0x100 + number,
                            .first_id = 0x1000u * number,
                            .response = RESPONSE,
                            .retries = RETRIES,
                            .timewait_ps = TWAIT};
    struct wf_cm_user user = {.arg = e, .event = on_event, .resolve = on_resolve};

    *e = (struct end){.service = WF_CM_SERVICE_TCP + 5000};
    e->self.remote_gid[15] = number;
    wf_cm_agent_init(&e->agent, &cfg, &user, e->conns, CONNS);
}

static int start(void **state)
{
    (void)state;
    now = 5 * WF_PS_PER_US;
    end_init(&a, 1);
    end_init(&b, 2);
    return 0;
}

/* The next message of `from`; asserts its kind. */
static void pull(struct end *from, uint16_t attr, uint8_t mad[WF_MAD_LEN])
{
    struct end *to = from == &a ? &b : &a;
    struct wf_cm_peer peer;

    if (!wf_cm_pull(&from->agent, now, &peer, mad))
        fail_msg("no message, %s wanted", wf_cm_name(attr));
    assert_string_equal(wf_cm_name(wf_ld16(mad + 16)), wf_cm_name(attr));
    assert_memory_equal(peer.remote_gid, to->self.remote_gid, 16);
}

static void give(struct end *to, const uint8_t mad[WF_MAD_LEN])
{
    wf_cm_rx(&to->agent, to == &a ? &b.self : &a.self, mad, WF_MAD_LEN, now);
}

/* One message crosses. */
static void cross(struct end *from, uint16_t attr)
{
    uint8_t mad[WF_MAD_LEN];

    pull(from, attr, mad);
    give(from == &a ? &b : &a, mad);
}

static void lose(struct end *from, uint16_t attr)
{
    uint8_t mad[WF_MAD_LEN];

    pull(from, attr, mad);
}

static void silent(struct end *e)
{
    struct wf_cm_peer peer;
    uint8_t mad[WF_MAD_LEN];

    if (wf_cm_pull(&e->agent, now, &peer, mad))
        fail_msg("a %s that nobody wanted", wf_cm_name(wf_ld16(mad + 16)));
}

/* The events since the last call were these. */
static void events(struct end *e, uint32_t n, enum wf_conn_event first, enum wf_conn_event second)
{
    assert_int_equal(e->n_ev, n);
    if (n > 0)
        assert_int_equal(e->ev[0], first);
    if (n > 1)
        assert_int_equal(e->ev[1], second);
    e->n_ev = 0;
}

static void no_events(struct end *e)
{
    events(e, 0, 0, 0);
}

/* Time goes on to the end's timer, which is due then and not before. */
static void expire(struct end *e, uint64_t after_ps)
{
    assert_int_equal(wf_cm_timer_ps(&e->agent), now + after_ps);
    now += after_ps - 1;
    wf_cm_tick(&e->agent, now);
    silent(e);
    now++;
    wf_cm_tick(&e->agent, now);
}

static struct wf_conn *ask(uint64_t service)
{
    static const struct wf_cm_path path = {.local_lid = 0xffff, .hop_limit = 64};
    struct wf_cm_qp qp = qp_of(0x55);
    struct wf_conn *c = wf_cm_connect(&a.agent, &b.self, service, &qp, &path, "hello", 5, now);

    assert_non_null(c);
    return c;
}

/* A connection, established at both ends. */
static struct wf_conn *connected(void)
{
    struct wf_conn *c = ask(b.service);

    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_REP);
    cross(&a, WF_CM_RTU);
    events(&a, 1, WF_CONN_EV_REPLY, 0);
    events(&b, 2, WF_CONN_EV_REQUEST, WF_CONN_EV_ESTABLISHED);
    assert_int_equal(c->state, WF_CONN_ESTABLISHED);
    assert_int_equal(b.conns[0].state, WF_CONN_ESTABLISHED);
    silent(&a);
    silent(&b);
    assert_int_equal(wf_cm_timer_ps(&a.agent), WF_TIME_NEVER);
    assert_int_equal(wf_cm_timer_ps(&b.agent), WF_TIME_NEVER);
    return c;
}

static void connect_and_disconnect(void **state)
{
    struct wf_conn *c = ask(b.service);

    (void)state;
    cross(&a, WF_CM_REQ);
    assert_memory_equal(b.msg.private_data, "hello", 6);
    assert_int_equal(b.msg.req.local_qpn, 0x55);
    assert_int_equal(b.msg.req.starting_psn, 0x155);
    assert_int_equal(b.msg.req.max_cm_retries, RETRIES);
    cross(&b, WF_CM_REP);
    assert_memory_equal(a.msg.private_data, "yes", 4);
    assert_int_equal(a.msg.rep.local_qpn, 0x77);
    assert_int_equal(c->remote_qpn, 0x77);
    assert_int_equal(b.last->remote_qpn, 0x55);
    cross(&a, WF_CM_RTU);
    a.n_ev = b.n_ev = 0;
    wf_cm_disconnect(&a.agent, c, now);
    cross(&a, WF_CM_DREQ);
    events(&b, 1, WF_CONN_EV_DISCONNECTED, 0);
    assert_int_equal(b.msg.dreq.remote_qpn, 0x77);
    cross(&b, WF_CM_DREP);
    events(&a, 1, WF_CONN_EV_DISCONNECTED, 0);
    expire(&a, TWAIT);
    events(&a, 1, WF_CONN_EV_FREE, 0);
    wf_cm_tick(&b.agent, now);
    events(&b, 1, WF_CONN_EV_FREE, 0);
    assert_int_equal(a.agent.tx, 3);
    assert_int_equal(b.agent.tx, 2);
    assert_int_equal(a.agent.duplicates + b.agent.duplicates + a.agent.bad + b.agent.bad, 0);
}

/* The passive side may end it as well; DREQs that cross answer each other. */
static void passive_and_crossing_disconnects(void **state)
{
    struct wf_conn *c = connected();
    uint8_t one[WF_MAD_LEN], other[WF_MAD_LEN];

    (void)state;
    wf_cm_disconnect(&b.agent, &b.conns[0], now);
    cross(&b, WF_CM_DREQ);
    events(&a, 1, WF_CONN_EV_DISCONNECTED, 0);
    cross(&a, WF_CM_DREP);
    events(&b, 1, WF_CONN_EV_DISCONNECTED, 0);
    start(NULL);
    c = connected();
    wf_cm_disconnect(&a.agent, c, now);
    wf_cm_disconnect(&b.agent, &b.conns[0], now);
    pull(&a, WF_CM_DREQ, one);
    pull(&b, WF_CM_DREQ, other);
    give(&a, other);
    give(&b, one);
    cross(&a, WF_CM_DREP);
    cross(&b, WF_CM_DREP);
    events(&a, 1, WF_CONN_EV_DISCONNECTED, 0);
    events(&b, 1, WF_CONN_EV_DISCONNECTED, 0);
    silent(&a);
    silent(&b);
}

static void rejects(void **state)
{
    struct wf_conn *c = ask(b.service + 1);

    (void)state;
    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_REJ);
    events(&a, 1, WF_CONN_EV_REJECTED, 0);
    assert_int_equal(a.msg.rej.reason, WF_CM_REJ_SERVICE_ID);
    assert_int_equal(a.msg.rej.message, WF_CM_ABOUT_REQ);
    assert_int_equal(c->state, WF_CONN_IDLE);
    assert_int_equal(b.conns[0].state, WF_CONN_IDLE);
    b.reject = WF_CM_REJ_CONSUMER;
    ask(b.service);
    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_REJ);
    assert_int_equal(a.msg.rej.reason, WF_CM_REJ_CONSUMER);
    assert_memory_equal(a.msg.private_data, "no", 3);
    b.n_ev = a.n_ev = 0;
    /* the active side refuses what it was offered */
    b.reject = 0;
    a.reject = WF_CM_REJ_CONSUMER;
    ask(b.service);
    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_REP);
    cross(&a, WF_CM_REJ);
    events(&b, 2, WF_CONN_EV_REQUEST, WF_CONN_EV_REJECTED);
    assert_int_equal(b.msg.rej.message, WF_CM_ABOUT_REP);
    assert_int_equal(b.conns[0].state, WF_CONN_TIMEWAIT);
    assert_int_equal(a.conns[0].state, WF_CONN_TIMEWAIT);
}

static void a_lost_request_is_sent_again(void **state)
{
    uint8_t first[WF_MAD_LEN], second[WF_MAD_LEN];

    (void)state;
    ask(b.service);
    pull(&a, WF_CM_REQ, first);
    expire(&a, WAIT);
    pull(&a, WF_CM_REQ, second);
    assert_memory_equal(first, second, WF_MAD_LEN);
    give(&b, second);
    give(&b, first); /* the first one was only late */
    events(&b, 1, WF_CONN_EV_REQUEST, 0);
    assert_int_equal(b.agent.duplicates, 1);
    cross(&b, WF_CM_REP);
    silent(&b); /* one answer to both */
    cross(&a, WF_CM_RTU);
    assert_int_equal(a.agent.retries, 1);
}

static void a_lost_reply_is_sent_again(void **state)
{
    (void)state;
    ask(b.service);
    cross(&a, WF_CM_REQ);
    lose(&b, WF_CM_REP);
    expire(&a, WAIT); /* either side's timer brings it */
    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_REP);
    lose(&a, WF_CM_RTU);
    events(&b, 1, WF_CONN_EV_REQUEST, 0);
    wf_cm_tick(&b.agent, now);
    cross(&b, WF_CM_REP);
    cross(&a, WF_CM_RTU); /* again: the REP said that it was lost */
    events(&b, 1, WF_CONN_EV_ESTABLISHED, 0);
    events(&a, 1, WF_CONN_EV_REPLY, 0);
}

static void traffic_is_as_good_as_an_rtu(void **state)
{
    (void)state;
    ask(b.service);
    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_REP);
    wf_cm_traffic(&b.agent, &b.conns[0], now);
    events(&b, 2, WF_CONN_EV_REQUEST, WF_CONN_EV_ESTABLISHED);
    assert_int_equal(wf_cm_timer_ps(&b.agent), WF_TIME_NEVER);
    cross(&a, WF_CM_RTU); /* late, and nothing new */
    no_events(&b);
    wf_cm_traffic(&b.agent, &b.conns[0], now);
    no_events(&b);
}

static void nobody_answers(void **state)
{
    struct wf_conn *c = ask(b.service);

    (void)state;
    lose(&a, WF_CM_REQ);
    for (int i = 0; i < RETRIES; i++) {
        expire(&a, WAIT);
        lose(&a, WF_CM_REQ);
    }
    expire(&a, WAIT);
    events(&a, 1, WF_CONN_EV_UNREACHABLE, 0);
    cross(&a, WF_CM_REJ); /* whoever was slow may forget it */
    no_events(&b);
    assert_int_equal(c->state, WF_CONN_IDLE);
    assert_int_equal(wf_cm_timer_ps(&a.agent), WF_TIME_NEVER);
    /* the passive side */
    ask(b.service);
    cross(&a, WF_CM_REQ);
    lose(&b, WF_CM_REP);
    for (int i = 0; i < RETRIES; i++) {
        expire(&b, WAIT);
        lose(&b, WF_CM_REP);
    }
    expire(&b, WAIT);
    events(&b, 2, WF_CONN_EV_REQUEST, WF_CONN_EV_UNREACHABLE);
    cross(&b, WF_CM_REJ);
    events(&a, 1, WF_CONN_EV_REJECTED, 0);
    assert_int_equal(a.msg.rej.reason, WF_CM_REJ_TIMEOUT);
    assert_int_equal(b.conns[0].state, WF_CONN_TIMEWAIT);
}

static void a_disconnect_without_answer_ends_too(void **state)
{
    struct wf_conn *c = connected();

    (void)state;
    wf_cm_disconnect(&a.agent, c, now);
    cross(&a, WF_CM_DREQ);
    lose(&b, WF_CM_DREP);
    for (int i = 0; i < RETRIES - 1; i++) {
        expire(&a, WAIT);
        cross(&a, WF_CM_DREQ);
        lose(&b, WF_CM_DREP); /* also from TimeWait */
    }
    expire(&a, WAIT);
    events(&b, 1, WF_CONN_EV_DISCONNECTED, 0);
    now += TWAIT;
    wf_cm_tick(&b.agent, now);
    cross(&a, WF_CM_DREQ); /* and when nothing is known of it */
    lose(&b, WF_CM_DREP);
    now -= TWAIT;
    expire(&a, WAIT);
    events(&a, 1, WF_CONN_EV_DISCONNECTED, 0);
    assert_false(a.has_msg);
}

/* The peer asks for time, and gets what it asks for. */
static void more_time(void **state)
{
    (void)state;
    b.slow = true;
    ask(b.service);
    cross(&a, WF_CM_REQ);
    silent(&b);
    expire(&a, WAIT);
    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_MRA);
    expire(&a, 2 * WAIT); /* what it asked for, and the usual */
    lose(&a, WF_CM_REQ);
    decide(&b, b.last, WF_CONN_EV_REQUEST);
    a.slow = true;
    cross(&b, WF_CM_REP);
    expire(&b, WAIT);
    cross(&b, WF_CM_REP);
    cross(&a, WF_CM_MRA);
    assert_int_equal(wf_cm_timer_ps(&b.agent), now + 2 * WAIT);
    decide(&a, a.last, WF_CONN_EV_REPLY);
    cross(&a, WF_CM_RTU);
    events(&b, 2, WF_CONN_EV_REQUEST, WF_CONN_EV_ESTABLISHED);
    events(&a, 1, WF_CONN_EV_REPLY, 0);
}

/* The peer's queue pair asks again under another ID: it has forgotten what it had (12.9.8.3.1). */
static void a_stale_connection_is_over(void **state)
{
    (void)state;
    connected();
    end_init(&a, 1);
    a.agent.next_id = 0x5000;
    ask(b.service);
    cross(&a, WF_CM_REQ);
    events(&b, 1, WF_CONN_EV_DISCONNECTED, 0);
    cross(&b, WF_CM_REJ);
    events(&a, 1, WF_CONN_EV_REJECTED, 0);
    assert_int_equal(a.msg.rej.reason, WF_CM_REJ_STALE);
    ask(b.service); /* still, while TimeWait lasts */
    cross(&a, WF_CM_REQ);
    cross(&b, WF_CM_REJ);
    no_events(&b);
    now += TWAIT;
    wf_cm_tick(&b.agent, now);
    events(&b, 1, WF_CONN_EV_FREE, 0);
    a.n_ev = 0;
    connected();
}

static void no_place_for_more(void **state)
{
    uint8_t mad[WF_MAD_LEN];
    struct wf_cm_qp qp = qp_of(0);
    struct wf_cm_path path = {0};

    (void)state;
    for (uint32_t i = 0; i < CONNS; i++) {
        ask(b.service);
        cross(&a, WF_CM_REQ); /* of one queue pair: only the first is no stale one */
    }
    assert_null(wf_cm_connect(&a.agent, &b.self, 1, &qp, &path, NULL, 0, now));
    end_init(&a, 1);
    end_init(&b, 2);
    ask(b.service);
    pull(&a, WF_CM_REQ, mad);
    for (uint32_t i = 0; i <= CONNS; i++) {
        wf_st32(mad + 24, i + 1);       /* ID */
        wf_st24(mad + 24 + 32, i + 10); /* QPN */
        give(&b, mad);
    }
    for (uint32_t i = 0; i < CONNS; i++)
        lose(&b, i ? WF_CM_REP : WF_CM_REJ);
    lose(&b, WF_CM_REP);
    silent(&b);
    events(&b, CONNS, WF_CONN_EV_REQUEST, WF_CONN_EV_REQUEST);
}

static void resolution(void **state)
{
    struct wf_conn *c = wf_cm_resolve(&a.agent, &b.self, b.service, "who", 3, now);

    (void)state;
    lose(&a, WF_CM_SIDR_REQ);
    expire(&a, WAIT);
    cross(&a, WF_CM_SIDR_REQ);
    cross(&b, WF_CM_SIDR_REP);
    events(&a, 1, WF_CONN_EV_RESOLVED, 0);
    assert_int_equal(a.msg.sidr_rep.status, 0);
    assert_int_equal(a.msg.sidr_rep.qpn, 0x99);
    assert_int_equal(c->state, WF_CONN_IDLE);
    c = wf_cm_resolve(&a.agent, &b.self, b.service + 1, NULL, 0, now);
    cross(&a, WF_CM_SIDR_REQ);
    cross(&b, WF_CM_SIDR_REP);
    assert_int_equal(a.msg.sidr_rep.status, 1);
    a.n_ev = 0;
    c = wf_cm_resolve(&a.agent, &b.self, b.service, NULL, 0, now);
    for (int i = 0; i <= RETRIES; i++) {
        lose(&a, WF_CM_SIDR_REQ);
        expire(&a, WAIT);
    }
    events(&a, 1, WF_CONN_EV_UNREACHABLE, 0);
    silent(&a);
    assert_int_equal(c->state, WF_CONN_IDLE);
}

/* What does not fit changes nothing: wrong IDs, a wrong QPN, somebody else's address, no MAD. */
static void strangers_change_nothing(void **state)
{
    struct wf_conn *c = connected();
    struct wf_cm_peer third = a.self;
    uint8_t mad[WF_MAD_LEN], wrong[WF_MAD_LEN];

    (void)state;
    third.remote_gid[15] = 9;
    wf_cm_disconnect(&a.agent, c, now);
    pull(&a, WF_CM_DREQ, mad);
    wf_cm_rx(&b.agent, &third, mad, WF_MAD_LEN, now);
    assert_int_equal(b.conns[0].state, WF_CONN_ESTABLISHED);
    b.agent.n_strays = 0;              /* it is told that there is nothing */
    for (int at = 24; at < 35; at++) { /* IDs, QPN */
        memcpy(wrong, mad, WF_MAD_LEN);
        wrong[at] ^= 1;
        give(&b, wrong);
        assert_int_equal(b.conns[0].state, WF_CONN_ESTABLISHED);
        b.agent.n_strays = 0;
    }
    wf_cm_rx(&b.agent, &a.self, mad, WF_MAD_LEN - 1, now);
    no_events(&b);
    give(&b, mad);
    events(&b, 1, WF_CONN_EV_DISCONNECTED, 0);
}

static void an_unknown_reply_is_rejected(void **state)
{
    uint8_t mad[WF_MAD_LEN];

    (void)state;
    ask(b.service);
    cross(&a, WF_CM_REQ);
    pull(&b, WF_CM_REP, mad);
    end_init(&a, 1);
    a.agent.next_id = 0x7000;
    give(&a, mad);
    cross(&a, WF_CM_REJ);
    events(&b, 2, WF_CONN_EV_REQUEST, WF_CONN_EV_REJECTED);
    assert_int_equal(b.msg.rej.reason, WF_CM_REJ_COMM_ID);
}

/* A flood of what is answered once loses the answers that nobody fetches, and nothing else. */
static void strays_are_bounded(void **state)
{
    uint8_t mad[WF_MAD_LEN];

    (void)state;
    ask(b.service + 1);
    pull(&a, WF_CM_REQ, mad);
    for (int i = 0; i < 3 * WF_CM_STRAYS_MAX; i++)
        give(&b, mad);
    for (int i = 0; i < WF_CM_STRAYS_MAX; i++)
        lose(&b, WF_CM_REJ);
    silent(&b);
}

/* The kernel's own REQ, of captures/cm-rxe.pcap: our REP names its ID and transaction, waits as
 * long as the REQ says, and its RTU, with our ID in it, establishes. */
static void a_kernels_request(void **state)
{
    const char *source = getenv("WEFT_SOURCE");
    char path[4096], err[PCAP_ERRBUF_SIZE];
    const uint8_t *frame;
    uint8_t kept[3][WF_MAD_LEN], rep[WF_MAD_LEN];
    struct pcap_pkthdr *h;
    struct wf_cm_msg m;
    pcap_t *pc;

    (void)state;
    snprintf(path, sizeof(path), "%s/captures/cm-rxe.pcap", source ? source : ".");
    pc = pcap_open_offline(path, err);
    if (!pc)
        fail_msg("%s", err);
    for (int i = 0; i < 3; i++) {
        struct wf_parsed p;

        assert_int_equal(pcap_next_ex(pc, &h, &frame), 1);
        assert_int_equal(wf_parse(frame, h->caplen, h->len, &p), WF_DROP_NONE);
        memcpy(kept[i], frame + p.payload_off, WF_MAD_LEN);
    }
    pcap_close(pc);
    b.service = 0x1061c06;
    give(&b, kept[0]);
    assert_int_equal(wf_cm_timer_ps(&b.agent), now + (4096000ull << 20)); /* 4.3 s */
    pull(&b, WF_CM_REP, rep);
    assert_int_equal(wf_cm_msg_get(rep, sizeof(rep), &m), 0);
    assert_int_equal(m.rep.remote_comm_id, 0xdbf8459f);
    assert_int_equal(m.mad.tid, 0x29f45f8dbull);
    wf_st32(kept[2] + 28, m.rep.local_comm_id);
    give(&b, kept[2]);
    events(&b, 2, WF_CONN_EV_REQUEST, WF_CONN_EV_ESTABLISHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(connect_and_disconnect, start),
        cmocka_unit_test_setup(passive_and_crossing_disconnects, start),
        cmocka_unit_test_setup(rejects, start),
        cmocka_unit_test_setup(a_lost_request_is_sent_again, start),
        cmocka_unit_test_setup(a_lost_reply_is_sent_again, start),
        cmocka_unit_test_setup(traffic_is_as_good_as_an_rtu, start),
        cmocka_unit_test_setup(nobody_answers, start),
        cmocka_unit_test_setup(a_disconnect_without_answer_ends_too, start),
        cmocka_unit_test_setup(more_time, start),
        cmocka_unit_test_setup(a_stale_connection_is_over, start),
        cmocka_unit_test_setup(no_place_for_more, start),
        cmocka_unit_test_setup(resolution, start),
        cmocka_unit_test_setup(strangers_change_nothing, start),
        cmocka_unit_test_setup(an_unknown_reply_is_rejected, start),
        cmocka_unit_test_setup(strays_are_bounded, start),
        cmocka_unit_test_setup(a_kernels_request, start),
    };

    return cmocka_run_group_tests_name("xport/cm", tests, NULL, NULL);
}
