/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tests of live fabrics share: network namespaces with a veth each, whose other end weft
 * takes, raw sockets in them, and a fabric that runs in a thread of its own. All times that a test
 * judges are fabric time, as a tap at a port sees it; wall time only bounds how long it waits.
 */
#ifndef WEFT_TESTS_LIVE_H
#define WEFT_TESTS_LIVE_H

#include <pthread.h>
#include <signal.h>

#include "attach/edges.h"
#include "fabric/run.h"

/* A namespace with one interface "eth0"; its other end is `iface` here. */
struct lv_ns {
    char name[16], iface[16];
    uint8_t mac[6]; /* of eth0 */
    int raw;        /* packet socket on eth0, non-blocking */
    bool made;
};

/* Exits with 77 and the reason when there are no namespaces here. */
void lv_need_namespaces(void);
/* ip: "10.0.0.1/16", gw NULL: none. Offloads that leave checksums or sizes to a NIC are off. */
void lv_ns_make(struct lv_ns *ns, unsigned n, unsigned mtu, const char *ip, const char *gw);
void lv_ns_drop(struct lv_ns *ns);
/* Run a shell command, printed when it fails; asserts that it succeeds. */
void lv_sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A socket inside the namespace. */
int lv_ns_socket(const struct lv_ns *ns, int family, int type, int protocol);
void lv_send(const struct lv_ns *ns, const void *frame, size_t len);
/* The next frame of this EtherType (0: any) that came to eth0 from outside; its length, or -1
 * when none came within the time. */
int lv_recv(const struct lv_ns *ns, uint16_t ethertype, void *buf, size_t len, int timeout_ms);

enum { LV_SEEN = 20000 };

struct lv_seen {
    uint64_t t_ps;
    enum wf_tap_dir dir;
    enum wf_reason why;
    uint32_t len;
    uint8_t prio;
    bool control;
};

struct lv_tap {
    struct wf_tap tap; /* first */
    uint32_t n;
    struct lv_seen seen[LV_SEEN];
};

struct lv {
    struct wf_arena arena;
    struct wf_desc desc;
    struct wf_edges edges;
    struct wf_fabric *f;
    struct wf_run run;
    pthread_t thread;
    bool open, running;
    volatile sig_atomic_t stop;
    enum wf_run_end how;
    char said[4096]; /* what the edges told the user */
    pthread_mutex_t said_lock;
    struct wf_poller counting;
    uint64_t polls;
};

/* A leaf-spine description to be edited; lv_start builds it and runs it. */
void lv_desc(struct lv *l, uint32_t leaves, uint32_t spines, uint32_t hosts_per_leaf);
void lv_attach(struct lv *l, uint32_t host, const struct lv_ns *ns);
int lv_open(struct lv *l, struct wf_err *err); /* without the thread; cleaned up on an error */
void lv_start(struct lv *l);
void lv_tap(struct lv *l, const char *port, struct lv_tap *tap);
void lv_go(struct lv *l);   /* start the thread */
void lv_stop(struct lv *l); /* and check what never gives */
void lv_free(struct lv *l);
/* After a failed test: stop, print the counters that are not zero, free. */
void lv_abandon(struct lv *l);
bool lv_said(struct lv *l, const char *text);

#endif
