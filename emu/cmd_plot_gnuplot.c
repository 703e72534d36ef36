/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gnuplot side of figures. A script names only files beside it, so that `gnuplot NAME.gp` in
 * that folder draws the figure again. Text of the user's stands in single quotes, in which gnuplot
 * substitutes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd_plot.h"

/* Told apart on white paper, also by those who don't see all colours. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#56b4e9", "#8b6508", "#000000", "#e69f00"};

static FILE *create(const struct wf_plot *p, const char *name, const char *ending,
                    struct wf_err *err)
{
    char path[4096];
    FILE *f;

    if (mkdir(p->out, 0777) && errno != EEXIST) {
        wf_err_set(err, errno, "cannot make the folder %s: %s", p->out, strerror(errno));
        return NULL;
    }
    snprintf(path, sizeof(path), "%s/%s.%s", p->out, name, ending);
    f = fopen(path, "we");
    if (!f)
        wf_err_set(err, errno, "cannot write %s: %s", path, strerror(errno));
    return f;
}

static int finish(const struct wf_plot *p, const char *name, const char *ending, FILE *f,
                  struct wf_err *err)
{
    bool bad = ferror(f);
    int code;

    errno = 0;
    if (!fclose(f) && !bad)
        return 0;
    code = errno ? errno : ENOSPC;
    return wf_err_set(err, code, "cannot write %s/%s.%s: %s", p->out, name, ending, strerror(code));
}

FILE *wf_plot_begin(struct wf_plot *p, const char *name, const struct wf_csv *source,
                    struct wf_err *err)
{
    FILE *f = create(p, name, "csv", err);

    if (f)
        fprintf(f, "# drawn by weft %s (%s) from: %s\n", wf_version(), p->command, source->comment);
    return f;
}

/* 'text', quotes doubled, nothing that ends a line. */
static void quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
    fputc('\'', out);
}

static void labels(FILE *f, const struct wf_plot_style *s)
{
    fputs("set title ", f);
    quoted(f, s->title);
    fputs("\nset xlabel ", f);
    quoted(f, s->xlabel);
    fputs("\nset ylabel ", f);
    quoted(f, s->ylabel);
    fputc('\n', f);
    if (s->log_x)
        fputs("set logscale x\n", f);
    if (s->log_y)
        fputs("set logscale y\n", f);
    if (s->from_zero_y)
        fputs("set yrange [0:*]\n", f);
    if (s->more)
        fputs(s->more, f);
}

static void script(FILE *f, const struct wf_plot *p, const char *name,
                   const struct wf_plot_style *s)
{
    fprintf(f, "# Draws %s.%s from %s.csv; run it by: gnuplot %s.gp\n# Written by weft %s.\n", name,
            p->png ? "png" : "svg", name, name, wf_version());
    fputs(p->png ? "set terminal pngcairo noenhanced size 900,560 font 'sans,11'\n"
                 : "set terminal svg noenhanced size 900,560 font 'sans,14' background 'white'\n",
          f);
    fprintf(f, "set output '%s.%s'\n", name, p->png ? "png" : "svg");
    fputs("set datafile separator comma\nset datafile columnheaders\nset datafile missing NaN\n"
          "set grid\nset key outside right top\n",
          f);
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        fprintf(f, "set linetype %zu linecolor rgb '%s' linewidth 1.5\n", i + 1, colours[i]);
    labels(f, s);
    fprintf(f, "array G[%zu]\n", s->n_groups);
    for (size_t i = 0; i < s->n_groups; i++) {
        fprintf(f, "G[%zu] = ", i + 1);
        quoted(f, s->groups[i]);
        fputc('\n', f);
    }
    fprintf(f, "plot for [i=1:%zu] '%s.csv' %s title G[i]\n", s->n_groups, name, s->with);
}

int wf_plot_end(struct wf_plot *p, const char *name, FILE *table, const struct wf_plot_style *style,
                struct wf_err *err)
{
    int rc = finish(p, name, "csv", table, err);
    FILE *f = rc ? NULL : create(p, name, "gp", err);

    if (!f)
        return rc ? rc : -EIO;
    script(f, p, name, style);
    if (p->n_figures == WF_PLOT_FIGURES_MAX) {
        fclose(f);
        return wf_err_set(err, E2BIG, "more than %d figures", WF_PLOT_FIGURES_MAX);
    }
    p->figures[p->n_figures++] = wf_arena_strdup(&p->arena, name);
    return finish(p, name, "gp", f, err);
}

int wf_plot_group(struct wf_plot *p, struct wf_plot_groups *g, const char *name)
{
    char line[512]; /* gnuplot reads lines */

    snprintf(line, sizeof(line), "%s", name);
    for (char *c = line; *c; c++)
        *c = (unsigned char)*c < 0x20 ? ' ' : *c;
    for (size_t i = 0; i < g->n; i++)
        if (!strcmp(g->names[i], line))
            return (int)i;
    if (g->n == WF_PLOT_GROUPS_MAX) {
        g->left_out++;
        return -1;
    }
    g->names[g->n] = wf_arena_strdup(&p->arena, line);
    return (int)g->n++;
}

void wf_plot_told(const struct wf_plot *p, const char *figure, const struct wf_plot_groups *g)
{
    if (g->left_out && !p->quiet)
        fprintf(stderr, "weft plot: %s shows %d curves, the others are left out; --at chooses\n",
                figure, WF_PLOT_GROUPS_MAX);
}

/* Runs it in the figures' folder; its exit status, 127 when it is not there. */
static int gnuplot(const struct wf_plot *p, const char *script_name)
{
    int status;
    pid_t pid = fork();

    if (pid < 0)
        return 126;
    if (!pid) {
        int null = open("/dev/null", O_RDONLY);

        if (null < 0 || dup2(null, 0) < 0 || chdir(p->out))
            _exit(126);
        execlp("gnuplot", "gnuplot", script_name, (char *)NULL);
        _exit(errno == ENOENT ? 127 : 126);
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int wf_plot_draw(struct wf_plot *p, struct wf_err *err)
{
    for (size_t i = 0; i < p->n_figures; i++) {
        char name[300];
        int code;

        snprintf(name, sizeof(name), "%s.gp", p->figures[i]);
        code = gnuplot(p, name);
        if (code == 127)
            return wf_err_set(err, ENOENT,
                              "gnuplot is not installed (Debian: apt-get install gnuplot-nox); "
                              "the tables and scripts are in %s",
                              p->out);
        if (code)
            return wf_err_set(err, EIO, "gnuplot failed on %s/%s with exit status %d", p->out, name,
                              code);
    }
    return 0;
}
