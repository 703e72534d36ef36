/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of weft replay, for emu/cmd_replay*.c only. */
#ifndef WEFT_CMD_REPLAY_H
#define WEFT_CMD_REPLAY_H

#include <stdbool.h>

#include "cap/replay.h"
#include "cmd.h"

enum { WF_REPLAY_LIST_MAX = 256 };

struct wf_replay_options {
    const char *maps[WF_REPLAY_LIST_MAX], *captures[WF_REPLAY_LIST_MAX];
    unsigned n_maps, n_captures;
    struct wf_cmd_sets sets;
    const char *others, *interface, *trace;
    bool automatic, json, expect, routed, seeded;
    uint64_t seed;
    uint32_t lcores;
    const char *capture, *scenario;
    struct wf_replay_conf *conf;
};

/* 0, 1: help was asked for and answered, or -errno. Part of them goes into *conf. */
int wf_replay_options_take(struct wf_replay_options *o, struct wf_replay_conf *conf, int argc,
                           char **argv, struct wf_err *err);

#endif
