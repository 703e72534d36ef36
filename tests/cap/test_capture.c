/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture points: what a record says of a frame's stay at a port, held against closed forms; which
 * frames are taken; virtual payloads made real; and live captures, whose disk may be slow or gone
 * without the fabric noticing.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cap/capture.h"
#include "cap/reader.h"
#include "support.h"
#include "wire/icrc.h"

enum { PAYLOAD = 1024, FRAME = 1082 + 4 }; /* with FCS */

static char dir[64];
static struct wf_arena arena;
static struct wf_desc desc;

static char *temp(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static struct wf_fabric *build(void)
{
    memset(&desc, 0, sizeof(desc));
    desc.seed = 1;
    desc.time_scale = 1;
    desc.duration_ps = WF_KEY_AUTO;
    wf_desc_leaf_spine(&desc, &arena, 1, 1, 2);
    wf_desc_address(&desc, &arena);
    return wft_build(&desc);
}

static struct wf_captures *capture_at(struct wf_fabric *f, const char *port,
                                      struct wf_capture_cfg cfg, struct wf_captures_conf conf)
{
    struct wf_captures *c;
    struct wf_err err = {0};

    if (!cfg.file)
        cfg.file = temp("cap.pcapng");
    assert_int_equal(wf_captures_new(&c, &conf, &err), 0);
    assert_int_equal(wf_captures_add(c, &cfg, wf_fabric_port(f, port), &err), 0);
    return c;
}

/* n WRITE Middle packets with virtual payload from h0 to h1, all queued now. */
static void send(struct wf_fabric *f, unsigned n, unsigned ecn)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t hdr, len;

    for (unsigned i = 0; i < n; i++) {
        hdr = wft_roce(f, 0, 1, 26, (uint8_t)ecn, i, PAYLOAD, buf, &len);
        wft_send(f, 0, 0, 3, buf, hdr, len);
    }
}

static unsigned read_all(const char *path, struct wf_cap_rec *recs, char (*comments)[256],
                         unsigned max)
{
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;
    unsigned n = 0;

    assert_int_equal(wf_cap_open(&r, path, &err), 0);
    while (wf_cap_next(r, &rec, &err) == 1 && n < max) {
        recs[n] = rec;
        snprintf(comments[n++], 256, "%s", rec.comment ? rec.comment : "");
    }
    wf_cap_close(r);
    return n;
}

static void a_queue_is_told_frame_by_frame(void **state)
{
    struct wf_fabric *f = build();
    struct wf_captures *c =
        capture_at(f, "h0:p0", (struct wf_capture_cfg){.time = WF_CAPTURE_PS, .drops = true},
                   (struct wf_captures_conf){0});
    uint64_t slot = wf_txclock_span(&wf_fabric_port(f, "h0:p0")->tx, (FRAME + 20) * 8);
    struct wf_cap_rec recs[8];
    char text[8][256], expected[256], waited[32];

    (void)state;
    send(f, 3, 2);
    wft_run(f, WF_TIME_NEVER);
    wf_captures_stop(c);
    assert_int_equal(read_all(temp("cap.pcapng"), recs, text, 8), 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(recs[i].time.ps, i * slot);
        assert_int_equal(recs[i].dir, WF_CAP_DIR_OUT);
        assert_int_equal(recs[i].len_bytes, FRAME - 4);
        snprintf(expected, sizeof(expected), "queue=3 prio=3 depth_bytes=%u waited=%s paused=0",
                 i * FRAME, wf_time_text(i * slot, waited, sizeof(waited)));
        assert_string_equal(text[i], expected);
    }
    wf_captures_free(c);
    wf_fabric_free(f);
}

/* A pause of 100 quanta sent to h0 before it begins: the frame's record says how long. */
static void a_pause_is_told(void **state)
{
    struct wf_fabric *f = build();
    struct wf_captures *c = capture_at(f, "h0:p0", (struct wf_capture_cfg){.time = WF_CAPTURE_PS},
                                       (struct wf_captures_conf){0});
    struct wf_port *leaf = wf_fabric_port(f, "leaf0:p0");
    struct wf_cap_rec recs[8];
    char text[8][256], paused[32], expected[256];
    uint64_t xon_ps, sent_ps;

    (void)state;
    wf_pfc_xoff(leaf, 3);
    wft_run(f, 2000000);
    send(f, 1, 2);
    wft_run(f, 3000000);
    wf_pfc_xon(leaf, 3);
    wft_run(f, WF_TIME_NEVER);
    wf_captures_stop(c);
    /* XOFF in, XON in, then the frame out at the instant of the XON's arrival */
    assert_int_equal(read_all(temp("cap.pcapng"), recs, text, 8), 3);
    assert_int_equal(recs[0].dir, WF_CAP_DIR_IN);
    assert_int_equal(recs[2].dir, WF_CAP_DIR_OUT);
    xon_ps = recs[1].time.ps;
    sent_ps = recs[2].time.ps;
    assert_int_equal(sent_ps, xon_ps);
    wf_time_text(sent_ps - 2000000, paused, sizeof(paused));
    snprintf(expected, sizeof(expected), "queue=3 prio=3 depth_bytes=0 waited=%s paused=%s", paused,
             paused);
    assert_string_equal(text[2], expected);
    wf_captures_free(c);
    wf_fabric_free(f);
}

static void a_virtual_payload_is_made_real(void **state)
{
    struct wf_fabric *f = build();
    struct wf_captures *c =
        capture_at(f, "h1:p0", (struct wf_capture_cfg){.direction = WF_CAPTURE_RX},
                   (struct wf_captures_conf){0});
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_parsed p;
    struct wf_err err;

    (void)state;
    send(f, 1, 2);
    wft_run(f, WF_TIME_NEVER);
    wf_captures_stop(c);
    assert_int_equal(wf_cap_open(&r, temp("cap.pcapng"), &err), 0);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_int_equal(rec.cap_bytes, FRAME - 4);
    assert_int_equal(wf_parse(rec.data, rec.cap_bytes, rec.len_bytes, &p), WF_DROP_NONE);
    assert_int_equal(wf_icrc_check(rec.data, rec.cap_bytes, &p), WF_ICRC_OK);
    for (uint32_t i = 0; i < PAYLOAD; i++)
        assert_int_equal(rec.data[p.payload_off + i], 0);
    wf_cap_close(r);
    wf_captures_free(c);
    wf_fabric_free(f);
}

static void a_drop_has_a_record_and_its_reason(void **state)
{
    struct wf_fabric *f = build();
    struct wf_captures *c =
        capture_at(f, "leaf0:p0", (struct wf_capture_cfg){.drops = true, .snaplen = 64},
                   (struct wf_captures_conf){0});
    struct wf_cap_rec recs[8];
    char text[8][256];

    (void)state;
    wf_fabric_port(f, "leaf0:p1")->link->cfg.mtu = 500;
    wf_link_tell(wf_fabric_port(f, "leaf0:p1")->link);
    send(f, 1, 2);
    wft_run(f, WF_TIME_NEVER);
    wf_captures_stop(c);
    assert_int_equal(read_all(temp("cap.pcapng"), recs, text, 8), 2);
    assert_string_equal(text[0], "");
    assert_int_equal(recs[0].dir, WF_CAP_DIR_IN);
    assert_int_equal(recs[0].cap_bytes, 64);
    assert_int_equal(recs[0].len_bytes, FRAME - 4);
    assert_string_equal(text[1], "drop=mtu");
    assert_int_equal(recs[1].dir, WF_CAP_DIR_UNKNOWN);
    wf_captures_free(c);
    wf_fabric_free(f);
}

static void a_mark_is_told_downstream(void **state)
{
    struct wf_fabric *f;
    struct wf_captures *c;
    struct wf_cap_rec recs[16];
    char text[16][256];
    unsigned marked = 0;

    (void)state;
    f = build();
    wf_fabric_inject(
        f, wf_fabric_port(f, "h0:p0"),
        &(struct wf_fault){.action = WF_FAULT_CE, .match = WF_FAULT_ROCE_DATA, .every = 2});
    c = capture_at(f, "h1:p0", (struct wf_capture_cfg){.direction = WF_CAPTURE_RX},
                   (struct wf_captures_conf){0});
    send(f, 10, 2);
    wft_run(f, WF_TIME_NEVER);
    wf_captures_stop(c);
    assert_int_equal(read_all(temp("cap.pcapng"), recs, text, 16), 10);
    for (unsigned i = 0; i < 10; i++)
        marked += strcmp(text[i], "marked=1") == 0;
    assert_int_equal(marked, 5);
    wf_captures_free(c);
    wf_fabric_free(f);
}

static void only_the_class_that_was_asked_for(void **state)
{
    static const struct {
        int match;
        unsigned n;
    } rows[] = {{WF_CAPTURE_ANY, 4},
                {WF_CAPTURE_ROCE, 4},
                {WF_CAPTURE_ROCE_DATA, 4},
                {WF_CAPTURE_ROCE_ACK, 0},
                {WF_CAPTURE_CONTROL, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_fabric *f = build();
        struct wf_captures *c =
            capture_at(f, "h1:p0", (struct wf_capture_cfg){.match = rows[i].match},
                       (struct wf_captures_conf){0});

        send(f, 4, 2);
        wft_run(f, WF_TIME_NEVER);
        wf_captures_stop(c);
        assert_int_equal(wf_captures_totals(c).packets, rows[i].n);
        wf_captures_free(c);
        wf_fabric_free(f);
    }
}

static void points_share_a_file(void **state)
{
    struct wf_fabric *f = build();
    struct wf_captures *c =
        capture_at(f, "h0:p0", (struct wf_capture_cfg){.direction = WF_CAPTURE_TX},
                   (struct wf_captures_conf){0});
    struct wf_capture_cfg cfg = {.file = temp("cap.pcapng"), .direction = WF_CAPTURE_RX};
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;

    (void)state;
    assert_int_equal(wf_captures_add(c, &cfg, wf_fabric_port(f, "h1:p0"), &err), 0);
    send(f, 1, 2);
    wft_run(f, WF_TIME_NEVER);
    wf_captures_stop(c);
    assert_int_equal(wf_captures_totals(c).files, 1);
    assert_int_equal(wf_cap_open(&r, temp("cap.pcapng"), &err), 0);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_string_equal(rec.iface->name, "h0:p0");
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_string_equal(rec.iface->name, "h1:p0");
    wf_cap_close(r);
    wf_captures_free(c);
    wf_fabric_free(f);
}

/* ---- live ---- */

static void live_records_reach_the_file(void **state)
{
    struct wf_fabric *f = build();
    struct wf_captures *c =
        capture_at(f, "h1:p0", (struct wf_capture_cfg){.direction = WF_CAPTURE_RX},
                   (struct wf_captures_conf){.live = true, .epoch_s = 1700000000});
    struct wf_cap_rec recs[128];
    static char text[128][256];

    (void)state;
    send(f, 100, 2);
    wft_run(f, WF_TIME_NEVER);
    wf_captures_stop(c);
    assert_int_equal(wf_captures_totals(c).packets, 100);
    assert_int_equal(wf_captures_totals(c).lost, 0);
    assert_int_equal(read_all(temp("cap.pcapng"), recs, text, 128), 100);
    assert_int_equal(recs[0].time.sec, 1700000000);
    wf_captures_free(c);
    wf_fabric_free(f);
}

/* Nobody reads the fifo: the fabric goes on, the ring fills, the rest is counted. */
static void a_slow_disk_costs_records_and_nothing_else(void **state)
{
    struct wf_fabric *f = build();
    struct wf_captures *c;
    struct wf_capture_totals t;
    char *path = temp("fifo");
    int fd;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    c = capture_at(f, "h1:p0", (struct wf_capture_cfg){.file = path, .direction = WF_CAPTURE_RX},
                   (struct wf_captures_conf){.live = true, .ring_bytes = 65536});
    for (int i = 0; i < 40; i++) { /* 2.2 MB: more than pipe, buffer and ring hold */
        send(f, 50, 2);
        wft_run(f, WF_TIME_NEVER);
    }
    assert_int_equal(wf_fabric_port(f, "h1:p0")->ctr[WF_PORT_RX_FRAMES], 2000);
    close(fd);
    wf_captures_stop(c);
    t = wf_captures_totals(c);
    assert_int_equal(t.packets + t.lost, 2000);
    assert_true(t.lost > 0);
    wf_captures_free(c);
    wf_fabric_free(f);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/weft-capture-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    char cmd[128];

    (void)state;
    wf_arena_free(&arena);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    return system(cmd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_told_frame_by_frame),
        cmocka_unit_test(a_pause_is_told),
        cmocka_unit_test(a_virtual_payload_is_made_real),
        cmocka_unit_test(a_drop_has_a_record_and_its_reason),
        cmocka_unit_test(a_mark_is_told_downstream),
        cmocka_unit_test(only_the_class_that_was_asked_for),
        cmocka_unit_test(points_share_a_file),
        cmocka_unit_test(live_records_reach_the_file),
        cmocka_unit_test(a_slow_disk_costs_records_and_nothing_else),
    };

    wft_eal(96);
    return cmocka_run_group_tests_name("cap/capture", tests, setup, teardown);
}
