/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be known to be wrong with a scenario before it runs: addresses that stand twice, flows
 * without a way, packets that no link takes. With `lossless: best_effort` what is about
 * losslessness is a warning.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/int.h"
#include "scen/scen_priv.h"
#include "xport/work.h"

/* The other end of a link, and this one. */
struct side {
    struct wf_desc_end self, peer;
};

static struct side side_of(const struct wf_scenario *s, uint32_t link, int end)
{
    const struct wf_desc_link *l = &s->desc.links[link];

    return (struct side){end ? l->b : l->a, end ? l->a : l->b};
}

static void check_queues_of(struct wf_scenario *s, const struct wf_switch_port_cfg *port)
{
    char a[32], b[32];

    for (unsigned q = 0; q < WF_QUEUES; q++) {
        const struct wf_ecn_cfg *c = &port->queue[q].ecn;

        if ((c->enable || c->drop) && c->kmin_bytes > c->kmax_bytes)
            wf_scen_complain(s, false, &c->kmin_bytes, NULL,
                             "kmin of queue %u is %s, above kmax, %s", q,
                             wf_bytes_text(c->kmin_bytes, a, sizeof(a)),
                             wf_bytes_text(c->kmax_bytes, b, sizeof(b)));
    }
}

static void check_queues(struct wf_scenario *s)
{
    for (uint32_t i = 0; i < s->desc.n_switches; i++)
        check_queues_of(s, &s->desc.switches[i].cfg.port);
    for (uint32_t i = 0; i < 2 * s->desc.n_links; i++)
        if (s->desc.links[i / 2].port_cfg[i % 2])
            check_queues_of(s, s->desc.links[i / 2].port_cfg[i % 2]);
}

/* Longest L3 packet of a flow: IPv6, UDP, BTH, RETH, immediate, payload, ICRC. */
static uint32_t l3_max(uint32_t path_mtu)
{
    return 40 + 8 + 12 + 16 + 4 + path_mtu + 4;
}

/* Bytes of it that its control asks for. */
static uint32_t telemetry(const struct wf_desc_flow *f)
{
    return f->cfg.control && f->cfg.control->law->flags & WF_CC_INT ? WF_INT_LEN : 0;
}

static uint32_t root_of(uint32_t *parent, uint32_t x)
{
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

/* Connected components over all nodes: switches, then hosts. */
static uint32_t *components(struct wf_scenario *s)
{
    struct wf_desc *d = &s->desc;
    uint32_t n = d->n_switches + d->n_hosts;
    uint32_t *parent = WF_ARENA_ARRAY(&s->arena, uint32_t, n + 1);

    for (uint32_t i = 0; i < n; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < d->n_links; i++) {
        struct wf_desc_end a = d->links[i].a, b = d->links[i].b;
        uint32_t ra = root_of(parent, a.is_host ? d->n_switches + a.index : a.index);
        uint32_t rb = root_of(parent, b.is_host ? d->n_switches + b.index : b.index);

        parent[ra] = rb;
    }
    for (uint32_t i = 0; i < n; i++)
        parent[i] = root_of(parent, i);
    return parent;
}

/* Of each host its link's end at the switch, 2 x link + end. */
static uint32_t *leaves(struct wf_scenario *s)
{
    uint32_t *leaf = WF_ARENA_ARRAY(&s->arena, uint32_t, s->desc.n_hosts + 1);

    for (uint32_t i = 0; i < s->desc.n_links; i++)
        for (int e = 0; e < 2; e++) {
            struct side x = side_of(s, i, e);

            if (x.self.is_host)
                leaf[x.self.index] = 2 * i + (uint32_t)!e;
        }
    return leaf;
}

static const struct wf_switch_port_cfg *leaf_port(const struct wf_scenario *s, uint32_t end)
{
    return wf_desc_port_cfg(&s->desc, end / 2, (int)(end % 2));
}

/* A model that is asked for a connection: it listens there, and takes what is to come. */
static void check_listener(struct wf_scenario *s, const struct wf_scen_work *w,
                           const struct wf_desc_host *to)
{
    const struct wf_listen_cfg *l = &to->cfg.listen;
    bool sends = w->cfg.op == WF_WORK_SEND || w->cfg.op == WF_WORK_SEND_IMM;
    uint64_t room = sends ? l->recv_bytes : l->memory_bytes;

    if (!l->port)
        wf_scen_complain(s, false, &w->cfg.connect, w->at,
                         "%s is a model that does not listen: nobody to connect to", to->name);
    else if (l->port != w->cfg.connect)
        wf_scen_complain(s, false, &w->cfg.connect, w->at,
                         "%s listens at port %u: nobody to connect to at %u", to->name, l->port,
                         w->cfg.connect);
    else if ((w->cfg.program == WF_PROGRAM_RPING) != (l->recv == WF_LISTEN_RPING))
        wf_scen_complain(s, false, &w->cfg.program, w->at,
                         "program: of %s and of the flow one speaks rping (listen.recv), one not",
                         to->name);
    else if (w->cfg.service == WF_FLOW_UD && l->recv == WF_LISTEN_NONE)
        wf_scen_complain(s, false, &w->cfg.service, w->at,
                         "%s is a model that has no 'recv': no datagrams to it", to->name);
    else if (w->cfg.service == WF_FLOW_RC && sends && l->recv != WF_LISTEN_SINK)
        wf_scen_complain(s, false, &w->cfg.op, w->at,
                         "%s is a model that has not 'recv: sink': no SENDs to it", to->name);
    else if (w->cfg.op == WF_WORK_WRITE_IMM && l->recv == WF_LISTEN_NONE)
        wf_scen_complain(s, false, &w->cfg.op, w->at,
                         "%s is a model that has no 'recv': no immediate data to it", to->name);
    else if (w->cfg.op < WF_WORK_CMP_SWAP && w->cfg.size_bytes > room)
        wf_scen_complain(s, false, &w->cfg.size_bytes, w->at,
                         "size: messages of %" PRIu64 " bytes, but %s of %s has room for %" PRIu64,
                         w->cfg.size_bytes,
                         sends ? "a receive (listen.recv_size)" : "listen.memory", to->name, room);
}

/* Who connects needs somebody that listens, and real memory for its messages. */
static void check_connect(struct wf_scenario *s, const struct wf_scen_work *w,
                          const struct wf_desc_host *to)
{
    if (!w->cfg.connect)
        return;
    if (to->cfg.attach.type == WF_ATTACH_NONE)
        check_listener(s, w, to);
    if (w->cfg.size_bytes > WF_DIAL_BYTES_MAX)
        wf_scen_complain(s, false, &w->cfg.size_bytes, w->at,
                         "size: a flow that connects has real memory, messages of at most %u MiB",
                         WF_DIAL_BYTES_MAX >> 20);
    else if (w->cfg.op == WF_WORK_READ &&
             w->cfg.size_bytes > (uint64_t)w->cfg.path_mtu * WF_DIAL_READ_MAX)
        wf_scen_complain(
            s, false, &w->cfg.size_bytes, w->at,
            "size: all of a READ's answer may be under way at once, at most %u packets "
            "of path_mtu %u",
            WF_DIAL_READ_MAX, w->cfg.path_mtu);
}

static void check_flow(struct wf_scenario *s, const struct wf_scen_work *w,
                       const struct wf_desc_flow *f, const uint32_t *component,
                       const uint32_t *leaf)
{
    const struct wf_desc_host *from = &s->desc.hosts[f->from], *to = &s->desc.hosts[f->to];
    uint32_t n = s->desc.n_switches;
    const struct wf_desc_host *model[] = {from, to};
    uint32_t more = telemetry(f), most = l3_max(f->cfg.path_mtu) + more;

    for (uint32_t i = 0; i < n && more; i++)
        if (s->desc.switches[i].cfg.vxlan.vni) {
            wf_diag_error(&s->diags, w->at, "'%s' reads telemetry, which tunnels don't carry",
                          f->cfg.control->name);
            break;
        }
    for (int i = 0; i < 2; i++) {
        if (model[i]->cfg.attach.type != WF_ATTACH_NONE && (!i || !w->cfg.connect))
            wf_diag_error(&s->diags, w->at, "%s is attached: weft has no flows of its own there%s",
                          model[i]->name, i ? "; with 'connect' a flow may go there" : "");
        if (model[i]->cfg.mtu < most)
            wf_diag_error(&s->diags, w->at,
                          "path_mtu %u makes packets of up to %u bytes, %s takes %u (mtu)",
                          f->cfg.path_mtu, most, model[i]->name, model[i]->cfg.mtu);
    }
    if (more && w->cfg.connect)
        wf_diag_error(&s->diags, w->at, "'%s' reads telemetry, which a flow that connects has not",
                      f->cfg.control->name);
    check_connect(s, w, to);
    if (component[n + f->from] != component[n + f->to])
        wf_diag_error(&s->diags, w->at, "there is no way from %s to %s", from->name, to->name);
    if (wf_scen_check_priority(s, w, f->from, leaf_port(s, leaf[f->from])))
        wf_scen_check_priority(s, w, f->to, leaf_port(s, leaf[f->to]));
}

/* The first of a host's flows that share receives says how long these are. */
static void check_shared(struct wf_scenario *s, const struct wf_scen_work *w,
                         const struct wf_desc_flow *f, uint64_t *room)
{
    bool takes = w->cfg.op >= WF_WORK_WRITE_IMM && w->cfg.op <= WF_WORK_SEND_INV;

    if (!w->cfg.shared_recv || w->cfg.connect || !takes)
        return;
    if (!room[f->to])
        room[f->to] = f->cfg.size_bytes;
    else if (f->cfg.size_bytes > room[f->to] && w->cfg.op != WF_WORK_WRITE_IMM)
        wf_scen_complain(s, false, &w->cfg.size_bytes, w->at,
                         "size: messages of %" PRIu64 " bytes, but the shared receives of %s have "
                         "%" PRIu64 ", by the first of its flows with shared_recv",
                         f->cfg.size_bytes, s->desc.hosts[f->to].name, room[f->to]);
}

static void check_flows(struct wf_scenario *s, const uint32_t *leaf)
{
    const uint32_t *component = components(s);
    uint64_t *room = WF_ARENA_ARRAY(&s->arena, uint64_t, s->desc.n_hosts + 1);
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < s->desc.n_links; i++)
        if (s->desc.links[i].cfg.mtu < least)
            least = s->desc.links[i].cfg.mtu;
    for (uint32_t k = 0; k < s->n_work; k++) {
        const struct wf_scen_work *w = &s->work[k];

        for (uint32_t i = 0; i < w->n_flows; i++) {
            const struct wf_desc_flow *f = &s->desc.flows[w->first_flow + i];

            check_flow(s, w, f, component, leaf);
            check_shared(s, w, f, room);
        }
        if (w->n_flows && l3_max(w->cfg.path_mtu) > least)
            wf_diag_warn(&s->diags, w->at,
                         "path_mtu %u makes packets of up to %u bytes, but there are links that "
                         "take %u (mtu): dropped there",
                         w->cfg.path_mtu, l3_max(w->cfg.path_mtu), least);
    }
}

struct address {
    const void *bytes;
    size_t len;
    uint32_t host;
    const void *field;
};

static int by_address(const void *a, const void *b)
{
    const struct address *x = a, *y = b;
    int c = memcmp(x->bytes, y->bytes, x->len);

    return c ? c : (x->host > y->host) - (x->host < y->host);
}

static void check_unique(struct wf_scenario *s, const char *what, struct address *v, uint32_t n)
{
    qsort(v, n, sizeof(*v), by_address);
    for (uint32_t i = 1; i < n; i++)
        if (!memcmp(v[i].bytes, v[i - 1].bytes, v[i].len))
            wf_scen_complain(s, false,
                             wf_origins_find(&s->origins, v[i].field) ? v[i].field : v[i - 1].field,
                             NULL, "%s and %s have the same %s", s->desc.hosts[v[i - 1].host].name,
                             s->desc.hosts[v[i].host].name, what);
}

static void check_family(struct wf_scenario *s, const struct wf_ip_prefix *ip, int family,
                         const char *key)
{
    if (ip->family && ip->family != family)
        wf_scen_complain(s, false, ip, NULL, "%s: expected an IPv%d address", key, family);
}

static void check_addresses(struct wf_scenario *s)
{
    uint32_t n = s->desc.n_hosts, n4 = 0, n6 = 0;
    struct address *mac = WF_ARENA_ARRAY(&s->arena, struct address, n + 1);
    struct address *ip4 = WF_ARENA_ARRAY(&s->arena, struct address, n + 1);
    struct address *ip6 = WF_ARENA_ARRAY(&s->arena, struct address, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        struct wf_host_cfg *c = &s->desc.hosts[i].cfg;

        mac[i] = (struct address){c->mac, 6, i, c->mac};
        if (c->mac[0] & 1)
            wf_scen_complain(s, false, c->mac, NULL, "mac: a group address is no host's");
        check_family(s, &c->ip, 4, "ip");
        check_family(s, &c->gateway, 4, "gateway");
        check_family(s, &c->ip6, 6, "ip6");
        check_family(s, &c->gateway6, 6, "gateway6");
        if (c->ip.family)
            ip4[n4++] = (struct address){c->ip.addr, 16, i, &c->ip};
        if (c->ip6.family)
            ip6[n6++] = (struct address){c->ip6.addr, 16, i, &c->ip6};
    }
    check_unique(s, "MAC address", mac, n);
    check_unique(s, "IPv4 address", ip4, n4);
    check_unique(s, "IPv6 address", ip6, n6);
}

/* A routed leaf is a subnet: what the fabric didn't address itself needs its gateway said. */
static void check_gateway(struct wf_scenario *s, uint32_t host, const struct wf_switch_cfg *leaf)
{
    const struct wf_host_cfg *c = &s->desc.hosts[host].cfg;

    if (leaf->forwarding != WF_FORWARD_ROUTED)
        return;
    if (c->ip.family && !c->gateway.family && s->desc.n_switches > 1)
        wf_scen_complain(s, true, &c->ip, NULL,
                         "%s has an ip but no gateway: it reaches its own subnet only",
                         s->desc.hosts[host].name);
}

static void check_attach(struct wf_scenario *s, const struct wf_desc_host *h)
{
    const struct wf_attach_cfg *a = &h->cfg.attach;
    const struct wf_place_cfg *p = &h->cfg.place;
    bool iface = a->iface && a->iface[0], devargs = a->devargs && a->devargs[0];

    if (a->type == WF_ATTACH_AF_PACKET && !iface)
        wf_scen_complain(s, false, &a->type, NULL, "%s: af_packet needs 'iface'", h->name);
    if (a->type == WF_ATTACH_ETHDEV && !devargs)
        wf_scen_complain(s, false, &a->type, NULL, "%s: ethdev needs 'devargs'", h->name);
    if (a->type != WF_ATTACH_NONE && h->cfg.listen.port)
        wf_scen_complain(s, false, &h->cfg.listen.port, NULL,
                         "%s is attached: its own programs listen there, not weft", h->name);
    if (p->guest && p->guest[0] && p->netns && p->netns[0])
        wf_scen_complain(s, false, &p->netns, NULL, "%s: both guest and netns, expected one",
                         h->name);
}

void wf_scen_check(struct wf_scenario *s)
{
    const uint32_t *leaf = leaves(s);

    wf_scen_check_buffer(s);
    wf_scen_check_pauses(s);
    wf_scen_check_hops(s, leaf);
    wf_scen_check_lb(s, leaf);
    wf_scen_check_maps(s);
    wf_scen_check_tunnels(s);
    check_queues(s);
    check_addresses(s);
    for (uint32_t i = 0; i < s->desc.n_hosts; i++) {
        check_attach(s, &s->desc.hosts[i]);
        check_gateway(s, i, &s->desc.switches[wf_scen_leaf(s, leaf[i])].cfg);
    }
    check_flows(s, leaf);
    wf_scen_check_discovery(s);
}

int wf_scenario_check_mode(struct wf_scenario *s, bool live)
{
    size_t errors = s->diags.errors;

    for (uint32_t i = 0; i < s->desc.n_hosts && !live; i++) {
        const struct wf_desc_host *h = &s->desc.hosts[i];

        if (h->cfg.attach.type != WF_ATTACH_NONE)
            wf_scen_complain(s, false, &h->cfg.attach.type, NULL,
                             "%s is attached to the outside, which needs a live run (--live)",
                             h->name);
    }
    return s->diags.errors > errors ? -EINVAL : 0;
}
