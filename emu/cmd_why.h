/* SPDX-License-Identifier: BSD-3-Clause */
/* The decisions that a run has recorded (cap/why_log.h), and sentences made of them. */
#ifndef WEFT_CMD_WHY_H
#define WEFT_CMD_WHY_H

#include <jansson.h>
#include <stdio.h>

#include "base/arena.h"
#include "cmd.h"
#include "net/why.h"

/* What a line is found by; the rest is read from the text when it is told. */
struct wf_why_line {
    uint64_t t_ps, born_ps;
    const char *text, *at; /* the line; "leaf0:p3" */
    uint32_t len, hash, dqpn, psn;
    uint8_t kind; /* enum wf_why_kind */
    uint8_t prio, queue;
    bool packet, roce;
};

struct wf_why_file {
    struct wf_arena arena;
    const char *path;
    char *text;
    json_t *head;
    struct wf_why_line *lines;
    size_t n;
    bool cut; /* it ends within a line, which is left out */
};

int wf_why_load(struct wf_why_file *f, const char *path, struct wf_err *err);
void wf_why_unload(struct wf_why_file *f);
/* A line as an object: a new reference. */
json_t *wf_why_get(const struct wf_why_line *l);
/* A number of it; 0: it is not there. */
uint64_t wf_why_num(const json_t *j, const char *key);
/* A flow of the run by its name, or NULL. */
const json_t *wf_why_flow(const struct wf_why_file *f, const char *name);

/* Which packets are meant: of a flow (its hash and queue pair), or of a queue pair alone. */
struct wf_why_packet {
    const char *flow; /* for the title; or NULL */
    uint32_t hash, dqpn, psn;
    uint64_t born_ps; /* only this transmission; WF_TIME_NEVER: each */
};
/* Hop by hop. False: nothing is known of it. */
bool wf_why_tell_packet(const struct wf_why_file *f, const struct wf_why_packet *p, FILE *out);
/* Why the port kept the priority of its peer stopped at t; received: why the port itself had to
 * stop. To the root, so many columns in. False: it was not so. */
bool wf_why_tell_pause(const struct wf_why_file *f, const char *port, unsigned prio, uint64_t t_ps,
                       bool received, unsigned indent, FILE *out);
/* The XOFF of the port for the priority that held at t, or NULL. */
const struct wf_why_line *wf_why_xoff_at(const struct wf_why_file *f, const char *port,
                                         unsigned prio, uint64_t t_ps);
/* A pause that had reached the port by t, of a priority or (prio WF_PRIOS) for the queue. */
const struct wf_why_line *wf_why_stopped_at(const struct wf_why_file *f, const char *port,
                                            unsigned prio, unsigned queue, uint64_t t_ps);
/* When what began with this line was over; WF_TIME_NEVER: it lasted. */
uint64_t wf_why_over_ps(const struct wf_why_file *f, const struct wf_why_line *l);
/* Packets that were dropped, at most max of them; how many there are. */
size_t wf_why_tell_drops(const struct wf_why_file *f, const char *at, size_t max, FILE *out);

/* 1234567 as 1,234,567. */
const char *wf_why_digits(uint64_t v, char *buf, size_t len);
/* In microseconds, below one in nanoseconds; exact. */
const char *wf_why_time(uint64_t ps, char *buf, size_t len);
/* "leaf0" of "leaf0:p3.q3", "p3.q3" behind it. */
void wf_why_split(const char *name, char node[64], const char **port);

/* cmd_why_cap.c: frame `number` of a capture: by its own comments, or when f is not NULL by the
 * record. */
int wf_why_capture(const char *path, uint64_t number, const struct wf_why_file *f, FILE *out,
                   struct wf_err *err);

#endif
