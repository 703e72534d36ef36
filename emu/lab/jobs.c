/* SPDX-License-Identifier: BSD-3-Clause */
/* See jobs.h. */
#include "lab/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/clock.h"

#define LINE_MAX_BYTES (64u * 1024) /* a longer line is passed on in pieces */
#define STOP_WAIT_MS   3000

static uint64_t now_ms(void)
{
    return wf_wall_ns() / 1000000;
}

/* ---- output --------------------------------------------------------------------------------- */

static void write_all(int fd, const char *p, size_t len)
{
    while (len) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* nobody reads us any more; the commands run on */
        p += n;
        len -= n;
    }
}

static bool prefixed(const struct wf_jobs *j)
{
    return j->opts.prefix < 0 ? j->n > 1 : j->opts.prefix;
}

static void flush_lines(struct wf_jobs *j, struct wf_job *job, int s, bool all)
{
    char *p = job->line[s].data, *end = p + job->line[s].len, *nl;
    char head[80];
    int n = snprintf(head, sizeof(head), "%s| ", job->host);

    if (job->line[s].len >= LINE_MAX_BYTES)
        all = true;
    while (p < end && ((nl = memchr(p, '\n', end - p)) || all)) {
        size_t len = nl ? (size_t)(nl - p) + 1 : (size_t)(end - p);

        write_all(1 + s, head, n);
        write_all(1 + s, p, len);
        if (!nl)
            write_all(1 + s, "\n", 1);
        p += len;
    }
    job->line[s].len = end - p;
    if (p < end)
        memmove(job->line[s].data, p, end - p);
}

void wf_job_output(struct wf_jobs *j, struct wf_job *job, enum wf_exec_stream stream,
                   const void *data, size_t len)
{
    int s = stream == WF_EXEC_STDERR;

    if (!prefixed(j)) {
        write_all(1 + s, data, len);
        return;
    }
    if (job->line[s].len + len > job->line[s].cap) {
        size_t cap = (job->line[s].len + len) * 2;
        char *d = realloc(job->line[s].data, cap);

        if (!d)
            return;
        job->line[s].data = d;
        job->line[s].cap = cap;
    }
    memcpy(job->line[s].data + job->line[s].len, data, len);
    job->line[s].len += len;
    flush_lines(j, job, s, false);
}

void wf_job_done(struct wf_jobs *j, struct wf_job *job, const struct wf_exec_status *st)
{
    char text[300];

    for (int s = 0; s < 2; s++) {
        if (job->line[s].len)
            flush_lines(j, job, s, true);
        free(job->line[s].data);
        job->line[s].data = NULL;
    }
    job->state = WF_JOB_DONE;
    job->status = *st;
    if (job->stopped && st->end != WF_EXEC_EXITED) {
        fprintf(stderr, "weft exec: %s: %s still ran and was stopped\n", job->host, job->argv[0]);
    } else if (wf_exec_status_code(st)) {
        if (j->first_failure < 0)
            j->first_failure = (int)(job - j->jobs);
        fprintf(stderr, "weft exec: %s: %s: %s\n", job->host, job->argv[0],
                wf_exec_status_text(st, text, sizeof(text)));
    }
}

/* ---- guests --------------------------------------------------------------------------------- */

static json_t *string_list(const char *const *v)
{
    json_t *a = json_array();

    for (; v && *v; v++)
        json_array_append_new(a, json_string(*v));
    return a;
}

static void guest_start(struct wf_jobs *j, struct wf_job *job)
{
    json_t *q = json_object();

    json_object_set_new(q, "host", json_string(job->host));
    json_object_set_new(q, "argv", string_list(job->argv));
    json_object_set_new(q, "env", string_list(j->opts.env));
    if (j->opts.cwd)
        json_object_set_new(q, "cwd", json_string(j->opts.cwd));
    json_object_set_new(q, "timeout_ms", json_integer((json_int_t)j->opts.timeout_ms));
    json_object_set_new(q, "idle", json_true());
    json_object_set_new(q, "stdin", json_boolean(j->opts.give_stdin && job->group == 0));
    job->id = wf_client_ask(j->client, "exec", q);
}

static struct wf_job *job_by_id(struct wf_jobs *j, json_int_t id)
{
    for (uint32_t i = 0; i < j->n; i++)
        if (j->jobs[i].state == WF_JOB_RUNNING && !j->jobs[i].netns && j->jobs[i].id == id)
            return &j->jobs[i];
    return NULL;
}

static void guest_ended(struct wf_jobs *j, struct wf_job *job, const json_t *m)
{
    static const char *const ends[] = {"exited", "signaled", "timeout", "failed", "lost"};
    const char *end = json_string_value(json_object_get(m, "end"));
    const char *text = json_string_value(json_object_get(m, "text"));
    struct wf_exec_status st = {.end = WF_EXEC_LOST};

    for (int i = 0; end && i < 5; i++)
        if (!strcmp(end, ends[i]))
            st.end = (enum wf_exec_end)i;
    st.code = (int)json_integer_value(json_object_get(m, "code"));
    snprintf(st.text, sizeof(st.text), "%s", text ? text : "");
    wf_job_done(j, job, &st);
}

static void guest_message(struct wf_jobs *j, const json_t *m)
{
    struct wf_job *job = job_by_id(j, json_integer_value(json_object_get(m, "id")));
    const char *event = json_string_value(json_object_get(m, "event"));
    const char *error = json_string_value(json_object_get(m, "error"));
    struct wf_exec_status st = {.end = WF_EXEC_FAILED, .code = EAGAIN};
    size_t len = 0;
    uint8_t *data;

    if (job && error) {
        snprintf(st.text, sizeof(st.text), "%s", error);
        wf_job_done(j, job, &st);
    } else if (job && event && (!strcmp(event, "stdout") || !strcmp(event, "stderr"))) {
        data = wf_msg_get_bytes(m, &len);
        wf_job_output(j, job, event[3] == 'o' ? WF_EXEC_STDOUT : WF_EXEC_STDERR, data, len);
        free(data);
    } else if (job && event && !strcmp(event, "idle")) {
        job->settled = true;
    } else if (job && event && !strcmp(event, "end")) {
        guest_ended(j, job, m);
    }
}

static void guests_service(struct wf_jobs *j)
{
    struct wf_exec_status lost = {.end = WF_EXEC_LOST, .text = "the instance has ended"};
    long n = wf_msg_read(&j->client->in, j->client->fd);
    json_t *m;
    int rc = 0;

    while ((m = wf_msg_get(&j->client->in, &rc))) {
        guest_message(j, m);
        json_decref(m);
    }
    if (!rc && (n > 0 || n == -EAGAIN))
        return;
    close(j->client->fd);
    j->client->fd = -1;
    for (uint32_t i = 0; i < j->n; i++)
        if (j->jobs[i].state == WF_JOB_RUNNING && !j->jobs[i].netns)
            wf_job_done(j, &j->jobs[i], &lost);
}

/* ---- order and end -------------------------------------------------------------------------- */

static void job_start(struct wf_jobs *j, struct wf_job *job)
{
    struct wf_exec_status st = {.end = WF_EXEC_FAILED};

    job->state = WF_JOB_RUNNING;
    if (!job->netns && j->client && j->client->fd >= 0) {
        guest_start(j, job);
        return;
    }
    st.code = job->netns ? -wf_job_netns_start(j, job) : EPIPE;
    if (st.code) {
        snprintf(st.text, sizeof(st.text), "%s", strerror(st.code));
        wf_job_done(j, job, &st);
    }
}

static void signal_job(struct wf_jobs *j, struct wf_job *job, int sig)
{
    json_t *q;

    if (job->state != WF_JOB_RUNNING)
        return;
    if (job->netns) {
        kill(-job->pid, sig);
        job->kill_ms = now_ms() + 2000;
        return;
    }
    q = json_object();
    json_object_set_new(q, "of", json_integer(job->id));
    json_object_set_new(q, "signal", json_integer(sig));
    wf_client_ask(j->client, "exec_signal", q);
}

static void start_group(struct wf_jobs *j, uint32_t group)
{
    j->group = group;
    j->group_ms = now_ms();
    for (uint32_t i = 0; i < j->n; i++)
        if (j->jobs[i].group == group)
            job_start(j, &j->jobs[i]);
}

static bool all_of_group(const struct wf_jobs *j, uint32_t group, bool or_settled)
{
    for (uint32_t i = 0; i < j->n; i++)
        if (j->jobs[i].group == group && j->jobs[i].state != WF_JOB_DONE &&
            !(or_settled && j->jobs[i].settled))
            return false;
    return true;
}

static bool all_done(const struct wf_jobs *j)
{
    for (uint32_t i = 0; i < j->n; i++)
        if (j->jobs[i].state == WF_JOB_RUNNING)
            return false;
    return true;
}

static void stop_all(struct wf_jobs *j, int sig)
{
    j->stopping = true;
    for (uint32_t i = 0; i < j->n; i++) {
        j->jobs[i].stopped = true;
        signal_job(j, &j->jobs[i], sig);
    }
}

/* Start what is due, end what has outlived its purpose. True when all is over. */
static bool advance(struct wf_jobs *j)
{
    uint64_t now = now_ms();
    bool last = j->group + 1 == j->groups;
    bool through =
        (last && all_of_group(j, j->group, false)) || (j->groups > 1 && j->first_failure >= 0);

    if (*j->stop && !j->stopping) {
        stop_all(j, SIGINT);
        j->through_ms = now;
    }
    if (j->stopping)
        return all_done(j) || now > j->through_ms + j->opts.linger_ms + STOP_WAIT_MS;
    if (!last && j->first_failure < 0 &&
        (all_of_group(j, j->group, true) || now > j->group_ms + j->opts.settle_ms)) {
        start_group(j, j->group + 1);
        return false;
    }
    if (!through)
        return false;
    if (all_done(j))
        return true;
    if (!j->through_ms)
        j->through_ms = now;
    if (now > j->through_ms + j->opts.linger_ms)
        stop_all(j, SIGTERM);
    return false;
}

static void pass_stdin(struct wf_jobs *j)
{
    char buf[16 * 1024];
    ssize_t n = read(0, buf, sizeof(buf));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    for (uint32_t i = 0; i < j->n; i++) {
        struct wf_job *job = &j->jobs[i];
        json_t *q;

        if (job->group != 0 || job->state != WF_JOB_RUNNING || job->netns)
            continue;
        q = json_object();
        json_object_set_new(q, "of", json_integer(job->id));
        if (n > 0)
            wf_msg_set_bytes(q, buf, n);
        wf_client_ask(j->client, "exec_stdin", q);
    }
    if (n <= 0)
        j->stdin_open = false;
}

static void turn(struct wf_jobs *j)
{
    struct pollfd p[2 + 2 * WF_JOBS];
    int n = 2, wait = 200;
    bool connected = j->client && j->client->fd >= 0;

    if (connected)
        wf_msg_write(&j->client->out, j->client->fd);
    p[0] = (struct pollfd){connected ? j->client->fd : -1, POLLIN, 0};
    if (connected && j->client->out.len)
        p[0].events |= POLLOUT;
    /* a guest that does not keep up with its input is not drowned in it */
    p[1] = (struct pollfd){
        j->stdin_open && (!connected || j->client->out.len < 256 * 1024) ? 0 : -1, POLLIN, 0};
    for (uint32_t i = 0; i < j->n; i++)
        if (j->jobs[i].netns && j->jobs[i].state == WF_JOB_RUNNING) {
            p[n++] = (struct pollfd){j->jobs[i].fds[1], POLLIN, 0};
            p[n++] = (struct pollfd){j->jobs[i].fds[2], POLLIN, 0};
            wait = WF_IDLE_LOOK_MS;
        }
    poll(p, n, wait);
    if (p[0].revents & (POLLIN | POLLHUP | POLLERR))
        guests_service(j);
    if (p[1].revents)
        pass_stdin(j);
    for (uint32_t i = 0; i < j->n; i++)
        if (j->jobs[i].netns && j->jobs[i].state == WF_JOB_RUNNING)
            wf_job_netns_service(j, &j->jobs[i], now_ms());
}

int wf_jobs_run(struct wf_jobs *j)
{
    j->first_failure = -1;
    j->stdin_open = j->opts.give_stdin;
    start_group(j, 0);
    while (!advance(j))
        turn(j);
    if (j->client && j->client->fd >= 0)
        wf_msg_write(&j->client->out, j->client->fd);
    if (*j->stop)
        return 130;
    return j->first_failure < 0 ? 0 : wf_exec_status_code(&j->jobs[j->first_failure].status);
}
