#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft analyze against what is known: fabrics drawn from seeds lose packets, by faults and by buffers,
and record which; captures at hosts and switches are thinned, begun late, cut short, snapped, one-sided;
and no finding may say that the network lost what it did not lose, or the capture what is in it."""
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import captures as cap

# More of them: SEEDS="200 201" tests/analyze/test_truth.py
SEEDS = [int(s) for s in os.environ.get("SEEDS", "30 34 36 41 42 62 74 77 83 94").split()]
POINTS = {"h0": "h0:p0", "h1": "h1:p0", "l1": "leaf0:p1", "l2": "leaf0:p2"}


def flow(rng, i):
    op = rng.choice(["write"] * 4 + ["send"] * 2 + ["read"] * 3 + ["write_imm", "fetch_add"])
    size = rng.choice(["8kB", "64KiB", "200kB", "1000B", "256B"]) if op != "fetch_add" else "8B"
    count = rng.choice([1, 4] if size == "200kB" else [1, 4, 20])
    a, b = rng.sample(["h0", "h1", "h2"], 2)
    window = f", window: {rng.choice(['8KiB', '32KiB', '1MiB'])}" if rng.random() < 0.3 else ""
    return (f"{{name: f{i}, from: {a}, to: {b}, size: {size}, count: {count}, op: {op}, "
            f"path_mtu: {rng.choice([256, 1024, 1024, 4096])}, "
            f"ack_timeout: {rng.choice(['262.144us', '1.048576ms', '4.194304ms'])}{window}}}")


def fault(rng):
    what = rng.choice(["do: drop"] * 3 + ["do: corrupt, crc: fcs", "do: duplicate, copies: 2"])
    return (f"{{{what}, where: 'leaf0:p{rng.randrange(3)}', dir: {rng.choice(['out', 'in'])}, "
            f"match: {rng.choice(['roce_data', 'roce_data', 'roce_ack', 'roce'])}, "
            f"probability: {rng.choice(['1/13', '1/47', '1/97'])}, may_not_fire: true}}")


def scenario(rng):
    text = ("weft: 1\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 3}\nduration: 400ms\n"
            f"links: {{'*': {{rate: {rng.choice(['1Gbps', '10Gbps', '100Gbps'])}, "
            f"delay: {rng.choice(['50ns', '1us', '5us'])}}}}}\n"
            f"workload: [{', '.join(flow(rng, i) for i in range(rng.randint(1, 3)))}]\n"
            f"faults: [{', '.join(fault(rng) for _ in range(rng.randint(0, 3)))}]\n")
    if rng.random() < 0.3:
        text += "switches: {'*': {buffer: 100kB, pg: {3: {lossless: false}}}}\n"
    return text


def captures_of():
    return "capture:\n  - {at: '*', file: all.pcapng, snaplen: 80B}\n" + "".join(
        f"  - {{at: '{at}', file: {name}.pcapng, drops: false}}\n" for name, at in POINTS.items())


def key(f):
    return ".".join(str(b) for b in f.data[30:34]), f.qp, f.psn


def spoil(rng, frames):
    """(how, frames that are left, what is gone, snaplen)"""
    how = rng.choice(["thin", "burst", "begin", "end", "requests", "one side", "snap", "thin+snap",
                      "thin+begin"])
    share, cut, snap = rng.choice([0.005, 0.03, 0.2]), rng.randrange(len(frames) + 1), 262144
    side = rng.choice([f.src for f in frames])
    gone = collections.Counter()
    kept = []
    for i, f in enumerate(frames):
        lost = ("thin" in how and rng.random() < share or "begin" in how and i < cut or
                how == "end" and i > cut or how == "burst" and cut <= i < cut + 40 or
                how == "requests" and not f.request() or how == "one side" and f.src != side)
        if lost and f.roce():
            gone[key(f)] += 1
        elif not lost:
            kept.append(f)
    if "snap" in how:
        snap = rng.choice([64, 80, 96, 128])
    return how, kept, gone, snap


class Truth(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-analyze-")
        self.addCleanup(shutil.rmtree, self.dir)

    def run_it(self, text, seed=1):
        done = subprocess.run([cap.WEFT, "run", "--quiet", "--seed", str(seed), "-"], check=False,
                              input=(text + captures_of()).encode(), cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        dropped = {key(f) for f in cap.read(self.dir + "/all.pcapng") if f.drop and f.roce()}
        return dropped, {p: cap.read(f"{self.dir}/{p}.pcapng") for p in POINTS}

    def wrong(self, files, dropped, gone):
        """Findings that say what is not so."""
        result = cap.analyze(*files)
        conns = {c["stream"]: c for c in result["connections"]}
        for f in result["findings"]:
            if f["verdict"] not in ("network", "capture") or f["what"] == "jump":
                continue
            c = conns[f["stream"]]
            to, qp, back = c["dst"], c["dqpn"], (c["src"], c.get("sqpn"))
            if f["response"]:
                to, qp = back
            for psn in range(f["psn"], f["psn"] + f["packets"]):
                if f["verdict"] == "capture":
                    if not any(k[0] == to and k[2] == psn and qp in (k[1], None) for k in gone):
                        yield f
                    continue
                near = range(1 if f["exact"] else 300)
                ok = any(k[0] == to and qp in (k[1], None) and (psn - k[2]) & 0xffffff in near
                         for k in dropped)
                # the answer may be what was lost, and then it is said so
                answers = f["what"] in ("unanswered", "spurious") or f["cause"] == "timeout" or "READ" in f["note"]
                if not ok and not (answers and any(k[0] == back[0] for k in dropped)):
                    yield f

    def test_drawn(self):
        seen = collections.Counter()
        for seed in SEEDS:
            rng = random.Random(seed)
            dropped, points = self.run_it(scenario(rng), seed)
            for point, frames in points.items():
                cases = [("whole", frames, {}, 262144)]
                if frames:
                    cases.append(spoil(rng, frames))
                for how, kept, gone, snap in cases:
                    with self.subTest(seed=seed, point=point, how=how, snap=snap):
                        path = cap.write(self.dir + "/x.pcap", kept, snap)
                        self.assertEqual(list(self.wrong([path], dropped, gone)), [])
                        seen[how] += 1
        self.assertGreater(len(seen), 6)

    def test_two_places(self):
        """Each spoiled on its own, by clocks that are apart and drift."""
        for seed in (402, 406, 409, 412, 417, 421):
            rng = random.Random(seed)
            dropped, points = self.run_it(scenario(rng), seed)
            places = rng.sample([p for p in POINTS if points[p]], 2)
            gone, args, hows = collections.Counter(), [], []
            skew, drift = rng.randrange(10**6), rng.uniform(-40e-6, 40e-6)
            for i, place in enumerate(places):
                how, kept, lost, snap = spoil(rng, points[place])
                kept = [cap.Frame(int(f.t_ns * (1 + drift * i)) + skew * i, f.data, f.wire)
                        for f in kept]
                path = cap.write(f"{self.dir}/{i}.pcap", kept, snap)
                args += ["--point", f"{place}={path}"]
                gone.update(lost)
                hows.append(how)
            with self.subTest(seed=seed, places=places, hows=hows):
                self.assertEqual(list(self.wrong(args, dropped, gone)), [])

    def test_a_sender_that_leaves_out_what_was_acknowledged_meanwhile(self):
        """Timers that are too short for the queue: nothing is lost, by anybody."""
        dropped, points = self.run_it(
            "weft: 1\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 3}\n"
            "links: {'*': {rate: 1Gbps, delay: 1us}}\n"
            "workload:\n" + "".join(
                f"  - {{name: f{i}, from: h{i}, to: h2, size: 200kB, count: 4, path_mtu: 1024, "
                "ack_timeout: 262.144us}\n" for i in range(2)))
        self.assertEqual(dropped, set())
        for point, frames in points.items():
            with self.subTest(point=point):
                result = cap.analyze(cap.write(self.dir + "/x.pcap", frames))
                self.assertEqual([f for f in result["findings"] if f["verdict"] == "capture"], [])
                if point.startswith("h0"):  # the sender's: answers come before all is repeated
                    self.assertGreater(result["summary"]["resent"], 100)
                    self.assertNotEqual(result["verdict"], "network_loss")

    def test_what_a_receiver_still_waits_for(self):
        """It asks once; each time that it is sent again and lost, only the timer helps."""
        dropped, points = self.run_it(
            "weft: 1\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 3}\n"
            "workload: [{name: f, from: h0, to: h1, size: 64KiB, count: 1, path_mtu: 1024, "
            "ack_timeout: 1.048576ms}]\n"
            "faults: [{do: drop, where: 'leaf0:p0', dir: in, psn: +20, iteration: 1},\n"
            "         {do: drop, where: 'leaf0:p0', dir: in, psn: +20, iteration: 2},\n"
            "         {do: drop, where: 'leaf0:p0', dir: in, psn: +20, iteration: 3}]\n")
        (to, qp, psn), = dropped
        for point in ("h0", "h1", "l1"):
            frames = points[point]
            result = cap.analyze(cap.write(self.dir + "/x.pcap", frames))
            lost = [f for f in result["findings"] if f["verdict"] == "network"]
            self.assertEqual({(f["psn"], f["exact"]) for f in lost}, {(psn, True)}, (point, to, qp))
            self.assertEqual(result["summary"]["lost"]["capture"], 0)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
