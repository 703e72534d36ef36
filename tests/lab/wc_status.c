/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A verbs program for a guest: one RC queue pair to the same program elsewhere, some work requests,
 * and each completion by the name of its status, as an application sees it.
 *
 *   wc_status                                     the responder, for one peer
 *   wc_status PEER OP SIZE COUNT [KEY=NUMBER]...  the requester; OP: write, send, read
 *
 *   wc_status events N                            N asynchronous events of the device, by name
 *
 * Keys: timeout (14), retry (7), rnr_retry (7), seq (0: all are posted at once; 1: one after the
 * other), psn (1000: of the first request), tclass (0; 2: ECN-capable). The responder says how much
 * of its memory the requests have filled. Local to tests: it takes rxe0 and its GID 1, and
 * exchanges numbers over TCP.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 7471, MEMORY = 1 << 20, RECVS = 64, WAIT_S = 20, FILL = 0x5a };

static struct {
    int timeout, retry, rnr_retry, seq, psn, tclass;
} opt = {14, 7, 7, 0, 1000, 0};

struct hello {
    uint32_t qpn, psn, rkey, unused;
    uint64_t addr;
    union ibv_gid gid;
};

static struct ibv_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t *memory;

static void must(int ok, const char *what)
{
    if (ok)
        return;
    printf("cannot %s: %s\n", what, strerror(errno));
    exit(3);
}

static void open_device(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_pd *pd;

    must(list && list[0], "find a device");
    ctx = ibv_open_device(list[0]);
    must(ctx != NULL, "open the device");
    pd = ibv_alloc_pd(ctx);
    memory = calloc(1, MEMORY);
    mr = ibv_reg_mr(pd, memory, MEMORY,
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    must(mr != NULL, "register memory");
    cq = ibv_create_cq(ctx, 4 * RECVS, NULL, NULL, 0);
    qp = ibv_create_qp(pd, &(struct ibv_qp_init_attr){.send_cq = cq,
                                                      .recv_cq = cq,
                                                      .cap = {.max_send_wr = 2 * RECVS,
                                                              .max_recv_wr = 2 * RECVS,
                                                              .max_send_sge = 1,
                                                              .max_recv_sge = 1},
                                                      .qp_type = IBV_QPT_RC});
    must(qp != NULL, "create a queue pair");
}

static int peer(const char *name)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_ANY)};
    int s = socket(AF_INET, SOCK_STREAM, 0), c = -1, one = 1;
    struct addrinfo hint = {.ai_family = AF_INET}, *found;

    if (!name) {
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        must(!bind(s, (struct sockaddr *)&a, sizeof(a)) && !listen(s, 1), "listen");
        c = accept(s, NULL, NULL);
        close(s);
        must(c >= 0, "accept");
        return c;
    }
    must(!getaddrinfo(name, NULL, &hint, &found), "resolve the peer");
    a.sin_addr = ((struct sockaddr_in *)found->ai_addr)->sin_addr;
    for (int i = 0; i < 100; i++) {
        s = socket(AF_INET, SOCK_STREAM, 0);
        if (!connect(s, (struct sockaddr *)&a, sizeof(a)))
            return s;
        close(s);
        usleep(100000);
    }
    must(0, "connect");
    return -1;
}

static struct hello exchange(int s)
{
    struct hello me = {.qpn = qp->qp_num,
                       .psn = (uint32_t)opt.psn,
                       .rkey = mr->rkey,
                       .addr = (uint64_t)(uintptr_t)memory},
                 you;

    must(!ibv_query_gid(ctx, 1, 1, &me.gid), "ask for GID 1");
    must(write(s, &me, sizeof(me)) == sizeof(me), "send");
    must(recv(s, &you, sizeof(you), MSG_WAITALL) == sizeof(you), "receive");
    return you;
}

static void connect_qp(const struct hello *you)
{
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
                            .port_num = 1,
                            .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    struct ibv_port_attr port;

    must(!ibv_modify_qp(qp, &a,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
         "bring the queue pair to INIT");
    must(!ibv_query_port(ctx, 1, &port), "ask for the port");
    a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                             .path_mtu = IBV_MTU_1024,
                             .dest_qp_num = you->qpn,
                             .rq_psn = you->psn,
                             .max_dest_rd_atomic = 4,
                             .min_rnr_timer = 12,
                             .ah_attr = {.is_global = 1,
                                         .port_num = 1,
                                         .grh = {.dgid = you->gid,
                                                 .sgid_index = 1,
                                                 .hop_limit = 64,
                                                 .traffic_class = (uint8_t)opt.tclass}}};
    must(!ibv_modify_qp(qp, &a,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
         "bring the queue pair to RTR");
    a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                             .sq_psn = (uint32_t)opt.psn,
                             .timeout = (uint8_t)opt.timeout,
                             .retry_cnt = (uint8_t)opt.retry,
                             .rnr_retry = (uint8_t)opt.rnr_retry,
                             .max_rd_atomic = 4};
    must(!ibv_modify_qp(qp, &a,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                            IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
         "bring the queue pair to RTS");
}

/* The names of verbs.h, which applications print. */
static const char *name_of(enum ibv_wc_status s)
{
    static const char *const names[] = {
        [IBV_WC_SUCCESS] = "IBV_WC_SUCCESS",
        [IBV_WC_LOC_LEN_ERR] = "IBV_WC_LOC_LEN_ERR",
        [IBV_WC_LOC_PROT_ERR] = "IBV_WC_LOC_PROT_ERR",
        [IBV_WC_WR_FLUSH_ERR] = "IBV_WC_WR_FLUSH_ERR",
        [IBV_WC_REM_INV_REQ_ERR] = "IBV_WC_REM_INV_REQ_ERR",
        [IBV_WC_REM_ACCESS_ERR] = "IBV_WC_REM_ACCESS_ERR",
        [IBV_WC_REM_OP_ERR] = "IBV_WC_REM_OP_ERR",
        [IBV_WC_RETRY_EXC_ERR] = "IBV_WC_RETRY_EXC_ERR",
        [IBV_WC_RNR_RETRY_EXC_ERR] = "IBV_WC_RNR_RETRY_EXC_ERR",
    };

    return s < sizeof(names) / sizeof(names[0]) && names[s] ? names[s] : ibv_wc_status_str(s);
}

static void wait_for(int n)
{
    time_t end = time(NULL) + WAIT_S;
    struct ibv_wc wc;

    while (n && time(NULL) < end) {
        int got = ibv_poll_cq(cq, 1, &wc);

        must(got >= 0, "poll");
        if (got) {
            printf("wc %s\n", name_of(wc.status));
            n--;
        } else {
            usleep(200);
        }
    }
    if (n)
        printf("wc none in %d s\n", WAIT_S);
}

static void request(const char *op, uint32_t size, int count, const struct hello *you)
{
    memset(memory, *op == 'r' ? 0 : FILL, MEMORY);
    for (int i = 0; i < count; i++) {
        uint64_t at = (uint64_t)i * size % (MEMORY - size + 1);
        struct ibv_sge sge = {(uint64_t)(uintptr_t)memory + at, size, mr->lkey};
        struct ibv_send_wr *bad,
            wr = {.wr_id = (uint64_t)i,
                  .sg_list = &sge,
                  .num_sge = 1,
                  .opcode = *op == 'w'   ? IBV_WR_RDMA_WRITE
                            : *op == 's' ? IBV_WR_SEND
                                         : IBV_WR_RDMA_READ,
                  .send_flags = IBV_SEND_SIGNALED,
                  .wr.rdma = {.remote_addr = you->addr + at, .rkey = you->rkey}};

        must(!ibv_post_send(qp, &wr, &bad), "post");
        if (opt.seq)
            wait_for(1);
    }
    if (!opt.seq)
        wait_for(count);
}

static void respond(int s)
{
    char c;
    uint32_t n = 0;

    memset(memory, 0, MEMORY);
    must(write(s, "r", 1) == 1, "send");
    must(read(s, &c, 1) >= 0, "wait for the peer");
    for (uint32_t i = 0; i < MEMORY; i++)
        n += memory[i] == FILL;
    printf("filled %u\n", n);
}

static void post_receives(void)
{
    for (int i = 0; i < RECVS; i++) {
        struct ibv_sge sge = {(uint64_t)(uintptr_t)memory, MEMORY, mr->lkey};
        struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};

        must(!ibv_post_recv(qp, &wr, &bad), "post a receive");
    }
}

static void option(const char *text)
{
    static const struct {
        const char *key;
        int *value;
    } keys[] = {{"timeout=", &opt.timeout}, {"retry=", &opt.retry}, {"rnr_retry=", &opt.rnr_retry},
                {"seq=", &opt.seq},         {"psn=", &opt.psn},     {"tclass=", &opt.tclass}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!strncmp(text, keys[i].key, strlen(keys[i].key))) {
            *keys[i].value = atoi(text + strlen(keys[i].key));
            return;
        }
    printf("'%s' is no option\n", text);
    exit(2);
}

/* The port's, when its link goes down and up again. */
static void events(int n)
{
    struct ibv_async_event e;

    printf("waiting\n");
    while (n && !ibv_get_async_event(ctx, &e)) {
        bool port = e.event_type == IBV_EVENT_PORT_ERR || e.event_type == IBV_EVENT_PORT_ACTIVE;

        if (port)
            printf("wc %s\n", e.event_type == IBV_EVENT_PORT_ERR ? "IBV_EVENT_PORT_ERR"
                                                                 : "IBV_EVENT_PORT_ACTIVE");
        n -= port;
        ibv_ack_async_event(&e);
    }
}

int main(int argc, char **argv)
{
    bool requests = argc >= 5;
    struct hello you;
    char ready;
    int s;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 5; i < argc; i++)
        option(argv[i]);
    open_device();
    if (argc == 3 && !strcmp(argv[1], "events")) {
        events(atoi(argv[2]));
        return 0;
    }
    s = peer(requests ? argv[1] : NULL);
    you = exchange(s);
    connect_qp(&you);
    if (requests) {
        must(read(s, &ready, 1) == 1, "wait for the peer");
        request(argv[2], (uint32_t)atoi(argv[3]), atoi(argv[4]), &you);
    } else {
        post_receives();
        respond(s);
    }
    close(s);
    return 0;
}
