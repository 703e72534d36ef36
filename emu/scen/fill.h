/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a YAML mapping to a configuration struct, by the struct's table of keys (base/key.h). The
 * struct must lie where it stays: where each value came from is remembered by its address.
 */
#ifndef WEFT_SCEN_FILL_H
#define WEFT_SCEN_FILL_H

#include <stdio.h>

#include "base/arena.h"
#include "base/key.h"
#include "scen/diag.h"
#include "scen/yaml.h"

struct wf_origin {
    const char *profile; /* name of the profile that set it, NULL: the scenario itself */
    const char *file;
    int line, col;
};

/* Whether both say the same place of the same file; NULL is the default's. */
bool wf_origin_same(const struct wf_origin *a, const struct wf_origin *b);

/* Address of a field -> origin; a field that isn't in it has its default. */
struct wf_origins {
    struct wf_origin_slot *slots;
    size_t n, cap;
};

const struct wf_origin *wf_origins_find(const struct wf_origins *o, const void *field);
void wf_origins_set(struct wf_origins *o, const void *field, const struct wf_origin *v);
/* Copy the origins of all fields of a struct to those of its copy. */
void wf_origins_copy(struct wf_origins *o, const struct wf_keyset *set, const void *from,
                     const void *to);
void wf_origins_free(struct wf_origins *o);

/* Keys that got another value than they had, with their way: "pg.3.headroom". */
enum { WF_CHANGES_MAX = 128, WF_CHANGE_LEN = 64 };
struct wf_changes {
    char names[WF_CHANGES_MAX][WF_CHANGE_LEN];
    size_t n, more; /* more: beyond the table */
};

struct wf_fill {
    struct wf_diags *diags;
    struct wf_origins *origins; /* may be NULL */
    const char *profile;        /* name of the profile that is being applied, or NULL */
    struct wf_changes *changes; /* NULL: nobody asks */
    char path[WF_CHANGE_LEN];   /* to what is being filled, "pg.3." */
};

/*
 * Set what the mapping says in the struct at base; what it doesn't say stays. Keys listed in
 * `also` (NULL-terminated, may be NULL) are the caller's. All mistakes go to the diags.
 */
void wf_fill(struct wf_fill *f, const struct wf_keyset *set, void *base,
             const struct wf_yaml_node *map, const char *const *also);
/* The same for a mapping that several tables read: keys that this one doesn't know are passed over,
 * and the caller looks for those that nobody knows. */
void wf_fill_known(struct wf_fill *f, const struct wf_keyset *set, void *base,
                   const struct wf_yaml_node *map);
/* Errors, placed at `at`, for keys without default that nobody set; subs are not looked into. */
void wf_fill_required(struct wf_fill *f, const struct wf_keyset *set, const void *base,
                      const struct wf_yaml_node *at);
/* A list of numbers: "3", "0-7", "1,3,5-7" or "*", each below n. Calls set(arg, i) for each. */
int wf_fill_numbers(const char *text, size_t n, void (*set)(void *arg, size_t i), void *arg,
                    struct wf_err *err);

/* Every effective value of the struct and where it comes from, one a line, each after `indent`. */
void wf_fill_explain(FILE *out, const struct wf_keyset *set, const void *base,
                     const struct wf_origins *o, const char *indent);

#endif
