/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file that may be compressed (gzip, zstd, xz, bzip2, lz4), opened as a capture: what the
 * first byte says decides, so that a pipe serves too. Left out: archives of several files.
 */
#ifndef WEFT_ANALYZE_UNPACK_H
#define WEFT_ANALYZE_UNPACK_H

#include "base/err.h"
#include "cap/reader.h"

/* path: a file or "-" for standard input. */
int wf_an_unpack(struct wf_cap_reader **out, const char *path, struct wf_err *err);
/* The same for an open stream, which is owned from now on also on failure. */
int wf_an_unpack_stream(struct wf_cap_reader **out, FILE *f, const char *name, struct wf_err *err);

#endif
