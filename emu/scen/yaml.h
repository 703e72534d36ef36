/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A YAML file as a tree of nodes that know their place. Read with libyaml's document interface;
 * anchors and aliases are resolved, and each use of an alias counts against the limits. Refused:
 * more than one document, duplicate keys, keys that are no scalars, tags, directives, merge keys,
 * aliases that contain themselves, NUL characters. Hostile input ends in an error, whatever it is.
 */
#ifndef WEFT_SCEN_YAML_H
#define WEFT_SCEN_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum {
    WF_YAML_BYTES_MAX = 4 << 20,
    WF_YAML_NODES_MAX = 200000, /* with every use of an alias counted */
    WF_YAML_DEPTH_MAX = 32,
    WF_YAML_ANCHORS_MAX = 1000,
};

enum wf_yaml_kind { WF_YAML_SCALAR, WF_YAML_SEQUENCE, WF_YAML_MAPPING };

struct wf_yaml_node {
    enum wf_yaml_kind kind;
    bool quoted;      /* scalar in quotes or as a block: "" is a value, an empty plain one is not */
    const char *file; /* as given to the loader */
    int line, col;    /* from 1 */
    const char *text; /* scalar */
    size_t n;         /* sequence: items; mapping: pairs */
    struct wf_yaml_node *items; /* sequence; mapping: key, value, key, value ... */
};

/* path "-" is standard input. The tree and its texts live in the arena. */
int wf_yaml_load(struct wf_arena *a, const char *path, const struct wf_yaml_node **root,
                 struct wf_err *err);
int wf_yaml_parse(struct wf_arena *a, const char *name, const void *text, size_t len,
                  const struct wf_yaml_node **root, struct wf_err *err);

static inline const struct wf_yaml_node *wf_yaml_key(const struct wf_yaml_node *map, size_t i)
{
    return &map->items[2 * i];
}
static inline const struct wf_yaml_node *wf_yaml_value(const struct wf_yaml_node *map, size_t i)
{
    return &map->items[2 * i + 1];
}
/* The value of a key, NULL when absent or when map is no mapping. */
const struct wf_yaml_node *wf_yaml_get(const struct wf_yaml_node *map, const char *key);
/* "a mapping", "a list", "a value", "nothing": for messages. */
const char *wf_yaml_what(const struct wf_yaml_node *n);

#endif
