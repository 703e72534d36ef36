/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft inject: break something in a running instance, on purpose. The options of a fault are the
 * keys of a scenario's `faults:`.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd.h"
#include "cmd_opt.h"
#include "ctl/client.h"
#include "ctl/names.h"
#include "net/fault.h"
#include "net/fault_config.h"

static const char head[] =
    "usage: weft inject ACTION --at PORT [--KEY VALUE]...\n"
    "       weft inject pfc|pause --at PORT [--priority P]... [--quanta Q]\n"
    "       weft inject down|up LINK-OR-PORT\n"
    "       weft inject rate LINK-OR-PORT RATE\n"
    "       weft inject flap LINK-OR-PORT --down-for TIME [--period TIME --count N]\n"
    "\n"
    "Breaks something in a running instance, at one instant of fabric time. ACTION is a fault:\n"
    "\n"
    "  drop, ce, corrupt, duplicate, reorder, delay, truncate\n"
    "                      what becomes of the packets that it means\n"
    "  nak, rnr, ack, cnp  a packet that nobody sent, as soon as a packet passes that it means\n"
    "  pfc, pause          such a frame out of the port: now, or with any KEY that says for which\n"
    "                      packets, when one passes\n"
    "                      (--trigger time: now, for the queue pairs that the port has seen)\n"
    "  learn               the port remembers the queue pairs that it sees from now on\n"
    "  end                 the faults of the port are over\n"
    "  down, up            take a link down, or up again\n"
    "  rate                give a link another rate, such as 20Mbps\n"
    "  flap                down for so long and up again, --count times, one each --period\n"
    "\n";

static const char tail[] =
    "  --KEY VALUE           any key of `faults:` in docs/scenario-reference.md, such as --from "
    "h0\n"
    "                        --to h1 --qp 17 --opcode write_only,write_last --psn +5 --message 3\n"
    "                        --iteration 2 --nth 4 --probability 1/97 --delay 10us\n"
    "                        --code remote_access --timer 12\n"
    "\nExit status: 0, 2 wrong usage, 3 no such instance. `weft show faults` says what was hit.\n";

enum { KEYS_MAX = 64 };
#define FLAP_MAX_PS (3600 * WF_PS_PER_S)

/* Words for keys, as options. */
static const struct {
    const char *option, *key, *value, *help;
} others[] = {
    {"class", "match", "CLASS", "roce_data, roce_ack, roce, any, or control: PFC and pause"},
    {"count", "limit", "N", "at most so many"},
    {"every", "every", "N", "each N-th frame of those that are meant"}};

struct inject {
    json_t *q;    /* the request */
    json_t *with; /* its keys of a fault */
    struct wf_arena arena;
    struct wf_opt options[KEYS_MAX + 12];
    const char *keys[KEYS_MAX + 12]; /* of an option */
    bool addressed;                  /* some key says for which packets */
    const char *instance, *at;
    uint64_t down_ps, period_ps; /* of a flap; 0: not said */
};

/* A key of a fault, which is looked at here too: mistakes are told in the words of the option. */
static int take_key(void *options, const struct wf_opt *opt, const char *value, struct wf_err *err)
{
    struct inject *x = options;
    const char *key = x->keys[opt - x->options];
    struct wf_fault_cfg cfg = {0};
    struct wf_err why = {0};

    if (wf_fault_cfg_set(&cfg, key, value, &x->arena, &why))
        return wf_err_set(err, EINVAL, "--%s %.200s: %.500s", opt->name, value, why.msg);
    json_object_set_new(x->with, key, json_string(value));
    x->addressed |= strcmp(key, "quanta") != 0;
    return 0;
}

static int take_priority(void *options, const struct wf_opt *opt, const char *value,
                         struct wf_err *err)
{
    struct inject *x = options;
    uint64_t v;

    if (wf_parse_uint(value, &v, NULL) || v > 7)
        return wf_err_set(err, ERANGE, "--%s %.80s: expected 0 to 7", opt->name, value);
    json_array_append_new(json_object_get(x->q, "priorities"), json_integer((json_int_t)v));
    return 0;
}

static void add_option(struct inject *x, int *n, const char *name, const char *key,
                       const char *value, const char *help)
{
    char *option = wf_arena_strdup(&x->arena, name);

    for (char *p = option; *p; p++)
        *p = *p == '_' ? '-' : *p;
    x->keys[*n] = key;
    x->options[(*n)++] = (struct wf_opt){
        .name = option, .kind = WF_OPT_CALL, .value = value, .help = help, .take = take_key};
}

static bool has_row(const char *key)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!strcmp(others[i].option, key))
            return true;
    return false;
}

static void make_options(struct inject *x)
{
    int n = 0;

    x->options[n++] = (struct wf_opt){
        .name = "at",
        .kind = WF_OPT_TEXT,
        .off = offsetof(struct inject, at),
        .value = "PORT",
        .help = "such as leaf0:p3; frames that leave by it, with --dir in that come in"};
    x->options[n++] = (struct wf_opt){.name = "priority",
                                      .kind = WF_OPT_CALL,
                                      .value = "P",
                                      .take = take_priority,
                                      .help = "of a pfc frame, 0 to 7; may be given again"};
    x->options[n++] = (struct wf_opt){.name = "down-for",
                                      .kind = WF_OPT_TIME,
                                      .off = offsetof(struct inject, down_ps),
                                      .min = 1,
                                      .max = FLAP_MAX_PS,
                                      .value = "TIME",
                                      .help = "flap: how long the link is down each time"};
    x->options[n++] = (struct wf_opt){.name = "period",
                                      .kind = WF_OPT_TIME,
                                      .off = offsetof(struct inject, period_ps),
                                      .min = 1,
                                      .max = FLAP_MAX_PS,
                                      .value = "TIME",
                                      .help = "flap: from one time that it goes down to the next"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        add_option(x, &n, others[i].option, others[i].key, others[i].value, others[i].help);
    for (size_t i = 0; i < wf_fault_keys.n_keys && i < KEYS_MAX; i++) {
        const char *key = wf_fault_keys.keys[i].name;

        if (strcmp(key, "do") && strcmp(key, "where") && strcmp(key, "priorities") && !has_row(key))
            add_option(x, &n, key, key, "VALUE", NULL);
    }
    x->options[n] = (struct wf_opt){.name = "instance",
                                    .letter = 'i',
                                    .kind = WF_OPT_TEXT,
                                    .off = offsetof(struct inject, instance),
                                    .value = "NAME",
                                    .help = "the instance, when several run"};
}

/* "rate LINK RATE": the last word is taken off. 0, or -errno and *err. */
static int take_rate(int *n, char **words, json_t *q, struct wf_err *err)
{
    const char *at = json_string_value(json_object_get(q, "at"));
    int beside = *n - !at; /* the place */
    struct wf_err why;
    uint64_t rate_bps;

    if (!at && beside < 1)
        return wf_err_set(err, EINVAL,
                          "which link, and which rate? (weft inject rate LINK 20Mbps)");
    if (beside < 2)
        return wf_err_set(err, EINVAL, "which rate? (weft inject rate %s 20Mbps)",
                          at ? at : words[1]);
    if (wf_parse_rate(words[--*n], &rate_bps, &why))
        return wf_err_set(err, EINVAL, "rate %s", why.msg);
    json_object_set_new(q, "rate_bps", json_integer((json_int_t)rate_bps));
    return 0;
}

static int take_place(int n, char **words, json_t *q, struct wf_err *err)
{
    int most = json_object_get(q, "at") ? 1 : 2;

    if (n > most)
        return wf_err_set(err, EINVAL, "'%s' is one word too many: one place at a time",
                          words[most]);
    if (n == 2)
        json_object_set_new(q, "at", json_string(words[1]));
    if (!json_object_get(q, "at"))
        return wf_err_set(err, EINVAL, "at which port or link? (--at)");
    return 0;
}

static bool given(void *with, const char *key)
{
    return json_object_get(with, key);
}

/* Whether --priority says something where it can't. */
static bool stray_priority(const struct inject *x, const char *word, struct wf_err *err)
{
    if (!json_array_size(json_object_get(x->q, "priorities")))
        return false;
    wf_err_set(err, EINVAL, "--priority does not go with %s", word);
    return true;
}

/* What --down-for and --period say is for a flap only. */
static bool flap_ok(const struct inject *x, const char *word, struct wf_err *err)
{
    const char *count = json_string_value(json_object_get(x->with, "limit"));
    bool flaps = !strcmp(word, "flap");

    if (!flaps && (x->down_ps || x->period_ps))
        wf_err_set(err, EINVAL, "--%s does not go with %s", x->down_ps ? "down-for" : "period",
                   word);
    else if (flaps && !x->down_ps)
        wf_err_set(err, EINVAL, "down for how long? (--down-for 10ms)");
    else if (flaps && count && !x->period_ps)
        wf_err_set(err, EINVAL, "how often? (--period 50ms)");
    else
        return true;
    return false;
}

static void put_flap(struct inject *x)
{
    const char *count = json_string_value(json_object_get(x->with, "limit"));

    json_object_set_new(x->q, "down_ps", json_integer((json_int_t)x->down_ps));
    if (x->period_ps)
        json_object_set_new(x->q, "period_ps", json_integer((json_int_t)x->period_ps));
    if (count)
        json_object_set_new(x->q, "count", json_integer(strtoll(count, NULL, 0)));
    json_object_del(x->with, "limit");
}

/* A change of a link, which no key of a fault goes with. */
static const char *link_now(struct inject *x, const char *word, struct wf_err *err)
{
    void *first;

    if (!strcmp(word, "flap"))
        put_flap(x);
    first = json_object_iter(x->with);
    if (stray_priority(x, word, err))
        return NULL;
    if (first) {
        wf_err_set(err, EINVAL, "--%s does not go with %s", json_object_iter_key(first), word);
        return NULL;
    }
    if (!strcmp(word, "up") || !strcmp(word, "down"))
        json_object_set_new(x->q, "up", json_boolean(word[0] == 'u'));
    return "link";
}

/* A PFC or pause frame that goes now. */
static const char *frame_now(struct inject *x, const char *word, struct wf_err *err)
{
    const json_t *quanta = json_object_get(x->with, "quanta");

    if (!strcmp(word, "pause")) {
        if (stray_priority(x, word, err))
            return NULL;
        json_object_set_new(x->q, "pause", json_true());
    } else if (!json_array_size(json_object_get(x->q, "priorities"))) {
        wf_err_set(err, EINVAL, "which priority is to be stopped? (--priority 3)");
        return NULL;
    }
    if (quanta)
        json_object_set_new(x->q, "quanta",
                            json_integer(strtoll(json_string_value(quanta), NULL, 0)));
    json_object_del(x->q, "with");
    return "pfc";
}

static const char *fault(struct inject *x, const char *word, struct wf_err *err)
{
    const json_t *list = json_object_get(x->q, "priorities"), *v;
    struct wf_fault_cfg cfg = {.action = 0};
    char text[64] = "";
    const char *stray;
    size_t i;

    while (strcmp(wf_fault_action_names[cfg.action], word))
        cfg.action++;
    stray = wf_fault_cfg_stray(&cfg, given, x->with);
    if (stray) {
        wf_err_set(err, EINVAL, "--%s does not go with %s", stray, word);
        return NULL;
    }
    if (cfg.action != WF_FAULT_PFC && stray_priority(x, word, err))
        return NULL;
    if (cfg.action == WF_FAULT_DELAY && !given(x->with, "delay")) {
        wf_err_set(err, EINVAL, "how long? (--delay 10us)");
        return NULL;
    }
    json_array_foreach (list, i, v)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i ? "," : "",
                 (int)json_integer_value(v));
    if (text[0])
        json_object_set_new(x->with, "priorities", json_string(text));
    json_object_del(x->q, "priorities");
    json_object_set_new(x->q, "action", json_string(word));
    return "inject";
}

/* The request's command by the first word, its place by the second. NULL and *err. */
static const char *command(struct inject *x, int given_n, char **given_words, struct wf_err *err)
{
    const char *words[32] = {"down", "up", "rate", "flap"};
    const char *word = given_n ? given_words[0] : "";
    bool frame = !strcmp(word, "pfc") || !strcmp(word, "pause");
    size_t n = 4;

    for (size_t i = 0; wf_fault_action_names[i]; i++)
        words[n++] = wf_fault_action_names[i];
    if (!wf_ctl_one_of(word, words, n)) {
        wf_ctl_not_one_of("thing to inject", word, words, n, err);
        return NULL;
    }
    if (!strcmp(word, "rate") && take_rate(&given_n, given_words, x->q, err))
        return NULL;
    if (take_place(given_n, given_words, x->q, err))
        return NULL;
    if (!flap_ok(x, word, err))
        return NULL;
    if (!strcmp(word, "down") || !strcmp(word, "up") || !strcmp(word, "rate") ||
        !strcmp(word, "flap"))
        return link_now(x, word, err);
    return frame && !x->addressed ? frame_now(x, word, err) : fault(x, word, err);
}

int wf_cmd_inject(int argc, char **argv)
{
    struct inject x = {.q = json_object(), .with = json_object()};
    struct wf_opt_page page = {.head = head, .tail = tail};
    const char *cmd = NULL;
    json_t *m = NULL;
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    int n, rc;

    json_object_set_new(x.q, "priorities", json_array());
    json_object_set_new(x.q, "with", x.with);
    make_options(&x);
    page.opts = x.options;
    rc = wf_opt_parse(&page, &x, argc, argv, &n, &err);
    if (!rc && x.at)
        json_object_set_new(x.q, "at", json_string(x.at));
    if (!rc)
        cmd = command(&x, n, argv + 1, &err);
    if (cmd) {
        rc = wf_client_connect(&c, x.instance, &in, &err);
        if (!rc) {
            m = wf_client_call(&c, cmd, json_incref(x.q), &rc, &err);
            wf_client_close(&c);
        }
    }
    json_decref(x.q);
    json_decref(m);
    wf_arena_free(&x.arena);
    if (!cmd)
        return rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("inject", WF_EXIT_USAGE, &err);
    if (!rc)
        return WF_EXIT_PASS;
    return wf_cmd_fail("inject", rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT, &err);
}
