/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "scen/import_priv.h"

#define FILE_MAX (64l << 20)

static void globals(struct wf_importing *in)
{
    json_t *g = json_object_get(json_object_get(in->root, "PORT_QOS_MAP"), "global");

    if (g)
        wf_import_note(in, WF_IMPORT_IGNORED, (struct wf_import_at){"PORT_QOS_MAP", "global", NULL},
                       "maps of the whole switch; ports have their own");
}

void wf_import_json(struct wf_import *im, const char *name, json_t *root)
{
    struct wf_importing in = {.im = im, .file = name, .root = root, .index = json_object()};
    FILE *to = open_memstream(&im->yaml, &im->yaml_len);

    WF_ASSERT(to && in.index);
    im->seen = json_object();
    wf_import_unknown(&in);
    globals(&in);
    wf_import_ports(&in);
    wf_import_pools(&in);
    wf_import_rows(&in);
    for (size_t i = 0; i < in.n_ports; i++)
        if (in.ports[i].up)
            wf_import_port(&in, &in.ports[i]);
    wf_import_write(&in, to);
    if (im->n_notes)
        fprintf(to, "# What the import had to say:\n");
    wf_import_print_notes(im, "#   ", to);
    fclose(to);
    json_decref(in.index);
    if (!im->errors)
        return;
    free(im->yaml);
    im->yaml = NULL;
}

int wf_import_file(struct wf_import *im, const char *path, struct wf_err *err)
{
    FILE *f = fopen(path, "rb");
    json_error_t at;
    struct stat st;
    json_t *root;
    int rc = 0;

    *im = (struct wf_import){.seen = NULL};
    if (!f)
        return wf_err_set(err, EINVAL, "cannot read %s: %s", path, strerror(errno));
    /* it may be a pipe: nothing of it is read twice */
    if (fstat(fileno(f), &st) || S_ISDIR(st.st_mode)) {
        fclose(f);
        return wf_err_set(err, EINVAL, "cannot read %s: %s", path, strerror(EISDIR));
    }
    if (S_ISREG(st.st_mode) && st.st_size > FILE_MAX) {
        fclose(f);
        return wf_err_set(err, EINVAL, "%s is larger than %ld MiB", path, FILE_MAX >> 20);
    }
    root = json_loadf(f, JSON_REJECT_DUPLICATES, &at);
    fclose(f);
    if (!root)
        return wf_err_at(err, EINVAL, path, at.line, at.column, "%s", at.text);
    if (json_is_object(root))
        wf_import_json(im, path, root);
    else
        rc = wf_err_set(err, EINVAL, "%s: expected an object of tables", path);
    json_decref(root);
    return rc;
}

void wf_import_free(struct wf_import *im)
{
    json_decref(im->seen);
    free(im->yaml);
    wf_arena_free(&im->arena);
}
