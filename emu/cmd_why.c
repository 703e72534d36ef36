/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weft why: what was decided about a packet or a pause, and on which numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd_opt.h"
#include "cmd_why.h"
#include "ctl/names.h"

static const char head[] =
    "usage: weft why RECORD QUESTION\n"
    "       weft why CAPTURE#FRAME [RECORD]\n"
    "\n"
    "Says why, by the record of decisions that weft run --why RECORD has written (or a scenario's\n"
    "why section). QUESTION is one of\n"
    "\n"
    "  flow.NAME psn N         the packet, hop by hop; PSNs are as in captures\n"
    "  flow.NAME packet N      the same, the N-th data packet of the flow, from 0\n"
    "  flow.NAME slowest       the packet that waited longest\n"
    "  qp N psn N              by the destination queue pair: packets of real hosts, ACKs\n"
    "  pause PORT [prio P] [at TIME]\n"
    "                          why PORT stopped its peer's priority, or had to stop its own; to\n"
    "                          the root. Without TIME its longest pause\n"
    "  drops [PORT]            dropped packets\n"
    "\n"
    "A FRAME of a capture, as tshark counts them, is explained by its own comment and those of "
    "the\n"
    "same packet elsewhere in the file; with a RECORD of the same run, by that.\n"
    "\n"
    "  weft why why.jsonl flow.f0 psn 17\n"
    "  weft why why.jsonl pause leaf0:p3 prio 3 at 12.5us\n"
    "  weft why leaf0.pcapng#123 why.jsonl\n"
    "\n"
    "Exit status: 0, 2 wrong usage, or there is no such packet or pause in the record.\n";

enum { WORDS_MAX = 8, DROPS_MAX = 20 };

struct question {
    char *word[WORDS_MAX + 1];
    int n;
};

static int cut(struct question *q, char *text, struct wf_err *err)
{
    char *save = NULL;

    for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        if (q->n == WORDS_MAX)
            return wf_err_set(err, EINVAL, "the question has too many words");
        q->word[q->n++] = w;
    }
    return 0;
}

static bool is(const struct question *q, int i, const char *word)
{
    return i < q->n && !strcmp(q->word[i], word);
}

/* ---- packets ---- */

static void slowest(const struct wf_why_file *f, struct wf_why_packet *p)
{
    uint64_t most = 0;

    for (size_t i = 0; i < f->n; i++) {
        const struct wf_why_line *l = &f->lines[i];
        json_t *j;

        if (l->kind != WF_WHY_DEQUEUE || l->hash != p->hash || l->dqpn != p->dqpn)
            continue;
        j = wf_why_get(l);
        if (wf_why_num(j, "waited_ps") >= most) {
            most = wf_why_num(j, "waited_ps");
            p->psn = l->psn;
        }
        json_decref(j);
    }
}

static int no_flow(const struct wf_why_file *f, const char *name, struct wf_err *err)
{
    return wf_ctl_nothing_fits("flows", name, json_object_get(f->head, "flows"), err);
}

static int count(const char *word, const char *what, uint64_t max, uint64_t *v, struct wf_err *err)
{
    if (!wf_parse_uint(word, v, NULL) && *v <= max)
        return 0;
    return wf_err_set(err, EINVAL, "%s '%.40s': expected a number up to %llu", what, word,
                      (unsigned long long)max);
}

static int ask_flow(const struct wf_why_file *f, const struct question *q, struct wf_err *err)
{
    const json_t *w = wf_why_flow(f, q->word[0]);
    struct wf_why_packet p = {.flow = q->word[0],
                              .hash = (uint32_t)wf_why_num(w, "hash"),
                              .dqpn = (uint32_t)wf_why_num(w, "dqpn"),
                              .born_ps = WF_TIME_NEVER};
    uint64_t v;

    if (!w)
        return no_flow(f, q->word[0], err);
    if (is(q, 1, "slowest") && q->n == 2) {
        slowest(f, &p);
    } else if (q->n == 3 && (is(q, 1, "psn") || is(q, 1, "packet"))) {
        if (count(q->word[2], q->word[1], 0xffffff, &v, err))
            return -EINVAL;
        p.psn = (uint32_t)(is(q, 1, "psn") ? v : wf_why_num(w, "first_psn") + v) & 0xffffff;
    } else {
        return wf_err_set(err, EINVAL, "which packet of %s? (psn N, packet N, slowest)",
                          q->word[0]);
    }
    if (wf_why_tell_packet(f, &p, stdout))
        return 0;
    return wf_err_set(err, ENOENT, "nothing is recorded of %s psn %u", p.flow, p.psn);
}

static int ask_qp(const struct wf_why_file *f, const struct question *q, struct wf_err *err)
{
    struct wf_why_packet p = {.born_ps = WF_TIME_NEVER};
    uint64_t dqpn, psn;

    if (q->n != 4 || !is(q, 2, "psn"))
        return wf_err_set(err, EINVAL, "which packet of the queue pair? (qp N psn N)");
    if (count(q->word[1], "qp", 0xffffff, &dqpn, err) ||
        count(q->word[3], "psn", 0xffffff, &psn, err))
        return -EINVAL;
    p.dqpn = (uint32_t)dqpn;
    p.psn = (uint32_t)psn;
    if (wf_why_tell_packet(f, &p, stdout))
        return 0;
    return wf_err_set(err, ENOENT, "nothing is recorded of queue pair %u psn %u", p.dqpn, p.psn);
}

/* ---- pauses ---- */

/* The longest of a port's, sent or received, of one priority or any: when it began. */
static bool longest(const struct wf_why_file *f, const char *port, unsigned *prio, uint64_t *t_ps)
{
    uint64_t end = wf_why_num(f->head, "time_ps"), most = 0;
    unsigned wanted = *prio;
    bool any = false;

    for (size_t i = 0; i < f->n; i++) {
        const struct wf_why_line *l = &f->lines[i];
        uint64_t over;

        if ((l->kind != WF_WHY_XOFF && l->kind != WF_WHY_PAUSE_RX) || strcmp(l->at, port) ||
            (wanted < WF_PRIOS && l->prio != wanted))
            continue;
        if (l->kind == WF_WHY_PAUSE_RX && wf_why_stopped_at(f, port, l->prio, 0, l->t_ps) != l)
            continue;
        over = wf_why_over_ps(f, l);
        over = over == WF_TIME_NEVER ? end : over;
        if (any && over - l->t_ps <= most)
            continue;
        most = over - l->t_ps;
        *t_ps = l->t_ps;
        *prio = l->prio;
        any = true;
    }
    return any;
}

/* Ports that paused or were paused, for those who ask for another. */
static int no_pause(const struct wf_why_file *f, const char *port, struct wf_err *err)
{
    json_t *ports = json_object(), *list = json_array();
    const char *name;
    json_t *v;
    int rc;

    for (size_t i = 0; i < f->n; i++)
        if (f->lines[i].kind == WF_WHY_XOFF || f->lines[i].kind == WF_WHY_PAUSE_RX)
            json_object_set_new(ports, f->lines[i].at, json_null());
    json_object_foreach (ports, name, v)
        json_array_append_new(list, json_string(name));
    rc = wf_ctl_nothing_fits("ports with pauses", port, list, err);
    json_decref(list);
    json_decref(ports);
    return rc;
}

static int ask_pause(const struct wf_why_file *f, const struct question *q, struct wf_err *err)
{
    uint64_t prio = WF_PRIOS, t_ps = WF_TIME_NEVER;
    unsigned p;
    char t[32];

    if (q->n < 2)
        return wf_err_set(err, EINVAL, "a pause of which port? (pause leaf0:p3)");
    for (int i = 2; i < q->n; i += 2)
        if (is(q, i, "prio") && i + 1 < q->n) {
            if (count(q->word[i + 1], "prio", 7, &prio, err))
                return -EINVAL;
        } else if (is(q, i, "at") && i + 1 < q->n) {
            if (wf_parse_time(q->word[i + 1], &t_ps, err))
                return -EINVAL;
        } else {
            return wf_err_set(err, EINVAL, "'%.40s': expected prio N or at TIME", q->word[i]);
        }
    p = (unsigned)prio;
    if (t_ps == WF_TIME_NEVER && !longest(f, q->word[1], &p, &t_ps))
        return no_pause(f, q->word[1], err);
    for (unsigned x = 0; x < WF_PRIOS; x++)
        if ((p == WF_PRIOS || p == x) &&
            (wf_why_tell_pause(f, q->word[1], x, t_ps, false, 0, stdout) ||
             wf_why_tell_pause(f, q->word[1], x, t_ps, true, 0, stdout)))
            return 0;
    if (!longest(f, q->word[1], &p, &(uint64_t){0}))
        return no_pause(f, q->word[1], err);
    return wf_err_set(err, ENOENT, "%s neither stopped its peer nor was stopped at %s", q->word[1],
                      wf_why_time(t_ps, t, sizeof(t)));
}

static int ask_drops(const struct wf_why_file *f, const struct question *q, struct wf_err *err)
{
    size_t n = wf_why_tell_drops(f, q->n > 1 ? q->word[1] : NULL, DROPS_MAX, stdout);

    (void)err;
    if (!n)
        printf("nothing was dropped%s%s\n", q->n > 1 ? " at " : "", q->n > 1 ? q->word[1] : "");
    else if (n > DROPS_MAX)
        printf("... and %zu more\n", n - DROPS_MAX);
    return 0;
}

static int ask(const struct wf_why_file *f, const struct question *q, struct wf_err *err)
{
    static const char *const words[] = {"flow.NAME", "qp", "pause", "drops"};

    if (!strncmp(q->word[0], "flow.", 5))
        return ask_flow(f, q, err);
    if (is(q, 0, "qp"))
        return ask_qp(f, q, err);
    if (is(q, 0, "pause"))
        return ask_pause(f, q, err);
    if (is(q, 0, "drops"))
        return ask_drops(f, q, err);
    return wf_ctl_not_one_of("question", q->word[0], words, sizeof(words) / sizeof(words[0]), err);
}

/* CAPTURE#FRAME: where the number begins, or NULL. */
static char *frame_of(char *word, uint64_t *number)
{
    char *hash = strrchr(word, '#');

    return hash && !wf_parse_uint(hash + 1, number, NULL) && *number ? hash : NULL;
}

static int ask_capture(char *word, char *hash, uint64_t number, const char *record,
                       struct wf_err *err)
{
    struct wf_why_file f;
    int rc = record ? wf_why_load(&f, record, err) : 0;

    *hash = '\0';
    if (!rc)
        rc = wf_why_capture(word, number, record ? &f : NULL, stdout, err);
    if (record)
        wf_why_unload(&f);
    return rc;
}

static int ask_record(int argc, char **argv, struct wf_err *err)
{
    struct question q = {.n = 0};
    struct wf_why_file f;
    int rc = 0;

    for (int i = 1; i < argc && !rc; i++)
        rc = cut(&q, argv[i], err);
    if (!rc && !q.n)
        rc = wf_err_set(err, EINVAL, "no question: `weft why --help` lists what can be asked");
    if (rc)
        return rc;
    rc = wf_why_load(&f, argv[0], err);
    if (!rc && f.cut)
        fprintf(stderr, "weft why: %s ends within a line: the run that wrote it was cut short\n",
                argv[0]);
    if (!rc)
        rc = ask(&f, &q, err);
    wf_why_unload(&f);
    return rc;
}

int wf_cmd_why(int argc, char **argv)
{
    static const struct wf_opt opts[] = {{.name = NULL}};
    static const struct wf_opt_page page = {.head = head, .opts = opts};
    struct wf_err err;
    uint64_t number;
    char *hash;
    int n, rc = wf_opt_parse(&page, NULL, argc, argv, &n, &err);

    if (rc > 0)
        return WF_EXIT_PASS;
    if (!rc && !n)
        rc = wf_err_set(&err, EINVAL, "no record given: weft run --why FILE writes one");
    if (rc)
        return wf_cmd_fail("why", WF_EXIT_USAGE, &err);
    argv++;
    hash = n < 3 ? frame_of(argv[0], &number) : NULL;
    rc = hash ? ask_capture(argv[0], hash, number, n > 1 ? argv[1] : NULL, &err)
              : ask_record(n, argv, &err);
    return rc ? wf_cmd_fail("why", WF_EXIT_USAGE, &err) : WF_EXIT_PASS;
}
