/* SPDX-License-Identifier: BSD-3-Clause */
/* What weft show prints, and where it gets it. */
#ifndef WEFT_CMD_SHOW_H
#define WEFT_CMD_SHOW_H

#include <jansson.h>

#include "cmd.h"

/* The rows of a view as a table. */
void wf_show_print(const char *what, const json_t *rows);
void wf_show_print_status(const json_t *m);

/* The result of a run, as weft run --json wrote it; "-" for standard input. NULL and *err. */
json_t *wf_show_load(const char *path, struct wf_err *err);
/* The rows of a view in a result, of objects that fit (NULL: all); a new reference. NULL and *err.
 */
json_t *wf_show_of_result(const json_t *result, const char *what, const char *at,
                          struct wf_err *err);

#endif
