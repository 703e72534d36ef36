/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC control frames: priority-based flow control (802.1Qbb, now 802.1Q 36 and 802.3 31D, opcode
 * 0x0101) and PAUSE (802.3 31B, opcode 0x0001). A quantum is 512 bit times of the port's rate.
 * Left out: EPON, gate and report opcodes.
 */
#ifndef WEFT_WIRE_PFC_H
#define WEFT_WIRE_PFC_H

#include <stdint.h>

#include "base/cursor.h"
#include "wire/field.h"
#include "wire/parse.h"

#define WF_PFC_LEN       20 /* behind the EtherType: opcode, vector, eight times */
#define WF_PAUSE_LEN     4
#define WF_PFC_FRAME_LEN 60 /* without FCS */

#define WF_MAC_CONTROL_PAUSE 0x0001
#define WF_MAC_CONTROL_PFC   0x0101
#define WF_QUANTUM_BITS      512

struct wf_pfc {
    uint16_t opcode;
    uint8_t resv;       /* high byte of the class-enable vector: sent as 0, ignored when received */
    uint8_t vector;     /* bit n: quanta[n] is valid */
    uint16_t quanta[8]; /* 0: XON */
};

struct wf_pause {
    uint16_t opcode;
    uint16_t quanta;
};

int wf_pfc_get(struct wf_rd *r, struct wf_pfc *h);
void wf_pfc_put(struct wf_wr *w, const struct wf_pfc *h);
int wf_pause_get(struct wf_rd *r, struct wf_pause *h);
void wf_pause_put(struct wf_wr *w, const struct wf_pause *h);

enum wf_mac_control {
    WF_MAC_CONTROL_IS_PFC,
    WF_MAC_CONTROL_IS_PAUSE, /* as if a PFC for all: vector 0xff, all quanta the same */
    WF_MAC_CONTROL_IS_BAD,   /* unknown opcode, wrong address, tagged or cut short */
};

/* What a frame with WF_P_MAC_CONTROL asks for. The address is that of 802.3 31A or a unicast one,
 * which the port has to compare with its own (802.3 31B.3.2 allows it for PAUSE). */
enum wf_mac_control wf_mac_control_get(const uint8_t *frame, uint32_t caplen,
                                       const struct wf_parsed *p, struct wf_pfc *out);

/* A whole frame, 60 bytes without FCS; quanta of classes that are not in the vector are sent as 0.
 * Returns its length. */
uint32_t wf_pfc_build(uint8_t buf[WF_PFC_FRAME_LEN], const uint8_t src_mac[6], uint8_t vector,
                      const uint16_t quanta[8]);
uint32_t wf_pause_build(uint8_t buf[WF_PFC_FRAME_LEN], const uint8_t src_mac[6], uint16_t quanta);

extern const uint8_t wf_mac_control_dst[6]; /* 01-80-C2-00-00-01 */
extern const struct wf_fmt wf_fmt_pfc, wf_fmt_pause;

#endif
