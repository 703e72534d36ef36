#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft qos: a SONiC switch's configuration becomes a scenario that behaves, what it can't say is
named with its place, wrong files are told of; mlnx_qos's words become a host's lines."""
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
with open(os.path.join(SOURCE, "tests/data/config_db.json"), encoding="utf-8") as whole:
    CONFIG = json.load(whole)


def weft(*args, text=None):
    done = subprocess.run([WEFT, *args], input=text, capture_output=True, text=True, timeout=100,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def import_bytes(data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "c.json")
        with open(path, "wb") as f:
            f.write(data)
        code, out, err = weft("qos", "import", path)
        return code, out, err.replace(folder + "/", "")


def import_json(config):
    return import_bytes(json.dumps(config).encode())


def changed(change):
    config = copy.deepcopy(CONFIG)
    change(config)
    return import_json(config)


def explain(scenario):
    """What weft check says that each key's value is."""
    code, out, err = weft("check", "--explain", "-", text=scenario)
    assert code == 0, err
    return out


class Imported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.code, cls.yaml, cls.notes = import_json(CONFIG)

    def test_is_in_order(self):
        self.assertEqual(self.code, 0, self.notes)
        code, out, err = weft("check", "-", text=self.yaml)
        self.assertEqual(code, 0, err)
        self.assertIn("1 switches, 7 hosts, 7 links", out)

    def test_values_and_where_they_come_from(self):
        for line in [
                '  "h[0-5]": {rate: 100Gbps, delay: 25.252ns, mtu: 9100}',
                '  "h6": {rate: 100Gbps, delay: 1515.151ns, mtu: 9100}',
                "      0: {mode: dynamic, size: 10875072B, headroom_pool: 4194304B}  "
                "# BUFFER_POOL.ingress_lossless_pool",
                "      1: {mode: dynamic, size: 9243812B}  # BUFFER_POOL.egress_lossy_pool",
                "    tc_to_pg: {0-2: 0, 3: 3, 4: 4, 5-6: 0, 7: 7}  # TC_TO_PRIORITY_GROUP_MAP.AZURE",
                "    pfc: {priorities: [3, 4]}  # PORT_QOS_MAP: pfc_enable",
                "    watchdog: {action: drop, detect: 200ms, restore: 400ms, poll: 200ms}  # PFC_WD",
                "      3-4: {lossless: true, pool: 0, reserved: 1248B, alpha: 1/8, headroom: "
                "165568B, xon: 2288B, xon_offset: 2288B}  "
                "# BUFFER_PROFILE.pg_lossless_100000_5m_profile",
                "      0: {lossless: false, pool: 0, alpha: 8}  # BUFFER_PROFILE.ingress_lossy_profile",
                "      6: {sched: strict, max_rate: 10000000000bps, max_burst: 8192B, pool: 1, "
                "reserved: 1518B, alpha: 8}  # SCHEDULER.scheduler.2 "
                "BUFFER_PROFILE.egress_lossy_profile",
                "    dscp_to_priority: {0-2: 0, 3: 3, 4: 4, 5-63: 0}"]:
            self.assertIn(line + "\n", self.yaml)
        self.assertEqual(self.yaml.count('  "leaf0:p'), 2)  # 5 m and 300 m
        self.assertIn("weight: 15, ecn: true, wred_drop: true, kmin: 250000B, kmax: 1048576B, "
                      "pmax: 5%, pool: 0, limit: 15982720B}", self.yaml)

    def test_what_is_ignored_is_named(self):
        for line in ["c.json: ignored: $.DEVICE_METADATA\n", "c.json: ignored: $.VLAN\n",
                     "c.json: ignored: $.PORT.Ethernet0.alias (and 7 more)\n",
                     "c.json: ignored: $.WRED_PROFILE.AZURE_LOSSLESS.yellow_min_threshold\n",
                     "c.json: ignored: $.PORT.Ethernet28: the port is not up\n",
                     'c.json: differs: $.SCHEDULER["scheduler.2"].pir: '
                     "weft counts preamble and gap too\n"]:
            self.assertIn(line, self.notes)
            self.assertIn("#   " + line[len("c.json: "):], self.yaml)

    def test_a_file_gets_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "s.yaml")
            code, text, _ = weft("qos", "import", SOURCE + "/tests/data/config_db.json", "-o", out)
            with open(out, encoding="utf-8") as f:
                self.assertEqual((code, text, f.read()), (0, "", self.yaml))
            self.assertEqual(weft("qos", "import", SOURCE + "/tests/data/config_db.json", "-o",
                                  folder + "/no/such")[0], 3)

    def test_it_may_come_by_a_pipe(self):
        code, text, err = weft("qos", "import", "/dev/stdin", text=json.dumps(CONFIG))
        self.assertEqual(code, 0, err)
        self.assertEqual(text.replace("/dev/stdin", "c.json"), self.yaml)

    def test_its_lossless_incast_behaves(self):
        side = "  - {name: side, from: h1, to: h2, dscp: 4, size: 1MB}\n"
        text = self.yaml.replace("expect:\n", side + "expect:\n"
                                 "  - all(leaf0:p[1-6].prio3.pfc_xoff_tx_frames) > 0\n"
                                 '  - "leaf0:p0.*.pfc_xoff_tx_frames == 0"\n'
                                 '  - "leaf0:*.prio[0-2,4-7].pfc_xoff_tx_frames == 0"\n'
                                 '  - "max(leaf0:p*.pg3.headroom_max_bytes) > 0"\n', 1)
        code, out, err = weft("run", "-", "--json", "-", text=text)
        self.assertEqual(code, 0, out[-3000:] + err)
        result = json.loads(out)
        self.assertEqual(result["verdict"], "passed")
        self.assertEqual([f["retransmitted_packets"] for f in result["flows"]], [0] * 7)


class Wrong(unittest.TestCase):
    def errors(self, change):
        code, out, err = changed(change)
        self.assertEqual((code, out), (2, ""), err)
        return [line[len("c.json: error: "):] for line in err.splitlines() if ": error: " in line]

    def test_references(self):
        def change(c):
            c["BUFFER_PG"]["Ethernet4|0"]["profile"] = "ingress_losy_profile"
            c["QUEUE"]["Ethernet0|7"] = {"scheduler": "[WRED_PROFILE|AZURE_LOSSLESS]"}
            c["BUFFER_PROFILE"]["egress_lossy_profile"]["pool"] = "ingress_lossless_pool"
        self.assertEqual(sorted(self.errors(change)), [
            '$.BUFFER_PG["Ethernet4|0"].profile: BUFFER_PROFILE has no \'ingress_losy_profile\'; '
            "did you mean 'ingress_lossy_profile'?",
            "$.BUFFER_PROFILE.egress_lossy_profile.pool: 'ingress_lossless_pool' is "
            "no egress pool",
            '$.QUEUE["Ethernet0|7"].scheduler: \'[WRED_PROFILE|AZURE_LOSSLESS]\': expected a name '
            "in SCHEDULER"])

    def test_values(self):
        for table, key, field, value, says in [
                ("PORT", "Ethernet0", "speed", "100G", "expected a whole number from 1 to 1600000"),
                ("PORT", "Ethernet0", "speed", [1], "expected a text, found a list"),
                ("PORT", "Ethernet0", "mtu", "99999999999999999999", "from 68 to 9600"),
                ("CABLE_LENGTH", "AZURE", "Ethernet0", "far", "expected metres"),
                ("CABLE_LENGTH", "AZURE", "Ethernet1", "1m", "PORT has no such port"),
                ("BUFFER_POOL", "egress_lossy_pool", "mode", "fast", "expected static or dynamic"),
                ("BUFFER_POOL", "egress_lossy_pool", "type", "in", "expected ingress, egress"),
                ("BUFFER_PROFILE", "ingress_lossy_profile", "dynamic_th", "77", "from -16 to 16"),
                ("SCHEDULER", "scheduler.1", "weight", "0", "from 1 to 1000"),
                ("SCHEDULER", "scheduler.1", "type", "FAIR", "expected STRICT, DWRR or WRR"),
                ("WRED_PROFILE", "AZURE_LOSSLESS", "ecn", "ecn_pink", "expected ecn_none"),
                ("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold", "9999999", "is above"),
                ("DSCP_TO_TC_MAP", "AZURE", "64", "1", "expected a key from 0 to 63"),
                ("DSCP_TO_TC_MAP", "AZURE", "5", "8", "from 0 to 7"),
                ("PFC_WD", "Ethernet0", "action", "panic", "expected drop, forward or alert"),
                ("PFC_WD", "Ethernet0", "detection_time", "-1", "from 1 to 100000")]:
            with self.subTest(field=field, value=value):
                got = self.errors(lambda c, a=(table, key, field, value):
                                  c[a[0]][a[1]].__setitem__(a[2], a[3]))
                self.assertIn(says, got[0])
                self.assertTrue(got[0].startswith(f"$.{table}"), got[0])

    def test_keys(self):
        for table, key, says in [("BUFFER_PG", "Ethernet0|8", "no priority groups beyond 7"),
                                 ("BUFFER_PG", "Ethernet0", "expected a key such as"),
                                 ("BUFFER_PG", "Ethernet99|0", "PORT has no 'Ethernet99'"),
                                 ("BUFFER_PG", "Ethernet0,Ethernet4|3", "has said already"),
                                 ("QUEUE", "Ethernet0|x", "expected numbers from 0 to"),
                                 ("QUEUE", "Ethernet0|3-4", "has said already")]:
            with self.subTest(key=key):
                row = {"profile": "ingress_lossy_profile"} if table == "BUFFER_PG" else {}
                got = self.errors(lambda c, a=(table, key, row): c[a[0]].__setitem__(a[1], a[2]))
                self.assertIn(says, " ".join(got))

    def test_shapes(self):
        for table in CONFIG:
            if table in ("DEVICE_METADATA", "VLAN"):
                continue
            for value in ([], "x", 7, None, {"Ethernet0": 3}, {"Ethernet0|3": []}, {"\n# x": {}}):
                code, _, err = changed(lambda c, a=(table, value): c.__setitem__(a[0], a[1]))
                self.assertIn(code, (0, 2), (table, value, err))
                self.assertTrue(value == {"\n# x": {}} or code == 2, (table, value, err))

    def test_no_json(self):
        for data in [b"", b"{", b"[]", b"7", b'{"a": 1, "a": 2}', b"\xff\xfe", b"\0", b"[" * 100000,
                     b'{"PORT": {}}', b'{"PORT": {"Ethernet0": {"admin_status": "up"}}}']:
            code, out, err = import_bytes(data)
            self.assertEqual((code, out), (2, ""), data[:20])
            self.assertTrue(err.startswith(("c.json", "weft qos: c.json")), err)
        self.assertEqual(weft("qos", "import", "/no/such.json")[0], 2)

    def test_names_break_no_line(self):
        bad = "Ethernet0\u2028x: 1\n\u0085y: 2"

        def change(c):
            c["PORT"][bad] = {"speed": "100000", "admin_status": "up"}
            c["WEIRD\n- x"] = {}
        code, out, err = changed(change)
        self.assertEqual(code, 0, err)
        self.assertEqual(weft("check", "-", text=out)[0], 0)
        self.assertNotRegex(out + err, "(?m)^(- x|x: 1|y: 2)")


class Otherwise(unittest.TestCase):
    """What differs is said, and what it is then."""
    def test_pfc_and_profiles_that_disagree(self):
        def change(c):
            for row in c["PORT_QOS_MAP"].values():
                row["pfc_enable"] = "2,3"
        code, out, err = changed(change)
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"differs: \$\.BUFFER_PG.* pg 4 has headroom, but no priority in "
                              "pfc_enable: it is lossy")
        self.assertIn("is not what pfc_enable is", err)
        self.assertIn("      4: {lossless: false, pool: 0, reserved: 1248B, alpha: 1/8}", out)

    def test_static_pools_and_carved_headroom(self):
        def change(c):
            c["BUFFER_POOL"]["ingress_lossless_pool"] = {"type": "ingress", "mode": "static",
                                                         "size": "10875072"}
            for p in c["BUFFER_PROFILE"].values():
                if "dynamic_th" in p and "ingress" in p["pool"]:
                    del p["dynamic_th"]
                    p["static_th"] = "200000"
            c["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"]["size"] = "167856"
            c["BUFFER_POOL"]["egress_lossless_pool"]["size"] = "10000000"
        code, out, err = changed(change)
        self.assertEqual(code, 0, err)
        self.assertIn("      3-4: {lossless: true, pool: 0, reserved: 2288B, xoff: 200000B, "
                      "headroom: 165568B,", out)
        self.assertIn("      0: {lossless: false, pool: 0, limit: 200000B}", out)
        self.assertIn("size: is taken to hold the headroom", err)
        self.assertIn(f"    buffer: {10875072 + 12 * 165568 + 2 * 268736}B  #", out)

    def test_watchdog_poll(self):
        code, out, err = changed(lambda c: c["PFC_WD"]["GLOBAL"].update(POLL_INTERVAL="500"))
        self.assertEqual(code, 0, err)
        self.assertIn("500 ms are longer than a port's detection or restoration: 200 ms there", err)
        self.assertIn("restore: 400ms, poll: 200ms}", out)


class Mlnx(unittest.TestCase):
    def test_a_host(self):
        code, out, err = weft("qos", "mlnx", "h0", "--trust", "dscp", "--pfc", "0,0,0,1,0,0,0,0",
                              "--dscp2prio", "set,3,3", "--prio_tc", "0,1,2,3,4,5,6,7",
                              "--tsa", "ets,ets,strict", "--tcbw", "10,90,0")
        self.assertEqual(code, 0, err)
        self.assertIn('hosts:\n  "h0":\n    pfc: {priorities: [3]}\n    dscp_to_priority: {3: 3}\n',
                      out)
        for word in ("--prio_tc", "--tsa", "--tcbw"):
            self.assertIn(f"# ignored: {word}: ", out)
        head = "weft: 1\ntopology: {kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 2}\n"
        self.assertEqual(weft("check", "-", text=head + out)[0], 0)
        text = explain(head + out)
        self.assertRegex(text, r"(?m)priorities.*\[?3\]?")

    def test_no_pfc(self):
        out = weft("qos", "mlnx", "h[0-1]", "--pfc", "0,0")[1]
        self.assertIn("    flow_control: none\n", out)
        head = "weft: 1\ntopology: {kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 2}\n"
        self.assertEqual(weft("check", "-", text=head + out)[0], 0)
        self.assertEqual(weft("check", "-", text=head + weft("qos", "mlnx", "h0")[1])[0], 0)

    def test_wrong(self):
        for args in [["--pfc", "2"], ["--pfc", ""], ["--pfc", "0,0,0,0,0,0,0,0,0"], ["--tsa", "x"],
                     ["--tcbw", "10,20"], ["--trust", "me"], ["--dscp2prio", "set,64,1"], ["--x"],
                     ["--dscp2prio", "del,6,1"], ["--prio_tc", "8"], ["h1"], ["--pfc"]]:
            code, out, err = weft("qos", "mlnx", "h0", *args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn("weft qos: ", err)
        self.assertEqual(weft("qos", "mlnx", 'h0": {}')[0], 2)


if __name__ == "__main__":
    sys.exit(unittest.main())
