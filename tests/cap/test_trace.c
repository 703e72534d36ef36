/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Series of a run against closed forms: a queue that two senders fill and one link drains, its
 * samples and its rate, and pauses whose begin and end follow from the frames' times (802.1Q 36,
 * 802.3 31B). Frames of 1086 bytes take 88.48 ns of a 100G link, 87.52 of them before the last bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cap/trace.h"
#include "eth/pfc.h"
#include "support.h"
#include "wire/edit.h"
#include "wire/pfc.h"

enum {
    PAYLOAD = 1024,
    FRAME = 1082 + 4, /* with FCS */
    SLOT_PS = (FRAME + 20) * 80,
    LAST_BIT_PS = (FRAME + 8) * 80,
    PFC_LAST_BIT_PS = (64 + 8) * 80,
    LATENCY_PS = 500000,
    QUANTUM_PS = 512 * 10,
    ROWS_MAX = 4096,
};

struct row {
    unsigned long long t, value;
    char object[64], series[64];
};

static char path[64];
static struct wf_arena arena;
static struct wf_desc desc;
static struct wf_fabric *f;
static struct wf_run run;
static struct wf_traces *traces;
static struct row rows[ROWS_MAX];
static unsigned n_rows;
static uint64_t delay_ps;

static void build(void)
{
    const struct wf_traces_conf conf = {0};
    struct wf_traces_conf c = conf;
    struct wf_err err;

    memset(&desc, 0, sizeof(desc));
    desc.seed = 1;
    desc.time_scale = 1;
    desc.duration_ps = WF_KEY_AUTO;
    desc.time_limit_ps = WF_PS_PER_MS;
    wf_desc_leaf_spine(&desc, &arena, 1, 0, 3);
    wf_desc_address(&desc, &arena);
    desc.switches[0].cfg.latency_ps = LATENCY_PS;
    f = wft_build(&desc);
    delay_ps = f->links[0].cfg.delay_ps;
    assert_int_equal(f->links[0].cfg.rate_bps, 100000000000);
    assert_int_equal(wf_run_init(&run, f), 0);
    c.f = f;
    assert_int_equal(wf_traces_new(&traces, &c, &err), 0);
}

static void add(const struct wf_trace_cfg *cfg, const char *object, const char *series)
{
    struct wf_ctr_walk w = wf_fabric_ctrs(f, (unsigned)WF_CTR_ALL_TABLES);
    char name[WF_CTR_NAME_MAX];
    struct wf_err err;
    struct wf_series s;

    while (wf_ctr_next(&w))
        if (!strcmp(wf_ctr_name(&w, name), object) && wf_series_find(w.table, series, &s))
            assert_int_equal(wf_traces_add(traces, cfg, &w, series, &err), 0);
}

static struct wf_trace_cfg on_change(void)
{
    return (struct wf_trace_cfg){.on = WF_TRACE_CHANGE, .file = path};
}

static void start(void)
{
    struct wf_err err;

    assert_int_equal(wf_traces_start(traces, &run, &err), 0);
}

static void end(void)
{
    FILE *in;

    wf_traces_stop(traces);
    assert_int_equal(wf_traces_totals(traces).lost, 0);
    wf_traces_free(traces);
    wf_run_fini(&run);
    wft_check(f);
    wf_fabric_free(f);
    in = fopen(path, "r");
    assert_non_null(in);
    n_rows = 0;
    assert_int_equal(fscanf(in, "time_ps,object,series,value\n"), 0);
    while (n_rows < ROWS_MAX &&
           fscanf(in, "%llu,%63[^,],%63[^,],%llu\n", &rows[n_rows].t, rows[n_rows].object,
                  rows[n_rows].series, &rows[n_rows].value) == 4)
        n_rows++;
    assert_true(feof(in));
    fclose(in);
}

static void expect(unsigned i, uint64_t t, const char *object, uint64_t value)
{
    assert_true(i < n_rows);
    assert_string_equal(rows[i].object, object);
    assert_int_equal(rows[i].t, t);
    assert_int_equal(rows[i].value, value);
}

/* n frames of h1 and of h2 each, all to h0, back to back from 0 on. */
static void fill(unsigned n)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (uint32_t from = 1; from <= 2; from++)
        for (unsigned i = 0; i < n; i++) {
            uint32_t hdr = wft_roce(f, from, 0, 26, WF_ECN_ECT0, i, PAYLOAD, buf, &len);

            wft_send(f, from, 0, 3, buf, hdr, len);
        }
}

static uint64_t arrival_ps(unsigned k)
{
    return (uint64_t)k * SLOT_PS + LAST_BIT_PS + delay_ps;
}

static uint64_t departure_ps(unsigned j)
{
    return arrival_ps(0) + LATENCY_PS + (uint64_t)j * SLOT_PS;
}

/* What the queue holds after all before `t` (or, until: and at it). */
static uint64_t queue_at(uint64_t t, unsigned n, bool and_at)
{
    uint64_t bytes = 0;

    for (unsigned k = 0; k < n; k++)
        bytes += arrival_ps(k) < t || (and_at && arrival_ps(k) == t) ? 2 * FRAME : 0;
    for (unsigned j = 0; j < 2 * n; j++)
        bytes -= departure_ps(j) < t || (and_at && departure_ps(j) == t) ? FRAME : 0;
    return bytes;
}

static void a_queue_fills_and_drains(void **state)
{
    const struct wf_trace_cfg cfg = on_change();
    unsigned n = 20, k = 0, j = 0, i = 1;

    (void)state;
    build();
    add(&cfg, "leaf0:p0.q3", "queue_bytes");
    start();
    fill(n);
    assert_int_equal(wf_run_loop(&run), WF_RUN_DONE);
    end();
    expect(0, 0, "leaf0:p0.q3", 0);
    while (k < n || j < 2 * n) {
        bool comes = k < n && arrival_ps(k) < departure_ps(j);
        uint64_t t = comes ? arrival_ps(k) : departure_ps(j);

        expect(i++, t, "leaf0:p0.q3", queue_at(t, n, true));
        k += comes;
        j += !comes;
    }
    /* the run ends with the last bit at h0 */
    expect(i++, departure_ps(2 * n - 1) + LAST_BIT_PS + delay_ps, "leaf0:p0.q3", 0);
    assert_int_equal(n_rows, i);
}

static void samples_and_rates(void **state)
{
    const struct wf_trace_cfg cfg = {.every_ps = 1000000, .file = path};
    unsigned n = 20, i = 0;
    uint64_t end_ps, from = 0, sent = 0;

    (void)state;
    build();
    add(&cfg, "leaf0:p0.q3", "queue_bytes");
    add(&cfg, "leaf0:p0.q3", "tx_bps");
    start();
    fill(n);
    assert_int_equal(wf_run_loop(&run), WF_RUN_DONE);
    end();
    end_ps = departure_ps(2 * n - 1) + LAST_BIT_PS + delay_ps;
    expect(i++, 0, "leaf0:p0.q3", 0);
    while (from < end_ps) {
        uint64_t t = from + cfg.every_ps < end_ps ? from + cfg.every_ps : end_ps, bits = 0;

        for (unsigned j = 0; j < 2 * n; j++)
            bits += departure_ps(j) >= from && departure_ps(j) < t ? FRAME * 8 : 0;
        expect(i++, t, "leaf0:p0.q3", queue_at(t, n, false));
        assert_string_equal(rows[i].series, "tx_bps");
        expect(i++, t, "leaf0:p0.q3", (bits * WF_PS_PER_S + (t - from) / 2) / (t - from));
        from = t;
        sent += bits / 8;
    }
    assert_int_equal(n_rows, i);
    assert_int_equal(sent, 2 * n * FRAME);
}

/* XOFF at 0, XON at 2 us: the peer stops when the last bit of either is there. */
static void a_pause_has_its_begin_and_end(void **state)
{
    const struct wf_trace_cfg cfg = on_change();
    struct wf_port *leaf;

    (void)state;
    build();
    add(&cfg, "leaf0:p0.prio3", "pausing");
    add(&cfg, "h0:p0.prio3", "paused");
    start();
    leaf = wf_fabric_port(f, "leaf0:p0");
    wf_pfc_xoff(leaf, 3);
    wft_run(f, 2000000);
    wf_pfc_xon(leaf, 3);
    assert_int_equal(wf_run_loop(&run), WF_RUN_DONE);
    end();
    expect(0, 0, "leaf0:p0.prio3", 1);
    expect(1, 0, "h0:p0.prio3", 0);
    expect(2, PFC_LAST_BIT_PS + delay_ps, "h0:p0.prio3", 1);
    expect(3, 2000000, "leaf0:p0.prio3", 0);
    /* the run ends here: the last rows fall together with the change */
    expect(4, 2000000 + PFC_LAST_BIT_PS + delay_ps, "leaf0:p0.prio3", 0);
    expect(5, 2000000 + PFC_LAST_BIT_PS + delay_ps, "h0:p0.prio3", 0);
    assert_int_equal(n_rows, 6);
}

static void send_pfc(uint32_t host, uint64_t t_ps, uint16_t quanta)
{
    struct wf_node *node = wf_fabric_host(f, host);
    uint16_t times[WF_PRIOS] = {0, 0, 0, quanta};
    uint8_t frame[60];

    wf_pfc_build(frame, node->mac, 1 << 3, times);
    wft_send(f, host, t_ps, 3, frame, sizeof(frame), sizeof(frame));
}

/* Nobody acts when the quanta run out: the end is planned, and planned anew when it moves. */
static void a_pause_expires(void **state)
{
    const struct wf_trace_cfg cfg = on_change();
    uint64_t response, first = 0, second = 9000000, last;
    unsigned i = 0;

    (void)state;
    build();
    add(&cfg, "leaf0:p1.prio3", "paused");
    start();
    response = wf_pfc_of(wf_fabric_port(f, "leaf0:p1"))->response_ps;
    send_pfc(1, first, 1000);          /* 5.12 us */
    send_pfc(1, first + 3000000, 900); /* prolonged by then */
    send_pfc(1, second, 1000);
    send_pfc(1, second + 4000000, 0); /* ended before its time */
    send_pfc(1, 20000000, 1);         /* over before the queue could stop */
    assert_int_equal(wf_run_loop(&run), WF_RUN_DONE);
    last = wf_fabric_now_ps(f);
    end();
    assert_true(response > QUANTUM_PS && response < 1000 * QUANTUM_PS);
    expect(i++, 0, "leaf0:p1.prio3", 0);
    expect(i++, first + PFC_LAST_BIT_PS + delay_ps + response, "leaf0:p1.prio3", 1);
    expect(i++, first + 3000000 + PFC_LAST_BIT_PS + delay_ps + 900 * QUANTUM_PS, "leaf0:p1.prio3",
           0);
    expect(i++, second + PFC_LAST_BIT_PS + delay_ps + response, "leaf0:p1.prio3", 1);
    expect(i++, second + 4000000 + PFC_LAST_BIT_PS + delay_ps, "leaf0:p1.prio3", 0);
    expect(i++, last, "leaf0:p1.prio3", 0);
    assert_int_equal(n_rows, i);
}

static void names_of_series(void **state)
{
    struct wf_series s;

    (void)state;
    assert_true(wf_series_find(&wf_ctrs_queue, "queue_bytes", &s));
    assert_int_equal(s.kind, WF_SERIES_VALUE);
    assert_int_equal(s.row, WF_QUEUE_BYTES);
    assert_true(wf_series_find(&wf_ctrs_queue, "tx_bps", &s));
    assert_int_equal(s.kind, WF_SERIES_RATE);
    assert_int_equal(s.row, WF_QUEUE_TX_BYTES);
    assert_int_equal(s.scale, 8);
    assert_true(wf_series_find(&wf_ctrs_queue, "tx_frames_per_s", &s));
    assert_int_equal(s.scale, 1);
    assert_false(wf_series_find(&wf_ctrs_queue, "queue_bps", &s)); /* a level */
    assert_false(wf_series_find(&wf_ctrs_queue, "tx_bytes_per_s", &s));
    assert_false(wf_series_find(&wf_ctrs_prio, "paused_ps_per_s", &s));
    assert_true(wf_series_find(&wf_ctrs_prio, "paused", &s));
    assert_false(wf_series_find(&wf_ctrs_port, "paused", &s));
    assert_false(wf_series_find(&wf_ctrs_port, "_bps", &s));
    assert_false(wf_series_find(&wf_ctrs_port, "", &s));
}

static int setup(void **state)
{
    int fd;

    (void)state;
    strcpy(path, "/tmp/weft-trace-XXXXXX");
    fd = mkstemp(path);
    close(fd);
    return fd < 0;
}

static int teardown(void **state)
{
    (void)state;
    wf_arena_free(&arena);
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_fills_and_drains),
        cmocka_unit_test(samples_and_rates),
        cmocka_unit_test(a_pause_has_its_begin_and_end),
        cmocka_unit_test(a_pause_expires),
        cmocka_unit_test(names_of_series),
    };

    wft_eal(96);
    return cmocka_run_group_tests_name("cap/trace", tests, setup, teardown);
}
