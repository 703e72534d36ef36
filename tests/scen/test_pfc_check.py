#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What weft check says of pauses that nobody obeys, of quanta and of watchdogs; what a run says of
storms."""
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.environ.get("WEFT_SOURCE", "."))
WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
SCENARIO = """weft: 1
topology: {{kind: leaf_spine, leaves: {leaves}, spines: {spines}, hosts_per_leaf: 2}}
links: {{"*": {{rate: 100Gbps{link}}}}}
switches: {{"*": {{pg: {{3: {{lossless: true}}}}{switch}}}}}
hosts: {{"*": {{mtu: 4200{host}}}}}
"""


def check(switch="", host="", link="", leaves=1):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(SCENARIO.format(switch=switch, host=host, link=link, leaves=leaves,
                                    spines=int(leaves > 1)))
        done = subprocess.run([WEFT, "check", path], check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Check(unittest.TestCase):
    def refused(self, says, **keys):
        code, text = check(**keys)
        self.assertEqual(code, 2, text)
        self.assertIn(says, text)

    def taken(self, **keys):
        code, text = check(**keys)
        self.assertEqual(code, 0, text)
        return text

    def test_as_it_should_be(self):
        self.assertNotIn("warning", self.taken())
        self.taken(switch=", flow_control: pause", host=", flow_control: pause")
        self.taken(switch=", flow_control: pause", host=", pfc: {obey_pause: true}")
        self.taken(switch=", pfc: {priorities: [3]}", host=", pfc: {priorities: [3, 4]}")

    def test_pauses_that_nobody_obeys(self):
        self.refused("4:", switch=", flow_control: none")
        self.refused("is lossless, but it sends no pauses", switch=", flow_control: none")
        self.refused("its peer does not obey 802.3x pause", switch=", flow_control: pause")
        self.refused("PFC is not enabled for the priority that it pauses",
                     switch=", pfc: {priorities: [2]}")
        self.refused("its peer does not obey PFC", host=", pfc: {enable: false}")
        self.refused("its peer does not obey PFC", host=", flow_control: pause")
        self.refused("its peer does not obey PFC for the priority that it pauses",
                     host=", pfc: {priorities: [4]}")

    def test_quanta_that_are_too_short_for_a_long_link(self):
        # 1,000 quanta are refreshed each 2.56 us: 4,096 of them take 10.5 ms of link
        self.taken(switch=", buffer: 1GiB, pfc: {quanta: 1000}", link=", delay: 10ms")
        self.refused("4096 refreshes would be on the link at once",
                     switch=", buffer: 1GiB, pfc: {quanta: 1000}", link=", delay: 11ms")

    def test_watchdogs(self):
        on = ", watchdog: {action: drop, detect: 1ms, restore: 1ms, poll: %s}"
        self.assertNotIn("warning", self.taken(switch=on % "1ms"))
        self.refused("poll is 2ms, longer than detect", switch=on % "2ms")
        # 65535 quanta are 335.5 us
        short = ", watchdog: {action: drop, detect: %s, poll: 10us}"
        self.assertNotIn("warning", self.taken(switch=short % "336us"))
        self.assertIn("takes a pause of 335us for a storm, but its peer may have reason for 335539.2ns",
                      self.taken(switch=short % "335us").replace("\n", " "))
        # told once for each place that sets it, however many switches there are
        self.assertEqual(self.taken(switch=short % "335us", leaves=3).count("for a storm"), 1)

    def test_summary_of_storms(self):
        path = os.path.join(SOURCE, "scenarios", "acceptance", "pfcwd-drop.yaml")
        out = subprocess.run([WEFT, "run", "--no-capture", path], check=True, capture_output=True,
                             stdin=subprocess.DEVNULL, text=True).stdout
        self.assertEqual([line.split()[3:] for line in out.splitlines() if "priority 3 " in line],
                         [["1", "1", "0", "147", "0", "49"]])


if __name__ == "__main__":
    sys.exit(unittest.main())
