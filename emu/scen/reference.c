/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft check --reference`, --defaults and --counters: docs/scenario-reference.md, docs/DEFAULTS.md
 * and docs/COUNTERS.md, from the tables of keys and counters. A test compares the files with what
 * is printed here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cap/capture.h"
#include "cap/series.h"
#include "cap/why_log.h"
#include "cc/laws.h"
#include "host/cc_law.h"
#include "net/fault_config.h"
#include "scen/scen_priv.h"

enum { PATH_MAX_LEN = 96 };

static const char *const type_names[] = {
    [WF_KEY_BOOL] = "true or false",
    [WF_KEY_UINT] = "number",
    [WF_KEY_UINT64] = "number",
    [WF_KEY_TIME] = "time",
    [WF_KEY_RATE] = "rate",
    [WF_KEY_BYTES] = "size",
    [WF_KEY_LENGTH] = "length",
    [WF_KEY_PERCENT] = "percentage",
    [WF_KEY_ENUM] = "word",
    [WF_KEY_STRING] = "text",
    [WF_KEY_MAC] = "MAC address",
    [WF_KEY_IP] = "IP address",
    [WF_KEY_MASK] = "list of numbers",
    [WF_KEY_MAP] = "map of numbers",
    [WF_KEY_FRACTION] = "fraction",
    [WF_KEY_NAMES] = "text, or a list of them",
};

static const char *value_text(const struct wf_key *k, uint64_t v, char *buf, size_t len)
{
    switch (k->type) {
    case WF_KEY_TIME:
        return wf_time_text(v, buf, len);
    case WF_KEY_RATE:
        return wf_rate_text(v, buf, len);
    case WF_KEY_BYTES:
        return wf_bytes_text(v, buf, len);
    case WF_KEY_LENGTH:
        return wf_length_text(v, buf, len);
    case WF_KEY_PERCENT:
        return wf_percent_text((uint32_t)v, buf, len);
    case WF_KEY_FRACTION:
        return wf_millionths_text(v, buf, len);
    default:
        snprintf(buf, len, "%" PRIu64, v);
        return buf;
    }
}

/* "time", "word: `routed`, `l2`", "number, 1 to 64", "map of numbers, 0 to 63 to 0 to 7". */
static void print_type(FILE *out, const struct wf_key *k)
{
    char lo[32], hi[32];

    fputs(k->type == WF_KEY_MASK && k->names ? "list of" : type_names[k->type], out);
    for (size_t i = 0; k->names && k->names[i]; i++)
        fprintf(out, "%s `%s`", i ? "," : ":", k->names[i]);
    if (k->type == WF_KEY_MAP)
        fprintf(out, " from 0 to %zu", k->count - 1);
    if (k->max)
        fprintf(out, ", %s to %s", value_text(k, k->min, lo, sizeof(lo)),
                value_text(k, k->max, hi, sizeof(hi)));
    else if (k->min)
        fprintf(out, ", at least %s", value_text(k, k->min, lo, sizeof(lo)));
    if (k->may_auto)
        fputs(", or `auto`", out);
}

static void print_default(FILE *out, const struct wf_key *k)
{
    if (!k->def)
        fputs("required", out);
    else if (k->def[0])
        fprintf(out, "`%s`", k->def);
    else
        fputs("-", out);
}

/* Text that is no markup by accident. */
static void print_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        if (*text == '<')
            fputs("&lt;", out);
        else
            fputc(*text, out);
    }
}

static void print_set(FILE *out, const struct wf_keyset *set, const char *path)
{
    char below[PATH_MAX_LEN];

    if (set->n_keys)
        fprintf(out, "\n| key | what it takes | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < set->n_keys; i++) {
        const struct wf_key *k = &set->keys[i];

        fprintf(out, "| `%s` | ", k->name);
        print_type(out, k);
        fputs(" | ", out);
        print_default(out, k);
        fputs(" | ", out);
        print_text(out, k->doc);
        fputs(" |\n", out);
    }
    for (size_t i = 0; i < set->n_subs; i++) {
        const struct wf_key_sub *s = &set->subs[i];

        if (!s->name) /* it has a section of its own */
            continue;
        snprintf(below, sizeof(below), "%s.%s", path, s->name);
        if (s->count)
            fprintf(out,
                    "\n### %s\n\n%s A mapping from `0` to `%zu`, a range such as `0-2`, or "
                    "`\"*\"`.\n",
                    below, s->doc, s->count - 1);
        else
            fprintf(out, "\n### %s\n\n%s A mapping.\n", below, s->doc);
        print_set(out, s->set, below);
    }
}

/* Sections in the order of a file. */
struct section {
    const char *title, *key;
    const struct wf_keyset *set;
    const char *intro;
};

static const struct section sections[] = {
    {"Options of the run", "", &wf_scen_keys, "Keys at the top level, after `weft: 1`."},
    {"topology", "topology", &wf_topology_keys, NULL},
    {"links", "links", &wf_link_keys,
     "A mapping from patterns over links to their keys. A link's name is its two ends, such as "
     "`leaf0-spine1` or `leaf0:p4-spine1:p0`, in either order; one end alone, such as `h1`, is "
     "every "
     "link that has it, `\"*\"` every link."},
    {"switches", "switches", &wf_switch_keys,
     "A mapping from patterns over switches to their keys, and to those of all of their ports, "
     "which "
     "[ports](#ports) lists."},
    {"ports", "ports", &wf_switch_port_keys,
     "Keys of a switch's ports. Below `switches` they are those of all ports of the switch; here, "
     "in "
     "a mapping from patterns over ports such as `leaf0:p[0-3]`, those of some, which go before "
     "whatever stands below `switches`."},
    {"hosts", "hosts", &wf_host_keys, "A mapping from patterns over hosts to their keys."},
    {"workload", "workload", &wf_work_keys, NULL},
    {"Keys of a flow", "workload", &wf_flow_keys,
     "Beside those of the workload, in the same entry."},
    {"timeline", "timeline", &wf_step_keys, NULL},
    {"faults", "faults", &wf_fault_keys, NULL},
    {"capture", "capture", &wf_capture_keys, "A list; each entry is a capture point."},
    {"trace", "trace", &wf_trace_keys,
     "A list; each entry is a set of series in a CSV file with the columns `time_ps`, `object`, "
     "`series` and `value`."},
    {"why", "why", &wf_why_keys, NULL},
};

static const char intro[] =
    "# Scenario files: the reference\n\n"
    "Generated by `weft check --reference` from the tables of keys in the source; a test keeps it\n"
    "up to date. `weft check FILE` says what is wrong with a file, `weft check --explain FILE`\n"
    "prints every effective value and where it comes from.\n\n"
    "A scenario is YAML and begins with `weft: 1`. Times (`ps ns us ms s`), rates\n"
    "(`bps kbps Mbps Gbps Tbps`) and sizes (`B kB KiB MB MiB GB GiB`) need their unit; only 0 "
    "goes\n"
    "without. Unknown keys are errors. Anchors and aliases work; tags, merge keys and a second\n"
    "document are refused.\n\n"
    "Names: a node is a word (`leaf0`), its ports are `leaf0:p0` upwards in the order of its "
    "links,\n"
    "below them are `leaf0:p3.q3`, `leaf0:p3.pg3` and `leaf0:p3.prio3`. In patterns `*` is any\n"
    "text without a dot, `?` one character, `[1-8]` or `[1,4-6]` a whole number in that range.\n\n"
    "Precedence: the defaults below, then the files of `profile:` (a name or a list of them, "
    "found\n"
    "in `profiles/` beside the scenario or in `scenarios/profiles/`), then the scenario; among "
    "the\n"
    "entries of a section that match, the later one wins, key by key. All of `ports:` comes after\n"
    "all of `switches:`.\n\n"
    "`--set KEY=VALUE` (run, check, replay, sweep) comes after all of these. KEY is the way to "
    "the\n"
    "value with dots between: `seed`, `topology.leaves`, `links.h0-*.rate`,\n"
    "`switches.leaf*.queue.3.kmin`; an entry of a list by its name or its number from 0:\n"
    "`workload.in.size`, `timeline.0.at`. VALUE is as in the file; one that begins with `[` or "
    "`{`\n"
    "is YAML. `expect` can't be set. Mistakes are told as in files, and `weft check --explain`\n"
    "names `--set` as the origin.\n";

static const char expectations[] =
    "\n## expect\n\n"
    "A list of claims. Each is a comparison between counters and numbers, at the end of the "
    "run:\n\n"
    "```yaml\n"
    "expect:\n"
    "  - sum(leaf*.drop_frames) == 0\n"
    "  - any(leaf0:p*.prio3.pfc_xoff_tx_frames) > 0\n"
    "  - p99(flow.*.completion_ps) <= 1ms\n"
    "  - leaf0:p4.tx_frames ~ spine0:p0.rx_frames within 5%\n"
    "  - leaf0:p4.ecn_marked_frames == 37 +- 10\n"
    "  - flow.a completes before flow.b\n"
    "  - by 1ms: flow.* completes\n"
    "  - always: leaf*.q3.queue_bytes < 1MB\n"
    "  - never: leaf*.drop_frames > 0\n"
    "  - {that: max(flow.*.completion_ps) < 1ms, over_runs: p90}\n"
    "  - {that: flow.* completes, runs: 95%}\n"
    "  - lossless_drops_expected: true\n"
    "```\n\n"
    "- A counter is `OBJECT.COUNTER`. A pattern compares each object that it matches, and all "
    "must\n"
    "  hold; under `never` none may. `any()` asks for one, `all()` for each.\n"
    "- `sum min max mean median p50 p99 p99.9 ...` make one value of them. `+ - * /` work, with\n"
    "  blanks around them. Percentiles are by nearest rank.\n"
    "- Times and sizes need their unit, as everywhere; counts have none.\n"
    "- A flow that never completed has an infinite `completion_ps` and `slowdown_permille`.\n"
    "  `flow.* completes` asks for completion, `A completes before B` for the last of A before "
    "the\n"
    "  first of B. Patterns don't mean flows outside of `warm_up` and `cut_off`.\n"
    "- `by TIME` must become true by then; `always` and `never` are looked at every `sample` of\n"
    "  fabric time and at the end: exact for counters that only count up and for maxima, sampled\n"
    "  for levels such as `queue_bytes`.\n"
    "- With `repeat: {seeds: 20}` each must hold in every run, or in the share that `runs:` says;\n"
    "  `over_runs: p90` compares that percentile of the left side over all runs.\n"
    "- A claim that matches nothing is an error. A text that begins with `*` needs quotes.\n"
    "- Losses in a lossless class fail a run even when nobody asked, unless\n"
    "  `lossless_drops_expected: true` permits them. So it does when queues stand in a circle for\n"
    "  ever, unless an expectation is about `fabric.deadlock_events`, which then decides, and when "
    "a\n"
    "  flow with `connect` got no connection, unless one is about `failed_messages`.\n";

static void print_section(FILE *out, const char *title, const char *intro_text,
                          const struct wf_keyset *set, const char *path)
{
    fprintf(out, "\n## %s\n\n%s%s\n", title, intro_text ? intro_text : set->doc,
            set == &wf_topology_keys ? " Required." : "");
    print_set(out, set, path);
}

static const char cc_intro[] =
    "\n## cc\n\nA mapping from names to congestion controls, which hosts (`nic.cc`) and flows "
    "(`cc`) use: `{slow: {law: dcqcn, params: sigcomm15, timer: 100us}}`. `law` is one of "
    "those below or the path of a shared object, from the scenario's folder; default: the name "
    "itself. `params` is a published set of values, which the other keys change.\n";

static void print_laws(FILE *out)
{
    struct wf_arena arena = {0};

    fputs(cc_intro, out);
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++) {
        print_section(out, (*l)->name, NULL, wf_cc_keyset(*l, &arena), (*l)->name);
        wf_scen_reference_sets(out, *l);
    }
    wf_arena_free(&arena);
}

void wf_scen_reference(FILE *out, const struct wf_keyset *const *more)
{
    fputs(intro, out);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const struct section *s = &sections[i];

        print_section(out, s->title, s->intro, s->set, s->key[0] ? s->key : "scenario");
    }
    print_laws(out);
    wf_scen_reference_nics(out);
    for (; more && *more; more++)
        print_section(out, (*more)->name, NULL, *more, (*more)->name);
    fputs(expectations, out);
}

static void print_defaults(FILE *out, const struct wf_keyset *set, const char *path)
{
    char below[PATH_MAX_LEN];

    for (size_t i = 0; i < set->n_keys; i++) {
        const struct wf_key *k = &set->keys[i];

        if (!k->def || !k->def[0])
            continue;
        fprintf(out, "| `%s%s%s` | `%s` | %s |\n", path, path[0] ? "." : "", k->name, k->def,
                k->source ? k->source : "a choice");
    }
    for (size_t i = 0; i < set->n_subs; i++) {
        const struct wf_key_sub *s = &set->subs[i];

        if (!s->name)
            continue;
        snprintf(below, sizeof(below), "%s%s%s%s", path, path[0] ? "." : "", s->name,
                 s->count ? ".N" : "");
        print_defaults(out, s->set, below);
    }
}

void wf_scen_defaults(FILE *out, const struct wf_keyset *const *more)
{
    struct wf_arena arena = {0};

    fputs(
        "# Defaults\n\n"
        "Generated by `weft check --defaults` from the tables of keys in the source; a test keeps "
        "it\nup to date. \"assumed\": no source was found, the value is plausible. Keys without a "
        "default\nare not listed. [The reference](scenario-reference.md) says what each means.\n\n"
        "| key | default | where it comes from |\n|---|---|---|\n",
        out);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        print_defaults(out, sections[i].set, sections[i].key);
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++)
        print_defaults(out, wf_cc_keyset(*l, &arena), (*l)->name);
    wf_arena_free(&arena);
    for (; more && *more; more++)
        print_defaults(out, *more, (*more)->name);
}

/* Whose counters a table holds, as objects are named. */
static const char *object_of(const char *scope)
{
    static const struct {
        const char *scope, *object;
    } objects[] = {
        {"port", "each port, `leaf0:p3`"},
        {"drop",
         "each port, `leaf0:p3`: why frames were dropped there. What a switch does not admit "
         "counts "
         "at the port that it came in by, also when an egress queue or pool refuses it; the "
         "queue has its own `drop_frames`"},
        {"prio", "each priority of a port, `leaf0:p3.prio3`"},
        {"queue", "each egress queue of a port, `leaf0:p3.q3`"},
        {"egress", "each egress queue, `leaf0:p3.q3`, of a switch with `egress_pool`"},
        {"pool", "each pool of a switch's buffer, `leaf0.ipool0` and `leaf0.epool0`"},
        {"pg", "each ingress priority group of a switch's port, `leaf0:p3.pg3`"},
        {"pfcwd", "each priority of a switch's port that has a watchdog, `leaf0:p3.pfcwd3`"},
        {"flow", "each flow of the workload, `flow.NAME` or `flow.NAME:h1-h0`"},
        {"edge", "each host that is attached to the outside, `h0`"},
        {"endpoint",
         "each model host that listens, `h0`: connections that real programs make to it"},
        {"fabric", "the whole, `fabric`"},
    };

    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
        if (!strcmp(objects[i].scope, scope))
            return objects[i].object;
    return scope;
}

static void print_counters(FILE *out, const struct wf_ctr_table *t)
{
    fprintf(out,
            "\n## %s\n\nOf %s.\n\n"
            "| counter | kind | unit | meaning | SAI | ethtool (mlx5) | rdma, IB PMA |\n"
            "|---|---|---|---|---|---|---|\n",
            t->scope, object_of(t->scope));
    for (size_t i = 0; i < t->n; i++) {
        const struct wf_ctr_names names = wf_ctr_elsewhere(t, i);
        const struct wf_ctr_desc *c = &t->rows[i];

        if (!c->name)
            continue;
        fprintf(out, "| `%s` | %s | %s | ", c->name,
                c->kind == 'C'   ? "count"
                : c->kind == 'G' ? "level"
                                 : "maximum",
                wf_ctr_unit(c->name));
        print_text(out, c->meaning);
        fprintf(out, " | %s | %s | %s |\n", names.sai ? names.sai : "",
                names.mlx5 ? names.mlx5 : "", names.rdma ? names.rdma : "");
    }
}

void wf_scen_counters(FILE *out)
{
    fputs(
        "# Counters\n\n"
        "Generated by `weft check --counters` from the table of counters in the source; a test "
        "keeps it\nup to date. In expectations a counter is `OBJECT.COUNTER`. A count only goes "
        "up, a "
        "level goes up\nand down, a maximum is the highest that a level has been. `_bytes` of "
        "frames "
        "are with FCS, without\npreamble and gap; `_ps` are picoseconds of fabric time.\n\n"
        "The last columns name what comes nearest elsewhere: SAI's statistics, of drops its drop\n"
        "reasons; `ethtool -S` of mlx5, durations there in microseconds; hw_counters of rxe and\n"
        "mlx5, and IB's PMA. N is the priority. The meaning there can differ in details; a name\n"
        "that several rows of a table have is the sum of those.\n",
        out);
    for (size_t i = 0; wf_ctr_tables[i]; i++)
        print_counters(out, wf_ctr_tables[i]);
}
