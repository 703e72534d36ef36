/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet scripts: rows of a time, what happens, and bytes. '<' gives the bytes (from the BTH on) to
 * end `a`, '>' expects exactly them from it, '.' expects silence, 't' fires its timer and expects
 * that it was set for that time, 'w' 'r' 's' post a WRITE, READ or SEND of `len` bytes.
 */
#ifndef WEFT_TESTS_XPORT_SCRIPT_H
#define WEFT_TESTS_XPORT_SCRIPT_H

#include "pair.h"

#include "../wire/hex.h"

struct step {
    uint64_t t_ps;
    char what;
    uint32_t len; /* of a posting; of the payload of a packet that comes in */
    const char *hex;
};

static inline void step_expect(const struct step *s, size_t i)
{
    uint8_t want[WF_QP_HDR_MAX];
    struct frame f;
    uint32_t n;

    if (!pull(&a, s->t_ps, &f)) {
        if (s->what == '>')
            fail_msg("step %zu: nothing is sent", i);
        return;
    }
    if (s->what == '.')
        fail_msg("step %zu: opcode 0x%02x PSN 0x%x is sent", i, f.hdr[0], psn_of(&f));
    n = hex_bytes(s->hex, want, sizeof(want));
    if (n != f.hdr_len || memcmp(want, f.hdr, n))
        fail_msg("step %zu: opcode 0x%02x PSN 0x%x, %u bytes, is sent", i, f.hdr[0], psn_of(&f),
                 f.hdr_len);
}

static inline void step_in(const struct step *s)
{
    struct frame f = {.payload_len = s->len};

    for (uint32_t k = 0; k < s->len; k++)
        f.payload[k] = (uint8_t)(k + s->t_ps);
    f.hdr_len = hex_bytes(s->hex, f.hdr, sizeof(f.hdr));
    deliver(&a, &f, s->t_ps);
}

static inline void script_run(const struct step *s, size_t n)
{
    for (size_t i = 0; i < n; i++, s++)
        switch (s->what) {
        case '<':
            step_in(s);
            break;
        case '>':
        case '.':
            step_expect(s, i);
            break;
        case 't':
            if (wf_qp_timer_ps(&a.qp) != s->t_ps)
                fail_msg("step %zu: the timer is set for %llu", i,
                         (unsigned long long)wf_qp_timer_ps(&a.qp));
            wf_qp_tick(&a.qp, s->t_ps);
            break;
        default:
            assert_int_equal(post_op(&a,
                                     s->what == 'w'   ? WF_WORK_WRITE
                                     : s->what == 'r' ? WF_WORK_READ
                                                      : WF_WORK_SEND,
                                     i, NULL, s->len),
                             0);
        }
}

#define SCRIPT(...)                                                                                \
    do {                                                                                           \
        static const struct step steps[] = {__VA_ARGS__};                                          \
                                                                                                   \
        script_run(steps, sizeof(steps) / sizeof(steps[0]));                                       \
    } while (0)

#endif
