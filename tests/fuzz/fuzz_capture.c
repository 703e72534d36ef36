/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture files of a stranger: the reader, and what replay makes of the frames before it starts. */
#include <string.h>

#include "cap/replay_map.h"
#include "cap/replay_plan.h"

#include "fuzz.h"

static struct wf_cap_reader *open_bytes(const uint8_t *data, size_t size)
{
    FILE *f = fmemopen((void *)(uintptr_t)data, size, "rb");
    struct wf_cap_reader *r = NULL;
    struct wf_err err = {0};

    FUZZ_CHECK(f != NULL);
    FUZZ_CHECK((wf_cap_open_stream(&r, f, "fuzz", &err) == 0) == (r != NULL));
    FUZZ_CHECK(r || err.msg[0]);
    return r;
}

static uint64_t read_all(struct wf_cap_reader *r, size_t size)
{
    struct wf_cap_rec rec;
    struct wf_err err = {0};
    uint64_t n = 0;
    int rc;

    while ((rc = wf_cap_next(r, &rec, &err)) == 1) {
        uint8_t sum = 0;

        n++;
        FUZZ_CHECK(rec.number == n && rec.offset < size);
        FUZZ_CHECK(rec.cap_bytes <= rec.len_bytes && rec.cap_bytes <= size);
        FUZZ_CHECK(rec.time.ps < 1000000000000ull && rec.iface != NULL);
        for (uint32_t i = 0; i < rec.cap_bytes; i++)
            sum ^= rec.data[i];
        FUZZ_CHECK(sum == sum && (!rec.comment || strlen(rec.comment) <= size));
    }
    FUZZ_CHECK(rc == 0 || err.msg[0]);
    FUZZ_CHECK(wf_cap_next(r, &rec, &err) == rc); /* the end stays the end */
    return n;
}

static void check_plan(const struct wf_replay_plan *plan)
{
    uint64_t frames = 0, from = 0;
    char text[160];

    for (uint32_t i = 0; i < plan->n_flows; i++) {
        frames += plan->flows[i].frames;
        FUZZ_CHECK(strlen(wf_flow_text(&plan->flows[i].key, text, sizeof(text))) > 0);
    }
    for (uint32_t i = 0; i < plan->n_sources; i++)
        from += plan->sources[i].frames;
    FUZZ_CHECK(frames == plan->rocev2 + plan->rocev1 + plan->others && from == frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct wf_replay_plan_conf conf;
    static const struct wf_replay_host_id hosts[2] = {{.name = "h0"}, {.name = "h1"}};
    static const struct wf_replay_map_conf map = {.automatic = true, .others = 0};
    struct wf_cap_reader *r = size ? open_bytes(data, size) : NULL;
    struct wf_replay_plan plan;
    struct wf_err err = {0};
    uint64_t n;
    int rc;

    if (!r)
        return 0;
    n = read_all(r, size);
    wf_cap_close(r);
    r = open_bytes(data, size);
    rc = wf_replay_plan_read(&plan, r, &conf, &err);
    FUZZ_CHECK(plan.n_frames <= n && (rc == 0 || err.msg[0]));
    wf_cap_close(r);
    check_plan(&plan);
    FUZZ_CHECK(wf_replay_map(&plan, hosts, 2, &map, &err) == 0);
    wf_replay_plan_free(&plan);
    return 0;
}
