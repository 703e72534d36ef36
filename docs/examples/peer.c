/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program beside a model host, for docs/howto-peers.md: an ordinary one of librdmacm and
 * libibverbs, either side of a connection, that checks every byte.
 *   gcc -o peer peer.c -lrdmacm -libverbs
 *   peer connect ADDRESS PORT OP...  to a model host that listens; OP: write, read, send, fadd,
 *                                    cas, bad_rkey, bad_va
 *   peer listen PORT [COUNT]         for the flows of model hosts that connect; COUNT connections
 *   peer datagrams ADDRESS PORT N    N datagrams to a model host that listens; it may echo
 *   peer echo PORT N                 N datagrams of a flow with service ud are taken and sent back
 * Exit status 0 when all was right.
 */
#include <endian.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { OFFER_LEN = 24, REGION = 1 << 20, PATTERN = 9, RECEIVES = 64, MSG = 4096 };

/* What either end says of its memory, as docs/howto-peers.md has it. */
struct offer {
    uint64_t va;
    uint32_t rkey, len, pattern;
    uint8_t version, recv, does, zero;
} __attribute__((packed));

enum { WRITES, SENDS, READS, ADDS, SWAPS }; /* what a peer does */

static int failed;

static void say(int ok, const char *what)
{
    printf("%s: %s\n", ok ? "ok" : "FAILED", what);
    fflush(stdout);
    failed |= !ok;
}

static int must(int rc, const char *what)
{
    if (rc) {
        perror(what);
        exit(1);
    }
    return rc;
}

static uint64_t word_of(uint32_t pattern, uint64_t k)
{
    uint64_t z = (((uint64_t)pattern << 32) + k + 1) * 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return pattern ? z ^ z >> 31 : 0;
}

static uint8_t byte_of(uint32_t pattern, uint64_t at)
{
    return (uint8_t)(word_of(pattern, at / 8) >> at % 8 * 8);
}

static void fill(uint8_t *to, uint32_t len, uint32_t pattern)
{
    for (uint32_t i = 0; i < len; i++)
        to[i] = byte_of(pattern, i);
}

static uint32_t right_bytes(const uint8_t *m, uint32_t len, uint32_t pattern)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < len; i++)
        n += m[i] == byte_of(pattern, i);
    return n;
}

static struct offer offer_of(const struct ibv_mr *mr, uint32_t len, uint32_t pattern)
{
    return (struct offer){.va = htobe64((uintptr_t)mr->addr),
                          .rkey = htobe32(mr->rkey),
                          .len = htobe32(len),
                          .pattern = htobe32(pattern),
                          .version = 1};
}

/* The peer's, in host order. */
static struct offer offered(const struct rdma_cm_event *ev)
{
    struct offer o = {0};

    if (ev->param.conn.private_data_len < OFFER_LEN) {
        printf("no offer in %u bytes of private data\n", ev->param.conn.private_data_len);
        exit(1);
    }
    memcpy(&o, ev->param.conn.private_data, OFFER_LEN);
    o.va = be64toh(o.va);
    o.rkey = be32toh(o.rkey);
    o.len = be32toh(o.len);
    o.pattern = be32toh(o.pattern);
    return o;
}

static struct ibv_qp_init_attr qp_attr(void)
{
    return (struct ibv_qp_init_attr){
        .cap = {.max_send_wr = 64, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1};
}

static struct ibv_mr *region(struct rdma_cm_id *id, uint32_t len)
{
    uint8_t *m = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr = ibv_reg_mr(id->pd, m, len,
                                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

    must(!mr, "ibv_reg_mr");
    return mr;
}

static enum ibv_wc_status completion(struct rdma_cm_id *id)
{
    struct ibv_wc wc;

    must(rdma_get_send_comp(id, &wc) < 1, "rdma_get_send_comp");
    return wc.status;
}

static enum ibv_wc_status post(struct rdma_cm_id *id, struct ibv_mr *mr, enum ibv_wr_opcode op,
                               uint32_t len, uint64_t raddr, uint32_t rkey)
{
    struct ibv_sge sge = {(uintptr_t)mr->addr, len, mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = op}, *bad;

    wr.wr.rdma.remote_addr = raddr;
    wr.wr.rdma.rkey = rkey;
    if (op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = raddr;
        wr.wr.atomic.rkey = rkey;
        memcpy(&wr.wr.atomic.compare_add, (uint8_t *)mr->addr + 8, 8);
        memcpy(&wr.wr.atomic.swap, (uint8_t *)mr->addr + 16, 8);
    }
    must(ibv_post_send(id->qp, &wr, &bad), "ibv_post_send");
    return completion(id);
}

/* The first word of the peer's memory: what was there comes back, what is there then is read. */
static void atomic(struct rdma_cm_id *id, struct ibv_mr *mr, const struct offer *to, int swap)
{
    uint64_t *w = mr->addr, was, add = 0x0123456789abcdefull, now;
    enum ibv_wc_status st;

    st = post(id, mr, IBV_WR_RDMA_READ, 8, to->va, to->rkey);
    was = w[0];
    w[1] = swap ? was : add;
    w[2] = add;
    now = swap ? add : was + add;
    st = st ? st
            : post(id, mr, swap ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD, 8,
                   to->va, to->rkey);
    say(!st && w[0] == was, swap ? "cas: what was there" : "fadd: what was there");
    st = st ? st : post(id, mr, IBV_WR_RDMA_READ, 8, to->va, to->rkey);
    say(!st && w[0] == now, swap ? "cas: what is there" : "fadd: what is there");
}

/* SENDs of growing length; to an end that echoes, each comes back. */
static void sends(struct rdma_cm_id *id, struct ibv_mr *mr, const struct offer *to)
{
    uint8_t *back = (uint8_t *)mr->addr + REGION / 2;
    uint32_t good = 0, n = 0;

    for (uint32_t len = 1; len <= MSG; len = len * 3 + 1, n++) {
        struct ibv_wc wc;

        fill(mr->addr, len, PATTERN + n);
        memset(back, 0, MSG);
        must(rdma_post_recv(id, NULL, back, MSG, mr), "rdma_post_recv");
        if (post(id, mr, IBV_WR_SEND, len, 0, 0))
            break;
        if (to->recv != 2) {
            good++;
            continue;
        }
        must(rdma_get_recv_comp(id, &wc) < 1, "rdma_get_recv_comp");
        good += !wc.status && wc.byte_len == len && right_bytes(back, len, PATTERN + n) == len;
    }
    printf("%u of %u SENDs\n", good, n);
    say(n && good == n, "send");
}

static void operate(struct rdma_cm_id *id, struct ibv_mr *mr, const struct offer *to,
                    const char *op)
{
    uint32_t len = to->len < REGION ? to->len : REGION;

    if (!strcmp(op, "write")) {
        fill(mr->addr, len, PATTERN);
        say(!post(id, mr, IBV_WR_RDMA_WRITE, len, to->va, to->rkey), op);
    } else if (!strcmp(op, "read")) {
        memset(mr->addr, 0, len);
        say(!post(id, mr, IBV_WR_RDMA_READ, len, to->va, to->rkey), op);
        say(right_bytes(mr->addr, len, to->pattern) == len, "read: as the offer says");
    } else if (!strcmp(op, "read_back")) {
        memset(mr->addr, 0, len);
        say(!post(id, mr, IBV_WR_RDMA_READ, len, to->va, to->rkey), op);
        say(right_bytes(mr->addr, len, PATTERN) == len, "read_back: what was written");
    } else if (!strcmp(op, "send")) {
        sends(id, mr, to);
    } else if (!strcmp(op, "cas") || !strcmp(op, "fadd")) {
        atomic(id, mr, to, op[0] == 'c');
    } else if (!strcmp(op, "bad_rkey")) {
        say(post(id, mr, IBV_WR_RDMA_WRITE, 64, to->va, to->rkey ^ 1) == IBV_WC_REM_ACCESS_ERR, op);
    } else if (!strcmp(op, "bad_va")) {
        say(post(id, mr, IBV_WR_RDMA_WRITE, 64, to->va + to->len - 63, to->rkey) ==
                IBV_WC_REM_ACCESS_ERR,
            op);
    } else {
        say(0, op);
    }
}

static void print_offer(const char *whose, const struct offer *o)
{
    printf("%s: %u bytes at 0x%llx, rkey 0x%x, pattern %u, recv %u\n", whose, o->len,
           (unsigned long long)o->va, o->rkey, o->pattern, o->recv);
    fflush(stdout);
}

static int connect_to(char **arg, int n)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *res;
    struct rdma_conn_param param = {.responder_resources = 4,
                                    .initiator_depth = 4,
                                    .retry_count = 7,
                                    .rnr_retry_count = 7,
                                    .private_data_len = OFFER_LEN};
    struct ibv_qp_init_attr attr = qp_attr();
    struct rdma_cm_id *id;
    struct offer ours, theirs;
    struct ibv_mr *mr;

    must(rdma_getaddrinfo(arg[0], arg[1], &hints, &res), "rdma_getaddrinfo");
    must(rdma_create_ep(&id, res, NULL, &attr), "rdma_create_ep");
    mr = region(id, REGION);
    fill(mr->addr, REGION, PATTERN);
    ours = offer_of(mr, REGION, n > 2 && strchr("ws", arg[2][0]) ? PATTERN : 0);
    ours.does = n > 2 && !strcmp(arg[2], "send") ? SENDS : WRITES;
    param.private_data = &ours;
    if (rdma_connect(id, &param)) {
        printf("no connection: %s, status %d\n",
               id->event ? rdma_event_str(id->event->event) : "no event",
               id->event ? id->event->status : 0);
        return 1;
    }
    theirs = offered(id->event);
    print_offer("the peer's memory", &theirs);
    for (int i = 2; i < n; i++)
        operate(id, mr, &theirs, arg[i]);
    must(rdma_disconnect(id), "rdma_disconnect");
    say(1, "disconnected");
    rdma_destroy_ep(id);
    rdma_freeaddrinfo(res);
    return failed;
}

/* What took receives: SENDs, of which the n-th was to hold the peer's pattern + n, and WRITEs with
 * immediate data. Immediate data of the n-th is n. */
static void received(struct rdma_cm_id *id, const uint8_t *at, const struct offer *theirs)
{
    uint32_t n = 0, sends = 0, right = 0, bytes = 0, imms = 0;
    struct ibv_wc wc;
    char text[128];

    for (; ibv_poll_cq(id->recv_cq, 1, &wc) > 0 && !wc.status; n++) {
        imms += !(wc.wc_flags & IBV_WC_WITH_IMM) || be32toh(wc.imm_data) == n;
        if (wc.opcode != IBV_WC_RECV)
            continue;
        right += right_bytes(at + wc.wr_id * MSG, wc.byte_len, theirs->pattern + n);
        bytes += wc.byte_len;
        sends++;
    }
    if (!n && theirs->does != SENDS)
        return;
    snprintf(text, sizeof(text), "%u SENDs, %u of %u bytes are the peer's patterns", sends, right,
             bytes);
    say((sends || theirs->does != SENDS) && right == bytes, text);
    snprintf(text, sizeof(text), "immediate data of %u of %u", imms, n);
    say(imms == n, text);
}

/* What the peer's atomics have left. */
static uint64_t left(const struct offer *o)
{
    uint32_t n = o->len / 8;

    return o->does == ADDS ? word_of(PATTERN, 0) + n * word_of(o->pattern, 0)
                           : word_of(o->pattern, n - 1);
}

/* What the REQ announced is here. */
static void judge(const uint8_t *at, const struct offer *theirs)
{
    uint32_t pattern = theirs->does == WRITES ? theirs->pattern : PATTERN;
    uint32_t len = theirs->does == WRITES && theirs->len < REGION ? theirs->len : REGION, right;
    char text[96];

    if (theirs->does == ADDS || theirs->does == SWAPS) {
        snprintf(text, sizeof(text), "the word that %u atomics leave", theirs->len / 8);
        say(!memcmp(at, &(uint64_t){htole64(left(theirs))}, 8), text);
        return;
    }
    right = right_bytes(at, len, pattern);
    snprintf(text, sizeof(text), "%u of %u bytes are the %s", right, len,
             theirs->does == WRITES ? "peer's pattern" : "pattern that was read");
    say(right == len, text);
}

/* One connection: what its REQ announced is here when the peer has disconnected. */
static void serve(struct rdma_cm_id *id)
{
    struct ibv_mr *mr = region(id, REGION), *inbox = region(id, RECEIVES * MSG);
    struct offer theirs = offered(id->event), ours = offer_of(mr, REGION, PATTERN);
    struct rdma_conn_param param = {.responder_resources = 4,
                                    .initiator_depth = 4,
                                    .rnr_retry_count = 7,
                                    .private_data = &ours,
                                    .private_data_len = OFFER_LEN};
    struct rdma_cm_event *ev;
    int gone;

    print_offer("the peer's memory", &theirs);
    fill(mr->addr, REGION, PATTERN);
    for (int i = 0; i < RECEIVES; i++)
        must(rdma_post_recv(id, (void *)(uintptr_t)i, (uint8_t *)inbox->addr + i * MSG, MSG, inbox),
             "rdma_post_recv");
    ours.recv = 1;
    must(rdma_accept(id, &param), "rdma_accept");
    /* a peer whose RTU was lost may be gone before that is found out */
    gone = id->event && id->event->event == RDMA_CM_EVENT_DISCONNECTED;
    while (!gone) {
        must(rdma_get_cm_event(id->channel, &ev), "rdma_get_cm_event");
        gone = ev->event == RDMA_CM_EVENT_DISCONNECTED;
        rdma_ack_cm_event(ev);
    }
    received(id, inbox->addr, &theirs);
    if (theirs.does != SENDS)
        judge(mr->addr, &theirs);
    rdma_disconnect(id);
    rdma_destroy_ep(id);
}

static int listen_for(char **arg, int n)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_PASSIVE}, *res;
    struct ibv_qp_init_attr attr = qp_attr();
    struct rdma_cm_id *listener, *id;

    must(rdma_getaddrinfo("::", arg[0], &hints, &res), "rdma_getaddrinfo"); /* IPv4 too */
    must(rdma_create_ep(&listener, res, NULL, &attr), "rdma_create_ep");
    must(rdma_listen(listener, 4), "rdma_listen");
    printf("listening\n");
    fflush(stdout);
    for (int i = n > 1 ? atoi(arg[1]) : 1; i > 0; i--) {
        must(rdma_get_request(listener, &id), "rdma_get_request");
        serve(id);
    }
    rdma_destroy_ep(listener);
    rdma_freeaddrinfo(res);
    return failed;
}

/* --- datagrams: port space UDP ---------------------------------------------------------------- */

enum { GRH = 40, ROOM = GRH + MSG };

/* The QP of a datagram service, whose n-th receive lies in the n-th room. */
static struct ibv_mr *rooms(struct rdma_cm_id *id)
{
    struct ibv_mr *mr = region(id, (RECEIVES + 1) * ROOM);

    for (int i = 0; i < RECEIVES; i++)
        must(rdma_post_recv(id, (void *)(uintptr_t)i, (uint8_t *)mr->addr + i * ROOM, ROOM, mr),
             "rdma_post_recv");
    return mr;
}

/* The next that comes: behind 40 bytes, of which the last 20 are the IPv4 header, or all IPv6. */
static uint8_t *next_datagram(struct rdma_cm_id *id, struct ibv_mr *mr, struct ibv_wc *wc)
{
    uint8_t *at;

    must(rdma_get_recv_comp(id, wc) < 1 || wc->status, "rdma_get_recv_comp");
    at = (uint8_t *)mr->addr + wc->wr_id * ROOM;
    if (wc->byte_len < GRH || !(wc->wc_flags & IBV_WC_GRH) ||
        (at[0] >> 4 != 6 && at[GRH - 20] != 0x45)) {
        say(0, "40 bytes in front of a datagram");
        exit(1);
    }
    return at;
}

static void post_again(struct rdma_cm_id *id, struct ibv_mr *mr, const struct ibv_wc *wc)
{
    must(rdma_post_recv(id, (void *)(uintptr_t)wc->wr_id, (uint8_t *)mr->addr + wc->wr_id * ROOM,
                        ROOM, mr),
         "rdma_post_recv");
}

static void judge_datagrams(uint32_t n, uint32_t good)
{
    char text[96];

    snprintf(text, sizeof(text), "%u of %u datagrams are as announced", good, n);
    say(n && good == n, text);
}

static struct ibv_qp_init_attr ud_attr(void)
{
    struct ibv_qp_init_attr attr = qp_attr();

    attr.qp_type = IBV_QPT_UD;
    return attr;
}

static int send_datagrams(char **arg)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_UDP}, *res;
    struct ibv_qp_init_attr attr = ud_attr();
    struct offer ours = {.version = 1, .does = SENDS, .pattern = htobe32(PATTERN)}, theirs;
    struct rdma_conn_param param = {.private_data = &ours, .private_data_len = OFFER_LEN};
    uint32_t good = 0, n = (uint32_t)atoi(arg[2]);
    struct rdma_cm_id *id;
    struct ibv_ah *ah;
    struct ibv_mr *mr;
    uint8_t *out;

    must(rdma_getaddrinfo(arg[0], arg[1], &hints, &res), "rdma_getaddrinfo");
    must(rdma_create_ep(&id, res, NULL, &attr), "rdma_create_ep");
    mr = rooms(id);
    out = (uint8_t *)mr->addr + RECEIVES * ROOM;
    ours.rkey = htobe32(id->qp->qp_num);
    if (rdma_connect(id, &param)) {
        printf("no service: %s, status %d\n",
               id->event ? rdma_event_str(id->event->event) : "no event",
               id->event ? id->event->status : 0);
        return 1;
    }
    theirs = offered(id->event);
    printf("queue pair 0x%x, Q_Key 0x%x, %u bytes at most, recv %u\n", id->event->param.ud.qp_num,
           id->event->param.ud.qkey, theirs.len, theirs.recv);
    ah = ibv_create_ah(id->pd, &id->event->param.ud.ah_attr);
    must(!ah, "ibv_create_ah");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = 1 + i * 37 % (theirs.len < 1024 ? theirs.len : 1024);
        struct ibv_wc wc;
        uint8_t *back;

        fill(out, len, PATTERN + i);
        must(rdma_post_ud_send(id, NULL, out, len, mr, IBV_SEND_SIGNALED, ah,
                               id->event->param.ud.qp_num),
             "rdma_post_ud_send");
        must(completion(id), "completion");
        if (theirs.recv != 2) {
            good++;
            continue;
        }
        back = next_datagram(id, mr, &wc) + GRH;
        good += wc.byte_len == GRH + len && wc.src_qp == id->event->param.ud.qp_num &&
                right_bytes(back, len, PATTERN + i) == len;
        post_again(id, mr, &wc);
    }
    judge_datagrams(n, good);
    ibv_destroy_ah(ah);
    rdma_destroy_ep(id);
    rdma_freeaddrinfo(res);
    return failed;
}

static void send_back(struct rdma_cm_id *id, struct ibv_mr *mr, struct ibv_wc *wc, uint8_t *at)
{
    struct ibv_ah *ah = ibv_create_ah_from_wc(id->pd, wc, (struct ibv_grh *)at, 1);

    must(!ah, "ibv_create_ah_from_wc");
    must(rdma_post_ud_send(id, NULL, at + GRH, wc->byte_len - GRH, mr, IBV_SEND_SIGNALED, ah,
                           wc->src_qp),
         "rdma_post_ud_send");
    must(completion(id), "completion");
    ibv_destroy_ah(ah);
}

static int echo_datagrams(char **arg)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_UDP, .ai_flags = RAI_PASSIVE}, *res;
    struct ibv_qp_init_attr attr = ud_attr();
    struct offer ours = {.version = 1, .recv = 2, .len = htobe32(MSG)}, theirs;
    struct rdma_conn_param param = {.private_data = &ours, .private_data_len = OFFER_LEN};
    uint32_t good = 0, n = (uint32_t)atoi(arg[1]);
    struct rdma_cm_id *listener, *id;
    struct ibv_mr *mr;

    must(rdma_getaddrinfo("::", arg[0], &hints, &res), "rdma_getaddrinfo"); /* IPv4 too */
    must(rdma_create_ep(&listener, res, NULL, &attr), "rdma_create_ep");
    must(rdma_listen(listener, 4), "rdma_listen");
    must(rdma_get_request(listener, &id), "rdma_get_request");
    theirs = offered(id->event);
    mr = rooms(id);
    must(rdma_accept(id, &param), "rdma_accept");
    for (uint32_t i = 0; i < n; i++) {
        struct ibv_wc wc;
        uint8_t *at = next_datagram(id, mr, &wc);
        uint32_t len = wc.byte_len - GRH;

        good += wc.src_qp == theirs.rkey && right_bytes(at + GRH, len, theirs.pattern + i) == len &&
                (!(wc.wc_flags & IBV_WC_WITH_IMM) || be32toh(wc.imm_data) == theirs.rkey);
        send_back(id, mr, &wc, at);
        post_again(id, mr, &wc);
    }
    judge_datagrams(n, good);
    rdma_destroy_ep(id);
    rdma_destroy_ep(listener);
    rdma_freeaddrinfo(res);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "connect"))
        return connect_to(argv + 2, argc - 2);
    if (argc > 2 && !strcmp(argv[1], "listen"))
        return listen_for(argv + 2, argc - 2);
    if (argc > 4 && !strcmp(argv[1], "datagrams"))
        return send_datagrams(argv + 2);
    if (argc > 3 && !strcmp(argv[1], "echo"))
        return echo_datagrams(argv + 2);
    fprintf(stderr, "usage: peer connect ADDRESS PORT OP... | peer listen PORT [COUNT]\n"
                    "       peer datagrams ADDRESS PORT N | peer echo PORT N\n");
    return 2;
}
