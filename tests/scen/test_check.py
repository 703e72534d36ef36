#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft check as people use it: exit codes, where messages go, explanations, wrong use."""
import os
import subprocess
import sys
import tempfile
import unittest

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
GOOD = "weft: 1\ntopology: {leaves: 2, spines: 1, hosts_per_leaf: 1}\n"


def check(*args, text=None):
    done = subprocess.run([WEFT, "check", *args], input=text, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


class Check(unittest.TestCase):
    def test_a_good_file_passes(self):
        code, out, err = check("-", text=GOOD)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "stdin: stdin: in order: 3 switches, 2 hosts, 4 links, 0 flows, "
                              "0 expectations\n")

    def test_congestion_controls(self):
        flow = "workload: [{name: a, from: h0, to: h1, path_mtu: %s, cc: %s}]\n"
        code, out, err = check("--explain", "-", text=GOOD + flow % ("1024", "slow") +
                               "cc: {slow: {law: dcqcn, params: sigcomm15, timer: 99us}}\n")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("\ncc slow: law dcqcn, params sigcomm15\n", out)
        self.assertIn("  timer = 99us  # stdin:4:51\n", out)
        self.assertIn("  ai_rate = 40Mbps  # params sigcomm15: Zhu et al.", out)
        for text, said in (
                (flow % ("1024", "dcqnc"), "stdin:3:60: error: there is no congestion control 'dcqnc'; "
                                           "did you mean 'dcqcn'?"),
                (flow % ("4096", "hpcc"), "path_mtu 4096 makes packets of up to 4264 bytes, h0 takes 4200 (mtu)"),
                ("switches: {'leaf*': {vxlan: {vni: 5}}}\n" + flow % ("1024", "hpcc"),
                 "'hpcc' reads telemetry, which tunnels don't carry"),
                ("cc: {x: {law: dcqcn, params: sigcom15}}\n", "'dcqcn' has no parameters 'sigcom15'; did you mean"),
                ("cc: {x: {law: fixed, tate: 1Gbps}}\n", "unknown key 'tate' in fixed; did you mean 'rate'?"),
                ("cc: [x]\n", "cc: expected a mapping from names")):
            code, _, err = check("-", text=GOOD + text)
            self.assertEqual(code, 2, text)
            self.assertIn(said, err)

    def test_a_flow_that_connects_needs_somebody(self):
        hosts = "hosts: {h1: {listen: {port: 7%s}}}\nworkload:\n"
        flow = "  - {name: a, from: h0, to: %s, connect: 7, path_mtu: 1024, size: 4kB, %s}\n"
        code, _, err = check("-", text=GOOD + hosts % ", memory: 4kB" + flow % ("h1", "op: read"))
        self.assertEqual((code, err), (0, ""))
        for recv, to, more, place, said in (
                ("", "h9", "op: read", "5:29", "'h9' matches no host"),
                ("", "h1", "connect: 8", "5:69", "h1 listens at port 7: nobody to connect to at 8"),
                ("", "h1", "size: 4001B", "5:67",
                 "size: messages of 4001 bytes, but listen.memory of h1 has room for 4000"),
                (", memory: 9MB", "h1", "op: read, size: 8388609B", "5:77",
                 "size: all of a READ's answer may be under way at once, at most 8192 packets of"),
                ("", "h1", "op: write_imm", "5:76", "h1 is a model that has no 'recv'"),
                ("", "h1", "op: send", "5:76", "h1 is a model that has not 'recv: sink'"),
                (", recv: sink, recv_size: 3999B", "h1", "op: send", "5:67",
                 "size: messages of 4000 bytes, but a receive (listen.recv_size) of h1 has room for 3999"),
                ("", "h1", "op: read, rate: 1Gbps", "5:5", "rate: of a flow that connects nothing paces"),
                ("", "h1", "op: send_inv", "5:5", "connect: knows rc and ud; all operations but send_inv"),
                ("", "h1", "service: ud, op: send", "5:81", "h1 is a model that has no 'recv'"),
                ("", "h1", "program: rping", "5:81", "one speaks rping (listen.recv), one not"),
                (", recv: rping", "h1", "op: write", "5:5", "one speaks rping (listen.recv), one not")):
            text = flow % (to, more)
            for key in ("connect", "size"):
                if f"{key}:" in more:  # instead of the one that is there
                    text = text.replace(f"{key}: {'7' if key == 'connect' else '4kB'}, ", "", 1)
            code, _, err = check("-", text=GOOD + hosts % (
                recv if "memory" in recv else ", memory: 4kB" + recv) + text)
            self.assertEqual(code, 2, text)
            self.assertIn(f"stdin:{place}: error: ", err)
            self.assertIn(said, err)

    def test_shared_receives_are_as_long_as_the_first_says(self):
        flow = "  - {name: %s, from: h0, to: h1, op: %s, shared_recv: yes, size: %s}\n"
        text = GOOD + "workload:\n" + flow % ("a", "send", "1kB")
        for op, size, code in (("send", "1kB", 0), ("write_imm", "2kB", 0), ("send", "1001B", 2)):
            found, _, err = check("-", text=text + flow % ("b", op, size))
            self.assertEqual(found, code, err)
        self.assertIn("stdin:5:67: error: size: messages of 1001 bytes, but the shared receives of "
                      "h1 have 1000, by the first", err)

    def test_all_mistakes_are_told_with_their_places(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(GOOD + "sed: 1\nlinks: {'*': {rate: 100}}\n")
            code, out, err = check(path)
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, f"{path}:3:1: error: unknown key 'sed' in scenario; did you mean "
                              f"'seed'?\n{path}:4:21: error: rate: '100' has no unit, expected a "
                              "rate with one of bps, kbps, Mbps, Gbps, Tbps\n")

    def test_warnings_pass(self):
        code, _, err = check("-", text=GOOD + "lossless: best_effort\n"
                             "switches: {'*': {pg: {3: {lossless: true, headroom: 0}}}}\n")
        self.assertEqual(code, 0)
        self.assertIn("stdin:4:53: warning: headroom of lossless pg 3 is 0, but ", err)

    def test_rates_of_the_timeline_need_headroom_too(self):
        slow = ("links: {'*': {rate: 10Gbps, delay: 2us}}\n"
                "switches: {'*': {pg: {3: {lossless: true, xoff: 20kB, headroom: 40kB}}}}\n")
        step = "timeline: [{at: 10us, do: link_rate, link: h0-leaf0, rate: %s}]\n"
        self.assertEqual(check("-", text=GOOD + slow)[0], 0)
        self.assertEqual(check("-", text=GOOD + slow + step % "1Gbps")[0], 0)
        code, _, err = check("-", text=GOOD + slow + step % "400Gbps")
        self.assertEqual(code, 2)
        self.assertIn("stdin:4:65: error: headroom of lossless pg 3 is 40kB, but ", err)
        # 400 Gb/s for 4 us and for the 3430.4 ns of a peer at 10 Gb/s: 371.52 kB, and frames
        self.assertRegex(err, "but 399.35kB can still arrive at leaf0:p0 after XOFF once the "
                              "timeline has changed the link's rate: ")

    def test_rates_of_the_timeline_need_buffer_too(self):
        text = ("links: {'*': {rate: 10Gbps, delay: 20us}}\n"
                "switches: {'*': {buffer: 700kB, ingress_pool: {0: {size: 300kB, mode: dynamic}}, "
                "pg: {3: {lossless: true, alpha: 1}}}}\n")
        step = "timeline: [{at: 10us, do: link_rate, link: h0-leaf0, rate: 100Gbps}]\n"
        self.assertEqual(check("-", text=GOOD + text)[0], 0)
        code, _, err = check("-", text=GOOD + text + step)
        self.assertEqual(code, 2)
        self.assertIn("leaf0 needs ", err)
        self.assertIn("its buffer has 700kB: full, it drops before XOFF goes out", err)

    def test_tables_that_no_machine_holds_are_refused(self):
        text = ("weft: 1\ntopology: {kind: leaf_spine, leaves: 512, spines: 2}\n"
                "switches: {'*': {lb: {%s}}}\n")
        for words, column in (("mode: flowlet, flowlets: 1048576", 48),
                              ("resilient: return, buckets: 4096", 51)):
            code, _, err = check("-", text=text % words)
            self.assertEqual(code, 2)
            self.assertRegex(err, f"stdin:3:{column}: error: lb: tables of .* in all, expected at "
                                  "most 2 GiB")
        for words in ("mode: flowlet, flowlets: 65536", "mode: flowlet", "resilient: return",
                      "resilient: return, buckets: 1024"):
            self.assertEqual(check("-", text=text % words)[0], 0, words)

    def test_tunnel_ends_differ_from_defaults_too(self):
        text = GOOD + "switches: {'leaf*': {vxlan: {vni: 5}}, %s: {vxlan: {ip: 172.31.0.%d}}}\n"
        for leaf, ip in (("leaf0", 1), ("leaf1", 0)):
            code, _, err = check("-", text=text % (leaf, ip))
            self.assertEqual(code, 2)
            self.assertIn("stdin:3:60: error: vxlan: leaf0 and leaf1 have the same address", err)
            self.assertEqual(check("-", text=text % (leaf, 9))[0], 0)

    def test_headroom_that_is_too_small_is_refused(self):
        code, _, err = check("-", text=GOOD + "switches: {'*': {pg: {3: {lossless: true, "
                                              "headroom: 0}}}}\n")
        self.assertEqual(code, 2)
        self.assertIn("stdin:3:53: error: headroom of lossless pg 3 is 0, but ", err)

    def test_maps_that_contradict_each_other_are_told(self):
        code, _, err = check("-", text=GOOD + """switches:
  "*":
    pg: {3: {lossless: true}}
    tc_to_queue: {3: 5}
    queue: {5: {wred_drop: true}}
""")
        self.assertEqual(code, 0)
        self.assertEqual(err.count("warning"), 2)  # once, not for each switch
        self.assertIn("stdin:6:22: warning: a pause of priority 3 stops queue 3 of leaf0, but "
                      "traffic class 3, whose pauses have that priority, waits in queue 5: the "
                      "wrong queue stops\n", err)
        self.assertIn("stdin:7:28: warning: wred_drop of queue 5 drops nothing", err)

    def test_vlans_that_are_none_are_refused(self):
        code, _, err = check("-", text=GOOD + """ports:
  "leaf0:p0": {vlan: {mode: trunk, allowed: [10, 30-20]}}
  "leaf1:p0": {vlan: {mode: trunk, allowed: "10,20", svi: 11}}
""")
        self.assertEqual(code, 2)
        self.assertIn("stdin:4:45: error: allowed: '30-20' is no VLAN, expected 1 to 4094", err)
        self.assertIn("stdin:5:59: error: svi: VLAN 11 is none that the port carries", err)

    def test_one_bad_file_of_several_fails_the_lot(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, n) for n in ("a.yaml", "b.yaml", "c.yaml")]
            for path in paths:
                with open(path, "w", encoding="utf-8") as f:
                    f.write(GOOD if path != paths[1] else "weft: 7\n")
            code, out, err = check(*paths)
        self.assertEqual(code, 2)
        self.assertEqual(len(out.splitlines()), 2)
        self.assertIn("b.yaml:1:7: error: version '7'", err)

    def test_attachments_need_a_live_run(self):
        text = GOOD + "hosts: {h0: {attach: {type: vhost_user}}}\n"
        self.assertEqual(check("--live", "-", text=text)[0], 0)
        self.assertEqual(check("-", text=text)[0], 0)
        code, _, err = check("--virtual", "-", text=text)
        self.assertEqual(code, 2)
        self.assertIn("stdin:3:29: error: h0 is attached to the outside", err)

    def test_every_value_is_explained(self):
        code, out, _ = check("--explain", "-", text=GOOD + "seed: 5\nprofile: spectrum-roce\n"
                             "switches: {leaf0: {latency: 1us}}\n"
                             "timeline: [{at: 1ms, do: link_down, link: leaf0-spine0}]\n"
                             "capture: [{at: 'h0:p0', file: x}]\n"
                             "expect: [sum(leaf*.rx_frames) == 0]\n")
        self.assertEqual(code, 0)
        self.assertIn("  seed = 5  # stdin:3:7\n", out)
        self.assertIn("  time_scale = 1  # default\n", out)
        self.assertIn("  latency = 1us  # stdin:5:29\n", out)
        self.assertIn("  leaves = 2  # stdin:2:20\n", out)
        self.assertIn("  do = link_down  # stdin:6:26\n", out)
        self.assertIn("  direction = both  # default\n", out)
        self.assertIn("  sum(leaf*.rx_frames) == 0  # stdin:8:10\n", out)
        self.assertRegex(out, r"  pg\.3\.lossless = true  # profile spectrum-roce, .*spectrum-roce\.yaml:\d+:")
        self.assertRegex(out, r"leaf0:p0\.pg3: xoff 200kB, xon .*, headroom .* of at least ")

    def test_the_lab_section_is_checked_and_explained(self):
        code, _, err = check("-", text=GOOD + "lab: {memry: 1GB}\n")
        self.assertEqual(code, 2)
        self.assertEqual(err, "stdin:3:7: error: unknown key 'memry' in lab; did you mean "
                              "'memory'?\n")
        code, out, _ = check("--explain", "-", text=GOOD + "lab: {memory: 512MiB}\n")
        self.assertEqual(code, 0)
        self.assertIn("lab:\n  kernel = -  # default\n", out)
        self.assertIn("  memory = 512MiB  # stdin:3:15\n", out)

    def test_wrong_use(self):
        self.assertEqual(check()[0], 2)
        code, _, err = check("--explian", "x")
        self.assertEqual(code, 2)
        self.assertEqual(err, "weft check: unknown option '--explian'; did you mean '--explain'?\n")
        code, _, err = check("/nowhere/x.yaml")
        self.assertEqual(code, 2)
        self.assertEqual(err, "/nowhere/x.yaml: error: cannot be read: No such file or directory\n")
        code, out, _ = check("--help")
        self.assertEqual(code, 0)
        self.assertIn("usage: weft check", out)

    def test_the_scenarios_that_come_with_weft_are_in_order(self):
        folder = os.path.join(SOURCE, "scenarios")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".yaml"):
                with self.subTest(name):
                    code, _, err = check(os.path.join(folder, name))
                    self.assertEqual(code, 0, err)

    def test_controls_of_hosts_are_judged_where_they_stand(self):
        """A wrong name at a host that no flow leaves; laws that an attached host's NIC can't run."""
        code, _, err = check("-", text=GOOD + "hosts: {h0: {nic: {cc: nope}}}\n")
        self.assertEqual(code, 2)
        self.assertIn("stdin:3:24: error: there is no congestion control 'nope'", err)
        code, _, err = check("-", text=GOOD + "hosts: {h0: {attach: {type: vhost_user}, "
                                              "nic: {cc: hpcc}}}\n")
        self.assertEqual(code, 2)
        self.assertIn("'hpcc' at h0, which is attached", err)


if __name__ == "__main__":
    sys.exit(unittest.main())
