/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What replay has to know before it starts: one pass over the capture gives every frame's time,
 * source and flow, the sources that the frames come from, and who acknowledges whom. All memory of
 * a replay is taken here: 40 bytes a frame.
 */
#ifndef WEFT_CAP_REPLAY_PLAN_H
#define WEFT_CAP_REPLAY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/reason.h"
#include "cap/psn.h"
#include "cap/reader.h"
#include "wire/icrc.h"
#include "wire/parse.h"

enum {
    WF_REPLAY_FRAME_MAX = 9724, /* without FCS: the longest that a port takes */
    WF_REPLAY_NO_HOST = -1,
    WF_REPLAY_NO_FLOW = 0xffffffff,
};

/* Who sent a frame, as the frame says: its MAC, and its IP or GID when it has one. Who frames go to
 * is one too: a host may only listen. */
struct wf_replay_source {
    uint8_t mac[6];
    uint8_t family; /* 0: no address; 4 (as ::ffff:a.b.c.d) or 6 */
    uint8_t ip[16];
    uint64_t frames, to_frames; /* from it, to it */
    int host;                   /* index of the scenario's host, or WF_REPLAY_NO_HOST */
    const char *how;            /* by what it was mapped, for the report */
};

struct wf_flow_key {
    uint8_t src[16], dst[16]; /* IP or GID; MAC (then family is 0) */
    uint16_t sport, dport, ethertype;
    uint8_t family, proto, roce, pad;
    uint32_t dqpn;
};

/* How a frame is not like the others. */
enum wf_replay_flag {
    WF_REPLAY_GROUP = 1,     /* to a group: may arrive at several hosts */
    WF_REPLAY_CUT = 2,       /* captured shorter than it was: the rest is zeros */
    WF_REPLAY_PADDED = 4,    /* shorter than a frame may be: padded with zeros to 60 bytes */
    WF_REPLAY_SKIPPED = 8,   /* not injected: cut (by option), too short, or too long */
    WF_REPLAY_BACK = 16,     /* its time is before the one of the frame before it */
    WF_REPLAY_SENT = 32,     /* its first bit has left the host */
    WF_REPLAY_ARRIVED = 64,  /* at least one host that it was for has it */
    WF_REPLAY_DROPPED = 128, /* at least one copy was dropped */
    WF_REPLAY_INJECTED = 256,
    WF_REPLAY_CONSUMED = 512, /* ended by a node of the fabric that answers for a host */
};

struct wf_replay_frame {
    int64_t t_ps;      /* as recorded, since the first frame */
    uint64_t sent_ps;  /* its first bit */
    uint64_t delay_ps; /* until its last bit was there; to a group: at the first of its hosts */
    uint32_t flow, source;
    uint32_t path; /* where it has come by: see replay_path.h */
    uint16_t flags;
    uint8_t opcode;
    uint32_t psn, len_bytes;
};

struct wf_replay_drop {
    enum wf_reason why;
    const char *place;
    uint64_t frames;
};

enum { WF_FLOW_DROPS_MAX = 16, WF_FLOW_PATHS_MAX = 16 };

struct wf_flow_path {
    uint32_t path;
    uint64_t frames;
};

struct wf_replay_flow {
    struct wf_flow_key key;
    uint64_t frames, bytes; /* of the capture, without skipped ones */
    uint64_t arrived, arrived_bytes;
    uint64_t marked;    /* CE set by the fabric on what arrived */
    uint64_t ce_before; /* CE in the capture already */
    uint64_t overtaken; /* arrived after a later frame of the flow */
    uint32_t last_arrived;
    uint64_t icrc_in[3], icrc_out[3]; /* by enum wf_icrc_state */
    /* requests and responses, as recorded and as arrived */
    struct wf_psn_track in[2], out[2];
    uint32_t max_psn; /* furthest request in the capture, then (while running) arrived */
    bool has_max;
    uint32_t acks_of;    /* the flow whose requests this one acknowledges; WF_REPLAY_NO_FLOW */
    uint64_t early_acks; /* left before what they acknowledge had arrived */
    uint64_t unpaired_acks;
    struct wf_replay_drop drops[WF_FLOW_DROPS_MAX];
    unsigned n_drops;
    struct wf_flow_path paths[WF_FLOW_PATHS_MAX];
    unsigned n_paths;
    uint64_t other_drops, other_paths; /* beyond what the tables hold */
};

struct wf_replay_plan {
    struct wf_replay_frame *frames;
    uint32_t n_frames, cap_frames;
    struct wf_replay_flow *flows;
    uint32_t n_flows, cap_flows;
    struct wf_replay_source *sources;
    uint32_t n_sources, cap_sources;
    uint32_t *flow_slots, *source_slots; /* hash tables: index + 1 */
    uint32_t flow_mask, source_mask;
    struct wf_cap_time first;
    uint64_t rocev2, rocev1, others; /* frames to be injected */
    uint64_t skipped_cut, skipped_short, skipped_long, skipped_control;
    uint64_t cut, padded, untimed;
    uint64_t backwards;  /* frames whose time is before the one of the frame before them */
    int64_t back_max_ps; /* by how much at most */
    int64_t span_ps;
    uint64_t pair_steps;      /* spent on finding out who acknowledges whom; bounded */
    bool several_interfaces;  /* gave frames: one packet may be there more than once */
    uint64_t other_interface; /* frames left out since of another interface */
};

struct wf_replay_plan_conf {
    bool skip_cut;         /* else the missing bytes are zeros */
    const char *interface; /* only frames of this one; NULL: all */
};

/* 0 or -errno. With -EBADMSG the capture is cut or damaged: *plan holds what could be read. */
int wf_replay_plan_read(struct wf_replay_plan *plan, struct wf_cap_reader *r,
                        const struct wf_replay_plan_conf *conf, struct wf_err *err);
void wf_replay_plan_free(struct wf_replay_plan *plan);

/* The bytes and the length of a frame as it is to be sent, FCS taken off. */
uint32_t wf_replay_frame_len(const struct wf_cap_rec *rec, uint32_t *cap_bytes);
/* False: this record is no frame of the plan (other interface). */
bool wf_replay_takes(const struct wf_replay_plan_conf *conf, const struct wf_cap_rec *rec);
/* The flow or source with this key, added when it is new; UINT32_MAX without memory. */
uint32_t wf_replay_flow_of(struct wf_replay_plan *plan, const struct wf_flow_key *key);
uint32_t wf_replay_source_of(struct wf_replay_plan *plan, const struct wf_replay_source *s);
void wf_flow_key_of(const uint8_t *frame, const struct wf_parsed *p, struct wf_flow_key *key);
/* "192.0.2.6:72 > 192.0.2.4 qp 0x000045"; returns buf. */
const char *wf_flow_text(const struct wf_flow_key *key, char *buf, size_t len);
/* "192.0.2.6" or "02:00:00:00:00:06"; returns buf. */
const char *wf_replay_source_text(const struct wf_replay_source *s, char *buf, size_t len);

#endif
