/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording as one file: a tar archive (compressed by zstd or gzip when its name ends in .zst,
 * .tgz or .gz) of one folder, which any tar opens:
 *   bundle.json      what it is (weft.bundle/1), first
 *   scenario.yaml, profiles/N-NAME.yaml
 *   summary.json     the result (weft.run/1)
 *   ingress.pcapng   the ingress log
 *   captures/N-NAME, traces/N-NAME     what else the run wrote
 * The same files in a folder, as a run that was killed leaves them, are read too. Nothing of a
 * bundle is ever written to the disk when it is read: the texts come into memory, within limits,
 * and the log is read as a stream. So the names in a hostile archive do no harm.
 */
#ifndef WEFT_CAP_BUNDLE_H
#define WEFT_CAP_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

#define WF_BUNDLE_HEAD    "bundle.json"
#define WF_BUNDLE_SCEN    "scenario.yaml"
#define WF_BUNDLE_SUMMARY "summary.json"
#define WF_BUNDLE_LOG     "ingress.pcapng"

enum { WF_BUNDLE_TEXT_MAX = 64 << 20, WF_BUNDLE_TEXTS_MAX = 32 };

struct wf_bundle_file {
    const char *name; /* in the bundle */
    const char *path; /* where it lies */
};

/* Write the archive to `path`, whole or not at all; top: its folder's name. */
int wf_bundle_pack(const char *path, const char *top, const struct wf_bundle_file *files, size_t n,
                   struct wf_err *err);

struct wf_bundle;

/* Whether the file or folder looks like one, and not like a scenario. */
bool wf_bundle_is(const char *path);
/* Read all but the log, which has to come after the texts. */
int wf_bundle_open(struct wf_bundle **out, const char *path, struct wf_err *err);
/* A text by its name, a zero behind its end; NULL: it is not there. */
const char *wf_bundle_text(const struct wf_bundle *b, const char *name, size_t *len);
/* The i-th text whose name begins with this, in the order of their names; NULL: no more. */
const char *wf_bundle_text_below(const struct wf_bundle *b, const char *prefix, size_t i,
                                 const char **name, size_t *len);
/* The log, once; the caller closes it before the bundle. NULL and *err: it is not there. */
FILE *wf_bundle_log(struct wf_bundle *b, struct wf_err *err);
/* Why the stream of the log ended too early; false: it did not. */
bool wf_bundle_broken(const struct wf_bundle *b, struct wf_err *err);
void wf_bundle_close(struct wf_bundle *b);

#endif
