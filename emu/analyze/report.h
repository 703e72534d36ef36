/* SPDX-License-Identifier: BSD-3-Clause */
/* What an analysis says at its end: a page for people, verdict first, and weft.analyze/1. */
#ifndef WEFT_ANALYZE_REPORT_H
#define WEFT_ANALYZE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "analyze/analyze.h"
#include "analyze/input.h"

struct wf_an_report {
    const struct wf_analyze *a;
    const struct wf_an_input *in;
    unsigned rows_max, findings_max; /* of the page; 0: all */
    bool interrupted;
};

/* The whole in numbers. */
struct wf_an_sum {
    uint64_t connections, streams, requests, new_packets, again, cnps, rnr, seq_naks, error_naks;
    uint64_t lost[WF_AN_VERDICTS]; /* packets */
    uint64_t hurt;                 /* connections with a packet lost in the network */
    uint64_t breaches, unpaired;
    uint64_t frames, rocev2, rocev1, others, cut, bad, not_peeled, snapped;
    bool drops_told;
    uint64_t drops;
};

void wf_an_sum(const struct wf_an_report *r, struct wf_an_sum *s);
/* Each stream that has requests, or that has nobody to answer, once: the connections' directions.
 * Order: worst first. The caller frees. */
const struct wf_an_stream **wf_an_rows(const struct wf_analyze *a, size_t *n);
/* "192.0.2.6 > 192.0.2.4 qp 0x45" */
const char *wf_an_stream_text(const struct wf_an_stream *s, char *buf, size_t len);
const char *wf_an_addr_text(const struct wf_an_addr *addr, uint8_t family, char *buf, size_t len);
/* NULL: it has given way to others. */
const struct wf_an_stream *wf_an_stream_of_finding(const struct wf_analyze *a,
                                                   const struct wf_an_finding *f);
/* Payload of First and Middle packets of either direction; 0: none was seen. */
uint32_t wf_an_path_mtu(const struct wf_analyze *a, const struct wf_an_stream *s);
/* Bits a second of payload that its requests have moved, READs the other way, from the stream's
 * first packet to its last. */
double wf_an_goodput_bps(const struct wf_analyze *a, const struct wf_an_stream *s);
/* A filter for the packets of a connection, both directions. */
const char *wf_an_stream_filter(const struct wf_analyze *a, const struct wf_an_stream *s, char *buf,
                                size_t len);

void wf_an_report_text(const struct wf_an_report *r, FILE *out);
json_t *wf_an_report_json(const struct wf_an_report *r);

#endif
