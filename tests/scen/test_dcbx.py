#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lldp: and dcbx: in a scenario: what two switches say to each other, as it is shown, and where they
disagree; the same on one lcore and on two; what is wrong with a scenario's keys."""
import json
import os
import subprocess
import sys
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
SCENARIO = """weft: 1
duration: 70s
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1}
switches:
  "*":
    pg: {3: {lossless: true}}
    tc_to_queue: {0: 0, 1: 0, 2: 0, 3: 3, 4: 0, 5: 0, 6: 6, 7: 0}
    queue: {6: {sched: strict}}
    lldp: {enable: true}
    dcbx: {enable: true, app: {0: {selector: dscp, protocol: 48, priority: 6}}}
ports:
  "spine0:p1": {pg: {4: {lossless: true}}, dcbx: {roce_priority: 4, recommend: false}}
  "leaf1:p1": {dcbx: {pfc_willing: true, ets_willing: true, app_willing: true}}
  "leaf*:p0": {lldp: {enable: false}, dcbx: {enable: false}}
"""


def run(text, *args):
    done = subprocess.run([WEFT, "run", "-", "--json", "-", *args], input=text, capture_output=True,
                          text=True, timeout=100, check=False)
    return done.returncode, done.stdout, done.stderr


class Dcbx(unittest.TestCase):
    def setUp(self):
        code, self.out, err = run(SCENARIO)
        self.assertEqual(code, 0, err)
        self.result = json.loads(self.out)
        self.rows = {r["name"]: r for r in self.result["dcbx"]}

    def test_what_is_said_is_the_configuration(self):
        got = self.rows["spine0:p0"]["received"]
        self.assertEqual(got, self.rows["leaf0:p1"]["own"])
        self.assertEqual(got["pfc"]["priorities"], [3])
        self.assertEqual(got["ets"]["tc"], [0, 0, 0, 3, 0, 0, 6, 0])
        self.assertEqual(got["ets"]["bandwidth_percent"], [50, 0, 0, 50, 0, 0, 0, 0])
        self.assertEqual(got["ets"]["algorithm"][6], "strict")
        self.assertEqual(got["ets_recommendation"], got["ets"])
        self.assertEqual(got["apps"], [{"selector": "udp", "protocol": 4791, "priority": 3},
                                       {"selector": "dscp", "protocol": 48, "priority": 6}])
        self.assertNotIn("leaf0:p0", self.rows)

    def test_only_the_willing_follow(self):
        self.assertEqual({n: r["peer"] for n, r in self.rows.items()},
                         {"leaf0:p1": "ieee_not_willing", "leaf1:p1": "ieee_not_willing",
                          "spine0:p0": "ieee_not_willing", "spine0:p1": "ieee_willing"})
        leaf, spine = (self.rows[n]["operational"] for n in ("leaf1:p1", "spine0:p1"))
        self.assertEqual((leaf["pfc"]["priorities"], leaf["pfc_of"]), ([3, 4], "peer"))
        self.assertEqual((spine["pfc"]["priorities"], spine["pfc_of"]), ([3, 4], "own"))
        self.assertEqual((leaf["roce_priority"], leaf["roce_of"]), (4, "peer"))
        self.assertEqual(leaf["ets_of"], "own")  # nothing was recommended

    def test_disagreements_are_named(self):
        self.assertEqual(self.rows["leaf0:p1"]["differs"], "")
        self.assertEqual(self.rows["leaf1:p1"]["differs"],
                         "PFC differs: 3 here, 3,4 at the peer; priority of UDP 4791 differs: "
                         "3 here, 4 at the peer")
        text = subprocess.run([WEFT, "run", "-"], input=SCENARIO, capture_output=True, text=True,
                              timeout=100, check=True).stdout
        self.assertRegex(text, r"leaf1:p1 +ieee_not_willing +3 +3,4 +3,4 +PFC differs: 3 here")

    def test_cee_between_two_that_may(self):
        """The one speaks CEE only, the other as its peer does: acknowledged both ways, the willing
        one follows, and PFC for 3 is off at its port as it is at the peer's."""
        text = SCENARIO.replace('roce_priority: 4, recommend: false}', 'version: cee}')
        text = text.replace('pg: {4: {lossless: true}}, dcbx', 'pg: {3: {lossless: false}, '
                            '4: {lossless: true}}, dcbx').replace(
                                'dcbx: {pfc_willing: true,', 'dcbx: {version: auto, pfc_willing: true,')
        code, out, err = run(text)
        self.assertEqual(code, 0, err)
        rows = {r["name"]: r for r in json.loads(out)["dcbx"]}
        leaf, spine = rows["leaf1:p1"], rows["spine0:p1"]
        self.assertEqual((leaf["operational"]["version"], spine["operational"]["version"]),
                         ("cee", "cee"))
        self.assertEqual((leaf["peer"], spine["peer"]), ("cee", "cee"))
        self.assertEqual(leaf["operational"]["pfc"]["priorities"], [4])
        self.assertEqual(leaf["cee_state"]["pfc"],
                         {"synced": True, "error": False, "operates": True, "of": "peer"})
        self.assertEqual(spine["cee_state"]["pfc"]["of"], "own")
        self.assertEqual(leaf["cee_state"]["seq"], spine["cee_state"]["ack"])
        self.assertEqual(leaf["cee_state"]["ack"], spine["cee_state"]["seq"])
        self.assertEqual(rows["leaf0:p1"]["operational"]["version"], "ieee")

    def test_neighbours(self):
        rows = {r["name"]: r for r in self.result["lldp"]}
        self.assertEqual((rows["leaf0:p1"]["system"], rows["leaf0:p1"]["port"]),
                         ("spine0", "spine0:p0"))
        self.assertEqual(rows["leaf0:p1"]["ttl_s"], 121)
        self.assertEqual(len(rows), 4)

    def test_on_two_lcores(self):
        code, out, err = run(SCENARIO, "--lcores", "2")
        self.assertEqual(code, 0, err)
        two = json.loads(out)
        for key in ("digest", "lldp", "dcbx"):
            self.assertEqual(two[key], self.result[key])

    @unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
    def test_the_schemas_fit(self):
        for name, text in (("run", self.out), ("show", None)):
            with open(os.path.join(SOURCE, f"docs/schema/weft.{name}.1.json"),
                      encoding="utf-8") as f:
                schema = json.load(f)
            if text:
                jsonschema.validate(json.loads(text), schema)
                continue
            for view in ("lldp", "dcbx"):
                shown = subprocess.run([WEFT, "show", view, "--of", "-", "--json"], input=self.out,
                                       capture_output=True, text=True, timeout=100, check=True)
                self.assertTrue(json.loads(shown.stdout)["rows"])
                jsonschema.validate(json.loads(shown.stdout), schema)

    def test_as_a_table(self):
        shown = subprocess.run([WEFT, "show", "dcbx", "--of", "-", "--at", "leaf1:*"],
                               input=self.out, capture_output=True, text=True, timeout=100,
                               check=True).stdout.splitlines()
        self.assertEqual(len(shown), 2)
        self.assertRegex(shown[1], r"^leaf1:p1 +ieee_not_willing +3 +3,4 +3,4 +3 +4 +- +PFC differs")

    def test_wrong_keys_are_told(self):
        for change, why in ((("duration: 70s\n", ""), "needs a duration"),
                            (("lldp: {enable: true}", "lldp: {enable: false}"), "needs lldp"),
                            (("interval", "interval"), None),
                            (("lldp: {enable: true}", "lldp: {enable: true, hold: 0}"), "hold")):
            code, _, err = run(SCENARIO.replace(*change))
            self.assertEqual(code, 2 if why else 0, err)
            self.assertIn(why or "", err)


if __name__ == "__main__":
    sys.exit(unittest.main())
