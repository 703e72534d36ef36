#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The incasts of docs/VALIDATION.md against closed forms, which are also what the simulator beside
it was found to follow: completion of the last flow and the longest queue at 2, 8 and 16 to 1; and
the field cases whose report is asked to name something."""
import json
import os
import subprocess
import unittest

WEFT = os.environ.get("WEFT", "build/weft")
SOURCE = os.environ.get("WEFT_SOURCE", ".")
RATE = 100e9 / 8     # bytes a second
DELAY = 1e-6         # of a link
XOFF = 15 * 1024


def result(path, *args):
    done = subprocess.run([WEFT, "run", "--no-capture", "--quiet", "--json", "-", *args,
                           os.path.join(SOURCE, "scenarios", path)], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(f"{path}: exit status {done.returncode}")
    return json.loads(done.stdout)


def wire_bytes(size, mtu=1024):
    """Of a message: Ethernet, IPv4, UDP, BTH, ICRC, FCS, preamble and gap, and one RETH."""
    packets = -(-size // mtu)
    pad = -size % 4
    return size + pad + packets * (14 + 20 + 8 + 12 + 4 + 4 + 20) + 16


class Validation(unittest.TestCase):
    def test_incasts(self):
        for n in (2, 8, 16):
            run = result("validation/incast.yaml", "--set", f"workload.in.path=incast-{n}.cm")
            last = max(f["completion_ps"] for f in run["flows"]) * 1e-12
            # all bytes at the receiver's port, the first frame's way there, two links each way, an ACK
            want = (n * wire_bytes(1000000) + 1122 + 86) / RATE + 4 * DELAY
            self.assertAlmostEqual(last / want, 1, delta=1e-4, msg=f"{n}:1: {last} and {want}")
            peak = max(q["queue_max_bytes"] for q in run["queues"] if q["name"] == "tor0:p0.q3")
            # of each port: up to XOFF, then what comes while the pause is on its way and obeyed
            # (394 quanta of 512 bits at 100 Gb/s), less what leaves meanwhile, which is 1/n of it
            late = (2 * DELAY + 394 * 512 / 8 / RATE) * RATE
            want = n * (XOFF + late * (1 - 1 / n))
            self.assertAlmostEqual(peak / want, 1, delta=0.12, msg=f"{n}:1: {peak} and {want}")

    def test_beside_hpcc(self):
        """Two flows of 200 MB: DCQCN keeps the line full, HPCC uses 95% of it; nobody is paused."""
        flows, size, window = 2, 200000000, 52000
        for law in ("dcqcn", "hpcc"):
            run = result("validation/hpcc.yaml", "--set", f"cc.control.law={law}")
            last = max(f["completion_ps"] for f in run["flows"]) * 1e-12
            if law == "dcqcn":
                want = (flows * wire_bytes(size) + 1122 + 86) / RATE + 4 * DELAY
                self.assertAlmostEqual(last / want, 1, delta=1e-4, msg=f"{last} and {want}")
            else:  # telemetry counts frames, and its own bytes
                sent = next(p["tx_bytes"] for p in run["ports"] if p["name"] == "sw0:p0")
                self.assertAlmostEqual(sent / RATE / last, 0.95, delta=0.005)
            peak = max(q["queue_max_bytes"] for q in run["queues"] if q["name"] == "sw0:p0.q3")
            want = (flows * window / 1024 - 4 * DELAY * RATE / 1106) * 1086
            self.assertAlmostEqual(peak / want, 1, delta=0.02 if law == "dcqcn" else 0.1)
            self.assertEqual(sum(p.get("pfc_xoff_tx_frames", 0) for p in run["priorities"]), 0)

    def test_beside_hpcc_pauses(self):
        """What pauses hang on at 16:1 is how often a CNP may come."""
        peaks = {}
        for interval in ("0", "50us"):
            run = result("validation/hpcc.yaml", "--set", "cc.control.law=dcqcn",
                         "--set", "topology.path=hpcc-star17.txt", "--set",
                         "workload.f.path=hpcc-in16.txt", "--set", "workload.f.window=1GB",
                         "--set", f"hosts.*.nic.cnp_interval={interval}")
            xoffs = sum(p.get("pfc_xoff_tx_frames", 0) for p in run["priorities"])
            self.assertEqual(xoffs > 0, interval != "0", interval)
            peaks[interval] = max(q["queue_max_bytes"] for q in run["queues"])
            self.assertGreater(max(f["completion_ps"] for f in run["flows"]) * 1e-12, 64e6 / RATE)
        self.assertGreater(peaks["50us"], 1.5 * peaks["0"])

    def test_field_cases(self):
        """Each of them says itself what it expects."""
        for name in ("fc_O10-lossy", "fc_O10-ecn", "fc_O10-pfc", "fc_O12-errors", "fc_E11-loss",
                     "fc_E11-queue", "fc_E11-ecmp", "fc_E11-ecmp-ports"):
            with self.subTest(name=name):
                self.assertEqual(result(f"field/{name}.yaml")["verdict"], "passed")

    def test_fc_o12_names_ports_and_priority(self):
        run = result("field/fc_O12.yaml")
        self.assertTrue(run["headroom_missing"])
        lost = sum(d["frames"] for d in run["drops"] if d["reason"] == "lossless_drop")
        self.assertEqual(sum(h["drop_frames"] for h in run["headroom_missing"]), lost)
        for h in run["headroom_missing"]:
            self.assertEqual(h["priority"], 3)
            self.assertEqual(h["headroom_bytes"], 2000)
            self.assertGreater(h["needed_bytes"], 2 * 2e-6 * 10e9 / 8)  # two delays at the rate
        self.assertFalse(result("field/fc_O10-pfc.yaml")["headroom_missing"])


if __name__ == "__main__":
    unittest.main()
