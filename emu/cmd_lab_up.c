/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weft lab up`: everything that can be refused is refused here, in the foreground, before anything
 * starts: scenario, options, QEMU, the image, the instance's name. Then a child of its own session
 * becomes the lab (cmd_lab_live.c), and we wait until it says that it is up.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "cmd.h"
#include "cmd_lab.h"
#include "sim/clock.h"

void wf_lab_tell(const struct wf_lab_setup *s, char kind, const char *fmt, ...)
{
    char line[1200];
    va_list ap;
    int n = 1;

    line[0] = kind;
    va_start(ap, fmt);
    n += vsnprintf(line + 1, sizeof(line) - 2, fmt, ap);
    va_end(ap);
    n = n > (int)sizeof(line) - 2 ? (int)sizeof(line) - 2 : n;
    for (int i = 1; i < n; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    line[n++] = '\n';
    if (s->tell_fd < 0 || write(s->tell_fd, line, n) != n)
        fprintf(stderr, "weft lab: %.*s", n - 1, line + 1); /* nobody waits any more: the log */
}

/* Options win over the scenario's section. */
static int take_options(struct wf_lab_setup *s, const struct wf_lab_up_args *a, struct wf_err *err)
{
    int rc = 0;

    for (const struct wf_key *k = wf_lab_keys.keys; k < wf_lab_keys.keys + wf_lab_keys.n_keys;
         k++) {
        const char *value = !strcmp(k->name, "kernel")     ? a->kernel
                            : !strcmp(k->name, "packages") ? a->packages
                            : !strcmp(k->name, "share")    ? a->share
                            : !strcmp(k->name, "memory")   ? a->memory
                            : !strcmp(k->name, "accel")    ? a->accel
                                                           : NULL;

        if (value && !rc)
            rc = wf_key_set(k, &s->cfg, value, err);
    }
    return rc;
}

/* A guest has its own system there. */
static bool guest_needs(const char *dir)
{
    static const char *const theirs[] = {"/usr", "/lib",  "/lib64", "/bin", "/sbin", "/etc",
                                         "/dev", "/proc", "/sys",   "/run", "/var"};

    if (!strcmp(dir, "/"))
        return true;
    for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
        if (!strcmp(dir, theirs[i]))
            return true;
    return !strncmp(dir, "/dev/", 5) || !strncmp(dir, "/proc/", 6) || !strncmp(dir, "/sys/", 5);
}

static int take_share(struct wf_lab_setup *s, struct wf_err *err)
{
    const char *asked = s->cfg.share;
    char path[4096];

    if (asked && !strcmp(asked, "none"))
        return 0;
    if (!realpath(asked ? asked : ".", path))
        return wf_err_set(err, errno, "shared folder '%s': %s", asked ? asked : ".",
                          strerror(errno));
    if (guest_needs(path) || strchr(path, ',') || strlen(path) >= sizeof(s->share)) {
        if (asked)
            return wf_err_set(err, EINVAL, "'%s' cannot be shared with guests: %s", path,
                              guest_needs(path) ? "they have their own system there"
                                                : "its name is too long or has a comma");
        return 0;
    }
    memcpy(s->share, path, strlen(path) + 1);
    return 0;
}

static int load(struct wf_lab_setup *s, const struct wf_lab_up_args *a)
{
    const struct wf_yaml_node *section;
    struct wf_err err;
    int rc = wf_scenario_load_set(&s->scen, a->scenario, a->sets.items, a->sets.n);

    s->lcores = a->lcores ? a->lcores : 1;
    wf_keyset_defaults(&wf_lab_keys, &s->cfg);
    section = rc ? NULL : wf_scenario_section(&s->scen, "lab");
    if (section)
        wf_fill(&s->scen.fill, &wf_lab_keys, &s->cfg, section, NULL);
    if (!rc)
        rc = wf_scenario_check_mode(&s->scen, true);
    if (s->scen.diags.errors)
        rc = -EINVAL;
    wf_diags_print(&s->scen.diags, stderr);
    if (rc)
        return WF_EXIT_USAGE;
    if (a->payload && strcmp(a->payload, "cut") && strcmp(a->payload, "whole"))
        rc = wf_err_set(&err, EINVAL, "--payload '%s': expected cut or whole", a->payload);
    if (rc || take_options(s, a, &err) || take_share(s, &err))
        return wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
    return 0;
}

/* The instance, and the hosts whose sockets lie in its directory. */
static int claim(struct wf_lab_setup *s, const struct wf_lab_up_args *a)
{
    const char *name = a->instance ? a->instance : s->scen.opts.name;
    struct wf_err err;

    if (wf_instance_name_check(name, &err))
        return wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
    if (wf_lab_sweep(name, &err) || wf_instance_claim(&s->in, name, &err))
        return wf_cmd_fail("lab", WF_EXIT_ENVIRONMENT, &err);
    if (wf_lab_plan_desc(&s->plan, &s->scen.desc, s->in.dir, &err)) {
        wf_instance_remove(&s->in);
        return wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
    }
    return 0;
}

/* Before the fork, so that whoever started it hears what is wrong. */
static int begin_record(struct wf_lab_setup *s, const struct wf_lab_up_args *a)
{
    const struct wf_record_conf conf = {.path = a->record,
                                        .cut = a->payload && !strcmp(a->payload, "cut"),
                                        .live = true,
                                        .sets = &a->sets,
                                        .command = "weft lab up"};
    struct wf_err err;

    s->records = a->record != NULL;
    if (!s->records || !wf_record_begin(&s->record, &conf, &s->scen, &err))
        return 0;
    wf_instance_remove(&s->in);
    return wf_cmd_fail("lab", WF_EXIT_ENVIRONMENT, &err);
}

static bool has_guests(const struct wf_scenario *scen, bool *hosts)
{
    bool guests = false;

    for (uint32_t i = 0; i < scen->desc.n_hosts; i++) {
        const struct wf_host_cfg *c = &scen->desc.hosts[i].cfg;

        *hosts |= c->place.netns || c->attach.type == WF_ATTACH_VHOST_USER;
        guests |= !c->place.netns && c->attach.type == WF_ATTACH_VHOST_USER;
    }
    return guests;
}

/* What takes long or may be missing, before a name is claimed. */
static int provide(struct wf_lab_setup *s)
{
    struct wf_image_req req = {.kernel = s->cfg.kernel, .packages = s->cfg.packages};
    struct wf_err err;
    bool hosts = false;

    if (!has_guests(&s->scen, &hosts)) {
        if (hosts)
            return 0;
        wf_err_set(&err, EINVAL,
                   "%s: no host is a guest (attach: {type: vhost_user}) or has a "
                   "namespace (place: {netns: NAME})",
                   s->scen.path);
        return wf_cmd_fail("lab", WF_EXIT_USAGE, &err);
    }
    if (wf_machine_detect(&s->machine, (enum wf_accel)s->cfg.accel, &err) ||
        wf_image_get(&s->image, &req, &err))
        return wf_cmd_fail("lab", err.msg[0] == 'i' ? WF_EXIT_INTERRUPTED : WF_EXIT_ENVIRONMENT,
                           &err);
    return 0;
}

/* ---- the child, and waiting for it ----------------------------------------------------------- */

static _Noreturn void background(struct wf_lab_setup *s, int tell_fd)
{
    char path[300];
    int log = open(wf_instance_path(&s->in, WF_LAB_LOG, path, sizeof(path)),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    signal(SIGINT, SIG_IGN);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    setvbuf(stdout, NULL, _IOLBF, 0);
    s->tell_fd = tell_fd;
    wf_instance_set_pid(&s->in, getpid());
    exit(wf_lab_live(s));
}

static void print_ready(const struct wf_lab_setup *s, double seconds)
{
    const struct wf_lab_host *first = NULL, *second = NULL;

    printf("lab '%s' is up after %.1f s: %u hosts, %u guests", s->in.name, seconds, s->plan.n_hosts,
           s->plan.n_guests);
    if (s->plan.n_guests)
        printf(" by %s%s%s%s", s->machine.kvm ? "KVM" : "TCG", s->machine.why[0] ? " (" : "",
               s->machine.why, s->machine.why[0] ? ")" : "");
    printf("\n");
    for (uint32_t i = 0; i < s->plan.n_hosts; i++) {
        const struct wf_lab_host *h = &s->plan.hosts[i];
        struct wf_ip_text ip = {.addr = "-"};

        wf_ip_text(&h->ip4, &ip);
        printf("  %-8s %s %s, %s, mtu %u\n", h->name,
               h->kind == WF_LAB_GUEST ? "in guest" : "in namespace",
               h->kind == WF_LAB_GUEST ? h->guest : h->netns, ip.addr, h->mtu);
        if (h->kind == WF_LAB_GUEST && !first)
            first = h;
        else if (h->kind == WF_LAB_GUEST && !second)
            second = h;
    }
    if (s->share[0] && s->plan.n_guests)
        printf("  guests see %s\n", s->share);
    printf("go on with:\n");
    if (second)
        printf("  weft exec %s -- ib_write_bw -d rxe%u ::: %s -- ib_write_bw -d rxe%u %s\n",
               second->name, second->nic, first->name, first->nic, second->name);
    printf("  weft show ports\n  weft lab down -i %s\n", s->in.name);
    fflush(stdout);
}

/* One line from the child; 'r' or 'e' when it was that, else 0. */
static char take_line(char *line)
{
    if (line[0] == 'r')
        return 'r';
    fprintf(stderr, "weft lab: %s\n", line + 1);
    return line[0] == 'e' ? 'e' : 0;
}

/* Read what the child says until it is ready or has ended. */
static char wait_ready(int fd, pid_t child)
{
    char buf[4096];
    size_t have = 0;
    bool asked = false;

    for (;;) {
        struct pollfd p = {fd, POLLIN, 0};
        char *nl;
        ssize_t n;

        if (wf_cmd_stop && !asked) {
            asked = true;
            kill(child, SIGTERM);
        }
        if (poll(&p, 1, 200) <= 0)
            continue;
        n = read(fd, buf + have, sizeof(buf) - 1 - have);
        if (n <= 0)
            return 0;
        have += n;
        buf[have] = 0;
        while ((nl = strchr(buf, '\n'))) {
            char what;

            *nl = 0;
            what = take_line(buf);
            if (what == 'r' && !asked)
                return 'r';
            have -= nl + 1 - buf;
            memmove(buf, nl + 1, have + 1);
        }
    }
}

static int run_background(struct wf_lab_setup *s, uint64_t start_ns)
{
    int p[2], status;
    char name[64];
    struct wf_err err;
    pid_t child;

    if (pipe2(p, O_CLOEXEC) || (child = fork()) < 0) {
        wf_err_set(&err, errno, "no process can be made: %s", strerror(errno));
        wf_instance_remove(&s->in);
        return wf_cmd_fail("lab", WF_EXIT_ENVIRONMENT, &err);
    }
    if (child == 0) {
        close(p[0]);
        background(s, p[1]);
    }
    close(p[1]);
    close(s->in.lock_fd); /* the child's copy holds the lock */
    if (wait_ready(p[0], child) == 'r') {
        print_ready(s, (wf_wall_ns() - start_ns) / 1e9);
        return WF_EXIT_PASS;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    memcpy(name, s->in.name, sizeof(name));
    wf_lab_sweep(name, &err); /* in case that it died */
    if (wf_cmd_stop)
        return WF_EXIT_INTERRUPTED;
    if (WIFSIGNALED(status)) {
        wf_err_set(&err, EIO, "the background process was killed by signal %d", WTERMSIG(status));
        return wf_cmd_fail("lab", WF_EXIT_INVARIANT, &err);
    }
    return WEXITSTATUS(status) ? WEXITSTATUS(status) : WF_EXIT_ENVIRONMENT;
}

int wf_lab_up(const struct wf_lab_up_args *args)
{
    struct wf_lab_setup *s = calloc(1, sizeof(*s));
    uint64_t start_ns = wf_wall_ns();
    int rc;

    s->tell_fd = -1;
    rc = load(s, args);
    if (!rc)
        rc = provide(s);
    if (!rc)
        rc = claim(s, args);
    if (!rc)
        rc = begin_record(s, args);
    if (!rc) {
        wf_cmd_catch_signals();
        rc = args->foreground ? wf_lab_live(s) : run_background(s, start_ns);
    }
    wf_scenario_free(&s->scen);
    free(s);
    return rc;
}
