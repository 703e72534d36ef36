/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of findings. See finding.h. */
#include "analyze/finding.h"

#include <stdlib.h>

const char *const wf_an_what_names[WF_AN_WHATS] = {"loss",      "unanswered", "spurious", "rnr",
                                                   "reordered", "duplicate",  "refused",  "damaged",
                                                   "changed",   "jump",       "stall",    "breach"};
const char *const wf_an_verdict_names[WF_AN_VERDICTS] = {"network", "capture", "cannot_tell",
                                                         "no_loss"};
const char *const wf_an_verdict_texts[WF_AN_VERDICTS] = {"lost in the network",
                                                         "lost by the capture", "can't tell", ""};
const char *const wf_an_cause_names[WF_AN_CAUSES] = {"none",       "nak",       "timeout", "rnr",
                                                     "read_again", "duplicate", "unseen"};
const char *const wf_an_where_names[4] = {"unknown", "before", "after", "between"};

struct wf_an_finding *wf_an_found(struct wf_an_findings *l, const struct wf_an_finding *f)
{
    size_t cap = l->cap ? l->cap * 2 : 64;
    struct wf_an_finding *p;

    l->totals[f->what][f->verdict]++;
    l->packets[f->what][f->verdict] += f->packets;
    if (l->n == l->cap) {
        if (cap > l->max)
            cap = l->max;
        p = l->n < l->max ? realloc(l->items, cap * sizeof(*p)) : NULL;
        if (!p) {
            l->left_out++;
            return NULL;
        }
        l->items = p;
        l->cap = cap;
    }
    l->items[l->n] = *f;
    return &l->items[l->n++];
}

void wf_an_findings_free(struct wf_an_findings *l)
{
    free(l->items);
    *l = (struct wf_an_findings){0};
}

int wf_an_file_of(const struct wf_an_finding *f, int i)
{
    if (!f->refs[i].number)
        return -1;
    for (int j = 0; j < i; j++)
        if (f->refs[j].number && f->refs[j].file == f->refs[i].file)
            return -1;
    return (int)f->refs[i].file;
}

const char *wf_an_filter(const struct wf_an_finding *f, unsigned file, char *buf, size_t len)
{
    size_t used = 0;

    buf[0] = '\0';
    for (int i = 0; i < WF_AN_REFS && used < len; i++)
        if (f->refs[i].number && f->refs[i].file == file)
            used += (size_t)snprintf(buf + used, len - used, "%s%llu",
                                     used ? ", " : "frame.number in {",
                                     (unsigned long long)f->refs[i].number);
    if (used && used < len)
        snprintf(buf + used, len - used, "}");
    return buf;
}
