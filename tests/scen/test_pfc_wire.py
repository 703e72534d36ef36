#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counters of PFC say what stands on the wire, as tshark reads it from a capture of each port."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))

# Small frames make groups fill and empty within the time of one long frame the other way: what
# is decided meanwhile goes into one PFC frame.
SCENARIO = """
weft: 1
name: pfc-wire
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 3}
links: {"*": {loss: 1/400, corrupt: 1/300}, "h[0-2]": {rate: 25Gbps}}
lossless: best_effort
switches:
  "*":
    pfc: {quanta: 400}
    pg: {2-4: {lossless: true, xoff: 3000B, xon: 2900B}}
workload:
  - {name: a, kind: incast, from: "h[1-5]", to: h0, size: 60kB, path_mtu: 256, ack_timeout: 100us, dscp: 26}
  - {name: b, kind: incast, from: "h[2-4]", to: h1, size: 60kB, path_mtu: 512, ack_timeout: 100us, dscp: 18}
  - {name: c, from: h0, to: h4, size: 400kB, path_mtu: 4096, ack_timeout: 100us, dscp: 0}
  - {name: d, kind: incast, from: [h0, h5], to: h2, size: 200kB, path_mtu: 4096, ack_timeout: 100us, dscp: 32}
capture:
  - {at: "*", file: all.pcapng, match: control}
expect:
  - lossless_drops_expected: true
"""
RX, TX = "0x00000001", "0x00000002"
FIELDS = (["frame.interface_name", "frame.packet_flags_direction", "frame.comment"]
          + [f"macc.cbfc.enbv.c{p}" for p in range(8)]
          + [f"macc.cbfc.pause_time.c{p}" for p in range(8)])


def decoded(path):
    """(port, direction, {priority: quanta}) of each PFC frame that a port sent or got whole."""
    fields = [x for f in FIELDS for x in ("-e", f)]
    out = subprocess.run(["tshark", "-r", path, "-T", "fields", *fields], check=True,
                         capture_output=True, text=True).stdout
    for line in out.splitlines():
        words = line.split("\t")
        times = {p: int(words[11 + p]) for p in range(8) if words[3 + p] in ("1", "True")}
        yield words[0], words[1], words[2], times


@unittest.skipUnless(shutil.which("tshark"), "no tshark")
class Wire(unittest.TestCase):
    maxDiff = None

    def run_it(self):
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "s.yaml"), "w", encoding="utf-8") as f:
                f.write(SCENARIO)
            done = subprocess.run([WEFT, "run", "--json", "-", "s.yaml"], check=False, cwd=d,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout), list(decoded(os.path.join(d, "all.pcapng")))

    def test_each_priority_of_each_port(self):
        result, frames = self.run_it()
        sent, got = {}, {}
        for port, direction, comment, times in frames:
            if "drop" in comment or (direction == RX and "damaged" in comment):
                continue
            for prio, quanta in times.items():
                side = sent if direction == TX else got
                key = (f"{port}.prio{prio}", "xoff" if quanta else "xon")
                side[key] = side.get(key, 0) + 1
        self.assertGreater(sum(sent.values()), 200)
        self.assertGreater(sum(got.values()), 200)
        for way, seen in (("tx", sent), ("rx", got)):
            counted = {}
            for p in result["priorities"]:
                xoff = (p.get(f"pfc_xoff_{way}_frames", 0) + p.get(f"pfc_refresh_{way}_frames", 0))
                if xoff:
                    counted[p["name"], "xoff"] = xoff
                if p.get(f"pfc_xon_{way}_frames"):
                    counted[p["name"], "xon"] = p[f"pfc_xon_{way}_frames"]
            self.assertEqual(seen, counted)


if __name__ == "__main__":
    sys.exit(unittest.main())
