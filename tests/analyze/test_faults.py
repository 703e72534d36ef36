#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each kind of fault that a fabric can inject, and what weft analyze makes of a capture at the
sender's leaf and of one at the receiver: the fault is named, and nothing else."""
import shutil
import sys
import tempfile
import unittest

import captures as cap

SCENARIO = """weft: 1
topology: {leaves: 2, spines: 1, hosts_per_leaf: 1}
workload: [{name: f, from: h0, to: h1, size: 64KiB, count: 2, path_mtu: 1024, window: 32KiB,
            ack_timeout: 1.048576ms}]
faults: [%s]
capture:
  - {at: 'leaf0:p0', file: sender.pcapng, drops: false}
  - {at: 'h1:p0', file: receiver.pcapng, drops: false}
"""


class Faults(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-analyze-")
        self.addCleanup(shutil.rmtree, self.dir)

    def found(self, fault):
        """At the sender's and at the receiver's: (what, verdict, number since the first) of each
        finding; and the connection as each saw it."""
        cap.run(SCENARIO % fault, self.dir)
        out = []
        for point in ("sender", "receiver"):
            result = cap.analyze(f"{self.dir}/{point}.pcapng")
            first = result["connections"][0]["requests"]["first_psn"]
            out.append([(f["what"], f["verdict"], f["psn"] - first) for f in result["findings"]])
            out.append(result["connections"][0])
        return out

    def test_lost_once(self):
        sender, _, receiver, _ = self.found("{do: drop, where: 'leaf0:p1', psn: +20, iteration: 1}")
        self.assertEqual(sender, [("loss", "network", 20)])
        self.assertEqual(receiver, sender)

    def test_lost_twice(self):
        fault = "{do: drop, where: 'leaf0:p1', psn: +20, iteration: %d}"
        sender, conn, receiver, _ = self.found(fault % 1 + ", " + fault % 2)
        self.assertEqual({f[1:] for f in sender}, {("network", 20)})
        self.assertEqual((len(sender), len(receiver)), (2, 2))
        self.assertEqual({f[1:] for f in receiver}, {("network", 20)})
        self.assertGreater(conn["requests"]["resent"], 20)

    def test_a_burst(self):
        sender, _, receiver, _ = self.found("{do: drop, where: 'leaf0:p1', psn: +20-24, iteration: 1}")
        self.assertEqual(sender, [("loss", "network", 20)])
        # the receiver's capture says it has lost nothing
        self.assertEqual(receiver, [("loss", "network", 20), ("loss", "network", 21)])

    def test_twice(self):
        sender, conn, receiver, _ = self.found("{do: duplicate, where: 'leaf0:p1', psn: +20}")
        self.assertEqual((sender, conn["requests"]["resent"]), ([], 0))
        self.assertEqual(receiver, [("duplicate", "no_loss", 20)])

    def test_overtaken(self):
        _, _, receiver, conn = self.found("{do: reorder, where: 'leaf0:p1', every: 21, limit: 1, "
                                          "behind: 3}")
        self.assertEqual({f[:2] for f in receiver}, {("reordered", "no_loss")})
        self.assertEqual(receiver[0][2], 20)
        self.assertEqual(conn["requests"]["reordered"], 1)

    def test_so_late_that_it_was_sent_again(self):
        _, _, receiver, conn = self.found("{do: delay, where: 'leaf0:p1', psn: +20, iteration: 1, "
                                          "delay: 2ms}")
        self.assertEqual(receiver, [("loss", "network", 20), ("reordered", "no_loss", 20)])

    def test_damaged(self):
        fault = "{do: corrupt, where: 'leaf0:p1', psn: +20, iteration: 1, crc: %s}"
        sender, _, receiver, _ = self.found(fault % "fcs")
        self.assertEqual((sender, receiver), ([("loss", "network", 20)],) * 2)
        sender, _, receiver, conn = self.found(fault % "icrc")
        self.assertEqual(sender, [("loss", "network", 20)])
        self.assertEqual((receiver, conn["icrc"]["wrong"]), ([("damaged", "network", 20)], 1))

    def test_marked(self):
        sender, before, receiver, behind = self.found("{do: ce, where: 'leaf0:p1', every: 10}")
        self.assertEqual((sender, receiver, before["ecn"]["ce"]), ([], [], 0))
        self.assertEqual(behind["ecn"]["ce"], 12)

    def test_an_rnr_nak_that_nobody_sent(self):
        sender, conn, _, _ = self.found("{do: rnr, where: 'leaf0:p1', dir: in, nth: 3, timer: 12}")
        self.assertEqual([f[:2] for f in sender], [("rnr", "no_loss")])
        self.assertEqual(conn["answers"]["rnr_naks"], 1)
        self.assertEqual(sum(conn["lost"].values()), 0)

    def test_a_nak_that_ends_it(self):
        sender, conn, _, _ = self.found("{do: nak, where: 'leaf0:p1', dir: in, nth: 3, "
                                        "code: remote_access}")
        self.assertIn(("refused", "no_loss"), [f[:2] for f in sender])
        self.assertEqual(conn["answers"]["error_naks"], 1)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
