/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft inject: break something in a running instance, on purpose.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd.h"
#include "ctl/client.h"
#include "ctl/names.h"
#include "net/fault.h"

static const char usage[] =
    "usage: weft inject drop|ce|corrupt --at PORT [--class CLASS] [--every N] [--count N]\n"
    "       weft inject down|up LINK-OR-PORT\n"
    "       weft inject rate LINK-OR-PORT RATE\n"
    "       weft inject pfc --at PORT --priority P [--priority P]... [--quanta Q]\n"
    "\n"
    "Breaks something in a running instance, at one instant of fabric time.\n"
    "\n"
    "  drop, ce, corrupt   lose, mark or damage frames that leave by the port\n"
    "  down, up            take a link down, or up again\n"
    "  rate                give a link another rate, such as 20Mbps\n"
    "  pfc                 send one PFC frame out of the port, XOFF or (--quanta 0) XON\n"
    "\n"
    "  --at PORT      such as leaf0:p3\n"
    "  --class CLASS  roce_data (default), roce_ack, roce, any, or control: PFC and pause\n"
    "  --every N      each N-th frame of the class (default 1: all)\n"
    "  --count N      at most so many (default: no limit)\n"
    "  --quanta Q     0 to 65535 times 512 bit times (default 65535)\n"
    "  -i NAME        the instance, when several run\n"
    "\n"
    "Exit status: 0, 2 wrong usage, 3 no such instance. `weft show faults` says what was hit.\n";

enum { OPT_AT = 256, OPT_CLASS, OPT_EVERY, OPT_COUNT, OPT_PRIORITY, OPT_QUANTA };

static const struct option options[] = {{"at", required_argument, NULL, OPT_AT},
                                        {"class", required_argument, NULL, OPT_CLASS},
                                        {"every", required_argument, NULL, OPT_EVERY},
                                        {"count", required_argument, NULL, OPT_COUNT},
                                        {"priority", required_argument, NULL, OPT_PRIORITY},
                                        {"quanta", required_argument, NULL, OPT_QUANTA},
                                        {"instance", required_argument, NULL, 'i'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

static int number(json_t *q, const char *option, const char *key, uint64_t min, uint64_t max,
                  struct wf_err *err)
{
    uint64_t v;

    if (wf_parse_uint(optarg, &v, err))
        return wf_err_set(err, EINVAL, "%s '%s': expected a whole number", option, optarg);
    if (v < min || v > max)
        return wf_err_set(err, ERANGE, "%s %s: expected %llu to %llu", option, optarg,
                          (unsigned long long)min, (unsigned long long)max);
    if (strcmp(key, "priorities"))
        json_object_set_new(q, key, json_integer((json_int_t)v));
    else
        json_array_append_new(json_object_get(q, key), json_integer((json_int_t)v));
    return 0;
}

static int class_of_frames(json_t *q, struct wf_err *err)
{
    size_t n = 0;

    while (wf_fault_class_names[n])
        n++;
    json_object_set_new(q, "class", json_string(optarg));
    return wf_ctl_one_of(optarg, wf_fault_class_names, n)
               ? 0
               : wf_ctl_not_one_of("class of frames", optarg, wf_fault_class_names, n, err);
}

/* 0, 1: --help was answered, or -errno. */
static int parse(int argc, char **argv, json_t *q, const char **instance, struct wf_err *err)
{
    int c, rc = 0;

    json_object_set_new(q, "priorities", json_array());
    opterr = 0;
    while (!rc && (c = getopt_long(argc, argv, ":i:h", options, NULL)) != -1)
        switch (c) {
        case OPT_AT:
            json_object_set_new(q, "at", json_string(optarg));
            break;
        case OPT_CLASS:
            rc = class_of_frames(q, err);
            break;
        case OPT_EVERY:
            rc = number(q, "--every", "every", 1, UINT32_MAX, err);
            break;
        case OPT_COUNT:
            rc = number(q, "--count", "count", 0, UINT32_MAX, err);
            break;
        case OPT_PRIORITY:
            rc = number(q, "--priority", "priorities", 0, 7, err);
            break;
        case OPT_QUANTA:
            rc = number(q, "--quanta", "quanta", 0, 65535, err);
            break;
        case 'i':
            *instance = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return 1;
        case ':':
            rc = wf_err_set(err, EINVAL, "%s needs a value", argv[optind - 1]);
            break;
        default:
            rc = wf_cmd_unknown(argv[optind - 1], options, err);
        }
    return rc;
}

/* "rate LINK RATE": the last word is taken off. 0, or -errno and *err. */
static int take_rate(int *argc, char **argv, json_t *q, struct wf_err *err)
{
    uint64_t rate_bps;
    int rc;

    if (*argc - optind < 2)
        return wf_err_set(err, EINVAL, "which rate? (weft inject rate LINK 20Mbps)");
    rc = wf_parse_rate(argv[--*argc], &rate_bps, err);
    if (!rc)
        json_object_set_new(q, "rate_bps", json_integer((json_int_t)rate_bps));
    return rc;
}

/* The request's command by the first word, its place by the second. NULL and *err. */
static const char *command(int argc, char **argv, json_t *q, struct wf_err *err)
{
    static const char *const words[] = {"drop", "ce", "corrupt", "down", "up", "pfc", "rate"};
    const char *word = optind < argc ? argv[optind] : "";
    const size_t n = sizeof(words) / sizeof(words[0]);

    if (!wf_ctl_one_of(word, words, n)) {
        wf_ctl_not_one_of("thing to inject", word, words, n, err);
        return NULL;
    }

    if (!strcmp(word, "rate") && take_rate(&argc, argv, q, err))
        return NULL;
    if (argc - optind > 2 || (argc - optind == 2 && json_object_get(q, "at"))) {
        wf_err_set(err, EINVAL, "one place at a time");
        return NULL;
    }
    if (argc - optind == 2)
        json_object_set_new(q, "at", json_string(argv[optind + 1]));
    if (!json_object_get(q, "at")) {
        wf_err_set(err, EINVAL, "at which port or link? (--at)");
        return NULL;
    }
    if (!strcmp(word, "down") || !strcmp(word, "up")) {
        json_object_set_new(q, "up", json_boolean(word[0] == 'u'));
        return "link";
    }
    if (!strcmp(word, "rate"))
        return "link";
    if (!strcmp(word, "pfc")) {
        if (json_array_size(json_object_get(q, "priorities")))
            return "pfc";
        wf_err_set(err, EINVAL, "which priority is to be stopped? (--priority 3)");
        return NULL;
    }
    for (size_t i = 0; i < 3; i++)
        if (!strcmp(word, words[i])) {
            json_object_set_new(q, "action", json_string(word));
            return "inject";
        }
    return NULL;
}

int wf_cmd_inject(int argc, char **argv)
{
    const char *instance = NULL, *cmd = NULL;
    json_t *q = json_object(), *m = NULL;
    struct wf_instance in;
    struct wf_client c;
    struct wf_err err;
    int rc = parse(argc, argv, q, &instance, &err);

    if (!rc)
        cmd = command(argc, argv, q, &err);
    if (!cmd) {
        json_decref(q);
        return rc > 0 ? WF_EXIT_PASS : wf_cmd_fail("inject", WF_EXIT_USAGE, &err);
    }
    rc = wf_client_connect(&c, instance, &in, &err);
    if (!rc) {
        m = wf_client_call(&c, cmd, json_incref(q), &rc, &err);
        wf_client_close(&c);
    }
    json_decref(q);
    json_decref(m);
    if (!rc)
        return WF_EXIT_PASS;
    return wf_cmd_fail("inject", rc == -EINVAL ? WF_EXIT_USAGE : WF_EXIT_ENVIRONMENT, &err);
}
