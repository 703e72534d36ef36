/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One guest without any NIC, and the commands in it: exit status, both streams, binary output,
 * more output than the window holds, input, several at a time, settling, time limit, signal, a
 * program compiled here and started there through the shared folder, and the guest's end.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/prng.h"
#include "lab/guest.h"
#include "lab/image.h"
#include "lab/plan.h"
#include "sim/clock.h"

#define KEEP (4u * 1024 * 1024)

struct fixture {
    char dir[64];
    struct wf_guest *guest;
};

struct command {
    struct wf_guest *guest;
    uint32_t session;
    char *out, err[4096];
    size_t out_len, err_len;
    bool idle, done, hold; /* hold: acknowledge nothing */
    struct wf_exec_status status;
};

static void on_output(void *arg, enum wf_exec_stream stream, const void *data, size_t len)
{
    struct command *c = arg;
    bool out = stream == WF_EXEC_STDOUT;
    size_t *used = out ? &c->out_len : &c->err_len, max = out ? KEEP : sizeof(c->err);

    assert_true(*used + len < max);
    memcpy((out ? c->out : c->err) + *used, data, len);
    *used += len;
    if (!c->hold)
        wf_guest_consumed(c->guest, c->session, len);
}

static void on_idle(void *arg)
{
    ((struct command *)arg)->idle = true;
}

static void on_done(void *arg, const struct wf_exec_status *status)
{
    struct command *c = arg;

    c->status = *status;
    c->done = true;
}

static void command_start(struct command *c, struct wf_guest *g, const char *script,
                          struct wf_exec_req req)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct wf_exec_sink sink = {on_output, on_idle, on_done, c};

    memset(c, 0, sizeof(*c));
    c->out = calloc(1, KEEP);
    c->guest = g;
    req.argv = argv;
    c->session = wf_guest_run(g, &req, &sink);
    assert_int_not_equal(c->session, 0);
}

static void service(struct wf_guest *g, int ms)
{
    struct pollfd p = {wf_guest_fd(g), wf_guest_events(g), 0};

    if (poll(&p, 1, ms) > 0)
        wf_guest_service(g, p.revents);
}

/* Generous: it only ends a test that hangs. */
static void wait_for(struct wf_guest *g, const bool *what)
{
    uint64_t end = wf_wall_ns() + 60ull * 1000000000;

    while (!*what && wf_wall_ns() < end)
        service(g, 100);
    assert_true(*what);
}

static void run(struct command *c, struct wf_guest *g, const char *script)
{
    command_start(c, g, script, (struct wf_exec_req){.timeout_ms = 60000});
    wait_for(g, &c->done);
}

static void exit_status_and_streams(void **state)
{
    struct fixture *f = *state;
    struct command c;

    run(&c, f->guest, "echo out; echo err >&2; exit 42");
    assert_int_equal(c.status.end, WF_EXEC_EXITED);
    assert_int_equal(c.status.code, 42);
    assert_memory_equal(c.out, "out\n", 4);
    assert_memory_equal(c.err, "err\n", 4);
    free(c.out);
    run(&c, f->guest, "kill -SEGV $$");
    assert_int_equal(c.status.end, WF_EXEC_SIGNALED);
    assert_int_equal(c.status.code, SIGSEGV);
    free(c.out);
}

static void not_started(void **state)
{
    struct fixture *f = *state;
    struct command c = {.guest = f->guest};
    struct wf_exec_sink sink = {on_output, on_idle, on_done, &c};
    struct wf_exec_req req = {.argv = (const char *const[]){"no-such-program", NULL}};

    c.session = wf_guest_run(f->guest, &req, &sink);
    wait_for(f->guest, &c.done);
    assert_int_equal(wf_exec_status_code(&c.status), 127);
    assert_string_equal(c.status.text, "no-such-program: No such file or directory");
    c.done = false;
    req = (struct wf_exec_req){.argv = (const char *const[]){"true", NULL}, .cwd = "/no/folder"};
    c.session = wf_guest_run(f->guest, &req, &sink);
    wait_for(f->guest, &c.done);
    assert_string_equal(c.status.text, "/no/folder: No such file or directory");
}

static void environment_and_folder(void **state)
{
    struct fixture *f = *state;
    struct command c;

    command_start(
        &c, f->guest, "echo \"$NAME\"; pwd; id -u",
        (struct wf_exec_req){.env = (const char *const[]){"NAME=a b'c", NULL}, .cwd = "/usr/bin"});
    wait_for(f->guest, &c.done);
    assert_string_equal(c.out, "a b'c\n/usr/bin\n0\n");
    free(c.out);
}

/* 3 MB through a window of 256 KB, every byte value, checked against what went in. */
static void binary_in_and_out(void **state)
{
    struct fixture *f = *state;
    struct wf_prng prng;
    struct command c;
    size_t len = 3 * 1024 * 1024;
    uint8_t *data = malloc(len);

    wf_prng_init(&prng, 7, "stdin");
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)wf_prng_u64(&prng);
    command_start(&c, f->guest, "cat", (struct wf_exec_req){.want_stdin = true});
    wf_guest_stdin(f->guest, c.session, data, len);
    wf_guest_stdin(f->guest, c.session, NULL, 0);
    wait_for(f->guest, &c.done);
    assert_int_equal(c.status.code, 0);
    assert_int_equal(c.out_len, len);
    assert_memory_equal(c.out, data, len);
    free(c.out);
    free(data);
}

/* A reader that takes nothing holds up its own command and no other. */
static void slow_reader(void **state)
{
    struct fixture *f = *state;
    struct command slow, quick;

    command_start(&slow, f->guest, "head -c 1000000 /dev/zero", (struct wf_exec_req){0});
    slow.hold = true;
    run(&quick, f->guest, "echo through");
    assert_string_equal(quick.out, "through\n");
    for (int i = 0; i < 5; i++)
        service(f->guest, 100);
    assert_false(slow.done);
    assert_true(slow.out_len <= 256 * 1024);
    slow.hold = false;
    wf_guest_consumed(f->guest, slow.session, slow.out_len);
    wait_for(f->guest, &slow.done);
    assert_int_equal(slow.out_len, 1000000);
    free(slow.out);
    free(quick.out);
}

static void several_and_settling(void **state)
{
    struct fixture *f = *state;
    struct command server, client;

    command_start(&server, f->guest, "exec nc -l -p 5000",
                  (struct wf_exec_req){.want_idle = true, .timeout_ms = 60000});
    wait_for(f->guest, &server.idle);
    run(&client, f->guest, "echo hello | nc -w 5 127.0.0.1 5000");
    assert_int_equal(client.status.code, 0);
    wait_for(f->guest, &server.done);
    assert_string_equal(server.out, "hello\n");
    free(server.out);
    free(client.out);
}

static void time_limit_and_signal(void **state)
{
    struct fixture *f = *state;
    struct command c;

    /* deaf to SIGTERM, and with a child that would hold the pipe for ever */
    command_start(&c, f->guest, "trap '' TERM; echo begun; sleep 1000 & while :; do sleep 1; done",
                  (struct wf_exec_req){.timeout_ms = 1000});
    wait_for(f->guest, &c.done);
    assert_int_equal(c.status.end, WF_EXEC_TIMEOUT);
    assert_string_equal(c.out, "begun\n");
    free(c.out);
    command_start(&c, f->guest, "exec sleep 1000", (struct wf_exec_req){.want_idle = true});
    wait_for(f->guest, &c.idle);
    wf_guest_signal(f->guest, c.session, SIGINT);
    wait_for(f->guest, &c.done);
    assert_int_equal(c.status.end, WF_EXEC_SIGNALED);
    assert_int_equal(c.status.code, SIGINT);
    free(c.out);
}

static void program_compiled_here(void **state)
{
    struct fixture *f = *state;
    struct command c;
    char cmd[512], want[200];
    FILE *src;

    snprintf(cmd, sizeof(cmd), "%s/p.c", f->dir);
    src = fopen(cmd, "w");
    assert_non_null(src);
    fputs("#include <stdio.h>\n#include <math.h>\nint main(int c, char **v)\n"
          "{ printf(\"%s %.3f\\n\", v[1], sqrt(c)); return 5; }\n",
          src);
    fclose(src);
    snprintf(cmd, sizeof(cmd), "cc -fno-builtin -o %s/p %s/p.c -lm", f->dir, f->dir);
    assert_int_equal(system(cmd), 0);
    command_start(&c, f->guest, "./p \"$(uname -n)\"; echo $? >status",
                  (struct wf_exec_req){.cwd = f->dir});
    wait_for(f->guest, &c.done);
    assert_string_equal(c.out, "only 1.414\n");
    snprintf(cmd, sizeof(cmd), "%s/status", f->dir);
    src = fopen(cmd, "r"); /* what the guest writes is here */
    assert_non_null(src);
    assert_non_null(fgets(want, sizeof(want), src));
    assert_string_equal(want, "5\n");
    fclose(src);
    free(c.out);
}

static void dies(void **state)
{
    struct fixture *f = *state;
    struct wf_err err = {0};
    struct command c;
    pid_t pid = wf_guest_pid(f->guest);

    command_start(&c, f->guest, "sleep 1000", (struct wf_exec_req){0});
    kill(pid, SIGKILL);
    wait_for(f->guest, &c.done);
    assert_int_equal(c.status.end, WF_EXEC_LOST);
    assert_int_equal(wf_guest_service(f->guest, 0), -EPIPE);
    wf_guest_obituary(f->guest, &err);
    assert_non_null(strstr(err.msg, "was killed by signal 9"));
    free(c.out);
}

static int set_up(void **state)
{
    static struct wf_lab_plan plan = {.n_guests = 1, .guests = {{.name = "only"}}};
    static struct fixture f = {.dir = "/tmp/weft-test-guest.XXXXXX"};
    char script[4096], out[1000];
    struct wf_exec_status status;
    struct wf_image image;
    struct wf_machine m;
    struct wf_err err;
    struct wf_guest_config cfg = {.name = "only", .mem_mib = 192, .cpu = -1};

    if (wf_machine_detect(&m, WF_ACCEL_AUTO, &err) ||
        wf_image_get(&image, &(struct wf_image_req){0}, &err)) {
        printf("skipped: %s\n", err.msg);
        exit(77);
    }
    assert_non_null(mkdtemp(f.dir));
    cfg.dir = cfg.share = f.dir;
    cfg.vmlinux = image.vmlinux;
    cfg.initramfs = image.initramfs;
    f.guest = wf_guest_start(&m, &cfg, &err);
    if (!f.guest || wf_guest_wait_all(&f.guest, 1, 120000, &err) ||
        wf_lab_setup_script(&plan, 0, f.dir, script, sizeof(script), &err))
        fail_msg("%s", err.msg);
    if (wf_guest_script(f.guest, script, 30000, out, sizeof(out), &status))
        fail_msg("set-up: %s", out);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char cmd[128];
    pid_t pid = wf_guest_pid(f->guest);

    wf_guest_stop(f->guest);
    assert_int_equal(kill(pid, 0), -1); /* gone, and reaped */
    snprintf(cmd, sizeof(cmd), "rm -rf %s", f->dir);
    return system(cmd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_status_and_streams),
        cmocka_unit_test(not_started),
        cmocka_unit_test(environment_and_folder),
        cmocka_unit_test(binary_in_and_out),
        cmocka_unit_test(slow_reader),
        cmocka_unit_test(several_and_settling),
        cmocka_unit_test(time_limit_and_signal),
        cmocka_unit_test(program_compiled_here),
        cmocka_unit_test(dies),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
