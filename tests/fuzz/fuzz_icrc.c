/* SPDX-License-Identifier: BSD-3-Clause */
/* CRCs in pieces against a plain one, and the ICRC of any RoCE frame. First byte: where to cut. */
#include <string.h>

#include "wire/icrc.h"

#include "fuzz.h"

static uint32_t plain(uint32_t crc, const uint8_t *p, size_t len)
{
    for (crc = ~crc; len; len--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static void check_crc(const uint8_t *data, size_t size, size_t cut)
{
    uint32_t whole = plain(0, data, size), a = wf_crc32_update(0, data, cut);
    uint32_t b = wf_crc32_update(0, data + cut, size - cut);

    FUZZ_CHECK(wf_crc32_update(0, data, size) == whole);
    FUZZ_CHECK(wf_crc32_update(a, data + cut, size - cut) == whole);
    FUZZ_CHECK(wf_crc32_combine(a, b, size - cut) == whole);
}

static void check_icrc(const uint8_t *data, uint32_t len)
{
    uint8_t f[4096];
    struct wf_parsed p;

    if (len > sizeof(f) || wf_parse(data, len, len, &p) != WF_DROP_NONE || !p.icrc_off)
        return;
    memcpy(f, data, len);
    wf_icrc_store(f + p.icrc_off, wf_icrc_of(f, len, &p));
    FUZZ_CHECK(wf_icrc_check(f, len, &p) == WF_ICRC_OK);
    FUZZ_CHECK(wf_icrc_check(f, p.icrc_off + 3, &p) == WF_ICRC_ABSENT);
    f[p.icrc_off] ^= 1;
    FUZZ_CHECK(wf_icrc_check(f, len, &p) == WF_ICRC_BAD);
    f[p.icrc_off] ^= 1;
    /* payload, pad and ICRC of zeros need not be there */
    memset(f + p.payload_off, 0, p.icrc_off - p.payload_off);
    FUZZ_CHECK(wf_icrc_of(f, p.payload_off, &p) == wf_icrc_of(f, len, &p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    check_crc(data + 1, size - 1, size > 1 ? data[0] % size : 0);
    check_icrc(data + 1, (uint32_t)size - 1);
    return 0;
}
