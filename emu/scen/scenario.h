/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario file: loaded into a description that a fabric is built from, expectations, capture
 * points and options of the run, each value with its origin, and everything that is wrong with it.
 *
 * Order of precedence: the tables' defaults, the profiles in their order, the file; in each the
 * entries of `links:`, `switches:` and `hosts:` in the order of the file, so that a later entry
 * that matches wins. The entries of all `ports:` come after those of all `switches:`.
 */
#ifndef WEFT_SCEN_SCENARIO_H
#define WEFT_SCEN_SCENARIO_H

#include "fabric/desc.h"
#include "scen/diag.h"
#include "scen/expect.h"
#include "scen/fill.h"
#include "scen/yaml.h"

struct wf_scen_repeat {
    uint32_t seeds;
};

struct wf_scen_opts {
    const char *name, *description;
    uint64_t seed;
    uint64_t duration_ps, time_limit_ps, lateness_bound_ps;
    uint64_t sample_ps; /* between two evaluations of always and never; WF_KEY_AUTO */
    uint32_t time_scale;
    int clock;    /* enum wf_scen_clock */
    int lossless; /* enum wf_scen_lossless */
    struct wf_scen_repeat repeat;
};
enum wf_scen_clock { WF_SCEN_CATCH_UP, WF_SCEN_SLIP };
enum wf_scen_lossless { WF_SCEN_STRICT, WF_SCEN_BEST_EFFORT };
extern const struct wf_keyset wf_scen_keys;

struct wf_scen_work;
struct wf_scen_topology;
struct wf_scen_step;
struct wf_fault_cfg;
struct wf_scen_layers;
struct wf_scen_cc;
enum { WF_SCEN_PROFILES_MAX = 8, WF_SCEN_EXTRAS_MAX = 4, WF_SCEN_FILES_MAX = 16 };
enum { WF_SCEN_FILE_MAX = 64 << 20 };

/* A file of a scenario that lies in memory. */
struct wf_scen_text {
    const char *name; /* for messages; of files its path */
    const void *text;
    size_t len;
};

struct wf_scenario {
    struct wf_arena arena;
    const char *path;
    const struct wf_yaml_node *root;
    struct wf_scen_opts opts;
    struct wf_desc desc;
    struct wf_expects expects;
    struct wf_capture_cfg *captures; /* cap/capture.h; `at` may be a pattern */
    uint32_t n_captures;
    struct wf_trace_cfg *traces; /* cap/series.h */
    uint32_t n_traces;
    struct wf_why_cfg *why; /* cap/why_log.h; NULL: no such section */
    struct wf_diags diags;
    struct wf_origins origins;
    struct wf_fill fill;
    struct wf_changes changes; /* of switches and their ports, against the profiles */
    const char *profiles[WF_SCEN_PROFILES_MAX];
    const struct wf_yaml_node *profile_roots[WF_SCEN_PROFILES_MAX];
    uint32_t n_profiles;
    struct wf_scen_text files[WF_SCEN_FILES_MAX]; /* see files.c */
    const char *file_names[WF_SCEN_FILES_MAX];    /* as the scenario says them */
    uint32_t n_files;
    const struct wf_scen_text *texts; /* while it is loaded from memory; NULL: from files */
    size_t n_texts;
    char sha256[65]; /* of its canonical text, see manifest.h */
    /* for messages and --explain */
    const char *topology;
    struct wf_scen_topology *topology_cfg;
    struct wf_scen_step **steps; /* of the timeline, as written */
    uint32_t n_steps;
    struct wf_fault_cfg **faults; /* as written */
    uint32_t n_faults;
    struct wf_scen_work *work;
    uint32_t n_work;
    struct wf_scen_cc **ccs; /* congestion controls */
    uint32_t n_ccs;
    uint32_t cap_flows; /* of desc.flows */
    bool too_many_flows;
    const struct wf_keyset *extra_keys[WF_SCEN_EXTRAS_MAX];
    const void *extras[WF_SCEN_EXTRAS_MAX];
    uint32_t n_extras;
    struct wf_scen_layers *layers; /* of nodes.c */
    const char **ports;            /* names of all ports: of each link its a, then its b */
    const char **links;            /* names of all links */
    uint64_t *zeros;               /* values of counters before there is a fabric */
    bool *counts_egress; /* of each switch: whether its queues have counters of their own buffer */
};

/*
 * Load a file and check all that can be known without running it. 0, or -EINVAL when there are
 * errors; the diags hold them, and warnings, in either case. Free it in either case.
 */
int wf_scenario_load(struct wf_scenario *s, const char *path);
/* The same with --set KEY=VALUE applied before anything is read, see sets.c; each n of them. */
int wf_scenario_load_set(struct wf_scenario *s, const char *path, const char *const *sets,
                         size_t n_sets);
/* The same, but no file is looked for: texts[0] is the scenario, behind it are its profiles in the
 * order in which it names them, then its other files as s->files has them. */
int wf_scenario_load_texts(struct wf_scenario *s, const struct wf_scen_text *texts, size_t n_texts,
                           const char *const *sets, size_t n_sets);
/* "profile td3 (changed: pg.3.headroom, queue.3.kmin)"; nothing without profiles. */
void wf_scenario_profiles(const struct wf_scenario *s, FILE *out);
/* The congestion controls of its flows with the value of each key; nothing without any. */
void wf_scen_cc_text(const struct wf_scenario *s, FILE *out);
/* The text that its hash is of. */
void wf_scenario_canonical(const struct wf_scenario *s, FILE *out);
/* The same from memory; profiles are searched beside `name`. */
int wf_scenario_parse(struct wf_scenario *s, const char *name, const void *text, size_t len);
void wf_scenario_free(struct wf_scenario *s);
/* What depends on how it is run: attachments need a live run. */
int wf_scenario_check_mode(struct wf_scenario *s, bool live);
/* Another seed: the description's, and what is drawn from it. Not while a fabric is built from it.
 */
void wf_scenario_seed(struct wf_scenario *s, uint64_t seed);
/* The interval at which the runner offers wf_expects_step. */
uint64_t wf_scenario_sample_ps(const struct wf_scenario *s);
/* A section that scen doesn't know the inside of ("lab"), NULL when absent. Fill it by
 * wf_fill(&s->fill, ...). */
const struct wf_yaml_node *wf_scenario_section(const struct wf_scenario *s, const char *name);
/* The same filled into a struct of the scenario's, which --explain then tells of too. */
const void *wf_scenario_extra(struct wf_scenario *s, const struct wf_keyset *set);

/* All counters' holders of these tables as the fabric will have them, without a fabric: values are
 * zero. */
struct wf_ctr_walk wf_scenario_ctrs(const struct wf_scenario *s, unsigned tables);
/* Every effective value and where it comes from. */
void wf_scenario_explain(const struct wf_scenario *s, FILE *out);
/* The reference of all keys, the table of their defaults, all counters, as markdown. `more`: tables
 * of sections from above scen, named as the sections are, NULL-terminated. */
void wf_scen_reference(FILE *out, const struct wf_keyset *const *more);
void wf_scen_defaults(FILE *out, const struct wf_keyset *const *more);
void wf_scen_counters(FILE *out);

#endif
