#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a run says of pauses: deadlocks as circles, whose fault they are, storms, roots and victims,
in the summary, as JSON and as a figure, and the same on any number of lcores."""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
SOURCE = os.path.abspath(os.environ.get("WEFT_SOURCE", "."))
RING = [("sw0:p1", "sw1:p1"), ("sw1:p2", "sw2:p1"), ("sw2:p2", "sw0:p2")]  # clockwise, its end


def weft(*words, cwd=None):
    return subprocess.run([WEFT, *words], stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True,
                          timeout=100, cwd=cwd)


def scenario(name):
    return os.path.join(SOURCE, "scenarios", "acceptance", name + ".yaml")


def result(name, *words):
    done = weft("run", "--no-capture", "--json", "-", *words, scenario(name))
    return done.returncode, json.loads(done.stdout)


def without_expectations(name):
    with open(scenario(name), encoding="utf-8") as f:
        return f.read().split("expect:")[0]


class Pauses(unittest.TestCase):
    def test_a_deadlock_is_a_circle(self):
        code, r = result("deadlock-ring")
        self.assertEqual((code, r["verdict"], r["end"]), (0, "passed", "time_limit"))
        self.assertEqual(len(r["deadlocks"]), 1)
        d = r["deadlocks"][0]
        self.assertNotIn("until_ps", d)
        self.assertEqual([(h["port"], h["stopped_by"]) for h in d["cycle"]], RING)
        self.assertEqual({(h["priority"], h["priority_group"]) for h in d["cycle"]}, {(3, 3)})
        self.assertEqual(r["pauses"]["victims"], [])  # all of them close it
        self.assertEqual(r["pauses"]["storms"], [])
        text = weft("run", scenario("deadlock-ring")).stdout
        self.assertIn("deadlock: 3 queues wait for each other", text)
        for out, end in RING:
            self.assertIn(f"({out.replace(':', ', ')}, prio3): {out}.q3 is stopped by {end}", text)

    def test_it_fails_a_run_that_does_not_speak_of_it(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(without_expectations("deadlock-ring").replace("time_limit", "duration"))
            done = weft("run", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("FAILED: 1 deadlocks", done.stdout)
            with open(path, "a", encoding="utf-8") as f:
                f.write("expect: [fabric.deadlock_events == 0]\n")
            self.assertEqual(weft("run", path).returncode, 1)

    def test_a_flood_closes_one_through_leaves_and_spines(self):
        _, r = result("deadlock-flood")
        self.assertEqual([[h["queue"] for h in d["cycle"]] for d in r["deadlocks"]],
                         [["leaf0:p4.q3", "spine0:p1.q3", "leaf1:p5.q3", "spine1:p0.q3"]])

    def test_a_watchdog_opens_it_again(self):
        _, r = result("deadlock-ring", "--set", "time_limit=900ms", "--set",
                      "switches.*.watchdog={detect: 1ms, restore: 1ms, poll: 100us, action: drop}")
        self.assertEqual(len(r["deadlocks"]), 1)
        d = r["deadlocks"][0]
        self.assertGreater(d["until_ps"], d["found_ps"])
        self.assertLess(d["until_ps"], 3 * 10**9)

    def test_roots_and_victims(self):
        code, r = result("pause-tree")
        self.assertEqual((code, r["deadlocks"]), (0, []))
        p = r["pauses"]
        self.assertEqual(p["roots"], ["leaf0:p0.q3"])
        self.assertEqual(p["victims"], ["flow.innocent"])
        self.assertEqual(p["storms"], [])
        self.assertFalse(p["cycle"])
        depths = {e["paused"]: e["depth"] for e in p["edges"]}
        self.assertEqual(depths, {"h1:p0.q3": 1, "h2:p0.q3": 1, "spine0:p0.q3": 1,
                                  "leaf1:p3.q3": 2, "h3:p0.q3": 3})

    def test_a_storm_has_a_source_and_is_a_root(self):
        _, r = result("pfcwd-drop")
        (s,) = r["pauses"]["storms"]
        self.assertEqual((s["source"], s["paused"], s["priority"], s["frames"], s["asked_ps"]),
                         ("h1:p0", "leaf0:p1", 3, 3500, 0))
        # 3499 periods of 200us and the last one's 65535 quanta of 5.12ns, less the response time
        self.assertAlmostEqual(s["paused_ps"], 3499 * 200e6 + 65535 * 5120, delta=5e6)
        self.assertEqual(s["watchdog"], {"storm_detected_events": 1, "storm_restored_events": 1})
        _, r = result("pfc-pause", "--set", "switches.*.pg={3: {lossless: true, xoff: 50kB}}",
                      "--set", "workload.back.size=1kB")
        self.assertEqual(r["pauses"]["roots"], ["leaf0:p1.q3"])
        self.assertFalse(r["pauses"]["cycle"])

    def test_nothing_of_it_depends_on_lcores(self):
        for name in ("deadlock-ring", "deadlock-flood", "pause-tree", "pfc-pause"):
            told = {json.dumps([r[k] for k in ("digest", "deadlocks", "pauses")])
                    for _, r in (result(name, "--lcores", n) for n in "124")}
            self.assertEqual(len(told), 1, name)

    def test_the_figure_has_a_row_a_queue(self):
        with tempfile.TemporaryDirectory() as d:
            weft("run", "--quiet", "--json", "r.json", scenario("pause-tree"), cwd=d)
            done = weft("plot", "r.json", cwd=d)
            self.assertEqual(done.returncode, 0 if shutil.which("gnuplot") else 3, done.stderr)
            with open(os.path.join(d, "pauses.csv"), encoding="utf-8", newline="") as f:
                rows = list(csv.DictReader(ln for ln in f if not ln.startswith("#")))
            self.assertEqual([(r["queue"], r["depth"], r["cause"]) for r in rows],
                             [("leaf0:p0.q3", "0", ""), ("h1:p0.q3", "1", "leaf0:p0.q3"),
                              ("h2:p0.q3", "1", "leaf0:p0.q3"),
                              ("spine0:p0.q3", "1", "leaf0:p0.q3"),
                              ("leaf1:p3.q3", "2", "spine0:p0.q3"),
                              ("h3:p0.q3", "3", "leaf1:p3.q3"), ("flow.innocent", "0", "")])
            if shutil.which("gnuplot"):
                with open(os.path.join(d, "pauses.svg"), encoding="utf-8") as f:
                    svg = f.read()
                self.assertIn("flow.innocent", svg)
                self.assertIn("Who paused whom: pause-tree", svg)
            with open(os.path.join(d, "x.json"), "w", encoding="utf-8") as f:
                f.write("{}")
            self.assertEqual(weft("plot", "x.json", cwd=d).returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
