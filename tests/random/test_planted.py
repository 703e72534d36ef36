#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The random runs find planted bugs within a few seeds, and shrink them to something to look at.

usage: test_planted.py GOOD XON HEADROOM LIMIT ORDER: random_case, and builds of it with plant.c
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS_MAX = 200
PROGRAMS = []


def size_of(path):
    """Hosts, workloads and steps of a shrunk case, which is written one of them a line."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    hosts = set(re.findall(r"\bh\d+\b", text.split("topology:")[1].split("\n")[0]))
    return len(hosts), len(re.findall(r"^  - \{name", text, re.M)), text.count("do: ")


class Planted(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def find(self, program, kinds, *more):
        """Its first failure is one of these; the shrunk case is small, and the good build's fine."""
        good = PROGRAMS[0]
        cmd = [sys.executable, os.path.join(HERE, "seeds.py"), "--program", program, "--seeds",
               str(SEEDS_MAX), "--out", self.dir.name, "--tries", "800", *more]
        done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=500, check=False)
        if done.returncode == 77:
            self.skipTest(done.stdout.splitlines()[-1])
        self.assertEqual(done.returncode, 1, done.stdout)
        seed = re.search(r"^repeat with: .* --seed (\d+)$", done.stdout, re.M).group(1)
        kind = re.search(rf"^seed {seed}: ([\w:./]+): ", done.stdout, re.M).group(1)
        self.assertIn(kind, kinds, done.stdout)
        case = os.path.join(self.dir.name, f"seed-{seed}.yaml")
        hosts, flows, steps = size_of(case)
        print(f"{os.path.basename(program)}: seed {seed}, {kind}; shrunk to {hosts} hosts, "
              f"{flows} workloads, {steps} steps")
        self.assertLessEqual(hosts, 4, done.stdout)
        self.assertLessEqual(flows, 2, done.stdout)
        self.assertEqual(steps, 0, done.stdout)
        said = subprocess.run([good, case], stdout=subprocess.PIPE, text=True, check=False)
        self.assertTrue(said.stdout.startswith("ok "), said.stdout)
        return case

    def fails_again(self, program, case):
        said = subprocess.run([program, case], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(said.returncode, 1)
        self.assertTrue(said.stdout.startswith("bad "), said.stdout)

    def test_a_lost_xon(self):
        self.fails_again(PROGRAMS[1], self.find(PROGRAMS[1], ["lost_xon"]))

    def test_headroom_of_a_byte_less(self):
        self.fails_again(PROGRAMS[2], self.find(PROGRAMS[2], ["tight_headroom", "early_drop"]))

    def test_headroom_of_a_byte_more(self):
        self.fails_again(PROGRAMS[3], self.find(PROGRAMS[3], ["loose_headroom", "over_headroom"]))

    def test_an_order_of_insertion(self):
        self.find(PROGRAMS[4], ["digest", "fabric_check"], "--against", PROGRAMS[0])


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    PROGRAMS = [os.path.abspath(p) for p in sys.argv[1:]]
    unittest.main(argv=sys.argv[:1])
