#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the program writes does not depend on --lcores: results, captures, replays."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
SOURCE = os.path.abspath(os.environ.get("WEFT_SOURCE", "."))
SCENARIO = """
weft: 1
name: lcores
topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2}
links: {"*": {delay: 50ns}}
workload:
  - {name: a, from: h0, to: h7, size: 100kB}
  - {name: b, from: h2, to: h7, size: 100kB}
  - {name: c, from: h4, to: h1, size: 50kB}
capture:
  - {at: "leaf*", file: all.pcapng, snaplen: 64B}
"""


def weft(*words, cwd=None, code=0):
    done = subprocess.run([WEFT, *words], check=False, cwd=cwd, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != code:
        raise AssertionError(f"weft {' '.join(words)}: {done.returncode}\n{done.stderr}")
    return done


def without_manifest(text):
    result = json.loads(text)
    result.pop("manifest", None)
    for key in [k for k in result if k.startswith("wall")]:
        del result[key]
    return result


class Lcores(unittest.TestCase):
    def test_results_and_captures_are_the_same(self):
        seen = []
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "s.yaml"), "w", encoding="utf-8") as f:
                f.write(SCENARIO)
            for lcores in ("1", "2", "4"):
                out = weft("run", "--lcores", lcores, "--json", "-", "s.yaml", cwd=d).stdout
                packets = subprocess.run(
                    ["tshark", "-r", "all.pcapng", "-T", "fields", "-e", "frame.time_epoch", "-e",
                     "frame.interface_name", "-e", "frame.comment", "-e", "frame.len"],
                    check=True, cwd=d, capture_output=True).stdout
                seen.append((without_manifest(out), packets))
        self.assertGreater(len(seen[0][1]), 10000)
        for other in seen[1:]:
            self.assertEqual(seen[0][0], other[0])
            self.assertEqual(seen[0][1], other[1])

    def test_replays_are_the_same(self):
        for capture in ("rocev2-sends.pcap", "rocev2-ipv6.pcap"):
            seen = [without_manifest(
                weft("replay", "--map", "auto", "--lcores", n, "--json",
                     os.path.join(SOURCE, "captures", capture),
                     os.path.join(SOURCE, "scenarios", "replay.yaml")).stdout) for n in "124"]
            self.assertEqual(seen[0]["verdict"], "pass")
            self.assertEqual(seen[0], seen[1])
            self.assertEqual(seen[0], seen[2])

    def test_fewer_lcores_are_announced(self):
        path = os.path.join(SOURCE, "scenarios", "two-hosts.yaml")
        done = weft("run", "--quiet", "--no-capture", "--lcores", "8", path)
        self.assertIn("on 3 of 8 lcores", done.stderr)
        done = weft("check", "--lcores", "8", path)
        for words in ("partition: 3 of 8 lcores", "lookahead 505.1ns", "floor 20.00ns"):
            self.assertIn(words, done.stdout)

    def test_bad_numbers_are_refused(self):
        path = os.path.join(SOURCE, "scenarios", "two-hosts.yaml")
        for bad in ("0", "65", "-1", "two"):
            weft("run", "--lcores", bad, path, code=2)
        weft("check", "--lcores", "0", path, code=2)


if __name__ == "__main__":
    sys.exit(unittest.main())
