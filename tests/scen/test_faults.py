#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Faults of scenarios as people write them: mistakes with their place, what never fired, what the
wire holds by tshark and by an ICRC that is not weft's, digests on several lcores."""
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

WEFT = os.environ["WEFT"]
TWO = "weft: 1\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
FLOW = "workload: [{name: f, from: h0, to: h1, size: 20kB, count: 5}]\n"


def weft(*args, text=None, cwd=None):
    done = subprocess.run([WEFT, *args], input=text, capture_output=True, text=True, timeout=100,
                          check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def run(faults, *args, base=TWO + FLOW, capture=False, cwd=None):
    args = ("run", *(() if capture else ("--no-capture",)), "--json", "-", *args, "-")
    code, out, err = weft(*args, text=base + "faults:\n" + faults, cwd=cwd)
    return code, json.loads(out) if out else None, err


def icrc_is_right(frame):
    """By zlib's CRC: what a switch may change counts as ones."""
    end = 14 + struct.unpack_from(">H", frame, 16)[0]
    masked = bytearray(b"\xff" * 8 + frame[14:end - 4])
    for at in (8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + 26, 8 + 27, 8 + 28 + 4):
        masked[at] = 0xff
    return struct.pack("<I", zlib.crc32(masked)) == frame[end - 4:end]


def frames(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            yield data[at + 28:at + 28 + struct.unpack_from("<I", data, at + 20)[0]]
        at += length


class Faults(unittest.TestCase):
    def refused(self, line, says, col):
        code, _, err = weft("check", "-", text=TWO + FLOW + "faults:\n  - " + line + "\n")
        self.assertEqual(code, 2, err)
        self.assertRegex(err, rf"stdin:5:{col}: error: .*" + re.escape(says))

    def test_mistakes_have_their_place(self):
        self.refused("{do: dropp, where: 'leaf0:p0'}", "did you mean 'drop'", 10)
        self.refused("{where: 'leaf0:p0'}", "'do' is missing", 5)
        self.refused("{do: drop}", "'where' is missing", 5)
        self.refused("{do: drop, where: 'leaf7:p0'}", "matches no port", 23)
        self.refused("{do: drop, where: 'leaf[:p0'}", "", 23)
        self.refused("{do: drop, where: 'leaf0:p0', psn: 5-x}", "'5-x' is no PSN", 40)
        self.refused("{do: drop, where: 'leaf0:p0', psm: 5}", "did you mean 'psn'", 35)
        self.refused("{do: drop, where: 'leaf0:p0', flow: g}", "'g' is no flow", 41)
        self.refused("{do: drop, where: 'leaf0:p0', from: h2}", "neither a host nor an address", 41)
        self.refused("{do: drop, where: 'leaf0:p0', qp: '#1'}", "'from' and 'to' are missing", 39)
        self.refused("{do: drop, where: 'leaf0:p0', opcode: [ack, nack]}", "'nack' is no opcode", 43)
        self.refused("{do: drop, where: 'leaf0:p0', timer: 3}", "'timer' does not go with drop", 42)
        self.refused("{do: rnr, where: 'leaf0:p0', timer: 32}", "out of range", 41)
        self.refused("{do: drop, where: 'leaf0:p0', after: 5}", "", 42)
        self.refused("{do: delay, where: 'leaf0:p0'}", "'delay' is missing", 5)
        code, _, err = weft("check", "-", text=TWO + FLOW + "faults: {do: drop}\n")
        self.assertEqual(code, 2)
        self.assertIn("stdin:4:9: error: faults: expected a list", err)

    def test_what_never_fired_is_an_error(self):
        at = "{do: drop, where: 'leaf0:p0', match: control"
        code, result, _ = run(f"  - {at}}}\n")
        self.assertEqual((code, result["verdict"]), (1, "failed"))
        code, out, _ = weft("run", "--no-capture", "-", text=TWO + FLOW + f"faults:\n  - {at}}}\n")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: faults.0: drop leaf0:p0 never hit a frame", out)
        code, result, _ = run(f"  - {at}, may_not_fire: true}}\n")
        self.assertEqual((code, result["verdict"]), (0, "passed"))
        # at several ports it is one
        code, result, _ = run("  - {do: drop, where: 'leaf*', flow: f, match: roce_data, nth: 2}\n")
        self.assertEqual(code, 0)
        self.assertGreater(result["faults"][0]["ports"], 3)
        self.assertEqual(result["faults"][0]["hit_frames"], 2)  # towards h1 at two hops
        # an answer to a queue pair that nothing has told of comes to nothing, and says so
        text = TWO + FLOW + "faults:\n  - {do: nak, where: 'leaf1:p0', match: roce_data, nth: 1}\n"
        code, out, _ = weft("run", "--no-capture", "-", text=text)
        self.assertEqual(code, 1)
        self.assertIn("1 times it could not: ", out)
        self.assertIn("reply_qp", out)

    def test_only_what_is_ecn_capable_is_marked(self):
        at = "{do: ce, where: 'leaf1:p0', match: roce, flow: f, opcode: ack%s}"
        text = TWO + FLOW + "faults:\n  - " + at % "" + "\n"
        code, out, _ = weft("run", "--no-capture", "-", text=text.replace("leaf1:p0", "leaf0:p0"))
        self.assertEqual(code, 1)
        self.assertRegex(out, r"faults.0: ce leaf0:p0: \d+ frames that it meant were not ECN-capable")
        self.assertIn("FAILED: faults.0: ce leaf0:p0 never hit a frame", out)

    def test_a_flow_that_connects_is_a_flow(self):
        """Its queue pairs are known from the connection manager, at any port that sees it."""
        base = TWO + ("hosts: {h1: {listen: {port: 7471}}}\nworkload: [{name: f, from: h0, to: h1, "
                      "size: 20kB, count: 5, connect: 7471}, {name: g, from: h0, to: h1, size: 20kB, "
                      "count: 5, connect: 7471}]\n")
        for at in ("leaf1:p0", "leaf0:p1"):
            code, result, err = run(f"  - {{do: drop, where: '{at}', flow: g, match: roce_data, "
                                    "psn: '+3', iteration: 1}\n"
                                    f"  - {{do: duplicate, where: '{at}', flow: g, match: roce_data}}\n"
                                    f"  - {{do: delay, where: '{at}', dir: in, flow: g, match: roce_ack, "
                                    "delay: 1us, limit: 2}\n", base=base)
            self.assertEqual(code, 0, err)
            flows = {f["name"]: f for f in result["flows"]}
            self.assertEqual({f["completed_messages"] for f in flows.values()}, {5})
            self.assertEqual(flows["flow.g"]["naks_received"], 1)
            self.assertEqual(flows["flow.f"].get("naks_received", 0), 0)
            self.assertEqual([x["hit_frames"] for x in result["faults"]][::2], [1, 2])
            self.assertGreaterEqual(result["faults"][1]["hit_frames"], 25)

    def test_inject_says_what_is_missing(self):
        for words, says in (("rate", "which link, and which rate?"),
                            ("rate leaf0:p1", "which rate? (weft inject rate leaf0:p1 20Mbps)"),
                            ("rate --at leaf0:p1", "which rate? (weft inject rate leaf0:p1 20Mbps)"),
                            ("rate leaf0:p1 10", "rate '10' has no unit"),
                            ("rate leaf0:p1 1Gbps 2Gbps", "'1Gbps' is one word too many"),
                            ("rate leaf0:p1 1Gbps --psn 3", "--psn does not go with rate"),
                            ("down", "at which port or link?"),
                            ("down leaf0:p1 --psn 3", "--psn does not go with down"),
                            ("up leaf0:p1 --priority 3", "--priority does not go with up"),
                            ("drop leaf0:p1 17", "'17' is one word too many"),
                            ("drop leaf0:p1 --priority 3", "--priority does not go with drop"),
                            ("pause leaf0:p1 --priority 3", "--priority does not go with pause"),
                            ("drop leaf0:p1 --force true", "--force does not go with drop"),
                            ("delay leaf0:p1", "how long? (--delay 10us)"),
                            ("flap leaf0:p1", "down for how long?"),
                            ("flap leaf0:p1 --down-for 1ms --count 2", "how often?"),
                            ("flap leaf0:p1 --down-for 1ms --psn 2", "--psn does not go with flap"),
                            ("down leaf0:p1 --period 1ms", "--period does not go with down"),
                            ("drop leaf0:p1 --trigger time", "--trigger does not go with drop"),
                            ("pfc leaf0:p1", "which priority is to be stopped?")):
            code, _, err = weft("inject", *words.split())
            self.assertEqual(code, 2, err)
            self.assertIn(says, err)

    def test_a_link_flaps(self):
        flap = "timeline: [{at: 10us, do: link_flap, link: 'leaf0-spine0', down_for: 2us%s}]\n"
        text = TWO + FLOW + flap % ", period: 5us, limit: 3"
        code, out, err = weft("run", "--no-capture", "--json", "-", "-", text=text)
        self.assertEqual(code, 0, err)
        downs = {p["name"]: p.get("link_down_events", 0) for p in json.loads(out)["ports"]}
        self.assertEqual((downs["leaf0:p1"], downs["spine0:p0"]), (3, 3))
        self.assertEqual(downs.get("leaf1:p1", 0), 0)
        by_hand = "timeline:\n" + "".join(
            f"  - {{at: {t}us, do: link_{'up' if i % 2 else 'down'}, link: 'leaf0-spine0'}}\n"
            for i, t in enumerate((10, 12, 15, 17, 20, 22)))
        hand = weft("run", "--no-capture", "--json", "-", "-", text=TWO + FLOW + by_hand)[1]
        self.assertEqual(json.loads(out)["digest"], json.loads(hand)["digest"])
        for more, says in ((", period: 2us, limit: 2", "'period' has to be longer"),
                           (", limit: 1001", "more than 1000 flaps"),
                           (", rate: 1Gbps", "'rate' does not go with link_flap")):
            code, _, err = weft("check", "-", text=TWO + FLOW + flap % more)
            self.assertEqual(code, 2)
            self.assertIn(says, err)

    def test_model_hosts_feel_it(self):
        def flow(faults):
            code, result, err = run(faults)
            self.assertEqual(code, 0, err)
            return result["flows"][0]
        plain = flow("  - {do: drop, where: 'leaf0:p0', match: control, may_not_fire: true}\n")
        self.assertEqual((plain["completed_messages"], plain.get("naks_received", 0)), (5, 0))
        # one loss: one NAK, and all messages complete
        f = flow("  - {do: drop, where: 'leaf1:p0', flow: f, match: roce_data, psn: '+7', "
                 "iteration: 1}\n")
        self.assertEqual((f["completed_messages"], f["naks_received"]), (5, 1))
        self.assertGreater(f["retransmitted_packets"], 0)
        # the second time too: the NAK of the first is answered, then a timeout brings it
        f = flow("  - {do: drop, where: 'leaf1:p0', flow: f, match: roce_data, psn: '+7', "
                 "limit: 2}\n")
        self.assertEqual(f["completed_messages"], 5)
        self.assertEqual(f["timeouts"] + f["naks_received"], 2)
        # a duplicate is counted as one, each
        f = flow("  - {do: duplicate, where: 'leaf1:p0', flow: f, match: roce_data, every: 5}\n")
        self.assertEqual((f["duplicates_received"], f["completed_messages"]), (5, 5))
        # a swap is a gap for go-back-N
        f = flow("  - {do: reorder, where: 'leaf1:p0', flow: f, match: roce_data, nth: 11}\n")
        self.assertIn(f["naks_received"], (1, 2))
        self.assertEqual(f["completed_messages"], 5)
        # errors that the requester is told of end the flow at its first message
        for code in ("invalid_request", "remote_access", "remote_operational"):
            f = flow(f"  - {{do: nak, code: {code}, where: 'leaf0:p0', flow: f, nth: 1}}\n")
            self.assertGreater(f["failed_messages"], 0)
        # a ghost: the message is lost, and nobody resends it
        f = flow("  - {do: cnp, where: 'leaf0:p0', flow: f, nth: 2}\n")
        self.assertEqual(f["cnps_received"], 1)

    def test_conservation_counts_what_was_made(self):
        _, result, _ = run("  - {do: duplicate, where: 'leaf0:p1', nth: 3, copies: 4}\n"
                           "  - {do: cnp, where: 'leaf0:p0', nth: 1}\n"
                           "  - {do: drop, where: 'leaf1:p0', nth: 1}\n")
        fabric = result["fabric"]
        self.assertEqual((fabric["replicated_frames"], fabric["injected_frames"]), (4, 1))
        self.assertEqual(result["drops"],
                         [{"port": "leaf1:p0", "reason": "injected", "frames": 1}])

    def test_digests_do_not_depend_on_lcores(self):
        faults = ("  - {do: delay, where: 'leaf*', probability: 1/9, delay: 3us}\n"
                  "  - {do: reorder, where: 'spine*', probability: 1/20, behind: 2}\n"
                  "  - {do: duplicate, where: 'leaf*', every: 17, copies: 2}\n"
                  "  - {do: corrupt, where: 'h*', probability: 1/50, crc: icrc, part: ext}\n"
                  "  - {do: cnp, where: 'leaf*', every: 3}\n"
                  "  - {do: drop, where: 'spine*', iteration: 2, may_not_fire: true}\n"
                  "  - {do: nak, where: 'leaf*', match: roce_data, probability: 1/99, "
                  "may_not_fire: true}\n")
        base = ("weft: 1\ntopology: {leaves: 4, spines: 2, hosts_per_leaf: 4}\nworkload: "
                "[{name: p, kind: permutation, from: 'h*', size: 100kB, count: 2}]\n")
        results = [run(faults, "--lcores", str(n), base=base) for n in (1, 2, 4)]
        self.assertEqual([r[0] for r in results], [0, 0, 0], results[0][2])
        self.assertEqual(len({r[1]["digest"] for r in results}), 1)
        self.assertTrue(all(f["hit_frames"] for f in results[0][1]["faults"][:5]))

    def test_fc_O10_an_incast_that_loses_marks_or_pauses(self):
        """Two senders to one: by the queue pairs' counters in the summary it can be told whether
        the fabric loses (NAKs, timeouts), marks (CNPs) or pauses (neither)."""
        def rows(pg, queue, nic):
            text = ("weft: 1\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 3}\nswitches: {'*': "
                    f"{{pg: {{3: {pg}}}, queue: {{3: {queue}}}}}}}\nhosts: {{'*': {{nic: {nic}}}}}\n"
                    "workload: [{name: in, kind: incast, from: 'h[1-2]', to: h0, size: 1MB, "
                    "dscp: 26, ecn: ect}]\n")
            code, out, err = weft("run", "--no-capture", "-", text=text)
            self.assertEqual(code, 0, out + err)
            found = re.findall(r"^  flow\.in:\S+ +1\.000MB +\S+ +\S+ +(\d+) +(\d+) +(\d+) +(\d+) "
                               r"+(\d+)$", out, re.M)
            self.assertEqual(len(found), 2, out)
            return [dict(zip(("resent", "naks", "timeouts", "cnps", "ce"), map(int, f)))
                    for f in found]
        for f in rows("{lossless: false, limit: 30kB}", "{ecn: false}", "{cnp: 'off'}"):
            self.assertTrue(f["resent"] and f["naks"] + f["timeouts"], f)
            self.assertEqual(f["cnps"] + f["ce"], 0)
        for f in rows("{lossless: false}", "{ecn: true, kmin: 10kB, kmax: 20kB, pmax: 100%}",
                      "{cnp: 'on'}"):
            self.assertTrue(f["cnps"] and f["ce"], f)
            self.assertEqual(f["naks"] + f["timeouts"] + f["resent"], 0)
        for f in rows("{lossless: true}", "{ecn: false}", "{cnp: 'on'}"):
            self.assertEqual(sum(f.values()), 0)

    @unittest.skipIf(shutil.which("tshark") is None, "tshark is not installed")
    def test_damaged_telemetry_is_none(self):
        """What HPCC reads was changed on the way, and the ICRC made right for it: the count of
        places in data and in acknowledgements."""
        base = (TWO + "cc: {hp: {law: hpcc}}\nhosts: {'*': {mtu: 4400}}\nworkload: [{name: f, "
                "from: h0, to: h1, size: 64kB, cc: hp, path_mtu: 1024}]\n")
        for where in ("where: 'leaf1:p0'", "where: 'leaf0:p0', match: roce_ack"):
            code, result, err = run(f"  - {{do: corrupt, {where}, crc: repaired, part: payload, "
                                    "offset: 1, bytes: 1, flip: 0x7f}\n", base=base)
            self.assertEqual(code, 0, err)
            self.assertEqual(result["flows"][0]["delivered_bytes"], 64000)

    def test_the_wire_holds_what_was_asked_for(self):
        base = TWO + FLOW + "capture: [{at: 'h0:p0', file: c.pcapng}]\n"
        faults = ("  - {do: nak, code: psn_sequence, where: 'leaf0:p0', flow: f, nth: 1, "
                  "matched: pass, answer_psn: '+1'}\n"
                  "  - {do: rnr, timer: 14, where: 'leaf0:p0', flow: f, nth: 2, matched: pass}\n"
                  "  - {do: cnp, where: 'leaf0:p0', flow: f, nth: 3}\n"
                  "  - {do: nak, code: remote_access, where: 'leaf0:p0', flow: f, nth: 4}\n")
        with tempfile.TemporaryDirectory() as d:
            code, _, err = run(faults, base=base, capture=True, cwd=d)
            self.assertEqual(code, 0, err)
            path = os.path.join(d, "c.pcapng")
            out = subprocess.run(
                ["tshark", "-r", path, "-Y", "ip.src == 10.1.0.1", "-T", "fields", "-e",
                 "infiniband.bth.opcode", "-e", "infiniband.aeth.syndrome", "-e",
                 "infiniband.bth.psn", "-e", "infiniband.bth.destqp", "-e", "ip.dsfield.dscp"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
            rows = [line.split("\t") for line in out.splitlines()]
            ops = [int(r[0], 0) for r in rows]
            self.assertEqual(ops.count(0x81), 1, out)
            syndromes = [int(r[1], 0) for r in rows if r[1]]
            self.assertEqual([s for s in syndromes if s & 0x60], [0x60, 0x2e, 0x62], out)
            self.assertEqual(len({r[3] for r in rows}), 1, out)
            cnp = rows[ops.index(0x81)]
            self.assertEqual(cnp[4], "48")
            self.assertTrue(all(icrc_is_right(f) for f in frames(path)
                                if f[12:14] == b"\x08\x00" and f[23] == 17))


if __name__ == "__main__":
    unittest.main()
