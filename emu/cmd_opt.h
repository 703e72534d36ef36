/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of a command as a table, which is read for parsing, for errors and for --help.
 * Options are as GNU's: "--name VALUE", "--name=VALUE", "-n VALUE", "-nVALUE", the beginning of a
 * name when it fits one only; they may stand behind operands, and "--" ends them. -h and --help are
 * every command's. Errors name the option, what was found and what was expected.
 */
#ifndef WEFT_CMD_OPT_H
#define WEFT_CMD_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum wf_opt_kind {
    WF_OPT_FLAG,   /* bool, set to true; has no value */
    WF_OPT_TEXT,   /* const char *; the last one counts */
    WF_OPT_UINT,   /* uint32_t from min to max */
    WF_OPT_UINT64, /* uint64_t, the same */
    WF_OPT_TIME,   /* uint64_t picoseconds, the same */
    WF_OPT_SET,    /* struct wf_cmd_sets: one more */
    WF_OPT_CALL,   /* take() */
};

struct wf_opt {
    const char *name; /* without dashes; NULL: the table ends */
    char letter;      /* 0: it has none */
    enum wf_opt_kind kind;
    size_t off;        /* of the field in the command's options */
    size_t given;      /* of a bool that becomes true; 0: none */
    const char *value; /* what --help calls its value; NULL: it has none */
    const char *help;  /* its lines in --help; NULL: not listed */
    uint64_t min, max;
    int (*take)(void *options, const struct wf_opt *opt, const char *value, struct wf_err *err);
};

struct wf_opt_page {
    const char *head; /* of --help, before the options */
    const struct wf_opt *opts;
    const char *tail; /* behind them; may be NULL */
    bool first;       /* options only before the first operand */
};

/* Fills *options. 0: argv[1] to argv[*n] are the operands, and argv[*n + 1] is NULL; 1: --help was
 * asked for and is answered; -EINVAL: *err. */
int wf_opt_parse(const struct wf_opt_page *page, void *options, int argc, char **argv, int *n,
                 struct wf_err *err);
void wf_opt_help(const struct wf_opt_page *page);
/* A word for a choice: its index, or -EINVAL and *err, with the one that is meant. */
int wf_opt_word(const struct wf_opt *opt, const char *value, const char *const *words, size_t n,
                struct wf_err *err);

#endif
