/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/laws.h"

#include <string.h>

const struct wf_cc_law *const wf_cc_laws[] = {
    &wf_cc_fixed, &wf_cc_dcqcn, &wf_cc_hpcc, &wf_cc_timely, &wf_cc_swift, &wf_cc_dctcp, NULL,
};

const struct wf_cc_law *wf_cc_find(const char *name)
{
    for (const struct wf_cc_law *const *l = wf_cc_laws; *l; l++)
        if (!strcmp((*l)->name, name))
            return *l;
    return NULL;
}
