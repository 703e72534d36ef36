/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft exec` from end to end: one guest without NIC behind the lab's socket, the program itself as
 * a child. Prefixes, order of groups, exit statuses, time limit, input, a client that is killed, a
 * guest that dies, names that are not there, two instances, a stale one.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "ctl/client.h"
#include "lab/lab.h"
#include "lab/serve.h"
#include "sim/clock.h"

struct fixture {
    char run[64], weft[512];
    struct wf_instance in;
    struct wf_lab *lab;
    struct wf_ctl *ctl;
    struct wf_serve serve;
    char out[64 * 1024], err[8192];
};

static void service(struct fixture *f)
{
    usleep(2000);
    wf_lab_service(f->lab);
    wf_ctl_service(f->ctl);
}

static void slurp(const char *dir, const char *name, char *buf, size_t len)
{
    char path[128];
    FILE *h;
    size_t n;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    h = fopen(path, "r");
    assert_non_null(h);
    n = fread(buf, 1, len - 1, h);
    buf[n] = 0;
    fclose(h);
}

static pid_t begin(struct fixture *f, const char *args)
{
    char cmd[2048];
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        snprintf(cmd, sizeof(cmd), "cd %s && exec %s exec %s >out 2>err", f->run, f->weft, args);
        execl("/bin/sh", "sh", "-c", cmd, NULL);
        _exit(99);
    }
    return pid;
}

/* The exit status of `weft exec ARGS`; what it printed is in f->out and f->err. */
static int end(struct fixture *f, pid_t pid)
{
    uint64_t give_up = wf_wall_ns() + 90ull * 1000000000;
    int status = -1;

    while (waitpid(pid, &status, WNOHANG) != pid) {
        assert_true(wf_wall_ns() < give_up);
        service(f);
    }
    slurp(f->run, "out", f->out, sizeof(f->out));
    slurp(f->run, "err", f->err, sizeof(f->err));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int weft_exec(struct fixture *f, const char *args)
{
    return end(f, begin(f, args));
}

static void one_command(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(weft_exec(f, "only -- printf 'a\\nb'"), 0);
    assert_string_equal(f->out, "a\nb"); /* raw: nothing added */
    assert_int_equal(weft_exec(f, "-e X=7 only -- sh -c 'echo e$X >&2; exit $X'"), 7);
    assert_non_null(strstr(f->err, "e7\n"));
    assert_non_null(strstr(f->err, "weft exec: only: sh: exit status 7\n"));
    assert_int_equal(weft_exec(f, "only -- no-such-program"), 127);
    assert_int_equal(weft_exec(f, "-t 1s only -- sleep 100"), 124);
}

/* The lines of two commands may interleave, their parts may not. */
static void several(void **state)
{
    struct fixture *f = *state;
    int x = 0, y = 0;

    assert_int_equal(weft_exec(f, "only only -- sh -c 'echo x; printf y'"), 0);
    for (char *line = strtok(f->out, "\n"); line; line = strtok(NULL, "\n")) {
        x += !strcmp(line, "only| x");
        y += !strcmp(line, "only| y");
        assert_true(!strcmp(line, "only| x") || !strcmp(line, "only| y"));
    }
    assert_int_equal(x, 2);
    assert_int_equal(y, 2);
}

/* The client would be refused if it began before the server listens. */
static void server_then_client(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        weft_exec(f, "only -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
                     "exec nc -l -p 5001' ::: only -- sh -c 'echo hi | nc -w 5 127.0.0.1 5001'"),
        0);
    assert_string_equal(f->out, "only| hi\n");
}

static void first_failure_counts(void **state)
{
    struct fixture *f = *state;

    /* the server never ends by itself; that it was stopped is no failure of its own */
    assert_int_equal(weft_exec(f, "--linger 100ms only -- sleep 1000 ::: only -- false"), 1);
    assert_non_null(strstr(f->err, "only: false: exit status 1\n"));
    assert_non_null(strstr(f->err, "only: sleep still ran and was stopped\n"));
    assert_int_equal(weft_exec(f, "--linger 100ms only -- sleep 1000 ::: only -- true"), 0);
    /* a later group does not begin when an earlier one has failed */
    assert_int_equal(weft_exec(f, "only -- sh -c 'exit 9' ::: only -- echo never"), 9);
    assert_string_equal(f->out, "");
}

static void input(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(weft_exec(f, "--stdin only -- sh -c 'wc -c; echo end' </bin/true"), 0);
    assert_non_null(strstr(f->out, "\nend\n"));
    assert_true(atoi(f->out) > 1000);
}

static bool running_in_guest(struct fixture *f, const char *what)
{
    char args[200];

    snprintf(args, sizeof(args), "only -- pgrep -f '%s'", what);
    return weft_exec(f, args) == 0;
}

static void interrupted(void **state)
{
    struct fixture *f = *state;
    pid_t pid = begin(f, "only -- sleep 777");
    uint64_t until = wf_wall_ns() + 1000000000;

    while (wf_wall_ns() < until)
        service(f);
    kill(pid, SIGINT);
    assert_int_equal(end(f, pid), 130);
    assert_false(running_in_guest(f, "sleep 77[7]"));
    /* the same for one that had no time to say anything */
    pid = begin(f, "only -- sleep 888");
    until = wf_wall_ns() + 1000000000;
    while (wf_wall_ns() < until)
        service(f);
    kill(-pid, SIGKILL);
    assert_int_equal(end(f, pid), 128 + SIGKILL);
    assert_false(running_in_guest(f, "sleep 88[8]"));
}

static void wrong_use(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(weft_exec(f, "only ls"), 2);
    assert_int_equal(weft_exec(f, "only --"), 2);
    assert_int_equal(weft_exec(f, "-- ls"), 2);
    assert_int_equal(weft_exec(f, "--timeout 5 only -- ls"), 2);
    assert_int_equal(weft_exec(f, "--frobnicate only -- ls"), 2);
    assert_int_equal(weft_exec(f, "onlu -- ls"), 2);
    assert_non_null(strstr(f->err, "no host 'onlu'"));
    assert_int_equal(weft_exec(f, "-i other only -- ls"), 3);
    assert_non_null(strstr(f->err, "no instance 'other' runs; there is: first"));
    assert_int_equal(weft_exec(f, "-i ../x only -- ls"), 3);
}

static void instances(void **state)
{
    struct fixture *f = *state;
    struct wf_instance again, stale;
    struct wf_err err;
    char path[300];
    pid_t pid;

    assert_int_equal(wf_instance_claim(&again, "first", &err), -17);
    assert_non_null(strstr(err.msg, "instance 'first' is running already"));
    pid = fork();
    if (pid == 0) { /* takes a name, leaves a file, dies without cleaning up */
        if (wf_instance_claim(&stale, "stale", &err) ||
            open(wf_instance_path(&stale, "left", path, sizeof(path)), O_CREAT | O_WRONLY, 0600) <
                0)
            _exit(1);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    assert_int_equal(wf_instance_find(&stale, "stale", &err), 0);
    assert_int_equal(access(wf_instance_path(&stale, "left", path, sizeof(path)), F_OK), 0);
    assert_false(wf_instance_alive(&stale));
    assert_true(wf_instance_alive(&f->in));
    assert_int_equal(wf_instance_claim(&stale, "stale", &err), 0);
    assert_int_equal(access(path, F_OK), -1);
    wf_instance_remove(&stale);
    assert_int_equal(access(stale.dir, F_OK), -1);
}

/* Garbage on the socket ends that connection and nothing else. */
static void garbage(void **state)
{
    struct fixture *f = *state;
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    char junk[4096];

    memset(junk, 'x', sizeof(junk));
    assert_int_equal(wf_client_connect(&c, "first", &in, &err), 0);
    assert_int_equal(write(c.fd, junk, sizeof(junk)), sizeof(junk));
    for (int i = 0; i < 5; i++)
        service(f);
    assert_true(read(c.fd, junk, 1) <= 0);
    wf_client_close(&c);
    assert_int_equal(weft_exec(f, "only -- true"), 0);
}

static void guest_dies(void **state)
{
    struct fixture *f = *state;
    pid_t pid = begin(f, "only -- sh -c 'echo b >/proc/sysrq-trigger; sleep 1000'");

    assert_int_equal(end(f, pid), 125);
    assert_non_null(strstr(f->err, "host lost: guest only has gone"));
    assert_int_equal(wf_lab_service(f->lab), WF_LAB_FAILED);
    assert_int_equal(weft_exec(f, "only -- true"), 126);
    assert_non_null(strstr(f->err, "guest only has gone"));
}

static int set_up(void **state)
{
    static struct fixture f = {.run = "/tmp/weft-test-exec.XXXXXX"};
    static struct wf_lab_plan plan = {.n_guests = 1, .guests = {{.name = "only"}}};
    struct wf_lab_opts o = {0};
    struct wf_machine m;
    struct wf_err err;
    char path[300];

    snprintf(f.weft, sizeof(f.weft), "%s", getenv("WEFT") ? getenv("WEFT") : "build/weft");
    if (wf_machine_detect(&m, WF_ACCEL_AUTO, &err) ||
        wf_image_get(&o.image, &(struct wf_image_req){0}, &err)) {
        printf("skipped: %s\n", err.msg);
        exit(77);
    }
    assert_non_null(mkdtemp(f.run));
    setenv("XDG_RUNTIME_DIR", f.run, 1);
    if (wf_instance_claim(&f.in, "first", &err))
        fail_msg("%s", err.msg);
    o.dir = f.in.dir;
    wf_instance_path(&f.in, WF_CTL_SOCKET, path, sizeof(path));
    if (wf_lab_start(&f.lab, &plan, &m, &o, &err) || wf_ctl_open(&f.ctl, path, &err))
        fail_msg("%s", err.msg);
    f.serve.lab = f.lab;
    wf_ctl_add(f.ctl, &wf_serve_group, &f.serve);
    while (wf_lab_service(f.lab) == WF_LAB_BOOTING)
        service(&f);
    if (wf_lab_service(f.lab) != WF_LAB_READY)
        fail_msg("%s", wf_lab_error(f.lab)->msg);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char cmd[512];

    wf_lab_stop(f->lab);
    wf_ctl_close(f->ctl);
    wf_instance_remove(&f->in);
    snprintf(cmd, sizeof(cmd), "rm %s/out %s/err && rmdir %s/weft-* %s", f->run, f->run, f->run,
             f->run);
    return system(cmd); /* fails when anything else was left behind */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_command),
        cmocka_unit_test(several),
        cmocka_unit_test(server_then_client),
        cmocka_unit_test(first_failure_counts),
        cmocka_unit_test(input),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(wrong_use),
        cmocka_unit_test(instances),
        cmocka_unit_test(garbage),
        cmocka_unit_test(guest_dies),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
