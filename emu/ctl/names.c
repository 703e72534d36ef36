/* SPDX-License-Identifier: BSD-3-Clause */
/* See names.h. */
#include "ctl/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { SHOWN = 6 };

bool wf_ctl_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, words[i]))
            return true;
    return false;
}

/* Of each object once: rows may repeat it. */
static size_t distinct(const json_t *rows, const char **names)
{
    size_t n = 0, i;
    json_t *r;

    json_array_foreach (rows, i, r) {
        const char *name = json_string_value(json_is_string(r) ? r : json_object_get(r, "name"));

        if (name && (!n || strcmp(names[n - 1], name)))
            names[n++] = name;
    }
    return n;
}

int wf_ctl_nothing_fits(const char *kind, const char *at, const json_t *rows, struct wf_err *err)
{
    const char **names = calloc(json_array_size(rows) + 1, sizeof(*names));
    char list[512] = "";
    size_t n, used = 0;

    WF_ASSERT(names);
    n = distinct(rows, names);
    for (size_t i = 0; i < n && i < SHOWN && used < sizeof(list); i++)
        used +=
            (size_t)snprintf(list + used, sizeof(list) - used, "%s%.80s", i ? ", " : "", names[i]);
    if (!n)
        wf_err_set(err, ENOENT, "none of the %s fits '%.80s': there are none", kind, at);
    else if (n > SHOWN)
        wf_err_set(err, ENOENT, "none of the %s fits '%.80s'; there are %s and %zu more", kind, at,
                   list, n - SHOWN);
    else
        wf_err_set(err, ENOENT, "none of the %s fits '%.80s'; there %s %s", kind, at,
                   n > 1 ? "are" : "is", list);
    if (n && strlen(at) < 80)
        wf_err_suggest(err, at, names, n);
    free(names);
    return -ENOENT;
}

int wf_ctl_not_one_of(const char *kind, const char *found, const char *const *names, size_t n,
                      struct wf_err *err)
{
    char list[640] = "";
    size_t used = 0;

    for (size_t i = 0; i < n && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
    wf_err_set(err, EINVAL, "'%.60s' is no %s; expected one of %s", found, kind, list);
    if (strlen(found) < 60)
        wf_err_suggest(err, found, names, n);
    return -EINVAL;
}
