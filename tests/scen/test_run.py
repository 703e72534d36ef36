#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft run as people use it: summary, JSON by its schema, JUnit, exit codes, several seeds, Ctrl-C."""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ET

try:
    import jsonschema
except ImportError:
    jsonschema = None

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
TWO = "weft: 1\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
FLOW = "workload: [{name: f, from: h0, to: h1, size: 100kB}]\n"
SEEDS = ("weft: 1\ntopology: {leaves: 2, spines: 2, hosts_per_leaf: 4}\nrepeat: {seeds: 5}\n"
         "workload: [{name: p, kind: permutation, from: 'h*', size: 100kB}]\nexpect:\n")


def weft(*args, text=None, cwd=None):
    done = subprocess.run([WEFT, *args], input=text, capture_output=True, text=True, timeout=100,
                          check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def run_json(text, *args):
    code, out, err = weft("run", "--no-capture", "--json", "-", *args, "-", text=text)
    return code, json.loads(out) if out else None, err


def fit(result, name):
    if jsonschema is None:
        return
    with open(os.path.join(SOURCE, "docs", "schema", name), encoding="utf-8") as f:
        jsonschema.validate(result, json.load(f))


def scenarios():
    for path in sorted(glob.glob(os.path.join(SOURCE, "scenarios", "*.yaml"))):
        if weft("check", "--virtual", path)[0] == 0:
            yield path


class Run(unittest.TestCase):
    def test_the_first_line_names_profiles_and_what_was_changed(self):
        def first(more, *args):
            code, out, err = weft("run", "--no-capture", *args, "-", text=TWO + FLOW + more)
            self.assertEqual(code, 0, err)
            return out.split("\n")[0]
        self.assertEqual(first(""), "stdin: seed 1, virtual time")
        self.assertEqual(first("profile: td3\n"), "stdin: seed 1, virtual time, profile td3")
        self.assertEqual(first("profile: td3\nlinks: {h0: {mtu: 9000}}\n"),
                         "stdin: seed 1, virtual time, profile td3")
        self.assertEqual(
            first("profile: td3\nswitches: {'*': {pg: {3: {headroom: 200kB, lossless: true}}}}\n",
                  "--set", "switches.leaf0.queue.3.kmin=5kB", "--set", "ports.leaf0:p0.trust=pcp",
                  "--set", "lossless=best_effort"),  # untagged, so in another queue than its pause
            "stdin: seed 1, virtual time, profile td3 "
            "(changed: pg.3.headroom, queue.3.kmin, trust)")
        self.assertEqual(
            first("profile: [lossy, td3]\n", "--set", "switches.*.pg={'*': {reserved: 1B}, 6: {alpha: 2}}",
                  "--set", "switches.*.queue={'0,2': {limit: 1MB}}"),
            "stdin: seed 1, virtual time, profiles lossy, td3 "
            "(changed: pg.0-7.reserved, pg.6.alpha, queue.0,2.limit)")

    def test_help_of_a_command(self):
        for word in ("run", "check", "sweep", "show"):
            self.assertEqual(weft("help", word), weft(word, "--help"))
        self.assertIn("usage: weft run", weft("help", "run")[1])
        code, _, err = weft("help", "rnu")
        self.assertEqual(code, 2)
        self.assertIn("did you mean 'run'?", err)

    def test_every_scenario_gives_json_that_fits_the_schema(self):
        names = []
        for path in scenarios():
            with self.subTest(path):
                code, out, err = weft("run", "--no-capture", "--json", "-", path)
                self.assertIn(code, (0, 1), err)
                result = json.loads(out)
                fit(result, "weft.run.1.json" if "digest" in result else "weft.runs.1.json")
                self.assertEqual(result["verdict"], "failed" if code else "passed")
                names.append(os.path.basename(path))
        self.assertIn("incast.yaml", names)

    def test_controls_and_nics_are_in_the_json(self):
        text = ("weft: 1\ntopology: {kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 4}\n"
                "cc: {slow: {law: dcqcn, params: sigcomm15, timer: 100us}, idle: {law: hpcc}}\n"
                "hosts: {h0: {nic: {profile: connectx6, cc: slow}}}\n"
                "workload: [{name: a, from: h0, to: h1}, {name: b, from: h2, to: h1, cc: timely}, "
                "{name: c, from: h3, to: h1}]\n")
        _, result, _ = run_json(text)
        fit(result, "weft.run.1.json")
        controls = {c.pop("name"): c for c in result["controls"]}
        self.assertEqual(sorted(controls), ["slow", "timely"])
        self.assertEqual(controls["slow"]["values"]["timer"], "100us")
        self.assertEqual({k: v for k, v in controls["slow"].items() if k != "values"},
                         {"law": "dcqcn", "params": "sigcomm15", "flows": 1, "attached_hosts": 0})
        self.assertNotIn("params", controls["timely"])
        self.assertEqual([(n["profile"], n["hosts"]) for n in result["nics"]],
                         [("generic", 3), ("connectx6", 1)])
        self.assertEqual(result["nics"][1]["where_auto"]["cnp_interval"]["value"], "4us")
        self.assertEqual(result["nics"][0]["where_auto"]["retransmit"],
                         {"value": "go_back_n", "source": "IBA 9.7.5"})
        _, result, _ = run_json(TWO + FLOW)
        self.assertEqual(result["controls"], [])

    @unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
    def test_the_schema_can_refuse(self):
        _, result, _ = run_json(TWO + FLOW)
        fit(result, "weft.run.1.json")
        for spoil in ({"digest": "wf1:0"}, {"verdict": "good"}, {"time_ps": -1},
                      {"ports": [{"rx_frames": 1}]}, {"drops": [{"port": "x"}]}):
            with self.assertRaises(jsonschema.ValidationError):
                fit({**result, **spoil}, "weft.run.1.json")

    def test_the_incast_tells_who_paused_whom(self):
        path = os.path.join(SOURCE, "scenarios", "incast.yaml")
        code, out, _ = weft("run", "--no-capture", "--json", "-", path)
        result = json.loads(out)
        self.assertEqual(code, 0)
        self.assertEqual(sum(f["delivered_bytes"] for f in result["flows"]), 8000000)
        self.assertEqual(result["drops"], [])
        self.assertIn("leaf0:p0.q3", result["pauses"]["roots"])
        paused = {e["paused"] for e in result["pauses"]["edges"] if e["cause"] == "leaf0:p0.q3"}
        self.assertTrue({f"h{i}:p0.q3" for i in range(1, 5)} <= paused)
        code, out, _ = weft("run", "--no-capture", path)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"root: leaf0:p0\.q3, towards h0:p0\n +paused h1:p0\.prio3 \d+ times")
        self.assertIn("nothing was dropped", out)
        self.assertTrue(out.endswith("\npassed\n"))

    def test_without_headroom_the_incast_loses_and_fails(self):
        path = os.path.join(SOURCE, "scenarios", "incast-no-headroom.yaml")
        code, out, _ = weft("run", "--no-capture", path)
        self.assertEqual(code, 1)
        self.assertRegex(out, r"FAILED: \d+ frames of lossless priorities were lost\n")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        code, _, err = weft("check", "-", text=text.replace("lossless: best_effort\n", ""))
        self.assertEqual(code, 2)
        self.assertIn("error: headroom of lossless pg 3 is 0", err)
        code, out, _ = weft("run", "-", text=text + "expect: [lossless_drops_expected: true, "
                                                    "fabric.lossless_drop_frames > 0]\n")
        self.assertEqual(code, 0, out)

    def test_equal_seeds_give_equal_digests(self):
        text = SEEDS.replace("repeat: {seeds: 5}\n", "").replace("expect:\n", "")
        digests = [run_json(text, "--seed", seed)[1]["digest"] for seed in ("3", "3", "4")]
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_a_failed_expectation_says_what_was_found(self):
        text = TWO + FLOW + ("expect:\n  - flow.f.completion_ps < 1us\n"
                             "  - sum(leaf*.rx_frames) == 0\n")
        code, out, _ = weft("run", "-", text=text)
        self.assertEqual(code, 1)
        self.assertRegex(out, r"FAILED: stdin:5:5: expected flow\.f\.completion_ps < 1us, found "
                              r"\d+\.\d+us at flow\.f, ")
        self.assertRegex(out, r"FAILED: stdin:6:5: expected sum\(leaf\*\.rx_frames\) == 0, found "
                              r"\d+, since \d+\.\d+us\n")
        self.assertTrue(out.endswith("\nFAILED\n"))

    def test_levels_are_sampled_and_the_report_says_how_often(self):
        text = TWO + FLOW + ("sample: 3us\nexpect:\n  - never: leaf*.q*.queue_bytes > 1MB\n"
                             "  - never: leaf*.q*.queue_max_bytes > 1MB\n")
        code, result, _ = run_json(text)
        self.assertEqual(code, 0)
        fit(result, "weft.run.1.json")
        self.assertEqual([e.get("sample_ps") for e in result["expectations"]], [3000000, None])
        _, out, _ = weft("run", "-", text=text)
        self.assertIn("always and never about levels: looked at every 3us\n", out)

    def test_a_flow_alone_takes_its_ideal_time_and_never_less(self):
        base = ("weft: 1\ntopology: {leaves: 2, spines: 2, hosts_per_leaf: 3}\n"
                "switches: {'*': {mode: %s}}\nlinks: {h1: {rate: 40Gbps}, h2: {rate: 33.3Mbps}}\n"
                "workload: [{name: f, from: %s, to: %s, size: %s, path_mtu: 1024, window: 1GiB, "
                "count: %d}]\n")
        for mode in ("store_and_forward", "cut_through"):
            for ends in (("h0", "h4"), ("h0", "h1"), ("h1", "h4"), ("h2", "h3"), ("h4", "h2")):
                for size, count in (("1B", 1), ("1024B", 1), ("102400B", 1), ("100000B", 1),
                                    ("10kB", 5)):
                    flow = run_json(base % (mode, *ends, size, count))[1]["flows"][0]
                    over = flow["completion_ps"] / flow["ideal_ps"]
                    with self.subTest(mode=mode, ends=ends, size=size, count=count):
                        # sums of times that are rounded one by one: a picosecond each
                        self.assertGreaterEqual(flow["completion_ps"] + 4, flow["ideal_ps"])
                        self.assertLess(over, 1.02)
                        if (size, count) == ("102400B", 1) and "h2" not in ends:
                            self.assertLess(over, 1.0005)  # a RETH more in the first frame

    def test_every_operation_alone_takes_its_ideal_time(self):
        base = ("weft: 1\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
                "workload: [{name: f, from: h0, to: h1, size: 100kB, count: 3, path_mtu: 1024, "
                "window: 1GiB, max_rd_atomic: 128, op: %s, retransmit: %s}]\n")
        for op in ("write_imm", "send", "send_inv", "read", "fetch_add"):
            for mode in ("go_back_n", "go_back_0", "selective"):
                flow = run_json(base % (op, mode))[1]["flows"][0]
                with self.subTest(op=op, mode=mode):
                    self.assertAlmostEqual(flow["completion_ps"], flow["ideal_ps"], delta=4)

    def test_selective_naks_are_counted_at_both_ends_and_a_fault_takes_either_name(self):
        base = ("weft: 1\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
                "workload: [{name: f, from: h0, to: h1, size: 100kB, path_mtu: 1024, "
                "retransmit: selective}]\n"
                "faults: [{do: drop, where: 'leaf1:p0', flow: %s, psn: '+20', iteration: 1}]\n")
        for name in ("f", "flow.f"):
            code, result, _ = run_json(base % name)
            flow = result["flows"][0]
            self.assertEqual((code, flow["retransmitted_packets"], flow["naks_received"]),
                             (0, 1, 1))
            self.assertGreaterEqual(flow["naks_sent"], 8)  # each that came beyond the gap

    def test_laws_know_the_round_trip_whatever_the_operation(self):
        base = ("weft: 1\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
                "cc: {bdp: {law: fixed, bdp: 1}}\n"
                "workload: [{name: f, from: h0, to: h1, size: 1MB, path_mtu: 1024, window: 1GB, "
                "op: %s, retransmit: %s, cc: %s}]\n")
        for op in ("write", "send", "read"):
            for mode in ("go_back_n", "go_back_0", "selective"):
                for law, most in (("bdp", 1010), ("swift", 1010), ("dctcp", 1010), ("hpcc", 1200)):
                    flow = run_json(base % (op, mode, law))[1]["flows"][0]
                    with self.subTest(op=op, mode=mode, law=law):
                        self.assertLess(flow["slowdown_permille"], most)
                        self.assertGreaterEqual(flow["slowdown_permille"], 999)

    def test_starts_are_drawn_from_the_seed_within_the_jitter(self):
        text = SEEDS.replace("repeat: {seeds: 5}\n", "").replace("expect:\n", "")
        text = text.replace("size:", "start: 5us, start_jitter: 20us, size:")
        starts = [[f["start_ps"] for f in run_json(text, "--seed", s)[1]["flows"]]
                  for s in ("3", "3", "4")]
        self.assertEqual(starts[0], starts[1])
        self.assertNotEqual(starts[0], starts[2])
        self.assertTrue(all(5e6 <= s <= 25e6 for s in starts[0]))
        self.assertGreater(len(set(starts[0])), 6)

    def test_junit(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "junit.xml")
            code, _, _ = weft("run", "--quiet", "--junit", path, "-", text=TWO + FLOW +
                              "expect: [flow.* completes, \"flow.f.delivered_bytes < 1kB\"]\n")
            suite = ET.parse(path).getroot()
        self.assertEqual(code, 1)
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "1"))
        failed = [c for c in suite if c.find("failure") is not None]
        self.assertEqual([c.get("name") for c in failed], ["flow.f.delivered_bytes < 1kB"])
        self.assertIn("found 100000B", failed[0].find("failure").get("message"))

    def test_several_seeds_are_judged_together(self):
        code, result, _ = run_json(SEEDS + "  - flow.* completes\n"
                                   "  - {that: max(flow.*.completion_ps) < 1ms, over_runs: p90}\n")
        fit(result, "weft.runs.1.json")
        for one in result["runs"]:
            fit(one, "weft.run.1.json")
        self.assertEqual(code, 0)
        self.assertEqual([r["seed"] for r in result["runs"]], [1, 2, 3, 4, 5])
        self.assertEqual(len({r["digest"] for r in result["runs"]}), 5)
        self.assertEqual([e["verdict"] for e in result["expectations"]], ["pass", "pass"])
        times = [max(f["completion_ps"] for f in r["flows"]) for r in result["runs"]]
        middle = sorted(times)[2]
        code, out, _ = weft("run", "-", text=SEEDS +
                            "  - {that: max(flow.*.completion_ps) < " f"{middle}ps, runs: 80%}}\n"
                            "  - {that: max(flow.*.completion_ps) <= " f"{middle}ps, over_runs: p60}}\n")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"FAILED: stdin:6:5: .*, found [345] of 5 runs failed it, the first with "
                              r"seed \d")
        self.assertIn("expectations over all runs: 1 passed, 1 failed", out)

    def test_a_run_that_does_not_end_fails(self):
        code, result, _ = run_json(TWO + "time_limit: 50us\n" + FLOW.replace("100kB", "100MB"))
        self.assertEqual(code, 1)
        self.assertEqual((result["verdict"], result["end"]), ("failed", "time_limit"))

    def test_a_fault_that_never_hits_fails(self):
        code, out, _ = weft("run", "-", text=TWO + FLOW + "timeline: [{at: 0, do: inject_drop, "
                                                          "where: 'h1:p0', match: roce_data}]\n")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: 1 injected faults never hit a frame", out)

    def test_a_flow_without_connection_fails(self):
        text = TWO + "hosts: {h1: {listen: {port: 7, refuse: 28}}}\n" + FLOW.replace(
            "to: h1", "to: h1, connect: 7, path_mtu: 1024")
        code, out, _ = weft("run", "-", text=text)
        self.assertEqual(code, 1)
        self.assertIn("FAILED: 1 flows got no connection, such as flow.f;", out)
        code, _, _ = weft("run", "-", text=text + "expect: [flow.f.failed_messages == 1]\n")
        self.assertEqual(code, 0)

    def test_ctrl_c_ends_with_the_summary(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(TWO + "links: {'*': {rate: 10Mbps}}\n" + FLOW.replace("100kB", "100MB"))
            f.flush()
            run = subprocess.Popen([WEFT, "run", "--live", f.name], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
            assert run.stderr is not None
            self.assertIn("of fabric time", run.stderr.readline())  # it runs
            run.send_signal(signal.SIGINT)
            out, _ = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        self.assertIn("stopped at ", out)
        self.assertTrue(out.endswith("stopped before its end\n"))

    def test_an_interrupted_virtual_run_judges_nothing_that_is_open(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(TWO + FLOW.replace("100kB", "2GB, count: 100") + "timeline: [{at: 0, do: inject_drop, "
                    "where: 'h1:p0', match: roce_data}]\nexpect:\n  - flow.f.completion_ps > 0\n"
                    "  - {never: sum(leaf*.rx_frames) > 1}\n")
            f.flush()
            with subprocess.Popen([WEFT, "run", f.name], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as run:
                self.assertIn("of fabric time", run.stderr.readline())  # it runs
                run.send_signal(signal.SIGINT)
                out, _ = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        self.assertIn("expectations: 0 passed, 1 failed, 1 skipped", out)
        self.assertIn("not judged: flow.f.completion_ps > 0", out)
        self.assertNotIn("never hit a frame", out)

    def test_pacing_changes_no_digest(self):
        slow = TWO + "time_scale: 20\n" + FLOW
        digests = []
        for live in ([], ["--live", "-i", f"paced{os.getpid()}"]):
            code, result, err = run_json(slow, *live)
            self.assertEqual(code, 0, err)
            digests.append(result["digest"])
        self.assertEqual(digests[0], digests[1])

    def test_a_live_run_is_an_instance_that_can_be_asked(self):
        name = f"live{os.getpid()}"
        text = TWO + "duration: 60s\n"
        with subprocess.Popen([WEFT, "run", "--live", "-i", name, "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            run.stdin.write(text)
            run.stdin.close()
            run.stdin = None
            for _ in range(200):
                code, out, err = weft("show", "ports", "-i", name)
                if code == 0:
                    break
                time.sleep(0.05)
            self.assertEqual(code, 0, err)
            self.assertIn("leaf0:p0", out)
            self.assertEqual(weft("inject", "down", "leaf0:p0", "-i", name)[0], 0)
            self.assertRegex(weft("show", "ports", "-i", name)[1], r"leaf0:p0 +h0:p0 +no")
            code, _, err = weft("run", "--live", "-i", name, "-", text=text)
            self.assertEqual(code, 3)
            self.assertIn("is running already", err)
            run.send_signal(signal.SIGINT)
            out, _ = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 130)
            self.assertIn("stopped", out)
        self.assertEqual(weft("show", "ports", "-i", name)[0], 3)

    def test_a_full_standard_output_is_no_success(self):
        incast = os.path.join(SOURCE, "scenarios", "incast.yaml")
        for command in (["run", "--no-capture", incast], ["check", "--explain", incast], ["--help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                run = subprocess.run([WEFT, *command], stdout=full, stderr=subprocess.PIPE,
                                     text=True, timeout=100, check=False)
            self.assertEqual(run.returncode, 3, command)
            self.assertIn("cannot write to the standard output", run.stderr)

    def test_a_capture_on_a_full_disk_is_told_and_no_success(self):
        text = TWO + FLOW + "capture: [{at: 'leaf0:p0', file: /dev/full}]\n"
        for live in ((), ("--live",)):
            code, out, err = weft("run", "--json", "-", *live, "-", text=text)
            self.assertEqual(code, 3, err)
            self.assertEqual(err.count("/dev/full: the capture ends after"), 1, err)
            self.assertGreater(json.loads(out)["capture_lost_packets"], 0)

    def test_wrong_use(self):
        for args, code, part in (
                (["run"], 2, "no scenario given"),
                (["run", "--jsn", "x"], 2, "unknown option '--jsn'"),
                (["run", "/nowhere.yaml"], 2, "/nowhere.yaml: error: cannot be read"),
                (["run", "--json", "/nowhere/x", os.path.join(SOURCE, "scenarios",
                                                              "two-hosts.yaml")], 3,
                 "cannot write /nowhere/x"),
                (["run", os.path.join(SOURCE, "scenarios", "lab.yaml")], 2,
                 "needs a live run (--live)")):
            with self.subTest(args):
                got, _, err = weft(*args)
                self.assertEqual(got, code, err)
                self.assertIn(part, err)


if __name__ == "__main__":
    if jsonschema is None:
        print("python3-jsonschema is not installed: JSON is not compared with its schema")
    sys.exit(unittest.main())
