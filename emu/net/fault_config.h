/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fault as people write it: the same keys in a scenario's `faults:`, on the command line of
 * `weft inject`, and as text of a recording. What its words mean in a fabric is fabric/faults.h's.
 */
#ifndef WEFT_NET_FAULT_CONFIG_H
#define WEFT_NET_FAULT_CONFIG_H

#include "base/arena.h"
#include "base/key.h"

struct wf_fault_cfg {
    int action; /* enum wf_fault_action */
    const char *where;
    int dir;   /* enum wf_fault_dir */
    int match; /* enum wf_fault_class, or behind them: auto */
    const char *from, *to, *flow, *qp, *psn;
    struct wf_names opcode;
    uint32_t message, iteration;
    uint64_t nth, every, limit;
    struct wf_fraction chance;
    uint64_t after_ps, until_ps;
    bool may_not_fire;
    int trigger; /* enum wf_fault_trigger */
    /* what becomes of the packets */
    uint64_t delay_ps, within_ps;
    uint32_t copies, behind;
    bool force;
    int crc, part; /* enum wf_fault_crc, wf_fault_part */
    uint32_t offset, bytes, flip, keep;
    int matched, code; /* enum wf_fault_matched, wf_nak */
    uint32_t timer, dscp, priorities, quanta;
    const char *answer_psn;
    uint32_t reply_qp; /* 0: learned */
};
enum wf_fault_dir { WF_FAULT_OUT, WF_FAULT_IN };
enum { WF_FAULT_MATCH_AUTO = 5 };
enum wf_fault_trigger { WF_FAULT_AT_PACKET, WF_FAULT_AT_TIME };

extern const struct wf_keyset wf_fault_keys;

/* One key by its text, lists with commas between; strings are copied to the arena. 0, or -EINVAL
 * and *err. */
int wf_fault_cfg_set(struct wf_fault_cfg *cfg, const char *key, const char *text,
                     struct wf_arena *arena, struct wf_err *err);
/* A whole fault as text: "do=drop where=leaf0:p3 psn=+5". The rest is the defaults'. */
int wf_fault_cfg_parse(struct wf_fault_cfg *cfg, const char *text, struct wf_arena *arena,
                       struct wf_err *err);
/* A key of its table that does not go with what it does, of those that `given` says; NULL: none. */
const char *wf_fault_cfg_stray(const struct wf_fault_cfg *cfg,
                               bool (*given)(void *arg, const char *key), void *arg);

#endif
