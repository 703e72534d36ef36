/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The edits of a switch on any frame that it would forward: the kept parse stays that of the frame,
 * and neither the checksum's nor the ICRC's verdict changes. The first three bytes choose edits.
 */
#include <string.h>

#include "wire/edit.h"
#include "wire/icrc.h"

#include "fuzz.h"

static const uint8_t dst[6] = {2, 0, 0, 0, 0, 1}, src[6] = {2, 0, 0, 0, 0, 2};

static void edit(uint8_t *f, struct wf_parsed *p, const uint8_t *how)
{
    if (how[0] & 1)
        wf_edit_set_ce(f, p);
    if (how[0] & 2)
        wf_edit_dec_ttl(f, p);
    if (how[0] & 4)
        wf_edit_set_dscp(f, p, how[1]);
    if (how[0] & 8)
        wf_edit_set_pcp(f, p, how[2]);
    if (how[0] & 16)
        wf_edit_set_macs(f, p, dst, src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t f[4096];
    struct wf_parsed p, fresh;
    enum wf_icrc_state icrc;
    uint32_t len;
    bool sum;

    if (size < 3 || size - 3 > sizeof(f))
        return 0;
    len = (uint32_t)size - 3;
    memcpy(f, data + 3, len);
    if (wf_parse(f, len, len, &p) != WF_DROP_NONE || !(p.flags & WF_P_ETH))
        return 0;
    sum = wf_ip4_checksum_ok(f, len, &p);
    icrc = wf_icrc_check(f, len, &p);
    edit(f, &p, data);
    FUZZ_CHECK(wf_parse(f, len, len, &fresh) == WF_DROP_NONE);
    FUZZ_CHECK(!memcmp(&fresh, &p, sizeof(p)));
    FUZZ_CHECK(wf_icrc_check(f, len, &p) == icrc);
    FUZZ_CHECK(wf_ip4_checksum_ok(f, len, &p) == sum);
    return 0;
}
