#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft analyze on whole captures: counts as tshark has them, every injected fault named and nothing
else, text and JSON by its schema, exit codes, Ctrl-C."""
import array
import bz2
import fcntl
import glob
import gzip
import importlib.util
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import captures as cap

try:
    import jsonschema
except ImportError:
    jsonschema = None

spec = importlib.util.spec_from_file_location("generate",
                                              os.path.join(cap.SOURCE, "captures", "generate.py"))
gen = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gen)

EXTRA = os.environ.get("WEFT_CAPTURES", "")  # a folder of captures that are not the project's
LOSSY = """weft: 1
topology: {leaves: 2, spines: 1, hosts_per_leaf: %d}
workload: %s
timeline: %s
capture:
  - {at: '*', file: drops.pcapng, snaplen: 64B}
  - {at: '%s', file: point.pcapng, drops: false}
"""
FLOW = ("[{name: f, from: h0, to: h1, size: 256kB, count: 3, path_mtu: 1024, window: 32KiB, "
        "ack_timeout: 1.048576ms}]")


def fit(result):
    if jsonschema is None:
        return
    with open(os.path.join(cap.SOURCE, "docs/schema/weft.analyze.1.json"), encoding="utf-8") as f:
        jsonschema.validate(result, json.load(f))


def lost(result, *verdicts):
    """(queue pair, number) of what was lost, by verdict."""
    qp = {c["stream"]: c["dqpn"] for c in result["connections"]}
    return sorted((qp[f["stream"]], f["psn"] + i) for f in result["findings"]
                  if f["verdict"] in (verdicts or ("network", "capture", "cannot_tell"))
                  for i in range(f["packets"]))


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-analyze-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def lossy(self, timeline, point="leaf0:p0", flow=FLOW, hosts=1):
        """Run the scenario; the frames of the capture, and what was dropped, once each."""
        cap.run(LOSSY % (hosts, flow, timeline, point), self.dir)
        drops = [f for f in cap.read(self.path("drops.pcapng")) if f.drop]
        return cap.read(self.path("point.pcapng")), drops


class Faults(Case):
    def test_every_97th_is_named_and_nothing_else(self):
        frames, drops = self.lossy("[{at: 0, do: inject_drop, where: 'leaf0:p1', every: 97}]")
        result = cap.analyze(self.path("point.pcapng"))
        fit(result)
        self.assertGreater(len(drops), 5)
        self.assertEqual(lost(result), sorted((f.qp, f.psn) for f in drops))
        self.assertEqual(lost(result, "network"), lost(result))
        again = sum(1 for f in frames if f.request()) - len({f.psn for f in frames if f.request()})
        conn = result["connections"][0]
        self.assertEqual(conn["requests"]["resent"], again)
        self.assertEqual(conn["requests"]["resent_by"]["nak"], again)
        self.assertEqual(conn["go_back_n"], {"as_asked": len(drops), "otherwise": 0, "selective": 0})
        for f in result["findings"]:
            self.assertEqual((f["what"], f["cause"], f["where"]), ("loss", "nak", "after"))
            seen, nak, again = (frames[r["number"] - 1] for r in f["frames"])
            self.assertEqual((seen.psn, nak.psn, again.psn), (f["psn"],) * 3)
            self.assertEqual((nak.opcode, nak.syndrome), (17, 0x60))
        self.assertIn(f"THE NETWORK LOST {len(drops)} packets, of 1 connection",
                      cap.page(self.path("point.pcapng")).split("\n")[0])

    def test_behind_the_loss_the_same_is_found_by_the_gaps(self):
        _, drops = self.lossy("[{at: 0, do: inject_drop, where: 'leaf0:p1', every: 97}]", "h1:p0")
        result = cap.analyze(self.path("point.pcapng"))
        self.assertEqual(lost(result, "network"), sorted((f.qp, f.psn) for f in drops))
        self.assertEqual(lost(result), lost(result, "network"))
        self.assertEqual({f["where"] for f in result["findings"]}, {"before"})

    def test_the_last_packet_is_lost_and_the_timer_named(self):
        flow = "[{name: f, from: h0, to: h1, size: 8KiB, path_mtu: 1024, ack_timeout: 1.048576ms}]"
        frames, drops = self.lossy("[{at: 0, do: inject_drop, where: 'leaf0:p1', every: 8, "
                                   "limit: 1}]", flow=flow)
        result = cap.analyze(self.path("point.pcapng"))
        fit(result)
        self.assertEqual(len(drops), 1)
        found, = result["findings"]
        self.assertEqual((found["what"], found["verdict"], found["cause"], found["psn"]),
                         ("unanswered", "network", "timeout", drops[0].psn))
        stalls = result["connections"][0]["stalls"]
        self.assertEqual(stalls["ack_timeout_exponent"], 8)  # 4.096us x 2^8
        self.assertEqual(stalls["ack_timeout"]["n"], 1)
        self.assertEqual(sum(f.request() for f in frames), 16)

    def test_damaged_packets_are_lost_in_the_network(self):
        _, drops = self.lossy("[{at: 0, do: inject_corrupt, where: 'leaf0:p1', every: 97}]")
        result = cap.analyze(self.path("point.pcapng"))
        self.assertGreater(len(drops), 5)
        self.assertEqual(lost(result, "network"), sorted((f.qp, f.psn) for f in drops))

    def test_lost_acks_that_do_no_harm_are_nothing(self):
        self.lossy("[{at: 0, do: inject_drop, where: 'leaf1:p0', every: 5, match: roce_ack}]")
        result = cap.analyze(self.path("point.pcapng"))
        self.assertEqual(result["connections"][0]["requests"]["resent"], len(lost(result)))
        self.assertEqual([f for f in result["findings"] if f["what"] != "unanswered"], [])

    def test_four_connections_at_once(self):
        flow = "[{name: f, kind: permutation, from: 'h*', size: 256kB, path_mtu: 1024, " \
               "window: 32KiB}]"
        _, drops = self.lossy("[{at: 0, do: inject_drop, where: 'leaf*:p2', every: 61}]", "leaf0:p2",
                              flow, 2)
        result = cap.analyze(self.path("point.pcapng"))
        self.assertGreater(len(drops), 5)
        seen = {(f.qp, f.psn) for f in drops if f.iface == "leaf0:p2"}
        self.assertEqual({x for x in lost(result, "network")} & seen, seen)
        self.assertEqual(lost(result, "capture", "cannot_tell"), [])

    def test_nothing_lost(self):
        self.lossy("[]")
        result = cap.analyze(self.path("point.pcapng"))
        fit(result)
        self.assertEqual((result["verdict"], result["findings"]), ("no_network_loss", []))
        conn = result["connections"][0]
        self.assertEqual((conn["path_mtu"], conn["dscp"], conn["service"]), (1024, 26, "RC"))
        self.assertEqual(conn["requests"]["new_bytes"], 768000)
        self.assertEqual(conn["requests"]["messages"], 3)


class Oracle(Case):
    def tshark(self, path):
        fields = ["ip.src", "ip.dst", "infiniband.bth.opcode", "infiniband.bth.destqp",
                  "infiniband.bth.psn", "infiniband.aeth.syndrome"]
        out = subprocess.run(["tshark", "--disable-protocol", "tftp", "-r", path, "-T", "fields"] +
                             [w for f in fields for w in ("-e", f)], capture_output=True, text=True,
                             check=True).stdout
        return [line.split("\t") for line in out.splitlines()]

    @unittest.skipIf(shutil.which("tshark") is None, "tshark is not installed")
    def test_tshark_counts_the_same_and_its_filters_select_the_frames(self):
        self.lossy("[{at: 0, do: inject_drop, where: 'leaf0:p1', every: 97}]")
        path = self.path("point.pcapng")
        rows = [r for r in self.tshark(path) if r[3]]
        result = cap.analyze(path)
        conn = result["connections"][0]
        requests = [r for r in rows if int(r[2]) < 13]
        self.assertEqual(conn["requests"]["packets"], len(requests))
        self.assertEqual(conn["requests"]["new_packets"], len({r[4] for r in requests}))
        self.assertEqual(conn["answers"]["sequence_naks"], sum(r[5] == "96" for r in rows))
        self.assertEqual(conn["answers"]["acks"], sum(r[5] == "31" for r in rows))
        for f in result["findings"][:1]:
            out = subprocess.run(["tshark", "-r", path, "-Y", f["filters"][0]["filter"], "-T",
                                  "fields", "-e", "frame.number"], capture_output=True, text=True,
                                 check=True).stdout
            self.assertEqual([int(n) for n in out.split()], sorted(r["number"] for r in f["frames"]))
        out = subprocess.run(["tshark", "--disable-protocol", "tftp", "-r", path, "-Y",
                              conn["filter"]], capture_output=True, text=True, check=True).stdout
        self.assertEqual(len(out.splitlines()), len(rows))

    @unittest.skipUnless(os.path.exists(os.path.join(EXTRA, "roce-softroce.pcap")),
                         "WEFT_CAPTURES names no folder with roce-softroce.pcap")
    def test_a_real_soft_roce_capture(self):
        result = cap.analyze(os.path.join(EXTRA, "roce-softroce.pcap"))
        fit(result)
        self.assertEqual((result["capture"]["frames"], result["capture"]["rocev2"]), (123, 105))
        self.assertEqual(result["verdict"], "no_network_loss")
        one, two = result["connections"]
        self.assertEqual((one["dqpn"], one["sqpn"], two["dqpn"], two["sqpn"]), (69, 72, 72, 69))
        self.assertEqual(one["requests"]["opcodes"],
                         {"SEND First": 33, "SEND Last Imm": 33, "SEND Only Imm": 1})
        self.assertEqual(two["requests"]["opcodes"], {"SEND Only Imm": 1})
        self.assertEqual((one["answers"]["acks"], two["answers"]["acks"]), (36, 1))
        self.assertEqual((one["path_mtu"], one["requests"]["missing"]), (1024, 0))
        self.assertEqual(one["icrc"]["wrong"] + two["icrc"]["wrong"], 0)
        self.assertEqual(result["capture"]["points"][0]["times_back"], 1)


class Program(Case):
    def test_every_capture_of_the_project_gives_json_that_fits(self):
        for path in sorted(glob.glob(os.path.join(cap.SOURCE, "captures", "*.pcap*"))):
            with self.subTest(path):
                cut = path.endswith("fmt-cut.pcap")
                result = cap.analyze(path, want=2 if cut else 0)
                fit(result)
                self.assertEqual("error" in result["capture"], cut)
                self.assertIn("verdict", cap.page(path, want=2 if cut else 0))

    def test_the_numbers_wrap(self):
        result = cap.analyze(os.path.join(cap.SOURCE, "captures", "rocev2-vlan-ecn-cnp.pcap"))
        conn = result["connections"][0]
        self.assertEqual((conn["requests"]["gaps"], conn["requests"]["missing"]), (1, 1))
        self.assertEqual(lost(result), [(17, 1)])
        self.assertEqual([f["what"] for f in result["findings"]], ["loss", "rnr"])
        self.assertEqual(conn["vlan"]["vid"], 100)
        self.assertGreater(conn["congestion"]["cnps"], 0)
        self.assertGreater(conn["congestion"]["ce_packets"], 0)

    def test_compressed_and_from_a_pipe(self):
        frames, _ = self.lossy("[{at: 0, do: inject_drop, where: 'leaf0:p1', every: 97}]")
        raw = cap.pcap(frames[:300])
        want = cap.analyze("-", input=raw)
        self.assertTrue(want["findings"])
        packed = [gzip.compress(raw), bz2.compress(raw)]
        if shutil.which("zstd"):
            packed.append(subprocess.run(["zstd", "-c"], input=raw, capture_output=True,
                                         check=True).stdout)
        for data in packed:
            self.assertEqual(lost(cap.analyze("-", input=data)), lost(want))
            with open(self.path("packed"), "wb") as f:
                f.write(data)
            self.assertEqual(lost(cap.analyze(self.path("packed"))), lost(want))
        with open(self.path("cut.gz"), "wb") as f:
            f.write(packed[0][:len(packed[0]) // 2])
        result = cap.analyze(self.path("cut.gz"), want=2)
        self.assertIn("error", result["capture"])
        self.assertGreater(result["capture"]["frames"], 20)

    def test_what_is_no_capture_is_refused(self):
        for data, words in ((b"", "empty"), (b"hello world", "no pcap or pcapng file"),
                            (b"\x1f\x8bxx", "gzip"), (cap.pcap([cap.Frame(0, b"\0" * 60)], link=147),
                                                          "link type 147")):
            with open(self.path("x"), "wb") as f:
                f.write(data)
            done = subprocess.run([cap.WEFT, "analyze", self.path("x")], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 2, data)
            self.assertIn(words, done.stderr)
            self.assertIn(self.path("x"), done.stderr)
        for args, words in ((["/none"], "No such file"), ([], "expected captures"),
                            (["--nic", "cx9", "x"], "did you mean"), (["--stahl", "1"], "unknown option"),
                            (["--stall", "5", "x"], "stall")):
            done = subprocess.run([cap.WEFT, "analyze", *args], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)

    @unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
    def test_figures(self):
        frames, _ = self.lossy("[{at: 0, do: inject_drop, where: 'leaf0:p1', every: 97}]")
        out = self.path("fig")
        cap.page("--figures", out, self.path("point.pcapng"))
        for name in ("goodput", "psn", "again"):
            for ending in ("csv", "gp", "svg"):
                self.assertTrue(os.path.getsize(f"{out}/analyze_{name}.{ending}"))
        with open(f"{out}/analyze_again.csv", encoding="utf-8") as f:
            rows = [line.strip().split(",") for line in f][2:]
        again = sum(1 for f in frames if f.request()) - len({f.psn for f in frames if f.request()})
        self.assertEqual(sum(int(r[2]) for r in rows), again)
        with open(f"{out}/analyze_psn.csv", encoding="utf-8") as f:
            self.assertEqual(max(int(line.split(",")[2]) for line in list(f)[2:]), 749)

    def flood(self, packets, *args):
        """Packets of ever new queue pairs, four of each, through a pipe: the result and the peak
        memory in bytes."""
        frame = bytearray(gen.eth(gen.MAC[2], gen.MAC[1], 0x0800, gen.rocev2(
            (10, 0, 0, 1), (10, 0, 0, 2), 49152, gen.bth(7, 0, 0) + bytes(4096)))[:64])
        block = bytearray((struct.pack("<IIII", 0, 0, 64, 4154) + frame) * 4000)
        # AddressSanitizer keeps what was freed, 256 MiB unless told
        env = dict(os.environ, ASAN_OPTIONS="abort_on_error=1:quarantine_size_mb=8")
        with open(self.path("out"), "wb") as out:
            p = subprocess.Popen([cap.WEFT, "analyze", "--json", *args, "-"], stdin=subprocess.PIPE,
                                 stdout=out, env=env)
            p.stdin.write(cap.pcap([]))
            for at in range(0, packets, 4000):
                for i in range(4000):
                    n = at + i
                    struct.pack_into("<II", block, 80 * i, 1700000000 + n // 10**6, n % 10**6 * 1000)
                    # every fourth number is missing
                    struct.pack_into("!II", block, 80 * i + 16 + 46, n // 4, n % 4 + n % 4 // 3)
                p.stdin.write(block)
            p.stdin.close()
            status, usage = os.wait4(p.pid, 0)[1:]
            p.returncode = status
        self.assertEqual(status, 0)
        with open(self.path("out"), encoding="utf-8") as f:
            return json.load(f), usage.ru_maxrss * 1024

    def test_memory_is_bounded_whatever_comes(self):
        args = ("--max-streams", "1000", "--max-findings", "1000")
        few, small = self.flood(40000, *args)
        many, large = self.flood(240000, *args)  # 1 GB on the wire
        fit(many)
        self.assertEqual(many["capture"]["frames"], 240000)
        self.assertEqual(many["capture"]["evicted_streams"], 60000 - 1000)
        self.assertEqual(len(many["connections"]), 1000)
        self.assertEqual(many["summary"]["findings"], 60000)
        self.assertEqual(many["summary"]["findings_left_out"], 59000)
        self.assertEqual(few["capture"]["evicted_streams"], 9000)
        self.assertLess(large - small, 2 << 20)
        if not os.environ.get("WEFT_SANITIZE"):  # its shadow is no memory of ours
            self.assertLess(large, 128 << 20)

    def test_ctrl_c_tells_what_was_seen(self):
        frames, _ = self.lossy("[{at: 0, do: inject_drop, where: 'leaf0:p1', every: 97}]")
        p = subprocess.Popen([cap.WEFT, "analyze", "--json", "-"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        p.stdin.write(cap.pcap(frames))
        p.stdin.flush()
        left = array.array("i", [1])
        while left[0]:  # it has taken all, and waits for more
            fcntl.ioctl(p.stdin, termios.FIONREAD, left)
            time.sleep(0.05)
        p.send_signal(signal.SIGINT)
        out = p.communicate(timeout=60)[0]
        self.assertEqual(p.returncode, 130)
        result = json.loads(out)
        fit(result)
        self.assertTrue(result["interrupted"])
        self.assertGreater(result["capture"]["frames"], 0)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
