/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runs of a sweep as children: this program itself, in a folder of the run, in a process group
 * of its own so that Ctrl-C reaches us alone, killed by the kernel when we are. A child's folder is
 * renamed when it has ended; before that it counts for nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd_sweep.h"
#include "sim/clock.h"

enum { PATH_LEN = 4096, GRACE_MS = 10000, TICK_MS = 250, SHOW_TTY_MS = 500, SHOW_MS = 10000 };

static const char *path_of(const struct wf_sweep *s, const struct wf_sweep_run *r, const char *tail,
                           char *buf)
{
    snprintf(buf, PATH_LEN, "%s/runs/%s%s", s->out, r->id, tail);
    return buf;
}

static int make_dir(const char *path, struct wf_err *err)
{
    if (!mkdir(path, 0777) || errno == EEXIST)
        return 0;
    return wf_err_set(err, errno, "cannot make the folder %s: %s", path, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is finished ---- */

json_t *wf_sweep_result(const struct wf_sweep *s, const struct wf_sweep_run *r)
{
    char path[PATH_LEN];

    return json_load_file(path_of(s, r, "/result.json", path), JSON_REJECT_DUPLICATES, NULL);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text ? text : "";
}

/* Whether the result is of this run and by this program. */
static bool fits(const struct wf_sweep *s, const struct wf_sweep_run *r, const json_t *j)
{
    const json_t *m = json_object_get(j, "manifest"), *seed = json_object_get(m, "seed");
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)r->seed);
    return !strcmp(text_of(m, "scenario_sha256"), s->sha256[r->setting]) &&
           !strcmp(text_of(m, "version"), wf_version()) &&
           (json_is_string(seed) ? !strcmp(json_string_value(seed), text)
                                 : (uint64_t)json_integer_value(seed) == r->seed);
}

/* The exit status that goes with a verdict; -1: it was not run to its end. */
static int code_of(const json_t *j)
{
    const char *verdict = text_of(j, "verdict");

    return !strcmp(verdict, "passed")   ? WF_EXIT_PASS
           : !strcmp(verdict, "failed") ? WF_EXIT_EXPECTATION
           : !strcmp(verdict, "broken") ? WF_EXIT_INVARIANT
                                        : -1;
}

const char *wf_sweep_status(const struct wf_sweep_run *r, const json_t *result)
{
    if (r->state == WF_SWEEP_FINISHED && result)
        return text_of(result, "verdict");
    return r->state == WF_SWEEP_TO_RUN ? "not_run" : "error";
}

static void look_for_result(struct wf_sweep *s, struct wf_sweep_run *r)
{
    json_t *j = wf_sweep_result(s, r);

    if (j && fits(s, r, j) && code_of(j) >= 0) {
        r->state = WF_SWEEP_FINISHED;
        r->exit_code = code_of(j);
        r->reused = true;
    }
    json_decref(j);
}

static int lock(struct wf_sweep *s, struct wf_err *err)
{
    char path[PATH_LEN];

    snprintf(path, sizeof(path), "%s/.lock", s->out);
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock_fd < 0)
        return wf_err_set(err, errno, "cannot write %s: %s", path, strerror(errno));
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB))
        return wf_err_set(err, EBUSY, "another weft sweep is at work in %s", s->out);
    return 0;
}

int wf_sweep_open(struct wf_sweep *s, struct wf_err *err)
{
    char path[PATH_LEN];
    int rc = make_dir(s->out, err);

    if (!rc)
        rc = lock(s, err);
    snprintf(path, sizeof(path), "%s/runs", s->out);
    if (!rc)
        rc = make_dir(path, err);
    for (size_t i = 0; i < s->n_runs && !rc; i++) {
        remove_tree(path_of(s, &s->runs[i], ".part", path));
        look_for_result(s, &s->runs[i]);
    }
    return rc;
}

/* ---- children ---- */

static void child(struct wf_sweep *s, const struct wf_sweep_run *r, const char *dir, pid_t parent)
{
    const char *argv[16 + 2 * WF_SWEEP_AXES_MAX] = {
        "weft", "run", "--quiet", "--no-capture", "--json", "result.json", "--seed"};
    char seed[24];
    int n = 7, null, err;
    sigset_t none;

    snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->seed);
    argv[n++] = seed;
    for (size_t i = 0; i < s->n_axes; i++) {
        argv[n++] = "--set";
        argv[n++] =
            wf_arena_printf(&s->arena, "%s=%s", s->axes[i].key, wf_sweep_value(s, r->setting, i));
    }
    argv[n++] = s->path;
    argv[n] = NULL;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (getppid() != parent || chdir(dir))
        _exit(WF_EXIT_ENVIRONMENT);
    null = open("/dev/null", O_RDWR);
    err = open("stderr.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (null < 0 || err < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(err, 2) < 0)
        _exit(WF_EXIT_ENVIRONMENT);
    execv("/proc/self/exe", (char *const *)argv);
    _exit(WF_EXIT_ENVIRONMENT);
}

static int start(struct wf_sweep *s, struct wf_sweep_run *r, struct wf_err *err)
{
    char dir[PATH_LEN];
    pid_t parent = getpid();
    int rc = make_dir(path_of(s, r, ".part", dir), err);

    if (rc)
        return rc;
    r->pid = fork();
    if (r->pid < 0)
        return wf_err_set(err, errno, "cannot start a run: %s", strerror(errno));
    if (!r->pid)
        child(s, r, dir, parent);
    r->state = WF_SWEEP_RUNNING;
    return 0;
}

/* A child has ended: its folder counts from now on, or is kept as .failed. */
static int finish(struct wf_sweep *s, struct wf_sweep_run *r, int status, struct wf_err *err)
{
    char part[PATH_LEN], to[PATH_LEN + 16];
    json_t *j;

    r->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r->pid = 0;
    path_of(s, r, ".part", part);
    if (wf_cmd_stop && r->exit_code >= 128) { /* by us: it is run again another time */
        r->state = WF_SWEEP_TO_RUN;
        remove_tree(part);
        return 0;
    }
    snprintf(to, sizeof(to), "%s/result.json", part);
    j = json_load_file(to, 0, NULL);
    r->state = j && code_of(j) == r->exit_code ? WF_SWEEP_FINISHED : WF_SWEEP_ERROR;
    json_decref(j);
    remove_tree(path_of(s, r, ".failed", to));
    if (r->state == WF_SWEEP_FINISHED)
        remove_tree(path_of(s, r, "", to));
    else
        path_of(s, r, ".failed", to);
    if (rename(part, to))
        return wf_err_set(err, errno, "cannot rename %s: %s", part, strerror(errno));
    return 0;
}

static struct wf_sweep_run *run_of(struct wf_sweep *s, pid_t pid)
{
    for (size_t i = 0; i < s->n_runs; i++)
        if (s->runs[i].state == WF_SWEEP_RUNNING && s->runs[i].pid == pid)
            return &s->runs[i];
    return NULL;
}

struct progress {
    size_t running, done, errors, first_done;
    uint64_t start_ns, shown_ns;
    bool tty;
};

static void show(const struct wf_sweep *s, struct progress *p, bool last)
{
    uint64_t now = wf_wall_ns(), every = (p->tty ? SHOW_TTY_MS : SHOW_MS) * 1000000ull;
    size_t fresh = p->done - p->first_done;
    double left = 0;
    char line[200];
    int used;

    if (s->quiet || (now - p->shown_ns < every && !last) || (last && !p->tty))
        return;
    p->shown_ns = now;
    if (fresh)
        left = (double)(now - p->start_ns) / 1e9 / (double)fresh * (double)(s->n_runs - p->done);
    used = snprintf(line, sizeof(line), "weft sweep: %zu of %zu done, %zu running", p->done,
                    s->n_runs, p->running);
    if (p->errors)
        used += snprintf(line + used, sizeof(line) - used, ", %zu without a result", p->errors);
    if (fresh && left >= 1)
        snprintf(line + used, sizeof(line) - used, ", about %.0f s left", left);
    if (p->tty) /* stderr lets no control characters through */
        dprintf(STDERR_FILENO, "\r%s\033[K%s", line, last ? "\n" : "");
    else
        fprintf(stderr, "%s\n", line);
}

/* One that has ended, or wait a little for it. */
static int reap(struct wf_sweep *s, struct progress *p, struct wf_err *err)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
    struct wf_sweep_run *r;
    sigset_t chld;
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);

    if (pid <= 0) {
        sigemptyset(&chld);
        sigaddset(&chld, SIGCHLD);
        sigtimedwait(&chld, NULL, &tick);
        return 0;
    }
    r = run_of(s, pid);
    if (!r)
        return 0;
    p->running--;
    status = finish(s, r, status, err);
    p->errors += r->state == WF_SWEEP_ERROR;
    p->done += r->state != WF_SWEEP_TO_RUN;
    return status;
}

static void signal_all(struct wf_sweep *s, int sig)
{
    for (size_t i = 0; i < s->n_runs; i++)
        if (s->runs[i].state == WF_SWEEP_RUNNING)
            kill(s->runs[i].pid, sig);
}

/* Stopped, or we can't go on: ask the children to end, then make them. */
static void end_children(struct wf_sweep *s, struct progress *p)
{
    uint64_t kill_ns = wf_wall_ns() + GRACE_MS * 1000000ull;
    struct wf_err err;

    signal_all(s, SIGTERM);
    while (p->running) {
        if (wf_wall_ns() > kill_ns) {
            signal_all(s, SIGKILL);
            kill_ns = UINT64_MAX;
        }
        reap(s, p, &err);
    }
}

static int run_all(struct wf_sweep *s, struct progress *p, struct wf_err *err)
{
    size_t next = 0;
    int rc = 0;

    while (!rc && !wf_cmd_stop) {
        while (next < s->n_runs && s->runs[next].state != WF_SWEEP_TO_RUN)
            next++;
        if (next < s->n_runs && p->running < s->jobs) {
            rc = start(s, &s->runs[next++], err);
            p->running += !rc;
            continue;
        }
        if (!p->running)
            break;
        rc = reap(s, p, err);
        show(s, p, false);
    }
    return rc;
}

int wf_sweep_jobs(struct wf_sweep *s, struct wf_err *err)
{
    struct progress p = {.start_ns = wf_wall_ns(), .tty = isatty(STDERR_FILENO)};
    sigset_t chld, old;
    int rc;

    p.shown_ns = p.start_ns;
    for (size_t i = 0; i < s->n_runs; i++)
        p.done += s->runs[i].state == WF_SWEEP_FINISHED;
    p.first_done = p.done;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, &old);
    rc = run_all(s, &p, err);
    end_children(s, &p);
    sigprocmask(SIG_SETMASK, &old, NULL);
    show(s, &p, true);
    return rc;
}
