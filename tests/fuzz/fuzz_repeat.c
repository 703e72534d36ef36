/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stimuli of any kind and value, as a stranger's ingress log may hold them, acting on a fabric with
 * attached hosts: each acts or is refused with words, and whatever acted, packets and bytes are all
 * accounted for in the end. The input is a script of stimuli with the time between them.
 */
#include <rte_eal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/ingress.h"
#include "base/units.h"

#include "fuzz.h"

enum { HOSTS_PER_LEAF = 2, EDGES = 3, STIMULI_MAX = 200, FRAME_MAX = 2048 };

struct script {
    const uint8_t *at, *end;
};

static uint64_t take(struct script *s, unsigned bytes)
{
    uint64_t v = 0;

    while (bytes-- && s->at < s->end)
        v = v << 8 | *s->at++;
    return v;
}

static void start_eal(void)
{
    static char prefix[32];
    char *argv[] = {
        "fuzz",     "--no-huge", "--no-shconf",   "--no-pci", "--no-telemetry",      "-m", "256",
        "--lcores", "0@0",       "--file-prefix", prefix,     "--log-level=*:error", NULL};

    snprintf(prefix, sizeof(prefix), "wff%d", (int)getpid());
    if (rte_eal_init(sizeof(argv) / sizeof(argv[0]) - 1, argv) < 0) {
        printf("SKIP: EAL does not start here\n");
        exit(77);
    }
    rmdir(rte_eal_get_runtime_dir());
}

struct world {
    struct wf_arena arena;
    struct wf_desc desc;
    struct wf_edges edges;
    struct wf_fabric *f;
};

static void build(struct world *w)
{
    struct wf_fabric_opts opts = {.lcores = 1};
    struct wf_err err;

    memset(w, 0, sizeof(*w));
    w->desc = (struct wf_desc){.name = "fuzz",
                               .seed = 1,
                               .duration_ps = WF_KEY_AUTO,
                               .time_limit_ps = WF_PS_PER_S,
                               .time_scale = 1};
    wf_desc_leaf_spine(&w->desc, &w->arena, 2, 1, HOSTS_PER_LEAF);
    wf_desc_address(&w->desc, &w->arena);
    for (uint32_t i = 0; i < w->desc.n_switches; i++)
        w->desc.switches[i].cfg.port.pg[3].lossless = true;
    for (int i = 0; i < EDGES; i++) {
        w->desc.hosts[i].cfg.attach.type = WF_ATTACH_ETHDEV;
        w->desc.hosts[i].cfg.attach.devargs = "none";
        w->desc.hosts[i].cfg.attach.pfc = i;
        w->desc.hosts[i].cfg.attach.fifo_frames = 4;
    }
    wf_edges_init(&w->edges, NULL, NULL, NULL);
    wf_edges_opts(&w->edges, &w->desc, &opts);
    FUZZ_CHECK(!wf_fabric_build(&w->f, &w->desc, &opts, &err));
    FUZZ_CHECK(!wf_edges_repeat(&w->edges, w->f, &err));
}

/* Bytes of the script; half of them for the gateway, so that they are routed. */
static void any_frame(struct script *s, struct world *w, struct wf_stimulus *st, uint8_t *b)
{
    uint8_t how = (uint8_t)take(s, 1);
    size_t want = take(s, 1), there = (size_t)(s->end - s->at);

    st->cap_bytes = (uint32_t)(want < there ? want : there);
    memcpy(b, s->at, st->cap_bytes);
    s->at += st->cap_bytes;
    if (how & 1 && st->cap_bytes >= 12 && st->edge < EDGES)
        memcpy(b, w->edges.edges[st->edge]->node.ports[0].peer_mac, 6);
    st->len_bytes = st->cap_bytes;
    st->icrc = (enum wf_stimulus_icrc)(how >> 1 & 3);
    if (how & 8)
        st->len_bytes += (uint32_t)take(s, 2);
    st->frame = b;
}

/* The text of a fault: bytes as they come behind a place, or words that make one. */
static const char *any_fault(struct script *s, char text[256])
{
    static const char *const more[] = {
        "nth=2",           "every=3",          "psn=+1-7",        "psn=5",
        "from=h0 to=h1",   "to=h1 qp=#1",      "message=2",       "iteration=2",
        "probability=1/2", "crc=icrc",         "crc=repaired",    "part=frame offset=9",
        "part=l3 keep=7",  "keep=30",          "opcode=ack,0x0a", "match=any",
        "match=control",   "reply_qp=17",      "matched=pass",    "answer_psn=-1",
        "copies=3",        "delay=9us",        "behind=2",        "bytes=5000",
        "part=ext",        "part=bth bytes=8", "dir=in",          "match=roce",
        "limit=2",         "within=3us"};
    unsigned n = (unsigned)take(s, 1), words = n / 16 % 5;
    int used = snprintf(text, 256, "do=%s where=leaf%u:p%u", wf_fault_action_names[n % 13], n & 1,
                        n / 2 % 4);

    for (unsigned i = 0; i < words; i++)
        used += snprintf(text + used, 256 - (size_t)used, " %s",
                         more[take(s, 1) % (sizeof(more) / sizeof(more[0]))]);
    for (unsigned i = 0; n > 250 && i < 16; i++)
        text[used++] = (char)take(s, 1);
    text[used] = '\0';
    return text;
}

static void one(struct script *s, struct world *w)
{
    static const char *const places[] = {"leaf0:p0-h0:p0",
                                         "h0:p0",
                                         "leaf0:p2-spine0:p0",
                                         "leaf0:p2",
                                         "leaf1:p0",
                                         "in_too_long_frames",
                                         "",
                                         NULL};
    uint8_t b[FRAME_MAX], wide = (uint8_t)take(s, 1);
    struct wf_stimulus st = {.t_ps = wf_fabric_now_ps(w->f),
                             .kind = (enum wf_stimulus_kind)(wide % (WF_STIM_KINDS + 1)),
                             .edge = (uint32_t)take(s, 1) % (EDGES + 1),
                             .on = wide & 128};
    struct wf_err err = {0};
    char fault[256];

    st.where = places[take(s, 1) % (sizeof(places) / sizeof(places[0]))];
    st.value = take(s, wide & 64 ? 8 : 2);
    if (st.kind == WF_STIM_FRAME)
        any_frame(s, w, &st, b);
    st.vector = (uint8_t)st.value;
    if (st.kind == WF_STIM_FAULT)
        st.where = any_fault(s, fault);
    if (wf_ingress_repeat(&w->edges, &st, &err))
        FUZZ_CHECK(err.msg[0]);
}

static void run_on(struct world *w, uint64_t ps)
{
    uint64_t end = wf_fabric_now_ps(w->f) + ps;

    while (wf_fabric_now_ps(w->f) < end)
        wf_fabric_turn(w->f, end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script s = {data, data + size};
    static bool started;
    struct world w;
    struct wf_err err;

    if (!started)
        start_eal();
    started = true;
    build(&w);
    for (int n = 0; n < STIMULI_MAX && s.at < s.end; n++) {
        one(&s, &w);
        run_on(&w, take(&s, 1) * 50 * WF_PS_PER_NS);
    }
    run_on(&w, 100 * WF_PS_PER_US);
    wf_fabric_settle(w.f);
    if (wf_fabric_check(w.f, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        FUZZ_CHECK(false);
    }
    wf_edges_close(&w.edges);
    wf_fabric_free(w.f);
    wf_arena_free(&w.arena);
    return 0;
}
