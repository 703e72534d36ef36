/* SPDX-License-Identifier: BSD-3-Clause */
/* What was asked for by name and is not there: say what is. */
#ifndef WEFT_CTL_NAMES_H
#define WEFT_CTL_NAMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

bool wf_ctl_one_of(const char *word, const char *const *words, size_t n);
/* "none of the KINDS fits 'AT'; there are A, B, C and 9 more; did you mean ...": the names of rows,
 * or of a list of strings. -ENOENT. */
int wf_ctl_nothing_fits(const char *kind, const char *at, const json_t *rows, struct wf_err *err);
/* "'FOUND' is no KIND; expected one of ...; did you mean ...": all of them. -EINVAL. */
int wf_ctl_not_one_of(const char *kind, const char *found, const char *const *names, size_t n,
                      struct wf_err *err);

#endif
