#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft sweep as people use it: tidy tables, resumption, failures, wrong use, full and shut folders."""
import csv
import glob
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
BASE = ("weft: 1\nname: small\nseed: 5\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 5}\n"
        "switches: {'*': {pg: {3: {lossless: true, xoff: 100kB}}, "
        "queue: {3: {ecn: true, kmin: 10kB, kmax: 400kB}}}}\n"
        "workload:\n  - {name: in, kind: incast, from: 'h[1-4]', to: h0, size: 200kB, "
        "start_jitter: 20us}\n")
KMIN = "switches.*.queue.3.kmin"


def weft(*args, cwd=None):
    done = subprocess.run([WEFT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=100, check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def table(folder, name):
    """(comment lines, rows as dicts)"""
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
        lines = f.readlines()
    head = [ln for ln in lines if ln.startswith("#")]
    return head, list(csv.DictReader(lines[len(head):]))


def tables(folder):
    out = {}
    for name in ("runs.csv", "flows.csv", "summary.csv"):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            out[name] = f.read()
    return out


def value(rows, metric, **keys):
    got = [r["value"] for r in rows if r["metric"] == metric and
           all(r[k] == str(v) for k, v in keys.items())]
    if len(got) != 1:
        raise AssertionError(f"{metric} {keys}: {got}")
    return float(got[0])
PROGRESS = re.compile(r"weft sweep: \d+ of \d+ done, \d+ running(, about \d+ s left)?")


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-sweep-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = self.write("small.yaml", BASE)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def processes(self):
        """Those whose command line names our scenario."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    if self.file.encode() in f.read():
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def sweep(self, *args, out="out", code=0, file=None):
        got, text, err = weft("sweep", *args, "--out", self.path(out), file or self.file)
        self.assertEqual(got, code, text + err)
        # what a slow machine is told meanwhile
        return text, "".join(line for line in err.splitlines(True)
                             if not PROGRESS.fullmatch(line.strip()))


class Tables(Case):
    def test_a_row_for_each_run_and_metric(self):
        text, err = self.sweep("--set", f"{KMIN}=20kB,100kB", "--set", "workload.in.size=50kB,100kB",
                               "--seeds", "3")
        self.assertEqual(err, "")
        self.assertTrue(text.startswith("small: 4 settings x 3 seeds = 12 runs: 12 passed, 0 failed"))
        head, rows = table(self.path("out"), "runs.csv")
        self.assertRegex(head[0], r"^# weft \d\S+, sweep of small, seeds 5 to 7; ")
        runs = sorted({(r[KMIN], r["workload.in.size"], r["seed"]) for r in rows})
        self.assertEqual(len(runs), 12)
        self.assertEqual(len({tuple(list(r.values())[:-1]) for r in rows}), len(rows))
        for kmin, size, seed in runs:
            code, out, _ = weft("run", "--no-capture", "--json", "-", "--seed", seed, "--set",
                                f"{KMIN}={kmin}", "--set", f"workload.in.size={size}", self.file)
            self.assertEqual(code, 0)
            one = json.loads(out)
            mine = [r for r in rows if (r[KMIN], r["workload.in.size"], r["seed"]) ==
                    (kmin, size, seed)]
            self.assertEqual({r["digest"] for r in mine}, {one["digest"]})
            self.assertEqual({r["status"] for r in mine}, {"passed"})
            keys = {KMIN: kmin, "workload.in.size": size, "seed": seed}
            times = sorted(f["completion_ps"] for f in one["flows"])
            self.assertEqual(value(mine, "completion_max_ps", **keys), times[-1])
            self.assertEqual(value(mine, "completion_p50_ps", **keys), times[1])
            self.assertAlmostEqual(value(mine, "slowdown_mean", **keys), statistics.mean(
                f["completion_ps"] / f["ideal_ps"] for f in one["flows"]), places=6)
            self.assertEqual(value(mine, "ecn_marked_frames", **keys),
                             sum(q.get("ecn_marked_frames", 0) for q in one["queues"]))
            self.assertEqual(value(mine, "queue_max_bytes", **keys),
                             max(q.get("queue_max_bytes", 0) for q in one["queues"]))
            end = max(f["start_ps"] + f["completion_ps"] for f in one["flows"])
            first = min(f["start_ps"] for f in one["flows"])
            self.assertAlmostEqual(value(mine, "goodput_bps", **keys) * (end - first) / 8e12 /
                                   sum(f["delivered_bytes"] for f in one["flows"]), 1, places=8)
        _, flows = table(self.path("out"), "flows.csv")
        self.assertEqual(len(flows), 12 * 4)
        for f in flows:
            self.assertEqual(f["size_bytes"], f["workload.in.size"].replace("kB", "000"))
            self.assertAlmostEqual(float(f["slowdown"]),
                                   int(f["completion_ps"]) / int(f["ideal_ps"]), places=6)

    def test_the_summary_against_a_statistics_library(self):
        self.sweep("--set", f"{KMIN}=10kB,50kB", "--seeds", "6")
        _, rows = table(self.path("out"), "runs.csv")
        _, summary = table(self.path("out"), "summary.csv")
        self.assertEqual(len(summary), len({(r[KMIN], r["metric"]) for r in rows}) - 2)
        spread = 0
        for s in summary:
            v = [float(r["value"]) for r in rows
                 if (r[KMIN], r["metric"]) == (s[KMIN], s["metric"])]
            self.assertEqual((s["runs"], s["not_passed"], s["n"]), ("6", "0", "6"))
            half = 2.570582 * statistics.stdev(v) / math.sqrt(6)  # t of 5 degrees of freedom
            want = (statistics.mean(v), statistics.stdev(v), statistics.mean(v) - half,
                    statistics.mean(v) + half, statistics.median(v), min(v), max(v))
            for key, w in zip(("mean", "sd", "ci95_low", "ci95_high", "median", "min", "max"), want):
                self.assertLess(abs(float(s[key]) - w), 1e-4 * max(1, abs(w)), (s, key))
            spread += statistics.stdev(v) > 0
        self.assertGreater(spread, 10)  # the seed matters

    def test_parallel_and_serial_tables_are_equal(self):
        args = ("--set", f"{KMIN}=20kB,100kB,50kB", "--seeds", "2")
        self.sweep(*args, "--jobs", "1", out="one")
        self.sweep(*args, "--jobs", "5", out="five")
        self.assertEqual(tables(self.path("one")), tables(self.path("five")))

    @unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
    def test_sweep_json_fits_its_schema(self):
        self.sweep("--set", f"{KMIN}=20kB,100kB", "--seeds", "2")
        with open(self.path("out/sweep.json"), encoding="utf-8") as f:
            result = json.load(f)
        with open(os.path.join(SOURCE, "docs", "schema", "weft.sweep.1.json"), encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.validate(result, schema)
        self.assertEqual(result["axes"], [{"key": KMIN, "values": ["20kB", "100kB"]}])
        self.assertEqual([r["seed"] for r in result["runs"]], [5, 6, 5, 6])
        for spoil in ({"axes": [{"key": "x"}]}, {"seeds": 0}, {"runs": [{"id": "x"}]}):
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({**result, **spoil}, schema)

    def test_values_may_hold_commas(self):
        self.sweep("--set", "workload.in.from=[h1, h2],[h1, h2, h3],h[1,4]")
        _, rows = table(self.path("out"), "runs.csv")
        self.assertEqual([(r["workload.in.from"], r["value"]) for r in rows if r["metric"] == "flows"],
                         [("[h1, h2]", "2"), ("[h1, h2, h3]", "3"), ("h[1,4]", "2")])


class Resume(Case):
    def stamps(self):
        runs = self.path("out/runs")
        return {n: os.stat(os.path.join(runs, n, "result.json")).st_mtime_ns
                for n in os.listdir(runs) if "." not in n}

    def test_what_is_finished_is_not_run_again(self):
        self.sweep("--set", f"{KMIN}=20kB,100kB", "--seeds", "2")
        before, first = self.stamps(), tables(self.path("out"))
        text, _ = self.sweep("--set", f"{KMIN}=20kB,100kB", "--seeds", "2")
        self.assertIn("(4 were there)", text)
        self.assertEqual(tables(self.path("out")), first)
        text, _ = self.sweep("--set", f"{KMIN}=20kB,100kB,50kB", "--seeds", "3")
        self.assertIn("(4 were there)", text)
        after = self.stamps()
        self.assertEqual({n: after[n] for n in before}, before)
        self.assertEqual(len(after), 9)
        self.sweep("--set", f"{KMIN}=20kB,100kB,50kB", "--seeds", "3", out="fresh")
        self.assertEqual(tables(self.path("out")), tables(self.path("fresh")))

    def test_another_scenario_is_run_anew(self):
        self.sweep("--seeds", "2")
        self.write("small.yaml", BASE.replace("200kB", "201kB"))
        text, _ = self.sweep("--seeds", "2")
        self.assertNotIn("were there", text)
        self.write("small.yaml", "# the same again\n" + BASE)
        text, _ = self.sweep("--seeds", "2")
        self.assertIn("(2 were there)", text)

    def test_a_spoilt_result_is_run_anew(self):
        self.sweep("--seeds", "2")
        first = tables(self.path("out"))
        for n, spoil in zip(sorted(self.stamps()), ("{", "{}")):
            self.write(f"out/runs/{n}/result.json", spoil)
        os.mkdir(self.path("out/runs/" + sorted(self.stamps())[0] + ".part"))
        text, _ = self.sweep("--seeds", "2")
        self.assertNotIn("were there", text)
        self.assertEqual(tables(self.path("out")), first)

    def start_long(self):
        """A sweep of which two runs are fast and the third takes minutes."""
        self.write("small.yaml", BASE.replace("size: 200kB", "size: 200kB, count: 1"))
        args = [WEFT, "sweep", "--set", "workload.in.count=1,2,1000000", "--jobs", "2", "--out",
                self.path("out"), self.file]
        run = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        for _ in range(1000):
            names = os.listdir(self.path("out/runs")) if os.path.isdir(self.path("out/runs")) else []
            if len([n for n in names if "." not in n]) == 2 and len(names) == 3:
                return run
            time.sleep(0.05)
        run.kill()
        raise AssertionError(run.communicate())

    def test_ctrl_c_ends_the_children_and_leaves_what_is_finished(self):
        run = self.start_long()
        self.assertEqual(len(self.processes()), 2)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        self.assertIn("3 runs: 2 passed, 0 failed, 1 not run", out)
        self.assertEqual(self.processes(), [])
        self.assertEqual(len(self.stamps()), 2)
        self.assertEqual([n for n in os.listdir(self.path("out/runs")) if "." in n], [])
        _, rows = table(self.path("out"), "runs.csv")
        self.assertEqual([(r["workload.in.count"], r["status"]) for r in rows
                          if r["metric"] == "exit_status"],
                         [("1", "passed"), ("2", "passed"), ("1000000", "not_run")])

    def test_killed_it_leaves_no_half_row_and_goes_on(self):
        run = self.start_long()
        run.kill()
        run.communicate(timeout=60)
        for _ in range(100):
            if not self.processes():
                break
            time.sleep(0.05)
        self.assertEqual(self.processes(), [])
        self.assertFalse(os.path.exists(self.path("out/runs.csv")))
        done = self.stamps()
        self.assertEqual(len(done), 2)
        text, _ = self.sweep("--set", "workload.in.count=1,2,3")
        self.assertIn("(2 were there)", text)
        self.assertEqual({n: t for n, t in self.stamps().items() if n in done}, done)
        self.sweep("--set", "workload.in.count=1,2,3", out="fresh")
        self.assertEqual(tables(self.path("out")), tables(self.path("fresh")))

    def test_only_one_sweep_in_a_folder(self):
        run = self.start_long()
        self.assertIn("another weft sweep is at work in", self.sweep("--seeds", "1", code=3)[1])
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)


class Failures(Case):
    def test_a_failed_expectation_is_a_row(self):
        self.write("small.yaml", BASE + "expect: [max(flow.*.completion_ps) < 40us]\n")
        text, _ = self.sweep("--set", "workload.in.size=10kB,200kB", "--seeds", "2", code=1)
        self.assertIn("4 runs: 2 passed, 2 failed", text)
        _, rows = table(self.path("out"), "runs.csv")
        self.assertEqual([(r["workload.in.size"], r["status"], r["value"]) for r in rows
                          if r["metric"] == "exit_status"],
                         [("10kB", "passed", "0")] * 2 + [("200kB", "failed", "1")] * 2)
        self.assertGreater(value(rows, "completion_max_ps", seed=5, **{"workload.in.size": "200kB"}),
                           40e6)
        _, summary = table(self.path("out"), "summary.csv")
        self.assertEqual({(r["workload.in.size"], r["not_passed"]) for r in summary},
                         {("10kB", "0"), ("200kB", "2")})
        self.assertIn("(4 were there)", self.sweep("--set", "workload.in.size=10kB,200kB", "--seeds",
                                                   "2", code=1)[0])

    def test_a_run_without_a_result_is_a_row_and_is_tried_again(self):
        self.write("small.yaml", BASE.replace("size: 200kB", "size: 200kB, count: 1000000"))
        run = subprocess.Popen([WEFT, "sweep", "--jobs", "2", "--seeds", "2", "--out",
                                self.path("out"), self.file], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            pids = [p for p in self.processes() if p != run.pid]
            if len(pids) == 2 and len(glob.glob(self.path("out/runs/*/stderr.txt"))) == 2:
                break  # both children have begun, and not only been forked
            time.sleep(0.05)
        self.assertEqual(len(pids), 2)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 3, out + err)
        self.assertIn("2 without a result", out)
        _, rows = table(self.path("out"), "runs.csv")
        self.assertEqual([(r["status"], r["metric"], r["digest"], r["value"]) for r in rows],
                         [("error", "exit_status", "", "137")] * 2)
        failed = [n for n in os.listdir(self.path("out/runs")) if n.endswith(".failed")]
        self.assertEqual(len(failed), 2)
        self.assertTrue(os.path.exists(self.path(f"out/runs/{failed[0]}/stderr.txt")))
        for name in ("flows.csv", "summary.csv"):
            self.assertEqual(table(self.path("out"), name)[1], [])

    def test_what_failed_is_tried_again(self):
        self.sweep("--seeds", "2")
        first, names = tables(self.path("out")), os.listdir(self.path("out/runs"))
        os.rename(self.path("out/runs/" + names[0]), self.path(f"out/runs/{names[0]}.failed"))
        text, _ = self.sweep("--seeds", "2")
        self.assertIn("2 passed, 0 failed (1 were there)", text)
        self.assertEqual(tables(self.path("out")), first)
        self.assertEqual(sorted(os.listdir(self.path("out/runs"))), sorted(names))

    def test_wrong_use(self):
        for args, part in (
                ((), "no --out DIR given"),
                (("--out", "x"), "no scenario given"),
                (("--out", "x", "-"), "give it as a file"),
                (("--out", "x", "/nowhere.yaml"), "/nowhere.yaml: cannot be read"),
                (("--out", "x", "--sets", "a=b", self.file), "unknown option '--sets'; did you mean"),
                (("--out", "x", "--seeds", "0", self.file), "--seeds '0': expected a whole number from 1 to 100000"),
                (("--out", "x", "--seeds", "many", self.file), "--seeds 'many': expected a whole number"),
                (("--out", "x", "--jobs", "1000", self.file), "--jobs '1000': expected a whole number from 1 to 256"),
                (("--out", "x", "--set", "seed=1,2", self.file), "seeds are given by --seeds"),
                (("--out", "x", "--set", "a", self.file), "--set 'a': expected KEY=A,B,C"),
                (("--out", "x", "--set", f"{KMIN}=1kB,,2kB", self.file), "an empty value"),
                (("--out", "x", "--set", f"{KMIN}=1kB,2kB,1kB", self.file), "1kB stands twice"),
                (("--out", "x", "--set", f"{KMIN}=1kB", "--set", f"{KMIN}=2kB", self.file),
                 "is given twice"),
                (("--out", "x", "--seeds", "50000", "--set", f"{KMIN}=1kB,2kB,3kB", self.file),
                 "more than 100000 runs"),
                (("--out", "x", "--set", f"{KMIN}=1kB,2", self.file),
                 f"--set {KMIN}=2: error: kmin: '2' has no unit"),
                (("--out", "x", "--set", "switches.lef0.latency=1us", self.file),
                 "'lef0' matches no switch; did you mean 'leaf0'?")):
            with self.subTest(args):
                args = list(args) if args else [self.file]
                code, _, err = weft("sweep", *args, cwd=self.dir)
                self.assertEqual(code, 2, err)
                self.assertIn(part, err)
                self.assertFalse(os.path.exists(self.path("x")))
        repeats = self.write("r.yaml", BASE + "repeat: {seeds: 3}\n")
        self.assertIn("a sweep has --seeds instead", self.sweep(file=repeats, code=2)[1])
        live = self.write("l.yaml", BASE.replace("workload:\n", "hosts: {h4: {attach: {type: "
                          "vhost_user}}}\nworkload:\n").replace("h[1-4]", "h[1-3]"))
        self.assertIn("needs a live run", self.sweep(file=live, code=2)[1])

    def test_folders_that_can_not_be_written(self):
        self.assertIn("cannot make the folder", self.sweep(out="no/such/place", code=3)[1])
        self.write("a-file", "")
        self.assertIn("a-file/.lock", self.sweep(out="a-file", code=3)[1])
        os.makedirs(self.path("taken/runs.csv/x"))
        self.assertIn("runs.csv: Is a directory", self.sweep(out="taken", code=3)[1])
        self.assertFalse(os.path.exists(self.path("taken/runs.csv.part")))

    @unittest.skipIf(os.geteuid() != 0, "needs root, to mount a small file system")
    def test_a_full_file_system(self):
        os.mkdir(self.path("full"))
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "none", self.path("full")],
                               check=False, capture_output=True)
        if mount.returncode:
            self.skipTest("cannot mount a tmpfs here")
        self.addCleanup(subprocess.run, ["umount", self.path("full")], check=True)
        text, err = self.sweep("--seeds", "4", out="full", code=3)
        self.assertIn("No space left on device", err + text)


if __name__ == "__main__":
    if jsonschema is None:
        print("python3-jsonschema is not installed: sweep.json is not compared with its schema")
    sys.exit(unittest.main())
