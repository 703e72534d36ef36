/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/edges.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attach/ingress.h"

enum {
    FRAMES_PER_EDGE = 512, /* besides its FIFO: in the device, in the port, in the fabric */
    FRAMES_SHARED = 2048,
    BUSY_NS = 50000,
    IDLE_NS = 500000, /* when nothing has come for a while */
    LOOK_NS = 100000000,
    PROBES = 50, /* one at each look, until the peer has answered */
};

void wf_edges_say(struct wf_edges *es, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (!es->say)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    es->say(es->arg, text);
}

static struct wf_node *make_host(void *arg, struct wf_fabric *f, uint32_t host)
{
    const struct wf_desc_host *h = &f->desc->hosts[host];
    struct wf_edges *es = arg;
    struct wf_edge *e;

    if (h->cfg.attach.type == WF_ATTACH_NONE || es->n == WF_EDGES_MAX)
        return NULL;
    e = WF_ARENA_NEW(&f->arena, struct wf_edge);
    e->node.ops = &wf_edge_ops;
    e->owner = es;
    e->cfg = &h->cfg;
    e->host = host;
    e->dev = (struct wf_edge_dev){
        .kind = wf_attach_kinds[h->cfg.attach.type],
        .cfg = &h->cfg.attach,
        .host = h->name,
        .run_dir = es->run_dir,
        .mtu_asked = h->cfg.mtu,
        .port = WF_EDGE_NO_PORT,
        .lock_fd = -1,
    };
    e->mtu = e->dev.mtu_asked;
    e->index = es->n;
    es->edges[es->n++] = e;
    return &e->node;
}

static void look(struct wf_edge *e)
{
    static const char *const what[] = {"is up", "is down", "has vanished: its port is dead"};
    enum wf_peer_state state = e->dev.kind->look(&e->dev);
    uint64_t missed = wf_edge_dev_missed(&e->dev);

    if ((state == WF_PEER_UP) != e->peer_up || (state == WF_PEER_GONE && e->dev.started)) {
        wf_edges_say(e->owner, "%s: %s %s", e->node.name, e->dev.where, what[state]);
        wf_ingress_peer(e, state == WF_PEER_UP);
    } else if (!e->peer_up && wf_edge_port(e)->link->up) {
        wf_ingress_peer(e, false); /* somebody brought up a link that leads nowhere */
    }
    if (e->dev.mtu != e->mtu)
        wf_ingress_mtu(e, e->dev.mtu);
    if (e->peer_up && !e->mac_learned && e->probes < PROBES)
        wf_ingress_probe(e);
    if (missed != e->ctr[WF_EDGE_MISSED_FRAMES])
        wf_ingress_count(e, WF_EDGE_MISSED_FRAMES, missed);
    if (state == WF_PEER_GONE)
        wf_edge_dev_close(&e->dev);
}

static unsigned edges_poll(struct wf_poller *p, struct wf_fabric *f, uint64_t *next_ns)
{
    struct wf_edges *es = (struct wf_edges *)p;
    uint64_t now = wf_wall_ns();
    bool due = now >= es->due_ns, look_due = now >= es->look_ns;
    unsigned work = 0;

    for (uint32_t i = 0; i < es->n; i++) {
        struct wf_edge *e = es->edges[i];

        if (look_due && e->dev.started)
            look(e);
        if (e->fifo_count && (due || e->fresh))
            work += wf_edge_flush(e);
        if (due)
            work += wf_edge_pull(e);
    }
    if (look_due)
        es->look_ns = now + LOOK_NS;
    if (work)
        es->interval_ns = BUSY_NS;
    else if (due && es->interval_ns < IDLE_NS)
        es->interval_ns += es->interval_ns / 16 + 1;
    if (due || work)
        es->due_ns = now + es->interval_ns;
    *next_ns = es->due_ns;
    return work;
}

void wf_edges_init(struct wf_edges *es, const char *run_dir,
                   void (*say)(void *arg, const char *text), void *arg)
{
    memset(es, 0, sizeof(*es));
    es->poller.poll = edges_poll;
    es->run_dir = run_dir;
    es->say = say;
    es->arg = arg;
    es->interval_ns = BUSY_NS;
}

void wf_edges_opts(struct wf_edges *es, const struct wf_desc *d, struct wf_fabric_opts *opts)
{
    unsigned frames = 0;

    for (uint32_t i = 0; i < d->n_hosts; i++)
        if (d->hosts[i].cfg.attach.type != WF_ATTACH_NONE)
            frames += d->hosts[i].cfg.attach.fifo_frames + FRAMES_PER_EDGE;
    opts->make_host = make_host;
    opts->arg = es;
    opts->full_frames += frames ? frames + FRAMES_SHARED : 0;
}

/* What the peer may send and take against what the scenario says (a frame that fits on one side
 * only vanishes one way, and that is hard to see). */
static void compare_mtu(struct wf_edge *e)
{
    uint32_t link = wf_edge_port(e)->link->cfg.mtu;

    if (e->dev.mtu < e->dev.mtu_asked)
        wf_edges_say(e->owner,
                     "%s: %s takes an MTU of %u, the scenario says %u: longer frames are dropped "
                     "here (edge_too_long)",
                     e->node.name, e->dev.where, e->dev.mtu, e->dev.mtu_asked);
    if (e->dev.mtu_asked > link)
        wf_edges_say(e->owner,
                     "%s: the host's MTU is %u, its link's %u: longer frames are dropped (mtu)",
                     e->node.name, e->dev.mtu_asked, link);
}

/* A veth's other end may be shorter than ours; a bridge keeps what is for the next hop only. */
static void tell_far_end(struct wf_edge *e)
{
    const struct wf_far_end *far = &e->dev.far;

    if (far->mtu && far->mtu < e->dev.mtu_asked)
        wf_edges_say(e->owner,
                     "%s: the other end of %s takes an MTU of %u, the scenario says %u: longer "
                     "frames get lost there, uncounted",
                     e->node.name, e->dev.where, far->mtu, e->dev.mtu_asked);
    if (far->bridged)
        wf_edges_say(e->owner,
                     "%s: behind %s is a Linux bridge: PFC and pause never cross it, LLDP only "
                     "with 0x4000 in its group_fwd_mask",
                     e->node.name, e->dev.where);
}

static void first_look(struct wf_edge *e)
{
    enum wf_peer_state state = e->dev.kind->look(&e->dev);

    wf_ingress_mtu(e, e->dev.mtu);
    wf_ingress_peer(e, state == WF_PEER_UP);
    if (!e->peer_up)
        wf_edges_say(e->owner, "%s: %s waits for its peer", e->node.name, e->dev.where);
}

void wf_edges_bind(struct wf_edges *es, struct wf_fabric *f)
{
    es->f = f;
}

/* All attached hosts have become edges, and can be. */
static int check(struct wf_edges *es, struct wf_fabric *f, struct wf_err *err)
{
    uint32_t want = 0;

    for (uint32_t i = 0; i < f->desc->n_hosts; i++)
        want += f->desc->hosts[i].cfg.attach.type != WF_ATTACH_NONE;
    if (want > es->n)
        return wf_err_set(err, E2BIG, "%u attached hosts, at most %d are possible", want,
                          WF_EDGES_MAX);
    for (uint32_t i = 0; i < es->n; i++)
        if (es->edges[i]->node.n_ports != 1)
            return wf_err_set(err, EINVAL, "%s: an attached host has one link, not %u",
                              es->edges[i]->node.name, es->edges[i]->node.n_ports);
    return 0;
}

int wf_edges_open(struct wf_edges *es, struct wf_fabric *f, struct wf_err *err)
{
    int rc = check(es, f, err);

    wf_edges_bind(es, f);
    for (uint32_t i = 0; i < es->n && !rc; i++)
        rc = wf_edge_dev_open(&es->edges[i]->dev, f->nets[0].full_pool, err);
    if (rc)
        wf_edges_close(es);
    es->opening = true;
    for (uint32_t i = 0; i < es->n && !rc; i++) {
        compare_mtu(es->edges[i]);
        tell_far_end(es->edges[i]);
        first_look(es->edges[i]);
    }
    es->opening = false;
    return rc;
}

int wf_edges_repeat(struct wf_edges *es, struct wf_fabric *f, struct wf_err *err)
{
    wf_edges_bind(es, f);
    return check(es, f, err);
}

void wf_edges_close(struct wf_edges *es)
{
    for (uint32_t i = 0; i < es->n; i++) {
        wf_edge_discard(es->edges[i]);
        wf_edge_dev_close(&es->edges[i]->dev);
    }
    es->n = 0;
}

struct wf_edge *wf_edges_find(struct wf_edges *es, const char *host)
{
    for (uint32_t i = 0; i < es->n; i++)
        if (!strcmp(es->edges[i]->node.name, host))
            return es->edges[i];
    return NULL;
}
