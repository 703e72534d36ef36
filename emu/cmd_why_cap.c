/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why, of a frame of a capture that weft wrote: its comment says what was decided where it was
 * taken, and so do those of the same packet at other points of the file. With a record of the run
 * the packet's whole way is told.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/plain.h"
#include "base/units.h"
#include "cap/reader.h"
#include "cmd_why.h"
#include "net/packet.h"

/* Which packet a frame is of. */
struct frame {
    uint32_t hash, dqpn, psn;
    uint8_t opcode;
    bool roce;
};

static bool parse(const struct wf_cap_rec *rec, struct frame *f)
{
    struct wf_parsed p;

    if (wf_parse(rec->data, rec->cap_bytes, rec->len_bytes, &p) || !(p.flags & WF_P_ETH))
        return false;
    *f = (struct frame){.hash = wf_flow_hash(rec->data, &p),
                        .dqpn = p.dqpn,
                        .psn = p.psn,
                        .opcode = p.opcode,
                        .roce = p.flags & WF_P_BTH};
    return true;
}

/* "pg_bytes" of "pg=3 pg_bytes=99840"; false: it is not there. */
static bool word(const char *comment, const char *key, char *buf, size_t len)
{
    size_t n = strlen(key);

    for (const char *at = comment; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, key, n) && at[n] == '=') {
            snprintf(buf, len, "%.*s", (int)strcspn(at + n + 1, " "), at + n + 1);
            wf_plain(buf);
            return true;
        }
    return false;
}

static const char *commas(const char *comment, const char *key, char *buf)
{
    uint64_t v = 0;
    char text[40];

    if (word(comment, key, text, sizeof(text)))
        wf_parse_uint(text, &v, NULL);
    return wf_why_digits(v, buf, 32);
}

static void tell_comment(const struct wf_cap_rec *rec, FILE *out)
{
    const char *c = rec->comment ? rec->comment : "";
    char t[32], a[64], b[64], d[64];

    fprintf(
        out, "  %-9s %12s  ", rec->iface->name,
        wf_time_text((uint64_t)(rec->time.sec - rec->iface->offset_s) * WF_PS_PER_S + rec->time.ps,
                     t, sizeof(t)));
    fputs(rec->dir == WF_CAP_DIR_IN    ? "came in"
          : rec->dir == WF_CAP_DIR_OUT ? "left"
                                       : "dropped",
          out);
    if (word(c, "pg", a, sizeof(a)))
        fprintf(out, "; when it came, PG %s held %s of %s bytes, the buffer %s", a,
                commas(c, "pg_bytes", b), commas(c, "pg_limit_bytes", d),
                commas(c, "pool_bytes", t));
    if (word(c, "queue", a, sizeof(a)))
        fprintf(out, "; q%s held it behind %s bytes", a, commas(c, "depth_bytes", b));
    if (word(c, "waited", a, sizeof(a)) && word(c, "paused", b, sizeof(b)))
        fprintf(out, " for %s, %s of it paused", a, b);
    if (word(c, "ecn_bytes", a, sizeof(a)))
        fprintf(out, "; the length that counted for ECN was %s bytes", commas(c, "ecn_bytes", b));
    if (word(c, "ecn_chance", a, sizeof(a)) && word(c, "ecn_draw", b, sizeof(b)))
        fprintf(out, ": chance %s, draw %s", a, b);
    if (word(c, "marked", a, sizeof(a)))
        fputs("; marked CE", out);
    if (word(c, "damaged", a, sizeof(a)))
        fputs("; its FCS is wrong", out);
    if (word(c, "drop", a, sizeof(a)))
        fprintf(out, "; the reason: %s", a);
    fputc('\n', out);
}

/* The same packet on its way: forwarding changes MACs, TTL and marks. */
static bool same(const struct frame *a, const struct frame *b)
{
    return a->roce && b->roce && a->hash == b->hash && a->dqpn == b->dqpn && a->psn == b->psn &&
           a->opcode == b->opcode;
}

static int find(const char *path, uint64_t number, struct frame *f, struct wf_err *err)
{
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    bool found = false;
    int rc = wf_cap_open(&r, path, err);

    if (rc)
        return rc;
    while (!found && (rc = wf_cap_next(r, &rec, err)) > 0)
        found = rec.number == number;
    if (found)
        rc = wf_cap_need_ethernet(r, &rec, err);
    if (!rc && !found)
        rc = wf_err_set(err, ENOENT, "%s has no frame %" PRIu64 ", but %" PRIu64, path, number,
                        wf_cap_reader_packets(r));
    if (!rc && !parse(&rec, f))
        rc = wf_err_set(err, EINVAL, "frame %" PRIu64 " of %s is no whole Ethernet frame", number,
                        path);
    wf_cap_close(r);
    return rc;
}

static int tell_all(const char *path, uint64_t number, const struct frame *f, FILE *out,
                    struct wf_err *err)
{
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    int rc = wf_cap_open(&r, path, err);

    if (rc)
        return rc;
    if (f->roce)
        fprintf(out, "queue pair %u psn %u:\n", f->dqpn, f->psn);
    while ((rc = wf_cap_next(r, &rec, err)) > 0) {
        struct frame other;

        if (rec.number == number || (parse(&rec, &other) && same(f, &other)))
            tell_comment(&rec, out);
    }
    wf_cap_close(r);
    return rc;
}

int wf_why_capture(const char *path, uint64_t number, const struct wf_why_file *f, FILE *out,
                   struct wf_err *err)
{
    struct frame frame;
    int rc = find(path, number, &frame, err);
    const json_t *w;
    size_t i;

    if (rc || !f)
        return rc ? rc : tell_all(path, number, &frame, out, err);
    if (frame.roce) {
        struct wf_why_packet p = {
            .hash = frame.hash, .dqpn = frame.dqpn, .psn = frame.psn, .born_ps = WF_TIME_NEVER};

        json_array_foreach (json_object_get(f->head, "flows"), i, w)
            if (wf_why_num(w, "hash") == p.hash && wf_why_num(w, "dqpn") == p.dqpn)
                p.flow = json_string_value(json_object_get(w, "name"));
        if (wf_why_tell_packet(f, &p, out))
            return 0;
    }
    return wf_err_set(err, ENOENT, "nothing is recorded of frame %" PRIu64 " of %s", number, path);
}
