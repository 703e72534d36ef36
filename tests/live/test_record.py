#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft run --live --record with two namespaces as hosts, under load, while links, faults and the
peers themselves change: the bundle repeats in virtual time, equal to the bit. 77 without root."""
import collections
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

WEFT = os.environ["WEFT"]
NAME = f"wfr{os.getpid() % 100000}"
SCENARIO = """weft: 1
name: incident
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}
links:
  "*": {rate: 1Gbps, delay: 1us}
  "leaf*-spine*": {rate: 30Mbps}
switches:
  "*": {pg: {0: {lossless: true, xoff: 60kB, xon: 40kB}}}
hosts:
  h0: {mtu: 1500, attach: {type: af_packet, iface: %sa, fifo: 4}}
  h2: {mtu: 1500, attach: {type: af_packet, iface: %sb, pfc: honour}}
timeline:
  - {at: 900ms, do: link_down, link: "leaf0:p2-spine0:p0"}
  - {at: 1100ms, do: link_up, link: "leaf0:p2-spine0:p0"}
workload:
  - {name: background, from: h1, to: h3, size: 2MB, start: 1ms}
capture:
  - {at: "leaf1:p0", file: live.pcapng}
expect:
  - flow.background.completion_ps > 0
"""


def run(*args, **more):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, text=True, timeout=60, **more)


class Live(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-record.")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.dir)
        for i, x in enumerate("ab"):
            ns = NAME + x
            run("ip", "netns", "add", ns)
            self.addCleanup(subprocess.run, ["ip", "netns", "del", ns], check=False)
            run("ip", "link", "add", ns, "type", "veth", "peer", "name", "eth0", "netns", ns)
            self.addCleanup(subprocess.run, ["ip", "link", "del", ns], check=False,
                            stderr=subprocess.DEVNULL)
            run("ip", "link", "set", ns, "up")
            for args in (["link", "set", "eth0", "up"], ["link", "set", "lo", "up"],
                         ["addr", "add", f"10.{i}.0.1/16", "dev", "eth0"],
                         ["route", "add", "default", "via", f"10.{i}.255.254"]):
                run("ip", "-n", ns, *args)
        with open(os.path.join(self.dir, "live.yaml"), "w", encoding="ascii") as f:
            f.write(SCENARIO % (NAME, NAME))

    def weft(self, *args, status=0):
        done = subprocess.run([WEFT, *args], cwd=self.dir, env=self.env, capture_output=True,
                              text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, status, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout

    def wait_for_it(self):
        for _ in range(300):
            if not subprocess.run([WEFT, "show"], cwd=self.dir, env=self.env, check=False,
                                  capture_output=True).returncode:
                return
            time.sleep(0.1)
        self.fail("it does not come up")

    def load(self):
        """h0 sends datagrams to h2, half of them to the RoCEv2 port with nonsense in them."""
        program = ("import socket, sys, time\n"
                   "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                   "end, n = time.time() + 2.5, 0\n"
                   "while time.time() < end:\n"
                   "    n += 1\n"
                   "    try: s.sendto(bytes([n % 256]) * (n * 37 % 1450), ('10.1.0.1', 4791 + n % 2))\n"
                   "    except OSError: pass\n"
                   "    if n % 8 == 0: time.sleep(0.0005)\n")
        return subprocess.Popen(["ip", "netns", "exec", NAME + "a", sys.executable, "-c", program])

    def incident(self):
        time.sleep(0.4)
        self.weft("inject", "drop", "--at", "leaf1:p0", "--class", "any", "--every", "50")
        self.weft("inject", "duplicate", "--at", "leaf0:p0", "--dir", "in", "--class", "any",
                  "--every", "40", "--copies", "2")
        self.weft("inject", "delay", "--at", "leaf1:p0", "--class", "any", "--probability", "1/30",
                  "--delay", "3ms")
        self.weft("inject", "corrupt", "--at", "leaf1:p0", "--class", "any", "--crc", "icrc",
                  "--part", "frame", "--offset", "60", "--every", "25", "--count", "20")
        self.weft("inject", "pause", "--at", "leaf0:p0", "--quanta", "100")
        self.weft("inject", "rate", "leaf0:p2-spine0:p0", "20Mbps")
        self.weft("inject", "down", "leaf1:p3-spine1:p1")
        self.weft("inject", "pfc", "--at", "leaf0:p0", "--priority", "0")
        self.weft("inject", "up", "leaf1:p3-spine1:p1")
        run("ip", "-n", NAME + "b", "link", "set", "eth0", "down")
        time.sleep(0.3)
        run("ip", "-n", NAME + "b", "link", "set", "eth0", "up")
        run("ip", "link", "set", NAME + "a", "mtu", "1400")

    @contextlib.contextmanager
    def watched(self):
        """What h0's own kernel says that it sent, by a program that is not ours: sent.pcap."""
        with subprocess.Popen(["ip", "netns", "exec", NAME + "a", "tcpdump", "-i", "eth0", "-Q",
                               "out", "-B", "32768", "-U", "-w", "sent.pcap"], cwd=self.dir,
                              stderr=subprocess.PIPE, text=True) as tcpdump:
            self.assertIn("listening", tcpdump.stderr.readline())
            yield
            size = -1
            while size != (size := os.path.getsize(os.path.join(self.dir, "sent.pcap"))):
                time.sleep(1)  # it leaves what it has not read behind when it is told to end
            tcpdump.send_signal(signal.SIGINT)
            said = tcpdump.communicate(timeout=20)[1]
        self.assertIn("\n0 packets dropped by kernel", said)

    def record(self, *options):
        with self.watched():
            return self.record_alone(*options)

    def record_alone(self, *options):
        with subprocess.Popen([WEFT, "run", "--live", "--record", "live.tar.zst", *options,
                               "live.yaml"], cwd=self.dir, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as weft:
            self.wait_for_it()
            with self.load() as load:
                try:
                    self.incident()
                except Exception:
                    weft.kill()
                    raise
                load.wait(timeout=20)
            weft.send_signal(signal.SIGINT)
            out = weft.communicate(timeout=60)[0]
        self.assertEqual(weft.returncode, 130, out)
        self.assertNotIn("INCOMPLETE", out)
        return out

    def check(self, *options):
        out = self.record(*options)
        for lcores in ("1", "2"):
            result = json.loads(self.weft("run", "--json", "-", "--lcores", lcores,
                                          "live.tar.zst"))
            self.assertEqual(result["repeat"]["differences"], [])
            self.assertTrue(result["repeat"]["equal"] and result["repeat"]["complete"])
            self.assertIn(result["digest"], out)
        hosts = {h["name"]: h for h in result["hosts"]}
        self.assertGreater(hosts["h0"]["in_frames"], 1000)
        self.assertGreater(hosts["h2"]["out_frames"], 100)
        self.assertTrue([d for d in result["drops"] if d["reason"] == "injected"])
        return result

    def test_an_incident_is_repeated(self):
        self.check()
        self.weft("run", "--capture", "live.tar.zst")
        members = run("tar", "--zstd", "-xf", "live.tar.zst", cwd=self.dir)
        self.assertFalse(members.stdout)
        self.assertEqual(self.packets("live.pcapng"), self.packets("live/captures/00-live.pcapng"))
        self.log_holds_what_was_sent()

    def log_holds_what_was_sent(self):
        """Each frame of h0 in the log was sent by it once, byte for byte, and in this order; only a
        kernel that moves the sender to another CPU swaps a few on the cable. What is sent and not
        in the log did not fit into the cable's ring while the fabric paused h0."""
        frames = self.frames("live/ingress.pcapng", "h0")
        places = collections.defaultdict(list)
        for n, frame in enumerate(self.frames("sent.pcap")):
            places[frame].append(n)
        swapped, last = 0, -1
        for n, frame in enumerate(frames):
            self.assertTrue(places[frame], f"frame {n} of the log was not sent: {frame.hex()}")
            later = [p for p in places[frame] if p > last] or places[frame]
            swapped += later[0] < last
            last = max(last, later[0])
            places[frame].remove(later[0])
        self.assertGreater(len(frames), 1000)
        self.assertLess(swapped, len(frames) / 100)

    def frames(self, name, interface=None):
        """The load's frames of a capture (a kernel has things of its own to say), read by tshark."""
        chosen = f'udp && frame.interface_name == "{interface}"' if interface else "udp"
        out = run("tshark", "-r", name, "-Y", chosen, "-T", "jsonraw", "-J", "frame",
                  cwd=self.dir).stdout
        return [bytes.fromhex(p["_source"]["layers"]["frame_raw"][0]) for p in json.loads(out)]

    def packets(self, name):
        """Frames of a capture; times are those of the fabric, behind the file's own epoch."""
        found, at = [], 0
        with open(os.path.join(self.dir, name), "rb") as f:
            data = f.read()
        while at + 12 <= len(data):
            kind, size = (int.from_bytes(data[at + i:at + i + 4], "little") for i in (0, 4))
            if kind == 6:
                kept = int.from_bytes(data[at + 20:at + 24], "little")
                found.append(data[at + 12:at + 28 + kept])
            at += size
        self.assertGreater(len(found), 100)
        return found

    def grows(self, path, size):
        """Wait for so many bytes of a file, however slow the machine is."""
        for _ in range(600):
            if os.path.exists(path) and os.path.getsize(path) >= size:
                return
            time.sleep(0.05)
        self.fail(f"{path} has not grown to {size} bytes")

    def test_what_a_killed_run_left_is_repeated(self):
        with subprocess.Popen([WEFT, "run", "--live", "--record", "live.tar.zst", "live.yaml"],
                              cwd=self.dir, env=self.env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as weft:
            log = os.path.join(self.dir, "live.tar.zst.part/ingress.pcapng")
            self.grows(log, 1)
            with self.load() as load:
                self.grows(log, 300000)
                weft.send_signal(signal.SIGKILL)
                load.wait(timeout=20)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "live.tar.zst")))
        for cut in (0, 7):  # also in the middle of a block
            os.truncate(log, os.path.getsize(log) - cut)
            result = json.loads(self.weft("run", "--json", "-", "live.tar.zst.part", status=1))
            self.assertFalse(result["repeat"]["complete"])
            self.assertIn("was killed", result["repeat"]["incomplete_because"])
            self.assertGreater(result["repeat"]["stimuli"], 500)

    def test_without_payload_and_live_on_two_lcores_too(self):
        self.check("--payload", "cut", "--no-capture", "--lcores", "2")


def main():
    if os.geteuid() != 0 or not all(shutil.which(p) for p in ("ip", "tcpdump", "tshark")):
        print("skipped: network namespaces need root, and ip, tcpdump and tshark")
        return 77
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
        run("ip", "netns", "add", NAME)
        run("ip", "netns", "del", NAME)
    except (OSError, subprocess.CalledProcessError) as e:
        print(f"skipped: no namespaces or packet sockets here: {e}")
        return 77
    return unittest.main()


if __name__ == "__main__":
    sys.exit(main())
