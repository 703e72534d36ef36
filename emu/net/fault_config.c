/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fault_config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "net/fault.h"

#define ROW(field) offsetof(struct wf_fault_cfg, field)

static const char *const dirs[] = {"out", "in", NULL};
static const char *const classes[] = {"roce_data", "roce_ack", "roce", "any",
                                      "control",   "auto",     NULL};
static const char *const crcs[] = {"fcs", "icrc", "repaired", NULL};
static const char *const parts[] = {"payload", "ext", "bth", "l3", "frame", NULL};
static const char *const triggers[] = {"packet", "time", NULL};
static const char *const fates[] = {"auto", "pass", "drop", NULL};
static const char *const codes[] = {"psn_sequence", "invalid_request", "remote_access",
                                    "remote_operational", NULL};

static const struct wf_key rows[] = {
    {"do", WF_KEY_ENUM, ROW(action), NULL, .names = wf_fault_action_names,
     .doc =
         "drop: lost. ce: marked CE. corrupt: bytes changed. duplicate: once more, right behind. "
         "reorder: behind the next ones. delay: later, others pass it. truncate: cut short. nak, "
         "rnr, ack: the requester gets this answer, which nobody sent. cnp: the sender of data "
         "gets one. pfc, pause: such a frame out of the port. end, of weft inject: the port's "
         "faults are over. learn, likewise: the port remembers the queue pairs that it sees from "
         "now on, as with any fault that asks for them."},
    {"where", WF_KEY_STRING, ROW(where), NULL,
     .doc = "The hop: a port, such as leaf0:p3, or in a scenario a pattern over ports."},
    {"dir", WF_KEY_ENUM, ROW(dir), "out", .names = dirs,
     .doc = "Frames that leave by the port, or that come in by it."},
    {"match", WF_KEY_ENUM, ROW(match), "auto", .names = classes,
     .doc = "roce_data: RoCE packets with payload. roce_ack: ACK and NAK. control: PFC and pause. "
            "auto: roce_ack for nak, rnr, ack and cnp; roce where there are opcodes, PSNs or the "
            "like; else roce_data."},
    {"from", WF_KEY_STRING, ROW(from), "", .doc = "Source: a host of the scenario or an address."},
    {"to", WF_KEY_STRING, ROW(to), "", .doc = "Destination, likewise."},
    {"flow", WF_KEY_STRING, ROW(flow), "",
     .doc = "Packets of a flow of the workload, NAME or flow.NAME, in both directions. The peer's "
            "queue "
            "pair of a flow that connects is known from the connection manager's messages that the "
            "port has seen, or from answers."},
    {"qp", WF_KEY_STRING, ROW(qp), "",
     .doc = "Destination queue pair: its number, such as 17 or 0x11; h1:qp17, that of a host; or "
            "#2, the second between `from` and `to` that the port has seen packets for, or a "
            "connection manager's exchange."},
    {"opcode", WF_KEY_NAMES, ROW(opcode), "",
     .doc = "BTH opcodes: such as write_first, rc_send_only, read_request, ack, or numbers."},
    {"psn", WF_KEY_STRING, ROW(psn), "",
     .doc = "PSN, such as 100 or 100-120; +5 or +5-9 count from the first of this queue pair that "
            "the port has seen."},
    {"message", WF_KEY_UINT, ROW(message), "0",
     .doc = "Packets of the n-th message to this queue pair, from 1; 0: any."},
    {"iteration", WF_KEY_UINT, ROW(iteration), "0", 0, 254,
     .doc = "The n-th time that this PSN passes: 1 is the first, 2 when it is sent again; 0: any."},
    {"nth", WF_KEY_UINT64, ROW(nth), "0",
     .doc = "Only the n-th packet of those that match; 0: any."},
    {"every", WF_KEY_UINT64, ROW(every), "1", 1, 1000000000000ull,
     .doc = "Each n-th of those that match."},
    {"probability", WF_KEY_FRACTION, ROW(chance), "1",
     .doc = "By chance, such as 1/97, drawn from the seed."},
    {"limit", WF_KEY_UINT64, ROW(limit), "0", .doc = "Stop after so many; 0: never."},
    {"trigger", WF_KEY_ENUM, ROW(trigger), "packet", .names = triggers,
     .doc = "nak, rnr, ack, cnp: packet: made when a packet passes that is meant. time: made at "
            "`after` (now, if that is past), once for each queue pair that is meant, at most "
            "`limit` of them, from what the port has seen of it: its addresses, the other side's "
            "queue pair, the newest PSN that was asked for. With match: roce_data, for the queue "
            "pairs that requests leave the port for; else for those that answers do. When nothing "
            "is known of any, the fault comes to nothing, which is an error at the end."},
    {"after", WF_KEY_TIME, ROW(after_ps), "0", .doc = "Not before this time."},
    {"until", WF_KEY_TIME, ROW(until_ps), "0", .doc = "Not from this time on; 0: for ever."},
    {"may_not_fire", WF_KEY_BOOL, ROW(may_not_fire), "false",
     .doc = "A fault that met no packet is an error at the end of the run, but for this."},
    {"delay", WF_KEY_TIME, ROW(delay_ps), "0", 0, 60 * WF_PS_PER_S,
     .doc = "delay: so much later than it would have come."},
    {"copies", WF_KEY_UINT, ROW(copies), "1", 1, 64, .doc = "duplicate: so many more of it."},
    {"behind", WF_KEY_UINT, ROW(behind), "1", 1, 100000,
     .doc = "reorder: it goes behind the next n that match."},
    {"within", WF_KEY_TIME, ROW(within_ps), "10ms", 1, 60 * WF_PS_PER_S,
     .doc = "reorder: it goes on at the latest after this time, whoever has come."},
    {"force", WF_KEY_BOOL, ROW(force), "false",
     .doc = "ce: mark what is not ECN-capable too. Otherwise only ECT packets match, since nobody "
            "may mark others; what is CE already never does."},
    {"crc", WF_KEY_ENUM, ROW(crc), "fcs", .names = crcs,
     .doc = "corrupt, truncate: fcs: damaged on the wire, the next receiver drops it. icrc: only "
            "the ICRC or the lengths tell, an end point drops it. repaired: all sums and lengths "
            "are made right, an end point takes it."},
    {"part", WF_KEY_ENUM, ROW(part), "payload", .names = parts,
     .doc = "corrupt, truncate: where `offset` and `keep` count from: RoCE payload, the headers "
            "behind the BTH (RETH, AETH ...), the BTH, the IP header, the frame."},
    {"offset", WF_KEY_UINT, ROW(offset), "0", 0, 10000, .doc = "corrupt: the first byte of it."},
    {"bytes", WF_KEY_UINT, ROW(bytes), "1", 1, 10000, .doc = "corrupt: so many bytes."},
    {"flip", WF_KEY_UINT, ROW(flip), "255", 1, 255, .doc = "corrupt: the bits to flip in each."},
    {"keep", WF_KEY_UINT, ROW(keep), "0", 0, 10000,
     .doc = "truncate: bytes that are left from there on."},
    {"matched", WF_KEY_ENUM, ROW(matched), "auto", .names = fates,
     .doc = "nak, rnr, ack, cnp, pfc, pause: what becomes of the packet that was hit. auto: it is "
            "lost for nak, rnr and ack."},
    {"code", WF_KEY_ENUM, ROW(code), "psn_sequence", .names = codes, .doc = "nak: what it says."},
    {"timer", WF_KEY_UINT, ROW(timer), "12", 0, 31,
     .doc = "rnr: code of the time to wait; 0: 655.36 ms, 1: 0.01 ms, 12: 0.64 ms, 31: 491.52 ms."},
    {"answer_psn", WF_KEY_STRING, ROW(answer_psn), "",
     .doc = "nak, rnr, ack: its PSN; +1 or -1 count from that of the packet that was hit, which is "
            "the default."},
    {"reply_qp", WF_KEY_UINT, ROW(reply_qp), "0", 0, 0xffffff,
     .doc = "nak, rnr, ack, cnp: queue pair that it is for; 0: learned from the packets at the "
            "port. One that it needs and does not know makes the fault come to nothing."},
    {"dscp", WF_KEY_UINT, ROW(dscp), "48", 0, 63, .doc = "cnp: its DSCP."},
    {"priorities", WF_KEY_MASK, ROW(priorities), "all", .max = 7,
     .doc = "pfc: the priorities that it speaks of, such as [3, 4]."},
    {"quanta", WF_KEY_UINT, ROW(quanta), "65535", 0, 65535,
     .doc = "pfc, pause: the time asked for, in units of 512 bit times; 0 ends a pause."},
};

const struct wf_keyset wf_fault_keys = {
    .name = "faults",
    .doc = "A list; each entry is a fault: which packets it means, and what becomes of them. `weft "
           "inject` takes the same keys.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_fault_cfg),
};

/* "3,4" and "[3, 4]": the next element of it; NULL: no more. */
static const char *next_of(const char **at, char *buf, size_t len)
{
    const char *p = *at + strspn(*at, "[], ");
    size_t n = strcspn(p, "[], ");

    if (!n)
        return NULL;
    snprintf(buf, len, "%.*s", (int)n, p);
    *at = p + n;
    return buf;
}

static int set_mask(const struct wf_key *k, uint32_t *mask, const char *text, struct wf_err *err)
{
    char word[32];
    uint64_t v;

    *mask = 0;
    while (next_of(&text, word, sizeof(word))) {
        if (wf_parse_uint(word, &v, err))
            return -EINVAL;
        if (v > k->max)
            return wf_err_set(err, ERANGE, "'%s' for %s is out of range, expected 0 to %u", word,
                              k->name, (unsigned)k->max);
        *mask |= 1u << v;
    }
    return *mask ? 0 : wf_err_set(err, EINVAL, "%s is an empty list", k->name);
}

static void set_names(struct wf_names *names, const char *text, struct wf_arena *arena)
{
    const char **v = WF_ARENA_ARRAY(arena, const char *, strlen(text) / 2 + 1);
    char word[64];

    names->n = 0;
    while (next_of(&text, word, sizeof(word)))
        v[names->n++] = wf_arena_strdup(arena, word);
    names->v = v;
}

int wf_fault_cfg_set(struct wf_fault_cfg *cfg, const char *key, const char *text,
                     struct wf_arena *arena, struct wf_err *err)
{
    const struct wf_key *k = wf_keyset_find(&wf_fault_keys, key);
    const char *names[sizeof(rows) / sizeof(rows[0])];
    struct wf_err why;

    if (!k) {
        for (size_t i = 0; i < wf_fault_keys.n_keys; i++)
            names[i] = rows[i].name;
        wf_err_set(err, EINVAL, "a fault has no '%.60s'", key);
        wf_err_suggest(err, key, names, wf_fault_keys.n_keys);
        return -EINVAL;
    }
    if (k->type == WF_KEY_MASK)
        return set_mask(k, (uint32_t *)((char *)cfg + k->off), text, err);
    if (k->type == WF_KEY_NAMES) {
        set_names((struct wf_names *)((char *)cfg + k->off), text, arena);
        return 0;
    }
    if (!wf_key_set(k, cfg, k->type == WF_KEY_STRING ? wf_arena_strdup(arena, text) : text, &why))
        return 0;
    return wf_err_set(err, EINVAL, "%s: %s", key, why.msg);
}

int wf_fault_cfg_parse(struct wf_fault_cfg *cfg, const char *text, struct wf_arena *arena,
                       struct wf_err *err)
{
    char key[32], value[256];
    bool has_do = false;
    int rc = 0, used;

    memset(cfg, 0, sizeof(*cfg));
    wf_keyset_defaults(&wf_fault_keys, cfg);
    while (!rc && sscanf(text, " %31[a-z_]=%255[!-~]%n", key, value, &used) == 2) {
        rc = wf_fault_cfg_set(cfg, key, value, arena, err);
        has_do |= !strcmp(key, "do");
        text += used;
    }
    if (rc)
        return rc;
    if (text[strspn(text, " ")])
        return wf_err_set(err, EINVAL, "'%.40s' is no KEY=VALUE of a fault", text);
    if (!has_do || !cfg->where || !cfg->where[0])
        return wf_err_set(err, EINVAL, "a fault needs 'do' and 'where'");
    return 0;
}

#define DOES(a) (1u << WF_FAULT_##a)
#define MAKES   (DOES(NAK) | DOES(RNR) | DOES(ACK))

static const struct {
    const char *key;
    unsigned actions;
} belongs[] = {
    {"delay", DOES(DELAY)},
    {"copies", DOES(DUPLICATE)},
    {"behind", DOES(REORDER)},
    {"within", DOES(REORDER)},
    {"force", DOES(CE)},
    {"crc", DOES(CORRUPT) | DOES(TRUNCATE)},
    {"part", DOES(CORRUPT) | DOES(TRUNCATE)},
    {"offset", DOES(CORRUPT)},
    {"bytes", DOES(CORRUPT)},
    {"flip", DOES(CORRUPT)},
    {"keep", DOES(TRUNCATE)},
    {"matched", MAKES | DOES(CNP) | DOES(PFC) | DOES(PAUSE)},
    {"trigger", MAKES | DOES(CNP)},
    {"code", DOES(NAK)},
    {"timer", DOES(RNR)},
    {"answer_psn", MAKES},
    {"reply_qp", MAKES | DOES(CNP)},
    {"dscp", DOES(CNP)},
    {"priorities", DOES(PFC)},
    {"quanta", DOES(PFC) | DOES(PAUSE)},
};

const char *wf_fault_cfg_stray(const struct wf_fault_cfg *cfg,
                               bool (*given)(void *arg, const char *key), void *arg)
{
    for (size_t i = 0; i < sizeof(belongs) / sizeof(belongs[0]); i++)
        if (!(belongs[i].actions >> cfg->action & 1) && given(arg, belongs[i].key))
            return belongs[i].key;
    return NULL;
}
