/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways through the fabric as a tree of egress ports: a frame carries only the number of the node
 * that it has come to. All memory is taken at the start; ways beyond it share one number, and so do
 * those of frames that were flooded, of which several copies are under way.
 */
#ifndef WEFT_CAP_REPLAY_PATH_H
#define WEFT_CAP_REPLAY_PATH_H

#include <stddef.h>
#include <stdint.h>

enum { WF_PATHS_MAX = 65536, WF_PATH_START = 0, WF_PATH_OTHER = 1, WF_PATH_PORTS_MAX = 32 };

struct wf_port;

struct wf_path_node {
    const struct wf_port *port; /* by which it left */
    uint32_t parent, next;      /* next: in its hash chain; 0 ends it */
};

struct wf_paths {
    struct wf_path_node *nodes;
    uint32_t *chains;
    uint32_t n;
};

int wf_paths_init(struct wf_paths *p);
void wf_paths_free(struct wf_paths *p);
/* The way `at` prolonged by leaving through `port`. */
uint32_t wf_paths_step(struct wf_paths *p, uint32_t at, const struct wf_port *port);
/* The egress ports of a way in order; how many there are, at most max are written. */
unsigned wf_paths_ports(const struct wf_paths *p, uint32_t at, const struct wf_port **out,
                        unsigned max);

#endif
