#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft diff as people use it: only what changed, exit codes, what counts as the same."""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
BASE = ("weft: 1\nname: small\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 5}\n"
        "switches: {'*': {pg: {3: {lossless: true, xoff: 100kB}}, "
        "queue: {3: {ecn: true, kmin: 10kB, kmax: 400kB}}}}\n"
        "workload:\n  - {name: in, kind: incast, from: 'h[1-4]', to: h0, size: 200kB}\n"
        "expect: [flow.* completes, max(flow.*.completion_ps) < 80us]\n")


def weft(*args, cwd=None):
    done = subprocess.run([WEFT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=100, check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


class Diff(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-diff-")
        self.addCleanup(shutil.rmtree, self.dir)
        with open(self.path("s.yaml"), "w", encoding="utf-8") as f:
            f.write(BASE)

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_to(self, name, *args):
        code, _, err = weft("run", "--quiet", "--json", self.path(name), *args, self.path("s.yaml"))
        self.assertIn(code, (0, 1), err)
        with open(self.path(name), encoding="utf-8") as f:
            return json.load(f)

    def save(self, name, result):
        with open(self.path(name), "w", encoding="utf-8") as f:
            json.dump(result, f)

    def diff(self, a, b, code):
        got, out, err = weft("diff", "--json", self.path(a), self.path(b))
        self.assertEqual(got, code, err)
        result = json.loads(out)
        if jsonschema is not None:
            with open(os.path.join(SOURCE, "docs", "schema", "weft.diff.1.json"),
                      encoding="utf-8") as f:
                jsonschema.validate(result, json.load(f))
        self.assertEqual(result["same"], code == 0)
        return result

    def changes(self, result):
        return {c["what"]: (c["a"], c["b"]) for c in result["changes"]}

    def test_two_runs_of_the_same_are_the_same(self):
        self.run_to("a.json")
        self.run_to("b.json")
        self.assertEqual(weft("diff", self.path("a.json"), self.path("b.json")), (0, "", ""))
        self.assertEqual(self.diff("a.json", "b.json", 0)["changes"], [])

    def test_every_counter_that_changed_and_no_other(self):
        a = self.run_to("a.json")
        b = self.run_to("b.json", "--set", "workload.in.size=300kB")
        result = self.diff("a.json", "b.json", 1)
        want = {}
        for key in ("digest", "time_ps", "last_event_ps", "verdict"):
            if a[key] != b[key]:
                want[key] = (a[key], b[key])
        for key in a["fabric"]:
            if a["fabric"][key] != b["fabric"][key]:
                want["fabric." + key] = (a["fabric"][key], b["fabric"][key])
        for section in ("flows", "ports", "priorities", "queues", "priority_groups", "pools",
                        "egress_queues", "pfc_watchdogs"):
            x, y = ({o["name"]: o for o in r.get(section, [])} for r in (a, b))
            for name in x.keys() | y.keys():
                for key in (x.get(name, {}).keys() | y.get(name, {}).keys()) - {"name"}:
                    pair = (x.get(name, {}).get(key, 0), y.get(name, {}).get(key, 0))
                    if pair[0] != pair[1]:
                        want[f"{name}.{key}"] = pair
        got = self.changes(result)
        self.assertGreater(len(want), 30)
        for at, row in enumerate(a["slowdowns"]):
            name = "in" + (f".{row['size_max_bytes']}" if "size_max_bytes" in row else "")
            for key in ("mean", "max", "p50", "p95", "p99", "p99_9"):
                pair = (row[key], b["slowdowns"][at][key])
                want[f"slowdowns[{name}].{key}"] = tuple(round(x, 9) for x in pair)
        self.assertEqual({k: v for k, v in got.items() if not k.startswith(("pauses", "expect"))},
                         want)
        for c in result["changes"]:
            if "relative" in c:
                self.assertAlmostEqual(c["relative"], (c["b"] - c["a"]) / c["a"], places=7)
        self.assertEqual([c["what"] for c in result["context"]], ["scenario_sha256"])
        text = "expectations[max(flow.*.completion_ps) < 80us].verdict"
        self.assertEqual(got[text], ("pass", "fail"))
        self.assertEqual([c["what"] for c in result["changes"]][:3], ["digest", "verdict", text])

    def test_text_for_people(self):
        self.run_to("a.json")
        self.run_to("b.json", "--set", "workload.in.size=300kB")
        code, out, _ = weft("diff", self.path("a.json"), self.path("b.json"))
        self.assertEqual(code, 1)
        self.assertRegex(out, r"^digest: wf1:\w+ -> wf1:\w+\nverdict: passed -> failed\n")
        self.assertIn("\nflow.in:h1-h0.posted_bytes: 200000 -> 300000 (+50%)\n", out)
        self.assertRegex(out, r"\n\d+ differences\nnot made alike:\n  scenario_sha256: ")

    def test_machine_and_clock_are_no_result(self):
        a = self.run_to("a.json")
        b = copy.deepcopy(a)
        b["manifest"].update(kernel="other", cpus=77, cpu="x", compiler="y", command="z")
        b["lateness"].update(p99_ps=5, max_ps=6)
        b["captures"] = ["elsewhere.pcapng"]
        self.save("b.json", b)
        self.diff("a.json", "b.json", 0)
        b["manifest"].update(version="9.9", seed=4)
        self.save("b.json", b)
        self.assertEqual([c["what"] for c in self.diff("a.json", "b.json", 0)["context"]],
                         ["seed", "version"])

    def test_order_does_not_count_and_absent_is_zero(self):
        a = self.run_to("a.json")
        b = copy.deepcopy(a)
        b["flows"].reverse()
        b["queues"].reverse()
        b["queues"].append({"name": "leaf0:p9.q9", "drop_frames": 0})
        self.save("b.json", b)
        self.diff("a.json", "b.json", 0)
        b["queues"][-1]["drop_frames"] = 3
        b["flows"][0]["timeouts"] = "9007199254740993"
        b["drops"].append({"port": "leaf0:p1", "reason": "egress_full", "frames": 2})
        self.save("b.json", b)
        self.assertEqual(self.changes(self.diff("a.json", "b.json", 1)), {
            "leaf0:p9.q9.drop_frames": (0, 3),
            b["flows"][0]["name"] + ".timeouts": (0, "9007199254740993"),
            "drops[leaf0:p1.egress_full].frames": (0, 2)})

    def test_several_seeds_are_compared_seed_by_seed(self):
        self.run_to("a.json", "--set", "repeat.seeds=3")
        b = self.run_to("b.json", "--set", "repeat.seeds=3")
        self.diff("a.json", "b.json", 0)
        b["runs"][1]["digest"] = "wf1:0000000000000000"
        self.save("b.json", b)
        self.assertEqual(list(self.changes(self.diff("a.json", "b.json", 1))), ["seed 2: digest"])

    def test_replays(self):
        capture = os.path.join(SOURCE, "captures", "rocev2-sends.pcap")
        for name, extra in (("a.json", ()), ("b.json", ()), ("c.json", ("--set", "links.*.delay=2us"))):
            code, out, err = weft("replay", "--json", *extra, capture,
                                  os.path.join(SOURCE, "scenarios", "replay.yaml"))
            self.assertEqual(code, 0, err)
            self.save(name, json.loads(out))
        self.diff("a.json", "b.json", 0)
        got = self.changes(self.diff("a.json", "c.json", 1))
        self.assertIn("digest", got)
        self.assertTrue(any(k.endswith(".delay_ps.max") for k in got), got)

    def test_sweeps_and_tables(self):
        for name, size in (("a", "100kB"), ("b", "100kB"), ("c", "100kB,150kB")):
            code, _, err = weft("sweep", "--quiet", "--set", f"workload.in.size={size}", "--seeds",
                                "2", "--out", self.path(name), self.path("s.yaml"))
            self.assertEqual(code, 0, err)
        self.diff("a", "b", 0)
        got = self.changes(self.diff("a", "c", 1))
        self.assertTrue(all("workload.in.size=150kB" in k for k in got))
        self.diff("a/summary.csv", "b/summary.csv", 0)
        with open(self.path("b/flows.csv"), encoding="utf-8") as f:
            text = f.read()
        row = text.splitlines()[-1]
        with open(self.path("b/flows.csv"), "w", encoding="utf-8") as f:
            f.write(text.replace(row, row.rsplit(",", 1)[0] + ",99.5"))
        got = self.changes(self.diff("a/flows.csv", "b/flows.csv", 1))
        self.assertEqual(list(got), ["workload.in.size=100kB seed=2 flow=flow.in:h4-h0: slowdown"])
        self.assertEqual(got.popitem()[1][1], 99.5)

    def test_recordings_are_compared_by_their_summaries(self):
        a = self.run_to("a.json")
        for name, extra in (("r.tar.gz", ()), ("s.tar.gz", ("--set", "workload.in.size=150kB"))):
            code, _, err = weft("run", "--quiet", "--record", self.path(name), *extra,
                                self.path("s.yaml"))
            self.assertEqual(code, 0, err)
        self.assertEqual(self.diff("a.json", "r.tar.gz", 0)["changes"], [])
        got = self.changes(self.diff("r.tar.gz", "s.tar.gz", 1))
        self.assertEqual(got["flow.in:h1-h0.posted_bytes"], (200000, 150000))
        self.assertEqual(got["digest"][0], a["digest"])

    def test_long_names_twice(self):
        a = {"schema": "weft.run/1", "runs": [{"seed": "s" * 60, "k" * 3000: 1}] * 2}
        self.save("a.json", a)
        a["runs"][0] = {"seed": "s" * 60, "k" * 3000: 2}
        self.save("b.json", a)
        self.assertEqual(len(self.diff("a.json", "b.json", 1)["changes"]), 1)

    def test_bad_input(self):
        self.run_to("a.json")
        self.save("other.json", {"schema": "weft.run/2"})
        self.save("list.json", [1])
        for name, text in (("cut.json", '{"schema": "weft.run/1", '), ("empty.json", ""),
                           ("ragged.csv", "a,b\n1,2\n3\n"), ("quote.csv", 'a,b\n1,"2\n'),
                           ("good.csv", "a,value\n1,2\n"), ("none.csv", "# only this\n")):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write(text)
        for b, part in (("other.json", "its schema is 'weft.run/2', expected weft.run/1"),
                        ("list.json", "its schema is ''"), ("cut.json", "cut.json:1:25: no JSON"),
                        ("empty.json", "no JSON"), ("nowhere.json", "cannot be read"),
                        ("ragged.csv", "ragged.csv:3:1: 1 cells, expected 2 as in the header"),
                        ("quote.csv", "a quote that is never closed"), ("none.csv", "no table in it"),
                        ("good.csv", "is a table a,value"), (".", "runs.csv: cannot be read")):
            with self.subTest(b):
                code, out, err = weft("diff", self.path("a.json"), self.path(b))
                self.assertEqual((code, out), (2, ""))
                self.assertIn(part, err)
        self.assertEqual(weft("diff", self.path("a.json"))[0], 2)
        self.assertEqual(weft("diff", "--jsn", "a", "b")[0], 2)


if __name__ == "__main__":
    if jsonschema is None:
        print("python3-jsonschema is not installed: JSON is not compared with its schema")
    sys.exit(unittest.main())
