/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tests of whole fabrics share: EAL without hugepages, and probe hosts, which send the frames
 * that a test gives them and record what arrives, byte by byte and to the picosecond.
 */
#ifndef WEFT_TESTS_SUPPORT_H
#define WEFT_TESTS_SUPPORT_H

#include "fabric/fabric.h"
#include "wire/roce.h"

/* Once in a test program. Exits with 77 and a message when EAL does not start. */
void wft_eal(unsigned mbytes);

enum { WFT_SEEN_MAX = 4096 };

struct wft_seen {
    uint64_t t_ps; /* last bit */
    uint64_t first_ps;
    uint32_t len; /* without FCS */
    uint32_t caplen;
    struct wf_parsed p;
    uint8_t bytes[WF_HDR_ROOM]; /* the first bytes */
};

/* A host of a fabric under test. Obeys PFC like any port; sends what wft_send gives it. */
struct wft_probe {
    struct wf_node node; /* first */
    uint32_t n_seen;     /* MAC control frames are not seen here: the link layer takes them */
    struct wft_seen seen[WFT_SEEN_MAX];
    struct wf_tap tap;
    uint32_t n_control; /* PFC frames that came in */
    uint64_t control_ps[WFT_SEEN_MAX];
    uint8_t control[WFT_SEEN_MAX][60];
};

/* Build a fabric whose hosts are all probes; asserts that it works. */
struct wf_fabric *wft_build(const struct wf_desc *d);
/* The same, but hosts with their bit in `models` are weft's own. */
struct wf_fabric *wft_build_some(const struct wf_desc *d, uint64_t models);
struct wft_probe *wft_probe(struct wf_fabric *f, uint32_t host);
/* Queue a frame (without FCS) of which frame[0..caplen) is there; the rest of len is virtual.
 * It may leave at t_ps (not before now) through the queue of this priority. */
void wft_send(struct wf_fabric *f, uint32_t host, uint64_t t_ps, unsigned prio,
              const uint8_t *frame, uint32_t caplen, uint32_t len);
/* Run until nothing is left to do, or until t_ps. */
void wft_run(struct wf_fabric *f, uint64_t t_ps);
/* No event or stop comes before; WF_TIME_NEVER: nothing is left to do. */
uint64_t wft_next_ps(const struct wf_fabric *f);
/* A RoCEv2 RC WRITE Middle frame from host to host with this much payload (header only); returns
 * the header's length, *len is the frame's without FCS. buf holds WF_ROCE_HDR_MAX bytes. The
 * destination MAC is the gateway's switch when the hosts hang on different switches. */
uint32_t wft_roce(struct wf_fabric *f, uint32_t from, uint32_t to, uint8_t dscp, uint8_t ecn,
                  uint32_t psn, uint32_t payload, uint8_t *buf, uint32_t *len);
/* The invariants hold; prints what does not and fails. */
void wft_check(struct wf_fabric *f);

#endif
