#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Congestion controls outside of the tree: the example is built against the one header, runs, is traced
and swept; broken ones end with a message that names them, and with their exit status."""
import csv
import os
import shutil
import subprocess
import tempfile
import unittest

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
SOURCE = os.path.abspath(os.environ.get("WEFT_SOURCE", "."))
EXAMPLES = os.path.join(SOURCE, "docs", "examples")


def weft(*words):
    return subprocess.run([WEFT, *words], stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True,
                          timeout=300)


class Plugin(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.scenario = os.path.join(self.dir, "aimd.yaml")
        shutil.copy(os.path.join(EXAMPLES, "aimd.yaml"), self.scenario)

    def build(self, *changes):
        """The example with texts changed; the header is all that it may see of weft."""
        with open(os.path.join(EXAMPLES, "aimd.c"), encoding="utf-8") as f:
            text = f.read()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        path = os.path.join(self.dir, "aimd.c")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        shutil.copy(os.path.join(SOURCE, "emu", "cc", "cc.h"), self.dir)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", self.dir,
                        "-o", os.path.join(self.dir, "aimd.so"), path], check=True)

    def run_it(self, *words):
        return weft("run", "--no-capture", *words, self.scenario)

    def broken(self, status, said, *changes):
        self.build(*changes)
        done = self.run_it()
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(said, done.stderr)
        return done

    def test_it_runs(self):
        self.build()
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("congestion control mine: aimd of ./aimd.so:\n    gain 1/2, start 64KiB", done.stdout)
        two = self.run_it("--lcores", "2")
        self.assertEqual(two.stdout.split("digest ")[1][:20], done.stdout.split("digest ")[1][:20])

    def test_by_its_path_alone(self):
        self.build()
        done = self.run_it("--set", "workload.in.cc=./aimd.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("congestion control ./aimd.so: aimd", done.stdout)

    def test_it_is_traced(self):
        self.build()
        with open(self.scenario, "a", encoding="utf-8") as f:
            f.write('trace:\n  - {at: "flow.*", what: [aimd_window_bytes, cc_window_bytes], on: change, file: t.csv}\n')
        trace = os.path.join(self.dir, "t.csv")
        done = self.run_it("--trace", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(trace, encoding="utf-8") as f:
            rows = list(csv.DictReader(line for line in f if line[0] != "#"))
        windows = [int(r["value"]) for r in rows
                   if r["object"] == "flow.in:h1-h0" and r["series"] == "aimd_window_bytes"]
        self.assertIn(windows[1], (65536, 65536 + 4096 * 4096 // 65536))  # before or after the first ACK
        falls = [(a, b) for a, b in zip(windows[1:], windows[2:]) if b < a]
        self.assertTrue(falls)
        for a, b in falls:  # the last ACK of a window may have let it grow before
            self.assertAlmostEqual(b / a, 0.5, delta=0.05)

    def test_it_is_swept(self):
        self.build()
        out = os.path.join(self.dir, "out")
        done = weft("sweep", "--quiet", "--set", "cc.mine.gain=1/4,3/4", "--seeds", "1", "--out", out, self.scenario)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(os.path.join(out, "runs.csv"), encoding="utf-8") as f:
            digests = {r["digest"] for r in csv.DictReader(line for line in f if line[0] != "#")}
        self.assertEqual(len(digests), 2)

    def test_wrong_version(self):
        done = self.broken(2, "aimd.so': made for version 7 of cc.h, expected 1: compile it anew",
                           (".abi = WF_CC_ABI", ".abi = 7"))
        self.assertIn("aimd.yaml:", done.stderr)

    def test_no_descriptor(self):
        self.broken(2, "aimd.so' exports no 'weft_cc'", ("wf_cc_law weft_cc", "wf_cc_law other"))

    def test_not_there(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 2)
        self.assertIn("aimd.so' can't be loaded", done.stderr)

    def test_key_beyond_its_struct(self):
        self.broken(2, "key 'start' lies beyond cfg_size",
                    (".cfg_size = sizeof(struct aimd_cfg)", ".cfg_size = 8"))

    def test_default_that_its_key_refuses(self):
        self.broken(2, "the default of key 'gain': '3' for gain is out of range, expected 0.000001 to 1",
                    ('"1/2", 1,', '"3", 1,'))

    def test_column_without_unit(self):
        self.broken(2, "column 'aimd_win' does not end with a unit", ("aimd_window_bytes", "aimd_win"))

    def test_unknown_key(self):
        self.build()
        done = self.run_it("--set", "cc.mine.gian=1/2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'gain'", done.stderr)

    def test_crash_in_a_hook(self):
        self.broken(4, "weft: control './aimd.so' crashed in its hook on_ack (SIGSEGV)",
                    ("    if (!a->ecn) {", "    *(volatile int *)8 = 1;\n    if (!a->ecn) {"))

    def test_crash_at_the_start(self):
        self.broken(4, "weft: control './aimd.so' crashed in its hook on_start (SIGFPE)",
                    ("    c->out.window_bytes = s->window_bytes;",
                     "    volatile int zero = 0;\n    c->out.window_bytes = s->window_bytes / (unsigned)zero;"))


if __name__ == "__main__":
    unittest.main()
