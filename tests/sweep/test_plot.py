#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft plot: what its tables hold against a reckoning of our own, scripts that run by themselves."""
import csv
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

WEFT = os.environ["WEFT"]
GNUPLOT = shutil.which("gnuplot")
BASE = ("weft: 1\nname: small\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 5}\n"
        "switches: {'*': {pg: {3: {lossless: true, xoff: 100kB}}, "
        "queue: {3: {ecn: true, kmin: 10kB, kmax: 400kB}}}}\n"
        "workload:\n"
        "  - {name: a, kind: incast, from: 'h[1-4]', to: h0, size: 20kB, start_jitter: 20us}\n"
        "  - {name: b, kind: incast, from: 'h[1-4]', to: h0, size: 200kB, start_jitter: 20us}\n")
KMIN, DELAY = "switches.*.queue.3.kmin", "links.*.delay"
FIGURES = ["completion", "metric_ecn_marked_frames", "slowdown"]


def weft(*args, cwd=None, env=None):
    done = subprocess.run([WEFT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=100, check=False, cwd=cwd, env=env)
    return done.returncode, done.stdout, done.stderr


def table(path):
    with open(path, encoding="utf-8", newline="") as f:
        lines = [ln for ln in f if not ln.startswith("#")]
    return list(csv.DictReader(lines))


def nearest_rank(values, percent):
    v = sorted(values)
    return v[max(1, math.ceil(percent / 100 * len(v))) - 1]


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-plot-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def plot(self, *args, code=None, env=None):
        got, out, err = weft("plot", *args, cwd=self.dir, env=env)
        self.assertEqual(got, (0 if GNUPLOT else 3) if code is None else code, err)
        return out, err

    def is_svg(self, path):
        if GNUPLOT:
            self.assertTrue(ET.parse(path).getroot().tag.endswith("svg"))
            self.assertGreater(os.path.getsize(path), 2000)


class Sweeps(Case):
    @classmethod
    def setUpClass(cls):
        cls.once = tempfile.mkdtemp(prefix="weft-plot-")
        cls.addClassCleanup(shutil.rmtree, cls.once)
        with open(os.path.join(cls.once, "s.yaml"), "w", encoding="utf-8") as f:
            f.write(BASE)
        code, _, err = weft("sweep", "--quiet", "--set", f"{KMIN}=100kB,20kB", "--set",
                            f"{DELAY}=1us,100ns", "--seeds", "4", "--out", "out", "s.yaml",
                            cwd=cls.once)
        if code:
            raise AssertionError(err)

    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(self.once, "out"), self.path("out"))

    def test_tables_scripts_and_figures(self):
        out, _ = self.plot("--metric", "ecn_marked_frames", "out")
        names = sorted(os.listdir(self.path("out", "plots")))
        self.assertEqual(names, sorted(f"{f}.{e}" for f in FIGURES
                                       for e in (["csv", "gp"] + (["svg"] if GNUPLOT else []))))
        if GNUPLOT:
            self.assertEqual(sorted(out.split()), [f"out/plots/{f}.svg" for f in FIGURES])
        for f in FIGURES:
            self.is_svg(self.path("out", "plots", f + ".svg"))
            with open(self.path("out", "plots", f + ".csv"), encoding="utf-8") as h:
                self.assertRegex(h.readline(), r"^# drawn by weft \S+ \(weft plot --metric "
                                               r"ecn_marked_frames out\) from: weft \S+, sweep of "
                                               r"small, seeds 1 to 4; ")

    def test_sizes_against_the_flows(self):
        self.plot("out")
        flows = table(self.path("out", "flows.csv"))
        for name, column in (("completion", "completion_ps"), ("slowdown", "slowdown")):
            rows = table(self.path("out", "plots", name + ".csv"))
            self.assertEqual([(r["setting"], r["size_bytes"]) for r in rows],
                             [(f"kmin={k}, delay={d}", s) for k in ("100kB", "20kB")
                              for d in ("1us", "100ns") for s in ("20000", "200000")])
            for r in rows:
                v = [float(f[column]) for f in flows if f["size_bytes"] == r["size_bytes"] and
                     f"kmin={f[KMIN]}, delay={f[DELAY]}" == r["setting"]]
                self.assertEqual((r["flows"], r["completed"]), ("16", "16"))
                for key, percent in (("p50", 50), ("p5", 5), ("p95", 95), ("p99", 99)):
                    self.assertEqual(float(r[key]), nearest_rank(v, percent))
                self.assertAlmostEqual(float(r["mean"]) / statistics.mean(v), 1, places=7)

    def test_a_metric_along_each_of_the_settings(self):
        summary = {(s[KMIN], s[DELAY]): s for s in table(self.path("out", "summary.csv"))
                   if s["metric"] == "ecn_marked_frames"}
        for key, other, along in ((None, "delay", {"100kB": 1e5, "20kB": 2e4}),
                                  (DELAY, "kmin", {"1us": 1e6, "100ns": 1e5})):
            self.plot("--metric", "ecn_marked_frames", *(["--x", key] if key else []), "out")
            rows = table(self.path("out", "plots", "metric_ecn_marked_frames.csv"))
            self.assertEqual(len(rows), 4)
            for r in rows:
                value = r["group"].removeprefix(other + "=")
                s = summary[(r["setting"], value) if not key else (value, r["setting"])]
                self.assertEqual(float(r["x"]), along[r["setting"]])
                for cell in ("mean", "ci95_low", "ci95_high", "median"):
                    self.assertEqual(r[cell], s[cell])

    @unittest.skipIf(not GNUPLOT, "gnuplot is not installed")
    def test_a_script_draws_its_figure_again_by_itself(self):
        self.plot("--metric", "ecn_marked_frames", "out")
        shutil.move(self.path("out", "plots"), self.path("elsewhere"))
        shutil.rmtree(self.path("out"))
        for f in FIGURES:
            svg = self.path("elsewhere", f + ".svg")
            with open(svg, "rb") as h:
                first = h.read()
            os.unlink(svg)
            done = subprocess.run(["gnuplot", f + ".gp"], cwd=self.path("elsewhere"), check=False,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(svg, "rb") as h:
                self.assertEqual(h.read(), first)

    def test_without_gnuplot_tables_and_scripts_are_there(self):
        os.mkdir(self.path("nothing"))
        _, err = self.plot("out", code=3, env={"PATH": self.path("nothing")})
        self.assertIn("gnuplot is not installed (Debian: apt-get install gnuplot-nox); the tables "
                      "and scripts are in out/plots", err)
        self.assertEqual(sorted(os.listdir(self.path("out", "plots"))),
                         ["completion.csv", "completion.gp", "slowdown.csv", "slowdown.gp"])

    @unittest.skipIf(not GNUPLOT, "gnuplot is not installed")
    def test_png(self):
        self.plot("--png", "--out", "pics", "out")
        with open(self.path("pics", "slowdown.png"), "rb") as f:
            self.assertEqual(f.read(4), b"\x89PNG")

    def test_a_trace_in_the_folder_of_each_run_is_taken(self):
        for n, run in enumerate(sorted(os.listdir(self.path("out", "runs")))):
            self.write(f"out/runs/{run}/trace.csv", "time_ps,object,series,value\n"
                       f"0,leaf0:p0.q3,queue_bytes,{n}\n10,leaf0:p0.q3,queue_bytes,0\n")
        self.plot("out")
        rows = table(self.path("out", "plots", "cdf_queue.csv"))
        self.assertEqual(len({r["group"] for r in rows}), 4)
        self.assertEqual(sorted({float(r["value"]) for r in rows}), list(range(16)))
        self.assertFalse(os.path.exists(self.path("out", "plots", "series_queue_bytes.csv")))

    def test_bad_input(self):
        self.write("other.csv", "a,b\n1,2\n")
        self.write("ragged.csv", "a,b\n1\n")
        for args, part in ((("out", "--metric", "ecn_marked_frame"), "no metric 'ecn_marked_frame'; did you mean"),
                           (("out", "--metric", "flows", "--x", "links.*.dely"),
                            "no setting 'links.*.dely'; did you mean"),
                           (("out", "--series", "queue_bytes"), "no series 'queue_bytes' in the traces"),
                           (("out/flows.csv", "--metric", "flows"), "--metric needs a sweep"),
                           (("out/summary.csv",), "nothing to draw"), ((), "nothing to draw"),
                           (("other.csv",), "neither a table of weft sweep nor a trace"),
                           (("ragged.csv",), "ragged.csv:2:1: 1 cells, expected 2"),
                           (("nowhere",), "nowhere: cannot be read"), ((".",), "no sweep.json in it"),
                           (("--at", "[x", "out"), "'[x'"), (("--ot", "x", "out"), "unknown option"),
                           (("out", "--out"), "--out needs a value")):
            with self.subTest(args):
                self.assertIn(part, self.plot(*args, code=2)[1])
        self.assertIn("cannot make the folder", self.plot("--out", "a/b/c", "out", code=3)[1])
        self.write("file", "")
        self.assertIn("cannot write file/completion.csv", self.plot("--out", "file", "out", code=3)[1])

    def test_text_of_the_user_is_never_run(self):
        with open(self.path("out", "flows.csv"), encoding="utf-8") as f:
            text = f.read()
        evil = "`touch OUCH`'; system(\"touch OUCH\"); '\"\"$(touch OUCH)"
        cell = '"' + evil.replace('"', '""') + '"'
        self.write("evil.csv", text.replace("20kB", cell))
        self.plot("--out", "figs", "evil.csv")
        self.assertEqual([n for n in os.listdir(self.path("figs")) if n == "OUCH"], [])
        self.assertFalse(os.path.exists(self.path("OUCH")))
        with open(self.path("figs", "slowdown.gp"), encoding="utf-8") as f:
            self.assertIn("kmin=" + evil.replace("'", "''"), f.read())
        self.is_svg(self.path("figs", "slowdown.svg"))


class Traces(Case):
    ROWS = [(0, "a:p0.q3", 0), (0, "b:p0.q3", 5), (100, "a:p0.q3", 50), (150, "b:p0.q3", 7),
            (400, "a:p0.q3", 10), (500, "a:p0.q3", 50), (1000, "a:p0.q3", 50), (1000, "b:p0.q3", 7)]

    def trace(self, name="t.csv", rows=None):
        return self.write(name, "# a manifest\ntime_ps,object,series,value\n" + "".join(
            f"{t},{o},queue_bytes,{v}\n" for t, o, v in rows or self.ROWS))

    def test_the_share_of_time_at_or_below(self):
        self.plot("--out", "figs", self.trace())
        rows = [(r["group"], float(r["value"]), float(r["share"]))
                for r in table(self.path("figs", "cdf_queue.csv"))]
        # a: 0 for 100, 50 for 300, 10 for 100, 50 for 500 of 1000; b: 5 for 150, 7 for 850
        self.assertEqual(rows, [("a:p0.q3", 0, 0.1), ("a:p0.q3", 10, 0.2), ("a:p0.q3", 50, 1.0),
                                ("b:p0.q3", 5, 0.15), ("b:p0.q3", 7, 1.0)])
        with open(self.path("figs", "cdf_queue.csv"), encoding="utf-8") as f:
            self.assertIn("from: a manifest", f.readline())
        course = table(self.path("figs", "series_queue_bytes.csv"))
        self.assertEqual([(r["group"], int(r["time_ps"]), int(r["value"])) for r in course],
                         [(o, t, v) for t, o, v in self.ROWS if o[0] == "a"] +
                         [(o, t, v) for t, o, v in self.ROWS if o[0] == "b"])
        for f in ("cdf_queue", "series_queue_bytes"):
            self.is_svg(self.path("figs", f + ".svg"))

    def test_traces_of_a_sweep_of_weft_itself(self):
        trace = ("trace: [{at: 'leaf0:p0.q3', what: queue_bytes, on: change, file: q.csv}, "
                 "{at: 'leaf0:p0', what: tx_bps, every: 5us, file: q.csv}]\n")
        code, _, err = weft("sweep", "--quiet", "--set", f"{DELAY}=1us,100ns", "--seeds", "2",
                            "--out", self.path("out"), self.write("s.yaml", BASE + trace))
        self.assertEqual(code, 0, err)
        self.plot("out")
        cdf = table(self.path("out", "plots", "cdf_queue.csv"))
        summary = table(self.path("out", "summary.csv"))
        for group in ("delay=1us", "delay=100ns"):
            rows = [r for r in cdf if r["group"] == group]
            most = [s["max"] for s in summary if s["metric"] == "queue_max_bytes" and
                    "delay=" + s[DELAY] == group]
            self.assertEqual(float(rows[-1]["share"]), 1)
            self.assertEqual([rows[-1]["value"]], most)
        run = sorted(os.listdir(self.path("out", "runs")))[0]
        self.plot("--out", "figs", self.path("out", "runs", run, "q.csv"))
        self.assertEqual(sorted(n for n in os.listdir(self.path("figs")) if n.endswith("csv")),
                         ["cdf_queue.csv", "cdf_tx_bps.csv", "series_queue_bytes.csv",
                          "series_tx_bps.csv"])
        rates = [int(r["value"]) for r in table(self.path("figs", "series_tx_bps.csv"))]
        self.assertTrue(0 < max(rates) <= 100e9)

    def test_objects_and_series_are_chosen(self):
        self.plot("--out", "figs", "--at", "a:*.q3", "--series", "queue_bytes", self.trace())
        self.assertEqual({r["group"] for r in table(self.path("figs", "cdf_queue.csv"))}, {"a:p0.q3"})
        self.assertIn("no series 'tx_bps' at a:*.q3",
                      self.plot("--at", "a:*.q3", "--series", "tx_bps", self.trace(), code=2)[1])

    def test_long_traces_are_thinned_and_keep_their_extremes(self):
        rows = [(i * 10, "a:p0.q3", (i * 7919) % 1000 + (5000 if i == 77777 else 0))
                for i in range(100000)]
        self.plot("--out", "figs", self.trace(rows=rows))
        course = table(self.path("figs", "series_queue_bytes.csv"))
        self.assertLess(len(course), 5000)
        self.assertEqual(max(int(r["value"]) for r in course), max(v for _, _, v in rows))
        self.assertEqual([int(r["time_ps"]) for r in course][-1], 999990)
        times = [int(r["time_ps"]) for r in course]
        self.assertEqual(times, sorted(times))
        cdf = table(self.path("figs", "cdf_queue.csv"))
        self.assertLess(len(cdf), 600)
        for r in cdf[::50]:
            below = sum(v <= float(r["value"]) for _, _, v in rows) / len(rows)
            self.assertAlmostEqual(float(r["share"]), below, places=3)

    def test_more_objects_than_curves_are_told(self):
        rows = [(t, f"h{i}:p0.q3", i) for t in (0, 10) for i in range(40)]
        _, err = self.plot("--out", "figs", self.trace(rows=rows))
        self.assertIn("cdf_queue shows 16 curves, the others are left out; --at chooses", err)
        self.assertEqual(len({r["group"] for r in table(self.path("figs", "cdf_queue.csv"))}), 16)


if __name__ == "__main__":
    if not GNUPLOT:
        print("gnuplot is not installed: figures are not looked at, only tables and scripts")
    sys.exit(unittest.main())
