#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Load balancing as people set it: words, warnings with their line, the same run on any number of
lcores."""
import json
import os
import subprocess
import sys
import unittest

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
HEAD = """weft: 1
topology: {kind: leaf_spine, leaves: 4, spines: 3, hosts_per_leaf: 2}
links: {"*": {delay: 100ns}}
workload:
  - {name: a, from: h0, to: h7, size: 100kB}
  - {name: b, from: h2, to: h7, size: 100kB}
  - {name: c, from: h4, to: h1, size: 100kB, count: 3}
timeline:
  - {at: 8us, do: link_down, link: leaf0-spine1}
  - {at: 60us, do: link_up, link: leaf0-spine1}
"""
MODES = ["{}", "{mode: spray}", "{mode: spray, spray: round_robin}", "{mode: adaptive}",
         "{mode: flowlet, gap: 1us}", "{mode: flowlet, gap: 200ns, choice: least_loaded}",
         "{resilient: return}", "{resilient: stay, salt: 7}",
         "{fields: [rdma_bth_dest_qp, in_port]}"]


def weft(*words, text):
    return subprocess.run([WEFT, *words], input=text, check=False, capture_output=True, text=True,
                          timeout=60)


def switches(lb, more=""):
    return HEAD + f'switches: {{"*": {{lb: {lb}{more}}}}}\n'


class LoadBalancing(unittest.TestCase):
    def test_a_run_is_the_same_on_any_number_of_lcores(self):
        digests = set()
        for mode in MODES:
            seen = set()
            for lcores in ("1", "2", "4"):
                done = weft("run", "--no-capture", "--lcores", lcores, "--json", "-", "-",
                            text=switches(mode))
                self.assertEqual(done.returncode, 0, done.stderr)
                seen.add(json.loads(done.stdout)["digest"])
            self.assertEqual(len(seen), 1, mode)
            digests |= seen
        self.assertEqual(len(digests), len(MODES))  # each is another run

    def test_what_overtakes_is_warned_of_at_its_line(self):
        for mode in ("spray", "adaptive"):
            done = weft("check", "-", text=switches(f"{{mode: {mode}}}"))
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("warning"), 1, done.stderr)
            self.assertIn(f"stdin:11:29: warning: {mode} of leaf0 lets packets overtake each "
                          "other, which go-back-N takes for loss: such as a\n", done.stderr)

    def test_nobody_is_warned_of_what_harms_nobody(self):
        one_spine = switches("{mode: spray}").replace("spines: 3", "spines: 1")
        at_home = HEAD[:HEAD.index("workload")] + (
            'switches: {"*": {lb: {mode: spray}}}\nworkload: [{name: a, from: h0, to: h1, size: 1kB}]\n')
        for text in (switches("{mode: flowlet}"), switches("{resilient: stay}"),
                     one_spine.replace("leaf0-spine1", "leaf0-spine0"), at_home,
                     *(switches("{mode: spray}").replace("size:", f"retransmit: selective, op: {op}, size:")
                       for op in ("write", "send_imm", "read", "fetch_add"))):
            done = weft("check", "-", text=text)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_wrong_word_is_told_with_its_place(self):
        done = weft("check", "-", text=switches("{fields: [src_ip, l4_dport]}"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("stdin:11:40: error: fields: 'l4_dport' is not one of src_ip, ", done.stderr)
        done = weft("check", "-", text=switches("{fields: src_ip}"))
        self.assertIn("expected a list such as [src_ip, dst_ip], found a value", done.stderr)

    def test_values_are_explained(self):
        done = weft("check", "--explain", "-", text=switches("{fields: [src_ip, in_port]}"))
        self.assertIn("fields = [src_ip, in_port]  # stdin:11:31\n", done.stdout)


if __name__ == "__main__":
    sys.exit(unittest.main())
