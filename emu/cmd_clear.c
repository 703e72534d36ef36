/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft clear: begin user watermarks of a running instance anew, in sonic-clear's words.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "cmd_opt.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/names.h"

struct options {
    const char *instance, *at;
};

static const struct wf_opt opts[] = {
    {.name = "instance",
     .letter = 'i',
     .kind = WF_OPT_TEXT,
     .off = offsetof(struct options, instance),
     .value = "NAME",
     .help = "the instance, when several run"},
    {.name = "at",
     .kind = WF_OPT_TEXT,
     .off = offsetof(struct options, at),
     .value = "SWITCH",
     .help = "only of switches that fit, such as 'leaf*'"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft clear WHAT [-i INSTANCE] [--at SWITCH]\n"
        "\n"
        "Begins user watermarks of a running instance anew, from what is held now. WHAT is one of\n"
        "  priority-group watermark shared | headroom\n"
        "  queue watermark unicast\n"
        "  buffer_pool watermark\n"
        "  headroom-pool watermark\n"
        "Persistent watermarks and counters are the run's result and stay.\n"
        "\n",
    .opts = opts,
    .tail = "\nExit status: 0, 2 wrong usage, 3 no such instance.\n",
};

/* What is to be cleared, of words; 0 or -EINVAL and *err. */
static int take_what(int n, char **words, char *what, size_t len, struct wf_err *err)
{
    size_t used = 0, all = 0;

    what[0] = '\0';
    for (int i = 0; i < n && used < len; i++)
        used += (size_t)snprintf(what + used, len - used, "%s%s", i ? " " : "", words[i]);
    while (wf_ctl_clears[all])
        all++;
    if (strstr(what, "persistent") || strstr(what, "counters"))
        return wf_err_set(err, EINVAL, "'%.60s' is a result of the run, and stays", what);
    return wf_ctl_one_of(what, wf_ctl_clears, all)
               ? 0
               : wf_ctl_not_one_of("thing to clear", what, wf_ctl_clears, all, err);
}

static int clear(const char *instance, const char *what, const char *at)
{
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    json_t *m;
    int rc = wf_client_connect(&c, instance, &in, &err);

    if (!rc) {
        m = wf_client_call(&c, "clear", json_pack("{s:s, s:s*}", "what", what, "at", at), &rc,
                           &err);
        wf_client_close(&c);
        json_decref(m);
    }
    if (!rc)
        return WF_EXIT_PASS;
    return wf_cmd_fail("clear", rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT, &err);
}

int wf_cmd_clear(int argc, char **argv)
{
    struct options o = {0};
    char what[80];
    struct wf_err err;
    int n, rc = wf_opt_parse(&page, &o, argc, argv, &n, &err);

    if (rc > 0)
        return WF_EXIT_PASS;
    if (rc || take_what(n, argv + 1, what, sizeof(what), &err))
        return wf_cmd_fail("clear", WF_EXIT_USAGE, &err);
    return clear(o.instance, what, o.at);
}
