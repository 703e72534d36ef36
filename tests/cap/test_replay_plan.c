/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What replay knows of a capture before it starts, on the golden captures, whose generator shares
 * no code with the reader, the parser and the ICRC that judge them here; the mapping of sources to
 * hosts; the order of sequence numbers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cap/replay_map.h"
#include "cap/replay_plan.h"

static const struct wf_replay_plan_conf plain;

static int read_plan(struct wf_replay_plan *plan, const char *name,
                     const struct wf_replay_plan_conf *conf, struct wf_err *err)
{
    const char *source = getenv("WEFT_SOURCE");
    struct wf_cap_reader *r;
    char path[512];
    int rc;

    assert_non_null(source);
    snprintf(path, sizeof(path), "%s/captures/%s", source, name);
    assert_int_equal(wf_cap_open(&r, path, err), 0);
    rc = wf_replay_plan_read(plan, r, conf, err);
    wf_cap_close(r);
    return rc;
}

static struct wf_replay_flow *flow_named(struct wf_replay_plan *plan, const char *text)
{
    char buf[160];

    for (uint32_t i = 0; i < plan->n_flows; i++)
        if (strcmp(wf_flow_text(&plan->flows[i].key, buf, sizeof(buf)), text) == 0)
            return &plan->flows[i];
    for (uint32_t i = 0; i < plan->n_flows; i++)
        print_message("there is '%s'\n", wf_flow_text(&plan->flows[i].key, buf, sizeof(buf)));
    fail_msg("no flow '%s'", text);
    return NULL;
}

static void sends_are_understood(void **state)
{
    struct wf_replay_flow *data, *acks, *only;
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    assert_int_equal(read_plan(&plan, "rocev2-sends.pcap", &plain, &err), 0);
    assert_int_equal(plan.n_frames, 101);
    assert_int_equal(plan.rocev2, 98);
    assert_int_equal(plan.others, 3);
    assert_int_equal(plan.backwards, 1);
    assert_int_equal(plan.back_max_ps, 1000000);
    data = flow_named(&plan, "192.0.2.6:72 > 192.0.2.4 qp 0x000045");
    acks = flow_named(&plan, "192.0.2.4:69 > 192.0.2.6 qp 0x000048");
    assert_int_equal(data->frames, 65); /* 64 of data, and one ACK */
    assert_int_equal(acks->frames, 33);
    assert_int_equal(data->icrc_in[WF_ICRC_OK], 65);
    assert_int_equal(acks->icrc_in[WF_ICRC_OK], 33);
    assert_int_equal(data->in[0].in_order, 64);
    assert_int_equal(data->in[0].gaps + data->in[0].repeats, 0);
    assert_int_equal(acks->in[1].in_order, 32);
    assert_ptr_equal(&plan.flows[acks->acks_of], data);
    assert_ptr_equal(&plan.flows[data->acks_of], acks);
    only = flow_named(&plan, "fe80::1 > ff02::2 ICMPv6");
    assert_int_equal(only->frames, 1);
    wf_replay_plan_free(&plan);
}

static void vlan_marks_and_gaps_are_seen(void **state)
{
    struct wf_replay_plan plan;
    struct wf_replay_flow *f;
    struct wf_err err;

    (void)state;
    assert_int_equal(read_plan(&plan, "rocev2-vlan-ecn-cnp.pcap", &plain, &err), 0);
    f = flow_named(&plan, "192.0.2.6:49152 > 192.0.2.4 qp 0x000011");
    assert_int_equal(f->frames, 4);
    assert_int_equal(f->ce_before, 2);
    assert_int_equal(f->icrc_in[WF_ICRC_OK], 4);
    assert_int_equal(f->in[0].in_order, 3); /* over the wrap */
    assert_int_equal(f->in[0].gaps, 1);
    assert_int_equal(f->in[0].missing, 1);
    wf_replay_plan_free(&plan);
}

static void icrc_verdicts(void **state)
{
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    assert_int_equal(read_plan(&plan, "rocev2-ipv6.pcap", &plain, &err), 0);
    assert_int_equal(plan.flows[0].icrc_in[WF_ICRC_OK], 4);
    wf_replay_plan_free(&plan);
    assert_int_equal(read_plan(&plan, "rocev2-bad-icrc.pcap", &plain, &err), 0);
    assert_int_equal(plan.flows[0].icrc_in[WF_ICRC_BAD], 1);
    wf_replay_plan_free(&plan);
    assert_int_equal(read_plan(&plan, "rocev2-4k-snap64.pcap", &plain, &err), 0);
    assert_int_equal(plan.flows[0].icrc_in[WF_ICRC_ABSENT], 2);
    assert_int_equal(plan.cut, 2);
    assert_int_equal(plan.frames[0].len_bytes, 4170);
    assert_int_equal(plan.frames[1].len_bytes, 4154);
    wf_replay_plan_free(&plan);
}

static void options_leave_frames_out(void **state)
{
    static const struct wf_replay_plan_conf no_cut = {.skip_cut = true};
    static const struct wf_replay_plan_conf one = {.interface = "h1"};
    static const struct wf_replay_plan_conf none = {.interface = "h9"};
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    assert_int_equal(read_plan(&plan, "rocev2-4k-snap64.pcap", &no_cut, &err), 0);
    assert_int_equal(plan.skipped_cut, 2);
    assert_int_equal(plan.n_flows, 0);
    wf_replay_plan_free(&plan);
    assert_int_equal(read_plan(&plan, "fmt-le-ps.pcapng", &one, &err), 0);
    assert_int_equal(plan.n_frames, 1);
    assert_int_equal(plan.other_interface, 1);
    assert_false(plan.several_interfaces);
    wf_replay_plan_free(&plan);
    assert_int_equal(read_plan(&plan, "fmt-le-ps.pcapng", &plain, &err), 0);
    assert_true(plan.several_interfaces);
    wf_replay_plan_free(&plan);
    assert_int_equal(read_plan(&plan, "fmt-le-ps.pcapng", &none, &err), -EINVAL);
    assert_non_null(strstr(err.msg, "none of the capture's 2 frames"));
    wf_replay_plan_free(&plan);
}

static void a_cut_capture_keeps_what_was_read(void **state)
{
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    assert_int_equal(read_plan(&plan, "fmt-cut.pcap", &plain, &err), -EBADMSG);
    assert_int_equal(plan.n_frames, 2);
    assert_non_null(strstr(err.msg, "after packet 2"));
    wf_replay_plan_free(&plan);
}

/* ---- mapping ---- */

static struct wf_replay_host_id hosts[3] = {{.name = "h0"}, {.name = "h1"}, {.name = "h2"}};

static int host_of(const struct wf_replay_plan *plan, const char *address)
{
    char buf[64];

    for (uint32_t i = 0; i < plan->n_sources; i++)
        if (strcmp(wf_replay_source_text(&plan->sources[i], buf, sizeof(buf)), address) == 0)
            return plan->sources[i].host;
    fail_msg("no source %s", address);
    return -1;
}

static int map_sends(struct wf_replay_plan *plan, const char *const *told, bool automatic,
                     int others, struct wf_err *err)
{
    struct wf_replay_told rows[8];
    struct wf_replay_map_conf conf = {.told = rows, .automatic = automatic, .others = others};

    memset(err, 0, sizeof(*err));
    assert_int_equal(read_plan(plan, "rocev2-sends.pcap", &plain, err), 0);
    for (; told && *told; told++)
        assert_int_equal(wf_replay_told_parse(*told, hosts, 3, &rows[conf.n_told++], err), 0);
    return wf_replay_map(plan, hosts, 3, &conf, err);
}

static void told_by_ip_and_mac(void **state)
{
    static const char *const told[] = {"02:c0:ff:ee:00:04=h0", "192.0.2.4=h1", "192.0.2.6=h2",
                                       NULL};
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    assert_int_equal(map_sends(&plan, told, false, WF_REPLAY_NO_HOST, &err), 0);
    assert_int_equal(host_of(&plan, "192.0.2.4"), 1); /* IP before MAC */
    assert_int_equal(host_of(&plan, "192.0.2.6"), 2);
    assert_int_equal(host_of(&plan, "02:c0:ff:ee:00:04"), 0); /* its ARP frames, as told */
    assert_int_equal(host_of(&plan, "02:c0:ff:ee:00:06"), 2); /* ARP: the MAC of 192.0.2.6 */
    assert_int_equal(host_of(&plan, "fe80::1"), WF_REPLAY_NO_HOST);
    wf_replay_plan_free(&plan);
}

static void by_the_scenarios_addresses(void **state)
{
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    hosts[1].has4 = true;
    hosts[1].ip4[10] = hosts[1].ip4[11] = 0xff;
    inet_pton(AF_INET, "192.0.2.6", hosts[1].ip4 + 12);
    memcpy(hosts[2].mac, "\x02\xc0\xff\xee\x00\x01", 6);
    assert_int_equal(map_sends(&plan, NULL, false, 0, &err), 0);
    assert_int_equal(host_of(&plan, "192.0.2.6"), 1);
    assert_int_equal(host_of(&plan, "fe80::1"), 2);
    assert_int_equal(host_of(&plan, "192.0.2.4"), 0); /* others */
    memset(hosts[1].ip4, 0, 16);
    hosts[1].has4 = false;
    memset(hosts[2].mac, 0, 6);
    wf_replay_plan_free(&plan);
}

static void automatic_in_order_of_appearance(void **state)
{
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    assert_int_equal(map_sends(&plan, NULL, true, WF_REPLAY_NO_HOST, &err), 0);
    assert_int_equal(host_of(&plan, "192.0.2.6"), 0); /* sends first with an address of its own */
    assert_int_equal(host_of(&plan, "192.0.2.4"), 1);
    assert_int_equal(host_of(&plan, "fe80::1"), 2);
    assert_int_equal(host_of(&plan, "02:c0:ff:ee:00:04"), 1);
    wf_replay_plan_free(&plan);
}

static void nobody_mapped_is_an_error_with_the_sources(void **state)
{
    static const char *const absent[] = {"10.1.1.1=h0", NULL};
    struct wf_replay_told told;
    struct wf_replay_plan plan;
    struct wf_err err;

    (void)state;
    assert_int_equal(map_sends(&plan, NULL, false, WF_REPLAY_NO_HOST, &err), -ENOENT);
    assert_non_null(strstr(err.msg, "192.0.2.6"));
    assert_non_null(strstr(err.msg, "--map"));
    wf_replay_plan_free(&plan);
    assert_int_equal(map_sends(&plan, absent, false, WF_REPLAY_NO_HOST, &err), -EINVAL);
    assert_non_null(strstr(err.msg, "no frame of the capture comes from 10.1.1.1"));
    wf_replay_plan_free(&plan);
    assert_int_equal(wf_replay_told_parse("192.0.2.4", hosts, 3, &told, &err), -EINVAL);
    assert_int_equal(wf_replay_told_parse("nonsense=h0", hosts, 3, &told, &err), -EINVAL);
    assert_int_equal(wf_replay_told_parse("192.0.2.4=h9", hosts, 3, &told, &err), -ENOENT);
    assert_non_null(strstr(err.msg, "did you mean 'h"));
}

/* ---- sequence numbers ---- */

static void psn_order(void **state)
{
    struct wf_psn_track t = {0};

    (void)state;
    /* SEND Only: 1 2 4(gap) 3(late) 5, over the wrap */
    static const uint32_t psns[] = {0xfffffe, 0xffffff, 1, 0, 2};

    for (size_t i = 0; i < 5; i++)
        wf_psn_take(&t, 0x04, psns[i]);
    assert_int_equal(t.in_order, 3);
    assert_int_equal(t.gaps, 1);
    assert_int_equal(t.missing, 1);
    assert_int_equal(t.repeats, 1);
    memset(&t, 0, sizeof(t));
    wf_psn_take(&t, 0x0c, 10); /* READ request of unknown length */
    wf_psn_take(&t, 0x0c, 74);
    wf_psn_take(&t, 0x04, 80);
    wf_psn_take(&t, 0x04, 82);
    assert_int_equal(t.in_order, 3);
    assert_int_equal(t.gaps, 1);
    memset(&t, 0, sizeof(t));
    wf_psn_take(&t, 0x11, 5); /* ACKs may leave numbers out */
    wf_psn_take(&t, 0x11, 9);
    wf_psn_take(&t, 0x11, 9);
    wf_psn_take(&t, 0x81, 0); /* a CNP has none */
    assert_int_equal(t.in_order, 2);
    assert_int_equal(t.repeats, 1);
    assert_int_equal(wf_psn_diff(0, 0xffffff), 1);
    assert_int_equal(wf_psn_diff(0xffffff, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_are_understood),
        cmocka_unit_test(vlan_marks_and_gaps_are_seen),
        cmocka_unit_test(icrc_verdicts),
        cmocka_unit_test(options_leave_frames_out),
        cmocka_unit_test(a_cut_capture_keeps_what_was_read),
        cmocka_unit_test(told_by_ip_and_mac),
        cmocka_unit_test(by_the_scenarios_addresses),
        cmocka_unit_test(automatic_in_order_of_appearance),
        cmocka_unit_test(nobody_mapped_is_an_error_with_the_sources),
        cmocka_unit_test(psn_order),
    };

    return cmocka_run_group_tests_name("cap/replay_plan", tests, NULL, NULL);
}
