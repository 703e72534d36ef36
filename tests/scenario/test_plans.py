#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What expectations can't say of some scenarios of scenarios/acceptance and scenarios/field: which
packets were marked, how likely a number of marks is, what a summary says."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

WEFT = os.path.abspath(os.environ.get("WEFT", "build/emu/weft"))
SOURCE = os.path.abspath(os.environ.get("WEFT_SOURCE", "."))


def run(path, *args, cwd=None, code=0):
    done = subprocess.run([WEFT, "run", *args, path], check=False, cwd=cwd, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)
    if done.returncode != code:
        raise AssertionError(f"{path}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def result(path, *args):
    return json.loads(run(path, "--no-capture", "--json", "-", *args))


def path_of(name):
    folder = "field" if name.startswith("fc_") else "acceptance"
    return os.path.join(SOURCE, "scenarios", folder, name + ".yaml")


def convolved(a, b):
    out = [0.0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        if x > 1e-30:
            for k, y in enumerate(b):
                out[i + k] += x * y
    return out


class Plans(unittest.TestCase):
    def test_ecn_egress_order(self):
        """The first hundred packets that leave are marked, the last hundred are not."""
        with tempfile.TemporaryDirectory() as d:
            run(path_of("ecn-egress-order"), "--quiet", cwd=d)
            done = subprocess.run(["tshark", "-r", "ecn-egress-order.pcapng", "-T", "fields", "-e",
                                   "ip.dsfield.ecn"], check=True, cwd=d, capture_output=True,
                                  text=True)
        self.assertEqual(done.stdout.split(), ["3"] * 100 + ["2"] * 100)

    def test_ecn_marking_accuracy(self):
        """Marks of 200 runs, less the ten of each that are certain, against the exact distribution
        of a sum of draws whose probabilities rise from 0 to 5%."""
        runs = result(path_of("ecn-marking-accuracy"))["runs"]
        self.assertEqual(len(runs), 200)
        marks = sum(q["ecn_marked_frames"] for r in runs for q in r["queues"]
                    if q["name"] == "leaf0:p1.q3")
        one = [1.0]
        for k in range(1500):
            p = float(Fraction(5 * k, 100 * 1500))
            one = convolved(one, [1 - p, p])[:128]
        total, power, n = [1.0], one, len(runs)
        while n:
            if n & 1:
                total = convolved(total, power)
            power = convolved(power, power) if n > 1 else power
            n //= 2
        at_most = sum(total[:marks - 10 * len(runs) + 1])
        print(f"{marks} marks, {10 * len(runs)} of them certain; P(at most so many) {at_most:.4f}")
        self.assertGreater(at_most, 1e-6)
        self.assertLess(at_most, 1 - 1e-6)

    def test_fc_e4_names_the_flow(self):
        text = run(path_of("fc_E4"), "--no-capture")
        self.assertIn("hint: flow.gda:h1-h0 is in no lossless class: its DSCP 0 is priority group "
                      "0 at leaf0:p1. So are 8 of 16 flows in all.", text)
        self.assertNotIn("no lossless class", run(path_of("fc_E2"), "--no-capture"))


if __name__ == "__main__":
    sys.exit(unittest.main())
