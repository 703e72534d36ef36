/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of weft analyze: goodput, sequence numbers and repetitions over time. */
#ifndef WEFT_CMD_ANALYZE_PLOT_H
#define WEFT_CMD_ANALYZE_PLOT_H

#include "analyze/report.h"

/* Into this folder: tables, scripts, and what gnuplot makes of them. 0 or -errno and *err. */
int wf_analyze_plot(const struct wf_analyze *a, const char *folder, const char *command,
                    struct wf_err *err);

#endif
