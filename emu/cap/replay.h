/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay of a capture through a fabric in virtual time. Every host of the scenario becomes one that
 * sends what the capture says it sent, when it says so, and takes what comes; it obeys PFC, and
 * reacts to nothing else: no ACK, no NAK, no CNP is ever made, whatever gets lost or marked.
 *
 * l2 (the default): frames go as recorded, from the MACs and to the MACs that stand in them; hosts
 * take over the capture's addresses. Routed: a frame whose IP destination is behind another leaf
 * gets the leaf's MAC as its destination, as a host with a gateway would have sent it.
 *
 * Vantage: where the capture was taken, and so what its times mean. A frame is injected earlier
 * than recorded by the time that it needs from its sender to that point in an empty fabric:
 *   sender       not at all: each frame's time is when its sender began to send it
 *   host:NAME    frames of NAME not at all, all others by their way to NAME
 *   port:NAME    a switch's port towards a host: frames by their way to that port
 *   middle       all by half of their way
 * A time that goes back is taken as the time before it, and counted; a host's frames keep their
 * order whatever the vantage says.
 */
#ifndef WEFT_CAP_REPLAY_H
#define WEFT_CAP_REPLAY_H

#include <jansson.h>
#include <stdio.h>

#include "cap/replay_map.h"
#include "cap/replay_path.h"
#include "cap/replay_plan.h"
#include "fabric/run.h"

enum wf_replay_time { WF_REPLAY_RECORDED, WF_REPLAY_SCALED, WF_REPLAY_FLAT_OUT };
enum wf_replay_vantage {
    WF_REPLAY_AT_SENDER,
    WF_REPLAY_AT_HOST,
    WF_REPLAY_AT_PORT,
    WF_REPLAY_IN_MIDDLE,
};

struct wf_replay_conf {
    const char *capture;
    enum wf_replay_time time;
    struct wf_fraction scale; /* SCALED: times are multiplied by this */
    enum wf_replay_vantage vantage;
    const char *vantage_name;
    bool routed;
    struct wf_replay_plan_conf plan;
};

struct wf_replay_host {
    struct wf_node node; /* first */
    struct wf_replay *replay;
    uint32_t host;    /* index in the scenario */
    uint64_t last_ps; /* when its latest frame is sent */
};

struct wf_replay_tap {
    struct wf_tap tap; /* first */
    struct wf_replay *replay;
};

/* Whose MAC it is; sorted. */
struct wf_replay_mac {
    uint64_t mac;
    uint32_t host;
};

struct wf_replay_totals {
    uint64_t injected; /* frames of the capture that entered the fabric */
    uint64_t arrived;  /* of those: at one host at least that they were for */
    uint64_t lost;     /* of those: dropped and nowhere arrived */
    uint64_t answered; /* of those: ended by a switch that spoke for a host (ARP, ND) */
    uint64_t unmapped; /* not injected: from sources that belong to no host */
    uint64_t marked;   /* arrived with a CE that the fabric set */
    uint64_t stalled;  /* times that the replay waited for the fabric to take frames */
    uint64_t early_acks, unpaired_acks, overtaken;
    uint64_t waited_max_ps; /* longest that a frame waited in its host, paused or busy */
};

struct wf_replay {
    struct wf_replay_conf conf;
    struct wf_replay_plan plan;
    int read_rc; /* -EBADMSG: the capture was cut; replayed as far as it was read */
    struct wf_err read_err;
    struct wf_fabric *fabric;
    struct wf_replay_mac *macs;
    uint32_t n_macs;
    struct wf_cap_reader *reader; /* the second pass */
    struct wf_cap_rec rec;
    bool have;            /* rec is read and not yet dealt with */
    uint32_t next;        /* frame of the plan that rec is */
    struct wf_stops feed; /* injects what is due */
    uint64_t at_ps;       /* the time of the frame before, after scaling */
    uint64_t lead_ps;     /* all injections are later by this, so that none has to be before 0 */
    uint64_t held;        /* packets made and waiting for their time */
    uint64_t room;        /* most packets alive */
    uint32_t vantage_host;
    struct wf_replay_tap *taps;
    struct wf_paths paths;
    struct wf_replay_totals totals;
    uint64_t start_ps, end_ps;
    const char *forwarding_was; /* the scenario's own, when replay changed it */
    uint32_t flows_left_out;
};

/* Read the capture's plan; r->conf is set by the caller. A cut capture is no error here: see
 * read_rc. */
int wf_replay_read(struct wf_replay *r, const char *path, struct wf_err *err);
/* After wf_replay_map: the description's hosts take over the capture's addresses, its flows are
 * left out, its forwarding and duration are set. */
int wf_replay_prepare(struct wf_replay *r, struct wf_desc *d, struct wf_err *err);
/* For wf_fabric_opts. */
struct wf_node *wf_replay_make_host(void *replay, struct wf_fabric *f, uint32_t host);
unsigned wf_replay_full_frames(const struct wf_desc *d);
/* The fabric is built: open the capture again, tap all ports, schedule the first frame. */
int wf_replay_start(struct wf_replay *r, struct wf_fabric *f, struct wf_err *err);
/* How many frames of the plan have been dealt with; for a sign of life. */
static inline uint32_t wf_replay_frames_done(const struct wf_replay *r)
{
    return r->next;
}
/* The run is over: count what became of each frame. */
void wf_replay_finish(struct wf_replay *r);
void wf_replay_free(struct wf_replay *r);

/* replay_report.c */
void wf_replay_print(const struct wf_replay *r, FILE *out);
/* The "replay" object of weft.replay/1. */
json_t *wf_replay_json(const struct wf_replay *r);

/* Time from the first bit at `from` to the last bit at the point, in an empty fabric. */
uint64_t wf_replay_way_ps(struct wf_fabric *f, uint32_t from, uint32_t to, uint32_t frame_len,
                          bool to_last_switch);

/* replay_run.c, for replay.c */
uint64_t wf_replay_scaled(const struct wf_replay *r, int64_t t_ps);
extern const struct wf_node_ops wf_replay_host_ops;
void wf_replay_saw(struct wf_tap *tap, struct wf_port *port, struct wf_pkt *pkt,
                   enum wf_tap_dir dir, enum wf_reason why);
int wf_replay_mac_cmp(const void *a, const void *b);
int wf_replay_feed_first(struct wf_replay *r, struct wf_err *err);

#endif
