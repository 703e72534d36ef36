/* SPDX-License-Identifier: BSD-3-Clause */
/* weft qos: the configuration of real switches and NICs, in a scenario's words. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "cmd_opt.h"
#include "cmd_qos.h"
#include "scen/import.h"

struct options {
    const char *output;
};

static const struct wf_opt opts[] = {
    {.name = "output",
     .letter = 'o',
     .kind = WF_OPT_TEXT,
     .off = offsetof(struct options, output),
     .value = "FILE",
     .help = "write the scenario there and not to the standard output"},
    {.name = NULL},
};

static const struct wf_opt_page page = {
    .head =
        "usage: weft qos import CONFIG_DB.JSON [-o FILE]\n"
        "       weft qos mlnx HOST [--trust WORD] [--pfc LIST] [--dscp2prio set,DSCP,PRIO]...\n"
        "                     [--prio_tc LIST] [--tsa LIST] [--tcbw LIST]\n\n"
        "import: a SONiC switch's config_db.json as a scenario, one switch with a host at each "
        "port\n"
        "that is up. Tables and keys that have no counterpart, and values that weft says "
        "otherwise,\n"
        "are named on the standard error and at the end of the scenario. Exits with 2, and writes\n"
        "nothing, when the file is wrong.\n\n"
        "mlnx: a host's lines of a scenario, from the words of mlnx_qos.\n\n",
    .opts = opts,
};

static int write_file(const char *path, const struct wf_import *im, struct wf_err *err)
{
    FILE *f = wf_cmd_create(path, err);

    if (!f)
        return -EIO;
    fwrite(im->yaml, 1, im->yaml_len, f);
    return wf_cmd_finish(f, path, err);
}

static int import(const char *path, const char *output)
{
    struct wf_import im;
    struct wf_err err;
    char before[300];
    int rc = wf_import_file(&im, path, &err);

    if (rc) {
        wf_import_free(&im);
        return wf_cmd_fail("qos", WF_EXIT_USAGE, &err);
    }
    snprintf(before, sizeof(before), "%.256s: ", path);
    wf_import_print_notes(&im, before, stderr);
    if (!im.yaml)
        rc = WF_EXIT_USAGE;
    else if (!output)
        fwrite(im.yaml, 1, im.yaml_len, stdout);
    else if (write_file(output, &im, &err))
        rc = wf_cmd_fail("qos", WF_EXIT_ENVIRONMENT, &err);
    wf_import_free(&im);
    return rc;
}

static int cmd_import(int argc, char **argv)
{
    struct options o = {0};
    struct wf_err err;
    int n, rc = wf_opt_parse(&page, &o, argc, argv, &n, &err);

    if (rc > 0)
        return WF_EXIT_PASS;
    if (!rc && n != 1)
        rc =
            wf_err_set(&err, EINVAL, "expected one config_db.json: weft qos import FILE [-o FILE]");
    return rc ? wf_cmd_fail("qos", WF_EXIT_USAGE, &err) : import(argv[1], o.output);
}

int wf_cmd_qos(int argc, char **argv)
{
    static const char *const words[] = {"import", "mlnx"};
    struct wf_err err;

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        wf_opt_help(&page);
        return WF_EXIT_PASS;
    }
    if (argc > 1 && !strcmp(argv[1], "import"))
        return cmd_import(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "mlnx"))
        return wf_cmd_qos_mlnx(argc - 1, argv + 1);
    wf_err_set(&err, EINVAL, "'%s' is not import or mlnx, see weft qos --help",
               argc > 1 ? argv[1] : "");
    if (argc > 1)
        wf_err_suggest(&err, argv[1], words, 2);
    return wf_cmd_fail("qos", WF_EXIT_USAGE, &err);
}
