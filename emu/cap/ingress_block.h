/* SPDX-License-Identifier: BSD-3-Clause */
/* The custom blocks of an ingress log as bytes; for emu/cap/ingress_*.c only. Network order. */
#ifndef WEFT_CAP_INGRESS_BLOCK_H
#define WEFT_CAP_INGRESS_BLOCK_H

#include "base/cursor.h"
#include "fabric/stimulus.h"

/* First byte of a block; a stimulus's own kind stands for itself. */
enum wf_ingress_block { WF_BLOCK_BEGIN = 128, WF_BLOCK_AT, WF_BLOCK_LOST, WF_BLOCK_END };
enum { WF_STIM_ON = 1, WF_STIM_FIRST = 2, WF_LOG_CUT = 1 };
enum { WF_STIM_BYTES_MAX = 40 + WF_STIM_WHERE_MAX };

/* Comments of cut packets: what is known of the ICRC that is not there, by enum wf_stimulus_icrc.
 */
extern const char *const wf_ingress_icrc_comments[];

/* Returns its length; to holds WF_STIM_BYTES_MAX bytes. */
size_t wf_ingress_put_stimulus(uint8_t *to, const struct wf_stimulus *st);
/* where[] holds WF_STIM_WHERE_MAX + 1 bytes. False: it is none. */
bool wf_ingress_get_stimulus(const uint8_t *p, size_t len, struct wf_stimulus *st, char *where);

#endif
