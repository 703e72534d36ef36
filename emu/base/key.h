/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of the scenario file, declared as const tables beside the code that uses them. A table says
 * for each key: name, type, where it goes in the module's configuration struct, bounds, default as
 * a user would write it, meaning and source. The loader, `weft check --explain` and the generated
 * reference all read the same rows; a module never parses text itself.
 */
#ifndef WEFT_BASE_KEY_H
#define WEFT_BASE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum wf_key_type {
    WF_KEY_BOOL,    /* bool */
    WF_KEY_UINT,    /* uint32_t, a plain number */
    WF_KEY_UINT64,  /* uint64_t, a plain number (seeds, counts) */
    WF_KEY_TIME,    /* uint64_t picoseconds */
    WF_KEY_RATE,    /* uint64_t bit/s */
    WF_KEY_BYTES,   /* uint64_t bytes */
    WF_KEY_LENGTH,  /* uint64_t millimetres */
    WF_KEY_PERCENT, /* uint32_t parts per million */
    WF_KEY_ENUM,    /* int: index into names */
    WF_KEY_STRING,  /* const char *, owned by the scenario's arena; NULL when absent */
    WF_KEY_MAC,     /* uint8_t[6] */
    WF_KEY_IP,      /* struct wf_ip_prefix */
    WF_KEY_MASK,    /* uint32_t bit mask from a list of numbers below `max`+1: [3, 4], or of words
                       when there are names: [src_ip, dst_ip] */
    WF_KEY_MAP, /* uint8_t[count]: {26: 3, 48: 6}, values up to `max`; others keep the default */
    WF_KEY_FRACTION, /* struct wf_fraction: "1/97", "3", "0.5" (a scale factor) */
    WF_KEY_NAMES,    /* struct wf_names: a text, or a list of them */
};

struct wf_ip_prefix {
    uint8_t addr[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint8_t len;      /* prefix length in the address's own family; 32 or 128 when none given */
    uint8_t family;   /* 0 absent, 4 or 6 */
};

struct wf_fraction {
    uint32_t num, den;
};

struct wf_names {
    const char *const *v; /* owned by the scenario's arena */
    uint32_t n;
};

#define WF_KEY_AUTO UINT64_MAX /* "computed from the rest" */

struct wf_key {
    const char *name;
    enum wf_key_type type;
    size_t off;               /* offsetof in the configuration struct */
    const char *def;          /* default as text; NULL: required; "" with STRING/IP/MAC: absent */
    uint64_t min, max;        /* inclusive, in base units (FRACTION: millionths); 0,0: no bound
                                 beyond the type */
    const char *const *names; /* WF_KEY_ENUM, WF_KEY_MASK: NULL-terminated */
    size_t count;             /* WF_KEY_MAP: elements */
    bool may_auto;            /* TIME, RATE, BYTES: the word auto is legal and gives WF_KEY_AUTO */
    const char *doc;          /* one sentence, for the reference */
    const char *source;       /* of the default: clause, datasheet, "assumed"; NULL: a choice */
};

struct wf_keyset;

/* A mapping below a keyset: single (`ecn: {...}`) or numbered (`pg: {3: {...}, "*": {...}}`); or,
 * without a name, keys of another struct that stand among the set's own. */
struct wf_key_sub {
    const char *name; /* NULL: its keys are the set's */
    const struct wf_keyset *set;
    size_t off;   /* of the (first) sub struct */
    size_t count; /* 0: single; else numbered 0..count-1, structs lie `set->size` apart */
    const char *doc;
};

struct wf_keyset {
    const char *name; /* section name in the reference: "switch", "queue" */
    const char *doc;
    const struct wf_key *keys;
    size_t n_keys;
    const struct wf_key_sub *subs;
    size_t n_subs;
    size_t size; /* sizeof the configuration struct */
};

/* Parse one scalar's text into the field (base + key->off); bounds are checked. Lists and maps are
 * the loader's work: MASK, MAP and NAMES are refused here. Strings are referenced, not copied. */
int wf_key_set(const struct wf_key *key, void *base, const char *text, struct wf_err *err);
/* The effective value as a user would write it, for --explain. Works for every type. */
const char *wf_key_text(const struct wf_key *key, const void *base, char *buf, size_t len);
/* Fill a whole struct with the defaults of its keyset, subs included; required keys stay zero. */
void wf_keyset_defaults(const struct wf_keyset *set, void *base);
/* One of its own keys, by name; NULL: none. */
const struct wf_key *wf_keyset_find(const struct wf_keyset *set, const char *name);

#endif
