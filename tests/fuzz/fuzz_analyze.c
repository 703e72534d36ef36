/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures of a stranger through the whole analysis: read, unpack, peel, follow, report. The first
 * byte says how small the tables are; with bit 7 the rest is a script instead of a file, from which
 * well-formed RoCE frames are made, so that the state machines are reached and not only the
 * parsers.
 */
#include <string.h>

#include "analyze/input.h"
#include "analyze/report.h"
#include "analyze/unpack.h"
#include "wire/roce.h"

#include "fuzz.h"

static void check_sums(const struct wf_analyze *a)
{
    uint64_t all = 0, kept = a->findings.n + a->findings.left_out;

    for (int w = 0; w < WF_AN_WHATS; w++)
        for (int v = 0; v < WF_AN_VERDICTS; v++)
            all += a->findings.totals[w][v];
    FUZZ_CHECK(all == kept);
    FUZZ_CHECK(a->table.n <= a->conf.max_streams && a->findings.n <= a->conf.max_findings);
    for (uint32_t i = 0; i < a->table.n; i++) {
        const struct wf_an_stream *s = a->table.streams[i], *y = wf_an_peer(s);

        FUZZ_CHECK(s->req.n_holes == 0 && s->resp.n_holes == 0 && !s->req.run.open);
        FUZZ_CHECK(s->req.new_packets <= s->req.packets);
        FUZZ_CHECK(!y || wf_an_peer(y) == s);
        FUZZ_CHECK(wf_an_index(&a->table, s) == i);
    }
}

static void finish(struct wf_analyze *a, struct wf_an_input *in)
{
    struct wf_an_report r = {.a = a, .in = in, .rows_max = 3};
    FILE *null = fopen("/dev/null", "w");
    json_t *o;

    wf_an_end(a);
    check_sums(a);
    o = wf_an_report_json(&r);
    FUZZ_CHECK(o && null);
    json_decref(o);
    wf_an_report_text(&r, null);
    fclose(null);
}

/* A file, in memory. */
static void file(struct wf_analyze *a, const uint8_t *data, size_t size)
{
    struct wf_an_file name = {.path = "fuzz"};
    struct wf_an_input in = {.files = &name, .n_files = 1};
    FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    struct wf_cap_time start = {0};
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;
    char point[16];

    if (f && wf_an_unpack_stream(&r, f, "fuzz", &err) == 0) {
        while (wf_cap_next(r, &rec, &err) == 1) {
            int64_t t;

            if (!a->frames)
                start = rec.time;
            t = wf_cap_time_diff_ps(start, rec.time) / 4;
            snprintf(point, sizeof(point), "%u", rec.iface_index);
            wf_an_take(a, &rec, 0, wf_an_point_of(a, point), t);
        }
        wf_cap_close(r);
    }
    finish(a, &in);
}

/* Five bytes of script: who, what, which number, the syndrome and the time. */
static uint32_t frame_of(const uint8_t b[5], uint32_t *psn, uint8_t *frame, uint32_t room)
{
    struct wf_roce h = {.ttl = 64, .dscp = 26, .encap = WF_ROCE_V2_IP4, .sport = 49152};
    static const uint8_t ip[16] = {[10] = 0xff, 0xff, 10, 0, 0, 0};
    uint32_t n;

    memcpy(h.src_ip, ip, 16);
    memcpy(h.dst_ip, ip, 16);
    h.src_ip[15] = b[0] & 1;
    h.dst_ip[15] = !(b[0] & 1);
    h.bth.dqpn = 16u + (b[0] >> 1 & 3);
    h.bth.opcode = b[1] & 0x80 ? WF_OP_ACK : b[1];
    h.ip_id = b[0] & 8 ? (uint16_t)(b[4] * 7) : 0;
    /* a step from where the script stands */
    *psn = wf_an_psn(*psn + (uint32_t)(int8_t)b[2]);
    h.bth.psn = *psn;
    h.ext.aeth.syndrome = b[3];
    h.ext.reth.dma_len = (uint32_t)b[3] * 64;
    h.payload_len = wf_opcodes[h.bth.opcode].flags & WF_OPF_PAYLOAD ? b[3] : 0;
    n = wf_roce_hdr_build(frame, room, &h);
    FUZZ_CHECK(n + h.payload_len + 8 <= room);
    memset(frame + n, b[4], h.payload_len);
    return n ? wf_roce_frame_len(n, h.payload_len) : 0;
}

static void script(struct wf_analyze *a, const uint8_t *data, size_t size)
{
    struct wf_an_file name = {.path = "fuzz"};
    struct wf_an_input in = {.files = &name, .n_files = 1};
    static const char *const points[2] = {"A", "B"};
    const struct wf_cap_iface iface = {.link_type = 1, .ticks_per_s = 1};
    uint8_t frame[1024] = {0};
    uint32_t psn = 0xfffff0;
    int64_t t_ps = 0;

    for (size_t i = 0; i + 5 <= size; i += 5) {
        uint32_t len = frame_of(data + i, &psn, frame, sizeof(frame));
        struct wf_cap_rec rec = {.number = i / 5 + 1,
                                 .data = frame,
                                 .cap_bytes = len,
                                 .len_bytes = len,
                                 .timed = true,
                                 .iface = &iface};

        t_ps += (int64_t)1 << (data[i + 4] & 0x1f);
        if (len)
            wf_an_take(a, &rec, 0, wf_an_point_of(a, points[data[i] >> 4 & 1]), t_ps);
    }
    finish(a, &in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_an_conf conf = {.max_streams = 2, .max_findings = 16, .stall_ps = 1000000};
    struct wf_analyze a;

    if (!size)
        return 0;
    conf.max_streams += data[0] & 15;
    conf.ring_bytes = 1 + (data[0] >> 4 & 3) * 4096ull;
    conf.nic = data[0] & 64 ? &wf_an_nics[0] : NULL;
    FUZZ_CHECK(wf_an_init(&a, &conf) == 0);
    if (data[0] & 128)
        script(&a, data + 1, size - 1);
    else
        file(&a, data + 1, size - 1);
    wf_an_free(&a);
    return 0;
}
