/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: a fabric's commands, clients that mean no good, and instances. The server is
 * serviced in this thread as a run would do it; a client that asks sits in another.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/ingress.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "net/fault.h"
#include "support.h"

static char home[64];
static struct wf_arena arena;
static struct wf_desc desc;
static struct wf_fabric *fabric;
static struct wf_run loop;
static struct wf_instance inst;
static struct wf_ctl *ctl;
static struct wf_ctl_fabric cf;
static struct wf_edges edges;

static int set_up(void **state)
{
    struct wf_err err;
    char path[300];

    memset(&arena, 0, sizeof(arena));
    desc = (struct wf_desc){.name = "under test",
                            .seed = 7,
                            .duration_ps = WF_KEY_AUTO,
                            .time_limit_ps = WF_PS_PER_S,
                            .time_scale = 1};
    wf_desc_leaf_spine(&desc, &arena, 2, 1, 1);
    wf_desc_address(&desc, &arena);
    fabric = wft_build(&desc);
    assert_int_equal(wf_run_init(&loop, fabric), 0);
    assert_int_equal(wf_instance_claim(&inst, "one", &err), 0);
    wf_instance_path(&inst, WF_CTL_SOCKET, path, sizeof(path));
    assert_int_equal(wf_ctl_open(&ctl, path, &err), 0);
    wf_edges_init(&edges, NULL, NULL, NULL);
    wf_edges_bind(&edges, fabric);
    cf = (struct wf_ctl_fabric){.f = fabric, .run = &loop, .edges = &edges, .instance = "one"};
    wf_ctl_add(ctl, &wf_ctl_fabric_group, &cf);
    return 0;
}

static int tear_down(void **state)
{
    wf_ctl_close(ctl);
    wf_instance_remove(&inst);
    assert_int_equal(access(inst.dir, F_OK), -1);
    wf_run_fini(&loop);
    wf_fabric_free(fabric);
    wf_arena_free(&arena);
    return 0;
}

/* --- one request after the other, in a thread ------------------------------------------------- */

struct ask {
    const char *cmd, *json; /* the request's members */
    json_t *answer;
    struct wf_err err;
    int rc;
    atomic_bool done;
};

static void *ask_thread(void *arg)
{
    struct ask *a = arg;
    struct wf_instance in;
    struct wf_client c;

    a->rc = wf_client_connect(&c, NULL, &in, &a->err);
    if (!a->rc) {
        a->answer = wf_client_call(&c, a->cmd, json_loads(a->json, 0, NULL), &a->rc, &a->err);
        wf_client_close(&c);
    }
    atomic_store(&a->done, true);
    return NULL;
}

static void service(int wait_ms)
{
    struct pollfd p = {.fd = wf_ctl_fd(ctl), .events = POLLIN};

    poll(&p, 1, wait_ms);
    wf_ctl_service(ctl);
}

/* The answer, or NULL and the error in err. */
static json_t *ask(const char *cmd, const char *json, struct wf_err *err)
{
    struct ask a = {.cmd = cmd, .json = json};
    pthread_t t;

    assert_int_equal(pthread_create(&t, NULL, ask_thread, &a), 0);
    while (!atomic_load(&a.done))
        service(2);
    pthread_join(t, NULL);
    service(0);
    if (err)
        *err = a.err;
    else if (!a.answer)
        print_error("%s %s: %s\n", cmd, json, a.err.msg);
    return a.answer;
}

static void refused(const char *cmd, const char *json, const char *why)
{
    struct wf_err err = {0};

    assert_null(ask(cmd, json, &err));
    if (!strstr(err.msg, why))
        print_error("%s %s: %s\n", cmd, json, err.msg);
    assert_non_null(strstr(err.msg, why));
}

static void done(const char *cmd, const char *json)
{
    json_t *m = ask(cmd, json, NULL);

    assert_non_null(m);
    json_decref(m);
}

/* A counter of the row of this name in a view; -1: no such row. */
static json_int_t value(const char *view, const char *at, const char *name, const char *key)
{
    char q[128];
    json_int_t v = -1;
    json_t *m, *r;
    size_t i;

    snprintf(q, sizeof(q), "{\"what\": \"%s\", \"at\": \"%s\"}", view, at);
    m = ask("show", q, NULL);
    assert_non_null(m);
    json_array_foreach (json_object_get(m, "rows"), i, r) {
        if (!strcmp(json_string_value(json_object_get(r, "name")), name))
            v = json_integer_value(json_object_get(r, key));
    }
    json_decref(m);
    return v;
}

static void send_frames(unsigned n)
{
    uint8_t buf[WF_ROCE_HDR_MAX];
    uint32_t len;

    for (unsigned i = 0; i < n; i++) {
        uint32_t hdr = wft_roce(fabric, 0, 1, 26, 1, i, 1024, buf, &len);

        wft_send(fabric, 0, wf_fabric_now_ps(fabric), 3, buf, hdr, len);
    }
    wft_run(fabric, WF_TIME_NEVER);
}

static void every_view_answers(void **state)
{
    json_t *m = ask("status", "{}", NULL);

    assert_string_equal(json_string_value(json_object_get(m, "scenario")), "under test");
    assert_int_equal(json_integer_value(json_object_get(m, "seed")), 7);
    json_decref(m);
    send_frames(10);
    for (int i = 0; wf_ctl_views[i]; i++) {
        char q[64];

        snprintf(q, sizeof(q), "{\"what\": \"%s\"}", wf_ctl_views[i]);
        done("show", q);
    }
    assert_int_equal(value("ports", "*", "leaf0:p0", "rx_frames"), 10);
    assert_int_equal(value("ports", "*", "leaf1:p0", "tx_frames"), 10);
    assert_int_equal(value("queues", "*.q*", "leaf1:p0.q3", "tx_frames"), 10);
    assert_int_equal(value("ports", "leaf1:*", "leaf0:p0", "rx_frames"), -1);
    done("hosts", "{}");
    refused("show", "{\"what\": \"prots\"}", "did you mean 'ports'");
    refused("show", "{}",
            "expected one of ports, flows, drops, edges, queues, groups, "
            "priorities, watermarks, watchdogs, lldp, dcbx, endpoints, faults, links");
    refused("show", "{\"what\": \"queues\", \"at\": \"zz\"}",
            "none of the queues fits 'zz'; there are leaf0:p0.q0, leaf0:p0.q1, ");
    refused("show", "{\"what\": \"links\", \"at\": \"leaf0:p1-spine0:p9\"}",
            "did you mean 'leaf0:p1-spine0:p0'");
    refused("show", "{\"what\": \"drops\", \"at\": \"leaf9:*\"}", "none of the drops fits");
    refused("hosts", "{\"at\": \"h9\"}", "none of the attached hosts fits 'h9': there are none");
    done("show", "{\"what\": \"queues\", \"at\": \"leaf0:p0.q7\"}"); /* is there, and empty */
    done("show", "{\"what\": \"faults\", \"at\": \"leaf0:p0\"}");
}

static void faults_hit_what_they_should(void **state)
{
    done("inject", "{\"action\": \"drop\", \"at\": \"leaf0:p1\", \"every\": 5}");
    done("inject",
         "{\"action\": \"ce\", \"at\": \"spine0:p1\", \"class\": \"roce\", \"count\": 7}");
    send_frames(100);
    assert_int_equal(wft_probe(fabric, 1)->n_seen, 80);
    assert_int_equal(value("drops", "*", "leaf0:p1", "frames"), 20);
    assert_int_equal(value("faults", "*", "leaf0:p1", "hit_frames"), 20);
    assert_int_equal(value("faults", "*", "spine0:p1", "hit_frames"), 7);
    for (unsigned i = 0; i < 80; i++)
        assert_int_equal(wft_probe(fabric, 1)->seen[i].p.ecn, i < 7 ? 3 : 1);
    refused("inject", "{\"action\": \"drop\", \"at\": \"leaf9:p1\"}", "no port 'leaf9:p1'");
    refused("inject", "{\"action\": \"drrop\", \"at\": \"leaf0:p1\"}", "did you mean 'drop'");
    refused("inject", "{\"action\": \"ce\", \"at\": \"leaf0:p1\", \"class\": \"x\"}", "roce_data");
    refused("inject", "{\"action\": \"ce\", \"at\": \"leaf0:p1\", \"every\": 0}", "every");
    refused("inject", "{\"action\": \"ce\", \"at\": \"leaf0:p1\", \"every\": -5}", "every");
    refused("inject", "{\"action\": \"ce\", \"at\": \"leaf0:p1\", \"every\": \"5\"}", "every");
    for (int i = 1; i < WF_FAULTS_INJECTED; i++)
        done("inject", "{\"action\": \"drop\", \"at\": \"leaf0:p1\", \"every\": 1000000}");
    refused("inject", "{\"action\": \"drop\", \"at\": \"leaf0:p1\"}",
            "64 injected faults that have not ended");
    done("inject", "{\"action\": \"end\", \"at\": \"leaf0:p1\"}");
    done("inject", "{\"action\": \"drop\", \"at\": \"leaf0:p1\", \"every\": 1000000}");
    wft_check(fabric);
}

static void links_go_down_and_up(void **state)
{
    done("link", "{\"at\": \"leaf0:p1-spine0:p0\", \"up\": false}");
    assert_false(wf_fabric_port(fabric, "leaf0:p1")->up);
    send_frames(3);
    assert_int_equal(value("drops", "*", "leaf0:p0", "frames"), 3);
    done("link", "{\"at\": \"spine0:p0\", \"up\": true}"); /* by a port at its end */
    send_frames(3);
    assert_int_equal(wft_probe(fabric, 1)->n_seen, 3);
    refused("link", "{\"at\": \"leaf0-spine0\", \"up\": true}", "no link");
    refused("link", "{\"at\": \"leaf0:p1\", \"up\": 1}", "true or false");
    wft_check(fabric);
}

static void links_flap(void **state)
{
    const struct wf_port *port = wf_fabric_port(fabric, "leaf0:p1");
    uint64_t now = wf_fabric_now_ps(fabric), downs = port->ctr[WF_PORT_LINK_DOWN_EVENTS];
    static const struct {
        uint64_t us;
        bool up;
        unsigned downs;
    } t[] = {{0, false, 1},  {19, false, 1},  {21, true, 1},  {99, true, 1}, {101, false, 2},
             {121, true, 2}, {201, false, 3}, {221, true, 3}, {400, true, 3}};

    done("link", "{\"at\": \"leaf0:p1\", \"down_ps\": 20000000, \"period_ps\": 100000000, "
                 "\"count\": 3}");
    refused("link", "{\"at\": \"leaf0:p1\", \"down_ps\": 5}", "flaps already");
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        wft_run(fabric, now + t[i].us * WF_PS_PER_US);
        assert_int_equal(port->up, t[i].up);
        assert_int_equal(port->ctr[WF_PORT_LINK_DOWN_EVENTS], downs + t[i].downs);
    }
    done("link", "{\"at\": \"leaf0:p1\", \"down_ps\": 1000}"); /* once more, once */
    wft_run(fabric, WF_TIME_NEVER);
    assert_true(port->up);
    refused("link", "{\"at\": \"leaf0:p1\", \"down_ps\": 0}", "down_ps");
    refused("link", "{\"at\": \"leaf0:p1\", \"down_ps\": 5, \"count\": 2}", "period");
    refused("link", "{\"at\": \"leaf0:p1\", \"down_ps\": 5, \"count\": 1001}", "count");
    wft_check(fabric);
}

static void a_pause_goes_out(void **state)
{
    done("pfc", "{\"at\": \"leaf1:p0\", \"priorities\": [3, 5], \"quanta\": 1000}");
    wft_run(fabric, WF_TIME_NEVER);
    assert_int_equal(wft_probe(fabric, 1)->n_control, 1);
    assert_memory_equal(wft_probe(fabric, 1)->control[0] + 12,
                        ((uint8_t[]){0x88, 8, 1, 1, 0, 0x28, 0, 0, 0, 0, 0, 0, 3, 0xe8}), 14);
    refused("pfc", "{\"at\": \"leaf1:p0\", \"priorities\": [8]}", "priorities");
    refused("pfc", "{\"at\": \"leaf1:p0\", \"priorities\": []}", "priorities");
    refused("pfc", "{\"at\": \"leaf1:p0\", \"priorities\": [1], \"quanta\": 65536}", "quanta");
    wft_check(fabric);
}

static void stop_ends_the_run(void **state)
{
    assert_false(loop.stop_asked);
    done("stop", "{}");
    assert_true(loop.stop_asked);
    refused("format_disk", "{}", "no command 'format_disk'");
}

/* --- clients that mean no good ---------------------------------------------------------------- */

static int dial(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

    wf_instance_path(&inst, WF_CTL_SOCKET, a.sun_path, sizeof(a.sun_path));
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    wf_ctl_service(ctl);
    return fd;
}

static bool cut_off(int fd)
{
    char buf[4096];
    ssize_t n;

    for (int i = 0; i < 20; i++)
        wf_ctl_service(ctl);
    while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
        ;
    return n == 0 || errno != EAGAIN;
}

static void put(int fd, const void *data, size_t len)
{
    uint32_t head = htonl((uint32_t)len);

    assert_int_equal(send(fd, &head, 4, MSG_NOSIGNAL), 4);
    assert_int_equal(send(fd, data, len, MSG_NOSIGNAL), len);
}

static void broken_messages_cut_off_their_sender_only(void **state)
{
    static const char *const bad[] = {"[]",       "null",  "{", "{\"a\":1,\"a\":2}",
                                      "\xff\xfe", "{} {}", "",  "{\"v\":1e999}"};
    static char deep[20000];
    uint8_t noise[64];
    uint32_t seed = 1;
    int fd;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fd = dial();
        put(fd, bad[i], strlen(bad[i]));
        assert_true(cut_off(fd));
        close(fd);
    }
    memset(deep, '[', sizeof(deep)); /* would run through the parser's stack */
    fd = dial();
    put(fd, deep, sizeof(deep));
    assert_true(cut_off(fd));
    close(fd);
    fd = dial();
    assert_int_equal(send(fd, "\x00\x10\x00\x01", 4, 0), 4); /* 1 MiB and a byte */
    assert_true(cut_off(fd));
    close(fd);
    for (int i = 0; i < 300; i++) {
        fd = dial();
        for (size_t b = 0; b < sizeof(noise); b++)
            noise[b] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
        noise[0] = noise[1] = 0; /* a length that might be */
        send(fd, noise, sizeof(noise), MSG_NOSIGNAL);
        wf_ctl_service(ctl);
        close(fd);
        wf_ctl_service(ctl);
    }
    done("status", "{}"); /* the others are served as before */
}

static void wrong_members_get_an_answer(void **state)
{
    static const char *const odd[] = {
        "{}",
        "{\"v\":2,\"id\":1,\"cmd\":\"status\"}",
        "{\"v\":1,\"id\":\"x\",\"cmd\":\"status\"}",
        "{\"v\":1,\"id\":1,\"cmd\":7}",
        "{\"v\":1,\"id\":1,\"cmd\":\"show\",\"what\":[],\"at\":{}}",
        "{\"v\":1,\"id\":1,\"cmd\":\"inject\",\"at\":[1],\"every\":1.5,\"action\":\"drop\"}",
        "{\"v\":1,\"id\":1,\"cmd\":\"pfc\",\"at\":\"leaf0:p0\",\"priorities\":{\"a\":1}}",
        "{\"v\":1,\"id\":1,\"cmd\":\"link\",\"at\":\"\",\"up\":true}",
    };
    static char buf[65536];
    int fd = dial();

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        put(fd, odd[i], strlen(odd[i]));
        wf_ctl_service(ctl);
        assert_true(recv(fd, buf, sizeof(buf), 0) > 4);
    }
    close(fd);
    wf_ctl_service(ctl);
}

/* One that asks and asks and never reads is cut off, and others are served meanwhile. */
static void one_that_never_reads_is_cut_off(void **state)
{
    static const char q[] = "{\"v\":1,\"id\":1,\"cmd\":\"show\",\"what\":\"ports\"}";
    uint32_t head = htonl(sizeof(q) - 1);
    char msg[sizeof(q) + 4];
    int fd = dial(), rounds = 0;
    bool gone = false;

    memcpy(msg, &head, 4);
    memcpy(msg + 4, q, sizeof(q));
    for (; rounds < 100000 && !gone; rounds++) {
        gone = send(fd, msg, sizeof(q) + 3, MSG_NOSIGNAL) < 0 && errno == EPIPE;
        wf_ctl_service(ctl);
        if (rounds % 1000 == 0)
            done("status", "{}");
    }
    assert_true(gone);
    assert_true(rounds > 1000);
    close(fd);
}

static void too_many_clients(void **state)
{
    int fd[WF_CTL_CLIENTS], more;

    for (int i = 0; i < WF_CTL_CLIENTS; i++)
        fd[i] = dial();
    more = dial();
    assert_true(cut_off(more));
    close(more);
    for (int i = 0; i < WF_CTL_CLIENTS; i++) {
        assert_false(cut_off(fd[i]));
        close(fd[i]);
    }
    wf_ctl_service(ctl);
    done("status", "{}");
}

/* As the stranger: 0 when turned away, by the folder or by the server. */
static int knock_as_nobody(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int status = -1;
    pid_t pid = fork();

    if (!pid) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        char c;

        snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
        if (setresuid(65534, 65534, 65534))
            _exit(9);
        if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
            _exit(errno == EACCES ? 1 : 9);
        _exit(recv(fd, &c, 1, 0) == 0 ? 2 : 9);
    }
    for (int i = 0; i < 2000 && !waitpid(pid, &status, WNOHANG); i++)
        service(5);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void another_user_is_turned_away(void **state)
{
    char path[300], user[300];
    struct stat st;

    wf_instance_path(&inst, WF_CTL_SOCKET, path, sizeof(path));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(inst.dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    if (geteuid() != 0) {
        print_message("a stranger can be played only as root\n");
        skip();
    }
    assert_int_equal(knock_as_nobody(path), 1);
    snprintf(user, sizeof(user), "%s", inst.dir);
    *strrchr(user, '/') = 0;
    chmod(home, 0777);
    chmod(user, 0777);
    chmod(inst.dir, 0777);
    chmod(path, 0666);
    assert_int_equal(knock_as_nobody(path), 2); /* all doors open: its user id is looked at */
    chmod(user, 0700);
}

/* --- instances -------------------------------------------------------------------------------- */

static void a_second_instance_is_refused(void **state)
{
    struct wf_instance other;
    struct wf_err err;

    assert_int_equal(wf_instance_claim(&other, "one", &err), -EEXIST);
    assert_non_null(strstr(err.msg, "'one' is running already"));
    assert_int_equal(wf_instance_claim(&other, "../one", &err), -EINVAL);
    assert_int_equal(wf_instance_claim(&other, "", &err), -EINVAL);
    assert_int_equal(wf_instance_claim(&other, "two", &err), 0);
    refused("status", "{}", "several instances run");
    wf_instance_remove(&other);
    done("status", "{}");
}

static void what_a_killed_one_left_is_no_obstacle(void **state)
{
    struct wf_instance mine;
    struct wf_err err;
    char path[300];
    int status;
    pid_t pid = fork();

    if (!pid) {
        struct wf_ctl *theirs;

        if (wf_instance_claim(&mine, "dead", &err))
            _exit(1);
        wf_instance_path(&mine, WF_CTL_SOCKET, path, sizeof(path));
        if (wf_ctl_open(&theirs, path, &err))
            _exit(1);
        raise(SIGKILL);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(wf_instance_find(&mine, "dead", &err), 0);
    assert_false(wf_instance_alive(&mine));
    wf_instance_path(&mine, WF_CTL_SOCKET, path, sizeof(path));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(wf_instance_claim(&mine, "dead", &err), 0);
    assert_int_equal(access(path, F_OK), -1);
    wf_instance_remove(&mine);
    assert_int_equal(access(mine.dir, F_OK), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_view_answers),
        TEST(faults_hit_what_they_should),
        TEST(links_go_down_and_up),
        TEST(links_flap),
        TEST(a_pause_goes_out),
        TEST(stop_ends_the_run),
        TEST(broken_messages_cut_off_their_sender_only),
        TEST(wrong_members_get_an_answer),
        TEST(one_that_never_reads_is_cut_off),
        TEST(too_many_clients),
        TEST(another_user_is_turned_away),
        TEST(a_second_instance_is_refused),
        TEST(what_a_killed_one_left_is_no_obstacle),
    };
    char user[128];
    int rc;

    snprintf(home, sizeof(home), "/tmp/wft-ctl-%d", (int)getpid());
    mkdir(home, 0700);
    setenv("XDG_RUNTIME_DIR", home, 1);
    wft_eal(128);
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(user, sizeof(user), "%s/weft-%u", home, (unsigned)getuid());
    return rc | rmdir(user) | rmdir(home); /* anything left behind is a failure */
}
