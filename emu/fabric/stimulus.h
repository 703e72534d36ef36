/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What reaches a fabric from outside, one thing at a time, as plain data: what an ingress log
 * holds, and what repeats a live run in virtual time. All that a live edge decides from wall time
 * or by its device is here; what follows from it in the model (a stall, a learnt address, a
 * backlog) is not, since it follows again.
 * Left out: what only looks (captures, expectations, views).
 */
#ifndef WEFT_FABRIC_STIMULUS_H
#define WEFT_FABRIC_STIMULUS_H

#include <stdbool.h>
#include <stdint.h>

enum wf_stimulus_kind {
    /* of an attached host */
    WF_STIM_FRAME, /* a frame of the peer */
    WF_STIM_TAKEN, /* value: so many frames that waited were taken by the peer */
    WF_STIM_PEER,  /* on: the peer is there and its link up */
    WF_STIM_MTU,   /* value: L3 bytes that its device takes */
    WF_STIM_PROBE, /* it is asked for its MAC address */
    WF_STIM_HELD,  /* on: pulling has stopped, since the fabric pauses it */
    WF_STIM_COUNT, /* where, value: a counter of what its device lost or was not for us */
    /* by command */
    WF_STIM_LINK,  /* where, on: a link goes up or down */
    WF_STIM_RATE,  /* where, value: a link has another rate, in bit/s */
    WF_STIM_FAULT, /* where: a fault as text, see net/fault_config.h */
    WF_STIM_PFC,   /* where, vector, value: quanta of a PFC frame out of a port; on: of 802.3x */
    WF_STIM_KINDS,
};

enum { WF_STIM_TAKEN_MAX = 32, WF_STIM_WHERE_MAX = 255 };

/* What is known of the ICRC of a frame whose payload is not there. */
enum wf_stimulus_icrc { WF_STIM_ICRC_WHOLE, WF_STIM_ICRC_NONE, WF_STIM_ICRC_OK, WF_STIM_ICRC_BAD };

struct wf_stimulus {
    uint64_t t_ps; /* it acts when every lcore stands there, before the events of that instant */
    enum wf_stimulus_kind kind;
    uint32_t edge;     /* which of the attached hosts, in the description's order */
    const char *where; /* name of a link, port or counter; a fault */
    uint64_t value;
    bool on;
    bool first;     /* how it was as the run began: before all that is of the run */
    uint8_t vector; /* PFC: the priorities, a bit each */
    /* FRAME: frame[0..cap_bytes) of len_bytes, both without FCS. Less than all: the payload was
     * cut, and icrc says what its ICRC was. */
    enum wf_stimulus_icrc icrc;
    const uint8_t *frame;
    uint32_t cap_bytes, len_bytes;
};

/* Where stimuli go as they act: an ingress log. Called in their order, by one thread at a time;
 * neither waits nor allocates. */
struct wf_stimulus_sink {
    void (*put)(struct wf_stimulus_sink *s, const struct wf_stimulus *st);
};

#endif
