/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A congestion control as the sending side of a queue pair runs it. A law is a const descriptor:
 * its name, its keys, how much state it needs, what of that can be traced, and its hooks. A hook
 * changes its state and the answer: how much may be in flight, how fast, and when it wants to be
 * called again. Laws are pure: no clock, no allocation, no input or output; time comes with the
 * call, in picoseconds, rates are bit/s on the wire, windows are bytes of payload.
 *
 * This header alone is what a control outside of the tree needs: a shared object that exports
 *
 *     const struct wf_cc_law weft_cc = {.abi = WF_CC_ABI, .name = "mine", ...};
 *
 * and that a scenario names by its path, `cc: ./mine.so`. WF_CC_ABI changes with every change of
 * the structs here.
 */
#ifndef WEFT_CC_CC_H
#define WEFT_CC_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_CC_ABI    1u
#define WF_CC_SYMBOL "weft_cc"
#define WF_CC_NEVER  UINT64_MAX

enum {
    WF_CC_KEYS_MAX = 32,
    WF_CC_COLUMNS_MAX = 12,
    WF_CC_HOPS_MAX = 5,
    WF_CC_STATE_MAX = 1 << 16, /* bytes of state, and of configuration */
};

/* What a value of a key is, and the type of its field. */
enum wf_cc_key_type {
    WF_CC_UINT,     /* uint32_t: a plain number */
    WF_CC_TIME,     /* uint64_t picoseconds: "55us" */
    WF_CC_RATE,     /* uint64_t bit/s: "40Mbps" */
    WF_CC_BYTES,    /* uint64_t bytes: "10MB" */
    WF_CC_PERCENT,  /* uint32_t parts per million: "95%" */
    WF_CC_FRACTION, /* struct wf_cc_fraction: "1/256", "0.8" */
    WF_CC_BOOL,     /* bool: "true" */
};

struct wf_cc_fraction {
    uint32_t num, den;
};

struct wf_cc_key {
    const char *name;
    enum wf_cc_key_type type;
    size_t off;         /* offsetof in the law's configuration struct */
    const char *def;    /* the default as a user writes it */
    uint64_t min, max;  /* inclusive, in base units, a fraction in millionths; 0, 0: no bound beyond
                           the type */
    const char *doc;    /* one sentence */
    const char *source; /* of the default; NULL: a choice */
};

/* A uint64_t of the state that `trace:` can write. The last word of the name is its unit, such as
 * alpha_ppm, target_rate_bps, base_rtt_ps, window_bytes. */
struct wf_cc_column {
    const char *name;
    size_t off; /* offsetof in the state */
    const char *meaning;
};

/* A published set of values: those that differ from the keys' defaults, as "key=value" texts, each
 * with where it stands or "assumed" in `source`. */
struct wf_cc_value {
    const char *key, *value, *source;
};
struct wf_cc_params {
    const char *name, *doc;
    const struct wf_cc_value *values;
    size_t n_values;
};

/* What the queue pair is, from its start on. */
struct wf_cc_env {
    uint64_t line_bps;
    uint64_t base_rtt_ps; /* of a full packet and its ACK on an empty path; 0: not known */
    uint32_t mtu_bytes;   /* payload of a full packet */
    uint32_t wire_bytes;  /* and all that it takes on the wire */
    uint64_t window_bytes, rate_bps; /* limits of the flow itself; rate 0: none */
    uint64_t seed;                   /* of this queue pair */
};

struct wf_cc_answer {
    uint64_t window_bytes; /* most payload in flight; 0: no limit; one packet always may be */
    uint64_t rate_bps;     /* pace of data, in bits on the wire; 0: no limit */
    uint64_t timer_ps;     /* the instant at which on_timer is called; WF_CC_NEVER: it is not */
};

/* What all hooks get. */
struct wf_cc {
    void *state;     /* zeros at the start, state_size bytes */
    const void *cfg; /* by the law's keys */
    uint64_t now_ps;
    struct wf_cc_env env;
    struct wf_cc_answer out; /* stays until a hook changes it */
};

/* What a switch wrote into a data packet as it left a port (docs/cc.md). */
struct wf_cc_hop {
    uint64_t rate_bps;
    uint32_t ts_ns;      /* wraps */
    uint32_t tx_bytes;   /* that the port has sent so far; wraps */
    uint32_t qlen_bytes; /* that wait at the port, of all queues */
};

struct wf_cc_ack {
    uint64_t acked_bytes; /* payload that this acknowledgement adds */
    uint64_t una_bytes;   /* payload acknowledged since the start */
    uint64_t sent_bytes;  /* payload sent since the start, without repetitions */
    uint64_t rtt_ps;      /* 0: none was measured */
    uint32_t hop_count;   /* links that the data crossed */
    bool ecn;             /* the data that it answers came with CE (WF_CC_ECHO) */
    uint32_t n_hops;      /* WF_CC_INT */
    const struct wf_cc_hop *hops;
};

enum wf_cc_flag {
    WF_CC_WINDOW = 1, /* it answers windows: each data packet asks for an ACK */
    WF_CC_PACED = 2,  /* it answers rates */
    WF_CC_CNP = 4,    /* the receiver's NIC sends CNPs for CE */
    WF_CC_ECHO = 8,   /* ACKs say whether the data came with CE */
    WF_CC_RTT = 16,   /* round trips are measured */
    WF_CC_INT = 32,   /* switches write into the data packets, ACKs bring it back */
};

struct wf_cc_law {
    uint32_t abi; /* WF_CC_ABI */
    uint32_t flags;
    const char *name, *doc;
    const struct wf_cc_key *keys;
    size_t n_keys, cfg_size;
    const struct wf_cc_params *params; /* the first is the default; may be none */
    size_t n_params;
    size_t state_size;
    const struct wf_cc_column *columns;
    size_t n_columns;
    uint64_t ack_bytes; /* data asks for an ACK at least so often; 0: no wish */

    void (*on_start)(struct wf_cc *c); /* the rest may be NULL */
    void (*on_send)(struct wf_cc *c, uint32_t payload_bytes, bool again);
    void (*on_ack)(struct wf_cc *c, const struct wf_cc_ack *ack);
    void (*on_cnp)(struct wf_cc *c);
    void (*on_nak)(struct wf_cc *c);
    void (*on_timeout)(struct wf_cc *c); /* the transport's, without an answer */
    void (*on_timer)(struct wf_cc *c);   /* at out.timer_ps, which is then WF_CC_NEVER */
};

#endif
