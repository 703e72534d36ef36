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
        self.pg, self.queue, self.pool = defaultdict(int), defaultdict(int), 0
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
        self.assertEqual(r["pool_bytes"], node.pool, r)
        self.assertEqual(r["pool_size_bytes"], BUFFER)
        self.assertEqual(r["queue_bytes"], node.queue[r["out"], r["queue"]], r)
        self.assertEqual((r["pg_limit_bytes"], r["lossless"]), (XOFF, True))
        fits = r["pg_bytes"] + r["len"] <= XOFF + r["headroom_bytes"]
        self.assertEqual(r["verdict"], "admitted" if fits else "lossless_drop")
        node.pg[pg] += r["len"]
        node.pool += r["len"]
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
        self.assertTrue(all(not n.pool and not any(n.queue.values()) for n in nodes.values()))

    def leave(self, r, node):
        who = (r["born_ps"], r["dqpn"], r["psn"])
        self.assertEqual(r["waited_ps"], r["t_ps"] - node.held.pop((*who[1:], r["at"])))
        self.assertLessEqual(r["paused_ps"], r["waited_ps"])
        pg = node.held.pop(who, None)
        if pg:  # a host's own frame is in no buffer
            node.pg[pg] -= r["len"]
            node.pool -= r["len"]

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
        _, recs, _ = self.record(LOSSY)
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
