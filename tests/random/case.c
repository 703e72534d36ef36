/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs scenarios in several ways that have to agree, and holds the fabric against the account of
 * observe.h. draw.py makes the scenarios, seeds.py feeds them.
 *   random_case [--ways A,B] FILE     one scenario; exit status 0 or 1, and one line that says what
 *   random_case [--ways A,B] --serve  many: "LENGTH\n" and so many bytes each, a line back for each
 * The line: "ok KEY=VALUE ..." or "bad KIND: what is wrong" or "refused: why".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/run.h"
#include "observe.h"
#include "scen/scenario.h"
#include "support.h"

enum { CASE_MAX = 1 << 20, INSTANTS_MAX = 10 * 1000 * 1000, THREADS_EVENTS_MAX = 100000 };
#define END_MAX_PS   (4000 * WF_PS_PER_S)
#define PACED_MAX_PS (5 * WF_PS_PER_MS)

struct outcome {
    struct wf_scenario scen;
    const char *kind; /* what broke; NULL: nothing */
    char what[800];
    uint64_t digest, end_ps, events, hops, lossless_drops;
    struct ob_stats stats;
    uint64_t tight_pg[WF_PGS];
    /* the switches, with the sizes that their pools have, and ports that differ from them */
    struct wf_desc_switch *pinned;
    struct wf_desc_link *links;
    struct wf_switch_port_cfg *ports;
};

static bool bad(struct outcome *o, const char *kind, const char *what)
{
    if (!o->kind) {
        o->kind = kind;
        snprintf(o->what, sizeof(o->what), "%s", what);
    }
    return false;
}

static struct wf_fabric *build(struct outcome *o, const struct wf_desc *d)
{
    struct wf_fabric_opts opts = {0};
    struct wf_fabric *f = NULL;
    struct wf_err err;

    if (wf_fabric_build(&f, d, &opts, &err))
        bad(o, "not_built", err.msg);
    return f;
}

/* No warning, nothing on the way that loses or damages, nothing that takes a link down or changes
 * it: then `weft check` has promised that no lossless packet is dropped. */
static bool promised_lossless(const struct wf_scenario *s)
{
    const struct wf_desc *d = &s->desc;

    if (s->opts.lossless != WF_SCEN_STRICT || s->diags.warnings)
        return false;
    for (uint32_t i = 0; i < d->n_faults; i++)
        if (d->faults[i].fault.action != WF_FAULT_CE)
            return false;
    for (uint32_t i = 0; i < d->n_links; i++)
        if (d->links[i].cfg.loss.num || d->links[i].cfg.corrupt.num)
            return false;
    return true;
}

static void copy_ports(struct outcome *o)
{
    const struct wf_desc *d = &o->scen.desc;

    o->links = calloc(d->n_links + 1, sizeof(*o->links));
    o->ports = calloc(2 * d->n_links + 1, sizeof(*o->ports));
    memcpy(o->links, d->links, d->n_links * sizeof(*o->links));
    for (uint32_t i = 0; i < 2 * d->n_links; i++) {
        const struct wf_switch_port_cfg **at = &o->links[i / 2].port_cfg[i % 2];

        if (!*at)
            continue;
        o->ports[i] = **at;
        *at = &o->ports[i];
    }
}

/* Headroom is carved out of the buffer, and pools that share the rest would grow by what is tried
 * with less of it: so each keeps the size that it has. */
static void pin_pools(struct outcome *o, struct wf_fabric *f)
{
    const struct wf_desc *d = &o->scen.desc;

    o->pinned = calloc(d->n_switches + 1, sizeof(*o->pinned));
    memcpy(o->pinned, d->switches, d->n_switches * sizeof(*o->pinned));
    copy_ports(o);
    for (uint32_t i = 0; i < d->n_switches; i++) {
        const struct wf_switch *sw = (const struct wf_switch *)wf_fabric_switch(f, i);
        struct wf_pool_sizes sizes;

        wf_pool_sizes(&sw->cfg, &sw->carved, &sizes);
        for (unsigned p = 0; p < WF_POOLS; p++)
            o->pinned[i].cfg.ingress_pool[p].size_bytes = sizes.size[p];
    }
}

/* Instant by instant, with the observer at every port. */
static bool way_observed(struct outcome *o)
{
    struct wf_fabric *f = build(o, &o->scen.desc);
    struct observer ob;
    uint64_t next, now;
    bool ok = true;

    if (!f)
        return false;
    pin_pools(o, f);
    ob_begin(&ob, f, promised_lossless(&o->scen));
    for (next = wft_next_ps(f); ok && next != WF_TIME_NEVER; next = wft_next_ps(f)) {
        if (next > END_MAX_PS || ob.stats.instants > INSTANTS_MAX) {
            ob_fail(&ob, "endless", "still busy at %" PRIu64 " ps after %" PRIu64 " events", next,
                    wf_fabric_events(f));
            break;
        }
        o->end_ps = next;
        /* stops at this instant, its events, and a stop at the very next picosecond */
        wft_run(f, next);
        now = wf_fabric_next_stop_ps(f, WF_STOPS_INPUT) == next + 1 ? next + 1 : next;
        wft_run(f, next + 1);
        ok = ob_instant(&ob, now, wft_next_ps(f));
    }
    if (ok && !ob.kind)
        ob_final(&ob);
    if (ob.kind)
        bad(o, ob.kind, ob.what);
    o->digest = wf_fabric_digest(f).h;
    o->events = wf_fabric_events(f);
    o->hops = wf_fabric_ctr(f, WF_FABRIC_LINK_HOPS);
    o->lossless_drops = wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS);
    o->stats = ob.stats;
    memcpy(o->tight_pg, ob.tight_pg, sizeof(o->tight_pg));
    ob_end(&ob);
    wf_fabric_free(f);
    return !o->kind;
}

/* To the end by the loop of every run; counters of the fabric, summed up over its lcores. */
static bool run_loop(struct outcome *o, struct wf_fabric *f, uint64_t *digest, uint64_t *lossless)
{
    struct wf_run run;
    struct wf_err err;

    if (wf_run_init(&run, f))
        return bad(o, "no_loop", "wf_run_init failed");
    if (wf_run_loop(&run) != WF_RUN_DONE)
        bad(o, "not_done", "the run did not come to its end");
    wf_run_fini(&run);
    wf_fabric_settle(f);
    if (wf_fabric_check(f, &err))
        bad(o, "fabric_check", err.msg);
    *digest = wf_fabric_digest(f).h;
    *lossless = wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS);
    return !o->kind;
}

static bool same_digest(struct outcome *o, const char *way, uint64_t digest)
{
    char what[128];

    if (!o->digest)
        o->digest = digest;
    if (digest == o->digest)
        return true;
    snprintf(what, sizeof(what), "%s: wf1:%016" PRIx64 ", observed: wf1:%016" PRIx64, way, digest,
             o->digest);
    return bad(o, "digest", what);
}

static bool run_as(struct outcome *o, const char *way, const struct wf_fabric_opts *opts)
{
    struct wf_fabric *f = NULL;
    uint64_t digest, lossless;
    struct wf_err err;

    if (wf_fabric_build(&f, &o->scen.desc, opts, &err))
        bad(o, "not_built", err.msg);
    else if (run_loop(o, f, &digest, &lossless))
        same_digest(o, way, digest);
    wf_fabric_free(f);
    return !o->kind;
}

static bool way_plain(struct outcome *o)
{
    return run_as(o, "plain", &(struct wf_fabric_opts){0});
}

/* As many lcores as the fabric can be split into, in the ways in which they can be run. */
static bool way_lcores(struct outcome *o)
{
    return run_as(o, "lcores: 2", &(struct wf_fabric_opts){.lcores = 2}) &&
           run_as(
               o, "lcores: 4, mailboxes of 1",
               &(struct wf_fabric_opts){.lcores = 4, .threads = WF_TEAM_ALONE, .mailbox_slots = 1});
}

/* Threads that wait for each other in a machine that has other work are slow: one case in eight. */
static bool way_threads(struct outcome *o)
{
    if (o->events > THREADS_EVENTS_MAX || o->scen.desc.seed % 8)
        return true;
    return run_as(
        o, "threads: 2, mailboxes of 1",
        &(struct wf_fabric_opts){.lcores = 2, .threads = WF_TEAM_THREADS, .mailbox_slots = 1});
}

/* Bound to wall time: nothing but the clock is different. What takes too long is left out. */
static bool way_paced(struct outcome *o)
{
    if (o->end_ps > PACED_MAX_PS)
        return true;
    return run_as(o, "paced", &(struct wf_fabric_opts){.paced = true});
}

/* The headroom that was used is enough, and nothing changes; a byte less, and something is lost. */
static bool with_headroom(struct outcome *o, bool short_by_one)
{
    struct wf_desc *d = &o->scen.desc, tight = *d;
    struct wf_fabric *f;
    uint64_t digest, lossless = 0;

    tight.switches = o->pinned;
    tight.links = o->links;
    for (unsigned g = 0; g < WF_PGS; g++) {
        uint64_t bytes = o->tight_pg[g] - (short_by_one && o->tight_pg[g]);

        for (uint32_t i = 0; i < d->n_switches; i++)
            o->pinned[i].cfg.port.pg[g].headroom_bytes = bytes;
        for (uint32_t i = 0; i < 2 * d->n_links; i++)
            o->ports[i].pg[g].headroom_bytes = bytes;
    }
    f = build(o, &tight);
    if (f && !run_loop(o, f, &digest, &lossless)) {
        /* what is lost each time in the same way comes through only after many timeouts */
        if (short_by_one && wf_fabric_ctr(f, WF_FABRIC_LOSSLESS_DROPS) &&
            !strcmp(o->kind, "not_done"))
            o->kind = NULL;
    } else if (f) {
        if (short_by_one && !lossless)
            bad(o, "loose_headroom", "a byte less than what was used, and nothing is dropped");
        if (!short_by_one && lossless)
            bad(o, "tight_headroom", "exactly what was used as headroom, and something is dropped");
        if (!short_by_one)
            same_digest(o, "tight", digest);
    }
    wf_fabric_free(f);
    return !o->kind;
}

static bool way_tight(struct outcome *o)
{
    bool used = false;

    for (unsigned g = 0; g < WF_PGS; g++)
        used = used || o->tight_pg[g];
    for (uint32_t i = 0; i < o->scen.desc.n_steps; i++)
        if (o->scen.desc.steps[i].action == WF_DO_LINK_RATE)
            return true; /* the headroom follows the rate; a fixed one does not */
    if (!used || o->lossless_drops)
        return true;
    return with_headroom(o, false) && with_headroom(o, true);
}

/* Rows in order: each is compared with the digest of the first. */
static const struct way {
    const char *name;
    bool (*run)(struct outcome *o);
} ways[] = {
    {"observed", way_observed}, {"plain", way_plain}, {"lcores", way_lcores},
    {"threads", way_threads},   {"paced", way_paced}, {"tight", way_tight},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static void say(const struct outcome *o)
{
    const struct ob_stats *s = &o->stats;

    if (o->kind) {
        printf("bad %s: %s\n", o->kind, o->what);
        return;
    }
    printf("ok digest=wf1:%016" PRIx64 " end_ps=%" PRIu64 " events=%" PRIu64 " hops=%" PRIu64
           " instants=%" PRIu64 " pauses=%" PRIu64 " marks=%" PRIu64 " drops=%" PRIu64
           " lossless_drops=%" PRIu64 " full=%" PRIu64 " trims=%" PRIu64 " flaps=%" PRIu64
           " faults=%" PRIu64 " headroom_ppm=%" PRIu64 "\n",
           o->digest, o->end_ps, o->events, o->hops, s->instants, s->pauses, s->marks, s->drops,
           s->lossless_drops, s->reached_limit, s->trims, s->flaps, s->faults, s->headroom_ppm);
}

static bool run_case(const char *name, const char *text, size_t len, uint32_t mask)
{
    struct outcome *o = calloc(1, sizeof(*o));
    bool ok;

    if (wf_scenario_parse(&o->scen, name, text, len)) {
        const struct wf_diags *d = &o->scen.diags;

        for (size_t i = 0; i < d->n; i++)
            if (!d->items[i]->warning) {
                printf("refused: line %d: %s\n", d->items[i]->err.line, d->items[i]->err.msg);
                break;
            }
        o->kind = "refused";
    } else {
        for (unsigned i = 0; i < WAYS && !o->kind; i++)
            if (mask & 1u << i)
                ways[i].run(o);
        say(o);
    }
    fflush(stdout);
    ok = !o->kind;
    wf_scenario_free(&o->scen);
    free(o->pinned);
    free(o->links);
    free(o->ports);
    free(o);
    return ok;
}

static int serve(uint32_t mask)
{
    char *text = malloc(CASE_MAX), line[32];
    size_t len;

    while (fgets(line, sizeof(line), stdin)) {
        len = strtoul(line, NULL, 10);
        if (len >= CASE_MAX || fread(text, 1, len, stdin) != len)
            return 2;
        run_case("case.yaml", text, len, mask);
    }
    free(text);
    return 0;
}

static int one_file(const char *path, uint32_t mask)
{
    char *text = malloc(CASE_MAX);
    FILE *f = fopen(path, "r");
    size_t len;
    bool ok;

    if (!f) {
        perror(path);
        free(text);
        return 2;
    }
    len = fread(text, 1, CASE_MAX - 1, f);
    fclose(f);
    ok = run_case(path, text, len, mask);
    free(text);
    return !ok;
}

static uint32_t mask_of(const char *names)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < WAYS; i++) {
        const char *at = strstr(names, ways[i].name);

        mask |= at ? 1u << i : 0;
    }
    return mask;
}

int main(int argc, char **argv)
{
    uint32_t mask = UINT32_MAX;
    int i = 1;

    if (i + 1 < argc && !strcmp(argv[i], "--ways")) {
        mask = mask_of(argv[i + 1]);
        i += 2;
    }
    if (i + 1 != argc || !mask) {
        fprintf(stderr, "usage: random_case [--ways WAY,...] FILE | --serve\nways:");
        for (unsigned w = 0; w < WAYS; w++)
            fprintf(stderr, " %s", ways[w].name);
        fprintf(stderr, "\n");
        return 2;
    }
    wft_eal(512);
    return strcmp(argv[i], "--serve") ? one_file(argv[i], mask) : serve(mask);
}
