#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft show and weft inject: of a result and of a live run, in weft's and in SONiC's words, what is
wrong with the command line, and the schemas."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
# Four hosts send to one: the leaf pauses them.
INCAST = ("weft: 1\ntopology: {leaves: 1, spines: 0, hosts_per_leaf: 5}\n"
          "workload: [{name: f, kind: incast, from: 'h[1-4]', to: h0, size: 400kB}]\n"
          "switches: {'*': {pg: {3: {lossless: true, xoff: 20kB}}}}\n")
SONIC = ["interfaces counters", "interfaces counters trim", "pfc counters", "pfcwd stats",
         "priority-group drop counters", "priority-group watermark shared",
         "priority-group watermark headroom", "priority-group persistent-watermark shared",
         "priority-group persistent-watermark headroom", "queue counters", "queue counters trim",
         "queue watermark unicast", "queue persistent-watermark unicast", "buffer_pool watermark",
         "buffer_pool persistent-watermark", "headroom-pool watermark",
         "headroom-pool persistent-watermark"]
OWN = ["ports", "flows", "drops", "edges", "queues", "groups", "priorities", "watermarks",
       "watchdogs", "lldp", "dcbx", "endpoints"]


def weft(*args, text=None):
    done = subprocess.run([WEFT, *args], input=text, capture_output=True, text=True, timeout=100,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def schema(name):
    with open(os.path.join(SOURCE, f"docs/schema/{name}.json"), encoding="utf-8") as f:
        return json.load(f)


class Show(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="weft-show.")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.result = os.path.join(cls.dir, "r.json")
        code, out, err = weft("run", "-", "--json", cls.result, "--quiet", text=INCAST)
        assert code == 0, out + err
        with open(cls.result, encoding="ascii") as f:
            cls.summary = json.load(f)

    def sonic(self, view, *args):
        code, out, err = weft("show", *view.split(), "--of", self.result, "--json", *args)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)["tables"]

    def test_what_the_switch_sent_its_hosts_have_got(self):
        sent = {p["name"]: p for p in self.summary["priorities"] if p["name"].startswith("leaf0:")}
        rows = self.sonic("pfc counters")[1]["rows"]
        self.assertEqual([r["Port Tx"] for r in rows], [f"leaf0:p{i}" for i in range(5)])
        for i, row in enumerate(rows):
            p = sent.get(f"leaf0:p{i}.prio3", {})
            self.assertEqual(row["PFC3"], sum(p.get(f"pfc_{k}_tx_frames", 0)
                                              for k in ("xoff", "refresh", "xon")))
        got = self.sonic("pfc counters", "--at", "h[1-4]:p0")[0]["rows"]
        self.assertEqual([r["PFC3"] for r in got], [r["PFC3"] for r in rows[1:]])
        self.assertGreater(sum(r["PFC3"] for r in got), 0)

    def test_tables_are_the_counters_of_the_result(self):
        q = {x["name"]: x for x in self.summary["queues"]}
        rows = self.sonic("queue counters", "--at", "leaf0:p0")[0]["rows"]
        self.assertEqual(rows[3]["Counter/bytes"], q["leaf0:p0.q3"]["tx_bytes"])
        self.assertGreater(rows[3]["Counter/bytes"], 1600000)
        pools = {x["name"]: x for x in self.summary["pools"]}
        self.assertEqual(self.sonic("headroom-pool watermark")[0]["rows"],
                         [{"Pool": "leaf0.ipool0",
                           "Bytes": pools["leaf0.ipool0"]["headroom_max_bytes"]}])
        wm = self.sonic("queue watermark", "--at", "leaf0:p0")[0]["rows"]
        self.assertEqual(wm[0]["UC3"], q["leaf0:p0.q3"]["queue_max_bytes"])
        ports = {x["name"]: x for x in self.summary["ports"]}
        row = self.sonic("interface counters", "--at", "leaf0:p0")[0]["rows"][0]
        self.assertEqual((row["TX_OK"], row["STATE"]), (ports["leaf0:p0"]["tx_frames"], "U"))
        rate = ports["leaf0:p0"]["tx_bytes"] / (self.summary["time_ps"] * 1e-12)
        self.assertAlmostEqual(row["TX_BPS"] / rate, 1, places=9)
        self.assertAlmostEqual(row["TX_UTIL"], rate * 8 / ports["leaf0:p0"]["rate_bps"] * 100, 6)

    def test_every_view_of_a_result(self):
        for view in SONIC + OWN:
            code, out, err = weft("show", *view.split(), "--of", self.result)
            self.assertEqual((code, err), (0, ""), view)
            self.assertTrue(out)
        code, out, _ = weft("show", "queues", "--of", self.result, "--at", "leaf0:p0.q3")
        self.assertRegex(out, r"leaf0:p0\.q3 +0 ")

    @unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
    def test_the_schemas_fit(self):
        jsonschema.validate(self.summary, schema("weft.run.1"))
        for views, name in ((SONIC, "weft.sonic.1"), (OWN, "weft.show.1")):
            for view in views:
                _, out, _ = weft("show", *view.split(), "--of", self.result, "--json")
                answer = json.loads(out)
                jsonschema.validate(answer, schema(name))
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate({**answer, "time_ps": -1}, schema(name))

    def refused(self, why, *args):
        code, out, err = weft(*args)
        self.assertEqual((code, out), (2, ""), err)
        self.assertIn(why, err)

    def test_wrong_words_are_told_with_all_right_ones(self):
        every = ", ".join(["status", "hosts", *OWN, "faults", "links", *SONIC])
        self.refused(f"'prots' is no view; expected one of {every}; did you mean 'ports'?",
                     "show", "prots")
        self.refused("'queue countres' is no view", "show", "queue", "countres")
        self.refused("did you mean 'queue counters'?", "show", "queue", "countres")
        of = ("--of", self.result)
        self.refused("'links' is no view of a finished run; expected one of ports, flows, drops",
                     "show", "links", *of)
        self.refused("none of the queues fits 'zz'; there are leaf0:p0.q3, leaf0:p1.q3, ",
                     "show", "queues", "--at", "zz", *of)
        self.refused("none of the ports fits 'leaf1:*'; there are leaf0:p0, ",
                     "show", "pfc", "counters", "--at", "leaf1:*", *of)
        self.refused("--at does not go with status", "show", "--at", "leaf0:p0")
        self.refused("did you mean '--json'?", "show", "--jsno")
        self.refused("no result of weft run", "show", "ports", "--of",
                     os.path.join(SOURCE, "docs/schema/weft.run.1.json"))
        self.refused("nothing.json", "show", "ports", "--of", "nothing.json")

    def test_inject_speaks_of_what_was_typed(self):
        self.refused("'drxop' is no thing to inject; expected one of down, up, rate, flap, drop, "
                     "ce, corrupt, duplicate, reorder, delay, truncate, nak, rnr, ack, cnp, pfc, pause, "
                     "end, learn; "
                     "did you mean 'drop'?", "inject", "drxop", "--at", "leaf0:p0")
        self.refused("--every 0: every: '0' for every is out of range, expected 1 to ", "inject", "drop", "--at", "x", "--every", "0")
        self.refused("--every two: every: 'two' is not a whole number", "inject", "drop", "--every", "two")
        self.refused("--priority 8: expected 0 to 7", "inject", "pfc", "--priority", "8")
        self.refused("--quanta 65536: quanta: '65536' for quanta is out of range, expected 0 to 65535", "inject", "pfc", "--quanta", "65536")
        self.refused("(--priority 3)", "inject", "pfc", "--at", "leaf0:p0")
        self.refused("--class roc: match: 'roc' is not one of roce_data, roce_ack, roce, any",
                     "inject", "drop", "--class", "roc")
        self.refused("--timer does not go with nak", "inject", "nak", "--at", "x", "--timer", "3")
        self.refused("--iteration 255: iteration: ", "inject", "drop", "--iteration", "255")
        self.refused("did you mean '--opcode'?", "inject", "drop", "--opcodd", "ack")

    def live(self, name, view):
        code, out, err = weft("show", *view.split(), "-i", name, "--json")
        self.assertEqual(code, 0, err)
        return json.loads(out)["tables"][0]["rows"]

    def clears(self, name):
        """The run is over and its buffers are empty: what is cleared is 0, and all else stays."""
        views = ["priority-group watermark shared", "priority-group watermark headroom",
                 "queue watermark unicast", "buffer_pool watermark", "headroom-pool watermark"]
        before = {v: self.live(name, v) for v in SONIC if "watermark" in v}
        for i, view in enumerate(views):
            self.assertTrue(any(x for r in before[view] for x in r.values() if isinstance(x, int)))
            self.assertEqual(weft("clear", *view.split(), "-i", name, "--at", "leaf*"), (0, "", ""))
            for v, rows in before.items():
                now = self.live(name, v)
                if v in views[:i + 1]:
                    self.assertFalse(any(x for r in now for x in r.values() if isinstance(x, int)), v)
                else:
                    self.assertEqual(now, rows, v)
        self.refused("'priority-group watermark' is no thing to clear; expected one of "
                     + ", ".join(views), "clear", "priority-group", "watermark", "-i", name)
        self.refused("is a result of the run", "clear", "queue", "persistent-watermark", "unicast")
        self.refused("none of the switches fits 'spine*'; there is leaf0", "clear", *views[0].split(),
                     "-i", name, "--at", "spine*")

    def test_a_live_run_shows_the_same_views(self):
        name = f"show{os.getpid()}"
        text = INCAST + "duration: 60s\n"
        with subprocess.Popen([WEFT, "run", "--live", "-i", name, "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            run.stdin.write(text)
            run.stdin.close()
            run.stdin = None
            for _ in range(200):
                code, out, err = weft("show", "flows", "-i", name, "--json")
                if code == 0 and all(f["completion_ps"] for f in json.loads(out)["rows"]):
                    break
                time.sleep(0.05)
            self.assertEqual(code, 0, err)
            for view in SONIC:
                _, live, _ = weft("show", *view.split(), "-i", name, "--json")
                if view != "interfaces counters":  # rates are over time
                    self.assertEqual(json.loads(live)["tables"], self.sonic(view), view)
                self.assertEqual(json.loads(live)["instance"], name)
                if jsonschema:
                    jsonschema.validate(json.loads(live), schema("weft.sonic.1"))
            for view in OWN + ["faults", "links"]:
                _, live, _ = weft("show", view, "-i", name, "--json")
                if jsonschema:
                    jsonschema.validate(json.loads(live), schema("weft.show.1"))
            self.clears(name)
            for what in ("pfc counters", "queues", "hosts"):
                code, out, err = weft("show", *what.split(), "-i", name, "--at", "zz")
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn("fits 'zz'", err)
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=60)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
