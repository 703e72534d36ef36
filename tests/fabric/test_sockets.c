/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric whose lcores speak over socketpairs instead of shared memory: frames are written out and
 * made anew, promises are messages behind them, nobody sees what the others publish. The digest is
 * that of one lcore: mailboxes are their four calls and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/units.h"
#include "fabric/run.h"
#include "support.h"

enum { LCORES_MAX = 4, SMALL_BUFFER = 4096 };

/* What goes over the socket: a promise, or a frame with its bytes. A function's address would have
 * to be a number between two processes; here both ends know it. */
struct message {
    uint64_t promise_ps; /* 0: a frame */
    uint32_t node, port;
    uint32_t caplen;
    struct wf_pkt pkt;
    uint8_t bytes[WF_HDR_ROOM];
};

struct channel {
    struct wf_fabric *f;
    uint32_t from, to;
    int fd[2];
    /* the sender's */
    uint8_t *out;
    size_t out_at, out_len, out_room;
    uint64_t told_ps;
    uint64_t put_off; /* writes that the socket had no room for */
    /* the receiver's */
    struct message *in;
    size_t n_in, room_in;
    struct message part;
    size_t have;
};

static void append(struct channel *c, const struct message *m)
{
    if (c->out_len + sizeof(*m) > c->out_room) {
        c->out_room = 2 * c->out_room + sizeof(*m);
        c->out = realloc(c->out, c->out_room);
    }
    memcpy(c->out + c->out_len, m, sizeof(*m));
    c->out_len += sizeof(*m);
}

static void put(struct wf_mailbox *m, struct wf_event *ev)
{
    struct channel *c = m->arg;
    struct wf_pkt *pkt = WF_CONTAINER_OF(ev, struct wf_pkt, ev);
    struct message msg = {.node = pkt->port->node->index,
                          .port = pkt->port->index,
                          .caplen = wf_pkt_caplen(pkt),
                          .pkt = *pkt};

    WF_ASSERT(msg.caplen <= sizeof(msg.bytes));
    memcpy(msg.bytes, wf_pkt_bytes(pkt), msg.caplen);
    append(c, &msg);
    pkt->ev.fn = NULL;
    wf_pkt_free(&c->f->nets[c->from], pkt);
    m->sent++;
}

static bool flush(struct wf_mailbox *m, uint64_t promise_ps)
{
    struct channel *c = m->arg;

    if (promise_ps != c->told_ps) {
        struct message msg = {.promise_ps = promise_ps};

        append(c, &msg);
        c->told_ps = promise_ps;
    }
    while (c->out_at < c->out_len) {
        ssize_t n = send(c->fd[0], c->out + c->out_at, c->out_len - c->out_at, MSG_DONTWAIT);

        if (n <= 0) {
            c->put_off++;
            return false;
        }
        c->out_at += (size_t)n;
    }
    c->out_at = c->out_len = 0;
    return true;
}

static void receive(struct wf_mailbox *m)
{
    struct channel *c = m->arg;
    ssize_t n;

    while ((n = recv(c->fd[1], (uint8_t *)&c->part + c->have, sizeof(c->part) - c->have,
                     MSG_DONTWAIT)) > 0) {
        c->have += (size_t)n;
        if (c->have < sizeof(c->part))
            continue;
        c->have = 0;
        if (c->part.promise_ps) {
            atomic_store_explicit(&m->promise_ps, c->part.promise_ps, memory_order_relaxed);
            continue;
        }
        if (c->n_in == c->room_in) {
            c->room_in = 2 * c->room_in + 16;
            c->in = realloc(c->in, c->room_in * sizeof(*c->in));
        }
        c->in[c->n_in++] = c->part;
    }
}

static uint64_t promise(struct wf_mailbox *m)
{
    receive(m);
    return atomic_load_explicit(&m->promise_ps, memory_order_relaxed);
}

static bool waiting(struct wf_mailbox *m)
{
    return ((struct channel *)m->arg)->n_in > 0;
}

static uint64_t drain(struct wf_mailbox *m, struct wf_lcore *to)
{
    struct channel *c = m->arg;
    uint64_t n;

    receive(m);
    n = c->n_in;
    for (size_t i = 0; i < n; i++) {
        struct message *msg = &c->in[i];
        struct wf_pkt *pkt = wf_pkt_new(&c->f->nets[c->to], WF_HDR_ROOM);

        WF_ASSERT(pkt);
        wf_pkt_like(pkt, &msg->pkt);
        pkt->ev = msg->pkt.ev;
        pkt->port = &c->f->nodes[msg->node]->ports[msg->port];
        memcpy(wf_pkt_hdr_rw(pkt), msg->bytes, msg->caplen);
        wf_pkt_trim(pkt, msg->caplen);
        wf_lcore_adopt(to, &pkt->ev);
    }
    c->n_in = 0;
    m->received += n;
    return n;
}

static const struct wf_mailbox_ops over_a_socket = {
    .put = put, .flush = flush, .promise = promise, .waiting = waiting, .drain = drain};

static struct channel channels[LCORES_MAX * LCORES_MAX];

static void connect_lcores(struct wf_fabric *f)
{
    int bytes = SMALL_BUFFER;

    memset(channels, 0, sizeof(channels));
    for (uint32_t i = 0; i < f->n_lcs; i++)
        for (uint32_t j = 0; j < f->n_lcs; j++) {
            struct wf_mailbox *m = wf_team_mailbox(f->team, i, j);
            struct channel *c = &channels[i * f->n_lcs + j];

            if (i == j)
                continue;
            *c = (struct channel){.f = f, .from = i, .to = j};
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, c->fd), 0);
            setsockopt(c->fd[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
            m->ops = &over_a_socket;
            m->arg = c;
        }
}

/* Returns how often a socket was full. */
static uint64_t disconnect(const struct wf_fabric *f)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < f->n_lcs * f->n_lcs; i++) {
        struct channel *c = &channels[i];

        if (!c->f)
            continue;
        n += c->put_off;
        close(c->fd[0]);
        close(c->fd[1]);
        free(c->out);
        free(c->in);
    }
    return n;
}

static struct wf_arena arena;
static struct wf_desc desc = {.name = "test",
                              .seed = 3,
                              .duration_ps = 60 * WF_PS_PER_US,
                              .time_limit_ps = WF_PS_PER_S,
                              .time_scale = 1};

static void describe(void)
{
    const struct wf_fat_tree t = {.k = 4, .pods = 4, .hosts_per_edge = 2};

    wf_desc_fat_tree(&desc, &arena, &t);
    wf_desc_address(&desc, &arena);
    for (uint32_t i = 0; i < desc.n_switches; i++) {
        desc.switches[i].cfg.port.pg[3].lossless = true;
        desc.switches[i].cfg.port.pg[3].xoff_bytes = 20000;
    }
    desc.flows = WF_ARENA_ARRAY(&arena, struct wf_desc_flow, 32);
    for (uint32_t h = 0; h < 31; h++) {
        struct wf_desc_flow *f = &desc.flows[desc.n_flows];

        f->name = wf_arena_printf(&arena, "f%u", desc.n_flows++);
        f->from = h < 16 ? h : h - 15;
        f->to = h < 16 ? (h + 7) % 16 : 0;
        wf_keyset_defaults(&wf_flow_keys, &f->cfg);
        f->cfg.size_bytes = 100000;
        f->cfg.path_mtu = 1024;
    }
}

static uint64_t run(uint32_t lcores, enum wf_team_mode mode, uint64_t *messages)
{
    struct wf_fabric_opts opts = {.lcores = lcores, .threads = mode, .no_jumps = true};
    struct wf_fabric *f;
    struct wf_err err;
    uint64_t digest;
    struct wf_run r;

    if (wf_fabric_build(&f, &desc, &opts, &err))
        fail_msg("%s", err.msg);
    if (f->team)
        connect_lcores(f);
    wf_run_init(&r, f);
    assert_int_equal(wf_run_loop(&r), WF_RUN_DONE);
    wft_check(f);
    assert_true(wf_fabric_in_flight(f) > 0); /* the duration cuts it off */
    digest = wf_fabric_digest(f).h;
    if (f->team) {
        *messages = wf_team_stats(f->team).messages;
        assert_int_equal(wf_team_stats(f->team).jumps, 0);
        assert_true(disconnect(f) > 0);
    }
    wf_run_fini(&r);
    wf_fabric_free(f);
    return digest;
}

static void lcores_over_sockets_give_the_same_digest(void **state)
{
    uint64_t one, messages = 0;

    describe();
    one = run(1, WF_TEAM_AUTO, &messages);
    for (uint32_t lcores = 2; lcores <= LCORES_MAX; lcores += 2)
        for (int mode = WF_TEAM_ALONE; mode <= WF_TEAM_THREADS; mode++) {
            assert_int_equal(run(lcores, (enum wf_team_mode)mode, &messages), one);
            assert_true(messages > 1000);
        }
    wf_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lcores_over_sockets_give_the_same_digest),
    };

    wft_eal(256);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
