/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded decisions as sentences: the way of a packet, hop by hop, and drops. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "base/units.h"
#include "cmd_why.h"

enum { MARGIN = 25 };

const char *wf_why_digits(uint64_t v, char *buf, size_t len)
{
    char digits[24];
    size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, v), at = 0;

    for (size_t i = 0; i < n && at + 2 < len; i++) {
        if (i && (n - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = '\0';
    return buf;
}

const char *wf_why_time(uint64_t ps, char *buf, size_t len)
{
    bool us = ps >= WF_PS_PER_US;
    uint64_t unit = us ? WF_PS_PER_US : WF_PS_PER_NS;
    int n = snprintf(buf, len, us ? "%" PRIu64 ".%06" PRIu64 : "%" PRIu64 ".%03" PRIu64, ps / unit,
                     ps % unit);

    while (n > 0 && buf[n - 1] == '0')
        n--;
    n -= n > 0 && buf[n - 1] == '.';
    snprintf(buf + n, len - (size_t)n, us ? "us" : "ns");
    return buf;
}

void wf_why_split(const char *name, char node[64], const char **port)
{
    size_t n = strcspn(name, ":");

    snprintf(node, 64, "%.*s", (int)n, name);
    *port = name[n] ? name + n + 1 : "";
}

static const char *text_of(const json_t *j, const char *key)
{
    const char *s = json_string_value(json_object_get(j, key));

    return s ? s : "";
}

/* "12,345" by key. */
static const char *number(const json_t *j, const char *key, char *buf)
{
    return wf_why_digits(wf_why_num(j, key), buf, 32);
}

static const char *port_of(const char *name)
{
    const char *port;
    char node[64];

    wf_why_split(name, node, &port);
    return port;
}

/* The beginning of a sentence: where and when. */
static void begin(const struct wf_why_line *l, FILE *out)
{
    const char *port;
    char node[64], t[32];

    wf_why_split(l->at, node, &port);
    fprintf(out, "  %-8s %12s  ", node, wf_why_time(l->t_ps, t, sizeof(t)));
}

/* ---- a packet ---- */

static const char *meaning_of(const char *reason)
{
    for (int i = 0; i < WF_DROP_COUNT; i++)
        if (!strcmp(reason, wf_reason_name((enum wf_reason)i)))
            return wf_reason_meaning((enum wf_reason)i);
    return "";
}

static void tell_admit(const struct wf_why_file *f, const struct wf_why_line *l, const json_t *j,
                       FILE *out)
{
    bool lossless = json_is_true(json_object_get(j, "lossless"));
    uint64_t after = wf_why_num(j, "pg_bytes") + wf_why_num(j, "len");
    const char *verdict = text_of(j, "verdict");
    char a[32], b[32], c[32], d[32], e[32];

    begin(l, out);
    fprintf(out, "in by %s: PG %u held %s of %s bytes%s, the buffer %s of %s, %s.q%u %s",
            port_of(l->at), (unsigned)wf_why_num(j, "pg"), number(j, "pg_bytes", a),
            number(j, "pg_limit_bytes", b), lossless ? " (xoff)" : "", number(j, "pool_bytes", c),
            number(j, "pool_size_bytes", d), port_of(text_of(j, "out")), l->queue,
            number(j, "queue_bytes", e));
    if (!lossless)
        fprintf(out, " of %s", number(j, "queue_limit_bytes", a));
    if (strcmp(verdict, "admitted"))
        fprintf(out, ": refused, %s: %s\n", verdict, meaning_of(verdict));
    else if (lossless && after > wf_why_num(j, "pg_limit_bytes"))
        fprintf(out, ": admitted into the headroom of %s bytes\n", number(j, "headroom_bytes", a));
    else
        fputs(": admitted\n", out);
    if (l + 1 < f->lines + f->n && l[1].kind == WF_WHY_XOFF && l[1].t_ps == l->t_ps &&
        !strcmp(l[1].at, l->at)) {
        json_t *x = wf_why_get(l + 1);

        begin(l, out);
        fprintf(out, "PG %u now holds %s bytes: XOFF, %s is to stop priority %u\n",
                (unsigned)wf_why_num(x, "pg"), number(x, "pg_bytes", a), text_of(x, "peer"),
                l[1].prio);
        json_decref(x);
    }
}

static void tell_mark(const struct wf_why_line *l, const json_t *j, FILE *out)
{
    const json_t *chance = json_object_get(j, "chance");
    uint64_t bytes = wf_why_num(j, "queue_bytes"), kmin = wf_why_num(j, "kmin_bytes");
    bool enqueue = json_is_true(json_object_get(j, "at_enqueue"));
    char a[32], b[32], c[32];

    begin(l, out);
    fprintf(out, "%s: %s.q%u held %s bytes %s it", text_of(j, "verdict"), port_of(l->at), l->queue,
            number(j, "queue_bytes", a), enqueue ? "ahead of" : "behind");
    if (chance)
        fprintf(out, ", between Kmin %s and Kmax %s: chance %.2f%%, draw %.2f%%\n",
                number(j, "kmin_bytes", b), number(j, "kmax_bytes", c),
                json_number_value(chance) * 100,
                json_number_value(json_object_get(j, "draw")) * 100);
    else
        fprintf(out, bytes < kmin ? ", less than Kmin %s\n" : ", no less than Kmax %s\n",
                number(j, bytes < kmin ? "kmin_bytes" : "kmax_bytes", b));
}

/* The first pause that held it while it was in the queue. */
static void tell_held(const struct wf_why_file *f, const struct wf_why_line *l, const json_t *j,
                      FILE *out)
{
    uint64_t from = l->t_ps - wf_why_num(j, "waited_ps");
    const struct wf_why_line *x = wf_why_stopped_at(f, l->at, WF_PRIOS, l->queue, from);

    for (const struct wf_why_line *y = f->lines; !x && y < l; y++)
        if (y->kind == WF_WHY_PAUSE_RX && y->t_ps >= from && y->queue == l->queue &&
            !strcmp(y->at, l->at))
            x = y;
    if (x)
        wf_why_tell_pause(f, l->at, x->prio, x->t_ps > from ? x->t_ps : from, true, MARGIN, out);
}

static void tell_dequeue(const struct wf_why_file *f, const struct wf_why_line *l, const json_t *j,
                         FILE *out)
{
    uint64_t waited = wf_why_num(j, "waited_ps"), paused = wf_why_num(j, "paused_ps");
    char a[32], w[32], p[32];

    begin(l, out);
    fprintf(out, "left by %s: q%u held it for %s behind %s bytes", port_of(l->at), l->queue,
            wf_why_time(waited, w, sizeof(w)), number(j, "queue_bytes", a));
    if (!paused) {
        fputc('\n', out);
        return;
    }
    fprintf(out, ", %s of it paused\n", wf_why_time(paused, p, sizeof(p)));
    tell_held(f, l, j, out);
}

static void tell_arrival(const struct wf_why_file *f, const struct wf_why_line *l, const json_t *j,
                         FILE *out)
{
    if (l + 1 < f->lines + f->n && l[1].t_ps == l->t_ps && l[1].packet && l[1].psn == l->psn &&
        !strcmp(l[1].at, l->at))
        return; /* the buffer's verdict, or a drop, says as much */
    begin(l, out);
    fprintf(out, "arrived at %s%s\n", port_of(l->at), wf_why_num(j, "ecn") == 3 ? ", with CE" : "");
}

/* The storm of the same switch that a watchdog's drop belongs to: the last that began. */
static void tell_storm(const struct wf_why_file *f, const struct wf_why_line *l, FILE *out)
{
    size_t node = strcspn(l->at, ":");
    char t[32];

    for (const struct wf_why_line *x = f->lines + f->n; x-- > f->lines;) {
        json_t *j;
        bool storm;

        if (x->kind != WF_WHY_WATCHDOG || x->t_ps > l->t_ps || strncmp(x->at, l->at, node + 1))
            continue;
        j = wf_why_get(x);
        storm = !strcmp(text_of(j, "verdict"), "storm");
        if (storm) {
            fprintf(out, "%*s", MARGIN, "");
            fprintf(out, "%s: a storm of priority %u since %s, action %s\n", x->at, x->prio,
                    wf_why_time(x->t_ps, t, sizeof(t)), text_of(j, "action"));
        }
        json_decref(j);
        if (storm)
            return;
    }
}

static void tell_line(const struct wf_why_file *f, const struct wf_why_line *l, FILE *out)
{
    json_t *j = wf_why_get(l);
    char a[32], b[32];

    switch ((enum wf_why_kind)l->kind) {
    case WF_WHY_ARRIVAL:
        tell_arrival(f, l, j, out);
        break;
    case WF_WHY_ADMIT:
        tell_admit(f, l, j, out);
        break;
    case WF_WHY_DROP:
        if (l > f->lines && l[-1].kind == WF_WHY_ADMIT && l[-1].t_ps == l->t_ps &&
            l[-1].psn == l->psn)
            break; /* that has told it */
        begin(l, out);
        fprintf(out, "dropped at %s, %s: %s\n", port_of(l->at), text_of(j, "verdict"),
                meaning_of(text_of(j, "verdict")));
        if (!strncmp(text_of(j, "verdict"), "pfcwd_", 6))
            tell_storm(f, l, out);
        break;
    case WF_WHY_MARK:
        tell_mark(l, j, out);
        break;
    case WF_WHY_TRIM:
        begin(l, out);
        fprintf(out, "refused by %s.q%u, %s: trimmed from %s to %s bytes, for q%u with DSCP %u\n",
                port_of(l->at), l->queue, text_of(j, "verdict"), number(j, "was_bytes", a),
                number(j, "len", b), (unsigned)wf_why_num(j, "to_queue"),
                (unsigned)wf_why_num(j, "to_dscp"));
        break;
    case WF_WHY_DEQUEUE:
        tell_dequeue(f, l, j, out);
        break;
    default:
        break; /* the queue is in the buffer's verdict, and in what is said when it leaves */
    }
    json_decref(j);
}

static bool is_it(const struct wf_why_line *l, const struct wf_why_packet *p)
{
    return l->roce && l->psn == p->psn && l->dqpn == p->dqpn && (!p->flow || l->hash == p->hash) &&
           l->kind != WF_WHY_ENQUEUE && (p->born_ps == WF_TIME_NEVER || l->born_ps == p->born_ps);
}

static void title(const struct wf_why_packet *p, unsigned n, FILE *out)
{
    if (n)
        fputc('\n', out);
    if (p->flow)
        fprintf(out, "%s psn %u%s:\n", p->flow, p->psn, n ? ", sent again" : "");
    else
        fprintf(out, "queue pair %u psn %u%s:\n", p->dqpn, p->psn, n ? ", sent again" : "");
}

bool wf_why_tell_packet(const struct wf_why_file *f, const struct wf_why_packet *p, FILE *out)
{
    uint64_t last_born = WF_TIME_NEVER;
    unsigned n = 0;
    bool any = false;

    /* one transmission after the other: each is what left its host at one time */
    for (size_t i = 0; i < f->n; i++) {
        const struct wf_why_line *l = &f->lines[i];

        if (!is_it(l, p) || l->kind != WF_WHY_DEQUEUE || l->born_ps != l->t_ps)
            continue;
        for (size_t k = 0; k < f->n; k++) {
            struct wf_why_packet one = *p;

            one.born_ps = l->born_ps;
            if (!is_it(&f->lines[k], &one))
                continue;
            if (!any || l->born_ps != last_born)
                title(p, n++, out);
            last_born = l->born_ps;
            any = true;
            tell_line(f, &f->lines[k], out);
        }
    }
    return any;
}

size_t wf_why_tell_drops(const struct wf_why_file *f, const char *at, size_t max, FILE *out)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        const struct wf_why_line *l = &f->lines[i];
        const json_t *flows = json_object_get(f->head, "flows");
        const json_t *w;
        size_t k;

        if (l->kind != WF_WHY_DROP || (at && strcmp(l->at, at)) || n++ >= max)
            continue;
        json_array_foreach (flows, k, w)
            if (l->roce && wf_why_num(w, "hash") == l->hash && wf_why_num(w, "dqpn") == l->dqpn)
                fprintf(out, "%s psn %u:\n", text_of(w, "name"), l->psn);
        if (l > f->lines && l[-1].kind == WF_WHY_ADMIT && l[-1].t_ps == l->t_ps)
            tell_line(f, l - 1, out);
        tell_line(f, l, out);
    }
    return n;
}
