/* SPDX-License-Identifier: BSD-3-Clause */
/* MADs and the connection manager's messages, and every format's table over the same bytes. */
#include <errno.h>
#include <string.h>

#include "wire/cm.h"

#include "fuzz.h"

/* Read by the table, written, read again: the same members. */
static void check_table(const struct wf_fmt *fmt, const uint8_t *data, size_t size)
{
    uint8_t first[256], second[256], bytes[128];
    struct wf_rd r = wf_rd_init(data, size);
    struct wf_wr w = wf_wr_init(bytes, sizeof(bytes));
    char text[1024];

    if (wf_fmt_get(fmt, &r, first, sizeof(first)))
        return;
    wf_fmt_put(fmt, &w, first);
    FUZZ_CHECK(!w.err && wf_wr_len(&w) == fmt->bytes);
    r = wf_rd_init(bytes, fmt->bytes);
    FUZZ_CHECK(!wf_fmt_get(fmt, &r, second, sizeof(second)));
    FUZZ_CHECK(!memcmp(first, second, sizeof(first)));
    wf_fmt_text(fmt, data, text, sizeof(text));
    FUZZ_CHECK(strlen(text) < sizeof(text) - 1);
}

/* A whole message: what is written from it reads the same. */
static void check_message(const uint8_t *data, size_t size)
{
    uint8_t first[WF_MAD_LEN], second[WF_MAD_LEN];
    struct wf_cm_msg m;
    int err = wf_cm_msg_get(data, (uint32_t)size, &m);

    FUZZ_CHECK(err == 0 || err == -EBADMSG || err == -ENOTSUP);
    if (err)
        return;
    wf_cm_msg_put(first, &m);
    FUZZ_CHECK(!wf_cm_msg_get(first, sizeof(first), &m));
    wf_cm_msg_put(second, &m);
    FUZZ_CHECK(!memcmp(first, second, sizeof(first)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_rd r = wf_rd_init(data, size);
    struct wf_mad mad;
    struct wf_cm cm;

    for (size_t i = 0; wf_fmts[i]; i++)
        check_table(wf_fmts[i], data, size);
    check_message(data, size);
    if (!wf_mad_get(&r, &mad)) {
        int err = wf_cm_get(&r, mad.attr_id, &cm);

        FUZZ_CHECK(err == 0 || err == -EBADMSG || err == -ENOTSUP);
        FUZZ_CHECK(err != -ENOTSUP || mad.attr_id < WF_CM_REQ || mad.attr_id > WF_CM_DREP);
        FUZZ_CHECK(wf_cm_name(mad.attr_id) != NULL);
    }
    return 0;
}
