#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The field's case O11: the number of a priority is no index of a queue pair. A pause of each of the eight
priorities, with no, one and two flows in it, stops these and no others."""
import json
import os
import subprocess
import tempfile
import unittest

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
SCENARIO = """weft: 1
duration: 1ms
topology: {{kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 3}}
workload:
  - {{name: other, from: h1, to: h0, size: 1MB, dscp: {other}}}
{flows}timeline:
  - {{at: 20us, do: pfc, where: "leaf0:p1", priorities: [{prio}], quanta: 65535}}
"""
FLOW = "  - {{name: f{i}, from: h1, to: h2, size: 1MB, dscp: {dscp}}}\n"


class FieldO11(unittest.TestCase):
    def look(self, prio, flows):
        other = (prio + 1) % 8
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
            f.write(SCENARIO.format(prio=prio, other=8 * other,
                                    flows="".join(FLOW.format(i=i, dscp=8 * prio + i) for i in range(flows))))
            f.flush()
            done = subprocess.run([WEFT, "run", "--no-capture", "--json", "-", f.name], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        r = json.loads(done.stdout)
        prios = {p["name"]: p for p in r["priorities"]}
        took = {f["name"]: f["completion_ps"] / 1e6 for f in r["flows"]}
        self.assertEqual(prios[f"h1:p0.prio{prio}"]["pfc_xoff_rx_frames"], 1)
        # 65535 quanta of 512 bits at 100 Gb/s
        self.assertAlmostEqual(prios[f"h1:p0.prio{prio}"]["paused_ps"] / 1e6, 335.5, delta=2)
        self.assertLess(took["flow.other"], 300)
        for i in range(flows):
            self.assertGreater(took[f"flow.f{i}"], 335.5)

    def test_fc_o11_each_priority(self):
        for prio in range(8):
            for flows in range(3):
                with self.subTest(prio=prio, flows=flows):
                    self.look(prio, flows)


if __name__ == "__main__":
    unittest.main()
