/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet, IPv4, IPv6, GRH, UDP and their checksums. The first byte chooses the format. */
#include <string.h>

#include "wire/edit.h"
#include "wire/eth.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/udp.h"

#include "fuzz.h"

/* What was read is written with the same bytes. */
#define ROUND_TRIP(fmt)                                                                            \
    static void round_trip_##fmt(const uint8_t *data, size_t size)                                 \
    {                                                                                              \
        struct wf_rd r = wf_rd_init(data, size);                                                   \
        struct wf_##fmt h;                                                                         \
        uint8_t again[128];                                                                        \
        struct wf_wr w = wf_wr_init(again, sizeof(again));                                         \
                                                                                                   \
        if (wf_##fmt##_get(&r, &h))                                                                \
            return;                                                                                \
        wf_##fmt##_put(&w, &h);                                                                    \
        FUZZ_CHECK(!w.err && wf_wr_len(&w) == size - wf_rd_left(&r));                              \
        FUZZ_CHECK(!memcmp(again, data, wf_wr_len(&w)));                                           \
    }
ROUND_TRIP(eth)
ROUND_TRIP(vlan)
ROUND_TRIP(ip4)
ROUND_TRIP(ip6)
ROUND_TRIP(grh)
ROUND_TRIP(udp)

static void checksums(const uint8_t *data, size_t size)
{
    uint8_t b[2048];
    uint16_t sum;
    uint32_t len;

    if (size < 48 || size > sizeof(b))
        return;
    memcpy(b, data, size);
    len = (b[0] & 15u) * 4;
    if (len >= 20 && len <= size) {
        wf_st16(b + 10, wf_ip4_checksum(b, len));
        FUZZ_CHECK(wf_ip4_checksum(b, len) == wf_ld16(b + 10));
    }
    len = (uint32_t)size - 40;
    wf_st16(b + 46, 0);
    sum = wf_l4_checksum(b, 17, b + 40, len);
    wf_st16(b + 46, sum);
    FUZZ_CHECK(wf_l4_checksum(b, 17, b + 40, len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(const uint8_t *, size_t) = {
        round_trip_eth, round_trip_vlan, round_trip_ip4, round_trip_ip6,
        round_trip_grh, round_trip_udp,  checksums};

    if (size)
        checks[data[0] % (sizeof(checks) / sizeof(checks[0]))](data + 1, size - 1);
    return 0;
}
