#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The record of decisions (weft run --why): each number is added up again from the frames that came
and left, and each verdict is taken again by the scenario's own numbers."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
XOFF, XON, KMIN, KMAX, PMAX, BUFFER = 60000, 40000, 30000, 90000, 0.5, 2000000
# Three hosts send to one, over two leaves: leaf 0 pauses h1 and the spine, the spine leaf 1.
INCAST = (f"weft: 1\ntopology: {{leaves: 2, spines: 1, hosts_per_leaf: 2}}\nswitches: {{'*': {{buffer: "
          f"{BUFFER}B, pg: {{3: {{lossless: true, xoff: {XOFF}B, xon: {XON}B}}}}, queue: {{3: {{ecn: true, "
          f"kmin: {KMIN}B, kmax: {KMAX}B, pmax: 50%}}}}}}}}\n"
          "workload: [{name: f, kind: incast, from: 'h[1-3]', to: h0, size: 400kB, path_mtu: 1024}]\n")
# Two hosts fill a lossy queue of 20 kB.
LOSSY = ("weft: 1\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 3}\n"
         "switches: {'*': {queue: {3: {limit: 20kB}}}}\nworkload: [{name: f, kind: incast, "
         "from: 'h[1-2]', to: h0, size: 100kB, path_mtu: 1024}]\n")


def weft(*args, text=None):
    done = subprocess.run([WEFT, *args], input=text, capture_output=True, text=True, timeout=100,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class Node:
    """What is in one node, added up from its records."""

    def __init__(self):
        self.pg, self.queue = defaultdict(int), defaultdict(int)
        self.held = {}
        self.marked = False  # the packet that is leaving was looked at by WRED
        self.stopped = set()


class Why(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="weft-why.")
        cls.addClassCleanup(shutil.rmtree, cls.dir)

    def record(self, text, *args, name="why.jsonl"):
        path = os.path.join(self.dir, name)
        code, out, err = weft("run", "--no-capture", "--why", path, *args, "-", text=text)
        self.assertEqual(code, 0, out + err)
        with open(path, encoding="ascii") as f:
            lines = f.read().splitlines()
        head, *recs = map(json.loads, lines)
        self.assertEqual(head["schema"], "weft.why/1")
        return head, recs, re.search(r"digest (\S+)", out).group(1)

    def test_the_same_on_any_number_of_lcores_and_without_influence(self):
        _, out, _ = weft("run", "-", text=INCAST)
        files = []
        for n in (1, 2, 4):
            _, recs, digest = self.record(INCAST, "--lcores", str(n), name=f"{n}.jsonl")
            self.assertIn(digest, out)
            files.append(recs)
        self.assertEqual(files[0], files[1])
        self.assertEqual(files[0], files[2])
        times = [r["t_ps"] for r in files[0]]
        self.assertEqual(times, sorted(times))

    def check_admit(self, r, node):
        pg = (r["at"], r["pg"])
        self.assertEqual(r["pg_bytes"], node.pg[pg], r)
        # what is above XOFF is headroom, which is each group's own and no part of the pool
        self.assertEqual(r["pool_bytes"], sum(min(b, XOFF) for b in node.pg.values()), r)
        ports = 2 if r["at"].startswith("spine") else 3
        self.assertEqual(r["pool_size_bytes"], BUFFER - ports * r["headroom_bytes"])
        self.assertEqual(r["queue_bytes"], node.queue[r["out"], r["queue"]], r)
        self.assertEqual((r["pg_limit_bytes"], r["lossless"]), (XOFF, True))
        fits = r["pg_bytes"] + r["len"] <= XOFF + r["headroom_bytes"]
        self.assertEqual(r["verdict"], "admitted" if fits else "lossless_drop")
        node.pg[pg] += r["len"]
        node.held[r["born_ps"], r["dqpn"], r["psn"]] = pg
        # XOFF follows at once, unless it was sent before
        return r["at"] if node.pg[pg] > XOFF and r["at"] not in node.stopped else None

    def check_mark(self, r, node):
        q = r["queue_bytes"]
        self.assertEqual(q, node.queue[r["at"], r["queue"]], r)
        self.assertEqual((r["kmin_bytes"], r["kmax_bytes"]), (KMIN, KMAX))
        if KMIN <= q < KMAX:
            self.assertAlmostEqual(r["chance"], PMAX * (q - KMIN) / (KMAX - KMIN), 8)
            yes = r["draw"] < r["chance"]
        else:
            self.assertNotIn("chance", r)
            yes = q >= KMAX
        self.assertEqual(r["verdict"] != "not marked", yes, r)
        return yes

    def test_every_verdict_taken_again(self):
        _, recs, _ = self.record(INCAST)
        nodes, due, seen, chances = defaultdict(Node), None, defaultdict(int), []
        for r in recs:
            node, what = nodes[r["at"].split(":")[0]], r["what"]
            seen[what] += 1
            if due:
                self.assertEqual((what, r["at"], r["prio"]), ("xoff", due, 3))
                self.assertGreater(r["pg_bytes"], XOFF)
                self.assertEqual(r["pg_bytes"], node.pg[due, 3])
                node.stopped.add(due)
            elif what == "xoff":
                self.fail(f"XOFF without need: {r}")
            due = self.check_admit(r, node) if what == "admit" else None
            if what == "enqueue":
                if r["at"].startswith("leaf"):  # a host's next goes ahead of the one that leaves
                    self.assertEqual(r["queue_bytes"], node.queue[r["at"], r["queue"]], r)
                node.queue[r["at"], r["queue"]] += r["len"]
                node.held[r["dqpn"], r["psn"], r["at"]] = r["t_ps"]
            elif what == "mark":  # of the queue behind it
                node.queue[r["at"], r["queue"]] -= r["len"]
                chances.append(self.check_mark(r, node))
                node.marked = True
            elif what == "dequeue":
                if not node.marked:
                    node.queue[r["at"], r["queue"]] -= r["len"]
                node.marked = False
                self.leave(r, node)
            elif what == "xon":
                # it goes ahead of the departure that lets it go on
                self.assertLessEqual(r["pg_bytes"], XON)
                node.stopped.discard(r["at"])
        for what in ("arrival", "admit", "enqueue", "mark", "dequeue", "xoff", "xon", "pause_tx",
                     "pause_rx"):
            self.assertGreater(seen[what], 10, what)
        self.assertEqual(seen["drop"], 0)
        self.assertGreater(len(set(chances)), 1)
        self.assertTrue(not any(n.pg.values()) and not any(n.queue.values())
                            for n in nodes.values())

    def leave(self, r, node):
        who = (r["born_ps"], r["dqpn"], r["psn"])
        self.assertEqual(r["waited_ps"], r["t_ps"] - node.held.pop((*who[1:], r["at"])))
        self.assertLessEqual(r["paused_ps"], r["waited_ps"])
        pg = node.held.pop(who, None)
        if pg:  # a host's own frame is in no buffer
            node.pg[pg] -= r["len"]

    def test_pauses_arrive_as_they_were_sent(self):
        _, recs, _ = self.record(INCAST)
        sent = [(r["peer"], r["at"], r["prio"], r["quanta"]) for r in recs if r["what"] == "pause_tx"]
        got = [(r["at"], r["peer"], r["prio"], r["quanta"]) for r in recs if r["what"] == "pause_rx"]
        self.assertEqual(sorted(sent), sorted(got))
        for r in recs:
            if r["what"] == "pause_rx" and r["quanta"]:  # 100G: a quantum is 5.12 ns
                self.assertEqual(r["until_ps"], r["t_ps"] + r["quanta"] * 5120)
                self.assertEqual(r["queue"], 3)

    def test_a_full_queue_drops(self):
        result = os.path.join(self.dir, "lossy.json")
        _, recs, _ = self.record(LOSSY, "--json", result)
        refused = [i for i, r in enumerate(recs) if r.get("verdict") == "egress_full"
                   and r["what"] == "admit"]
        self.assertGreater(len(refused), 5)
        for i in refused:
            r = recs[i]
            self.assertGreater(r["queue_bytes"] + r["len"], 20000)
            self.assertEqual(r["queue_limit_bytes"], 20000)
            self.assertEqual((recs[i + 1]["what"], recs[i + 1]["verdict"]), ("drop", "egress_full"))
        for r in recs:
            if r["what"] == "admit" and r["verdict"] == "admitted":
                self.assertLessEqual(r["queue_bytes"] + r["len"], 20000)
        with open(result, encoding="ascii") as f:
            queue = next(q for q in json.load(f)["queues"] if q["name"] == "leaf0:p0.q3")
        self.assertEqual((queue["drop_frames"], queue["drop_bytes"]),
                         (len(refused), sum(recs[i]["len"] for i in refused)))

    def ask(self, *words, name="why.jsonl"):
        code, out, err = weft("why", os.path.join(self.dir, name), *words)
        self.assertEqual((code, err), (0, ""))
        return out

    def test_a_packet_by_the_numbers_of_a_link(self):
        """One flow alone on 100G, links of 1 us, no latency in the switch. The first packet is 16 bytes
        longer: each other one waits as long for it."""
        text = ("weft: 1\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 2}\nlinks: {'*': {delay: 1us}}\n"
                "switches: {'*': {latency: 0}}\nworkload: [{name: f, kind: flow, from: h0, to: h1, size: "
                "10kB, path_mtu: 1024}]\n")
        head, recs, _ = self.record(text)
        psn = (head["flows"][0]["first_psn"] + 3) & 0xffffff
        size = next(r["len"] for r in recs if r.get("psn") == psn)
        wire = (size + 20) * 80  # ps
        first = next(r["len"] for r in recs if r.get("psn") == head["flows"][0]["first_psn"]) + 20
        sent = first * 80 + 2 * wire
        came = sent + (size + 8) * 80 + 1000000  # the last bit, behind the preamble
        out = self.ask("flow.f", "packet", "3")
        self.assertEqual(out, self.ask(f"flow.f psn {psn}"))
        self.assertEqual(out, self.ask("qp", str(head["flows"][0]["dqpn"]), "psn", str(psn))
                         .replace(f"queue pair {head['flows'][0]['dqpn']}", "flow.f"))
        lines = out.splitlines()
        self.assertEqual(lines[0], f"flow.f psn {psn}:")

        def us(ps):
            return f"{ps / 1e6:.6f}".rstrip("0").rstrip(".") + "us" if ps >= 1e6 else \
                f"{ps / 1e3:.3f}".rstrip("0").rstrip(".") + "ns"
        self.assertRegex(lines[1], rf"^  h0 +{us(sent)}  left by p0: q3 held it for ")
        self.assertRegex(lines[2], rf"^  leaf0 +{us(came)}  in by p0: PG 3 held 0 of .* bytes.*, the buffer "
                                   r"0 of .*, p1.q3 0.*: admitted$")
        self.assertRegex(lines[3], rf"^  leaf0 +{us(came + 1280)}  left by p1: q3 held it for 1.28ns "
                                   "behind 0 bytes$")
        self.assertRegex(lines[4], rf"^  h1 +{us(came + 1280 + (size + 8) * 80 + 1000000)}  arrived at p0$")
        self.assertEqual(len(lines), 5)

    def test_pauses_lead_to_the_root(self):
        _, recs, _ = self.record(INCAST.replace("h[1-3]", "h[1-2]").replace("400kB", "1MB, window: 1MB"))
        far = next(r for r in recs if r["what"] == "xoff" and r["at"].startswith("leaf1:p0"))
        out = self.ask("pause", far["at"], "prio", "3", "at", f"{far['t_ps']}ps")
        chain = re.findall(r"(\S+) stopped priority 3 of (\S+) at (\S+), until", out)
        self.assertEqual([(a, b) for a, b, _ in chain],
                         [("leaf1:p0", "h2:p0"), ("spine0:p1", "leaf1:p2"), ("leaf0:p2", "spine0:p0")])
        self.assertIn("on the way to leaf1:p2.q3", out)
        self.assertTrue(out.rstrip().endswith("and was not stopped: the root"))
        self.assertIn("leaf0:p0.q3", out.splitlines()[-1])
        # whom it stopped asks the same
        at = next(r for r in recs if r["what"] == "pause_rx" and r["at"] == "h2:p0" and r["quanta"]
                  and r["t_ps"] > far["t_ps"])["t_ps"]
        self.assertEqual(self.ask("pause", "h2:p0", "at", f"{at}ps"), out)
        slow = self.ask("flow.f:h2-h0", "slowest")
        self.assertIn("leaf0:p2 stopped priority 3 of spine0:p0", slow)
        for words, why in ((["pause", "leaf0:p0"], "none of the ports with pauses fits 'leaf0:p0'; there are "),
                           (["pause", far["at"], "at", "1ps"], "neither stopped its peer nor was stopped at 0.001ns"),
                           (["pause", far["at"], "until", "1ps"], "expected prio N or at TIME"),
                           (["flow.f", "psn", "1"], "none of the flows fits 'flow.f'"),
                           (["flow.f:h1-h0", "psn", "77"], "nothing is recorded of flow.f:h1-h0 psn 77"),
                           (["flow.f:h1-h0", "nsp", "77"], "(psn N, packet N, slowest)"),
                           (["puase", "x"], "did you mean 'pause'"), ([], "no question")):
            code, said, err = weft("why", os.path.join(self.dir, "why.jsonl"), *words)
            self.assertEqual((code, said), (2, ""), err)
            self.assertIn(why, err)

    def test_drops_are_explained(self):
        _, recs, _ = self.record(LOSSY)
        n = sum(r["what"] == "drop" for r in recs)
        out = self.ask("drops")
        self.assertEqual(out.count("refused, egress_full: egress queue over its limit"), min(n, 20))
        self.assertEqual("more" in out, n > 20)
        first = next(r for r in recs if r["what"] == "drop")
        self.assertIn("sent again", self.ask("qp", str(first["dqpn"]), "psn", str(first["psn"])))
        self.assertEqual(self.ask("drops", "h0:p0"), "nothing was dropped at h0:p0\n")

    def acceptance(self, scenario):
        path = os.path.join(self.dir, "acceptance.jsonl")
        result = os.path.join(self.dir, "acceptance.json")
        code, out, err = weft("run", "--quiet", "--no-capture", "--why", path, "--json", result,
                              os.path.join(SOURCE, "scenarios/acceptance", scenario))
        self.assertEqual(code, 0, out + err)
        with open(path, encoding="ascii") as f:
            recs = [json.loads(line) for line in f][1:]
        with open(result, encoding="ascii") as f:
            return recs, json.load(f)

    def test_storms_are_recorded_as_they_are_counted(self):
        recs, result = self.acceptance("pfcwd-drop.yaml")
        storms = [r for r in recs if r["what"] == "watchdog"]
        for w in result["pfc_watchdogs"]:
            mine = [r["verdict"] for r in storms if f"{r['at']}.pfcwd{r['prio']}" == w["name"]]
            self.assertEqual(mine.count("storm"), w["storm_detected_events"])
            self.assertEqual(mine.count("restored"), w["storm_restored_events"])
            drops = [r for r in recs if r["what"] == "drop" and r["verdict"].startswith("pfcwd_")]
            self.assertEqual(len(drops), w["storm_tx_drop_frames"] + w["storm_rx_drop_frames"])
        self.assertIn(f"{storms[0]['at']}: a storm of priority 3 since ",
                      self.ask("drops", name="acceptance.jsonl"))

    def test_trims_are_told(self):
        recs, result = self.acceptance("trimming-symmetric.yaml")
        trims = [r for r in recs if r["what"] == "trim"]
        self.assertEqual(len(trims), sum(p.get("trim_frames", 0) for p in result["ports"]))
        for i, r in enumerate(recs):
            if r["what"] == "trim":  # what is left is admitted again, for the other queue
                self.assertEqual((recs[i + 1]["what"], recs[i + 1]["queue"]), ("admit", r["to_queue"]))
                self.assertLess(r["len"], r["was_bytes"])
        out = self.ask("qp", str(trims[0]["dqpn"]), "psn", str(trims[0]["psn"]), name="acceptance.jsonl")
        self.assertIn(f"egress_full: trimmed from {trims[0]['was_bytes']:,} to {trims[0]['len']:,} "
                      f"bytes, for q{trims[0]['to_queue']} with DSCP {trims[0]['to_dscp']}", out)

    def test_a_frame_of_a_capture(self):
        cap = os.path.join(self.dir, "c.pcapng")
        why = os.path.join(self.dir, "cap.jsonl")
        text = INCAST + f"capture: [{{at: 'leaf*:p*', file: {cap}}}]\n"
        self.assertEqual(weft("run", "--quiet", "--why", why, "-", text=text)[0], 0)
        with open(why, encoding="ascii") as f:
            recs = [json.loads(line) for line in f][1:]
        out = ""
        for n in range(1, 2000):  # one that is marked by a draw
            code, out, err = weft("why", f"{cap}#{n}")
            self.assertEqual(code, 0, err)
            if "draw" in out and "marked CE" in out:
                break
        qp, psn = map(int, re.search(r"queue pair (\d+) psn (\d+):", out).groups())
        mark = next(r for r in recs if r["what"] == "mark" and "draw" in r and r["verdict"] == "marked"
                    and (r["dqpn"], r["psn"]) == (qp, psn))
        chance, draw = re.search(rf"{mark['at']} .* chance (\S+)%, draw (\S+)%; marked CE", out).groups()
        self.assertAlmostEqual(float(chance), mark["chance"] * 100, delta=1e-4)
        self.assertAlmostEqual(float(draw), mark["draw"] * 100, delta=1e-4)
        self.assertIn(f"was {mark['queue_bytes']:,} bytes", out)
        admit = next(r for r in recs if r["what"] == "admit" and (r["dqpn"], r["psn"]) == (qp, psn)
                     and r["out"] == mark["at"])
        self.assertIn(f"PG 3 held {admit['pg_bytes']:,} of {XOFF:,} bytes, the buffer "
                      f"{admit['pool_bytes']:,}", out)
        code, whole, err = weft("why", f"{cap}#{n}", why)
        self.assertEqual(code, 0, err)
        self.assertEqual(whole, self.ask("qp", str(qp), "psn", str(psn), name="cap.jsonl").replace(
            f"queue pair {qp}", whole.split(" psn")[0]))
        code, _, err = weft("why", f"{cap}#999999")
        self.assertEqual(code, 2)
        self.assertIn("has no frame 999999, but ", err)

    def test_files_that_are_no_record(self):
        for text, why in (("", "is no record"), ("{}\n", "is no record"),
                          ('{"schema": "weft.why/1"}\nnonsense\n', ":2:1: this is no recorded decision"),
                          ('{"schema": "weft.why/1"}\n{"at": 7}\n', "no recorded decision")):
            code, _, err = weft("why", "-", "drops", text=text)
            self.assertEqual(code, 2)
            self.assertIn(why, err)

    def test_only_what_is_asked_for(self):
        section = "why: {at: 'leaf0:*', flows: 'flow.f:h2-h0', last: 50, file: %s}\n"
        path = os.path.join(self.dir, "own.jsonl")
        code, _, err = weft("run", "--quiet", "-", text=INCAST + section % path)
        self.assertEqual(code, 0, err)
        with open(path, encoding="ascii") as f:
            head, *recs = map(json.loads, f)
        self.assertEqual((head["decisions"], len(recs)), (50, 50))
        flow = next(f for f in head["flows"] if f["name"] == "flow.f:h2-h0")
        self.assertTrue(all(r["at"].startswith("leaf0:") for r in recs))
        self.assertEqual({r["dqpn"] for r in recs if "dqpn" in r}, {flow["dqpn"]})
        every = self.record(INCAST)[1]
        same = [r for r in every if r["at"].startswith("leaf0:")
                and r.get("hash", flow["hash"]) == flow["hash"]]
        self.assertEqual(recs, same[-50:])
        self.assertEqual(head["left_out"], len(same) - 50)
        code, _, _ = weft("run", "--quiet", "--no-why", "-", text=INCAST + section % "/no/such")
        self.assertEqual(code, 0)
        code, _, err = weft("run", "--quiet", "-", text=INCAST + section % "/no/such/file")
        self.assertEqual(code, 3)
        self.assertIn("cannot write /no/such/file", err)

    def test_wrong_sections(self):
        for section, why in (("{at: 'leaf9:*'}", "'leaf9:*' matches no port"),
                             ("{flows: [flow.g]}", "'flow.g' matches no flow"),
                             ("{last: 0}", "last"), ("{ta: x}", "did you mean 'at'"),
                             ("[x]", "mapping")):
            code, out, err = weft("check", "-", text=INCAST + f"why: {section}\n")
            self.assertEqual(code, 2, section)
            self.assertIn(why, out + err)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
