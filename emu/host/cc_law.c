/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/cc_law.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/counter.h"
#include "host/cc_guard.h"

static const enum wf_key_type types[] = {
    [WF_CC_UINT] = WF_KEY_UINT,       [WF_CC_TIME] = WF_KEY_TIME,
    [WF_CC_RATE] = WF_KEY_RATE,       [WF_CC_BYTES] = WF_KEY_BYTES,
    [WF_CC_PERCENT] = WF_KEY_PERCENT, [WF_CC_FRACTION] = WF_KEY_FRACTION,
    [WF_CC_BOOL] = WF_KEY_BOOL,
};
static const uint8_t sizes[] = {
    [WF_CC_UINT] = 4,    [WF_CC_TIME] = 8,     [WF_CC_RATE] = 8, [WF_CC_BYTES] = 8,
    [WF_CC_PERCENT] = 4, [WF_CC_FRACTION] = 8, [WF_CC_BOOL] = 1,
};

_Static_assert(sizeof(struct wf_cc_fraction) == sizeof(struct wf_fraction) &&
                   offsetof(struct wf_cc_fraction, den) == offsetof(struct wf_fraction, den),
               "a law's fraction is a key's");

static struct wf_key key_of(const struct wf_cc_key *k)
{
    return (struct wf_key){.name = k->name,
                           .type = types[k->type],
                           .off = k->off,
                           .def = k->def,
                           .min = k->min,
                           .max = k->max,
                           .doc = k->doc,
                           .source = k->source};
}

/* The default is a value that the key takes. */
static int check_default(const struct wf_cc_key *k, struct wf_err *err)
{
    struct wf_key key = key_of(k);
    struct wf_err why = {.line = 0};
    uint64_t scratch[2];

    key.off = 0;
    if (!wf_key_set(&key, scratch, k->def, &why))
        return 0;
    return wf_err_set(err, EINVAL, "the default of key '%s': %s", k->name, why.msg);
}

static int check_keys(const struct wf_cc_law *l, struct wf_err *err)
{
    if (l->n_keys > WF_CC_KEYS_MAX || (l->n_keys && !l->keys))
        return wf_err_set(err, EINVAL, "%zu keys, expected at most %d", l->n_keys, WF_CC_KEYS_MAX);
    for (size_t i = 0; i < l->n_keys; i++) {
        const struct wf_cc_key *k = &l->keys[i];

        if (!k->name || !k->name[0] || !k->doc || !k->def)
            return wf_err_set(err, EINVAL, "key %zu lacks its name, default or doc", i);
        if ((unsigned)k->type > WF_CC_BOOL)
            return wf_err_set(err, EINVAL, "key '%s' has no known type", k->name);
        if (k->off + sizes[k->type] > l->cfg_size)
            return wf_err_set(err, EINVAL, "key '%s' lies beyond cfg_size", k->name);
        if (!strcmp(k->name, "law") || !strcmp(k->name, "params"))
            return wf_err_set(err, EINVAL, "a key may not be called '%s'", k->name);
        if (check_default(k, err))
            return -EINVAL;
    }
    return 0;
}

static int check_columns(const struct wf_cc_law *l, struct wf_err *err)
{
    if (l->n_columns > WF_CC_COLUMNS_MAX || (l->n_columns && !l->columns))
        return wf_err_set(err, EINVAL, "%zu columns, expected at most %d", l->n_columns,
                          WF_CC_COLUMNS_MAX);
    for (size_t i = 0; i < l->n_columns; i++) {
        const struct wf_cc_column *c = &l->columns[i];

        if (!c->name || !c->meaning)
            return wf_err_set(err, EINVAL, "column %zu lacks its name or meaning", i);
        if (!wf_ctr_unit(c->name))
            return wf_err_set(err, EINVAL,
                              "column '%s' does not end with a unit, expected such as %s_bytes",
                              c->name, c->name);
        if (c->off % 8 || c->off + 8 > l->state_size)
            return wf_err_set(err, EINVAL, "column '%s' is no uint64_t of the state", c->name);
    }
    return 0;
}

static int check(const struct wf_cc_law *l, struct wf_err *err)
{
    int rc;

    if (l->abi != WF_CC_ABI)
        return wf_err_set(err, EINVAL, "made for version %u of cc.h, expected %u: compile it anew",
                          l->abi, WF_CC_ABI);
    if (!l->name || !l->name[0] || !l->on_start)
        return wf_err_set(err, EINVAL, "its descriptor lacks a name or on_start");
    if (l->state_size > WF_CC_STATE_MAX || l->cfg_size > WF_CC_STATE_MAX)
        return wf_err_set(err, EINVAL, "state or configuration of more than %d bytes",
                          WF_CC_STATE_MAX);
    rc = check_keys(l, err);
    return rc ? rc : check_columns(l, err);
}

const struct wf_cc_law *wf_cc_load(const char *path, struct wf_err *err)
{
    const struct wf_cc_law *law;
    struct wf_err why = {.line = 0};
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!so) {
        wf_err_set(err, ENOENT, "control '%s' can't be loaded: %s", path, dlerror());
        return NULL;
    }
    law = dlsym(so, WF_CC_SYMBOL);
    if (!law) {
        wf_err_set(err, EINVAL, "control '%s' exports no '" WF_CC_SYMBOL "'", path);
    } else if (check(law, &why)) {
        wf_err_set(err, EINVAL, "control '%s': %s", path, why.msg);
        law = NULL;
    }
    if (law)
        wf_cc_guard();
    else
        dlclose(so);
    return law;
}

const struct wf_keyset *wf_cc_keyset(const struct wf_cc_law *law, struct wf_arena *arena)
{
    struct wf_keyset *set = WF_ARENA_NEW(arena, struct wf_keyset);
    struct wf_key *keys = WF_ARENA_ARRAY(arena, struct wf_key, law->n_keys + 1);

    for (size_t i = 0; i < law->n_keys; i++)
        keys[i] = key_of(&law->keys[i]);
    set->name = law->name;
    set->doc = law->doc;
    set->keys = keys;
    set->n_keys = law->n_keys;
    set->size = law->cfg_size;
    return set;
}

const struct wf_ctr_table *wf_cc_table(const struct wf_cc_law *law, struct wf_arena *arena)
{
    static const struct wf_ctr_desc levels[WF_CC_LEVELS] = {
        [WF_CC_LEVEL_RATE] = {"cc_rate_bps", 'G', "pace of the flow's data; 0: none", "", "", ""},
        [WF_CC_LEVEL_WINDOW] = {"cc_window_bytes", 'G', "most payload in flight", "", "", ""},
        [WF_CC_LEVEL_RTT] = {"cc_rtt_ps", 'G', "last round trip measured", "", "", ""},
    };
    struct wf_ctr_table *t = WF_ARENA_NEW(arena, struct wf_ctr_table);
    struct wf_ctr_desc *rows =
        WF_ARENA_ARRAY(arena, struct wf_ctr_desc, WF_CC_LEVELS + law->n_columns);

    memcpy(rows, levels, sizeof(levels));
    for (size_t i = 0; i < law->n_columns; i++)
        rows[WF_CC_LEVELS + i] =
            (struct wf_ctr_desc){law->columns[i].name, 'G', law->columns[i].meaning, "", "", ""};
    *t = (struct wf_ctr_table){"cc", rows, WF_CC_LEVELS + law->n_columns};
    return t;
}

const struct wf_cc_params *wf_cc_params_find(const struct wf_cc_law *law, const char *name)
{
    for (size_t i = 0; i < law->n_params; i++)
        if (!strcmp(law->params[i].name, name))
            return &law->params[i];
    return NULL;
}

int wf_cc_params_apply(const struct wf_cc_params *p, const struct wf_keyset *keys, void *cfg,
                       struct wf_err *err)
{
    for (size_t i = 0; i < p->n_values; i++) {
        const struct wf_key *k = wf_keyset_find(keys, p->values[i].key);
        int rc = k ? wf_key_set(k, cfg, p->values[i].value, err)
                   : wf_err_set(err, EINVAL, "there is no key '%s'", p->values[i].key);

        if (rc)
            return rc;
    }
    return 0;
}
