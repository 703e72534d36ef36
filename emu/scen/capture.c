/* SPDX-License-Identifier: BSD-3-Clause */
/* The `capture:` section: at which ports what is written to which file. */
#include "cap/capture.h"

#include "scen/match.h"
#include "scen/scen_priv.h"

static void read_capture(struct wf_scenario *s, const struct wf_yaml_node *at)
{
    struct wf_capture_cfg *c = &s->captures[s->n_captures];
    const struct wf_yaml_node *v = wf_yaml_get(at, "at");
    bool hit = false;

    wf_keyset_defaults(&wf_capture_keys, c);
    wf_fill(&s->fill, &wf_capture_keys, c, at, NULL);
    if (at->kind != WF_YAML_MAPPING)
        return;
    wf_fill_required(&s->fill, &wf_capture_keys, c, at);
    s->n_captures++;
    for (uint32_t i = 0; c->at && i < 2 * s->desc.n_links; i++)
        hit = hit || wf_match(c->at, s->ports[i]);
    if (c->at && !hit)
        wf_diag_unknown(&s->diags, v, c->at, s->ports, 2 * s->desc.n_links, "'%s' matches no port",
                        c->at);
}

void wf_scen_captures(struct wf_scenario *s)
{
    const struct wf_yaml_node *list = wf_yaml_get(s->root, "capture");

    if (!list)
        return;
    if (list->kind != WF_YAML_SEQUENCE) {
        wf_diag_error(&s->diags, list, "capture: expected a list, found %s", wf_yaml_what(list));
        return;
    }
    s->captures = WF_ARENA_ARRAY(&s->arena, struct wf_capture_cfg, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        read_capture(s, &list->items[i]);
}
