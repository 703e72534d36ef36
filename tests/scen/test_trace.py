#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""trace: as people use it. Series are held against each other and against the run's own counters:
changes against samples, rates against counts, pauses against the time that was counted as paused.
"""
import csv
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from collections import defaultdict

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
INCAST = """weft: 1
name: traced
topology: {leaves: 2, spines: 2, hosts_per_leaf: 5}
switches:
  "*":
    pg: {3: {lossless: true, xoff: 100kB}}
    queue: {3: {ecn: true, kmin: 50kB, kmax: 200kB, pmax: 20%}}
workload:
  - {name: in, kind: incast, from: "h[1-8]", to: h0, size: 300kB, path_mtu: 4096, window: 128KiB}
"""


def weft(*args, text=None, cwd=None):
    done = subprocess.run([WEFT, *args], input=text, capture_output=True, text=True, timeout=100,
                          check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def read(path):
    """{(object, series): [(time_ps, value)]}, and the lines as they are."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    assert lines[-1] == "", "the last line is whole"
    assert lines[0].startswith("# weft "), lines[0]
    rows = list(csv.reader(lines[1:-1]))
    assert rows[0] == ["time_ps", "object", "series", "value"]
    times = [int(r[0]) for r in rows[1:]]
    assert times == sorted(times)
    out = defaultdict(list)
    for t, obj, name, v in rows[1:]:
        out[obj, name].append((int(t), int(v)))
    return out, lines[1:]


class Trace(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory(prefix="weft-trace-")
        self.addCleanup(tmp.cleanup)
        self.dir = tmp.name

    def run_with(self, trace, text=INCAST, args=()):
        code, out, err = weft("run", "--json", "-", "--no-capture", *args, "-",
                              text=text + "trace:\n" + trace, cwd=self.dir)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def file(self, name):
        return read(os.path.join(self.dir, name))

    def both(self, at, what, every="700ns", text=INCAST):
        result = self.run_with(f"  - {{at: {at}, what: {what}, on: change, file: c.csv}}\n"
                               f"  - {{at: {at}, what: {what}, every: {every}, file: s.csv}}\n",
                               text)
        return result, self.file("c.csv")[0], self.file("s.csv")[0]

    def test_samples_are_what_the_changes_say(self):
        """A sample is what held before the events of its instant; the last one is the end's."""
        at = '["*:p*", "*.q3", "*.pg3", "*.prio3"]'
        what = ("[queue_bytes, queue_max_bytes, pg_bytes, pg_max_bytes, headroom_max_bytes, "
                "tx_frames, rx_bytes, ecn_marked_frames, pfc_tx_frames, pfc_rx_frames, paused, "
                "pausing, pfc_xoff_rx_frames, pfc_xon_tx_frames, enqueued_frames, drop_frames]")
        result, changes, samples = self.both(at, what)
        self.assertEqual(set(changes), set(samples))
        self.assertGreater(len(changes), 300)
        moved = set()
        for key, rows in samples.items():
            told = changes[key]
            self.assertEqual([t for t, _ in told], sorted({t for t, _ in told}), key)
            i = 0
            for t, v in rows:
                last = t == result["time_ps"]
                while i + 1 < len(told) and (told[i + 1][0] < t or last):
                    i += 1
                if t:
                    self.assertEqual(told[i][1], v, (key, t))
                if v:
                    moved.add(key[1])
        self.assertLessEqual({"queue_bytes", "pg_bytes", "paused", "pausing", "pfc_xoff_rx_frames",
                              "ecn_marked_frames", "headroom_max_bytes"}, moved)

    def test_each_change_has_one_row(self):
        _, changes, _ = self.both('"*.q3"', "queue_bytes")
        for key, rows in changes.items():
            for (_, a), (_, b) in zip(rows[:-1], rows[1:-1]):
                self.assertNotEqual(a, b, key)
        self.assertGreater(len(changes["leaf0:p0.q3", "queue_bytes"]), 500)

    def test_rates_add_up_to_the_counter(self):
        result = self.run_with('  - {at: "*:p*", what: [tx_bps, tx_bytes, rx_frames_per_s], '
                               'every: 7us, file: r.csv}\n')
        series, _ = self.file("r.csv")
        ports = {p["name"]: p for p in result["ports"]}
        seen = 0
        for name, port in ports.items():
            for rate, count, unit in (("tx_bps", "tx_bytes", 8), ("rx_frames_per_s", "rx_frames", 1)):
                at, total = 0, 0
                for t, v in series[name, rate]:
                    total += v * (t - at)
                    at = t
                self.assertEqual(at, result["time_ps"])
                self.assertEqual(round(total / unit / 1e12), port.get(count, 0), (name, rate))
                seen += port.get(count, 0)
            self.assertEqual(series[name, "tx_bytes"][-1][1], port.get("tx_bytes", 0))
        self.assertGreater(seen, 0)

    def test_pauses_last_as_long_as_the_counter_says(self):
        result = self.run_with('  - {at: "*.prio3", what: [paused, pausing], on: change, '
                               'file: p.csv}\n')
        series, _ = self.file("p.csv")
        prios = {p["name"]: p for p in result["priorities"]}
        paused = 0
        for (name, what), rows in series.items():
            if name not in prios:
                continue
            lasted = sum(b[0] - a[0] for a, b in zip(rows, rows[1:]) if a[1])
            self.assertEqual(lasted, prios[name].get(what + "_ps", 0), (name, what))
            begun = sum(1 for a, b in zip(rows, rows[1:]) if not a[1] and b[1])
            if what == "pausing":
                self.assertEqual(begun, prios[name].get("pfc_xoff_tx_frames", 0))
            paused += lasted
        self.assertGreater(paused, 0)

    def test_marks_and_flows(self):
        result = self.run_with('  - {at: "*.q3", what: ecn_marked_frames, on: change, file: m.csv}\n'
                               '  - {at: ["flow.*", fabric], what: [delivered_bytes, '
                               'link_hop_frames, ce_received_packets], every: 20us, file: f.csv}\n')
        marks, _ = self.file("m.csv")
        flows, _ = self.file("f.csv")
        self.assertEqual(sum(r[-1][1] for r in marks.values()),
                         sum(q.get("ecn_marked_frames", 0) for q in result["queues"]))
        self.assertEqual(len(marks["leaf0:p0.q3", "ecn_marked_frames"]) - 2,
                         marks["leaf0:p0.q3", "ecn_marked_frames"][-1][1])
        for f in result["flows"]:
            for what in ("delivered_bytes", "ce_received_packets"):
                self.assertEqual(flows[f["name"], what][-1], (result["time_ps"], f[what]))
        self.assertEqual(flows["fabric", "link_hop_frames"][-1][1],
                         result["fabric"]["link_hop_frames"])

    def test_what_the_timeline_does_has_its_instant(self):
        self.run_with('  - {at: "leaf1:p*", what: [link_down_events, drop_link_down_frames], '
                      'on: change, file: d.csv}\n', text=INCAST + "timeline:\n"
                      "  - {at: 33us, do: link_down, link: leaf1-spine0}\n"
                      "  - {at: 44us, do: link_up, link: leaf1-spine0}\n")
        series, _ = self.file("d.csv")
        self.assertEqual(series["leaf1:p5", "link_down_events"][:2], [(0, 0), (33000000, 1)])
        self.assertEqual(series["leaf1:p5", "drop_link_down_frames"][1][0], 33000000)

    def test_a_trace_changes_nothing(self):
        plain = json.loads(weft("run", "--json", "-", "-", text=INCAST)[1])
        traced = self.run_with('  - {at: "*.q*", what: queue_bytes, on: change, file: a.csv}\n'
                               '  - {at: "*.prio*", what: [paused, paused_ps], every: 333ns, '
                               'file: b.csv}\n')
        for key in ("digest", "time_ps", "flows", "ports", "priorities", "queues"):
            self.assertEqual(plain[key], traced[key], key)
        self.assertEqual(traced["traces"], ["a.csv", "b.csv"])
        self.assertEqual(traced["trace_lost_rows"], 0)

    def test_files_are_the_same_each_time(self):
        trace = ('  - {at: "*.q*", what: queue_bytes, on: change, file: a.csv}\n'
                 '  - {at: "*:p*", what: tx_bps, every: 1us, file: a.csv}\n')
        self.run_with(trace)
        first = self.file("a.csv")[1]
        self.run_with(trace)
        self.assertEqual(first, self.file("a.csv")[1])

    def test_no_file_depends_on_the_number_of_lcores(self):
        """Series of all kinds, and captures at ports of many lcores in one file."""
        lines, captures, digests = [], [], []
        text = INCAST + ('capture: [{at: "*:p*", file: c.pcapng, snaplen: 96B, time: ps}]\n'
                         'timeline: [{at: 33us, do: link_down, link: leaf1-spine0},\n'
                         '           {at: 44us, do: link_up, link: leaf1-spine0}]\n'
                         'trace:\n'
                         '  - {at: ["*.q*", "*.prio*", "*.pg*"], what: [queue_bytes, pg_bytes, paused, '
                         'pausing], on: change, file: t.csv}\n'
                         '  - {at: "*:p*", what: [tx_bps, rx_frames], every: 3us, file: t.csv}\n'
                         '  - {at: ["flow.*", fabric], what: [delivered_bps, delivered_bytes, '
                         'link_hop_frames], every: 10us, file: t.csv}\n')
        for lcores in ("1", "2", "4"):
            code, out, err = weft("run", "--json", "-", "--lcores", lcores, "-", text=text,
                                  cwd=self.dir)
            self.assertEqual(code, 0, err)
            digests.append(json.loads(out)["digest"])
            lines.append(self.file("t.csv")[1])
            with open(os.path.join(self.dir, "c.pcapng"), "rb") as f:
                captures.append(f.read().replace(f"--lcores {lcores}".encode(), b"--lcores N"))
        self.assertGreater(len(lines[0]), 5000)
        self.assertGreater(len(captures[0]), 500000)
        self.assertEqual(len(set(digests)), 1)
        self.assertEqual(captures[0], captures[1])
        self.assertEqual(captures[0], captures[2])
        self.assertEqual(lines[0], lines[1])
        self.assertEqual(lines[0], lines[2])

    def test_one_file_by_option(self):
        code, _, err = weft("run", "--quiet", "--trace", "all.csv", "-", text=INCAST, cwd=self.dir)
        self.assertEqual(code, 0, err)
        series, _ = self.file("all.csv")
        self.assertIn(("leaf0:p0.q3", "queue_bytes"), series)
        self.assertIn(("h1:p0.prio3", "paused"), series)
        code, _, _ = weft("run", "--quiet", "--trace", "one.csv", "-", cwd=self.dir, text=INCAST
                          + 'trace: [{at: "leaf0:p0", what: tx_bps, every: 10us, file: no.csv}]\n')
        self.assertEqual(code, 0)
        self.assertEqual(list(self.file("one.csv")[0]), [("leaf0:p0", "tx_bps")])
        self.assertFalse(os.path.exists(os.path.join(self.dir, "no.csv")))

    def test_a_replay_has_series(self):
        """Of the capture, by tshark: 65 RoCE packets, an ARP answer and a multicast go to h0; 33, an
        ARP request to all and the multicast to h2."""
        capture = os.path.join(SOURCE, "captures/rocev2-sends.pcap")
        scenario = os.path.join(SOURCE, "scenarios/replay.yaml")
        lines = []
        for n in "1", "2":
            code, out, err = weft("replay", "--trace", "all.csv", "--lcores", n, capture, scenario,
                                  cwd=self.dir)
            self.assertEqual(code, 0, err)
            self.assertIn("written    all.csv\n", out)
            series, rows = self.file("all.csv")
            lines.append(rows)
            for obj, frames in ("leaf0:p0.q0", 67), ("leaf1:p0.q0", 35):
                values = [v for _, v in series[obj, "queue_bytes"]]
                self.assertEqual(sum(b > a for a, b in zip(values, values[1:])), frames, obj)
        self.assertEqual(lines[0], lines[1])

    def test_no_trace_writes_none(self):
        code, _, _ = weft("run", "--quiet", "--no-trace", "-", cwd=self.dir, text=INCAST
                          + 'trace: [{at: "leaf0:p0", what: tx_bps, every: 10us, file: no.csv}]\n')
        self.assertEqual(code, 0)
        self.assertEqual(os.listdir(self.dir), [])

    def test_a_full_disk_is_told_once(self):
        code, out, err = weft("run", "-", text=INCAST + 'trace: [{at: "*.q3", what: queue_bytes, '
                              'on: change, file: /dev/full}]\n')
        self.assertEqual(code, 3)
        self.assertEqual(err.count("/dev/full"), 1, err)
        self.assertIn("No space left", err)
        self.assertIn("passed", out)
        self.assertRegex(out, r"\d+ rows are missing from the traces")

    def test_an_interrupted_run_leaves_a_whole_file(self):
        text = INCAST.replace("size: 300kB", "size: 1GB") + "duration: 100s\n"
        with subprocess.Popen([WEFT, "run", "--json", "-", "--quiet", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, cwd=self.dir) as p:
            p.stdin.write(text + 'trace: [{at: "leaf*:p*", what: [tx_bps, tx_bytes], every: 10us, '
                          'file: i.csv}]\n')
            p.stdin.close()
            path = os.path.join(self.dir, "i.csv")
            for _ in range(200):
                if os.path.exists(path) and os.path.getsize(path) > 100000:
                    break
                time.sleep(0.05)
            p.send_signal(signal.SIGINT)
            result = json.loads(p.stdout.read())
        self.assertEqual(p.returncode, 130)
        series, _ = self.file("i.csv")
        ports = {q["name"]: q for q in result["ports"]}
        for (name, what), rows in series.items():
            self.assertEqual(rows[-1][0], result["time_ps"])
            if what == "tx_bytes":
                self.assertEqual(rows[-1][1], ports.get(name, {}).get("tx_bytes", 0))

    def test_mistakes_have_their_place(self):
        rows = (
            ("{at: 'leaf9:p*', what: tx_bps, every: 1us, file: x}", 7, "'leaf9:p*' matches nothing"),
            ("{at: 'leaf0:p*', what: queue_bytes, every: 1us, file: x}", 25,
             "none of the objects has 'queue_bytes'; 'h0:p0.q0' is one that has"),
            ("{at: 'leaf0:p*', what: [tx_bps, tx_bips], every: 1us, file: x}", 34,
             "no series has the name 'tx_bips'; did you mean 'tx_bps'?"),
            ("{at: 'leaf0:p*', what: tx_bps, on: change, file: x}", 25, "a rate is over an interval"),
            ("{at: 'flow.*', what: timeouts, on: change, file: x}", 23, "when they are sampled"),
            ("{at: 'h0:p0.prio3', what: paused_ps, on: change, file: x}", 28, "grows with time"),
            ("{at: 'leaf0:p0', what: tx_bps, file: x}", 2, "neither every nor on"),
            ("{at: 'leaf0:p0', what: tx_bytes, every: 1us, on: change, file: x}", 42,
             "every beside on: change"),
            ("{at: 'leaf0:p[3-', what: tx_bps, every: 1us, file: x}", 7, "bad range"),
            ("{at: {a: 1}, what: tx_bps, every: 1us, file: x}", 7, "a name or a list of names"),
            ("{at: ['leaf0:p0', 'flow.*'], what: tx_bps, every: 1us, file: x}", 20,
             "has none of the series"),
            ("{what: tx_bps, every: 1us, file: x}", 2, "'at' is missing in trace"),
            ("{at: 'leaf0:p0', what: tx_bps, every: 10, file: x}", 40, "every"),
            ("{at: 'leaf0:p0', what: tx_bps, every: 1us, fil: x}", 45, "did you mean 'file'?"),
        )
        for entry, col, message in rows:
            with self.subTest(entry):
                code, _, err = weft("check", "-", text=INCAST + "trace:\n- " + entry + "\n")
                self.assertEqual(code, 2, err)
                self.assertIn(message, err)
                self.assertIn(f"stdin:11:{col + 1}: error", err)
        code, _, err = weft("check", "-", text=INCAST + "trace: {at: x}\n")
        self.assertEqual(code, 2)
        self.assertIn("trace: expected a list, found a mapping", err)


if __name__ == "__main__":
    unittest.main()
