#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""LLDP and DCBX with real neighbours over veth: lldptool reads what weft sends, weft shows what it
received, and what a Linux bridge and a short MTU between them do. 77 without root."""
import ctypes
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = os.environ["WEFT"]
ID = f"wl{os.getpid() % 100000}"
LLDP, CONTROL, OTHER = 0x88cc, 0x8808, 0x88b5
NEAREST, MAC_CONTROL = bytes.fromhex("0180c200000e"), bytes.fromhex("0180c2000001")
SCENARIO = """weft: 1
topology: {kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 2}
links:
  "*": {rate: 1Gbps, delay: 1us, mtu: 9000}
switches:
  "*":
    forwarding: l2
    pg: {3: {lossless: true, xoff: 60kB, xon: 40kB}}
    tc_to_queue: {0: 0, 1: 0, 2: 0, 3: 3, 4: 0, 5: 0, 6: 6, 7: 0}
    queue: {0: {weight: 10}, 3: {weight: 30}, 6: {sched: strict}}
    lldp: {enable: true, interval: 1s, fast_interval: 100ms}
    dcbx: {enable: true, app: {0: {selector: dscp, protocol: 48, priority: 6}}}
hosts:
  h0: {mtu: 4200, mac: "02:aa:00:00:00:00", attach: {type: af_packet, iface: %sa, pfc: honour}}
  h1: {mtu: 4200, mac: "02:aa:00:00:00:01", attach: {type: af_packet, iface: %sb, pfc: honour}}
""" % (ID, ID)


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True, timeout=60).stdout


def tlv(kind, body):
    return struct.pack(">H", kind << 9 | len(body)) + body


def org(oui, subtype, body):
    return tlv(127, bytes.fromhex(oui) + bytes([subtype]) + body)


PFC = {"willing": org("0080c2", 11, b"\x88\x10"), "fixed": org("0080c2", 11, b"\x08\x18"),
       "short": org("0080c2", 11, b"\x08")}
CEE = org("001b21", 2, tlv(3, bytes.fromhex("0000c00030") + b"\x08"))


def lldpdu(*more):
    mac = bytes.fromhex("02aa00000000")
    return (NEAREST + mac + struct.pack(">H", LLDP) + tlv(1, b"\x04" + mac) + tlv(2, b"\x05eth0") +
            tlv(3, struct.pack(">H", 120)) + b"".join(more) + tlv(0, b""))


class Raw:
    """A packet socket in a namespace."""
    def __init__(self, netns, iface="eth0", ethertype=0x0003):
        with open("/proc/thread-self/ns/net", "rb") as home, \
                open(f"/var/run/netns/{netns}", "rb") as there:
            self._enter(there)
            self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ethertype))
            self.s.bind((iface, ethertype))
            self._enter(home)

    @staticmethod
    def _enter(f):
        if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")

    def send(self, frame):
        self.s.send(frame)

    def recv(self, seconds):
        """The next frame that came from outside, or None."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.s.settimeout(left)
            try:
                frame, where = self.s.recvfrom(10000)
            except TimeoutError:
                break
            if where[2] != socket.PACKET_OUTGOING:
                return frame
        return None


class Live(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-lldp.")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.dir)
        with open(os.path.join(self.dir, "live.yaml"), "w", encoding="ascii") as f:
            f.write(SCENARIO)

    def netns(self, x):
        run("ip", "netns", "add", ID + x)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", ID + x], check=False)
        run("ip", "netns", "exec", ID + x, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
            "net.ipv6.conf.default.disable_ipv6=1")

    def veth(self, x, iface="eth0", mtu=4200):
        run("ip", "link", "add", ID + x, "mtu", "4200", "type", "veth", "peer", "name", iface,
            "mtu", str(mtu), "netns", ID + x)
        self.addCleanup(subprocess.run, ["ip", "link", "del", ID + x], check=False,
                        stderr=subprocess.DEVNULL)
        run("ip", "-n", ID + x, "link", "set", iface, "up", "address",
            f"02:aa:00:00:00:0{'ab'.index(x)}")
        run("ip", "link", "set", ID + x, "up")

    def start(self):
        """weft on both; returns what it said until it ran, in a list that grows."""
        out = open(os.path.join(self.dir, "out"), "w", encoding="ascii")
        self.addCleanup(out.close)
        weft = subprocess.Popen([WEFT, "run", "--live", "live.yaml"], cwd=self.dir, env=self.env,
                                stdout=out, stderr=subprocess.STDOUT)
        self.addCleanup(weft.wait, 60)
        self.addCleanup(weft.send_signal, signal.SIGINT)
        end = time.monotonic() + 30
        while time.monotonic() < end and weft.poll() is None:
            done = subprocess.run([WEFT, "show"], cwd=self.dir, env=self.env, check=False,
                                  capture_output=True)
            if done.returncode == 0:
                return
            time.sleep(0.1)
        self.fail(self.said())

    def said(self):
        with open(os.path.join(self.dir, "out"), encoding="ascii") as f:
            return f.read()

    def show(self, view, name="leaf0:p0"):
        done = subprocess.run([WEFT, "show", view, "--json"], cwd=self.dir, env=self.env,
                              check=True, capture_output=True, text=True, timeout=60)
        return next(r for r in json.loads(done.stdout)["rows"] if r["name"] == name)

    @staticmethod
    def until(what, fits=bool, seconds=10):
        """What it is when it fits, or when that took too long."""
        end = time.monotonic() + seconds
        while not fits(got := what()) and time.monotonic() < end:
            time.sleep(0.05)
        return got

    def raw(self, x, **more):
        r = Raw(ID + x, **more)
        self.addCleanup(r.s.close)
        return r

    def plain(self):
        for x in "ab":
            self.netns(x)
            self.veth(x)
        self.start()

    @unittest.skipUnless(shutil.which("lldpad") and shutil.which("lldptool"), "no lldpad here")
    def test_lldptool_reads_what_we_send(self):
        self.plain()
        inside = ["ip", "netns", "exec", ID + "a"]
        conf = os.path.join(self.dir, "lldpad.conf")
        lldpad = subprocess.Popen(
            [*inside, "unshare", "-m", "-i", "sh", "-c",
             f"mount -t tmpfs none /run && exec lldpad -f {conf}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lldpad.wait, 30)
        self.addCleanup(lldpad.kill)

        def tool(*args):
            return subprocess.run([*inside, "lldptool", *args], capture_output=True, text=True,
                                  timeout=30, check=False).stdout

        if not self.until(lambda: "adminStatus" in tool("set-lldp", "-i", "eth0",
                                                        "adminStatus=rxtx")):
            self.skipTest("lldpad does not run here")
        text = self.until(lambda: tool("-t", "-n", "-i", "eth0"), lambda t: "APP TLV" in t)
        words = [" ".join(line.split()) for line in text.splitlines()]
        for want in ("MAC: 02:77:66:00:00:00", "Ifname: leaf0:p0", "5",
                     "PRIO_MAP: 0:0 1:0 2:0 3:3 4:0 5:0 6:6 7:0",
                     "TC Bandwidth: 25% 0% 0% 75% 0% 0% 0% 0%",
                     "TSA_MAP: 0:ets 1:ets 2:ets 3:ets 4:ets 5:ets 6:strict 7:ets",
                     "PFC capable traffic classes: 8", "PFC enabled: 3",
                     "App# 0 Prio 3 Sel 3 P-ID UDP or DCCP Port: 4791"):
            self.assertIn(want, words, text)
        self.assertRegex(text, r"Prio:6 \t dscp:  48\b")

    def test_fc_o15_what_came_is_shown_and_nothing_flaps(self):
        self.plain()
        raw = self.raw("a")
        for more, peer, pfc in (((), "silent", "-"), ((PFC["willing"],), "ieee_willing", "4"),
                                ((PFC["fixed"],), "ieee_not_willing", "3,4"), ((CEE,), "cee", "4,5"),
                                ((PFC["fixed"], CEE), "ieee_and_cee", "3,4"),
                                ((PFC["short"],), "malformed", "-"), ((), "silent", "-")):
            raw.send(lldpdu(*more))
            row = self.until(lambda: self.show("dcbx"), lambda r, p=peer: r["peer"] == p)
            self.assertEqual(row["peer"], peer)
            self.assertEqual((row["peer_pfc"], row["own_pfc"], row["operational_pfc"]),
                             (pfc, "3", "3"))
            self.assertEqual("PFC differs" in row["differs"], pfc != "-")
        port = self.show("ports")
        self.assertEqual((port["up"], port["link_down_events"]), (True, 0))
        self.assertEqual(self.show("lldp")["chassis"], "02:aa:00:00:00:00")

    def bridge(self, x):
        """The interface's other end becomes a bridge's port, and eth0 stands behind the bridge."""
        ns = ID + x
        self.netns(x)
        self.veth(x, iface="port0")
        run("ip", "-n", ns, "link", "add", "br0", "mtu", "4200", "type", "bridge")
        run("ip", "-n", ns, "link", "add", "port1", "mtu", "4200", "type", "veth", "peer", "name",
            "eth0", "mtu", "4200")
        for p in ("port0", "port1"):
            run("ip", "-n", ns, "link", "set", p, "master", "br0", "up")
        for i in ("br0", "eth0"):
            run("ip", "-n", ns, "link", "set", i, "up")

    @staticmethod
    def pfc(src):
        return (MAC_CONTROL + src + struct.pack(">HHH", CONTROL, 0x0101, 1 << 3) +
                struct.pack(">8H", 0, 0, 0, 0xffff, 0, 0, 0, 0)).ljust(60, b"\0")

    def test_fc_e13_a_bridge_keeps_pfc_and_without_a_mask_lldp(self):
        self.bridge("a")
        self.netns("b")
        self.veth("b")
        self.start()
        self.assertIn(f"h0: behind interface {ID}a is a Linux bridge: PFC and pause never cross it",
                      self.said())
        self.assertNotIn("h1: behind", self.said())
        behind, direct = self.raw("a", ethertype=LLDP), self.raw("b", ethertype=LLDP)
        self.assertIsNotNone(direct.recv(10))
        self.assertIsNone(behind.recv(2.5))  # two of them were sent
        mask = ("ip", "-n", ID + "a", "link", "set", "br0", "type", "bridge", "group_fwd_mask")
        run(*mask, "0x4000")
        self.assertIsNotNone(behind.recv(10))
        with self.assertRaises(subprocess.CalledProcessError):
            run(*mask, "0x2")  # the kernel refuses
        for x, came in (("a", 0), ("b", 1)):
            raw = self.raw(x)
            for _ in range(5):
                raw.send(self.pfc(bytes.fromhex("02aa00000009")))
            port = f"leaf0:p{'ab'.index(x)}"
            if came:
                self.assertTrue(self.until(lambda p=port: self.show("ports", p)["pfc_rx_frames"]))
            else:
                time.sleep(0.5)
                self.assertEqual(self.show("ports", port)["pfc_rx_frames"], 0)

    def test_fc_e12_the_other_ends_mtu(self):
        for x in "ab":
            self.netns(x)
        self.veth("a")
        self.veth("b", mtu=1500)
        self.start()
        self.assertIn(f"h1: the other end of interface {ID}b takes an MTU of 1500, the scenario "
                      "says 4200", self.said())
        self.assertNotIn("h0: the other end", self.said())
        raws = [self.raw(x, ethertype=OTHER) for x in "ab"]

        def pass_one(of, size, seconds):
            head = bytes([2, 0xaa, 0, 0, 0, 1 - of, 2, 0xaa, 0, 0, 0, of]) + OTHER.to_bytes(2, "big")
            frame = head + bytes(i * 7 & 255 for i in range(size - 14))
            raws[of].send(frame)
            return raws[1 - of].recv(seconds) == frame

        self.assertTrue(pass_one(0, 1514, 10))
        self.assertFalse(pass_one(0, 4170, 1))
        run("ip", "-n", ID + "b", "link", "set", "eth0", "mtu", "4200")
        for of in (0, 1):
            self.assertTrue(pass_one(of, 4170, 10), of)


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("ip"):
        print("SKIP: network namespaces need root and ip")
        sys.exit(77)
    if subprocess.run(["sh", "-c", f"ip netns add {ID}t && ip netns del {ID}t"],
                      capture_output=True, check=False).returncode:
        print("SKIP: `ip netns add` does not work here")
        sys.exit(77)
    unittest.main(verbosity=2)
