#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The fuzz driver finds planted bugs, keeps the input, says how to repeat it, and is repeatable.

usage: test_driver.py PROGRAM, which is planted.c with the driver
"""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else ""


def run(*args):
    env = dict(os.environ, ASAN_OPTIONS="abort_on_error=1", UBSAN_OPTIONS="halt_on_error=1")
    return subprocess.run([PROGRAM, *args], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=100,
                          check=False)


class Driver(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.corpus = os.path.join(self.dir.name, "corpus")
        os.mkdir(self.corpus)

    def write(self, data, name="a", where=None):
        path = os.path.join(where or self.corpus, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def crashes(self):
        return sorted(f for f in os.listdir(self.dir.name) if f.startswith("crash-"))

    def fuzz(self, *more):
        return run("--corpus", self.corpus, "--out", self.dir.name, *more)

    def test_finds_a_failed_check_and_repeats_it(self):
        self.write(b"wf0")
        done = self.fuzz("--seconds", "30")
        self.assertLess(done.returncode, 0, done.stdout)
        self.assertIn("'data[2] < 0x80' does not hold", done.stdout)
        found, = self.crashes()
        path = os.path.join(self.dir.name, found)
        self.assertIn(f"repeat with: {PROGRAM} {path}", done.stdout)
        with open(path, "rb") as f:
            self.assertGreaterEqual(f.read()[2], 0x80)
        self.assertLess(run("--out", self.dir.name, path).returncode, 0)

    def test_finds_a_crash(self):
        done = self.write(b"wfs") and self.fuzz("--runs", "1")
        self.assertNotEqual(done.returncode, 0)
        with open(os.path.join(self.dir.name, self.crashes()[0]), "rb") as f:
            self.assertEqual(f.read(), b"wfs")

    def test_finds_a_hang(self):
        done = run("--hang", "1", "--out", self.dir.name, self.write(b"wfh"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("takes too long", done.stdout)
        self.assertEqual(len(self.crashes()), 1)

    def test_the_same_seed_finds_the_same(self):
        self.write(b"wf0")
        found = []
        for _ in range(2):
            self.fuzz("--seconds", "30", "--seed", "5")
            name = os.path.join(self.dir.name, self.crashes()[0])
            with open(name, "rb") as f:
                found.append(f.read())
            os.unlink(name)
        self.assertEqual(found[0], found[1])

    def test_good_inputs_pass(self):
        self.write(b"xy")
        done = self.fuzz("--runs", "1000")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("1 inputs of the corpus and 1000 changed ones", done.stdout)

    def test_wrong_use(self):
        for args in ([], ["--corpus"], ["--nonsense", "1"], ["--corpus", "/nonexistent"],
                     ["/nonexistent"], ["--corpus", self.corpus]):
            self.assertEqual(run(*args).returncode, 2, args)


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit(__doc__)
    unittest.main()
