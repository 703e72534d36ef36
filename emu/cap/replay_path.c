/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways through the fabric. See replay_path.h. */
#include "cap/replay_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "net/port.h"

int wf_paths_init(struct wf_paths *p)
{
    p->nodes = calloc(WF_PATHS_MAX, sizeof(*p->nodes));
    p->chains = calloc(WF_PATHS_MAX, sizeof(*p->chains));
    p->n = WF_PATH_OTHER + 1;
    if (p->nodes && p->chains)
        return 0;
    wf_paths_free(p);
    return -ENOMEM;
}

void wf_paths_free(struct wf_paths *p)
{
    free(p->nodes);
    free(p->chains);
    memset(p, 0, sizeof(*p));
}

uint32_t wf_paths_step(struct wf_paths *p, uint32_t at, const struct wf_port *port)
{
    uint32_t *chain = &p->chains[wf_mix(at, port->entity) % WF_PATHS_MAX], i;

    if (at == WF_PATH_OTHER || (at && p->nodes[at].port->peer->node != port->node))
        return WF_PATH_OTHER;
    for (i = *chain; i; i = p->nodes[i].next)
        if (p->nodes[i].parent == at && p->nodes[i].port == port)
            return i;
    if (p->n == WF_PATHS_MAX)
        return WF_PATH_OTHER;
    i = p->n++;
    p->nodes[i] = (struct wf_path_node){port, at, *chain};
    *chain = i;
    return i;
}

unsigned wf_paths_ports(const struct wf_paths *p, uint32_t at, const struct wf_port **out,
                        unsigned max)
{
    unsigned n = 0;

    if (at == WF_PATH_OTHER)
        return 0;
    for (uint32_t i = at; i != WF_PATH_START; i = p->nodes[i].parent)
        n++;
    for (unsigned k = n; at != WF_PATH_START; at = p->nodes[at].parent)
        if (--k < max)
            out[k] = p->nodes[at].port;
    return n;
}
