/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantities as people write them. Time is uint64 picoseconds, rate uint64 bit/s, size uint64
 * bytes. Units are mandatory: a bare number is refused, except 0. A value that is not a whole
 * number of the base unit is refused, never rounded.
 */
#ifndef WEFT_BASE_UNITS_H
#define WEFT_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define WF_PS_PER_NS  1000ull
#define WF_PS_PER_US  1000000ull
#define WF_PS_PER_MS  1000000000ull
#define WF_PS_PER_S   1000000000000ull
#define WF_TIME_NEVER UINT64_MAX
/* No instant and no span that comes from outside is longer: their sums stay below WF_TIME_NEVER. */
#define WF_TIME_MAX (100 * 86400 * WF_PS_PER_S)

int wf_parse_time(const char *s, uint64_t *ps, struct wf_err *err);   /* ps ns us ms s; to 100 d */
int wf_parse_rate(const char *s, uint64_t *bps, struct wf_err *err);  /* bps kbps Mbps Gbps Tbps */
int wf_parse_bytes(const char *s, uint64_t *len, struct wf_err *err); /* B kB MB GB KiB MiB GiB */
int wf_parse_length(const char *s, uint64_t *mm, struct wf_err *err); /* mm cm m km */
/* "12.5%" to parts per million; at most 100%. */
int wf_parse_percent(const char *s, uint32_t *ppm, struct wf_err *err);
/* A plain integer, decimal or 0x hex, without unit. */
int wf_parse_uint(const char *s, uint64_t *v, struct wf_err *err);
/* "aa:bb:cc:dd:ee:ff" */
int wf_parse_mac(const char *s, uint8_t mac[6], struct wf_err *err);

/* The shortest exact text ("1.5us", "100Gbps", "64KiB"); returns buf. 32 bytes are enough. */
const char *wf_time_text(uint64_t ps, char *buf, size_t len);
const char *wf_rate_text(uint64_t bps, char *buf, size_t len);
const char *wf_bytes_text(uint64_t bytes, char *buf, size_t len);
const char *wf_length_text(uint64_t mm, char *buf, size_t len);
const char *wf_percent_text(uint32_t ppm, char *buf, size_t len);
const char *wf_millionths_text(uint64_t v, char *buf, size_t len); /* "0.0001" */
/* For people: at most four significant digits ("1.235us"). */
const char *wf_time_short(uint64_t ps, char *buf, size_t len);
const char *wf_rate_short(uint64_t bps, char *buf, size_t len);
const char *wf_bytes_short(uint64_t bytes, char *buf, size_t len);

#endif
