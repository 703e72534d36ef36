/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport headers: BTH and what its opcode calls for, read, written and read again. */
#include <string.h>

#include "wire/bth.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[WF_BTH_LEN + WF_EXT_LEN_MAX];
    struct wf_rd r = wf_rd_init(data, size);
    struct wf_wr w = wf_wr_init(again, sizeof(again));
    struct wf_ext_hdrs x;
    struct wf_bth bth;
    char text[512];

    if (wf_bth_get(&r, &bth)) {
        FUZZ_CHECK(size < WF_BTH_LEN);
        return 0;
    }
    if (wf_ext_get(&r, bth.opcode, &x)) {
        FUZZ_CHECK(size < WF_BTH_LEN + (size_t)wf_opcodes[bth.opcode].ext_len);
        return 0;
    }
    wf_bth_put(&w, &bth);
    wf_ext_put(&w, bth.opcode, &x);
    FUZZ_CHECK(!w.err && wf_wr_len(&w) == size - wf_rd_left(&r));
    FUZZ_CHECK(!memcmp(again, data, wf_wr_len(&w)));
    for (int i = 0; i < WF_EXT_MAX; i++) {
        const struct wf_fmt *fmt = wf_ext_fmt((enum wf_ext)wf_opcodes[bth.opcode].ext[i]);

        if (fmt && size >= WF_BTH_LEN + (size_t)fmt->bytes)
            wf_fmt_text(fmt, data + WF_BTH_LEN, text, sizeof(text));
    }
    return 0;
}
