#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--set of run, check and replay, and the manifest of every output with the scenario's hash."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

try:
    import jsonschema
except ImportError:
    jsonschema = None

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
INCAST = os.path.join(SOURCE, "scenarios", "incast.yaml")
TWO = ("weft: 1\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
       "workload: [{name: f, from: h0, to: h1, size: 100kB}]\n")


def weft(*args, text=None):
    done = subprocess.run([WEFT, *args], input=text, capture_output=True, text=True, timeout=100,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def run(text, *args):
    code, out, err = weft("run", "--no-capture", "--json", "-", *args, "-", text=text)
    if code > 1:
        raise AssertionError(err)
    return json.loads(out)


def canonical_sha(text, *args):
    return hashlib.sha256(weft("check", "--canonical", *args, "-",
                               text=text)[1].encode()).hexdigest()


class Set(unittest.TestCase):
    def test_what_is_set_is_what_runs(self):
        for key, value, line in (("workload.f.size", "300kB", "size: 300kB"),
                                 ("workload.0.size", "300kB", "size: 300kB")):
            self.assertEqual(run(TWO, "--set", f"{key}={value}")["digest"],
                             run(TWO.replace("size: 100kB", line))["digest"])
        self.assertEqual(run(TWO, "--set", "seed=9")["seed"], 9)
        self.assertEqual(run(TWO, "--set", "links.h0.rate=10Gbps")["digest"],
                         run(TWO + "links: {h0: {rate: 10Gbps}}\n")["digest"])
        self.assertEqual(run(TWO, "--set", "workload.f.from=[h1]", "--set", "workload.f.to=h0")
                         ["flows"][0]["delivered_bytes"], 100000)

    def test_it_wins_over_every_entry_of_the_file(self):
        text = TWO + "links: {h0: {rate: 10Gbps}, '*': {rate: 25Gbps}}\n"
        code, out, _ = weft("check", "--explain", "--set", "links.h0.rate=40Gbps", "-", text=text)
        self.assertEqual(code, 0)
        self.assertEqual(out.count("rate = 40Gbps  # --set links.h0.rate=40Gbps\n"), 1)
        self.assertIn("rate = 25Gbps  # stdin:4:41\n", out)
        for extra in ("links.*.rate=1Gbps", "links.h0-*.rate=1Gbps"):
            _, out, _ = weft("check", "--explain", "--set", "links.h0.rate=40Gbps", "--set", extra,
                             "-", text=text)
            self.assertNotIn("40Gbps", out)

    def test_origins_of_all_sections(self):
        sets = ("switches.leaf*.queue.3.kmin=50kB", "seed=9", "workload.in.size=2MB",
                "hosts.h0.pfc.quanta=60000", "repeat.seeds=2", "topology.spines=3",
                "hosts.*.dscp_to_priority={27: 4}", "timeline=[]")
        args = [a for s in sets for a in ("--set", s)]
        code, out, err = weft("check", "--explain", *args, INCAST)
        self.assertEqual(code, 0, err)
        for s in sets[:-1]:
            self.assertIn(f"# --set {s}", out)
        self.assertIn("queue.3.kmin = 50kB  # --set switches.leaf*.queue.3.kmin=50kB", out)

    def test_mistakes_are_told_as_in_files(self):
        for text, part in (
                ("switches.lef*.queue.3.kmin=50kB", "'lef*' matches no switch; did you mean 'leaf0'?"),
                ("switches.leaf*.queux.3.kmin=5kB", "unknown key 'queux' in switch; did you mean 'queue'?"),
                ("switches.leaf*.queue.3.kmin=50", "kmin: '50' has no unit, expected a size with"),
                ("switches.*.queue.9.kmin=1kB", "queue: '9' is out of range, expected 0 to 7"),
                ("swiches.*.latency=1us", "unknown key 'swiches' in scenario; did you mean 'switches'?"),
                ("switches.leaf0=3", "expected a pattern and a key below 'switches'"),
                ("workload.inn.size=1MB", "no entry 'inn' in workload; did you mean 'in'?"),
                ("workload.7.size=1MB", "'workload' has 1 entries, there is no number 7"),
                ("workload.in.sizze=1MB", "unknown key 'sizze' in workload; did you mean 'size'?"),
                ("seed.x=3", "seed: expected a value, found a mapping"),
                ("name.x=3", "'name' is a value, there is nothing below it"),
                ("topology.leaves=", "leaves: expected a value, found nothing"),
                ("topology..leaves=3", "an empty word in the key"),
                ("a.b.c.d.e.f.g.h.i.j.k.l.m=1", "more than 12 words in the key"),
                ("hosts.*.mtu=[1", "YAML syntax: "),
                ("expect.0=1", "expectations can't be set"),
                ("=3", "expected KEY=VALUE"), ("seed", "expected KEY=VALUE")):
            for command in (["run", "--no-capture"], ["check"]):
                with self.subTest(text=text, command=command):
                    code, out, err = weft(*command, "--set", text, INCAST)
                    self.assertEqual((code, out), (2, ""))
                    self.assertEqual(err.count(f"--set {text}: error: "), 1, err)
                    self.assertIn(part, err)
        self.assertEqual(weft("run", INCAST, "--set")[0], 2)
        self.assertIn("--set needs a value", weft("run", INCAST, "--set")[2])
        self.assertIn("more than 64 times", weft("run", *["--set", "seed=1"] * 65, INCAST)[2])


class Manifest(unittest.TestCase):
    def test_every_key_is_there_and_right(self):
        result = run(TWO, "--seed", "7", "--set", "workload.f.size=5kB")
        m = result["manifest"]
        self.assertEqual((m["seed"], m["digest"]), (7, result["digest"]))
        self.assertEqual(m["command"], "weft run --no-capture --json - --seed 7 --set "
                                       "workload.f.size=5kB -")
        self.assertEqual(m["kernel"], os.uname().release)
        self.assertEqual(m["arch"], os.uname().machine)
        self.assertEqual(m["cpus"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertRegex(m["compiler"], r"^(gcc|clang) \d+\.")
        self.assertEqual("weft " + m["version"], weft("--version")[1].strip())
        self.assertRegex(m["version"], r"^\d+\.\d+\.\d+(\+[\w.-]+)?$")
        self.assertEqual(m["scenario_sha256"],
                         canonical_sha(TWO, "--set", "workload.f.size=5kB"))

    def test_the_hash_is_of_what_counts(self):
        base = canonical_sha(TWO)
        same = ("# a comment\n" + TWO.replace("{leaves: 2, spines: 1, hosts_per_leaf: 1}",
                                              "\n  leaves:    2\n  spines: 1\n  hosts_per_leaf: 1"))
        self.assertEqual(canonical_sha(same), base)
        self.assertEqual(run(same, "--seed", "3")["manifest"]["scenario_sha256"], base)
        other = [canonical_sha(TWO.replace("100kB", "101kB")), canonical_sha(TWO, "--set", "seed=2"),
                 canonical_sha(TWO + "profile: spectrum-roce\n"), canonical_sha(TWO + "profile: td3\n")]
        self.assertEqual(len({base, *other}), 5)

    def test_a_profiles_content_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            shas = []
            os.mkdir(os.path.join(folder, "profiles"))
            path = os.path.join(folder, "a.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(TWO + "profile: mine\n")
            for latency in ("1us", "2us"):
                with open(os.path.join(folder, "profiles", "mine.yaml"), "w", encoding="utf-8") as f:
                    f.write(f"weft: 1\nswitches: {{'*': {{latency: {latency}}}}}\n")
                out = weft("run", "--json", "-", path)[1]
                shas.append(json.loads(out)["manifest"]["scenario_sha256"])
        self.assertNotEqual(*shas)

    def test_junit_and_captures_have_it_too(self):
        with tempfile.TemporaryDirectory() as folder:
            junit, pcap = os.path.join(folder, "j.xml"), os.path.join(folder, "c.pcapng")
            text = TWO + f"capture: [{{at: 'h1:p0', file: {pcap}}}]\n"
            self.assertEqual(weft("run", "--junit", junit, "-", text=text)[0], 0)
            props = {p.get("name"): p.get("value") for p in ET.parse(junit).getroot().iter("property")}
            with open(pcap, "rb") as f:
                head = f.read(8192)
        sha = canonical_sha(text)
        self.assertEqual((props["scenario_sha256"], props["seed"]), (sha, "1"))
        self.assertRegex(props["digest"], r"^wf1:[0-9a-f]{16}$")
        self.assertIn(f"(sha256 {sha}), seed 1, command: weft run --junit".encode(), head)

    def test_a_replay_has_it(self):
        capture = os.path.join(SOURCE, "captures", "rocev2-sends.pcap")
        code, out, err = weft("replay", "--json", "--set", "links.*.delay=1us", capture,
                              os.path.join(SOURCE, "scenarios", "replay.yaml"))
        self.assertEqual(code, 0, err)
        result = json.loads(out)
        if jsonschema is not None:
            with open(os.path.join(SOURCE, "docs", "schema", "weft.replay.1.json"),
                      encoding="utf-8") as f:
                schema = json.load(f)
            jsonschema.validate(result, schema)
            for spoil in ({"digest": "x"}, {"manifest": {}}, {"replay": {**result["replay"],
                                                                         "flows": [{"flow": "x"}]}}):
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate({**result, **spoil}, schema)
        self.assertEqual(result["manifest"]["digest"], result["digest"])
        self.assertEqual(len(result["manifest"]["scenario_sha256"]), 64)
        self.assertIn("--set links.*.delay=1us", result["manifest"]["command"])


if __name__ == "__main__":
    if jsonschema is None:
        print("python3-jsonschema is not installed: JSON is not compared with its schema")
    sys.exit(unittest.main())
