/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pauses by the frames themselves: what was received says when a queue may not begin a frame
 * (802.1Q 36, 802.3 31B.3.7), what was sent has to be what the full groups ask for, and asked for
 * again before it runs out.
 */
#include "observe.h"

#include <inttypes.h>
#include <string.h>

/* 802.3 31B.3.7: quanta within which a port stops, by its speed in Gb/s. */
static uint64_t response_ps(const struct ob_port *p)
{
    static const uint32_t table[][2] = {{1, 2},     {10, 67},   {25, 80},   {40, 118}, {50, 147},
                                        {100, 394}, {200, 453}, {400, 905}, {800, 905}};
    uint64_t rate = p->port->link->cfg.rate_bps, quanta = table[0][1];

    if (p->pfc->response_ps != WF_KEY_AUTO)
        return p->pfc->response_ps;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        quanta = rate >= table[i][0] * 1000000000ull ? table[i][1] : quanta;
    return ob_span_ps(rate, quanta * 64);
}

static uint64_t quanta_ps(const struct ob_port *p, uint64_t n)
{
    uint64_t rate = p->port->link->cfg.rate_bps;

    return (uint64_t)(((unsigned __int128)n * 512 * WF_PS_PER_S + rate / 2) / rate);
}

/* Class-enable vector and times of a PFC frame, from its bytes, or of a pause where the port has
 * that; false: another frame. */
static bool read_pfc(const struct ob_port *p, const struct wf_pkt *pkt, uint8_t *vector,
                     uint16_t quanta[WF_PRIOS])
{
    const uint8_t *b = wf_pkt_bytes(pkt);
    bool pause = p->pfc->flow_control == WF_FLOW_PAUSE;

    if (wf_pkt_caplen(pkt) < 34 || b[12] != 0x88 || b[13] != 0x08 || b[14] != !pause || b[15] != 1)
        return false;
    if (pause) {
        *vector = 0xff;
        for (unsigned prio = 0; prio < WF_PRIOS; prio++)
            quanta[prio] = (uint16_t)(b[16] << 8 | b[17]);
        return true;
    }
    *vector = b[17];
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        quanta[prio] = (uint16_t)(b[18 + 2 * prio] << 8 | b[19 + 2 * prio]);
    return true;
}

void ob_pause_received(struct ob_port *p, const struct wf_pkt *pkt)
{
    uint64_t now = p->ob->now_ps;
    uint16_t quanta[WF_PRIOS];
    uint8_t vector;

    if (!read_pfc(p, pkt, &vector, quanta) || p->pfc->flow_control == WF_FLOW_NONE ||
        (!p->pfc->enable && p->pfc->flow_control == WF_FLOW_PFC))
        return;
    if (p->pfc->flow_control == WF_FLOW_PFC && p->pfc->priorities)
        vector &= (uint8_t)p->pfc->priorities;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        struct ob_hold *h = &p->hold[prio];
        uint64_t from = now + response_ps(p);

        if (!(vector & 1u << prio))
            continue;
        if (h->until_ps > now && h->from_ps < from)
            from = h->from_ps;
        *h = quanta[prio] ? (struct ob_hold){from, now + quanta_ps(p, quanta[prio])}
                          : (struct ob_hold){now, now};
    }
}

static uint8_t after_sending(const struct ob_port *p, uint8_t paused, const struct wf_pkt *pkt)
{
    uint16_t quanta[WF_PRIOS];
    uint8_t vector;

    if (!read_pfc(p, pkt, &vector, quanta))
        return paused;
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (vector & 1u << prio)
            paused = (uint8_t)(quanta[prio] ? paused | 1u << prio : paused & ~(1u << prio));
    return paused;
}

void ob_pause_sent(struct ob_port *p, const struct wf_pkt *pkt)
{
    uint16_t quanta[WF_PRIOS];
    uint8_t vector;

    if (!read_pfc(p, pkt, &vector, quanta)) {
        ob_fail(p->ob, "control_frame", "%s sends a MAC control frame that is no PFC",
                p->port->name);
        return;
    }
    p->sent_xoff = after_sending(p, p->sent_xoff, pkt);
    for (unsigned prio = 0; prio < WF_PRIOS; prio++)
        if (vector & 1u << prio && quanta[prio])
            p->xoff_sent_ps[prio] = p->ob->now_ps;
}

void ob_pause_link_changed(struct ob_port *p)
{
    memset(p->hold, 0, sizeof(p->hold));
    p->sent_xoff = 0;
}

uint64_t ob_pause_free_ps(const struct ob_port *p, unsigned queue, uint64_t t)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
            const struct ob_hold *h = &p->hold[prio];
            unsigned stops = p->sw ? p->cfg->pfc_priority_to_queue[prio] : prio;

            if (stops != queue || t < h->from_ps || t >= h->until_ps ||
                wf_pfc_of(p->port)->ignored >> prio & 1) /* a watchdog's word */
                continue;
            t = h->until_ps;
            again = true;
        }
    }
    return t;
}

/* The peer knows, or will know from the frames that wait, what the groups want. */
void ob_pause_check(struct ob_port *p)
{
    struct observer *ob = p->ob;
    uint8_t wants = ob_switch_wants(p), told = p->sent_xoff;
    uint64_t late = quanta_ps(p, p->pfc->quanta) / 2;

    if (!p->port->up)
        return;
    if (p->pfc->flow_control == WF_FLOW_NONE)
        wants = 0;
    else if (p->pfc->flow_control == WF_FLOW_PAUSE && wants)
        wants = 0xff;
    else if (p->pfc->flow_control == WF_FLOW_PFC && p->pfc->priorities)
        wants &= (uint8_t)p->pfc->priorities;
    for (const struct wf_fifo_node *n = p->port->control.head; n; n = n->next)
        told = after_sending(p, told, WF_CONTAINER_OF(n, struct wf_pkt, q));
    if (told != wants) {
        ob_fail(ob, wants & ~told ? "lost_xoff" : "lost_xon",
                "%s: its groups want priorities 0x%02x stopped, its frames say 0x%02x",
                p->port->name, wants, told);
        return;
    }
    /* a frame that has begun, and the control frames of all priorities, may go before */
    late += 2 * ob_span_ps(p->port->link->cfg.rate_bps, 10000);
    for (unsigned prio = 0; prio < WF_PRIOS; prio++) {
        uint64_t since = p->xoff_sent_ps[prio];

        if (!(p->sent_xoff & 1u << prio) || ob->now_ps < since + late || p->port->control.count)
            continue;
        ob_fail(ob, "no_refresh",
                "%s: XOFF of priority %u was last sent at %" PRIu64 " ps, now is %" PRIu64,
                p->port->name, prio, since, ob->now_ps);
    }
}
