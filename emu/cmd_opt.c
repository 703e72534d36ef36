/* SPDX-License-Identifier: BSD-3-Clause */
/* See cmd_opt.h. */
#include "cmd_opt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cmd.h"

enum { HELP_COLUMN = 24, NAMES_MAX = 96 };

static const struct wf_opt help_row = {.name = "help", .letter = 'h'};

/* ---- --help ---- */

static void help_option(const struct wf_opt *o)
{
    char left[64], letter[8] = "";

    if (o->letter)
        snprintf(letter, sizeof(letter), "-%c, ", o->letter);
    snprintf(left, sizeof(left), "  %s--%s%s%s", letter, o->name, o->value ? " " : "",
             o->value ? o->value : "");
    printf("%-*s", HELP_COLUMN, left);
    if (strlen(left) + 2 > HELP_COLUMN)
        printf("\n%*s", HELP_COLUMN, "");
    for (const char *line = o->help, *end; line; line = *end ? end + 1 : NULL) {
        end = line + strcspn(line, "\n");
        printf("%*s%.*s\n", line == o->help ? 0 : HELP_COLUMN, "", (int)(end - line), line);
    }
}

void wf_opt_help(const struct wf_opt_page *page)
{
    fputs(page->head, stdout);
    for (const struct wf_opt *o = page->opts; o->name; o++)
        if (o->help)
            help_option(o);
    if (page->tail)
        fputs(page->tail, stdout);
}

/* ---- values ---- */

static int number(const struct wf_opt *o, const char *text, uint64_t *v, struct wf_err *err)
{
    const uint64_t max = o->max ? o->max : UINT64_MAX;

    if (!wf_parse_uint(text, v, NULL) && *v >= o->min && *v <= max)
        return 0;
    if (max == UINT64_MAX && !o->min)
        return wf_err_set(err, EINVAL, "--%s '%.80s': expected a whole number", o->name, text);
    return wf_err_set(err, EINVAL,
                      "--%s '%.80s': expected a whole number from %" PRIu64 " to %" PRIu64, o->name,
                      text, o->min, max);
}

static int time_value(const struct wf_opt *o, const char *text, uint64_t *v, struct wf_err *err)
{
    const uint64_t max = o->max ? o->max : UINT64_MAX;
    char a[32], b[32];
    struct wf_err why;

    if (wf_parse_time(text, v, &why))
        return wf_err_set(err, EINVAL, "--%s: %.300s", o->name, why.msg);
    if (*v >= o->min && *v <= max)
        return 0;
    return wf_err_set(err, EINVAL, "--%s '%.80s': expected a time from %s to %s", o->name, text,
                      wf_time_text(o->min, a, sizeof(a)),
                      wf_time_text(max < WF_TIME_MAX ? max : WF_TIME_MAX, b, sizeof(b)));
}

int wf_opt_word(const struct wf_opt *opt, const char *value, const char *const *words, size_t n,
                struct wf_err *err)
{
    char list[512] = "";
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(value, words[i]))
            return (int)i;
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                     !i          ? ""
                                     : i + 1 < n ? ", "
                                                 : " or ",
                                     words[i]);
    }
    wf_err_set(err, EINVAL, "--%s '%.80s': expected %s", opt->name, value, list);
    wf_err_suggest(err, value, words, n);
    return -EINVAL;
}

static int take(const struct wf_opt *o, void *options, const char *value, struct wf_err *err)
{
    void *field = (char *)options + o->off;
    uint64_t v = 0;
    int rc = 0;

    if (o->value && !value[0])
        return wf_err_set(err, EINVAL, "--%s: the value is empty, expected %s", o->name, o->value);
    if (o->given)
        *(bool *)((char *)options + o->given) = true;
    switch (o->kind) {
    case WF_OPT_FLAG:
        *(bool *)field = true;
        return 0;
    case WF_OPT_TEXT:
        *(const char **)field = value;
        return 0;
    case WF_OPT_UINT:
        rc = number(o, value, &v, err);
        *(uint32_t *)field = (uint32_t)v;
        return rc;
    case WF_OPT_UINT64:
        return number(o, value, field, err);
    case WF_OPT_TIME:
        return time_value(o, value, field, err);
    case WF_OPT_SET:
        return wf_cmd_set_add(field, value, err);
    case WF_OPT_CALL:
        return o->take(options, o, value, err);
    }
    return -EINVAL;
}

/* ---- words ---- */

static int unknown(const struct wf_opt *opts, const char *arg, struct wf_err *err)
{
    const char *names[NAMES_MAX];
    size_t n = 0;

    names[n++] = help_row.name;
    for (; opts->name && n < NAMES_MAX; opts++)
        names[n++] = opts->name;
    wf_err_set(err, EINVAL, "unknown option '%.80s'", arg);
    if (arg[1] == '-') {
        size_t used = strlen(err->msg);
        char word[48];
        const char *near;

        snprintf(word, sizeof(word), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
        near = wf_did_you_mean(word, names, n);
        for (size_t i = 0; i < n && !near; i++) /* the beginning of several */
            near = word[0] && !strncmp(names[i], word, strlen(word)) ? names[i] : NULL;
        if (near)
            snprintf(err->msg + used, sizeof(err->msg) - used, "; did you mean '--%s'?", near);
    }
    return -EINVAL;
}

/* By its name, or by the beginning of the only name that has it. */
static const struct wf_opt *find_long(const struct wf_opt *opts, const char *name, size_t len)
{
    const struct wf_opt *found = !strncmp(help_row.name, name, len) ? &help_row : NULL;
    unsigned n = found != NULL;

    if (found && !found->name[len])
        return found;
    for (; opts->name; opts++)
        if (!strncmp(opts->name, name, len)) {
            if (!opts->name[len])
                return opts;
            found = opts;
            n++;
        }
    return n == 1 && len ? found : NULL;
}

static const struct wf_opt *find(const struct wf_opt *opts, const char *arg)
{
    if (arg[1] == '-')
        return find_long(opts, arg + 2, strcspn(arg + 2, "="));
    if (arg[1] == help_row.letter)
        return &help_row;
    for (; opts->name; opts++)
        if (opts->letter && opts->letter == arg[1])
            return opts;
    return NULL;
}

static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1];
}

/* The value of the option at argv[*i], which moves on when it is a word of its own. */
static int value_of(const struct wf_opt *opts, const struct wf_opt *o, char **argv, int *i,
                    const char **value, struct wf_err *err)
{
    const char *arg = argv[*i], *eq = arg[1] == '-' ? strchr(arg, '=') : NULL;
    const char *stuck = eq ? eq + 1 : arg[1] != '-' && arg[2] ? arg + 2 : NULL;

    *value = stuck;
    if (!o->value)
        return stuck ? wf_err_set(err, EINVAL, "--%s has no value, found '%.80s'", o->name, stuck)
                     : 0;
    if (stuck)
        return 0;
    *value = argv[*i + 1];
    if (!*value)
        return wf_err_set(err, EINVAL, "--%s needs a value: %s", o->name, o->value);
    if (!strncmp(*value, "--", 2) && (!(*value)[2] || find(opts, *value)))
        return wf_err_set(err, EINVAL, "--%s needs a value: %s; found the option '%.80s'", o->name,
                          o->value, *value);
    ++*i;
    return 0;
}

int wf_opt_parse(const struct wf_opt_page *page, void *options, int argc, char **argv, int *n,
                 struct wf_err *err)
{
    bool over = false; /* no more options */

    *n = 0;
    for (int i = 1; i < argc; i++) {
        const struct wf_opt *o;
        const char *value;

        if (over || !is_option(argv[i])) {
            over = over || page->first;
            argv[++*n] = argv[i];
            continue;
        }
        if (!strcmp(argv[i], "--")) {
            over = true;
            if (page->first) /* whoever has operands of several kinds wants to see it */
                argv[++*n] = argv[i];
            continue;
        }
        o = find(page->opts, argv[i]);
        if (!o)
            return unknown(page->opts, argv[i], err);
        if (o == &help_row) {
            wf_opt_help(page);
            return 1;
        }
        if (value_of(page->opts, o, argv, &i, &value, err) || take(o, options, value, err))
            return -EINVAL;
    }
    argv[*n + 1] = NULL;
    return 0;
}
