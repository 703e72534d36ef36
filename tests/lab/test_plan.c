/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guests from hosts, the script that sets up their network, the environment of a command, QEMU's
 * command line. The expected texts are those that were tried out by hand in a guest.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lab/exec.h"
#include "lab/plan.h"

static void host(struct wf_lab_plan *p, const char *name, const char *guest)
{
    uint8_t n = (uint8_t)++p->n_hosts;
    struct wf_lab_host *h = &p->hosts[n - 1];
    struct wf_ip_prefix ip = {.addr = {[10] = 255, 255, 10, 1, 0, n}, .len = 24, .family = 4};

    memset(h, 0, sizeof(*h));
    snprintf(h->name, sizeof(h->name), "%s", name);
    snprintf(h->guest, sizeof(h->guest), "%s", guest);
    h->mac[0] = 2;
    h->mac[5] = n;
    h->mtu = 4200;
    h->ip4 = ip;
    ip.addr[15] = 254;
    h->gateway4 = ip;
}

static void groups_hosts(void **state)
{
    static struct wf_lab_plan p;
    struct wf_err err;

    memset(&p, 0, sizeof(p));
    host(&p, "h0", "both");
    host(&p, "h1", "");
    host(&p, "h2", "both");
    host(&p, "n0", "");
    p.hosts[3].kind = WF_LAB_NETNS;
    assert_int_equal(wf_lab_plan_guests(&p, &err), 0);
    assert_int_equal(p.n_guests, 2);
    assert_string_equal(p.guests[0].name, "both");
    assert_int_equal(p.guests[0].n_nics, 2);
    assert_int_equal(p.hosts[2].nic, 1);
    assert_string_equal(p.guests[1].name, "h1");
    assert_int_equal(wf_lab_find_host(&p, "n0"), 3);
    assert_int_equal(wf_lab_find_host(&p, "n1"), -1);
}

static void refuses_too_many(void **state)
{
    static struct wf_lab_plan p;
    struct wf_err err;
    char name[8];

    memset(&p, 0, sizeof(p));
    for (int i = 0; i <= WF_GUEST_NICS; i++)
        host(&p, "h", "one");
    assert_int_equal(wf_lab_plan_guests(&p, &err), -E2BIG);
    assert_non_null(strstr(err.msg, "guest one"));
    memset(&p, 0, sizeof(p));
    for (int i = 0; i <= WF_LAB_GUESTS; i++) {
        snprintf(name, sizeof(name), "h%d", i);
        host(&p, name, "");
    }
    assert_int_equal(wf_lab_plan_guests(&p, &err), -E2BIG);
}

static void script_of_one(void **state)
{
    static struct wf_lab_plan p;
    struct wf_err err;
    char s[8192], tiny[100];

    memset(&p, 0, sizeof(p));
    host(&p, "h0", "");
    host(&p, "h1", "");
    assert_int_equal(wf_lab_plan_guests(&p, &err), 0);
    assert_int_equal(wf_lab_setup_script(&p, 1, "/srv/it's mine", s, sizeof(s), &err), 0);
    assert_non_null(strstr(s, "nic eth0 02:00:00:00:00:02\n"));
    assert_non_null(strstr(s, "link set eth0 mtu 4200 up\n"));
    assert_non_null(strstr(s, "rdma link add rxe0 type rxe netdev eth0\n"));
    assert_non_null(strstr(s, "addr add 10.1.0.2/24 dev eth0\n"));
    assert_non_null(strstr(s, "route add default via 10.1.0.254 dev eth0\n"));
    assert_non_null(strstr(s, "10.1.0.1 h0\n"));
    assert_non_null(strstr(s, "share='/srv/it'\\''s mine'\n"));
    assert_null(strstr(s, "rule add"));
    assert_int_equal(wf_lab_setup_script(&p, 1, NULL, tiny, sizeof(tiny), &err), -E2BIG);
}

static void script_of_several(void **state)
{
    static struct wf_lab_plan p;
    struct wf_err err;
    char s[8192], dev[16];

    memset(&p, 0, sizeof(p));
    host(&p, "h0", "g");
    host(&p, "h1", "g");
    assert_int_equal(wf_lab_plan_guests(&p, &err), 0);
    assert_int_equal(wf_lab_setup_script(&p, 0, NULL, s, sizeof(s), &err), 0);
    assert_non_null(strstr(s, "addr add 10.1.0.2/24 dev eth1 noprefixroute\n"));
    assert_non_null(strstr(s, "route add 10.1.0.0/24 dev eth1 table 101\n"));
    assert_non_null(strstr(s, "route add default via 10.1.0.254 dev eth1 table 101\n"));
    assert_non_null(strstr(s, "rule add pref 11 from 10.1.0.2 iif lo lookup 101\n"));
    assert_non_null(strstr(s, "rule add pref 100 lookup local\nrule del pref 0\n"));
    assert_null(strstr(s, "mount"));
    assert_string_equal(wf_lab_host_bind(&p, 1, dev), "eth1");
}

static void environment(void **state)
{
    static struct wf_lab_plan p;
    const char *env[16];
    struct wf_err err;
    char buf[512];

    memset(&p, 0, sizeof(p));
    host(&p, "h0", "g");
    host(&p, "h1", "g");
    assert_int_equal(wf_lab_plan_guests(&p, &err), 0);
    assert_true(wf_lab_host_env(&p, 1, env, 16, buf, sizeof(buf)) > 3);
    assert_string_equal(env[0], "WEFT_HOST=h1");
    assert_string_equal(env[1], "WEFT_IP=10.1.0.2");
    assert_string_equal(env[3], "WEFT_RDMA_DEV=rxe1");
    assert_int_equal(wf_lab_host_env(&p, 1, env, 3, buf, sizeof(buf)), -E2BIG);
    assert_int_equal(wf_lab_host_env(&p, 1, env, 16, buf, 20), -E2BIG);
}

static bool has(const struct wf_qemu_argv *a, const char *text)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (strstr(a->v[i], text))
            return true;
    return false;
}

static void qemu_command_line(void **state)
{
    static struct wf_qemu_argv a;
    struct wf_machine m = {.qemu = "/usr/bin/qemu-system-x86_64", .tsc_khz = 2500000};
    struct wf_guest_nic nics[WF_GUEST_NICS];
    struct wf_guest_config c = {.name = "g0",
                                .dir = "/run/d",
                                .vmlinux = "k",
                                .initramfs = "i",
                                .mem_mib = 300,
                                .cpu = -1,
                                .nics = nics,
                                .n_nics = WF_GUEST_NICS};
    struct wf_err err;

    for (int i = 0; i < WF_GUEST_NICS; i++)
        nics[i] = (struct wf_guest_nic){"/run/d/h.vhost", {2, 0, 0, 0, 0, (uint8_t)i}, 1500};
    assert_int_equal(wf_qemu_argv_build(&a, &m, &c, 7, &err), 0);
    assert_null(a.v[a.n]);
    assert_true(has(&a, "accel=tcg"));
    assert_true(has(&a, "tsc_early_khz=2500000"));
    assert_true(has(&a, "size=300M,share=on"));
    assert_true(has(&a, "socket,id=agent,fd=7"));
    assert_true(has(&a, "mac=02:00:00:00:00:0f,vectors=0"));
    assert_false(has(&a, "mount_tag"));
    m.kvm = true;
    c.share = "/a,b";
    assert_int_equal(wf_qemu_argv_build(&a, &m, &c, 7, &err), -EINVAL);
    c.share = "/a";
    assert_int_equal(wf_qemu_argv_build(&a, &m, &c, 7, &err), 0);
    assert_true(has(&a, "accel=kvm"));
    assert_false(has(&a, "tsc_early_khz"));
    assert_true(has(&a, "path=/a,mount_tag=share"));
}

static void statuses(void **state)
{
    char b[300];
    struct wf_exec_status exited = {WF_EXEC_EXITED, 3, ""}, killed = {WF_EXEC_SIGNALED, 11, ""},
                          late = {WF_EXEC_TIMEOUT, 0, ""}, none = {WF_EXEC_FAILED, ENOENT, "x: no"},
                          lost = {WF_EXEC_LOST, 0, "g"};

    assert_int_equal(wf_exec_status_code(&exited), 3);
    assert_int_equal(wf_exec_status_code(&killed), 139);
    assert_int_equal(wf_exec_status_code(&late), 124);
    assert_int_equal(wf_exec_status_code(&none), 127);
    assert_int_equal(wf_exec_status_code(&lost), 125);
    assert_string_equal(wf_exec_status_text(&killed, b, sizeof(b)), "killed by SIGSEGV");
    assert_string_equal(wf_exec_status_text(&none, b, sizeof(b)), "not started: x: no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_hosts),  cmocka_unit_test(refuses_too_many),
        cmocka_unit_test(script_of_one), cmocka_unit_test(script_of_several),
        cmocka_unit_test(environment),   cmocka_unit_test(qemu_command_line),
        cmocka_unit_test(statuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
