/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the analysis has found: each finding says what happened to which packet of which queue
 * pair, whether the network lost it, the capture lost it, or that can't be told, and which frames
 * show it. The list is bounded: what does not fit is counted, by kind and verdict.
 */
#ifndef WEFT_ANALYZE_FINDING_H
#define WEFT_ANALYZE_FINDING_H

#include <stdint.h>
#include <stdio.h>

#include "analyze/packet.h"

enum wf_an_what {
    WF_AN_LOSS,     /* a packet is missing somewhere */
    WF_AN_UNHEARD,  /* sent again after silence: the packet or its answer was lost */
    WF_AN_SPURIOUS, /* sent again although its ACK has passed here */
    WF_AN_RNR,      /* the receiver had no buffer: a wait, no loss */
    WF_AN_LATE,     /* overtaken by later packets */
    WF_AN_COPY,     /* the same packet twice */
    WF_AN_REFUSED,  /* a NAK that ends the connection */
    WF_AN_DAMAGED,  /* wrong ICRC */
    WF_AN_CHANGED,  /* sent again with another payload */
    WF_AN_JUMP,     /* numbers that go on elsewhere: a new connection, or a hole in the capture */
    WF_AN_STALL,    /* silence with a reason of its own: pause, waiting for an ACK, unknown */
    WF_AN_BREACH,   /* against the standard or the NIC's profile */
    WF_AN_WHATS
};

enum wf_an_verdict { WF_AN_NETWORK, WF_AN_CAPTURE, WF_AN_UNTOLD, WF_AN_NO_LOSS, WF_AN_VERDICTS };

/* Why the sender sent again. */
enum wf_an_cause {
    WF_AN_BY_NOTHING, /* not sent again, as far as seen */
    WF_AN_BY_NAK,
    WF_AN_BY_TIMEOUT,
    WF_AN_BY_RNR,
    WF_AN_BY_READ, /* the requester asks again for responses */
    WF_AN_BY_DUPLICATE,
    WF_AN_BY_UNSEEN, /* the reason is not in the capture */
    WF_AN_CAUSES
};

/* Where, from the capture point that judges. */
enum wf_an_where { WF_AN_SOMEWHERE, WF_AN_BEFORE, WF_AN_AFTER, WF_AN_BETWEEN };

enum { WF_AN_REFS = 4, WF_AN_NOTE = 192, WF_AN_HOP = 144 };

#define WF_AN_NO_TIME INT64_MIN

struct wf_an_finding {
    uint8_t what, verdict, cause, where;
    bool exact;      /* this very number; false: it or one shortly before */
    bool response;   /* it is a response's number */
    uint32_t stream; /* the stream's serial number, for reports, and its place in the table */
    uint32_t index;
    uint32_t psn, packets;
    int64_t t_ps;              /* when it showed */
    int64_t recovery_ps;       /* until it was sent again, or the sender went on; -1: never seen */
    int64_t seen_ps, again_ps; /* the lost packet at this point, the one sent again; or no time */
    uint32_t resent;           /* packets sent again for it */
    struct wf_an_ref
        refs[WF_AN_REFS]; /* lost or late one (or the one behind the hole), NAK, again */
    uint16_t point;
    char hop[WF_AN_HOP]; /* "leaf0:p1 and spine0:p0"; with BETWEEN, or where a capture says so */
    char note[WF_AN_NOTE];
};

struct wf_an_findings {
    struct wf_an_finding *items;
    size_t n, cap, max;
    uint64_t totals[WF_AN_WHATS][WF_AN_VERDICTS]; /* findings; all of them */
    uint64_t packets[WF_AN_WHATS][WF_AN_VERDICTS];
    uint64_t left_out;
};

extern const char *const wf_an_what_names[WF_AN_WHATS], *const wf_an_verdict_names[WF_AN_VERDICTS],
                                                            *const wf_an_cause_names[WF_AN_CAUSES],
                                                                *const wf_an_where_names[4];
/* "lost in the network" */
extern const char *const wf_an_verdict_texts[WF_AN_VERDICTS];

/* A copy is kept; NULL when the list is full. */
struct wf_an_finding *wf_an_found(struct wf_an_findings *l, const struct wf_an_finding *f);
void wf_an_findings_free(struct wf_an_findings *l);
/* The file of its i-th frame, if no frame before is of that file; -1. */
int wf_an_file_of(const struct wf_an_finding *f, int i);
/* What selects its frames in Wireshark, for those in one file: "frame.number in {3, 17}". */
const char *wf_an_filter(const struct wf_an_finding *f, unsigned file, char *buf, size_t len);

#endif
