#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft analyze on captures as production makes them: thinned by capture drops, cut by a snaplen, one
direction only, begun in the middle. Every injected fault is named and nothing else is; what cannot
be told is said to be so."""
import gzip
import os
import random
import shutil
import struct
import sys
import tempfile
import unittest

import captures as cap

SCENARIO = """weft: 1
topology: {leaves: 2, spines: 1, hosts_per_leaf: 1}
workload: [{name: f, from: h0, to: h1, size: 256kB, count: 4, path_mtu: 1024, window: 32KiB,
            ack_timeout: 1.048576ms}]
timeline: [{at: 0, do: inject_drop, where: 'leaf0:p1', every: 97}]
capture:
  - {at: '*', file: drops.pcapng, snaplen: 64B}
  - {at: 'h0:p0', file: sender.pcapng, drops: false}
  - {at: 'h1:p0', file: receiver.pcapng, drops: false}
"""


def numbers(result, verdict):
    out = []
    for f in result["findings"]:
        if f["verdict"] == verdict and f["what"] != "jump":
            out += [(f["psn"] + i, f["exact"]) for i in range(f["packets"])]
    return out


class SoftRoce(unittest.TestCase):
    """A lab's capture of the kernel's soft-RoCE (tests/data/README.md): the drops are in it."""

    def test_the_kernels_requester_and_responder(self):
        path = os.path.join(cap.SOURCE, "tests", "data", "rxe-loss.pcapng.gz")
        with gzip.open(path) as f, tempfile.NamedTemporaryFile() as raw:
            raw.write(f.read())
            raw.flush()
            frames = cap.read(raw.name)
        drops = [f.psn for f in frames if f.drop == "injected"]
        self.assertEqual(len(drops), 10)
        result = cap.analyze(path)
        named = [f for f in result["findings"] if f["verdict"] == "network"]
        # one was dropped while the receiver waited for another: nobody has missed it
        self.assertEqual(sorted(f["psn"] for f in named), sorted(set(drops) - {4274992}))
        self.assertEqual(sum(result["summary"]["lost"].values()), len(named))
        conn = max(result["connections"], key=lambda c: c["requests"]["packets"])
        self.assertEqual((conn["go_back_n"]["as_asked"], conn["answers"]["sequence_naks"]), (8, 8))
        tail = next(f for f in named if f["psn"] == max(drops))
        self.assertEqual((tail["what"], tail["cause"]), ("unanswered", "timeout"))
        self.assertEqual(conn["stalls"]["ack_timeout_exponent"], 14)  # perftest's default
        reads = next(c for c in result["connections"] if "READ Request" in c["requests"]["opcodes"])
        self.assertEqual((reads["answers"]["read_responses"], reads["answers"]["gaps"]), (80, 0))


class Production(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="weft-analyze-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cap.run(SCENARIO, cls.dir)
        cls.drops = {f.psn for f in cap.read(cls.dir + "/drops.pcapng") if f.drop}
        cls.points = {p: cap.read(f"{cls.dir}/{p}.pcapng") for p in ("sender", "receiver")}
        assert len(cls.drops) > 9

    def analyze(self, frames, snap=262144):
        return cap.analyze(cap.write(self.dir + "/x.pcap", frames, snap))

    def judge(self, result, removed):
        """Nothing is said that is not so; what was dropped is named or said to be untold."""
        network, untold = numbers(result, "network"), {p for p, _ in numbers(result, "cannot_tell")}
        for psn, exact in network:
            near = {psn} if exact else set(range(psn - 40, psn + 1))
            self.assertTrue(near & self.drops, f"PSN {psn} was not lost in the network")
        for psn, _ in numbers(result, "capture"):
            self.assertIn(psn, removed, f"PSN {psn} was not lost by the capture")
        named = set()
        for psn, exact in network:
            named |= {psn} if exact else set(range(psn - 40, psn + 1))
        self.assertEqual(self.drops - named - untold, set())
        return {p for p, exact in network if exact}

    def test_thinned(self):
        for point, frames in self.points.items():
            for seed in range(8):
                with self.subTest(point=point, seed=seed):
                    rng = random.Random(seed)
                    kept, removed = [], set()
                    for i, f in enumerate(frames):
                        if 0 < i < len(frames) - 3 and rng.random() < 0.03:
                            removed.add(f.psn)
                        else:
                            kept.append(f)
                    result = self.analyze(kept)
                    exact = self.judge(result, removed)
                    self.assertGreater(len(exact), len(self.drops) * 0.7)
                    seen = {p for p, _ in numbers(result, "capture")}
                    self.assertGreater(len(seen), 5)

    def test_snapped(self):
        for point, frames in self.points.items():
            for snap in (64, 96, 128):
                with self.subTest(point=point, snap=snap):
                    result = self.analyze(frames, snap)
                    self.assertEqual(self.judge(result, set()), self.drops)
                    self.assertEqual(numbers(result, "cannot_tell") + numbers(result, "capture"), [])
                    conn = result["connections"][0]
                    self.assertEqual(conn["path_mtu"], 1024)
                    self.assertEqual(conn["requests"]["new_bytes"], 1024000)
                    self.assertEqual(result["capture"]["points"][0]["snapped_to_bytes"], snap
                                     if snap < 128 else 128)

    def test_snapped_before_the_headers_end(self):
        result = self.analyze(self.points["sender"], 50)
        self.assertEqual(result["findings"], [])
        self.assertGreater(result["capture"]["points"][0]["cut_before_bth"], 1000)
        # the AETH is gone: an ACK may be a NAK
        result = self.analyze(self.points["sender"], 54)
        self.assertEqual(self.judge(result, set()) - self.drops, set())
        self.assertEqual(numbers(result, "capture"), [])
        self.assertGreater(result["connections"][0]["answers"]["cut"], 0)

    def test_requests_only(self):
        for point, frames in self.points.items():
            with self.subTest(point=point):
                result = self.analyze([f for f in frames if f.request()])
                self.judge(result, set())
                conn = result["connections"][0]
                self.assertEqual({p for p, _ in numbers(result, "network")}, self.drops)
                self.assertEqual(conn["requests"]["resent_by"]["unseen"], conn["requests"]["resent"])
                self.assertEqual(conn["paired_by"], "none")

    def test_the_capture_says_what_it_lost(self):
        # without answers, and nothing sent again: only the capture's own word is left
        frames = [f for f in self.points["receiver"] if f.request()]
        first = next(i for i, f in enumerate(frames) if f.psn - frames[0].psn > i)
        lost = frames[first].psn - 1
        for drops, verdict, network in ((None, "cannot_tell", 0), (0, "network_loss", 1),
                                        (1, "cannot_tell", 0)):
            with open(self.dir + "/x.pcapng", "wb") as f:
                f.write(cap.pcapng(frames[:first + 5], drops))
            result = cap.analyze(self.dir + "/x.pcapng")
            self.assertEqual((result["verdict"], result["summary"]["lost"]["network"]),
                             (verdict, network))
            self.assertEqual([f["psn"] for f in result["findings"]], [lost])
            point = result["capture"]["points"][0]
            self.assertEqual((point["name"], point.get("capture_drops")), ("eth0", drops))
            self.assertEqual(result["connections"][0]["lost"]["network"], network)

    def test_a_broken_statistics_block_is_told(self):
        data = bytearray(cap.pcapng(self.points["sender"][:9], 0))
        at = data.rindex(struct.pack("<HH", 5, 8))  # isb_ifdrop
        data[at + 2] = 7
        with open(self.dir + "/x.pcapng", "wb") as f:
            f.write(data)
        result = cap.analyze(self.dir + "/x.pcapng", want=2)
        self.assertIn("isb_ifdrop", result["capture"]["error"])
        self.assertEqual(result["capture"]["frames"], 9)

    def test_answers_only(self):
        result = self.analyze([f for f in self.points["sender"] if not f.request()])
        self.assertEqual(numbers(result, "network") + numbers(result, "capture"), [])
        self.assertEqual(result["connections"][0]["answers"]["sequence_naks"], len(self.drops))

    def test_requests_only_and_thinned(self):
        rng = random.Random(1)
        frames = [f for f in self.points["sender"] if f.request()]
        kept = [f for i, f in enumerate(frames) if i < 3 or rng.random() > 0.03]
        result = self.analyze(kept)
        self.assertEqual(numbers(result, "capture"), [])
        self.assertGreater(len(numbers(result, "cannot_tell")), 5)

    def test_begun_in_the_middle(self):
        for point, frames in self.points.items():
            for share in (3, 5, 7):
                with self.subTest(point=point, share=share):
                    rest = frames[len(frames) * share // 10:]
                    result = self.analyze(rest)
                    self.assertEqual(numbers(result, "capture"), [])
                    first = next(f.psn for f in rest if f.request())
                    exact = {p for p, e in numbers(result, "network") if e}
                    self.assertEqual(exact - self.drops, set())
                    self.assertEqual({d for d in self.drops if d > first + 64} - exact, set())

    def test_ended_in_the_middle(self):
        frames = self.points["sender"]
        for end in range(300, 420, 7):
            result = self.analyze(frames[:end])
            self.assertEqual({p for p, e in numbers(result, "network") if e} - self.drops, set())
            self.assertEqual(numbers(result, "capture"), [])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
