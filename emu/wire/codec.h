/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers whose table of fields says all that there is to read and to write. For emu/wire/ only. */
#ifndef WEFT_WIRE_CODEC_H
#define WEFT_WIRE_CODEC_H

#include "wire/field.h"

/* wf_NAME_get() and wf_NAME_put() of a format, as its header declares them. */
#define WF_CODEC(fmt)                                                                              \
    int wf_##fmt##_get(struct wf_rd *r, struct wf_##fmt *h)                                        \
    {                                                                                              \
        return wf_fmt_get(&wf_fmt_##fmt, r, h, sizeof(*h));                                        \
    }                                                                                              \
    void wf_##fmt##_put(struct wf_wr *w, const struct wf_##fmt *h)                                 \
    {                                                                                              \
        wf_fmt_put(&wf_fmt_##fmt, w, h);                                                           \
    }

#endif
