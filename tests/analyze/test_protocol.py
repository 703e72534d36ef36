#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft analyze on scripted exchanges: each packet is written here, one by one, so that it is known
what has happened; what is found must be that, with these frames, and nothing else."""
import importlib.util
import os
import shutil
import struct
import sys
import tempfile
import unittest

import captures as cap

spec = importlib.util.spec_from_file_location("generate", os.path.join(cap.SOURCE, "captures", "generate.py"))
gen = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gen)

A, B = (10, 0, 0, 1), (10, 0, 0, 2)
QA, QB = 0x11, 0x12
US, MS = 1000, 1000000
SEND, WFIRST, WMID, WLAST, WRITE, READ = 4, 6, 7, 8, 10, 12
RFIRST, RMID, RLAST, RONLY, ACK = 13, 14, 15, 16, 17
OK, SEQ, RNR = 0x1F, 0x60, 0x20


class Script:
    """Packets between A (queue pair 0x11) and B (0x12), at times in nanoseconds."""

    def __init__(self, ident=True):
        self.t, self.frames, self.counting, self.idents = 0, [], ident, {A: 0, B: 0}

    def packet(self, src, opcode, psn, body=b"", wait=US, qp=None, tos=0x68, ident=None, spoil=False):
        self.t += wait
        dst, to = (B, QB) if src == A else (A, QA)
        if self.counting:
            self.idents[src] += 1
        tr = gen.bth(opcode, to if qp is None else qp, psn, ack=opcode in (SEND, WLAST)) + body
        frame = gen.rocev2(src, dst, 49152, tr, tos, self.idents[src] if ident is None else ident)
        if spoil:
            frame = frame[:-1] + bytes([frame[-1] ^ 1])
        self.frames.append(cap.Frame(self.t, gen.eth(gen.MAC[2], gen.MAC[1], 0x0800, frame)))
        return len(self.frames)

    def req(self, psn, opcode=SEND, size=64, wait=US, fill=1, **more):
        reth = struct.pack("!QII", 0, 1, more.pop("dma", 64)) if opcode in (READ, WRITE, WFIRST) else b""
        data = b"" if opcode == READ else gen.payload(size, psn * fill)
        return self.packet(A, opcode, psn, reth + data, wait, **more)

    def ack(self, psn, syndrome=OK, wait=US, opcode=ACK, data=b""):
        aeth = b"" if opcode == RMID else struct.pack("!I", syndrome << 24 | 1)
        return self.packet(B, opcode, psn, aeth + data, wait)


class Protocol(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-analyze-")
        self.addCleanup(shutil.rmtree, self.dir)

    def result(self, script, *args):
        return cap.analyze(cap.write(self.dir + "/x.pcap", script.frames), *args)

    def one(self, script, *args):
        """The only finding, and the connection."""
        result = self.result(script, *args)
        self.assertEqual(len(result["findings"]), 1, result["findings"])
        return result["findings"][0], result["connections"][0]

    def check(self, finding, **want):
        self.assertEqual({k: finding[k] for k in want}, want)

    def frames(self, finding):
        return [f["number"] for f in finding["frames"]]

    def rule(self, result, name):
        return next(r for r in result["rules"] if r["rule"] == name)

    def test_fc_O5_sent_again_with_another_payload(self):
        for fill, want in ((1, ["loss"]), (3, ["changed", "loss"])):
            s = Script()
            s.req(5), s.req(6), s.req(7)
            s.ack(5), s.ack(6, SEQ)
            first = s.req(6, fill=fill)
            s.req(7), s.ack(7)
            result = self.result(s)
            self.assertEqual(sorted(f["what"] for f in result["findings"]), want)
            if fill == 3:
                changed = next(f for f in result["findings"] if f["what"] == "changed")
                self.assertEqual((changed["psn"], self.frames(changed)), (6, [2, first]))
                self.assertEqual(result["connections"][0]["requests"]["payload_changed"], 1)

    def test_fc_O6_the_read_is_asked_again(self):
        s = Script()
        s.req(40, WRITE), s.req(41, READ), s.req(42, WRITE)
        passed = s.ack(42)
        again = s.req(41, READ, wait=10 * US)
        s.ack(41, opcode=RONLY, data=bytes(64))
        s.req(42, WRITE), s.ack(42)
        found, conn = self.one(s)
        self.check(found, what="loss", verdict="network", cause="read_again", where="before", psn=41,
                   response=True)
        self.assertEqual(self.frames(found), [passed, again])
        self.assertEqual(conn["requests"]["resent_by"]["read_again"], 2)

    def test_fc_O6_the_read_is_skipped(self):
        s = Script()
        s.req(40, WRITE), s.req(41, READ), s.req(42, WRITE), s.ack(42)
        for psn in range(43, 60):
            s.req(psn, WRITE), s.ack(psn)
        found, _ = self.one(s)
        self.check(found, what="loss", verdict="cannot_tell", psn=41, response=True)

    def test_fc_O7_one_rnr_nak_is_a_wait_and_no_loss(self):
        for timer, ms, n in ((0, 655.36, 0x20), (12, 0.64, 0x2C)):
            with self.subTest(timer=timer):
                s = Script()
                s.req(1), s.ack(1), s.req(2), s.req(3)
                nak = s.ack(2, RNR | timer)
                again = s.req(2, wait=int(ms * MS) + 3 * US)
                s.req(3), s.ack(3)
                found, conn = self.one(s)
                self.check(found, what="rnr", verdict="no_loss", cause="rnr", psn=2)
                self.assertEqual(self.frames(found), [nak, again])
                self.assertIn(f"asked for {ms:.2f} ms", found["note"])
                self.assertGreaterEqual(found["recovery_ps"], int(ms * 1e9))
                self.assertEqual(conn["stalls"]["rnr"]["n"], 1)
                self.assertEqual(sum(conn["lost"].values()), 0)
                self.assertEqual(self.rule(self.result(s), "rnr_timer")["verdict"], "kept")
                self.assertIn("no loss, a wait", cap.page(self.dir + "/x.pcap"))

    def test_sent_again_before_the_rnr_timer(self):
        s = Script()
        s.req(1), s.ack(1), s.req(2)
        s.ack(2, RNR | 12)
        s.req(2, wait=100 * US), s.ack(2)
        result = self.result(s)
        self.assertEqual(sorted(f["what"] for f in result["findings"]), ["breach", "rnr"])
        self.assertEqual(self.rule(result, "rnr_timer")["verdict"], "broken")

    def test_a_refused_request(self):
        for code, words in ((1, "invalid request"), (2, "remote access"), (3, "remote operational")):
            s = Script()
            s.req(1), s.ack(1)
            s.req(2)
            nak = s.ack(2, SEQ | code)
            found, conn = self.one(s)
            self.check(found, what="refused", verdict="no_loss", psn=2)
            self.assertEqual((self.frames(found), conn["answers"]["error_naks"]), ([nak], 1))
            self.assertIn(words, found["note"])

    def test_overtaken_is_not_lost(self):
        s = Script()
        for psn in (1, 2, 4, 5, 3, 6, 7):
            s.req(psn)
        s.ack(7)
        found, conn = self.one(s)
        self.check(found, what="reordered", verdict="no_loss", psn=3)
        self.assertEqual((conn["requests"]["resent"], conn["requests"]["reordered"]), (0, 1))

    def test_overtaken_and_asked_for_too_early_is_not_lost_either(self):
        s = Script()
        s.req(1), s.req(2)
        s.idents[A] += 1
        s.req(4), s.req(5)
        s.ack(3, SEQ)
        s.req(3, ident=3)  # overtaken by two, and by the NAK
        for psn in (3, 4, 5, 6):
            s.req(psn)
        s.ack(6)
        result = self.result(s)
        self.assertEqual([(f["what"], f["verdict"], f["psn"]) for f in result["findings"]],
                         [("reordered", "no_loss", 3)] * 2)
        conn = result["connections"][0]["requests"]
        self.assertEqual((conn["resent_by"]["nak"], conn["reordered"]), (3, 1))

    def test_twice_is_not_sent_again(self):
        for ident in (True, False):
            s = Script(ident)
            s.req(1), s.req(2), s.req(3)
            s.req(3, wait=200, ident=s.idents[A])
            s.req(4), s.ack(4)
            found, conn = self.one(s)
            self.check(found, what="duplicate", verdict="no_loss", psn=3)
            self.assertEqual(conn["requests"]["resent"], 0)

    def test_too_far_back_breaks_go_back_n(self):
        s = Script()
        for psn in range(1, 9):
            s.req(psn)
        nak = s.ack(5, SEQ)
        for psn in range(1, 9):
            s.req(psn)
        s.req(9), s.ack(9)
        result = self.result(s)
        self.assertEqual(sorted(f["what"] for f in result["findings"]), ["breach", "loss"])
        self.assertEqual([f["psn"] for f in result["findings"] if f["what"] == "loss"], [5])
        breach = next(f for f in result["findings"] if f["what"] == "breach")
        self.assertEqual(self.frames(breach), [nak, nak + 1])
        self.assertEqual(self.rule(result, "go_back_n")["verdict"], "broken")

    def test_selective_repeat_is_told_apart(self):
        s = Script()
        for psn in (1, 2, 4, 5, 6):
            s.req(psn)
        s.ack(3, SEQ)
        s.req(3), s.req(7), s.req(8), s.ack(8)
        found, conn = self.one(s)
        self.check(found, what="loss", verdict="network", where="before", psn=3, cause="nak")
        self.assertEqual(conn["go_back_n"], {"as_asked": 0, "otherwise": 0, "selective": 1})

    def test_weft_s_selective_nak_refuses_nothing(self):
        """An ATOMIC ACK with the reserved NAK code 31, for each packet behind the gap."""
        s = Script()
        s.req(1), s.req(2)
        for i in range(8):  # until so many came it may have been overtaken
            s.req(4 + i)
            s.ack(3, 0x7F, opcode=0x12, data=struct.pack(">Q", (2 << i) - 1), wait=2 * US)
        s.req(3), s.req(12), s.ack(12)
        found, conn = self.one(s)
        self.check(found, what="loss", verdict="network", where="before", psn=3, cause="nak")
        self.assertEqual(conn["go_back_n"]["selective"], 1)
        self.assertEqual((conn["answers"]["sequence_naks"], conn["answers"]["error_naks"],
                          conn["answers"]["repeated_naks"]), (8, 0, 0))

    def test_an_ack_that_passed_and_did_not_help(self):
        s = Script()
        s.req(1), s.ack(1), s.req(2)
        ack = s.ack(2)
        again = s.req(2, wait=70 * MS)
        s.ack(2)
        found, conn = self.one(s)
        self.check(found, what="spurious", verdict="network", cause="duplicate", psn=2, response=True)
        self.assertEqual(self.frames(found), [ack, again])

    def test_the_timer_is_named(self):
        for n in (8, 14, 18):
            s = Script()
            s.req(1), s.ack(1), s.req(2)
            s.req(2, wait=int(4096 * 2 ** n * 1.01)), s.ack(2), s.req(3), s.ack(3)
            found, conn = self.one(s)
            self.check(found, what="unanswered", verdict="network", cause="timeout", psn=2)
            self.assertEqual(conn["stalls"]["ack_timeout_exponent"], n)

    def test_a_damaged_packet(self):
        s = Script()
        s.req(1), s.ack(1)
        bad = s.req(2, spoil=True)
        s.req(3), s.ack(2, SEQ), s.req(2), s.req(3), s.ack(3)
        found, conn = self.one(s)
        self.check(found, what="damaged", verdict="network", psn=2, cause="nak")
        self.assertEqual((self.frames(found)[0], conn["icrc"]["wrong"]), (bad, 1))

    def test_read_responses(self):
        def script(lost, again):
            s = Script()
            s.req(1, WFIRST, 1024), s.req(2, WLAST), s.ack(2)  # the path MTU is 1024
            s.req(3, READ, dma=4096)
            kinds = [RFIRST, RMID, RMID, RLAST]
            for i, kind in enumerate(kinds):
                if i != lost:
                    s.ack(3 + i, opcode=kind, data=bytes(1024))
            if again:
                s.req(3 + lost, READ, dma=4096 - 1024 * lost)
                for i in range(lost, 4):
                    kind = RONLY if lost == 3 else RFIRST if i == lost else kinds[i]
                    s.ack(3 + i, opcode=kind, data=bytes(1024))
            for psn in range(7, 12):
                s.req(psn, WRITE), s.ack(psn)
            return s
        result = self.result(script(9, False))
        self.assertEqual(result["findings"], [])
        conn = result["connections"][0]
        self.assertEqual((conn["answers"]["read_responses"], conn["requests"]["gaps"]), (4, 0))
        for lost in (1, 2):
            found, conn = self.one(script(lost, True))
            self.check(found, what="loss", verdict="network", cause="read_again", where="before",
                       psn=3 + lost, response=True)
            found, conn = self.one(script(lost, False))
            self.check(found, what="loss", verdict="cannot_tell", psn=3 + lost, response=True)

    def test_read_responses_that_the_capture_lost(self):
        s = Script()
        s.req(1, WFIRST, 1024), s.req(2, WLAST), s.ack(2)
        for i in range(300):
            psn = 3 + 3 * i
            s.req(psn, READ, dma=3072)
            for j, kind in enumerate((RFIRST, RMID, RLAST)):
                if (i, j) != (7, 1):
                    s.ack(psn + j, opcode=kind, data=bytes(1024))
        found, _ = self.one(s)
        self.check(found, what="loss", verdict="capture", psn=25, response=True)

    def test_no_answers_to_unreliable_services(self):
        s = Script()
        for psn in (1, 2, 3, 6, 7):
            s.req(psn, 0x20 | SEND)
        found, conn = self.one(s)
        self.check(found, what="loss", verdict="cannot_tell", psn=4, packets=2)
        self.assertEqual(conn["service"], "UC")

    def test_a_new_connection_of_the_same_queue_pairs(self):
        s = Script()
        s.req(1), s.ack(1), s.req(5000000), s.ack(5000000), s.req(5000001), s.ack(5000001)
        found, conn = self.one(s)
        self.check(found, what="jump", psn=5000000)
        self.assertEqual(conn["requests"]["gaps"], 0)

    def test_cnps_and_the_profiles(self):
        def script(gap):
            s = Script()
            for psn in range(1, 41):
                s.req(psn, tos=0x6B)
                s.packet(B, 0x81, 0, bytes(16), wait=gap)
                s.ack(psn)
            return s
        result = self.result(script(60 * US))
        conn = result["connections"][0]
        self.assertEqual((conn["congestion"]["cnps"], conn["congestion"]["ce_packets"]), (40, 40))
        self.assertEqual(self.rule(result, "cnp_cause")["verdict"], "kept")
        self.assertEqual(self.rule(result, "cnp_pacing")["verdict"], "cannot_tell")
        for nic, gap, want in (("generic", 60, "kept"), ("generic", 20, "broken"), ("cx5", 20, "kept"),
                               ("cx6", 1, "broken"), ("cx4", 1, "broken")):
            result = self.result(script(gap * US), "--nic", nic)
            self.assertEqual(self.rule(result, "cnp_pacing")["verdict"], want, (nic, gap))

    def test_a_mirror_of_both_directions_shows_all_of_it_twice(self):
        s = Script()
        for psn in (1, 2, 4, 5):
            s.req(psn)
        s.ack(3, SEQ)
        for psn in (3, 4, 5, 6):
            s.req(psn)
        s.ack(6)
        both = []
        for f in s.frames:
            both += [f, cap.Frame(f.t_ns + 300, f.data)]
        s.frames = both
        result = self.result(s)
        self.assertEqual([(f["what"], f["psn"]) for f in result["findings"] if f["what"] != "duplicate"],
                         [("loss", 3)])
        self.assertEqual(result["connections"][0]["requests"]["resent"], 3)
        self.assertEqual(self.rule(result, "one_nak_a_gap")["verdict"], "kept")

    def cm(self, s, src, attr, body):
        mad = struct.pack("!BBBBHHQHHI", 1, 7, 2, 3, 0, 0, 1, attr, 0, 0) + body
        s.packet(src, 100, 0, struct.pack("!II", 0x80010000, 1) + mad + bytes(256 - len(mad)), qp=1)

    def test_connection_managers_tell_who_answers_whom(self):
        def script(connect):
            s = Script(ident=False)
            for i in range(2) if connect else ():
                req = struct.pack("!I28xI", 100 + i, (0x20 + i) << 8)
                rep = struct.pack("!III4s", 200 + i, 100 + i, 0, ((0x30 + i) << 8).to_bytes(4, "big"))
                self.cm(s, A, 0x10, req)
                self.cm(s, B, 0x13, rep)
            for psn in (7, 8):  # in step with each other: nothing else tells them apart
                for i in range(2):
                    s.packet(A, SEND, psn, bytes(32), qp=0x30 + i)
                for i in range(2):
                    s.packet(B, ACK, psn, struct.pack("!I", OK << 24 | 1), qp=0x20 + i)
            return s
        conns = self.result(script(True))["connections"]
        self.assertEqual(sorted((c["dqpn"], c["sqpn"], c["paired_by"]) for c in conns if c["dqpn"] > 1),
                         [(0x30, 0x20, "cm"), (0x31, 0x21, "cm")])
        conns = self.result(script(False))["connections"]
        self.assertEqual({c["paired_by"] for c in conns}, {"none"})

    def test_stalls_have_a_reason(self):
        s = Script()
        s.req(1), s.ack(1)
        s.req(2, wait=5 * MS)
        late = s.ack(2, wait=7 * MS)
        s.req(3), s.ack(3)
        found, conn = self.one(s)
        self.check(found, what="stall", verdict="no_loss", psn=3)
        self.assertEqual(found["frames"][0]["number"], late - 1)
        self.assertEqual((conn["stalls"]["idle"]["n"], conn["stalls"]["waiting_ack"]["n"]), (1, 1))

    def test_a_paused_sender(self):
        s = Script()
        s.req(1), s.ack(1), s.req(2)
        quanta = struct.pack("!HH8H", 0x0101, 1 << 3, 0, 0, 0, 0xFFFF, 0, 0, 0, 0)
        s.frames.append(cap.Frame(s.t, bytes.fromhex("0180c2000001") + gen.MAC[3] + b"\x88\x08" + quanta +
                                  bytes(28)))
        s.req(3, wait=3 * MS), s.ack(3)
        found, conn = self.one(s)
        self.check(found, what="stall", psn=3)
        self.assertIn("paused", found["note"])
        self.assertEqual(conn["stalls"]["pause"]["n"], 1)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
