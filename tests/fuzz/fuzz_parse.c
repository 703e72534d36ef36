/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames through wf_parse. The first byte says how many bytes of the frame a snap length cut off.
 */
#include <string.h>

#include "wire/bth.h"
#include "wire/parse.h"

#include "fuzz.h"

static void check_offsets(const struct wf_parsed *p, uint32_t caplen, uint32_t frame_len)
{
    FUZZ_CHECK(!(p->flags & ~(uint32_t)WF_P_CUT) || (p->flags & WF_P_ETH));
    FUZZ_CHECK(p->l3_off <= frame_len && p->l3_len <= frame_len);
    FUZZ_CHECK(!(p->flags & WF_P_IP4) || p->l3_off + 20u <= caplen);
    FUZZ_CHECK(!(p->flags & (WF_P_IP6 | WF_P_ROCEV1)) || p->l3_off + 40u <= caplen);
    FUZZ_CHECK(!p->l4_off || p->l4_off + (p->flags & WF_P_UDP ? 8u : 4u) <= caplen);
    FUZZ_CHECK(!(p->flags & WF_P_BTH) || (p->bth_off && p->bth_off + 12u <= caplen));
    FUZZ_CHECK(!p->icrc_off || (p->flags & WF_P_BTH && p->icrc_off + 4 <= frame_len));
    FUZZ_CHECK(!p->icrc_off || p->payload_off + p->payload_len + p->pad == p->icrc_off);
    FUZZ_CHECK(!(p->flags & WF_P_AETH) || wf_opcodes[p->opcode].aeth);
    FUZZ_CHECK(!(p->flags & WF_P_FRAGMENT) || !(p->flags & (WF_P_PORTS | WF_P_ROCE)));
    FUZZ_CHECK(p->pcp < 8 && p->dscp < 64 && p->ecn < 4 && p->pad < 4 && p->n_tags < 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_parsed p, whole;
    uint32_t len, cap;
    enum wf_reason why;

    if (!size)
        return 0;
    len = (uint32_t)size - 1;
    cap = data[0] < len ? len - data[0] : 0;
    why = wf_parse(data + 1, len, len, &whole);
    FUZZ_CHECK(why == WF_DROP_NONE || why == WF_DROP_MALFORMED);
    check_offsets(&whole, len, len);
    why = wf_parse(data + 1, cap, len, &p);
    check_offsets(&p, cap, len);
    /* what is cut says less, and nothing else */
    FUZZ_CHECK(!(p.flags & ~whole.flags & ~(uint32_t)WF_P_CUT));
    wf_parse(data + 1, cap, cap, &p);
    check_offsets(&p, cap, cap);
    return 0;
}
