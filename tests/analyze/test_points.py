#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft analyze at several capture points: the hop that loses is named between two of them, clocks of
separate captures are aligned, rotated files are one capture, tunnels and tags are taken off."""
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import captures as cap

SCENARIO = """weft: 1
topology: {leaves: 2, spines: 1, hosts_per_leaf: 1}
workload: [{name: f, from: h0, to: h1, size: 256kB, count: 3, path_mtu: 1024, window: 32KiB}]
timeline:
  - {at: 0, do: inject_drop, where: 'leaf0:p1', every: 149, limit: 3}
  - {at: 60us, do: inject_drop, where: 'spine0:p1', every: 83}
capture:
  - {at: '*', file: drops.pcapng, snaplen: 64B}
  - {at: '*:p*', file: all.pcapng, drops: false, snaplen: 128B}
  - {at: 'h0:p0', file: sender.pcapng, drops: false}
  - {at: 'h1:p0', file: receiver.pcapng, drops: false}
"""


def found(result, verdict="network"):
    return {f["psn"]: f for f in result["findings"] if f["verdict"] == verdict}


class Points(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="weft-analyze-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cap.run(SCENARIO, cls.dir)
        cls.drops = {f.psn: f.iface for f in cap.read(cls.dir + "/drops.pcapng") if f.drop}
        cls.sender = cap.read(cls.dir + "/sender.pcapng")
        cls.receiver = cap.read(cls.dir + "/receiver.pcapng")
        assert len(set(cls.drops.values())) == 2 and len(cls.drops) > 5

    def path(self, name):
        return f"{self.dir}/{name}"

    def two(self, sender, receiver, *args):
        cap.write(self.path("a.pcap"), sender)
        cap.write(self.path("b.pcap"), receiver)
        return cap.analyze("--point", "A=" + self.path("a.pcap"), "--point",
                           "B=" + self.path("b.pcap"), *args)

    def test_the_hop_is_named_between_two_interfaces_of_one_file(self):
        result = cap.analyze(self.path("all.pcapng"))
        after = {"leaf0:p1": "leaf0:p1 and spine0:p0", "spine0:p1": "spine0:p1 and leaf1:p1"}
        self.assertEqual({p: f["hop"] for p, f in found(result).items()},
                         {p: after[i] for p, i in self.drops.items()})
        self.assertEqual(len(result["findings"]), len(self.drops))
        self.assertEqual(len(result["capture"]["points"]), 8)

    def test_two_captures_with_clocks_of_their_own(self):
        for ahead_ns in (0, 3_700_000_000, -86_400_000_000_123):
            shifted = [cap.Frame(f.t_ns + ahead_ns + 200 * 10**12, f.data, f.wire) for f in self.receiver]
            base = [cap.Frame(f.t_ns + 200 * 10**12, f.data, f.wire) for f in self.sender]
            result = self.two(base, shifted)
            clock, = result["capture"]["clocks"]
            self.assertLess(abs(clock["ahead_ps"] / 1000 - ahead_ns), 1000)
            self.assertFalse(clock["one_way"])
            self.assertEqual({p: f["hop"] for p, f in found(result).items()},
                             {p: "A and B" for p in self.drops})
            self.assertEqual(len(result["findings"]), len(self.drops))

    def test_a_clock_that_runs_fast(self):
        def slow(frames, ppm):
            return [cap.Frame(int(f.t_ns * 20000 * (1 + ppm / 1e6)), f.data, f.wire) for f in frames]
        result = self.two(slow(self.sender, 0), slow(self.receiver, 25))
        clock, = result["capture"]["clocks"]
        self.assertLess(abs(clock["drift_ppm"] - 25), 5)
        self.assertEqual({f["hop"] for f in found(result).values()}, {"A and B"})

    def test_what_one_capture_lost_the_other_has(self):
        rng = random.Random(3)
        removed, kept = set(), []
        for i, f in enumerate(self.sender):
            if f.request() and i > 9 and rng.random() < 0.03:
                removed.add(f.psn)
            else:
                kept.append(f)
        result = self.two(kept, self.receiver)
        self.assertEqual(set(found(result, "capture")) - removed, set())
        self.assertEqual(set(p for p, f in found(result).items() if f["exact"]) - set(self.drops), set())
        self.assertGreater(len(found(result, "capture")), 5)

    def test_a_service_without_answers_between_two_points(self):
        def uc(f):  # UC SEND Only of the same number
            return cap.Frame(f.t_ns, f.data[:42] + b"\x24" + f.data[43:], f.wire, f.iface)
        sender = [uc(f) for f in self.sender if f.request()][:100]
        gone = sender[40].psn
        receiver = [cap.Frame(f.t_ns + 2000, f.data) for f in sender if f.psn != gone]
        for drops, verdict in ((None, "cannot_tell"), (0, "network"), (3, "cannot_tell")):
            with open(self.path("b.pcapng"), "wb") as f:
                f.write(cap.pcapng(receiver, drops))
            cap.write(self.path("a.pcap"), sender)
            result = cap.analyze("--point", "A=" + self.path("a.pcap"), "--point",
                                 "B=" + self.path("b.pcapng"))
            one, = result["findings"]
            self.assertEqual((one["psn"], one["verdict"], one["where"], one["hop"]),
                             (gone, verdict, "between", "A and B/eth0"))
            self.assertTrue(result["capture"]["clocks"][0]["one_way"])

    def test_without_a_packet_in_common(self):
        other = [cap.Frame(f.t_ns, f.data[:51] + b"\xff\xff\xff" + f.data[54:]) for f in self.sender]
        cap.write(self.path("a.pcap"), self.sender)
        cap.write(self.path("b.pcap"), other)
        done = subprocess.run([cap.WEFT, "analyze", "--point", "A=" + self.path("a.pcap"), "--point",
                               "B=" + self.path("b.pcap")], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no packet in common", done.stderr)

    def test_rotated_files_are_one_capture(self):
        whole = cap.analyze(cap.write(self.path("w.pcap"), self.sender))
        parts, n = [], len(self.sender)
        for i in range(5):
            parts.append(cap.write(self.path(f"r{i}.pcap"), self.sender[n * i // 5:n * (i + 1) // 5]))
        random.Random(1).shuffle(parts)
        result = cap.analyze(*parts)
        self.assertEqual(found(result).keys(), found(whole).keys())
        self.assertEqual(found(result).keys(), set(self.drops))
        self.assertEqual(result["connections"][0]["requests"], whole["connections"][0]["requests"])
        frame = next(iter(found(result).values()))["frames"][0]
        data = cap.read_pcap(result["capture"]["files"][frame["file"]]["path"])
        self.assertIn(data[frame["number"] - 1].psn, self.drops)

    def test_two_places_given_as_one_are_noticed(self):
        apart = [cap.Frame(f.t_ns * 1000, f.data) for f in self.sender]
        cap.write(self.path("a.pcap"), apart)
        cap.write(self.path("b.pcap"), apart[:len(apart) // 2])
        page = cap.page(self.path("a.pcap"), self.path("b.pcap"))
        self.assertIn("captures of several places are given with --point", page)

    # ---- what mirrors and overlays put around a frame ----

    def wrapped(self, wrap, link=1):
        frames = [cap.Frame(f.t_ns, wrap(f.data)) for f in self.sender]
        return cap.analyze(cap.write(self.path("t.pcap"), frames, link=link))

    def outer(self, proto, body):
        return b"\x02" * 12 + b"\x08\x00" + struct.pack(
            "!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, proto, 0, b"\x0a\x63\x00\x01",
            b"\x0a\x63\x00\x02") + body

    def udp(self, port, body):
        return self.outer(17, struct.pack("!HHHH", 50000, port, 8 + len(body), 0) + body)

    def test_tunnels_and_tags(self):
        def tags(d, *types):
            return d[:12] + b"".join(struct.pack("!HH", t, 100 + i) for i, t in enumerate(types)) + d[12:]
        cases = {
            "none": lambda d: tags(d, 0x8100), "none 3": lambda d: tags(d, 0x88A8, 0x8100, 0x8100),
            "VXLAN": lambda d: self.udp(4789, struct.pack("!II", 0x08000000, 77 << 8) + d),
            "VXLAN tagged": lambda d: tags(self.udp(4789, struct.pack("!II", 0x08000000, 77 << 8) +
                                                    tags(d, 0x8100)), 0x8100),
            "Geneve": lambda d: self.udp(6081, struct.pack("!BBHI", 1, 0, 0x6558, 5 << 8) + b"opt4" + d),
            "GRE": lambda d: self.outer(47, struct.pack("!HH", 0, 0x6558) + d),
            "GRE ip": lambda d: self.outer(47, struct.pack("!HHI", 0x2000, 0x0800, 9) + d[14:]),
            "ERSPAN I": lambda d: self.outer(47, struct.pack("!HH", 0, 0x88BE) + d),
            "ERSPAN II": lambda d: self.outer(47, struct.pack("!HHI", 0x1000, 0x88BE, 1) +
                                              struct.pack("!HHI", 0x1000, 5, 0) + d),
            "ERSPAN III": lambda d: self.outer(47, struct.pack("!HHI", 0x1000, 0x22EB, 1) +
                                               struct.pack("!HHIHH", 0x2000, 5, 0, 0, 0) + d),
            "ERSPAN III sub": lambda d: self.outer(47, struct.pack("!HHI", 0x1000, 0x22EB, 1) +
                                                   struct.pack("!HHIHHQ", 0x2000, 5, 0, 0, 1, 0) + d),
            "IP in IP": lambda d: self.outer(4, d[14:]),
            "MPLS": lambda d: d[:12] + b"\x88\x47" + struct.pack("!II", 16 << 12, 17 << 12 | 0x100) + d[14:],
        }
        for name, wrap in cases.items():
            with self.subTest(name):
                result = self.wrapped(wrap)
                self.assertEqual(found(result).keys(), set(self.drops))
                kind = next((k for k in ("VXLAN", "Geneve", "GRE", "ERSPAN III", "ERSPAN II", "ERSPAN I",
                                         "IP in IP", "MPLS") if name.startswith(k)), None)
                want = {kind: len(self.sender)} if kind else {}
                self.assertEqual(result["capture"]["points"][0]["tunnels"], want)

    def test_link_types_without_ethernet(self):
        for link, wrap in ((101, lambda d: d[14:]), (113, lambda d: b"\0" * 14 + b"\x08\x00" + d[14:]),
                           (276, lambda d: b"\x08\x00" + b"\0" * 18 + d[14:])):
            with self.subTest(link):
                self.assertEqual(found(self.wrapped(wrap, link)).keys(), set(self.drops))

    def test_a_mirror_that_cuts_and_says_nothing(self):
        frames = [cap.Frame(f.t_ns, f.data[:96]) for f in self.sender]
        result = cap.analyze(cap.write(self.path("t.pcap"), frames))
        self.assertEqual(found(result).keys(), set(self.drops))
        self.assertEqual(result["connections"][0]["path_mtu"], 1024)
        self.assertGreater(result["capture"]["points"][0]["snapped"], 100)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
