#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tunnels as people set them: flows of model hosts complete, the same run on any number of lcores,
what can't work is refused at its line."""
import json
import os
import subprocess
import sys
import unittest

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
GOOD = """weft: 1
topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2}
switches:
  "leaf[0-1]": {vxlan: {vni: 100, dscp_mode: pipe, dscp: 26}}
  "leaf[2-3]": {vxlan: {vni: 200}}
  "spine*": {queue: {3: {ecn: true, kmin: 0, kmax: 0}}}
workload:
  - {name: a, from: h0, to: h3, size: 300kB, dscp: 26}
  - {name: b, from: h4, to: h7, size: 300kB, dscp: 26}
  - {name: c, from: h1, to: h2, size: 300kB, path_mtu: 4096, ecn: not_ect}
  - {name: routed, from: h5, to: h0, size: 30kB}
expect:
  - flow.* completes
  - sum(*.drop_frames) == 0
  - flow.a.ce_received_packets > 50
  - flow.b.ce_received_packets > 50
  - flow.c.ce_received_packets == 0
"""


def weft(*words, text):
    return subprocess.run([WEFT, *words], input=text, check=False, capture_output=True, text=True,
                          timeout=60)


class Vxlan(unittest.TestCase):
    def test_flows_pass_tunnels_on_any_number_of_lcores(self):
        digests = set()
        for lcores in ("1", "2", "4"):
            done = weft("run", "--no-capture", "--lcores", lcores, "--json", "-", "-", text=GOOD)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            digests.add(json.loads(done.stdout)["digest"])
        self.assertEqual(len(digests), 1)

    def test_trunks_between_switches_carry_tunnels(self):
        text = GOOD + 'ports: {"spine*:*": {vlan: {mode: trunk, pvid: 1, svi: 10}}}\n'
        done = weft("run", "--no-capture", "-", text=text)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_bridge_is_no_end_of_tunnels(self):
        done = weft("check", "-", text=GOOD.replace("vni: 200", "vni: 200}, forwarding: l2, lb: {"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("stdin:5:30: error: vxlan: leaf2 has forwarding l2", done.stderr)

    def test_two_ends_have_two_addresses(self):
        done = weft("check", "-", text=GOOD.replace("vni: 200", "vni: 200, ip: 192.0.2.1"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("vxlan: leaf2 and leaf3 have the same address", done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
